/* metadata.c - see metadata.h. */
#include "model/metadata.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define TEXT_MAX 32 /* bytes of a formatted value, with its NUL */

const struct rn_meta_row rn_meta_rows[RN_META_COUNT] = {
#define ROW(id, key, flags, otherwise) { key, flags, otherwise },
	RN_META_KEYS(ROW)
#undef ROW
};

const char *rn_meta_suffix(const char *key, enum rn_meta_key prefix)
{
	size_t n = strlen(rn_meta_rows[prefix].key);

	return strncmp(key, rn_meta_rows[prefix].key, n) == 0 ? key + n : NULL;
}

bool rn_meta_has_flag(const char *key, enum rn_meta_flag flag)
{
	for (unsigned i = 0; i < RN_META_COUNT; i++) {
		const char *rest = rn_meta_suffix(key, (enum rn_meta_key)i);

		if (rest && (!*rest || rn_meta_rows[i].flags & RN_META_PREFIX) &&
		    rn_meta_rows[i].flags & flag)
			return true;
	}
	return false;
}

const char *rn_meta_value(const struct rn_meta *m, enum rn_meta_key key)
{
	return rn_meta_get(m, rn_meta_rows[key].key);
}

bool rn_meta_elastic(const struct rn_meta *m)
{
	const char *value = rn_meta_value(m, RN_META_ELASTIC);

	return !value || strcmp(value, "no") != 0;
}

struct rn_lossy rn_meta_lossy(const struct rn_meta *m)
{
	const char *text = rn_meta_value(m, RN_META_LOSSY);
	struct rn_lossy l = { 0 };

	if (text && !rn_lossy_parse(text, &l))
		l = (struct rn_lossy){ 0 };
	return l;
}

enum rn_order_codec rn_meta_order(const struct rn_meta *m)
{
	const char *name = rn_meta_value(m, RN_META_ORDER_CODEC);
	enum rn_order_codec codec = name ? rn_order_codec_named(name) : RN_ORDER_MODEL;

	return codec < RN_ORDER_CODECS ? codec : RN_ORDER_MODEL;
}

uint64_t rn_meta_threads(const struct rn_meta *m)
{
	const char *text = rn_meta_value(m, RN_META_THREADS);
	uint64_t n = text ? strtoull(text, NULL, 10) : 1;

	return n ? n : 1;
}

int rn_facts_init(struct rn_facts *f, struct rn_arena *mem, uint32_t cap)
{
	*f = (struct rn_facts){ .mem = mem, .entry = rn_new(mem, struct rn_meta_entry, cap) };
	f->cap = cap;
	return f->entry ? RN_OK : RN_E_NOMEM;
}

void rn_fact_add(struct rn_facts *f, const char *key, const char *value)
{
	if (value && *value && f->n < f->cap)
		f->entry[f->n++] = (struct rn_meta_entry){ key, value };
}

void rn_fact(struct rn_facts *f, enum rn_meta_key key, const char *format, ...)
{
	char *text = rn_new(f->mem, char, TEXT_MAX);
	va_list args;

	va_start(args, format);
	if (text)
		vsnprintf(text, TEXT_MAX, format, args);
	else
		f->failed = true;
	va_end(args);
	rn_fact_add(f, rn_meta_rows[key].key, text);
}
