/* call_view.c - see call_view.h. */
#include "analyse/call_view.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "identity/comms.h"
#include "order/plan.h"
#include "read/trace.h"

#define WORLD "MPI_COMM_WORLD"
#define SELF  "MPI_COMM_SELF"

/* ---- communicators ---- */

static uint32_t find_comm(const struct rn_call_view *v, uint32_t tag, const char *name, size_t len)
{
	uint32_t pos = tag, i;

	while ((i = rn_map_next(rn_map_page(&v->comm_of, tag), tag, &pos)) != RN_MAP_NONE)
		if (strncmp(v->comm[i], name, len) == 0 && v->comm[i][len] == 0)
			return i + 1;
	return 0;
}

static bool make_room(struct rn_call_view *v)
{
	uint32_t room = 2 * v->comms + 16;
	const char **more = v->comms < v->room ? v->comm : rn_new(v->mem, const char *, room);

	if (!more || more == v->comm)
		return more;
	if (v->comms)
		memcpy(more, v->comm, v->comms * sizeof(*more));
	v->comm = more;
	v->room = room;
	return true;
}

/* Its number; 0 when there is no memory. Names have no NUL in them. */
static uint32_t comm_number(struct rn_call_view *v, const char *name, size_t len)
{
	uint32_t tag = (uint32_t)rn_hash(name, len), number = find_comm(v, tag, name, len);
	char *copy;

	if (number)
		return number;
	copy = rn_new(v->mem, char, len + 1);
	if (!copy || !make_room(v) || rn_map_reserve(&v->comm_of, tag) < 0) {
		*v->rc = RN_E_NOMEM;
		return 0;
	}
	memcpy(copy, name, len);
	v->comm[v->comms] = copy;
	rn_map_insert(&v->comm_of, tag, v->comms++);
	return v->comms;
}

/* 0 when it is none, or none that there is. */
static uint32_t comm_of(struct rn_call_view *v, const struct rn_value *value)
{
	if (value->kind == RN_V_NAME && rn_comm_name(value->text, value->len))
		return comm_number(v, value->text, value->len);
	if (value->kind == RN_V_CONST && value->word == v->decoder.world)
		return v->world;
	if (value->kind == RN_V_CONST && value->word == v->decoder.self)
		return v->self;
	return 0;
}

static bool make_standings(struct rn_call_view *v)
{
	uint32_t n = 2 * v->comms + 16;
	struct rn_standing *more = rn_new(v->scratch, struct rn_standing, n);

	if (!more) {
		*v->rc = RN_E_NOMEM;
		return false;
	}
	if (v->standings)
		memcpy(more, v->standing, v->standings * sizeof(*more));
	v->standing = more;
	v->standings = n;
	return true;
}

const struct rn_standing *rn_call_view_standing(struct rn_call_view *v, uint32_t comm)
{
	struct rn_standing *s;

	if (!comm || (comm > v->standings && !make_standings(v)))
		return NULL;
	s = &v->standing[comm - 1];
	if (!s->asked) {
		const char *name = v->comm[comm - 1];

		s->asked = true;
		s->known = rn_decoder_rank(&v->decoder, name, strlen(name), v->rank, &s->rank,
					   &s->size);
	}
	return s->known ? s : NULL;
}

/* ---- functions ---- */

static void describe_function(struct rn_called_function *to, const struct rn_func *f)
{
	const struct rn_proto *known = rn_mpi_known(f);

	*to = (struct rn_called_function){ .func = f,
					   .traits = rn_func_traits(f),
					   .param = known && f->dir ? known->param : NULL,
					   .number = known ? rn_mpi_find(f->name) : UINT32_MAX };
	for (uint32_t i = 0; i < f->nparams; i++)
		to->ins += rn_func_dir(f, i) != RN_DIR_OUT;
}

static const struct rn_called_function *describe_functions(struct rn_arena *mem,
							   const struct rn_vocab *vocab)
{
	uint64_t n = vocab->funcs ? (uint64_t)vocab->func[vocab->funcs - 1].number + 1 : 0;
	struct rn_called_function *f = rn_new(mem, struct rn_called_function, n + 1);

	for (uint32_t i = 0; f && i < vocab->funcs; i++)
		describe_function(&f[vocab->func[i].number], &vocab->func[i]);
	return f;
}

int rn_call_view_init(struct rn_call_view *v, struct rn_arena *mem, const struct rn_trace *t,
		      int *rc)
{
	*v = (struct rn_call_view){ .t = t, .mem = mem, .rc = rc };
	v->function = describe_functions(mem, &t->vocab);
	if (!v->function || rn_map_init(&v->comm_of, mem) < 0)
		return RN_E_NOMEM;
	rn_decoder_init(&v->decoder, &t->vocab, t->comms, NULL, t->ranks);
	v->any_source = rn_vocab_find(&t->vocab, "MPI_ANY_SOURCE");
	v->any_tag = rn_vocab_find(&t->vocab, "MPI_ANY_TAG");
	v->nobody = rn_vocab_find(&t->vocab, "MPI_PROC_NULL");
	v->root = rn_vocab_find(&t->vocab, "MPI_ROOT");
	v->pending = rn_vocab_find(&t->vocab, "MPI_ERR_PENDING");
	v->world = comm_number(v, WORLD, sizeof(WORLD) - 1);
	v->self = comm_number(v, SELF, sizeof(SELF) - 1);
	return v->world && v->self ? RN_OK : RN_E_NOMEM;
}

void rn_call_view_begin(struct rn_call_view *v, uint64_t rank, struct rn_arena *scratch)
{
	v->rank = rank;
	v->scratch = scratch;
	v->standing = NULL;
	v->standings = 0;
}

/* ---- values ---- */

void rn_called_skip(struct rn_reader *in, uint64_t n)
{
	struct rn_value v;

	while (n-- > 0 && rn_call_value(in, &v))
		n += rn_value_parts(&v);
}

/* What the rank has in a table of values. */
static bool varying(const struct rn_call_view *v, int64_t table, int64_t *number)
{
	char name[RN_VARIES_NAME_MAX];
	size_t len = rn_varies_name(name, table);
	struct rn_comm_entry e;

	if (!v->t->comms || rn_comms_find(v->t->comms, name, len, v->rank, &e) != RN_OK)
		return false;
	*number = rn_unzigzag(e.key);
	return true;
}

/* Whether it is a number, and which. */
static bool number_of(struct rn_call_view *v, const struct rn_value *value, uint32_t relative,
		      int64_t *number)
{
	const struct rn_standing *s;

	*number = value->num;
	if (value->kind == RN_V_INT)
		return true;
	if (value->kind == RN_V_VARIES)
		return varying(v, value->num, number);
	s = rn_value_is_relative(value) ? rn_call_view_standing(v, relative) : NULL;
	if (s)
		*number = rn_value_resolve(value, s->rank, s->size);
	return s != NULL;
}

/* As a plan has it. */
static int32_t plan_number(struct rn_call_view *v, const struct rn_value *value, uint32_t relative)
{
	int64_t n;

	if (value->kind == RN_V_CONST)
		return value->word == v->any_source || value->word == v->any_tag ? RN_PLAN_ANY
		       : value->word == v->nobody                                ? RN_PLAN_NOBODY
		       : value->word == v->root                                  ? RN_PLAN_ROOT
										 : RN_PLAN_UNKNOWN;
	if (!number_of(v, value, relative, &n) || n <= RN_PLAN_ROOT || n > INT32_MAX)
		return RN_PLAN_UNKNOWN;
	return (int32_t)n;
}

int32_t rn_called_argument(struct rn_call_view *v, const struct rn_called *c, uint8_t param)
{
	if (param == RN_NO_PARAM)
		return RN_PLAN_NOTHING;
	return plan_number(v, &c->value[rn_called_at(c, param)], c->relative);
}

int64_t rn_called_count(struct rn_call_view *v, const struct rn_called *c)
{
	uint8_t param = c->f->traits->count;
	int64_t n;

	if (param == RN_NO_PARAM)
		return RN_PLAN_NOTHING;
	return number_of(v, &c->value[rn_called_at(c, param)], c->relative, &n) ? n
										: RN_PLAN_UNKNOWN;
}

bool rn_called_true(const struct rn_called *c, uint8_t param)
{
	const struct rn_value *v = param == RN_NO_PARAM ? NULL : &c->value[rn_called_at(c, param)];

	return v && v->kind == RN_V_INT && v->num != 0;
}

/* That of the call is one that goes in; ranks are relative to the first of all, or to the world. */
static void look_at_comms(struct rn_call_view *v, struct rn_called *c, uint32_t values)
{
	c->comm = c->relative = 0;
	for (uint32_t i = 0; i < values && !c->relative; i++) {
		c->relative = comm_of(v, &c->value[i]);
		if (i < c->f->ins)
			c->comm = c->relative;
	}
	if (!c->relative)
		c->relative = v->world;
}

void rn_call_view_read(struct rn_call_view *v, const void *sig, size_t len, struct rn_called *c)
{
	struct rn_reader in = rn_reader(sig, len);
	const struct rn_value *ret;
	uint32_t values;

	c->f = &v->function[rn_get_u64(&in)];
	values = rn_func_values(c->f->func);
	for (c->n = 0; c->n < values + 2 && rn_call_value(&in, &c->value[c->n]); c->n++) {
		c->parts[c->n] = in;
		rn_called_skip(&in, rn_value_parts(&c->value[c->n]));
	}
	ret = &c->value[values];
	c->unfinished = ret->kind == RN_V_CONST && ret->word == v->decoder.unset;
	c->failed = ret->kind == RN_V_INT
			    ? ret->num != 0
			    : ret->kind != RN_V_CONST || ret->word != v->decoder.nothing;
	c->place = c->n == values + 2 ? (uint32_t)ret[1].num : 0;
	look_at_comms(v, c, values);
}

/* ---- statuses ---- */

/* `value` and what it is made of, which `in` has. */
static struct rn_called_status status_of(struct rn_call_view *v, struct rn_value value,
					 struct rn_reader *in, uint32_t relative)
{
	struct rn_called_status s = { 0 };
	struct rn_value field[5];

	if (value.kind == RN_V_IN) {
		relative = comm_number(v, value.text, value.len);
		rn_call_value(in, &value);
	}
	s.ignored = value.kind == RN_V_STATUS && value.num == RN_STATUS_NOTHING;
	if (value.kind != RN_V_STATUS || s.ignored)
		return s;
	for (uint64_t i = 0; i < rn_value_parts(&value) && i < 5; i++)
		rn_call_value(in, &field[i]);
	s.source = plan_number(v, &field[0], relative);
	s.tag = plan_number(v, &field[1], relative);
	s.known = s.source >= 0 && s.tag >= 0;
	if (value.num == RN_STATUS_FULL) {
		s.pending = field[2].kind == RN_V_CONST && field[2].word == v->pending;
		s.cancelled = field[4].kind == RN_V_INT && field[4].num != 0;
	}
	return s;
}

struct rn_called_status rn_called_status(struct rn_call_view *v, const struct rn_called *c)
{
	uint8_t param = c->f->traits->status;
	struct rn_reader in;
	uint32_t at;

	if (param == RN_NO_PARAM)
		return (struct rn_called_status){ 0 };
	at = rn_called_at(c, param);
	in = c->parts[at];
	return status_of(v, c->value[at], &in, c->relative);
}

struct rn_called_statuses rn_called_statuses(const struct rn_called *c)
{
	uint8_t param = c->f->traits->status;
	uint32_t at = param == RN_NO_PARAM ? 0 : rn_called_at(c, param);

	if (param == RN_NO_PARAM || c->value[at].kind != RN_V_LIST)
		return (struct rn_called_statuses){ .left = -1 };
	return (struct rn_called_statuses){ c->parts[at], c->value[at].num };
}

struct rn_called_status rn_called_next(struct rn_call_view *v, const struct rn_called *c,
				       struct rn_called_statuses *l)
{
	struct rn_value value;

	if (l->left < 0)
		return rn_called_status(v, c);
	if (l->left == 0 || !rn_call_value(&l->in, &value))
		return (struct rn_called_status){ 0 };
	l->left--;
	return status_of(v, value, &l->in, c->relative);
}
