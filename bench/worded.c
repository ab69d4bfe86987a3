/* worded.c - see worded.h. */
#include "bench/worded.h"

#include "base/arena.h"
#include "base/intern.h"
#include "encode/elastic_slots.h"
#include "grammar/grammar.h"
#include "track/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void no_such(const char *name)
{
	fprintf(stderr, "no %s in the table of MPI\n", name);
	exit(1);
}

uint32_t worded_function(const char *name)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++)
		if (strcmp(rn_mpi_vocab.func[i].name, name) == 0)
			return rn_mpi_vocab.func[i].number;
	no_such(name);
}

uint32_t worded_word(const char *name)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.words; i++)
		if (strcmp(rn_mpi_vocab.word[i].text, name) == 0)
			return rn_mpi_vocab.word[i].number;
	no_such(name);
}

int worded_init(struct worded *r, struct rn_arena *mem)
{
	*r = (struct worded){ .mem = mem };
	r->words = rn_sigs_new(mem);
	r->blobs = rn_sigs_new(mem);
	r->texts = rn_sigs_new(mem);
	r->g = rn_grammar_new(mem, NULL);
	rn_times_init(&r->times, mem, RN_TIME_SCALE_ONE);
	rn_seg_init(&r->holes, sizeof(struct rn_holes *));
	return r->words && r->blobs && r->texts && r->g ? RN_OK : RN_E_NOMEM;
}

void worded_put(struct worded *r, int64_t value)
{
	if (r->n < WORDED_MAX)
		r->call[r->n++] = (uint64_t)value;
}

void worded_begin(struct worded *r, uint32_t function)
{
	r->n = 0;
	worded_put(r, function);
}

void worded_constant(struct worded *r, uint32_t word)
{
	worded_put(r, (int64_t)word << 1 | 1);
}

void worded_data(struct worded *r, int64_t block, int64_t at, int64_t n, uint32_t type)
{
	worded_put(r, RN_MEM_HEAP | block << 8);
	worded_put(r, at);
	worded_put(r, n);
	worded_constant(r, type);
}

static int append(struct worded *r, const uint64_t *words, uint32_t *id)
{
	int rc = rn_sigs_intern(r->words, words, r->n * sizeof(*words), id);

	return rc == RN_OK ? rn_grammar_append(r->g, *id) : rc;
}

int worded_end(struct worded *r, uint32_t *id)
{
	worded_put(r, 0);
	return append(r, r->call, id);
}

int worded_end_holes(struct worded *r, const uint16_t *at, uint32_t holes, uint32_t *id)
{
	uint64_t words[WORDED_MAX];
	struct rn_holes *h;
	int rc;

	worded_put(r, 0);
	memcpy(words, r->call, r->n * sizeof(*words));
	for (uint32_t i = 0; i < holes; i++)
		words[at[i]] = RN_RAW_HOLE;
	rc = append(r, words, id);
	if (rc < 0)
		return rc;
	h = rn_holes_of(&r->holes, *id);
	if (!h) {
		h = rn_holes_new(r->mem, words, r->n);
		if (!h || !rn_holes_put(&r->holes, r->mem, *id, h))
			return RN_E_NOMEM;
	}
	return rn_holes_append(h, r->call);
}

struct rn_stream_calls worded_calls(const struct worded *r, const struct rn_process_table *process)
{
	return (struct rn_stream_calls){
		process, r->words, r->blobs, r->texts, &r->times, &r->holes
	};
}
