/* trace.c - see trace.h. */
#include "read/trace.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/io.h"
#include "base/varint.h"
#include "file/container.h"
#include "model/metadata.h"
#include "read/event_reader.h"

static int decode_section(struct rn_trace *t, const struct rn_section_kind *k, struct rn_err *err)
{
	struct rn_reader in;
	const void *bytes;
	size_t len;
	int rc;

	if (k->optional && !rn_container_has(t->container, k->type))
		return RN_OK;
	rc = rn_container_get(t->container, k->type, &bytes, &len, err);
	if (rc == RN_E_RANGE)
		return rn_err_set(err, RN_E_DATA, "section %s is missing", k->name);
	if (rc < 0)
		return rc;
	in = rn_reader(bytes, len);
	rc = k->decode(t, &in, err);
	if (rc == RN_OK)
		rc = rn_err_end(&in, err);
	if (rc < 0)
		rn_err_prefix(err, "section %s", k->name);
	return rc;
}

/* Parses a decimal integer without surrounding characters. Returns 0 if the text is malformed. */
static uint64_t whole_number(const char *s)
{
	uint64_t v = 0;

	for (; *s >= '0' && *s <= '9' && v <= RN_RANKS_MAX; s++)
		v = v * 10 + (uint64_t)(*s - '0');
	return *s ? 0 : v;
}

/* Computes the number of ranks and of threads per rank from the number of streams. */
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

	for (unsigned i = 0; i < RN_SECTION_KINDS && rc == RN_OK; i++)
		rc = decode_section(t, &rn_section_kinds[i], err);
	if (rc == RN_OK && t->events)
		rc = rn_order_view_new(t, err);
	if (rc == RN_OK)
		rc = rn_sites_fit(&t->sites, t->streams.sigs, &t->vocab, err);
	return rc == RN_OK ? share_streams(t, err) : rc;
}

int rn_trace_parse(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err)
{
	int rc;

	rn_trace_init(t);
	rc = decode_all(t, bytes, len, err);
	if (rc < 0)
		rn_trace_close(t);
	return rc;
}

/* Checks the header before allocating memory, because the file may have any content and size. */
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
	rn_trace_init(t);
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

struct rn_lossy rn_trace_lossy(const struct rn_trace *t)
{
	return rn_meta_lossy(&t->meta);
}
