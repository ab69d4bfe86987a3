/* prog_memory.c - Buffers in memory of every kind, and the numbers of blocks as they are allocated
 * and freed. */
#include "log.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

static int fixed[4];
static const int constant[4] = { 1, 2, 3, 4 };
static _Thread_local int of_thread[4];

static void send(const void *p, const char *said)
{
	DO(MPI_Send(p, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD),
	   "buf=%n, count=1, datatype=MPI_INT, dest=MPI_PROC_NULL, tag=0, comm=MPI_COMM_WORLD",
	   said);
}

static void send_block(const void *p)
{
	DO(MPI_Send(p, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD),
	   "buf=%p, count=1, datatype=MPI_INT, dest=MPI_PROC_NULL, tag=0, comm=MPI_COMM_WORLD", p);
}

static void not_blocks(void)
{
	int local[4] = { 0 };

	send(fixed, "static:*");
	send(constant + 1, "static:*");
	send(local, "stack:*");
	send(of_thread, "tls:*");
	send("text", "static:*");
}

/* Every allocator, with small sizes and with sizes that get a separate mapping. */
static void allocators(void)
{
	static const size_t sizes[] = { 16, 100, 5000, 1 << 20 };
	void *p;

	for (size_t i = 0; i < 4; i++) {
		char *all[5] = { malloc(sizes[i]), calloc(1, sizes[i]),
				 aligned_alloc(64, (sizes[i] + 63) & ~(size_t)63),
				 memalign(128, sizes[i]), NULL };

		EXPECT(posix_memalign(&p, 4096, sizes[i]) == 0);
		all[4] = p;
		for (int k = 5; k-- > 0;) {
			adopt("heap", all[k], sizes[i]);
			send_block(all[k] + 12);
		}
		for (int k = 0; k < 5; k += 2) {
			forget(all[k]);
			free(all[k]);
		}
		send_block(all[3]);
		for (int k = 1; k < 5; k += 2) {
			forget(all[k]);
			free(all[k]);
		}
	}
}

/* A block that grows keeps its number or gets the lowest free one, which is the same here. */
static void growing(void)
{
	char *p = malloc(24), *wall;

	adopt("heap", p, 24);
	send_block(p);
	for (size_t size = 100; size < 1 << 22; size *= 4) {
		wall = malloc(24);
		forget(p);
		p = realloc(p, size);
		adopt("heap", p, size);
		send_block(p + size - 4);
		free(wall);
	}
	forget(p);
	free(p);
}

/* MPICH's UCX intercepts mmap before the tracer. Therefore the tracer sees a mapping only together
 * with its neighbors. */
#ifdef MPICH_VERSION
static void send_mapping(const void *p)
{
	send(p, "mmap:*");
}
#else
static void send_mapping(const void *p)
{
	send_block(p);
}
#endif

static void mappings(void)
{
	char *m[3];

	for (int i = 0; i < 3; i++) {
		m[i] = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		EXPECT(m[i] != MAP_FAILED);
		adopt("mmap", m[i], 8191); /* other mappings may start directly after it */
	}
	send_mapping(m[2] + 4100);
	send_mapping(m[0]);
	forget(m[2]);
	munmap(m[2], 8192);
	send_mapping(m[1] + 8);
	for (int i = 0; i < 2; i++) {
		forget(m[i]);
		munmap(m[i], 8192);
	}
}

static void of_mpi(void)
{
	char *p, *q;
	MPI_Win win;

	DO(MPI_Alloc_mem(400, MPI_INFO_NULL, &p),
	   "size=400, info=MPI_INFO_NULL, baseptr=alloc:0+0");
	DO(MPI_Alloc_mem(400, MPI_INFO_NULL, &q),
	   "size=400, info=MPI_INFO_NULL, baseptr=alloc:1+0");
	send(p + 100, "alloc:0+100");
	DO(MPI_Free_mem(p), "base=alloc:0+0");
	DO(MPI_Free_mem(q), "base=alloc:1+0");
	DO(MPI_Win_allocate(256, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win),
	   "size=256, disp_unit=1, info=MPI_INFO_NULL, comm=MPI_COMM_WORLD, baseptr=window:0+0, "
	   "win=win:0");
	send(p + 8, "window:0+8");
	DO(MPI_Win_free(&win), "win=win:0");
}

int main(void)
{
	begin();
	for (int round = 0; round < 3; round++) {
		not_blocks();
		allocators();
		growing();
		mappings();
		of_mpi();
	}
	end();
	return 0;
}
