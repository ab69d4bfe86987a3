/* completion.c - see completion.h. */
#include "record/completion.h"

#include "base/errno_guard.h"

#include <sys/mman.h>

#define FEW RN_COMPLETION_FEW

static bool any(const struct rn_completion *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->q[i] != MPI_REQUEST_NULL)
			return true;
	return false;
}

static bool copy(struct rn_completion *b)
{
	bool some = false;

	for (uint32_t i = 0; i < b->n; i++) {
		b->now[i] = b->q[i];
		some |= b->q[i] != MPI_REQUEST_NULL;
	}
	return some;
}

bool rn_completion_begin(struct rn_completion *b, int n, MPI_Request *q)
{
	b->n = n > 0 && q ? (uint32_t)n : 0;
	b->q = q;
	b->now = b->now_few;
	b->s = b->s_few;
	b->out = b->out_few;
	b->kept = b->kept_few;
	b->keeps = false;
	return b->n > FEW ? any(b) : copy(b);
}

static void unmap(struct rn_order_room room)
{
	RN_ERRNO_GUARD;

	if (room.p)
		munmap(room.p, room.bytes);
}

static bool map(struct rn_order_room *room, size_t bytes)
{
	RN_ERRNO_GUARD;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*room = p == MAP_FAILED ? (struct rn_order_room){ 0 } : (struct rn_order_room){ p, bytes };
	return room->p;
}

/* Uses the memory of the thread. Maps new memory if it is too small or an outer call uses it. */
static bool make_room(struct rn_completion *b)
{
	size_t bytes =
		b->n * (sizeof(*b->now) + sizeof(*b->s) + sizeof(*b->out) + sizeof(*b->kept));
	struct rn_order_thread *o = b->c.o;

	b->room = o->room;
	o->room = (struct rn_order_room){ 0 };
	if (bytes > b->room.bytes) {
		unmap(b->room);
		if (!map(&b->room, 2 * bytes))
			return false;
	}
	b->kept = b->room.p;
	b->now = (MPI_Request *)(void *)(b->kept + b->n);
	b->s = (MPI_Status *)(void *)(b->now + b->n + b->n % 2);
	b->out = (struct rn_order_done *)(void *)(b->s + b->n);
	return copy(b);
}

void rn_completion_return_room(struct rn_completion *b)
{
	struct rn_order_thread *o = b->c.o;

	unmap(o->room);
	o->room = b->room;
}

bool rn_completion_room(struct rn_completion *b, MPI_Status *status)
{
	if (b->n > FEW && !make_room(b))
		return false;
	if (status != MPI_STATUS_IGNORE && status != MPI_STATUSES_IGNORE)
		b->s = status;
	return true;
}

void rn_completion_keep(struct rn_completion *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->kept[i] = rn_tracked_find(b->q[i], &b->q[i]);
	b->keeps = true;
}

int rn_real_Waitany(int n, MPI_Request q[], int *count, int index[], MPI_Status s[])
{
	int rc = rn_real.MPI_Waitany(n, q, index, s);

	*count = *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
	return rc;
}

int rn_real_Testany(int n, MPI_Request q[], int *count, int index[], MPI_Status s[])
{
	int flag = 0, rc = rn_real.MPI_Testany(n, q, index, &flag, s);

	*count = !flag ? 0 : *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
	return rc;
}
