/* callsite.c - see callsite.h. */
#include "encode/callsite.h"

#include <assert.h>
#include <string.h>

static unsigned char *put_bytes(unsigned char *p, const void *bytes, size_t n)
{
	p = rn_varint_put(p, n);
	if (n)
		memcpy(p, bytes, n);
	return p + n;
}

unsigned char *rn_code_module_write(const struct rn_code_module *m, unsigned char *p)
{
	assert(m->name_len <= RN_CALLSITE_NAME && m->id_len <= RN_CALLSITE_ID);
	return put_bytes(put_bytes(p, m->name, m->name_len), m->id, m->id_len);
}

void rn_code_module_read(struct rn_reader *in, struct rn_code_module *m)
{
	m->name_len = rn_get_max(in, RN_CALLSITE_NAME);
	m->name = (const char *)rn_get_bytes(in, m->name_len);
	m->id_len = rn_get_max(in, RN_CALLSITE_ID);
	m->id = rn_get_bytes(in, m->id_len);
	if (!in->bad && m->name_len && memchr(m->name, 0, m->name_len))
		rn_fail(in);
}

static bool same(const struct rn_code_module *a, const struct rn_code_module *b)
{
	return a->name_len == b->name_len && a->id_len == b->id_len &&
	       (a->name_len == 0 || memcmp(a->name, b->name, a->name_len) == 0) &&
	       (a->id_len == 0 || memcmp(a->id, b->id, a->id_len) == 0);
}

void rn_callsite_add(struct rn_callsite *s, struct rn_code_module module, uint64_t offset)
{
	uint32_t m = 0;

	if (s->frames == RN_CALLSITE_FRAMES)
		return;
	if (module.name_len > RN_CALLSITE_NAME)
		module.name_len = RN_CALLSITE_NAME;
	if (module.id_len > RN_CALLSITE_ID)
		module.id_len = RN_CALLSITE_ID;
	while (m < s->modules && !same(&s->module[m], &module))
		m++;
	if (m == s->modules)
		s->module[s->modules++] = module;
	s->frame[s->frames++] = (struct rn_code_frame){ m, offset };
	assert(s->modules <= s->frames);
}

size_t rn_callsite_write(const struct rn_callsite *s, unsigned char *out)
{
	unsigned char *p = rn_varint_put(out, s->modules);

	assert(s->frames <= RN_CALLSITE_FRAMES && s->modules <= s->frames);
	for (uint32_t i = 0; i < s->modules; i++)
		p = rn_code_module_write(&s->module[i], p);
	for (uint32_t i = 0; i < s->frames; i++) {
		assert(s->frame[i].module < s->modules);
		p = rn_varint_put(p, s->frame[i].module);
		p = rn_varint_put(p, s->frame[i].offset);
	}
	return (size_t)(p - out);
}

static bool same_frame(const struct rn_callsite *a, const struct rn_callsite *b, uint32_t i)
{
	const struct rn_code_frame *x = &a->frame[i], *y = &b->frame[i];

	assert(x->module < a->modules && y->module < b->modules);
	return x->offset == y->offset && same(&a->module[x->module], &b->module[y->module]);
}

bool rn_callsite_alike(const struct rn_callsite *a, const struct rn_callsite *b, uint32_t slack)
{
	uint32_t differ = 0;

	if (a->frames != b->frames || a->frames == 0 || !same_frame(a, b, 0))
		return false;
	for (uint32_t i = 1; i < a->frames && differ <= slack; i++)
		differ += !same_frame(a, b, i);
	return differ <= slack;
}

/* Returns whether the modules are as rn_callsite_add stores them: all are used, each occurs once,
 * in the order of first use. */
static bool is_canonical(const struct rn_callsite *s)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < s->frames; i++) {
		if (s->frame[i].module > used)
			return false;
		used += s->frame[i].module == used;
	}
	for (uint32_t i = 1; i < s->modules; i++)
		for (uint32_t k = 0; k < i; k++)
			if (same(&s->module[i], &s->module[k]))
				return false;
	return used == s->modules;
}

bool rn_callsite_read(const void *bytes, size_t len, struct rn_callsite *out)
{
	struct rn_reader in = rn_reader(bytes, len);

	out->frames = 0;
	out->modules = (uint32_t)rn_get_max(&in, RN_CALLSITE_FRAMES);
	for (uint32_t i = 0; i < out->modules; i++)
		rn_code_module_read(&in, &out->module[i]);
	while (rn_left(&in) && out->frames < RN_CALLSITE_FRAMES) {
		struct rn_code_frame *f = &out->frame[out->frames++];

		f->module = (uint32_t)rn_get_max(&in, UINT32_MAX);
		f->offset = rn_get_u64(&in);
		if (f->module >= out->modules)
			return false;
	}
	return !in.bad && rn_left(&in) == 0 && is_canonical(out);
}
