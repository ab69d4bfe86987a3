/* trace_writer.c - see trace_writer.h. */
#include "file/trace_writer.h"

#include <sys/stat.h>

#include "base/io.h"
#include "file/container.h"
#include "model/markers.h"
#include "model/metadata.h"

static int put_section(const struct rn_trace *t, const struct rn_section_kind *k,
		       struct rn_container_writer *w, struct rn_buf *b, struct rn_err *err)
{
	int rc;

	rn_buf_clear(b);
	rc = k->encode(t, b);
	if (rc == RN_OK)
		rc = rn_buf_status(b);
	if (rc < 0)
		return rn_err_set(err, rc, "section %s cannot be made", k->name);
	return b->len || !k->optional ? rn_container_add(w, k->type, b->data, b->len, err) : RN_OK;
}

int rn_trace_sections(const struct rn_trace *t, struct rn_container_writer *w, struct rn_err *err)
{
	struct rn_buf b = { 0 };
	int rc = RN_OK;

	for (unsigned type = 1; type < RN_SECTION_END && rc == RN_OK; type++) {
		const struct rn_section_kind *k = rn_section_kind(type);

		if (k)
			rc = put_section(t, k, w, &b, err);
	}
	rn_buf_free(&b);
	return rc;
}

static bool is_to_keep(const struct rn_trace *t, uint64_t calls, const char *path)
{
	struct stat st;

	return calls == 0 && !rn_meta_value(&t->meta, RN_META_ONLY) && lstat(path, &st) == 0;
}

static int count_calls(const struct rn_trace *t, uint64_t *calls)
{
	const struct rn_markers markers = rn_markers_of(&t->vocab);
	struct rn_arena scratch;
	int rc;

	rn_arena_init(&scratch, SIZE_MAX);
	rc = rn_markers_calls(&markers, &t->streams, &scratch, calls);
	rn_arena_free(&scratch);
	return rc;
}

int rn_trace_write(const struct rn_trace *t, const char *path, struct rn_written *out,
		   struct rn_err *err)
{
	struct rn_container_writer w = { 0 };
	const void *bytes;
	size_t len = 0;
	int rc = count_calls(t, &out->calls);

	if (rc == RN_OK)
		rc = rn_trace_sections(t, &w, err);
	if (rc == RN_OK)
		rc = rn_container_finish(&w, &bytes, &len, err);
	out->bytes = len;
	out->unchanged = rc == RN_OK && is_to_keep(t, out->calls, path);
	if (rc == RN_OK && !out->unchanged)
		rc = rn_io_replace(path, bytes, len, err);
	rn_container_writer_free(&w);
	return rc;
}
