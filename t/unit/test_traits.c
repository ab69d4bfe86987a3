/* test_traits.c - the traits and the parameters of each row of api/mpi.api are consistent. */
#include "tap.h"

#include <string.h>

#include "encode/call_words.h"

static const struct rn_proto *f; /* the function under test */

static bool is(enum rn_trait trait)
{
	return (f->traits.is & (uint32_t)trait) != 0;
}

static bool has_param(uint8_t param)
{
	CHECK(param == RN_NO_PARAM || param < f->nparams);
	return param != RN_NO_PARAM;
}

static bool has_kind(enum rn_param_kind kind)
{
	for (uint32_t i = 0; i < f->nparams; i++)
		if (f->param[i].kind == kind)
			return true;
	return false;
}

static bool creates(enum rn_param_kind kind)
{
	for (uint32_t i = 0; i < f->nparams; i++)
		if (f->param[i].kind == kind && f->param[i].how == RN_HOW_new)
			return true;
	return false;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static void check_messages(void)
{
	const struct rn_traits *t = &f->traits;

	if (is(RN_IS_sends))
		CHECK(has_param(t->dest) && has_param(t->tag) && has_param(t->comm));
	if (is(RN_IS_receives))
		CHECK(has_param(t->source) ? has_param(t->recvtag) : has_kind(RN_K_message));
	if (is(RN_IS_probes))
		CHECK(has_param(t->source) && has_param(t->recvtag) && has_param(t->status));
	if (is(RN_IS_synchronous) || is(RN_IS_buffered))
		CHECK(is(RN_IS_sends));
}

static void check_requests(void)
{
	const struct rn_traits *t = &f->traits;

	CHECK(creates(RN_K_request) == (is(RN_IS_starts) || is(RN_IS_prepares)));
	CHECK(!(is(RN_IS_starts) && is(RN_IS_prepares)));
	if (creates(RN_K_request))
		CHECK(has_param(t->request) && f->param[t->request].how == RN_HOW_new);
	if (is(RN_IS_activates) || is(RN_IS_completes) || is(RN_IS_cancels) || is(RN_IS_frees))
		CHECK(has_param(t->request) && f->param[t->request].how != RN_HOW_new);
	if (is(RN_IS_completes))
		CHECK(has_param(t->status));
	if (is(RN_IS_tests))
		CHECK(has_param(t->flag) || is(RN_IS_some));
	if (is(RN_IS_any))
		CHECK(is(RN_IS_completes) && has_param(t->index));
	if (is(RN_IS_some))
		CHECK(is(RN_IS_completes) && has_param(t->index) && has_param(t->indices));
}

static void check_groups(void)
{
	if (f->traits.whom != RN_WHOM_nobody)
		CHECK(f->nparams == 0 || has_kind(RN_K_comm) || has_kind(RN_K_win) ||
		      has_kind(RN_K_file));
	if (f->traits.whom == RN_WHOM_root || f->traits.whom == RN_WHOM_leaves)
		CHECK(has_param(f->traits.root));
	if (is(RN_IS_duplicates) || is(RN_IS_group) || is(RN_IS_separate))
		CHECK(creates(RN_K_comm));
}

/* The factors are one datatype, and counts. */
static void check_bytes(void)
{
	unsigned types = 0, factors = 0;

	for (unsigned i = 0; i < 3 && has_param(f->traits.bytes[i]); i++, factors++) {
		const struct rn_param *p = &f->param[f->traits.bytes[i]];

		types += p->kind == RN_K_type && !p->array;
		CHECK(p->kind == RN_K_type || p->kind == RN_K_int || p->kind == RN_K_comm);
		CHECK(p->how == RN_HOW_in);
	}
	CHECK(types == (factors > 0));
	if (factors)
		CHECK(is(RN_IS_moves) != creates(RN_K_type));
}

static void check_variant(void)
{
	const struct rn_proto *base = &rn_mpi_protos[f->traits.base];

	CHECK(base->traits.base == f->traits.base);
	CHECK((base->traits.is & ~f->traits.is) == 0);
	CHECK(base->traits.whom == f->traits.whom);
	if (ends_with(f->name, "_c"))
		CHECK(strncmp(f->name, base->name, 4) == 0 && f != base);
	if (ends_with(f->name, "_init") || ends_with(f->name, "_init_c"))
		CHECK(is(RN_IS_prepares) == creates(RN_K_request));
}

static void check_values(const struct rn_func *func)
{
	uint32_t ins = 0, outs = 0, in = 0, out = 0;

	for (uint32_t i = 0; i < f->nparams; i++)
		ins += rn_func_dir(func, i) != RN_DIR_OUT;
	for (uint32_t i = 0; i < f->nparams; i++) {
		enum rn_dir dir = rn_func_dir(func, i);

		out = ins + outs;
		CHECK(f->param[i].value == (dir == RN_DIR_OUT ? out : in));
		in += dir != RN_DIR_OUT;
		outs += dir != RN_DIR_IN;
	}
}

static void test_table(void)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++) {
		const struct rn_func *func = &rn_mpi_vocab.func[i];

		f = &rn_mpi_protos[i];
		CHECK(rn_mpi_find(f->name) == i);
		CHECK(rn_mpi_known(func) == f);
		CHECK(rn_func_traits(func) == &f->traits);
		check_messages();
		check_requests();
		check_groups();
		check_bytes();
		check_variant();
		check_values(func);
	}
}

/* A function of a trace may have a known name and other parameters. */
static void test_other_functions(void)
{
	static const char *const send[] = { "buf", "count", "datatype", "dest", "tag", "comm" };
	static const char *const other[] = { "buf", "count", "datatype", "dest", "tag", "x" };
	static const unsigned char dir[6] = { RN_DIR_OUT };
	static const struct rn_func func[] = {
		{ 0, "MPI_Send", send, 6, NULL }, { 1, "MPI_Send", send, 6, dir },
		{ 2, "MPI_Send", send, 5, NULL }, { 3, "MPI_Send", other, 6, NULL },
		{ 4, "MPI_Sen", send, 6, NULL },  { 5, "", NULL, 0, NULL },
		{ 6, "~", NULL, 0, NULL },
	};

	CHECK(rn_func_traits(&func[0])->is & RN_IS_sends);
	for (size_t i = 1; i < sizeof(func) / sizeof(*func); i++) {
		CHECK(!rn_mpi_known(&func[i]));
		CHECK(rn_func_traits(&func[i])->is == 0);
		CHECK(rn_func_traits(&func[i])->dest == RN_NO_PARAM);
		CHECK(rn_func_traits(&func[i])->bytes[0] == RN_NO_PARAM);
	}
	CHECK(rn_mpi_find("MPI_Strange") == UINT32_MAX);
}

int main(void)
{
	test_table();
	ok("traits and parameters of every function agree");
	test_other_functions();
	ok("a function with other parameters has no traits");
	return tap_done();
}
