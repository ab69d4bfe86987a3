/* check.c - see check.h. */
#include "read/check.h"

#include <stdlib.h>
#include <string.h>

#include "file/section.h"
#include "read/trace.h"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names; one that is there twice, or NULL. */
static const char *repeated(const char **name, uint32_t n)
{
	qsort(name, n, sizeof(*name), by_text);
	for (uint32_t i = 1; i < n; i++)
		if (strcmp(name[i - 1], name[i]) == 0)
			return name[i];
	return NULL;
}

/* Two numbers with one name would make calls look equal that are not. */
static int check_names(const struct rn_vocab *v, struct rn_arena *scratch, struct rn_err *err)
{
	const char **func = rn_new(scratch, const char *, v->funcs);
	const char **word = rn_new(scratch, const char *, v->words), *twice;

	if (!func || !word)
		return rn_err_nomem(err);
	for (uint32_t i = 0; i < v->funcs; i++)
		func[i] = v->func[i].name;
	for (uint32_t i = 0; i < v->words; i++)
		word[i] = v->word[i].text;
	twice = repeated(func, v->funcs);
	if (twice)
		return rn_err_set(err, RN_E_DATA, "two functions are called %s", twice);
	twice = repeated(word, v->words);
	if (twice)
		return rn_err_set(err, RN_E_DATA, "two words are %s", twice);
	return RN_OK;
}

/* The vocabulary holds what is used, once, and nothing else. */
static int check_vocab(struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	struct rn_vocab used;
	int rc;

	if (!rn_vocab_check(&t->vocab))
		return rn_err_set(err, RN_E_DATA, "the tables of functions and words are wrong");
	rc = check_names(&t->vocab, scratch, err);
	if (rc < 0)
		return rc;
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
