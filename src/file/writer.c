/* writer.c - see writer.h. */
#include "file/writer.h"

#include "base/arena.h"
#include "base/buf.h"
#include "encode/sigs.h"
#include "file/loops.h"
#include "file/metadata.h"
#include "file/section.h"
#include "merge/blur.h"
#include "merge/fold.h"
#include "rules/rules.h"

#include <string.h>

struct source {
	struct rn_folded folded;
	const struct rn_streams *streams; /* those of `folded` */
	const struct rn_meta *meta;
	struct rn_vocab vocab; /* what is used of it */
};

static int put_meta(struct source *s, struct rn_buf *out)
{
	return rn_meta_encode(s->meta, out);
}

static int put_functions(struct source *s, struct rn_buf *out)
{
	rn_funcs_encode(&s->vocab, out);
	return RN_OK;
}

static int put_strings(struct source *s, struct rn_buf *out)
{
	rn_words_encode(&s->vocab, out);
	return RN_OK;
}

static int put_signatures(struct source *s, struct rn_buf *out)
{
	if (rn_meta_elastic(s->meta))
		return rn_sigs_encode_small(s->streams->sigs, out);
	rn_sigs_encode(s->streams->sigs, out);
	return RN_OK;
}

static int put_rules(struct source *s, struct rn_buf *out)
{
	return rn_rules_encode(s->streams->rules, out);
}

static int put_loops(struct source *s, struct rn_buf *out)
{
	if (s->folded.loops)
		rn_loops_encode(&s->folded, out);
	return RN_OK;
}

static int put_ranks(struct source *s, struct rn_buf *out)
{
	return rn_groups_encode(s->streams, out);
}

static const struct {
	enum rn_section_type type;
	int (*put)(struct source *s, struct rn_buf *out);
} sections[] = {
	{ RN_SECTION_META, put_meta },       { RN_SECTION_FUNCTIONS, put_functions },
	{ RN_SECTION_STRINGS, put_strings }, { RN_SECTION_SIGNATURES, put_signatures },
	{ RN_SECTION_RULES, put_rules },     { RN_SECTION_LOOPS, put_loops },
	{ RN_SECTION_RANKS, put_ranks },
};

static int put_all(struct rn_container_writer *w, struct source *s, struct rn_err *err)
{
	struct rn_buf b = { 0 };
	int rc = RN_OK;

	for (unsigned i = 0; i < sizeof(sections) / sizeof(*sections) && rc == RN_OK; i++) {
		rn_buf_clear(&b);
		rc = sections[i].put(s, &b);
		if (rc == RN_OK)
			rc = rn_buf_status(&b);
		if (rc < 0)
			rc = rn_err_set(err, rc, "section %s cannot be made",
					rn_section_name(sections[i].type));
		else if (b.len || sections[i].type != RN_SECTION_LOOPS)
			rc = rn_container_add(w, sections[i].type, b.data, b.len, err);
	}
	rn_buf_free(&b);
	return rc;
}

#define FOLD_MEMORY ((size_t)256 << 20)

/* If it cannot, or a reader would refuse it, nothing is lost. */
static void fold(struct source *src, const struct rn_streams *s, struct rn_arena *mem)
{
	struct rn_streams opened;
	struct rn_arena scratch;

	if (!rn_meta_elastic(src->meta))
		return;
	rn_arena_init(&scratch, FOLD_MEMORY);
	rn_fold(s, mem, &scratch, &src->folded);
	rn_arena_free(&scratch);
	if (rn_meta_lossy(src->meta).counts)
		rn_blur(&src->folded, mem, &scratch);
	if (src->folded.loops &&
	    rn_folded_open(&src->folded, &scratch, &scratch, &opened, NULL) < 0)
		src->folded = (struct rn_folded){ .streams = *s };
	rn_arena_free(&scratch);
}

int rn_trace_sections(struct rn_container_writer *w, const struct rn_streams *s,
		      const struct rn_vocab *vocab, const struct rn_meta *meta, struct rn_err *err)
{
	struct source src = { .streams = &src.folded.streams, .meta = meta };
	struct rn_arena mem;
	int rc = rn_meta_check(meta, err);

	if (rc < 0)
		return rc;
	rn_arena_init(&mem, SIZE_MAX);
	src.folded.streams = *s;
	rc = rn_vocab_used(&mem, vocab, s->sigs, &src.vocab);
	if (rc == RN_OK) {
		fold(&src, s, &mem);
		rc = put_all(w, &src, err);
	} else {
		rn_err_set(err, rc, rc == RN_E_ARG ? "a signature is not valid" : "out of memory");
	}
	rn_arena_free(&mem);
	return rc;
}
