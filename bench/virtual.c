/* virtual.c - see virtual.h. */
#include "bench/virtual.h"

#include <inttypes.h>
#include <string.h>

#include "base/intern.h"
#include "grammar/grammar.h"
#include "t/unit/call_writer.h"

enum {
	F_INIT,
	F_FINALIZE,
	F_ISEND,
	F_IRECV,
	F_WAITALL,
	F_SEND,
	F_RECV,
	F_SENDRECV,
	F_ALLREDUCE,
	F_BCAST,
	F_CART_CREATE,
	F_CART_SUB,
	F_COUNT
};

#define PARAMS(...) ((const char *const[]){ __VA_ARGS__ })

static const struct rn_func funcs[] = {
	{ F_INIT, "MPI_Init", PARAMS("argc", "argv"), 2, NULL },
	{ F_FINALIZE, "MPI_Finalize", NULL, 0, NULL },
	{ F_ISEND, "MPI_Isend",
	  PARAMS("buf", "count", "datatype", "dest", "tag", "comm", "request"), 7, NULL },
	{ F_IRECV, "MPI_Irecv",
	  PARAMS("buf", "count", "datatype", "source", "tag", "comm", "request"), 7, NULL },
	{ F_WAITALL, "MPI_Waitall", PARAMS("count", "array_of_requests", "array_of_statuses"), 3,
	  NULL },
	{ F_SEND, "MPI_Send", PARAMS("buf", "count", "datatype", "dest", "tag", "comm"), 6, NULL },
	{ F_RECV, "MPI_Recv", PARAMS("buf", "count", "datatype", "source", "tag", "comm", "status"),
	  7, NULL },
	{ F_SENDRECV, "MPI_Sendrecv",
	  PARAMS("sendbuf", "sendcount", "sendtype", "dest", "sendtag", "recvbuf", "recvcount",
		 "recvtype", "source", "recvtag", "comm", "status"),
	  12, NULL },
	{ F_ALLREDUCE, "MPI_Allreduce",
	  PARAMS("sendbuf", "recvbuf", "count", "datatype", "op", "comm"), 6, NULL },
	{ F_BCAST, "MPI_Bcast", PARAMS("buffer", "count", "datatype", "root", "comm"), 5, NULL },
	{ F_CART_CREATE, "MPI_Cart_create",
	  PARAMS("comm_old", "ndims", "dims", "periods", "reorder", "comm_cart"), 6, NULL },
	{ F_CART_SUB, "MPI_Cart_sub", PARAMS("comm", "remain_dims", "newcomm"), 3, NULL },
};

enum {
	W_NULL,
	W_HEAP,
	W_STACK,
	W_REQUEST,
	W_WORLD,
	W_DOUBLE,
	W_INT,
	W_STATUS_IGNORE,
	W_STATUSES_IGNORE,
	W_SUM,
	W_MAX,
	W_COUNT
};

static const struct rn_word words[] = {
	{ W_NULL, "NULL" },
	{ W_HEAP, "heap" },
	{ W_STACK, "stack" },
	{ W_REQUEST, "request" },
	{ W_WORLD, "MPI_COMM_WORLD" },
	{ W_DOUBLE, "MPI_DOUBLE" },
	{ W_INT, "MPI_INT" },
	{ W_STATUS_IGNORE, "MPI_STATUS_IGNORE" },
	{ W_STATUSES_IGNORE, "MPI_STATUSES_IGNORE" },
	{ W_SUM, "MPI_SUM" },
	{ W_MAX, "MPI_MAX" },
};

const struct rn_vocab virtual_vocab = { funcs, words, F_COUNT, W_COUNT };

#define MAX_PEERS 6
#define BATCH     32

/* A peer rank: its rank expression in signatures (`kind`, `num`) and the absolute rank. */
struct peer {
	enum rn_value_kind kind;
	int64_t num;
	uint64_t rank;
	int dir; /* 2 * dimension + (0 down, 1 up): the tag of messages to it */
};

/* The state of one rank. Its calls are passed to `emit`, or printed to `log`. */
struct virtual_rank {
	const struct virtual_run *v;
	uint64_t rank;
	uint64_t at[3]; /* grid coordinates */
	struct peer peer[MAX_PEERS];
	unsigned peers;
	virtual_emit *emit;
	void *arg;
	int rc;
	FILE *log;
	bool json;
	uint64_t seq, from, to; /* index of the next call; the log has calls from .. to-1 */
	/* Buffer of the calls of a step, which are emitted when the step is complete. Hashing a
	 * call immediately would read words whose bytes were just stored one by one. A store that
	 * is not in the cache yet forwards only whole words, so the stall would cost more than the
	 * hash. In a real program time passes between the two. */
	unsigned n;
	size_t used;
	uint32_t len[BATCH];
	unsigned char buf[2 * CALL_BUFFER];
};

/*
 * The log
 */

struct value {
	enum { V_NUM, V_NAME, V_NUMS, V_NAMES } kind;
	int64_t num;
	const char *name;
	const int64_t *nums;
	const char *const *names;
};

static struct value num(int64_t v)
{
	return (struct value){ .kind = V_NUM, .num = v };
}

static struct value name(const char *s)
{
	return (struct value){ .kind = V_NAME, .name = s };
}

static struct value nums(const int64_t *v, int64_t n)
{
	return (struct value){ .kind = V_NUMS, .nums = v, .num = n };
}

static struct value names(const char *const *v, int64_t n)
{
	return (struct value){ .kind = V_NAMES, .names = v, .num = n };
}

static void log_name(struct virtual_rank *c, const char *s)
{
	fprintf(c->log, c->json ? "\"%s\"" : "%s", s);
}

static void log_value(struct virtual_rank *c, struct value v)
{
	if (v.kind == V_NUM)
		fprintf(c->log, "%" PRId64, v.num);
	if (v.kind == V_NAME)
		log_name(c, v.name);
	if (v.kind == V_NUM || v.kind == V_NAME)
		return;
	fputc('[', c->log);
	for (int64_t i = 0; i < v.num; i++) {
		if (i)
			fputs(c->json ? "," : ", ", c->log);
		if (v.kind == V_NUMS)
			fprintf(c->log, "%" PRId64, v.nums[i]);
		else
			log_name(c, v.names[i]);
	}
	fputc(']', c->log);
}

static void log_json(struct virtual_rank *c, const struct rn_func *f, const struct value *v)
{
	fprintf(c->log, "{\"rank\":%" PRIu64 ",\"seq\":%" PRIu64 ",\"call\":\"%s\",\"args\":{",
		c->rank, c->seq, f->name);
	for (uint32_t i = 0; i < f->nparams; i++) {
		fprintf(c->log, "%s\"%s\":", i ? "," : "", f->param[i]);
		log_value(c, v[i]);
	}
	fputs("},\"ret\":0}\n", c->log);
}

static void log_text(struct virtual_rank *c, const struct rn_func *f, const struct value *v)
{
	fprintf(c->log, "%" PRIu64 " %" PRIu64 " %s(", c->rank, c->seq, f->name);
	for (uint32_t i = 0; i < f->nparams; i++) {
		fprintf(c->log, "%s%s=", i ? ", " : "", f->param[i]);
		log_value(c, v[i]);
	}
	fputs(") = 0\n", c->log);
}

static void log_call(struct virtual_rank *c, unsigned func, const struct value *v)
{
	if (c->seq >= c->from && c->seq < c->to)
		(c->json ? log_json : log_text)(c, &funcs[func], v);
	if (ferror(c->log))
		c->rc = RN_E_SYS;
	c->seq++;
}

#define LOG(c, func, ...) log_call(c, func, (struct value[]){ __VA_ARGS__ })

/*
 * The calls: each is written as a signature, and independently as a line of the log.
 */

static void flush(struct virtual_rank *c)
{
	const unsigned char *sig = c->buf;

	for (unsigned i = 0; i < c->n && c->rc == RN_OK; i++) {
		c->rc = c->emit(c->arg, sig, c->len[i]);
		sig += c->len[i];
	}
	c->n = 0;
	c->used = 0;
}

static inline void begin(struct virtual_rank *c, struct rn_buf *w, uint32_t func)
{
	if (c->n == BATCH || c->used > CALL_BUFFER)
		flush(c);
	call_begin(w, c->buf + c->used, sizeof(c->buf) - c->used, func);
}

static inline void integer(struct rn_buf *w, int64_t v)
{
	rn_call_num(w, RN_V_INT, v);
}

static inline void end(struct virtual_rank *c, struct rn_buf *w)
{
	size_t len;
	int rc = call_end(w, 0, &len);

	if (rc < 0) {
		c->rc = rc;
		return;
	}
	c->len[c->n++] = (uint32_t)len;
	c->used += len;
}

static const char *const request_name[2 * MAX_PEERS] = {
	"request:0", "request:1", "request:2", "request:3", "request:4",  "request:5",
	"request:6", "request:7", "request:8", "request:9", "request:10", "request:11",
};

#define COUNT 1024

#define SEND_BLOCK(peer) ((peer)->dir)
#define RECV_BLOCK(peer) (MAX_PEERS + (peer)->dir)

static void mpi_init(struct virtual_rank *c)
{
	struct rn_buf w;

	if (c->log) {
		LOG(c, F_INIT, name("NULL"), name("NULL"));
		return;
	}
	begin(c, &w, F_INIT);
	rn_call_const(&w, W_NULL);
	rn_call_const(&w, W_NULL);
	end(c, &w);
}

static void mpi_finalize(struct virtual_rank *c)
{
	struct rn_buf w;

	if (c->log) {
		log_call(c, F_FINALIZE, NULL);
		return;
	}
	begin(c, &w, F_FINALIZE);
	end(c, &w);
}

/* Writes the arguments of a message. Each direction has its own block; the receive blocks follow
 * the send blocks. Inlined, because otherwise every step stores the writer's position to memory. */
__attribute__((always_inline)) static inline void message(struct rn_buf *w, int block,
							  const struct peer *p, int tag)
{
	rn_call_place(w, W_HEAP, (uint64_t)block, 0);
	integer(w, COUNT);
	rn_call_const(w, W_DOUBLE);
	rn_call_num(w, p->kind, p->num);
	integer(w, tag);
}

static struct value block_name(char *space, size_t size, int block)
{
	snprintf(space, size, "heap:%d+0", block);
	return name(space);
}

static void log_message(struct virtual_rank *c, uint32_t func, const struct peer *p, int tag,
			int block, const char *last)
{
	char space[32];

	LOG(c, func, block_name(space, sizeof(space), block), num(COUNT), name("MPI_DOUBLE"),
	    num((int64_t)p->rank), num(tag), name("MPI_COMM_WORLD"), name(last));
}

static void mpi_isend(struct virtual_rank *c, const struct peer *p, int tag, unsigned request)
{
	struct rn_buf w;

	if (c->log) {
		log_message(c, F_ISEND, p, tag, SEND_BLOCK(p), request_name[request]);
		return;
	}
	begin(c, &w, F_ISEND);
	message(&w, SEND_BLOCK(p), p, tag);
	rn_call_const(&w, W_WORLD);
	rn_call_object(&w, W_REQUEST, request);
	end(c, &w);
}

static void mpi_irecv(struct virtual_rank *c, const struct peer *p, int tag, unsigned request)
{
	struct rn_buf w;

	if (c->log) {
		log_message(c, F_IRECV, p, tag, RECV_BLOCK(p), request_name[request]);
		return;
	}
	begin(c, &w, F_IRECV);
	message(&w, RECV_BLOCK(p), p, tag);
	rn_call_const(&w, W_WORLD);
	rn_call_object(&w, W_REQUEST, request);
	end(c, &w);
}

static void mpi_send(struct virtual_rank *c, const struct peer *p, int tag)
{
	struct rn_buf w;

	if (c->log) {
		log_message(c, F_SEND, p, tag, SEND_BLOCK(p), "");
		return;
	}
	begin(c, &w, F_SEND);
	message(&w, SEND_BLOCK(p), p, tag);
	rn_call_const(&w, W_WORLD);
	end(c, &w);
}

static void mpi_recv(struct virtual_rank *c, const struct peer *p, int tag)
{
	struct rn_buf w;

	if (c->log) {
		log_message(c, F_RECV, p, tag, RECV_BLOCK(p), "MPI_STATUS_IGNORE");
		return;
	}
	begin(c, &w, F_RECV);
	message(&w, RECV_BLOCK(p), p, tag);
	rn_call_const(&w, W_WORLD);
	rn_call_const(&w, W_STATUS_IGNORE);
	end(c, &w);
}

static void mpi_waitall(struct virtual_rank *c, unsigned n)
{
	struct rn_buf w;

	if (c->log) {
		LOG(c, F_WAITALL, num(n), names(request_name, n), name("MPI_STATUSES_IGNORE"));
		return;
	}
	begin(c, &w, F_WAITALL);
	integer(&w, n);
	rn_call_list(&w, n);
	for (unsigned i = 0; i < n; i++)
		rn_call_object(&w, W_REQUEST, i);
	rn_call_const(&w, W_STATUSES_IGNORE);
	end(c, &w);
}

static void mpi_sendrecv(struct virtual_rank *c, const struct peer *to, const struct peer *from,
			 int tag)
{
	struct rn_buf w;
	char send[32], recv[32];

	if (c->log) {
		LOG(c, F_SENDRECV, block_name(send, sizeof(send), SEND_BLOCK(to)), num(COUNT),
		    name("MPI_DOUBLE"), num((int64_t)to->rank), num(tag),
		    block_name(recv, sizeof(recv), RECV_BLOCK(from)), num(COUNT),
		    name("MPI_DOUBLE"), num((int64_t)from->rank), num(tag), name("MPI_COMM_WORLD"),
		    name("MPI_STATUS_IGNORE"));
		return;
	}
	begin(c, &w, F_SENDRECV);
	message(&w, SEND_BLOCK(to), to, tag);
	message(&w, RECV_BLOCK(from), from, tag);
	rn_call_const(&w, W_WORLD);
	rn_call_const(&w, W_STATUS_IGNORE);
	end(c, &w);
}

static inline void comm_value(struct rn_buf *w, const char *comm)
{
	if (comm)
		rn_call_text(w, RN_V_NAME, comm, strlen(comm));
	else
		rn_call_const(w, W_WORLD);
}

/* `comm` is NULL for MPI_COMM_WORLD. */
static void mpi_allreduce(struct virtual_rank *c, int count, uint32_t op, const char *comm)
{
	struct rn_buf w;

	if (c->log) {
		LOG(c, F_ALLREDUCE, name("stack:0+64"), name("stack:0+72"), num(count),
		    name("MPI_DOUBLE"), name(op == W_SUM ? "MPI_SUM" : "MPI_MAX"),
		    name(comm ? comm : "MPI_COMM_WORLD"));
		return;
	}
	begin(c, &w, F_ALLREDUCE);
	rn_call_place(&w, W_STACK, 0, 64);
	rn_call_place(&w, W_STACK, 0, 72);
	integer(&w, count);
	rn_call_const(&w, W_DOUBLE);
	rn_call_const(&w, op);
	comm_value(&w, comm);
	end(c, &w);
}

static void mpi_bcast(struct virtual_rank *c, int count, int root, const char *comm)
{
	struct rn_buf w;

	if (c->log) {
		LOG(c, F_BCAST, name("heap:0+0"), num(count), name("MPI_INT"), num(root),
		    name(comm));
		return;
	}
	begin(c, &w, F_BCAST);
	rn_call_place(&w, W_HEAP, 0, 0);
	integer(&w, count);
	rn_call_const(&w, W_INT);
	integer(&w, root);
	comm_value(&w, comm);
	end(c, &w);
}

static void two_integers(struct rn_buf *w, int64_t a, int64_t b)
{
	rn_call_list(w, 2);
	integer(w, a);
	integer(w, b);
}

static void mpi_cart_create(struct virtual_rank *c)
{
	int64_t dims[2] = { (int64_t)c->v->grid[1], (int64_t)c->v->grid[0] };
	struct rn_buf w;

	if (c->log) {
		LOG(c, F_CART_CREATE, name("MPI_COMM_WORLD"), num(2), nums(dims, 2),
		    nums((const int64_t[]){ 0, 0 }, 2), num(0), name("comm:cart"));
		return;
	}
	begin(c, &w, F_CART_CREATE);
	rn_call_const(&w, W_WORLD);
	integer(&w, 2);
	two_integers(&w, dims[0], dims[1]);
	two_integers(&w, 0, 0);
	integer(&w, 0);
	comm_value(&w, "comm:cart");
	end(c, &w);
}

static void mpi_cart_sub(struct virtual_rank *c, int row, int col, const char *comm)
{
	struct rn_buf w;

	if (c->log) {
		LOG(c, F_CART_SUB, name("comm:cart"), nums((const int64_t[]){ row, col }, 2),
		    name(comm));
		return;
	}
	begin(c, &w, F_CART_SUB);
	comm_value(&w, "comm:cart");
	two_integers(&w, row, col);
	comm_value(&w, comm);
	end(c, &w);
}

/*
 * The patterns
 */

static uint64_t rank_at(const struct virtual_run *v, const uint64_t at[3])
{
	return at[0] + v->grid[0] * (at[1] + v->grid[1] * at[2]);
}

/* Sets *p to the neighbor one step up or down in a dimension. Returns false if that neighbor does
 * not exist. In the outermost dimension of a periodic grid, the expression relative modulo the
 * number of ranks is equal on all ranks. In an inner dimension, the ranks at the border have a
 * different offset. */
static bool neighbour(const struct virtual_rank *c, unsigned dim, bool up, struct peer *p)
{
	const struct virtual_run *v = c->v;
	uint64_t at[3] = { c->at[0], c->at[1], c->at[2] };
	bool edge = at[dim] == (up ? v->grid[dim] - 1 : 0);
	bool outer = v->pattern->periodic && dim == v->pattern->dims - 1;
	int64_t stride = 1;

	if (edge && !v->pattern->periodic)
		return false;
	for (unsigned d = 0; d < dim; d++)
		stride *= (int64_t)v->grid[d];
	at[dim] = (at[dim] + (up ? 1 : v->grid[dim] - 1)) % v->grid[dim];
	p->rank = rank_at(v, at);
	p->kind = outer ? RN_V_RELMOD : RN_V_REL;
	p->num = outer ? (up ? stride : -stride) : (int64_t)p->rank - (int64_t)c->rank;
	p->dir = (int)(2 * dim + up);
	return true;
}

static void find_peers(struct virtual_rank *c)
{
	c->peers = 0;
	for (unsigned dim = 0; dim < c->v->pattern->dims; dim++)
		for (unsigned up = 0; up < 2; up++)
			c->peers += neighbour(c, dim, up, &c->peer[c->peers]);
}

static void stencil_step(struct virtual_rank *c, uint64_t s)
{
	unsigned n = c->peers;

	(void)s;
	/* A message from the lower neighbor was sent upwards: its tag differs in the last bit. */
	for (unsigned i = 0; i < n; i++)
		mpi_irecv(c, &c->peer[i], c->peer[i].dir ^ 1, i);
	for (unsigned i = 0; i < n; i++)
		mpi_isend(c, &c->peer[i], c->peer[i].dir, n + i);
	mpi_waitall(c, 2 * n);
}

static void sweep(struct virtual_rank *c, bool up)
{
	for (unsigned i = 0; i < c->peers; i++)
		if ((c->peer[i].dir & 1) != up)
			mpi_recv(c, &c->peer[i], c->peer[i].dir >> 1);
	for (unsigned i = 0; i < c->peers; i++)
		if ((c->peer[i].dir & 1) == up)
			mpi_send(c, &c->peer[i], c->peer[i].dir >> 1);
}

static void wavefront_step(struct virtual_rank *c, uint64_t s)
{
	(void)s;
	sweep(c, true);
	sweep(c, false);
}

static void butterfly_step(struct virtual_rank *c, uint64_t s)
{
	int tag = 0;

	(void)s;
	for (uint64_t bit = 1; bit < c->v->ranks; bit *= 2, tag++) {
		struct peer p = { RN_V_XOR, (int64_t)bit, c->rank ^ bit, 0 };

		if (p.rank < c->v->ranks)
			mpi_sendrecv(c, &p, &p, tag);
	}
}

static void rowcol_before(struct virtual_rank *c)
{
	mpi_cart_create(c);
	mpi_cart_sub(c, 0, 1, "comm:row");
	mpi_cart_sub(c, 1, 0, "comm:col");
}

static void rowcol_step(struct virtual_rank *c, uint64_t s)
{
	(void)s;
	mpi_bcast(c, COUNT, 0, "comm:row");
	mpi_bcast(c, COUNT, 0, "comm:col");
	mpi_allreduce(c, 1, W_SUM, "comm:row");
	mpi_allreduce(c, 1, W_MAX, "comm:col");
}

/* Returns the number of solver iterations in step s: 8 to 32, irregular, equal on all ranks. */
static uint64_t trips(uint64_t s)
{
	uint64_t z = (s + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	return 8 + (z >> 33) % 25;
}

static void timestep_step(struct virtual_rank *c, uint64_t s)
{
	uint64_t p = c->v->ranks;
	struct peer right = { RN_V_RELMOD, 1, (c->rank + 1) % p, 0 };
	struct peer left = { RN_V_RELMOD, -1, (c->rank + p - 1) % p, 0 };

	for (uint64_t i = trips(s); i > 0; i--) {
		mpi_sendrecv(c, &right, &left, 7);
		mpi_allreduce(c, 2, W_SUM, NULL);
	}
	mpi_allreduce(c, 1, W_MAX, NULL);
}

const struct virtual_pattern virtual_patterns[] = {
	{ "stencil2d", 2, false, true, NULL, stencil_step },
	{ "stencil2d-periodic", 2, true, true, NULL, stencil_step },
	{ "stencil3d", 3, false, true, NULL, stencil_step },
	{ "stencil3d-periodic", 3, true, true, NULL, stencil_step },
	{ "wavefront", 2, false, true, NULL, wavefront_step },
	{ "butterfly", 1, false, true, NULL, butterfly_step },
	{ "rowcol", 2, false, true, rowcol_before, rowcol_step },
	{ "timestep", 1, true, false, NULL, timestep_step },
};

const unsigned virtual_patterns_count = sizeof(virtual_patterns) / sizeof(*virtual_patterns);

/*
 * Running them
 */

static const struct virtual_pattern *find_pattern(const char *s)
{
	for (unsigned i = 0; i < virtual_patterns_count; i++)
		if (strcmp(virtual_patterns[i].name, s) == 0)
			return &virtual_patterns[i];
	return NULL;
}

/* Returns the largest divisor of n whose dims-th power is at most n. */
static uint64_t near_root(uint64_t n, unsigned dims)
{
	uint64_t best = 1;

	for (uint64_t d = 1; d <= n; d++) {
		unsigned __int128 power = 1;

		for (unsigned i = 0; i < dims; i++)
			power *= d;
		if (power > n)
			break;
		if (n % d == 0)
			best = d;
	}
	return best;
}

int virtual_init_grid(struct virtual_run *v, const char *pattern, const uint64_t grid[3],
		      uint64_t steps)
{
	*v = (struct virtual_run){ .pattern = find_pattern(pattern), .steps = steps, .ranks = 1 };
	if (!v->pattern)
		return RN_E_ARG;
	for (unsigned d = 0; d < 3; d++) {
		v->grid[d] = grid[d];
		if (grid[d] == 0 || grid[d] > (uint64_t)1 << 31)
			return RN_E_RANGE;
		v->ranks *= grid[d];
		if (v->ranks > (uint64_t)1 << 31 || (d >= v->pattern->dims && grid[d] != 1))
			return RN_E_RANGE;
	}
	return RN_OK;
}

int virtual_init(struct virtual_run *v, const char *pattern, uint64_t ranks, uint64_t steps)
{
	const struct virtual_pattern *p = find_pattern(pattern);
	uint64_t grid[3] = { 1, 1, 1 }, left = ranks;

	if (!p)
		return RN_E_ARG;
	if (ranks == 0 || ranks > (uint64_t)1 << 31)
		return RN_E_RANGE;
	for (unsigned d = p->dims; d-- > 1;) {
		grid[d] = near_root(left, d + 1);
		left /= grid[d];
	}
	grid[0] = left;
	return virtual_init_grid(v, pattern, grid, steps);
}

static void rank_init(struct virtual_rank *c, const struct virtual_run *v, uint64_t rank,
		      virtual_emit *emit, void *arg)
{
	c->v = v;
	c->rank = rank;
	c->at[0] = rank % v->grid[0];
	c->at[1] = rank / v->grid[0] % v->grid[1];
	c->at[2] = rank / v->grid[0] / v->grid[1];
	c->emit = emit;
	c->arg = arg;
	c->rc = RN_OK;
	c->log = NULL;
	c->n = 0;
	c->used = 0;
	find_peers(c);
}

static void before(struct virtual_rank *c)
{
	mpi_init(c);
	if (c->v->pattern->before)
		c->v->pattern->before(c);
}

static int all_calls(struct virtual_rank *c)
{
	before(c);
	for (uint64_t s = 0; s < c->v->steps && c->rc == RN_OK; s++) {
		flush(c);
		c->v->pattern->step(c, s);
	}
	mpi_finalize(c);
	flush(c);
	return c->rc;
}

int virtual_calls(const struct virtual_run *v, uint64_t rank, virtual_emit *emit, void *arg)
{
	struct virtual_rank c;

	rank_init(&c, v, rank, emit, arg);
	return all_calls(&c);
}

int virtual_before(const struct virtual_run *v, uint64_t rank, virtual_emit *emit, void *arg)
{
	struct virtual_rank c;

	rank_init(&c, v, rank, emit, arg);
	before(&c);
	flush(&c);
	return c.rc;
}

int virtual_step(const struct virtual_run *v, uint64_t rank, uint64_t s, virtual_emit *emit,
		 void *arg)
{
	struct virtual_rank c;

	rank_init(&c, v, rank, emit, arg);
	v->pattern->step(&c, s);
	flush(&c);
	return c.rc;
}

int virtual_after(const struct virtual_run *v, uint64_t rank, virtual_emit *emit, void *arg)
{
	struct virtual_rank c;

	rank_init(&c, v, rank, emit, arg);
	mpi_finalize(&c);
	flush(&c);
	return c.rc;
}

struct feed {
	struct rn_sigs *sigs;
	struct rn_grammar *g;
	uint64_t calls;
	uint32_t *body; /* used only while a step is collected */
	size_t n, cap;
};

static int feed_call(void *arg, const unsigned char *sig, size_t len)
{
	struct feed *f = arg;
	uint32_t id;
	int rc = rn_sigs_intern(f->sigs, sig, len, &id);

	f->calls++;
	return rc < 0 ? rc : rn_grammar_append(f->g, id);
}

static int collect_call(void *arg, const unsigned char *sig, size_t len)
{
	struct feed *f = arg;

	if (f->n == f->cap)
		return RN_E_RANGE;
	return rn_sigs_intern(f->sigs, sig, len, &f->body[f->n++]);
}

static struct feed feed_begin(struct rn_sigs *sigs, struct rn_grammar *g)
{
	rn_sigs_reset(sigs);
	rn_grammar_reset(g);
	return (struct feed){ .sigs = sigs, .g = g };
}

static void add_calls(uint64_t *calls, uint64_t n)
{
	if (__builtin_add_overflow(*calls, n, calls))
		*calls = UINT64_MAX;
}

int virtual_feed(const struct virtual_run *v, uint64_t rank, struct rn_sigs *sigs,
		 struct rn_grammar *g, uint64_t *calls)
{
	struct feed f = feed_begin(sigs, g);
	int rc = virtual_calls(v, rank, feed_call, &f);

	add_calls(calls, f.calls);
	return rc;
}

int virtual_feed_repeat(const struct virtual_run *v, uint64_t rank, struct rn_sigs *sigs,
			struct rn_grammar *g, uint64_t *calls)
{
	uint32_t body[64]; /* at most two calls per bit of a rank, or per neighbor */
	struct feed f = feed_begin(sigs, g);
	int rc;

	if (!v->pattern->plain)
		return RN_E_ARG;
	f.body = body;
	f.cap = sizeof(body) / sizeof(*body);
	rc = virtual_before(v, rank, feed_call, &f);
	if (rc == RN_OK && v->steps)
		rc = virtual_step(v, rank, 0, collect_call, &f);
	if (rc == RN_OK)
		rc = rn_grammar_append_repeat(g, body, f.n, v->steps, NULL);
	if (rc == RN_OK)
		rc = virtual_after(v, rank, feed_call, &f);
	if (rc == RN_OK) /* then the product does not overflow */
		add_calls(calls, f.calls + f.n * v->steps);
	return rc;
}

int virtual_log(const struct virtual_run *v, uint64_t rank, uint64_t from, uint64_t to, bool json,
		FILE *out)
{
	struct virtual_rank c;

	rank_init(&c, v, rank, NULL, NULL);
	c.log = out;
	c.json = json;
	c.seq = 0;
	c.from = from;
	c.to = to;
	return all_calls(&c);
}
