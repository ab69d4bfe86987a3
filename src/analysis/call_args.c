/* call_args.c - see call_args.h. */
#include "analysis/call_args.h"

#include "base/arena.h"
#include "order/replay_plan.h"

struct rn_arg_words rn_arg_words_of(const struct rn_vocab *v)
{
	return (struct rn_arg_words){ .any_source = rn_vocab_find(v, "MPI_ANY_SOURCE"),
				      .any_tag = rn_vocab_find(v, "MPI_ANY_TAG"),
				      .nobody = rn_vocab_find(v, "MPI_PROC_NULL"),
				      .root = rn_vocab_find(v, "MPI_ROOT"),
				      .pending = rn_vocab_find(v, "MPI_ERR_PENDING"),
				      .nothing = rn_vocab_find(v, "-") };
}

static void describe_function(struct rn_arg_function *to, const struct rn_func *f)
{
	const struct rn_proto *known = rn_mpi_known(f);

	*to = (struct rn_arg_function){ .func = f,
					.traits = rn_func_traits(f),
					.param = known && f->dir ? known->param : NULL,
					.number = known ? rn_mpi_find(f->name) : UINT32_MAX };
	for (uint32_t i = 0; i < f->nparams; i++)
		to->ins += rn_func_dir(f, i) != RN_DIR_OUT;
}

const struct rn_arg_function *rn_arg_functions(struct rn_arena *mem, const struct rn_vocab *vocab)
{
	uint64_t n = vocab->funcs ? (uint64_t)vocab->func[vocab->funcs - 1].number + 1 : 0;
	struct rn_arg_function *f = rn_new(mem, struct rn_arg_function, n + 1);

	for (uint32_t i = 0; f && i < vocab->funcs; i++)
		describe_function(&f[vocab->func[i].number], &vocab->func[i]);
	return f;
}

int32_t rn_arg_number(const struct rn_arg_words *w, const struct rn_value *v)
{
	if (!v)
		return RN_PLAN_NOTHING;
	if (v->kind == RN_V_CONST)
		return v->word == w->any_source || v->word == w->any_tag ? RN_PLAN_ANY
		       : v->word == w->nobody                            ? RN_PLAN_NOBODY
		       : v->word == w->root                              ? RN_PLAN_ROOT
									 : RN_PLAN_UNKNOWN;
	if (v->kind != RN_V_INT || v->num <= RN_PLAN_ROOT || v->num > INT32_MAX)
		return RN_PLAN_UNKNOWN;
	return (int32_t)v->num;
}

int64_t rn_arg_count(const struct rn_value *v)
{
	return !v ? RN_PLAN_NOTHING : v->kind == RN_V_INT ? v->num : RN_PLAN_UNKNOWN;
}

bool rn_arg_true(const struct rn_value *v)
{
	return v && v->kind == RN_V_INT && v->num != 0;
}

static const struct rn_value *return_value(const struct rn_call *c)
{
	return &c->args->value[c->args->top[c->args->ret]];
}

bool rn_call_failed(const struct rn_arg_words *w, const struct rn_call *c)
{
	const struct rn_value *v = return_value(c);

	if (v->kind == RN_V_INT)
		return v->num != 0;
	return v->kind != RN_V_CONST || v->word != w->nothing;
}

struct rn_arg_status rn_arg_status(const struct rn_arg_words *w, const struct rn_value *v)
{
	struct rn_arg_status s = { 0 };
	const struct rn_value *field;

	s.ignored = v && v->kind == RN_V_STATUS && v->num == RN_STATUS_NOTHING;
	if (!v || v->kind != RN_V_STATUS || s.ignored)
		return s;
	field = v + 1;
	s.source = rn_arg_number(w, &field[0]);
	s.tag = rn_arg_number(w, &field[1]);
	s.known = s.source >= 0 && s.tag >= 0;
	if (v->num == RN_STATUS_FULL) {
		s.pending = field[2].kind == RN_V_CONST && field[2].word == w->pending;
		s.cancelled = field[4].kind == RN_V_INT && field[4].num != 0;
	}
	return s;
}

struct rn_arg_statuses rn_arg_statuses(const struct rn_value *v)
{
	if (!v || v->kind != RN_V_LIST)
		return (struct rn_arg_statuses){ v, -1 };
	return (struct rn_arg_statuses){ v + 1, v->num };
}

struct rn_arg_status rn_arg_status_next(const struct rn_arg_words *w, struct rn_arg_statuses *l)
{
	const struct rn_value *v = l->next;

	if (!v || l->left == 0)
		return (struct rn_arg_status){ 0 };
	if (l->left > 0) {
		l->left--;
		l->next += v->span;
	}
	return rn_arg_status(w, v);
}
