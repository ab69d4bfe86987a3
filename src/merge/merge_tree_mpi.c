/* merge_tree_mpi.c - see merge_tree_mpi.h. */
#include "base/errno_guard.h"
#include "base/tick_clock.h"
#include "merge/merge_tree_mpi.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

/* Maximum payload of a single message, in bytes. With the header it is below the smallest eager
 * limit of the MPI libraries (Open MPI's shared memory: 4 KiB including its own header). */
#define SMALL 3072

#define PIECE_MAX ((size_t)1 << 30)
#define GRACE     ((uint64_t)2000000000)
#define STRAY     ((uint64_t)50000000) /* ns; limit of the waits in rn_link_close */

/* A wait polls a few times, then sleeps for an eighth of the elapsed time, within bounds. Direct
 * messages are used to measure latency, so their receiver polls for some milliseconds before it
 * sleeps. */
#define LOOKS   16u
#define STARES  4096u
#define NAP_MIN ((uint64_t)20000)
#define NAP_MAX ((uint64_t)5000000)

/* Kinds of messages. Each round has its own tags, so that a late message is not received in a later
 * round. */
enum { TAG_HEAD, TAG_REPLY, TAG_PIECE, TAG_DIRECT, TAGS };
#define ROUNDS 4096u

struct head {
	uint64_t len; /* bytes of payload; up to SMALL bytes follow in the same message */
	int32_t status, culprit;
};

struct message {
	struct head head;
	const void *bytes;
};

/* Waiting */

struct patience {
	uint64_t since, until;
	unsigned looks, awake; /* polls so far, and polls before the first sleep */
};

static struct patience patience(uint64_t until)
{
	return (struct patience){ .until = until, .awake = LOOKS };
}

static void nap(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&t, NULL);
}

/* Sleeps or yields. False if the time limit has passed. The first polls ignore the limit, so
 * messages that have already arrived are found even after it. */
static bool wait_more(struct patience *p)
{
	uint64_t t, ns;

	if (p->looks++ < p->awake) {
		sched_yield();
		return true;
	}
	t = rn_clock_read(CLOCK_MONOTONIC);
	if (p->since == 0)
		p->since = t;
	if (t >= p->until)
		return false;
	ns = (t - p->since) / 8;
	ns = ns < NAP_MIN ? NAP_MIN : ns > NAP_MAX ? NAP_MAX : ns;
	nap(ns < p->until - t ? ns : p->until - t);
	return true;
}

/* Single MPI messages */

static int tag_of(const struct rn_mpi_link *l, int kind)
{
	return (int)(l->round % ROUNDS) * TAGS + kind;
}

/* Abandons a request that did not complete in time. A receive is canceled, which completes it at
 * once unless its message is in transfer. Other requests are stored for rn_link_close, and their
 * memory is not freed. */
static void give_up(struct rn_mpi_link *l, MPI_Request *r, bool receive)
{
	int done = 0;

	if (receive && l->mpi->cancel(r) == MPI_SUCCESS)
		for (unsigned i = 0; i < LOOKS && !done; i++)
			if (l->mpi->test(r, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
				break;
	if (done)
		return;
	l->stuck = true;
	if (l->lefts < RN_LINK_LEFT)
		l->left[l->lefts++] = *r;
	else
		l->mpi->request_free(r);
}

static int wait_for(struct rn_mpi_link *l, MPI_Request *r, bool receive, uint64_t until)
{
	struct patience p = patience(until);
	int done = 0;

	for (;;) {
		if (l->mpi->test(r, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return RN_E_SYS;
		if (done)
			return RN_OK;
		if (!wait_more(&p)) {
			give_up(l, r, receive);
			return RN_LINK_LATE;
		}
	}
}

static int send_one(struct rn_mpi_link *l, int to, int kind, const void *bytes, size_t n,
		    uint64_t until)
{
	MPI_Request r;

	if (l->mpi->isend(bytes, (int)n, MPI_BYTE, to, tag_of(l, kind), l->comm, &r) != MPI_SUCCESS)
		return RN_E_SYS;
	return wait_for(l, &r, false, until);
}

/* Waits for a message and stores its length, without receiving it. */
static int see_one(struct rn_mpi_link *l, int from, int kind, uint64_t until, size_t *n)
{
	struct patience p = patience(until);
	int there = 0, count = 0;
	MPI_Status st;

	if (kind == TAG_DIRECT)
		p.awake = STARES;
	while (!there) {
		if (l->mpi->iprobe(from, tag_of(l, kind), l->comm, &there, &st) != MPI_SUCCESS)
			return RN_E_SYS;
		if (!there && !wait_more(&p))
			return RN_LINK_LATE;
	}
	if (l->mpi->get_count(&st, MPI_BYTE, &count) != MPI_SUCCESS || count < 0)
		return RN_E_SYS;
	*n = (size_t)count;
	return RN_OK;
}

/* Receives a message that see_one found. */
static int take_one(struct rn_mpi_link *l, int from, int kind, void *to, size_t n, uint64_t until)
{
	MPI_Request r;

	if (l->mpi->irecv(to, (int)n, MPI_BYTE, from, tag_of(l, kind), l->comm, &r) != MPI_SUCCESS)
		return RN_E_SYS;
	return wait_for(l, &r, true, until);
}

/* Receives a message of exactly n bytes. A different length means that the sender has given up. */
static int expect_one(struct rn_mpi_link *l, int from, int kind, void *to, size_t n, uint64_t until)
{
	size_t there;
	int rc = see_one(l, from, kind, until, &there);

	if (rc == RN_OK && there != n)
		rc = RN_LINK_LATE;
	return rc == RN_OK ? take_one(l, from, kind, to, n, until) : rc;
}

/* Whole messages */

static size_t piece_at(const struct rn_mpi_link *l, size_t len, size_t at)
{
	return len - at < l->piece ? len - at : l->piece;
}

/* Replies whether there is memory for the message. The byte is static because it must outlive an
 * abandoned send. */
static int reply(struct rn_mpi_link *l, int to, bool go, uint64_t until)
{
	static const unsigned char answer[2] = { 0, 1 };

	return send_one(l, to, TAG_REPLY, &answer[go], 1, until);
}

static int send_pieces(struct rn_mpi_link *l, int to, const unsigned char *bytes, size_t len,
		       uint64_t until)
{
	unsigned char *go = rn_new(&l->mem, unsigned char, 1);
	int rc = go ? expect_one(l, to, TAG_REPLY, go, 1, until) : RN_E_NOMEM;

	if (rc == RN_OK && !*go)
		return RN_E_NOMEM;
	for (size_t at = 0; at < len && rc == RN_OK; at += l->piece)
		rc = send_one(l, to, TAG_PIECE, bytes + at, piece_at(l, len, at), until);
	if (rc < 0) /* a late receiver must not wait for the bytes */
		send_one(l, to, TAG_PIECE, "", 0, until);
	return rc;
}

/* Sends a header with RN_E_NOMEM if there is no memory for the message, because the receiver waits
 * for one. */
static int send_excuse(struct rn_mpi_link *l, int to, uint64_t until)
{
	static struct head excuse; /* static: must outlive an abandoned send */

	excuse = (struct head){ 0, RN_E_NOMEM, l->rank };
	send_one(l, to, TAG_HEAD, &excuse, sizeof(excuse), until);
	return RN_E_NOMEM;
}

/* Sends a message. Bytes longer than SMALL must remain valid if the transfer is abandoned. */
static int send_message(struct rn_mpi_link *l, int to, const struct message *msg, uint64_t until)
{
	size_t len = msg->head.len, small = len <= SMALL ? len : 0;
	unsigned char *m = rn_new(&l->mem, unsigned char, sizeof(msg->head) + small);
	int rc;

	if (!m)
		return send_excuse(l, to, until);
	memcpy(m, &msg->head, sizeof(msg->head));
	if (small)
		memcpy(m + sizeof(msg->head), msg->bytes, small);
	rc = send_one(l, to, TAG_HEAD, m, sizeof(msg->head) + small, until);
	return rc == RN_OK && len > SMALL ? send_pieces(l, to, msg->bytes, len, until) : rc;
}

/* Receives the bytes that a header announced, or refuses them if there is no memory. */
static int take_pieces(struct rn_mpi_link *l, int from, struct message *m, bool wanted,
		       uint64_t until)
{
	size_t len = m->head.len;
	unsigned char *bytes = NULL;
	int rc;

	if (wanted && m->head.len <= l->limit)
		bytes = rn_new(&l->mem, unsigned char, len);
	rc = reply(l, from, bytes != NULL, until);
	if (!bytes)
		return RN_E_NOMEM;
	for (size_t at = 0; at < len && rc == RN_OK; at += l->piece)
		rc = expect_one(l, from, TAG_PIECE, bytes + at, piece_at(l, len, at), until);
	m->bytes = bytes;
	return rc;
}

static int take_message(struct rn_mpi_link *l, int from, struct message *m, bool wanted,
			uint64_t until)
{
	unsigned char *b;
	size_t n = 0;
	int rc = see_one(l, from, TAG_HEAD, until, &n);

	if (rc < 0)
		return rc;
	if (n < sizeof(m->head) || n > sizeof(m->head) + SMALL)
		return RN_E_DATA;
	b = rn_new(&l->mem, unsigned char, n);
	if (!b)
		return RN_E_NOMEM;
	rc = take_one(l, from, TAG_HEAD, b, n, until);
	if (rc < 0)
		return rc;
	memcpy(&m->head, b, sizeof(m->head));
	if (m->head.len > SMALL)
		return take_pieces(l, from, m, wanted, until);
	if (n != sizeof(m->head) + m->head.len)
		return RN_E_DATA;
	m->bytes = b + sizeof(m->head);
	return RN_OK;
}

/* The tree */

int rn_link_open(struct rn_mpi_link *l, const struct rn_link_calls *mpi, MPI_Comm comm,
		 size_t limit)
{
	*l = (struct rn_mpi_link){ .mpi = mpi, .comm = comm, .limit = limit, .piece = PIECE_MAX };
	rn_arena_init(&l->mem, SIZE_MAX);
	rn_link_arm(l, RN_LINK_NO_END);
	if (mpi->comm_rank(comm, &l->rank) != MPI_SUCCESS ||
	    mpi->comm_size(comm, &l->size) != MPI_SUCCESS)
		return RN_E_SYS;
	return RN_OK;
}

void rn_link_arm(struct rn_mpi_link *l, uint64_t nanoseconds)
{
	bool ends = nanoseconds != RN_LINK_NO_END;

	l->deadline = ends ? rn_clock_read(CLOCK_MONOTONIC) + nanoseconds : RN_LINK_NO_END;
	l->grace = ends ? GRACE + nanoseconds / 8 : 0;
	l->status = RN_OK;
	l->culprit = -1;
}

/* Stores the status. Only the first failure that a rank detects is reported. */
static void note(struct rn_mpi_link *l, int status, int culprit)
{
	if (l->status < 0 || status >= 0)
		return;
	l->status = status;
	l->culprit = culprit;
}

/* Returns the number of ranks in the subtree of a rank, not limited to existing ranks. */
static int span(int rank, int size)
{
	int n = 1;

	while (n < size && !(rank & n))
		n *= 2;
	return n;
}

static void absorb_child(struct rn_mpi_link *l, int child, rn_link_absorb *absorb, void *arg)
{
	struct message m = { 0 };
	bool wanted = l->status == RN_OK; /* after a failure nothing is absorbed */
	int n = span(child, l->size), rc = take_message(l, child, &m, wanted, l->deadline);

	if (n > l->size - child)
		n = l->size - child;
	if (rc < 0)
		note(l, rc, rc == RN_LINK_LATE || rc == RN_E_DATA ? child : l->rank);
	else if (m.head.status < 0)
		note(l, m.head.status, m.head.culprit);
	else if (wanted && absorb)
		note(l, absorb(arg, (uint64_t)child, (uint64_t)n, m.bytes, m.head.len), l->rank);
}

static void send_up(struct rn_mpi_link *l, rn_link_pack *pack, void *arg)
{
	int parent = l->rank & (l->rank - 1), rc;
	struct rn_buf b = { 0 };
	struct message m;

	if (l->status == RN_OK && pack)
		note(l, pack(arg, &b), l->rank);
	note(l, rn_buf_status(&b), l->rank);
	if (l->status < 0)
		rn_buf_clear(&b);
	m = (struct message){ { b.len, l->status, l->culprit }, b.data };
	rc = send_message(l, parent, &m, l->deadline);
	note(l, rc, rc == RN_LINK_LATE || rc == RN_E_NOMEM ? parent : l->rank);
	if (!l->stuck)
		rn_buf_free(&b);
}

/* Releases the messages of a round. Memory that MPI may still use is not released. */
static void forget(struct rn_mpi_link *l, struct rn_arena_mark mark)
{
	if (!l->stuck)
		rn_arena_rewind(&l->mem, mark);
}

int rn_link_up(struct rn_mpi_link *l, rn_link_pack *pack, rn_link_absorb *absorb, void *arg)
{
	struct rn_arena_mark mark = rn_arena_mark(&l->mem);
	int saved = errno, n = span(l->rank, l->size);

	l->round++;
	for (int step = 1; step < n && step < l->size - l->rank; step *= 2) {
		absorb_child(l, l->rank + step, absorb, arg);
		forget(l, mark);
	}
	if (l->rank)
		send_up(l, pack, arg);
	forget(l, mark);
	errno = saved;
	return l->status;
}

static uint64_t last_call(const struct rn_mpi_link *l)
{
	return l->deadline == RN_LINK_NO_END ? RN_LINK_NO_END : l->deadline + l->grace;
}

/* Receives the message of rank 0. Its status is the verdict, and is forwarded unchanged even if
 * this rank has failed since. The descendants of a rank that did not receive it fail with it. */
static void take_down(struct rn_mpi_link *l, struct message *m)
{
	int parent = l->rank & (l->rank - 1), rc = take_message(l, parent, m, true, last_call(l));

	if (rc < 0) {
		note(l, rc, rc == RN_E_NOMEM ? l->rank : parent);
		*m = (struct message){ { 0, l->status, l->culprit }, NULL };
	} else if (m->head.status < 0) {
		l->status = m->head.status;
		l->culprit = m->head.culprit;
	}
}

/* Copies the bytes of rank 0 to memory that remains valid if a transfer is abandoned. */
static void own_bytes(struct rn_mpi_link *l, const struct rn_buf *b, struct message *m)
{
	size_t len = b && l->status == RN_OK ? b->len : 0;
	unsigned char *copy = rn_new(&l->mem, unsigned char, len + 1);

	if (!copy) {
		note(l, RN_E_NOMEM, l->rank);
		len = 0;
	}
	if (len)
		memcpy(copy, b->data, len);
	*m = (struct message){ { len, l->status, l->culprit }, copy };
}

int rn_link_down(struct rn_mpi_link *l, struct rn_buf *b)
{
	struct rn_arena_mark mark = rn_arena_mark(&l->mem);
	struct message m = { 0 };
	int saved = errno, step = span(l->rank, l->size);

	l->round++;
	if (l->rank)
		take_down(l, &m);
	else
		own_bytes(l, b, &m);
	/* The largest subtree first. The result of a send is ignored: a child that did not receive
	 * the message reports that in the next round. */
	while (step /= 2)
		if (step < l->size - l->rank)
			send_message(l, l->rank + step, &m, last_call(l));
	if (l->rank && b && l->status == RN_OK) {
		rn_buf_clear(b);
		if (m.head.len)
			rn_buf_add(b, m.bytes, m.head.len);
		note(l, rn_buf_status(b), l->rank);
	}
	forget(l, mark);
	errno = saved;
	return l->status;
}

int rn_link_agree(struct rn_mpi_link *l, int mine, struct rn_buf *b)
{
	note(l, mine, l->rank);
	rn_link_up(l, NULL, NULL, NULL);
	return rn_link_down(l, b);
}

/* The bytes are copied, because the copy must outlive an abandoned send. */
int rn_link_send(struct rn_mpi_link *l, int to, const void *bytes, size_t n)
{
	struct rn_arena_mark mark = rn_arena_mark(&l->mem);
	unsigned char *copy = rn_new(&l->mem, unsigned char, n);
	int rc = copy ? RN_OK : RN_E_NOMEM;

	if (copy)
		rc = send_one(l, to, TAG_DIRECT, memcpy(copy, bytes, n), n, l->deadline);
	forget(l, mark);
	return rc;
}

int rn_link_recv(struct rn_mpi_link *l, int from, void *bytes, size_t n)
{
	struct rn_arena_mark mark = rn_arena_mark(&l->mem);
	unsigned char *copy = rn_new(&l->mem, unsigned char, n);
	int rc = copy ? expect_one(l, from, TAG_DIRECT, copy, n, l->deadline) : RN_E_NOMEM;

	if (rc == RN_OK)
		memcpy(bytes, copy, n);
	forget(l, mark);
	return rc;
}

static const char *reason(int status)
{
	switch (status) {
	case RN_LINK_LATE:
		return "did not answer in time";
	case RN_E_NOMEM:
		return "out of memory, or over the limit";
	case RN_E_SYS:
		return "MPI or the system refused";
	case RN_E_DATA:
		return "data of another rank made no sense";
	}
	return "failed";
}

void rn_link_explain(const struct rn_mpi_link *l, struct rn_err *err)
{
	if (l->status == RN_OK)
		rn_err_set(err, RN_OK, "done");
	else
		rn_err_set(err, l->status, "rank %d: %s", l->culprit, reason(l->status));
}

/* Receives a message that arrived too late for its round. Otherwise MPICH (UCX) prints a warning
 * about it to standard error of the program at the end. False if there is no such message or it
 * cannot be received. */
static bool take_stray(struct rn_mpi_link *l)
{
	struct rn_arena_mark mark = rn_arena_mark(&l->mem);
	int there = 0, n = 0, rc;
	unsigned char *b;
	MPI_Request r;
	MPI_Status st;

	rc = l->mpi->iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, l->comm, &there, &st);
	if (rc != MPI_SUCCESS || !there || l->mpi->get_count(&st, MPI_BYTE, &n) != MPI_SUCCESS)
		return false;
	b = rn_new(&l->mem, unsigned char, (size_t)n + 1);
	if (!b || l->mpi->irecv(b, n, MPI_BYTE, st.MPI_SOURCE, st.MPI_TAG, l->comm, &r))
		return false;
	rc = wait_for(l, &r, true, rn_clock_read(CLOCK_MONOTONIC) + STRAY);
	forget(l, mark);
	return rc == RN_OK;
}

/* True if all abandoned requests have completed. */
static bool settled(struct rn_mpi_link *l)
{
	int done = 0;

	while (l->lefts) {
		MPI_Request *r = &l->left[l->lefts - 1];

		if (l->mpi->test(r, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done)
			return false;
		l->lefts--;
	}
	return true;
}

void rn_link_close(struct rn_mpi_link *l)
{
	struct patience p = patience(rn_clock_read(CLOCK_MONOTONIC) + STRAY);
	RN_ERRNO_GUARD;

	do
		while (take_stray(l))
			;
	while ((!settled(l) || p.looks < LOOKS) && wait_more(&p));
	while (l->lefts)
		l->mpi->request_free(&l->left[--l->lefts]);
	if (!l->stuck)
		rn_arena_free(&l->mem);
}
