/* roles.c - see roles.h. */
#include "analyse/roles.h"

#include <string.h>

#include "base/arena.h"
#include "encode/raw.h"
#include "order/events.h"

struct row {
	const char *name;
	enum rn_act act;
	uint32_t kind;
	enum rn_sends sends;
	bool receives;
};

static const struct row rows[] = {
	{ "MPI_Send", RN_ACT_MESSAGE, 0, RN_SENDS, false },
	{ "MPI_Bsend", RN_ACT_MESSAGE, 0, RN_SENDS, false },
	{ "MPI_Rsend", RN_ACT_MESSAGE, 0, RN_SENDS, false },
	{ "MPI_Ssend", RN_ACT_MESSAGE, 0, RN_SENDS_SYNCHRONOUSLY, false },
	{ "MPI_Recv", RN_ACT_MESSAGE, RN_ORDER_WAIT, RN_SENDS_NOTHING, true },
	{ "MPI_Sendrecv", RN_ACT_MESSAGE, RN_ORDER_WAIT, RN_SENDS, true },
	{ "MPI_Sendrecv_replace", RN_ACT_MESSAGE, RN_ORDER_WAIT, RN_SENDS, true },
	{ "MPI_Isend", RN_ACT_MAKES, 0, RN_SENDS, false },
	{ "MPI_Ibsend", RN_ACT_MAKES, 0, RN_SENDS, false },
	{ "MPI_Irsend", RN_ACT_MAKES, 0, RN_SENDS, false },
	{ "MPI_Issend", RN_ACT_MAKES, 0, RN_SENDS_SYNCHRONOUSLY, false },
	{ "MPI_Irecv", RN_ACT_MAKES, 0, RN_SENDS_NOTHING, true },
	{ "MPI_Isendrecv", RN_ACT_MAKES, 0, RN_SENDS, true },
	{ "MPI_Isendrecv_replace", RN_ACT_MAKES, 0, RN_SENDS, true },
	{ "MPI_Send_init", RN_ACT_PREPARES, 0, RN_SENDS, false },
	{ "MPI_Bsend_init", RN_ACT_PREPARES, 0, RN_SENDS, false },
	{ "MPI_Rsend_init", RN_ACT_PREPARES, 0, RN_SENDS, false },
	{ "MPI_Ssend_init", RN_ACT_PREPARES, 0, RN_SENDS_SYNCHRONOUSLY, false },
	{ "MPI_Recv_init", RN_ACT_PREPARES, 0, RN_SENDS_NOTHING, true },
	{ "MPI_Start", RN_ACT_STARTS, 0, RN_SENDS_NOTHING, false },
	{ "MPI_Startall", RN_ACT_STARTS, 0, RN_SENDS_NOTHING, false },
	{ "MPI_Wait", RN_ACT_COMPLETES, RN_ORDER_WAIT, RN_SENDS_NOTHING, false },
	{ "MPI_Waitall", RN_ACT_COMPLETES, RN_ORDER_WAIT, RN_SENDS_NOTHING, false },
	{ "MPI_Waitany", RN_ACT_COMPLETES, RN_ORDER_ANY, RN_SENDS_NOTHING, false },
	{ "MPI_Waitsome", RN_ACT_COMPLETES, RN_ORDER_SOME, RN_SENDS_NOTHING, false },
	{ "MPI_Test", RN_ACT_COMPLETES, RN_ORDER_TEST, RN_SENDS_NOTHING, false },
	{ "MPI_Testall", RN_ACT_COMPLETES, RN_ORDER_TEST, RN_SENDS_NOTHING, false },
	{ "MPI_Testany", RN_ACT_COMPLETES, RN_ORDER_ANY, RN_SENDS_NOTHING, false },
	{ "MPI_Testsome", RN_ACT_COMPLETES, RN_ORDER_SOME, RN_SENDS_NOTHING, false },
	{ "MPI_Request_get_status", RN_ACT_ASKS, RN_ORDER_TEST, RN_SENDS_NOTHING, false },
	{ "MPI_Parrived", RN_ACT_ASKS, RN_ORDER_TEST, RN_SENDS_NOTHING, false },
	{ "MPI_Win_test", RN_ACT_ASKS, RN_ORDER_TEST, RN_SENDS_NOTHING, false },
	{ "MPI_Probe", RN_ACT_PROBES, RN_ORDER_PROBE, RN_SENDS_NOTHING, false },
	{ "MPI_Iprobe", RN_ACT_PROBES, RN_ORDER_PROBE, RN_SENDS_NOTHING, false },
	{ "MPI_Mprobe", RN_ACT_PROBES, RN_ORDER_PROBE, RN_SENDS_NOTHING, true },
	{ "MPI_Improbe", RN_ACT_PROBES, RN_ORDER_PROBE, RN_SENDS_NOTHING, true },
	{ "MPI_Cancel", RN_ACT_CANCELS, RN_ORDER_VALUE, RN_SENDS_NOTHING, false },
	{ "MPI_Request_free", RN_ACT_FREES, 0, RN_SENDS_NOTHING, false },
	{ "rondo_ended", RN_ACT_FREES, 0, RN_SENDS_NOTHING, false },
	{ "MPI_Finalize", RN_ACT_FINALIZES, 0, RN_SENDS_NOTHING, false },
};

struct rn_roles {
	uint64_t n;            /* numbers are below */
	struct rn_role role[]; /* by number */
};

/* The length of a name without _c. */
static size_t stem(const char *name)
{
	size_t n = strlen(name);

	return n > 2 && strcmp(name + n - 2, "_c") == 0 ? n - 2 : n;
}

static bool ends_with_init(const char *name)
{
	static const char init[] = "_init";
	size_t n = stem(name);

	return n >= sizeof(init) && memcmp(name + n - 5, init, 5) == 0;
}

static const struct row *find_row(const char *name)
{
	size_t n = stem(name);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strlen(rows[i].name) == n && memcmp(rows[i].name, name, n) == 0)
			return &rows[i];
	return NULL;
}

static uint32_t find_function(const char *name)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++)
		if (strcmp(rn_mpi_vocab.func[i].name, name) == 0)
			return rn_mpi_vocab.func[i].number;
	return UINT32_MAX;
}

static uint32_t count_ins(const struct rn_func *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nparams; i++)
		n += rn_func_dir(f, i) != RN_DIR_OUT;
	return n;
}

/* Which value the parameter is, before the call or after it. */
static uint8_t find_value(const struct rn_func *f, const char *name, bool after)
{
	uint32_t at = after ? count_ins(f) : 0;

	for (uint32_t i = 0; i < f->nparams; i++) {
		if (rn_func_dir(f, i) == (after ? RN_DIR_IN : RN_DIR_OUT))
			continue;
		if (strcmp(f->param[i], name) == 0)
			return (uint8_t)at;
		at++;
	}
	return RN_ROLE_NONE;
}

/* The first of these that there is. */
static uint8_t first_value(const struct rn_func *f, const char *const *name, bool after)
{
	uint8_t at = RN_ROLE_NONE;

	for (; *name && at == RN_ROLE_NONE; name++)
		at = find_value(f, *name, after);
	return at;
}

#define FIRST(f, after, ...) first_value(f, (const char *const[]){ __VA_ARGS__, NULL }, after)

static void find_values(struct rn_role *r)
{
	const struct rn_func *f = r->func;
	bool makes = r->act == RN_ACT_MAKES || r->act == RN_ACT_PREPARES;

	r->ins = count_ins(f);
	r->peer = FIRST(f, false, "dest", "source", "root");
	r->tag = FIRST(f, false, "tag", "sendtag");
	r->count = FIRST(f, false, "count", "sendcount", "incount");
	r->dest = FIRST(f, false, "dest");
	r->sendtag = FIRST(f, false, "sendtag", "tag");
	r->source = FIRST(f, false, "source");
	r->recvtag = FIRST(f, false, "recvtag", "tag");
	r->request = FIRST(f, makes, "request", "array_of_requests");
	r->flag = FIRST(f, true, "flag");
	r->index = FIRST(f, true, "index", "outcount");
	r->indices = FIRST(f, true, "array_of_indices");
	r->status = FIRST(f, true, "status", "array_of_statuses");
}

/* Whether a function of the trace has what one of that name needs. */
static bool is_fit(const struct rn_role *r)
{
	const uint8_t none = RN_ROLE_NONE;

	switch (r->act) {
	case RN_ACT_MAKES:
	case RN_ACT_PREPARES:
	case RN_ACT_STARTS:
	case RN_ACT_CANCELS:
	case RN_ACT_FREES:
		return r->request != none;
	case RN_ACT_COMPLETES:
		return r->request != none && r->status != none &&
		       (r->kind != RN_ORDER_TEST || r->flag != none) &&
		       (r->kind != RN_ORDER_ANY || r->index != none) &&
		       (r->kind != RN_ORDER_SOME || (r->index != none && r->indices != none));
	case RN_ACT_ASKS:
		return r->flag != none;
	default:
		return true;
	}
}

static void make_role(struct rn_role *r, const struct rn_func *f)
{
	const struct row *row = find_row(f->name);

	*r = (struct rn_role){ .func = f, .function = find_function(f->name) };
	if (row) {
		r->act = row->act;
		r->kind = row->kind;
		r->sends = row->sends;
		r->receives = row->receives;
	} else if (ends_with_init(f->name)) {
		r->act = RN_ACT_PREPARES;
	}
	find_values(r);
	if (!is_fit(r))
		r->act = RN_ACT_OTHER;
}

struct rn_roles *rn_roles_new(struct rn_arena *mem, const struct rn_vocab *vocab)
{
	uint64_t n = vocab->funcs ? (uint64_t)vocab->func[vocab->funcs - 1].number + 1 : 0;
	struct rn_roles *r =
		rn_alloc(mem, sizeof(*r) + n * sizeof(*r->role), _Alignof(struct rn_roles), 1);

	if (!r)
		return NULL;
	r->n = n;
	for (uint32_t i = 0; i < vocab->funcs; i++)
		make_role(&r->role[vocab->func[i].number], &vocab->func[i]);
	return r;
}

const struct rn_role *rn_roles_get(const struct rn_roles *r, uint64_t function)
{
	return &r->role[function];
}
