/* check.c - see check.h. */
#include "read/check.h"

#include "file/section.h"
#include "read/trace.h"

/* The vocabulary holds what is used, and nothing else. */
static int check_vocab(struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	struct rn_vocab used;
	int rc;

	if (!rn_vocab_check(&t->vocab))
		return rn_err_set(err, RN_E_DATA, "the tables of functions and words are wrong");
	rc = rn_vocab_used(scratch, &t->vocab, t->streams.sigs, &used);
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(err);
	if (rc < 0)
		return rn_err_set(err, RN_E_DATA, "a signature is not valid");
	if (used.funcs != t->vocab.funcs)
		return rn_err_set(err, RN_E_DATA, "%u functions are not used",
				  t->vocab.funcs - used.funcs);
	if (used.words != t->vocab.words)
		return rn_err_set(err, RN_E_DATA, "%u words are not used",
				  t->vocab.words - used.words);
	return RN_OK;
}

int rn_trace_check(struct rn_trace *t, struct rn_err *err)
{
	struct rn_arena scratch;
	int rc = rn_container_check(t->container, err);

	if (rc < 0)
		return rc;
	rn_arena_init(&scratch, SIZE_MAX);
	rc = check_vocab(t, &scratch, err);
	if (rc == RN_OK)
		rc = rn_streams_check(&t->streams, &scratch, err);
	rn_arena_free(&scratch);
	return rc;
}
