/* site_table.c - see site_table.h. */
#include "model/site_table.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "encode/template.h"

#include <string.h>

/* ---- encoding ---- */

int rn_site_tables_init(struct rn_site_tables *t, struct rn_arena *mem)
{
	*t = (struct rn_site_tables){ rn_sigs_new(mem), rn_sigs_new(mem), false };
	return t->module && t->node ? RN_OK : RN_E_NOMEM;
}

static int add_module(struct rn_site_tables *t, const struct rn_code_module *m, uint32_t *id)
{
	unsigned char bytes[RN_CODE_MODULE_BYTES];
	size_t n = (size_t)(rn_code_module_write(m, bytes) - bytes);

	return rn_sigs_intern(t->module, bytes, n, id);
}

/* Stores the number of a stack, which is added from the outermost frame to the innermost. */
static int add_stack(struct rn_site_tables *t, const struct rn_callsite *s, uint32_t *number)
{
	*number = 0;
	for (uint32_t i = s->frames; i-- > 0;) {
		const struct rn_code_frame *f = &s->frame[i];
		struct rn_site_node n = { .caller = *number, .offset = f->offset };
		int rc = add_module(t, &s->module[f->module], &n.module);

		if (rc == RN_OK)
			rc = rn_sigs_intern(t->node, &n, sizeof(n), number);
		if (rc < 0)
			return rc;
		++*number;
	}
	return RN_OK;
}

int rn_site_tables_add(struct rn_site_tables *t, const void *stack, size_t len, uint32_t *number)
{
	struct rn_callsite s;

	t->any = true;
	return rn_callsite_read(stack, len, &s) ? add_stack(t, &s, number) : RN_E_ARG;
}

/* Appends the number of a stack. */
static int take_stack(struct rn_site_tables *t, const struct rn_value *v, struct rn_buf *out)
{
	uint32_t number = 0;
	int rc =
		v->kind == RN_V_STRING ? rn_site_tables_add(t, v->text, v->len, &number) : RN_E_ARG;

	if (rc == RN_OK)
		rn_call_num(out, RN_V_INT, number);
	return rc;
}

/* Stores the signature with numbers instead of its stacks in `out`. */
static int take_stacks(struct rn_site_tables *t, const void *sig, const struct rn_template *of,
		       struct rn_buf *out)
{
	int rc = RN_OK;

	rn_buf_clear(out);
	rn_buf_add(out, sig, of->stacks);
	for (uint32_t i = of->top[of->ret + 1]; i < of->n && rc == RN_OK; i++)
		if (of->value[i].kind != RN_V_ELASTIC) /* selects one of those after it */
			rc = take_stack(t, &of->value[i], out);
	return rc == RN_OK ? rn_buf_status(out) : rc;
}

static int take_all(struct rn_site_tables *t, const struct rn_sigs *in,
		    const struct rn_vocab *vocab, struct rn_sigs *to)
{
	const struct rn_keywords words = rn_keywords_of(vocab);
	struct rn_buf changed = { 0 };
	struct rn_arena scratch;
	int rc = RN_OK;

	rn_arena_init(&scratch, SIZE_MAX);
	for (uint32_t i = 0; i < rn_sigs_count(in) && rc == RN_OK; i++) {
		struct rn_template of;
		size_t len;
		const void *sig = rn_sigs_get(in, i, &len);
		uint32_t id;

		rc = rn_template_parse(&scratch, &words, sig, len, &of);
		if (rc == RN_OK && of.has_site) {
			rc = take_stacks(t, sig, &of, &changed);
			sig = changed.data;
			len = changed.len;
		}
		rn_arena_rewind(&scratch, (struct rn_arena_mark){ 0 });
		if (rc == RN_OK)
			rc = rn_sigs_intern(to, sig, len, &id);
	}
	rn_buf_free(&changed);
	rn_arena_free(&scratch);
	return rc == RN_E_DATA ? RN_E_ARG : rc;
}

static bool any_stack(const struct rn_sigs *in, const struct rn_vocab *vocab)
{
	struct rn_sig_contents has;
	size_t len;

	for (uint32_t i = 0; i < rn_sigs_count(in); i++) {
		const void *sig = rn_sigs_get(in, i, &len);

		if (rn_sig_scan(sig, len, vocab, &has) && has.stacks)
			return true;
	}
	return false;
}

int rn_site_tables_take(struct rn_site_tables *t, struct rn_arena *mem, const struct rn_sigs *in,
			const struct rn_vocab *vocab, const struct rn_sigs **out)
{
	struct rn_sigs *to;
	int rc;

	*out = in;
	if (!any_stack(in, vocab))
		return RN_OK;
	to = rn_sigs_new(mem);
	rc = to ? take_all(t, in, vocab, to) : RN_E_NOMEM;
	if (rc == RN_OK)
		*out = to;
	return rc;
}

int rn_site_tables_finish(const struct rn_site_tables *t, struct rn_arena *mem,
			  struct rn_sites *out)
{
	uint32_t modules = rn_sigs_count(t->module), nodes = rn_sigs_count(t->node);
	struct rn_code_module *m = rn_new(mem, struct rn_code_module, modules);
	struct rn_site_node *n = rn_new(mem, struct rn_site_node, nodes);
	size_t len;

	if (!m || !n)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < modules; i++) {
		const void *bytes = rn_sigs_get(t->module, i, &len);
		struct rn_reader in = rn_reader(bytes, len);

		rn_code_module_read(&in, &m[i]);
	}
	for (uint32_t i = 0; i < nodes; i++)
		memcpy(&n[i], rn_sigs_get(t->node, i, &len), sizeof(*n));
	*out = (struct rn_sites){ m, n, modules, nodes, t->any };
	return RN_OK;
}

int rn_sites_encode(const struct rn_sites *s, struct rn_buf *section)
{
	if (!s->known)
		return RN_OK;
	rn_buf_u64(section, s->modules);
	for (uint32_t i = 0; i < s->modules; i++) {
		unsigned char *p = rn_buf_reserve(section, RN_CODE_MODULE_BYTES);

		if (p)
			section->len += (size_t)(rn_code_module_write(&s->module[i], p) - p);
	}
	rn_buf_u64(section, s->nodes);
	for (uint32_t i = 0; i < s->nodes; i++) {
		rn_buf_u64(section, s->node[i].caller);
		rn_buf_u64(section, s->node[i].module);
		rn_buf_u64(section, s->node[i].offset);
	}
	return rn_buf_status(section);
}

/* ---- decoding ---- */

/* Decodes the next node. Its depth is limited to that of stacks, because `rondo dump` prints all
 * frames of a stack in one line. */
static void get_node(struct rn_reader *in, struct rn_site_node *all, uint64_t i, uint64_t modules,
		     unsigned char *depth)
{
	struct rn_site_node *n = &all[i];

	n->caller = (uint32_t)rn_get_max(in, i);
	n->module = (uint32_t)rn_get_max(in, UINT32_MAX);
	n->offset = rn_get_u64(in);
	depth[i] = n->caller ? (unsigned char)(depth[n->caller - 1] + 1) : 1;
	if (n->module >= modules || depth[i] > RN_CALLSITE_FRAMES)
		rn_fail(in);
}

int rn_sites_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_sites *out,
		    struct rn_err *err)
{
	uint64_t modules = rn_get_count(in, 2), nodes;
	struct rn_code_module *m = rn_new(mem, struct rn_code_module, modules);
	struct rn_site_node *n;
	unsigned char *depth;

	if (!m)
		return rn_err_nomem(err);
	for (uint64_t i = 0; i < modules; i++)
		rn_code_module_read(in, &m[i]);
	nodes = rn_get_count(in, 3);
	if (modules >= UINT32_MAX || nodes >= UINT32_MAX)
		rn_fail(in);
	n = rn_new(mem, struct rn_site_node, in->bad ? 0 : nodes);
	depth = rn_new(mem, unsigned char, in->bad ? 0 : nodes);
	if (!n || !depth)
		return rn_err_nomem(err);
	for (uint64_t i = 0; i < nodes && !in->bad; i++)
		get_node(in, n, i, modules, depth);
	if (in->bad)
		return rn_err_set(err, RN_E_DATA, "a stack is malformed");
	*out = (struct rn_sites){ m, n, (uint32_t)modules, (uint32_t)nodes, true };
	return RN_OK;
}

int rn_sites_fit(const struct rn_sites *s, const struct rn_sigs *sigs, const struct rn_vocab *vocab,
		 struct rn_err *err)
{
	for (uint32_t i = 0; i < rn_sigs_count(sigs); i++) {
		struct rn_sig_contents has;
		size_t len;
		const void *sig = rn_sigs_get(sigs, i, &len);

		if (rn_sig_scan(sig, len, vocab, &has) && has.stacks && has.max_site > s->nodes)
			return rn_err_set(err, RN_E_DATA, "the stack of signature %u is not there",
					  i);
	}
	return RN_OK;
}
