/* section_kinds.c - see section_kinds.h. */
#include "model/section_kinds.h"

#include <string.h>

#include "base/intern.h"
#include "base/varint.h"
#include "encode/time_stats.h"
#include "identity/comm_table.h"
#include "model/metadata.h"
#include "rules/rules.h"

void rn_trace_init(struct rn_trace *t)
{
	memset(t, 0, sizeof(*t));
	rn_arena_init(&t->mem, SIZE_MAX);
}

void rn_trace_close(struct rn_trace *t)
{
	rn_buf_free(&t->file);
	rn_arena_free(&t->mem);
}

/* ---- metadata and vocabulary ---- */

static int encode_meta(const struct rn_trace *t, struct rn_buf *out)
{
	rn_meta_encode(&t->meta, out);
	return RN_OK;
}

static int decode_meta(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	return rn_meta_decode(&t->mem, in, &t->meta, err);
}

static int encode_functions(const struct rn_trace *t, struct rn_buf *out)
{
	rn_funcs_encode(&t->vocab, out);
	return RN_OK;
}

static int decode_functions(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	return rn_funcs_decode(&t->mem, in, &t->vocab, err);
}

static int encode_strings(const struct rn_trace *t, struct rn_buf *out)
{
	rn_words_encode(&t->vocab, out);
	return RN_OK;
}

static int decode_strings(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	return rn_words_decode(&t->mem, in, &t->vocab, err);
}

/* ---- streams ---- */

static int encode_signatures(const struct rn_trace *t, struct rn_buf *out)
{
	if (rn_meta_elastic(&t->meta))
		return rn_sigs_encode_small(t->streams.sigs, out);
	rn_sigs_encode(t->streams.sigs, out);
	return RN_OK;
}

static int decode_signatures(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	struct rn_sigs *sigs;
	int rc = rn_sigs_decode(&t->mem, in, &t->vocab, &sigs, err);

	if (rc == RN_OK)
		t->streams.sigs = sigs;
	return rc;
}

static int encode_loops(const struct rn_trace *t, struct rn_buf *out)
{
	if (t->folded.loops)
		rn_loops_encode(&t->folded, out);
	return RN_OK;
}

static int decode_loops(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	return rn_loops_decode(&t->mem, in, &t->folded, err);
}

static int encode_rules(const struct rn_trace *t, struct rn_buf *out)
{
	return rn_rules_encode(t->folded.streams.rules, out);
}

/* Loops are terminals of the rules. */
static int decode_rules(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	struct rn_rules *rules;
	int rc = rn_rules_decode(&t->mem, in, rn_sigs_count(t->streams.sigs) + t->folded.loops,
				 &rules, err);

	if (rc < 0)
		return rc;
	t->streams.rules = rules;
	for (uint32_t r = 0; r < rn_rules_count(rules); r++)
		t->symbols += rn_rules_body(rules, r).n;
	return RN_OK;
}

static int encode_ranks(const struct rn_trace *t, struct rn_buf *out)
{
	return rn_groups_encode(&t->folded.streams, out);
}

static int open_folded(struct rn_trace *t, struct rn_err *err)
{
	struct rn_folded *f = &t->folded;
	struct rn_arena scratch;
	int rc;

	if (f->refs != (uint64_t)f->loops * f->streams.groups)
		return rn_err_set(err, RN_E_DATA, "section loops has another number of groups");
	rn_arena_init(&scratch, SIZE_MAX);
	rc = rn_folded_open(f, &t->mem, &scratch, &t->streams, err);
	rn_arena_free(&scratch);
	return rc;
}

static int decode_ranks(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	int rc = rn_groups_decode(&t->mem, in, &t->streams, err);

	t->folded.streams = t->streams;
	return rc == RN_OK && t->folded.loops ? open_folded(t, err) : rc;
}

/* ---- additional data about calls ---- */

static int encode_time(const struct rn_trace *t, struct rn_buf *out)
{
	return t->moments ? rn_chunk_list_encode(t->moments, 0, out) : RN_OK;
}

/* Validates the head of a stream: nanoseconds per tick, times 2^32, and the start of the stream. */
static bool is_moments(const struct rn_chunk_stream *s)
{
	return s->heads == 2 && s->head[0] && s->head[1] <= INT64_MAX;
}

static int decode_time(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	struct rn_chunk_list *l = rn_new(&t->mem, struct rn_chunk_list, 1);
	int rc;

	t->moments = l;
	if (!l)
		return rn_err_nomem(err);
	rn_chunk_list_init(l, &t->mem);
	rc = rn_chunk_list_decode(l, in, 0, t->streams.ranks, err);
	for (uint32_t i = 0; i < l->stream.n && rc == RN_OK; i++)
		if (!is_moments(rn_chunk_list_at(l, i)))
			rc = rn_err_set(err, RN_E_DATA, "a stream is malformed");
	return rc;
}

static int encode_comms(const struct rn_trace *t, struct rn_buf *out)
{
	return t->comms ? rn_comms_encode(t->comms, out) : RN_OK;
}

static int decode_comms(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	size_t len = rn_left(in);

	return rn_comms_decode(&t->mem, rn_get_bytes(in, len), len, &t->comms, err);
}

/* Returns the number of occurrences of each signature, in `mem`; NULL without memory. */
static uint64_t *occurrences(const struct rn_trace *t, struct rn_arena *mem)
{
	uint64_t *count = rn_new(mem, uint64_t, (size_t)rn_sigs_count(t->streams.sigs) + 1);

	return count && rn_streams_counts(&t->streams, mem, count) == RN_OK ? count : NULL;
}

static int encode_times(const struct rn_trace *t, struct rn_buf *out)
{
	struct rn_arena scratch;
	uint64_t *count;
	int rc;

	if (!t->times)
		return RN_OK;
	rn_arena_init(&scratch, SIZE_MAX);
	count = occurrences(t, &scratch);
	rc = count ? rn_times_encode(t->times, count, rn_sigs_count(t->streams.sigs), out)
		   : RN_E_NOMEM;
	rn_arena_free(&scratch);
	return rc;
}

static int decode_times(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	uint64_t *count = occurrences(t, &t->mem);
	size_t len = rn_left(in);

	t->times = rn_new(&t->mem, struct rn_times, 1);
	if (!t->times || !count)
		return rn_err_nomem(err);
	return rn_times_decode(&t->mem, rn_get_bytes(in, len), len, count,
			       rn_sigs_count(t->streams.sigs), t->times, err);
}

static int encode_sites(const struct rn_trace *t, struct rn_buf *out)
{
	return rn_sites_encode(&t->sites, out);
}

static int decode_sites(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	return rn_sites_decode(&t->mem, in, &t->sites, err);
}

static int encode_values(const struct rn_trace *t, struct rn_buf *out)
{
	return rn_value_list_encode(&t->values, out);
}

static int decode_values(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	int rc = rn_value_list_decode(&t->mem, in, t->streams.sigs, t->streams.ranks, &t->values,
				      err);

	return rc == RN_OK ? rn_value_list_open(&t->values, &t->mem, err) : rc;
}

static int encode_order(const struct rn_trace *t, struct rn_buf *out)
{
	return t->events ? rn_order_list_encode(t->events, 0, out) : RN_OK;
}

static int decode_order(struct rn_trace *t, struct rn_reader *in, struct rn_err *err)
{
	t->events = rn_new(&t->mem, struct rn_order_list, 1);
	if (!t->events || rn_order_list_init(t->events, &t->mem, true) < 0)
		return rn_err_nomem(err);
	return rn_order_list_decode(t->events, in, 0, t->streams.ranks, err);
}

/* ---- the table ---- */

const struct rn_section_kind rn_section_kinds[RN_SECTION_KINDS] = {
	{ RN_SECTION_META, "meta", true, false, encode_meta, decode_meta },
	{ RN_SECTION_FUNCTIONS, "functions", true, false, encode_functions, decode_functions },
	{ RN_SECTION_STRINGS, "strings", true, false, encode_strings, decode_strings },
	{ RN_SECTION_SIGNATURES, "signatures", true, false, encode_signatures, decode_signatures },
	{ RN_SECTION_LOOPS, "loops", true, true, encode_loops, decode_loops },
	{ RN_SECTION_RULES, "rules", true, false, encode_rules, decode_rules },
	{ RN_SECTION_RANKS, "ranks", true, false, encode_ranks, decode_ranks },
	{ RN_SECTION_TIME, "time", false, true, encode_time, decode_time },
	{ RN_SECTION_COMMS, "comms", true, true, encode_comms, decode_comms },
	{ RN_SECTION_TIMES, "times", false, true, encode_times, decode_times },
	{ RN_SECTION_SITES, "sites", true, true, encode_sites, decode_sites },
	{ RN_SECTION_VALUES, "values", true, true, encode_values, decode_values },
	{ RN_SECTION_ORDER, "order", true, true, encode_order, decode_order },
};

const struct rn_section_kind *rn_section_kind(uint64_t type)
{
	for (unsigned i = 0; i < RN_SECTION_KINDS; i++)
		if (rn_section_kinds[i].type == type)
			return &rn_section_kinds[i];
	return NULL;
}

const char *rn_section_name(uint64_t type)
{
	const struct rn_section_kind *k = rn_section_kind(type);

	return k ? k->name : NULL;
}
