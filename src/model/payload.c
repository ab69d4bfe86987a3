/* payload.c - see payload.h; the bytes are described in doc/format.md, chapters 8 to 10. */
#include "model/payload.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/compress.h"
#include "base/intern.h"
#include "base/varint.h"
#include "encode/template.h"
#include "model/list_delta.h"
#include "model/merged_streams.h"
#include "model/signature_delta.h"
#include "rules/rules.h"
#include "series/units.h"

/* Added to the number of parameters of a function that has directions. */
#define DIRECTED (RN_CALL_PARAMS_MAX + 1)

/* Returns a terminated copy of the next n bytes. Returns NULL with in->bad set if the bytes are
 * malformed, or with in->bad unset if there is no memory. */
static const char *get_text_of(struct rn_arena *mem, struct rn_reader *in, uint64_t n)
{
	const unsigned char *p = n <= RN_META_VALUE_MAX ? rn_get_bytes(in, n) : NULL;
	char *s;

	if (!p || in->bad || (n && memchr(p, 0, n))) {
		rn_fail(in);
		return NULL;
	}
	s = rn_new(mem, char, n + 1);
	if (s && n)
		memcpy(s, p, n);
	return s;
}

static const char *get_text(struct rn_arena *mem, struct rn_reader *in)
{
	return get_text_of(mem, in, rn_get_u64(in));
}

/* Returns the text if it is a valid name, otherwise NULL. The text may be NULL. */
static const char *name_of(const char *s, struct rn_reader *in)
{
	if (s && !rn_name_valid(s, strlen(s))) {
		rn_fail(in);
		return NULL;
	}
	return s;
}

static const char *get_name(struct rn_arena *mem, struct rn_reader *in)
{
	return name_of(get_text(mem, in), in);
}

/* Reports why decoding a text returned NULL. */
static int text_error(const struct rn_reader *in, struct rn_err *err, const char *what, uint64_t i)
{
	if (!in->bad)
		return rn_err_nomem(err);
	return rn_err_set(err, RN_E_DATA, "%s %llu is malformed", what, (unsigned long long)i);
}

/* Decodes the next id. Ids ascend; the distance to the previous one is stored. False if it is
 * malformed. */
static bool next_number(struct rn_reader *in, bool first, uint32_t *number)
{
	uint64_t next = rn_get_max(in, RN_NUMBER_MAX) + (first ? 0 : (uint64_t)*number + 1);

	if (next > RN_NUMBER_MAX)
		rn_fail(in);
	*number = (uint32_t)next;
	return !in->bad;
}

/* Metadata */

static bool key_twice(const struct rn_meta *m, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (strcmp(m->entry[k].key, m->entry[i].key) == 0)
			return true;
	return false;
}

int rn_meta_check(const struct rn_meta *m, struct rn_err *err)
{
	for (uint32_t i = 0; i < m->n; i++) {
		const struct rn_meta_entry *e = &m->entry[i];

		if (!e->key || !rn_name_valid(e->key, strlen(e->key)))
			return rn_err_set(err, RN_E_ARG, "metadata: key %u is not a name", i);
		if (!e->value)
			return rn_err_set(err, RN_E_ARG, "metadata: %s has no value", e->key);
		if (strlen(e->value) > RN_META_VALUE_MAX)
			return rn_err_set(err, RN_E_ARG, "metadata: %s has more than %d bytes",
					  e->key, RN_META_VALUE_MAX);
		if (key_twice(m, i))
			return rn_err_set(err, RN_E_ARG, "metadata: %s is there twice", e->key);
	}
	return RN_OK;
}

/* Returns the entry with the lowest key above `last`, which must exist. */
static const struct rn_meta_entry *next_entry(const struct rn_meta *m, const char *last)
{
	const struct rn_meta_entry *next = NULL;

	for (uint32_t i = 0; i < m->n; i++) {
		const struct rn_meta_entry *e = &m->entry[i];

		if (strcmp(e->key, last) > 0 && (!next || strcmp(e->key, next->key) < 0))
			next = e;
	}
	return next;
}

void rn_meta_encode(const struct rn_meta *m, struct rn_buf *out)
{
	const char *last = ""; /* no key is empty */

	assert(rn_meta_check(m, NULL) == RN_OK);
	rn_buf_u64(out, m->n);
	for (uint32_t i = 0; i < m->n; i++) {
		const struct rn_meta_entry *e = next_entry(m, last);

		rn_buf_piece(out, e->key, strlen(e->key));
		rn_buf_piece(out, e->value, strlen(e->value));
		last = e->key;
	}
}

int rn_meta_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_meta *out,
		   struct rn_err *err)
{
	uint64_t n = rn_get_count(in, 2);
	struct rn_meta_entry *e;

	if (n > UINT32_MAX)
		rn_fail(in);
	e = rn_new(mem, struct rn_meta_entry, in->bad ? 0 : n);
	if (!e)
		return rn_err_nomem(err);
	for (uint64_t i = 0; i < n && !in->bad; i++) {
		e[i].key = get_name(mem, in);
		e[i].value = e[i].key ? get_text(mem, in) : NULL;
		if (!e[i].value)
			return text_error(in, err, "entry", i);
		if (i && strcmp(e[i - 1].key, e[i].key) >= 0)
			return rn_err_set(err, RN_E_DATA, "key %s is out of order", e[i].key);
	}
	*out = (struct rn_meta){ e, (uint32_t)n };
	return RN_OK;
}

const char *rn_meta_get(const struct rn_meta *m, const char *key)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (strcmp(m->entry[i].key, key) == 0)
			return m->entry[i].value;
	return NULL;
}

/* Functions */

/* Directions are stored in the low bits of the lengths of the names, where they need no additional
 * byte. A number of parameters above the maximum indicates them. */
static void put_params(struct rn_buf *out, const struct rn_func *f)
{
	bool plain = rn_func_all_in(f);

	rn_buf_u64(out, plain ? f->nparams : f->nparams + DIRECTED);
	for (uint32_t i = 0; i < f->nparams; i++) {
		size_t n = strlen(f->param[i]);

		rn_buf_u64(out, plain ? n : n << 2 | rn_func_dir(f, i));
		rn_buf_add(out, f->param[i], n);
	}
}

void rn_funcs_encode(const struct rn_vocab *v, struct rn_buf *out)
{
	rn_buf_u64(out, v->funcs);
	for (uint32_t i = 0; i < v->funcs; i++) {
		const struct rn_func *f = &v->func[i];

		rn_buf_u64(out, i ? f->number - f[-1].number - 1 : f->number);
		rn_buf_piece(out, f->name, strlen(f->name));
		put_params(out, f);
	}
}

/* Returns a name that two parameters have, or NULL. A JSON object would lose one of them. */
static const char *repeated_param(const struct rn_func *f)
{
	for (uint32_t i = 1; i < f->nparams; i++)
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(f->param[i], f->param[k]) == 0)
				return f->param[i];
	return NULL;
}

/* Decodes the names of parameters and, if dir is not NULL, their directions. */
static bool get_params(struct rn_arena *mem, struct rn_reader *in, uint32_t n, const char **param,
		       unsigned char *dir)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t len = rn_get_u64(in);

		if (dir) {
			dir[i] = len & 3;
			len >>= 2;
			if (dir[i] >= RN_DIRS)
				rn_fail(in);
		}
		param[i] = name_of(get_text_of(mem, in, len), in);
		if (!param[i])
			return false;
	}
	return true;
}

static bool decode_func(struct rn_arena *mem, struct rn_reader *in, bool first, struct rn_func *f)
{
	const char **param;
	unsigned char *dir = NULL;
	uint32_t n;

	if (!first)
		f->number = f[-1].number;
	if (!next_number(in, first, &f->number))
		return false;
	f->name = get_name(mem, in);
	n = (uint32_t)rn_get_max(in, DIRECTED + RN_CALL_PARAMS_MAX);
	f->nparams = n < DIRECTED ? n : n - DIRECTED;
	f->param = param = rn_new(mem, const char *, f->nparams);
	if (n >= DIRECTED)
		f->dir = dir = rn_new(mem, unsigned char, f->nparams);
	if (!f->name || !param || (n >= DIRECTED && !dir))
		return false;
	if (!get_params(mem, in, f->nparams, param, dir))
		return false;
	if (dir && rn_func_all_in(f)) /* must have the form without directions */
		rn_fail(in);
	return !in->bad;
}

int rn_funcs_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_vocab *out,
		    struct rn_err *err)
{
	uint64_t n = rn_get_count(in, 4);
	struct rn_func *f = rn_new(mem, struct rn_func, n);

	if (!f)
		return rn_err_nomem(err);
	for (uint64_t i = 0; i < n; i++) {
		if (!decode_func(mem, in, i == 0, &f[i]))
			return text_error(in, err, "function", i);
		if (repeated_param(&f[i]))
			return rn_err_set(err, RN_E_DATA, "function %s has two parameters %s",
					  f[i].name, repeated_param(&f[i]));
	}
	out->func = f;
	out->funcs = (uint32_t)n; /* ids ascend below 2^16, so n is small */
	return RN_OK;
}

/* Keywords */

void rn_words_encode(const struct rn_vocab *v, struct rn_buf *out)
{
	rn_buf_u64(out, v->words);
	for (uint32_t i = 0; i < v->words; i++) {
		const struct rn_word *w = &v->word[i];

		rn_buf_u64(out, i ? w->number - w[-1].number - 1 : w->number);
		rn_buf_piece(out, w->text, strlen(w->text));
	}
}

int rn_words_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_vocab *out,
		    struct rn_err *err)
{
	uint64_t n = rn_get_count(in, 3);
	struct rn_word *w = rn_new(mem, struct rn_word, n);

	if (!w)
		return rn_err_nomem(err);
	for (uint64_t i = 0; i < n; i++) {
		w[i].number = i ? w[i - 1].number : 0;
		if (!next_number(in, i == 0, &w[i].number))
			return text_error(in, err, "word", i);
		w[i].text = get_name(mem, in);
		if (!w[i].text)
			return text_error(in, err, "word", i);
	}
	out->word = w;
	out->words = (uint32_t)n;
	return RN_OK;
}

/* The part of a vocabulary that is used */

struct used {
	bool *word, *func; /* by id */
};

static void use_word(void *arg, uint64_t word)
{
	struct used *u = arg;

	u->word[word] = true;
}

static int mark_used(const struct rn_vocab *all, const struct rn_sigs *sigs, struct used *u)
{
	uint32_t n = rn_sigs_count(sigs);

	for (uint32_t i = 0; i < n; i++) {
		size_t len;
		const void *sig = rn_sigs_get(sigs, i, &len);

		if (!rn_call_valid(sig, len, all))
			return RN_E_ARG;
		u->func[rn_call_words(sig, len, use_word, u)] = true;
	}
	return RN_OK;
}

int rn_vocab_used(struct rn_arena *mem, const struct rn_vocab *all, const struct rn_sigs *sigs,
		  struct rn_vocab *out)
{
	struct used u = { rn_new(mem, bool, RN_NUMBER_MAX + 1),
			  rn_new(mem, bool, RN_NUMBER_MAX + 1) };
	struct rn_func *f = rn_new(mem, struct rn_func, all->funcs);
	struct rn_word *w = rn_new(mem, struct rn_word, all->words);

	if (!u.word || !u.func || !f || !w)
		return RN_E_NOMEM;
	if (mark_used(all, sigs, &u) < 0)
		return RN_E_ARG;
	*out = (struct rn_vocab){ f, w, 0, 0 };
	for (uint32_t i = 0; i < all->funcs; i++)
		if (u.func[all->func[i].number])
			f[out->funcs++] = all->func[i];
	for (uint32_t i = 0; i < all->words; i++)
		if (u.word[all->word[i].number])
			w[out->words++] = all->word[i];
	return RN_OK;
}

/* Signatures */

static void put_sig(const struct rn_sigs *s, uint32_t i, struct rn_buf *packed, struct rn_buf *out)
{
	size_t len;
	const void *sig = rn_sigs_get(s, i, &len);

	if (rn_steps_needed(sig, len)) {
		rn_buf_clear(packed);
		rn_steps_pack(sig, len, packed);
		out->failed |= packed->failed;
		sig = packed->data;
		len = packed->len;
	}
	rn_buf_piece(out, sig, len);
}

void rn_sigs_encode(const struct rn_sigs *s, struct rn_buf *out)
{
	struct rn_buf packed = { 0 };

	rn_buf_u64(out, rn_sigs_count(s));
	for (uint32_t i = 0; i < rn_sigs_count(s); i++)
		put_sig(s, i, &packed, out);
	rn_buf_free(&packed);
}

static uint64_t bytes_of(const struct rn_sigs *s, uint32_t i)
{
	size_t len;

	rn_sigs_get(s, i, &len);
	return len;
}

static void put_sigs(const struct rn_sigs *s, const struct rn_relatives *r, bool single,
		     struct rn_buf *out)
{
	struct rn_buf packed = { 0 };
	uint64_t made = 0;
	uint32_t n;

	rn_buf_u64(out, rn_sigs_count(s));
	for (uint32_t i = 0; i < rn_sigs_count(s); i += n) {
		n = rn_line_put(r, i, rn_line_room(out->len) - made, single, out);
		for (uint32_t k = 0; k < n; k++)
			made += bytes_of(s, i + k);
		if (n == 0) {
			put_sig(s, i, &packed, out);
			n = 1;
		}
	}
	rn_buf_free(&packed);
}

#define QUICK 6 /* compression level; sufficient to find the smaller form */

static int packed_size(const struct rn_buf *b, struct rn_buf *packed, size_t *size)
{
	struct rn_packer p = { .level = QUICK };
	int rc = rn_pack(&p, (struct rn_pack_dict){ 0 }, b->data, b->len, packed);

	rn_packer_free(&p);
	*size = packed->len < b->len ? packed->len : b->len;
	return rc;
}

/* Stores the buffer that is smaller after compression. */
static int choose(const struct rn_buf *a, const struct rn_buf *b, const struct rn_buf **smaller)
{
	struct rn_buf packed = { 0 };
	size_t size_a, size_b;
	int rc = a->failed || b->failed ? RN_E_NOMEM : packed_size(a, &packed, &size_a);

	if (rc == RN_OK)
		rc = packed_size(b, &packed, &size_b);
	if (rc == RN_OK)
		*smaller = size_a <= size_b ? a : b;
	rn_buf_free(&packed);
	return rc;
}

int rn_sigs_encode_small(const struct rn_sigs *s, struct rn_buf *out)
{
	struct rn_buf few = { 0 }, all = { 0 };
	const struct rn_buf *smaller = NULL;
	struct rn_relatives *r;
	struct rn_arena scratch;
	int rc = RN_E_NOMEM;

	rn_arena_init(&scratch, SIZE_MAX);
	r = rn_relatives_new(&scratch, s);
	if (r) {
		put_sigs(s, r, false, &few);
		put_sigs(s, r, true, &all);
		rc = choose(&few, &all, &smaller);
	}
	if (rc == RN_OK) {
		rn_buf_add(out, smaller->data, smaller->len);
		rc = rn_buf_status(out);
	}
	rn_buf_free(&few);
	rn_buf_free(&all);
	rn_arena_free(&scratch);
	return rc;
}

/* Converts a stored signature to its form in memory, which may be in `unpacked`. False if it is
 * malformed. */
static bool unpack_sig(const unsigned char **sig, size_t *len, struct rn_buf *unpacked)
{
	if (!rn_steps_needed(*sig, *len))
		return true;
	rn_buf_clear(unpacked);
	if (!rn_steps_unpack(*sig, *len, unpacked))
		return false;
	*sig = unpacked->data;
	*len = unpacked->len;
	return true;
}

/* State while signatures are decoded. */
struct sigs_reader {
	struct rn_sigs *s;
	struct rn_reader *in;
	const unsigned char *begin;
	const struct rn_vocab *vocab;
	struct rn_buf made; /* a signature that was not stored in full */
	uint64_t lines;     /* bytes of signatures produced by lines */
	struct rn_err *err;
};

static int add_sig(struct sigs_reader *r, const void *sig, size_t len, bool sound)
{
	uint32_t i = rn_sigs_count(r->s), id;

	if (rn_buf_status(&r->made) < 0)
		return rn_err_nomem(r->err);
	if (!sound || !rn_call_valid(sig, len, r->vocab))
		return rn_err_set(r->err, RN_E_DATA, "signature %u is malformed", i);
	if (rn_sigs_intern(r->s, sig, len, &id) < 0)
		return rn_err_nomem(r->err);
	if (id != i)
		return rn_err_set(r->err, RN_E_DATA, "signature %u is the same as %u", i, id);
	return RN_OK;
}

static int decode_sig(struct sigs_reader *r, size_t len)
{
	const unsigned char *sig = rn_get_bytes(r->in, len);
	bool sound = !r->in->bad && unpack_sig(&sig, &len, &r->made);

	return add_sig(r, sig, len, sound);
}

/* Decodes a line: each signature is derived from the previous one. `room` is the limit of r->lines.
 */
static int decode_line(struct sigs_reader *r, const struct rn_line *l, uint64_t room)
{
	uint32_t from = rn_sigs_count(r->s) - 1 - (uint32_t)l->back;
	const struct rn_reader edits = *r->in;
	int rc = RN_OK;

	for (uint64_t k = 0; k < l->n && rc == RN_OK; k++) {
		size_t len;
		const void *sig = rn_sigs_get(r->s, from, &len);
		bool sound;

		rn_buf_clear(&r->made);
		*r->in = edits;
		sound = rn_line_next(l, r->in, sig, len, &r->made);
		r->lines += r->made.len;
		from = rn_sigs_count(r->s);
		rc = add_sig(r, r->made.data, r->made.len, sound && r->lines <= room);
	}
	return rc;
}

static int decode_sigs(struct sigs_reader *r, uint64_t n)
{
	int rc = RN_OK;

	while (rn_sigs_count(r->s) < n && rc == RN_OK) {
		uint32_t known = rn_sigs_count(r->s);
		uint64_t room = rn_line_room((uint64_t)(r->in->p - r->begin));
		size_t len = rn_get_max(r->in, RN_CALL_BYTES_MAX);
		struct rn_line l;

		if (len || r->in->bad)
			rc = decode_sig(r, len);
		else if (rn_line_get(r->in, known, n - known, &l))
			rc = decode_line(r, &l, room);
		else
			rc = rn_err_set(r->err, RN_E_DATA, "signature %u is malformed", known);
	}
	return rc;
}

int rn_sigs_decode(struct rn_arena *mem, struct rn_reader *in, const struct rn_vocab *vocab,
		   struct rn_sigs **out, struct rn_err *err)
{
	struct sigs_reader r = {
		.s = rn_sigs_new(mem), .in = in, .begin = in->p, .vocab = vocab, .err = err
	};
	uint64_t n = rn_get_max(in, RN_TERMINAL_MAX);
	int rc = r.s ? decode_sigs(&r, n) : rn_err_nomem(err);

	rn_buf_free(&r.made);
	*out = r.s;
	return rc;
}

/* Stream groups */

int rn_groups_encode(const struct rn_streams *s, struct rn_buf *out)
{
	rn_buf_u64(out, s->ranks);
	rn_buf_u64(out, s->groups);
	for (uint32_t k = 0; k < s->groups; k++) {
		int rc;

		rn_buf_u64(out, s->group[k].root);
		rc = rn_units_encode(s->group[k].ranks, out);
		if (rc < 0)
			return rc;
	}
	return rn_buf_status(out);
}

int rn_groups_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_streams *s,
		     struct rn_err *err)
{
	uint64_t groups;

	s->ranks = rn_get_u64(in);
	groups = rn_get_count(in, 2);
	s->groups = (uint32_t)(groups <= UINT32_MAX ? groups : rn_fail(in));
	s->group = rn_new(mem, struct rn_stream_group, s->groups);
	if (!s->group)
		return rn_err_nomem(err);
	for (uint32_t k = 0; k < s->groups; k++) {
		struct rn_units *ranks;
		int rc;

		s->group[k].root = (uint32_t)rn_get_max(in, UINT32_MAX);
		rc = in->bad ? rn_err_set(err, RN_E_DATA, "cut off")
			     : rn_units_decode(mem, in, &ranks, err);
		if (rc < 0) {
			rn_err_prefix(err, "group %u", k);
			return rc;
		}
		s->group[k].ranks = ranks;
	}
	return in->bad ? rn_err_end(in, err) : rn_streams_index(s, err);
}
