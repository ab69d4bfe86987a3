/* trace.c - see trace.h. */
#include "read/trace.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/varint.h"
#include "encode/sigs.h"
#include "encode/timing.h"
#include "file/loops.h"
#include "file/moment_list.h"
#include "file/section.h"
#include "file/metadata.h"
#include "identity/comms.h"
#include "read/order_view.h"

static int get_meta(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	return rn_meta_decode(&t->mem, bytes, len, &t->meta, err);
}

static int get_functions(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	return rn_funcs_decode(&t->mem, bytes, len, &t->vocab, err);
}

static int get_strings(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	return rn_words_decode(&t->mem, bytes, len, &t->vocab, err);
}

static int get_signatures(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	struct rn_sigs *sigs;
	int rc = rn_sigs_decode(&t->mem, bytes, len, &t->vocab, &sigs, err);

	if (rc == RN_OK)
		t->streams.sigs = sigs;
	return rc;
}

/* Loops are symbols of the rules, and their section comes behind those. */
static int count_loops(const struct rn_trace *t, uint32_t *loops, struct rn_err *err)
{
	const void *bytes;
	size_t len;
	int rc;

	if (!rn_container_has(t->container, RN_SECTION_LOOPS))
		return RN_OK;
	rc = rn_container_get(t->container, RN_SECTION_LOOPS, &bytes, &len, err);
	if (rc == RN_OK)
		*loops = rn_loops_count(bytes, len);
	return rc;
}

static int get_rules(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	struct rn_reader in = rn_reader(bytes, len);
	uint32_t loops = 0;
	struct rn_rules *rules;
	int rc = count_loops(t, &loops, err);

	if (rc == RN_OK)
		rc = rn_rules_decode(&t->mem, &in, rn_sigs_count(t->streams.sigs) + loops, &rules,
				     err);

	if (rc == RN_OK && rn_left(&in))
		rc = rn_err_set(err, RN_E_DATA, "bytes left over");
	if (rc < 0)
		return rc;
	t->streams.rules = rules;
	for (uint32_t r = 0; r < rn_rules_count(rules); r++)
		t->symbols += rn_rules_body(rules, r).n;
	return RN_OK;
}

static int get_ranks(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	int rc = rn_groups_decode(&t->mem, bytes, len, &t->streams, err);

	t->folded.streams = t->streams;
	return rc;
}

static int get_loops(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	struct rn_arena scratch;
	int rc = rn_loops_decode(&t->mem, bytes, len, &t->folded, err);

	rn_arena_init(&scratch, SIZE_MAX);
	if (rc == RN_OK)
		rc = rn_folded_open(&t->folded, &t->mem, &scratch, &t->streams, err);
	rn_arena_free(&scratch);
	return rc;
}

static int get_moments(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	struct rn_moment_list *l = rn_new(&t->mem, struct rn_moment_list, 1);

	if (!l)
		return rn_err_nomem(err);
	rn_moment_list_init(l, &t->mem);
	t->moments = l;
	return rn_moment_list_decode(l, bytes, len, 0, t->streams.ranks, err);
}

static int get_comms(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	return rn_comms_decode(&t->mem, bytes, len, &t->comms, err);
}

static int get_times(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	uint32_t sigs = rn_sigs_count(t->streams.sigs);
	struct rn_times *times = rn_new(&t->mem, struct rn_times, 1);
	uint64_t *count = rn_new(&t->mem, uint64_t, sigs);

	if (!times || !count || rn_streams_counts(&t->streams, &t->mem, count) < 0)
		return rn_err_nomem(err);
	t->times = times;
	return rn_times_decode(&t->mem, bytes, len, count, sigs, times, err);
}

static int get_sites(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	return rn_sites_decode(&t->mem, bytes, len, &t->sites, err);
}

static int get_values(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	return rn_value_list_decode(&t->mem, bytes, len, t->streams.sigs, t->streams.ranks,
				    &t->values, err);
}

static int get_order(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	return rn_order_view_decode(&t->mem, bytes, len, t->streams.ranks, t->sites.nodes,
				    &t->order, err);
}

/* In this order: each one uses what those before it gave. */
static const struct {
	enum rn_section_type type;
	int (*get)(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err);
	bool optional;
} sections[] = {
	{ RN_SECTION_META, get_meta, false },
	{ RN_SECTION_FUNCTIONS, get_functions, false },
	{ RN_SECTION_STRINGS, get_strings, false },
	{ RN_SECTION_SIGNATURES, get_signatures, false },
	{ RN_SECTION_RULES, get_rules, false },
	{ RN_SECTION_RANKS, get_ranks, false },
	{ RN_SECTION_LOOPS, get_loops, true },
	{ RN_SECTION_TIME, get_moments, true },
	{ RN_SECTION_COMMS, get_comms, true },
	{ RN_SECTION_TIMES, get_times, true },
	{ RN_SECTION_SITES, get_sites, true },
	{ RN_SECTION_VALUES, get_values, true },
	{ RN_SECTION_ORDER, get_order, true },
};

static int decode_section(struct rn_trace *t, unsigned i, struct rn_err *err)
{
	const char *name = rn_section_name(sections[i].type);
	const void *bytes;
	size_t len;
	int rc;

	if (sections[i].optional && !rn_container_has(t->container, sections[i].type))
		return RN_OK;
	rc = rn_container_get(t->container, sections[i].type, &bytes, &len, err);
	if (rc == RN_E_RANGE)
		return rn_err_set(err, RN_E_DATA, "section %s is missing", name);
	if (rc < 0)
		return rc;
	rc = sections[i].get(t, bytes, len, err);
	if (rc < 0)
		rn_err_prefix(err, "section %s", name);
	return rc;
}

/* A whole number of at least 1 in decimal, without anything around it; otherwise 0. */
static uint64_t whole_number(const char *s)
{
	uint64_t v = 0;

	for (; *s >= '0' && *s <= '9' && v <= RN_RANKS_MAX; s++)
		v = v * 10 + (uint64_t)(*s - '0');
	return *s ? 0 : v;
}

/* How streams are dealt out to ranks and their threads. */
static int share_streams(struct rn_trace *t, struct rn_err *err)
{
	const char *threads = rn_meta_value(&t->meta, RN_META_THREADS);

	t->threads = threads ? whole_number(threads) : 1;
	if (t->threads == 0 || t->streams.ranks % t->threads)
		return rn_err_set(err, RN_E_DATA,
				  "section meta: threads does not divide the %" PRIu64 " streams",
				  t->streams.ranks);
	t->ranks = t->streams.ranks / t->threads;
	return RN_OK;
}

static int decode_all(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	int rc = rn_container_open(&t->mem, bytes, len, &t->container, err);

	for (unsigned i = 0; i < sizeof(sections) / sizeof(*sections) && rc == RN_OK; i++)
		rc = decode_section(t, i, err);
	if (rc == RN_OK)
		rc = rn_sites_fit(&t->sites, t->streams.sigs, &t->vocab, err);
	return rc == RN_OK ? share_streams(t, err) : rc;
}

static void trace_init(struct rn_trace *t)
{
	memset(t, 0, sizeof(*t));
	rn_arena_init(&t->mem, SIZE_MAX);
}

int rn_trace_parse(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	int rc;

	trace_init(t);
	rc = decode_all(t, bytes, len, err);
	if (rc < 0)
		rn_trace_close(t);
	return rc;
}

/* Looks at the header before it asks for memory: the file may be anything, and of any size. */
static int read_file(int fd, const char *path, uint64_t size, struct rn_buf *b, struct rn_err *err)
{
	int rc = rn_io_read_part(fd, path, RN_CONTAINER_HEAD, b, err);

	if (rc < 0)
		return rc;
	rc = rn_container_probe(b->data, b->len, size, err);
	if (rc < 0) {
		rn_err_prefix(err, "%s", path);
		return rc;
	}
	return rn_io_read_part(fd, path, (size_t)size - b->len, b, err);
}

int rn_trace_open(struct rn_trace *t, const char *path, struct rn_err *err)
{
	uint64_t size;
	int fd = rn_io_open(path, &size, err), rc;

	if (fd < 0)
		return fd;
	trace_init(t);
	rc = read_file(fd, path, size, &t->file, err);
	close(fd);
	if (rc == RN_OK) {
		rc = decode_all(t, t->file.data, t->file.len, err);
		if (rc < 0)
			rn_err_prefix(err, "%s", path);
	}
	if (rc < 0)
		rn_trace_close(t);
	return rc;
}

void rn_trace_close(struct rn_trace *t)
{
	rn_buf_free(&t->file);
	rn_arena_free(&t->mem);
}

struct rn_lossy rn_trace_lossy(const struct rn_trace *t)
{
	return rn_meta_lossy(&t->meta);
}
