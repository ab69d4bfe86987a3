/* prog_twins.c - receives into static memory of two libraries with the same file name. Built with
 * -DTWIN this file is the library; the program gets both paths as arguments. */
#ifdef TWIN
int twin[64];
#else
#include "log.h"

#include <dlfcn.h>

static void *memory_of(const char *path)
{
	void *library = dlopen(path, RTLD_NOW), *twin = library ? dlsym(library, "twin") : NULL;

	EXPECT(twin != NULL);
	return twin;
}

int main(int argc, char **argv)
{
	void *twin[2];
	MPI_Request r[2];

	EXPECT(argc == 3);
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 2; i++)
		twin[i] = memory_of(argv[i + 1]);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 2; i++)
			MPI_Irecv(twin[i], 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[i]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
#endif
