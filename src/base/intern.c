/* intern.c - see intern.h. */
#include "base/intern.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/varint.h"
#include "base/vec.h"

struct sig {
	const unsigned char *bytes;
	size_t len;
	uint64_t hash;
};

struct rn_sigs {
	struct rn_arena *mem;
	struct rn_map map; /* tag: low half of the hash */
	struct rn_seg sig; /* struct sig */
};

struct rn_sigs *rn_sigs_new(struct rn_arena *mem)
{
	struct rn_sigs *s = rn_new(mem, struct rn_sigs, 1);

	if (!s || rn_map_init(&s->map, mem) < 0)
		return NULL;
	s->mem = mem;
	rn_seg_init(&s->sig, sizeof(struct sig));
	return s;
}

void rn_sigs_reset(struct rn_sigs *s)
{
	rn_map_clear(&s->map);
	s->sig.n = 0;
}

uint32_t rn_sigs_count(const struct rn_sigs *s)
{
	return s->sig.n;
}

static const struct sig *sig_at(const struct rn_sigs *s, uint32_t id)
{
	assert(id < s->sig.n);
	return RN_SEG_AT(&s->sig, struct sig, id);
}

const void *rn_sigs_get(const struct rn_sigs *s, uint32_t id, size_t *len)
{
	const struct sig *sig = sig_at(s, id);

	*len = sig->len;
	return sig->bytes;
}

static inline uint64_t word_at(const unsigned char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* memcmp for the usual lengths of signatures: two to four words, the last one overlapping. */
static inline bool equal(const unsigned char *a, const unsigned char *b, size_t len)
{
	size_t i;

	if (len < 8)
		return len == 0 || memcmp(a, b, len) == 0; /* if len is 0, a or b may be NULL */
	for (i = 0; i + 8 < len; i += 8)
		if (word_at(a + i) != word_at(b + i))
			return false;
	return word_at(a + len - 8) == word_at(b + len - 8);
}

static inline bool same(const struct sig *a, const void *bytes, size_t len, uint64_t hash)
{
	return a->hash == hash && a->len == len && equal(a->bytes, bytes, len);
}

static inline uint32_t find(const struct rn_sigs *s, const void *bytes, size_t len, uint64_t hash)
{
	RN_MAP_EACH (&s->map, (uint32_t)hash, id)
		if (same(sig_at(s, id), bytes, len, hash))
			return id;
	return RN_MAP_NONE;
}

/* Bytes whose length is a multiple of the word size may be words and are aligned as words. */
static int add(struct rn_sigs *s, const void *bytes, size_t len, uint64_t hash, uint32_t *id)
{
	uint32_t tag = (uint32_t)hash;
	unsigned char *copy;

	if (rn_map_reserve(&s->map, tag) < 0 || !rn_seg_reserve(&s->sig, s->mem, 1))
		return RN_E_NOMEM;
	copy = rn_alloc(s->mem, len, len % sizeof(uint64_t) ? 1 : sizeof(uint64_t), 1);
	if (!copy)
		return RN_E_NOMEM;
	if (len)
		memcpy(copy, bytes, len);
	*id = RN_SEG_PUT(&s->sig, struct sig, (struct sig){ copy, len, hash });
	rn_map_insert(&s->map, tag, *id);
	assert(s->map.used == s->sig.n);
	return RN_OK;
}

static inline int intern(struct rn_sigs *s, const void *bytes, size_t len, uint64_t hash,
			 uint32_t *id)
{
	uint32_t found = find(s, bytes, len, hash);

	if (found == RN_MAP_NONE)
		return add(s, bytes, len, hash, id);
	*id = found;
	return RN_OK;
}

int rn_sigs_intern(struct rn_sigs *s, const void *bytes, size_t len, uint32_t *id)
{
	return intern(s, bytes, len, rn_hash(bytes, len), id);
}

bool rn_sigs_find(const struct rn_sigs *s, const void *bytes, size_t len, uint32_t *id)
{
	*id = find(s, bytes, len, rn_hash(bytes, len));
	return *id != RN_MAP_NONE;
}

int rn_sigs_copy(struct rn_sigs *s, const struct rn_sigs *from, uint32_t i, uint32_t *id)
{
	const struct sig *sig = sig_at(from, i);

	return intern(s, sig->bytes, sig->len, sig->hash, id);
}

void rn_sigs_put(const struct rn_sigs *s, struct rn_buf *out)
{
	rn_buf_u64(out, s->sig.n);
	for (uint32_t i = 0; i < s->sig.n; i++) {
		const struct sig *sig = sig_at(s, i);

		rn_buf_piece(out, sig->bytes, sig->len);
	}
}

int rn_sigs_take(struct rn_sigs *s, struct rn_reader *in)
{
	uint64_t n = rn_get_count(in, 2);

	for (uint64_t i = 0; i < n && !in->bad; i++) {
		uint64_t len = rn_get_u64(in);
		const unsigned char *bytes = rn_get_bytes(in, len);
		uint32_t id;

		if (bytes && rn_sigs_intern(s, bytes, (size_t)len, &id) < 0)
			return RN_E_NOMEM;
		if (bytes && id != i)
			rn_fail(in);
	}
	return in->bad ? RN_E_DATA : RN_OK;
}

bool rn_sigs_check(const struct rn_sigs *s)
{
	if (!rn_map_check(&s->map) || s->map.used != s->sig.n)
		return false;
	for (uint32_t i = 0; i < s->sig.n; i++) {
		const struct sig *sig = sig_at(s, i);

		if (sig->hash != rn_hash(sig->bytes, sig->len))
			return false;
		if (find(s, sig->bytes, sig->len, sig->hash) != i)
			return false;
	}
	return true;
}
