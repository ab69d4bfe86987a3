/* loops_codec.c - see loops_codec.h. */
#include "model/loops_codec.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "model/folded_streams.h"
#include "rules/rules.h"

void rn_loops_encode(const struct rn_folded *f, struct rn_buf *out)
{
	rn_buf_u64(out, f->loops);
	for (uint32_t k = 0; k < f->loops; k++)
		rn_buf_u64(out, (uint64_t)f->loop[k].id << 1 | (f->loop[k].kind == RN_KIND_RULE));
	rn_sigs_put(f->series, out);
	for (size_t i = 0; i < f->refs; i++)
		rn_buf_u64(out, f->ref[i]);
}

static int get_loops(struct rn_reader *in, struct rn_arena *mem, struct rn_folded *f)
{
	f->loops = (uint32_t)rn_get_max(in, RN_LOOPS_MOST);
	if (f->loops == 0 || f->loops > rn_left(in))
		rn_fail(in);
	f->loop = in->bad ? NULL : rn_new(mem, struct rn_loop, f->loops);
	if (!f->loop)
		return in->bad ? RN_E_DATA : RN_E_NOMEM;
	for (uint32_t k = 0; k < f->loops; k++) {
		uint64_t v = rn_get_max(in, UINT32_MAX);

		f->loop[k].kind = v & 1 ? RN_KIND_RULE : RN_KIND_TERMINAL;
		f->loop[k].id = (uint32_t)(v >> 1);
	}
	return in->bad ? RN_E_DATA : RN_OK;
}

static int get_series(struct rn_reader *in, struct rn_arena *mem, struct rn_folded *f)
{
	f->series = rn_sigs_new(mem);
	return f->series ? rn_sigs_take(f->series, in) : RN_E_NOMEM;
}

/* The rest of the section: each takes a byte at least. */
static int get_refs(struct rn_reader *in, struct rn_arena *mem, struct rn_folded *f)
{
	f->ref = rn_new(mem, uint32_t, rn_left(in) + 1);
	if (!f->ref)
		return RN_E_NOMEM;
	for (f->refs = 0; rn_left(in) && !in->bad; f->refs++)
		f->ref[f->refs] = (uint32_t)rn_get_max(in, UINT32_MAX);
	return in->bad ? RN_E_DATA : RN_OK;
}

int rn_loops_decode(struct rn_arena *mem, const void *bytes, size_t len, struct rn_folded *f,
		    struct rn_err *err)
{
	struct rn_reader in = rn_reader(bytes, len);
	int rc = get_loops(&in, mem, f);

	if (rc == RN_OK)
		rc = get_series(&in, mem, f);
	if (rc == RN_OK)
		rc = get_refs(&in, mem, f);
	if (rc == RN_E_DATA)
		return rn_err_set(err, RN_E_DATA, "cut off, or more than there should be");
	return rc < 0 ? rn_err_nomem(err) : RN_OK;
}
