/* signature_delta.c - see signature_delta.h. */
#include "model/signature_delta.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "base/vec.h"
#include "encode/signature.h"

#define NONE UINT32_MAX

/* Operation that derives a number from that of the previous signature. */
enum op { ADD, DOUBLE, HALVE, OPS };

#define OP_BITS 2

static uint64_t applied(enum op op, uint64_t step, uint64_t v)
{
	return op == DOUBLE ? 2 * v : op == HALVE ? (uint64_t)((int64_t)v >> 1) : v + step;
}

/* True if the operation leads from a to b and from b to c. */
static bool leads(enum op op, uint64_t a, uint64_t b, uint64_t c)
{
	return applied(op, b - a, a) == b && applied(op, b - a, b) == c;
}

/* ---- numbers of a value ---- */

static unsigned numbers_of(const struct rn_value *v)
{
	if (v->kind <= RN_V_XOR || v->kind == RN_V_VARIES || v->kind == RN_V_OBJECT)
		return 1;
	return v->kind == RN_V_PLACE ? 2 : 0;
}

static uint64_t get_number(const struct rn_value *v, unsigned k)
{
	return v->kind == RN_V_OBJECT || (v->kind == RN_V_PLACE && k == 0) ? v->id
									   : (uint64_t)v->num;
}

static void set_number(struct rn_value *v, unsigned k, uint64_t number)
{
	if (v->kind == RN_V_OBJECT || (v->kind == RN_V_PLACE && k == 0))
		v->id = number;
	else
		v->num = (int64_t)number;
}

/* ---- relatives ---- */

struct member {
	uint32_t relative; /* the latest relative before it, or NONE */
	uint32_t first, n; /* index of its first number, and how many it has */
};

struct rn_relatives {
	const struct rn_sigs *sigs;
	struct rn_seg member; /* struct member, by signature */
	struct rn_seg number; /* uint64_t */
};

static const struct member *member_at(const struct rn_relatives *r, uint32_t i)
{
	return RN_SEG_AT(&r->member, struct member, i);
}

static uint64_t number_at(const struct rn_relatives *r, uint32_t i, uint32_t k)
{
	return *RN_SEG_AT(&r->number, uint64_t, member_at(r, i)->first + k);
}

/* Appends the numbers of a signature to r->number, and the bytes that relatives share to `rest`. */
static bool take_numbers(struct rn_relatives *r, struct rn_arena *mem, const void *sig, size_t len,
			 struct rn_buf *rest)
{
	struct rn_reader in = rn_reader(sig, len);
	const unsigned char *from = in.p;
	struct rn_value v;

	rn_buf_clear(rest);
	rn_get_u64(&in); /* function */
	for (;;) {
		const unsigned char *at = in.p;
		unsigned n;

		if (!rn_left(&in) || !rn_call_value(&in, &v))
			break;
		n = numbers_of(&v);
		if (n == 0)
			continue;
		rn_buf_add(rest, from, (size_t)(at - from));
		rn_buf_byte(rest, (unsigned char)v.kind);
		rn_buf_u64(rest, v.word);
		from = in.p;
		for (unsigned k = 0; k < n; k++)
			if (!RN_SEG_PUSH(&r->number, mem, uint64_t, get_number(&v, k)))
				return false;
	}
	rn_buf_add(rest, from, (size_t)(in.end - from));
	return rn_buf_status(rest) == RN_OK;
}

static bool add_member(struct rn_relatives *r, struct rn_arena *mem, uint32_t i,
		       struct rn_sigs *families, struct rn_seg *latest, struct rn_buf *rest)
{
	struct member m = { .relative = NONE, .first = r->number.n };
	uint32_t family;
	size_t len;
	const void *sig = rn_sigs_get(r->sigs, i, &len);

	if (!take_numbers(r, mem, sig, len, rest) ||
	    rn_sigs_intern(families, rest->data, rest->len, &family) < 0 ||
	    !rn_seg_reserve(latest, mem, 1))
		return false;
	if (family < latest->n)
		m.relative = *RN_SEG_AT(latest, uint32_t, family);
	else
		latest->n++;
	*RN_SEG_AT(latest, uint32_t, family) = i;
	m.n = r->number.n - m.first;
	return RN_SEG_PUSH(&r->member, mem, struct member, m);
}

struct rn_relatives *rn_relatives_new(struct rn_arena *mem, const struct rn_sigs *s)
{
	struct rn_relatives *r = rn_new(mem, struct rn_relatives, 1);
	struct rn_sigs *families = rn_sigs_new(mem);
	struct rn_buf rest = { 0 };
	struct rn_seg latest;
	bool good = r && families;

	rn_seg_init(&latest, sizeof(uint32_t));
	if (good) {
		r->sigs = s;
		rn_seg_init(&r->member, sizeof(struct member));
		rn_seg_init(&r->number, sizeof(uint64_t));
	}
	for (uint32_t i = 0; good && i < rn_sigs_count(s); i++)
		good = add_member(r, mem, i, families, &latest, &rest);
	rn_buf_free(&rest);
	return good ? r : NULL;
}

/* ---- encoding ---- */

/* Returns the operation by which number k changes from i to the next signature of a line. A
 * doubling is also an addition, so a third value is required to distinguish them. */
static enum op op_of(const struct rn_relatives *r, uint32_t i, uint32_t k)
{
	uint64_t a = number_at(r, member_at(r, i)->relative, k), b = number_at(r, i, k), c;

	if (i + 1 >= r->member.n || member_at(r, i + 1)->relative != i)
		return ADD;
	c = number_at(r, i + 1, k);
	if (leads(ADD, a, b, c))
		return ADD;
	return leads(DOUBLE, a, b, c) ? DOUBLE : leads(HALVE, a, b, c) ? HALVE : ADD;
}

/* True if k is derived from k - 1 as i is derived from its relative. */
static bool goes_on(const struct rn_relatives *r, uint32_t i, uint32_t k)
{
	const struct member *m = member_at(r, i);

	if (k >= r->member.n || member_at(r, k)->relative != k - 1)
		return false;
	for (uint32_t x = 0; x < m->n; x++) {
		uint64_t a = number_at(r, m->relative, x), b = number_at(r, i, x);

		if (number_at(r, k, x) != applied(op_of(r, i, x), b - a, number_at(r, k - 1, x)))
			return false;
	}
	return true;
}

static void put_edits(const struct rn_relatives *r, uint32_t i, struct rn_buf *out)
{
	const struct member *m = member_at(r, i);
	uint32_t next = 0, edits = 0;

	for (uint32_t k = 0; k < m->n; k++)
		edits += number_at(r, i, k) != number_at(r, m->relative, k);
	rn_buf_u64(out, edits);
	for (uint32_t k = 0; k < m->n; k++) {
		uint64_t step = number_at(r, i, k) - number_at(r, m->relative, k);
		enum op op = op_of(r, i, k);

		if (step == 0)
			continue;
		rn_buf_u64(out, (uint64_t)(k - next) << OP_BITS | op);
		if (op == ADD)
			rn_buf_i64(out, (int64_t)step);
		next = k + 1;
	}
}

/* Returns the number of signatures of the line from i on that fit in `room`. */
static uint32_t length_of(const struct rn_relatives *r, uint32_t i, uint64_t room)
{
	uint32_t n = 0;
	size_t len;

	do {
		rn_sigs_get(r->sigs, i + n, &len);
		if (len > room)
			break;
		room -= len;
		n++;
	} while (goes_on(r, i, i + n));
	return n;
}

uint32_t rn_line_put(const struct rn_relatives *r, uint32_t i, uint64_t room, bool single,
		     struct rn_buf *out)
{
	uint32_t base = member_at(r, i)->relative, n = base == NONE ? 0 : length_of(r, i, room);
	size_t begin = out->len, len;

	if (n == 0 || (n == 1 && !single))
		return 0;
	rn_buf_byte(out, 0);
	rn_buf_u64(out, i - 1 - base);
	rn_buf_u64(out, n - 1);
	put_edits(r, i, out);
	rn_sigs_get(r->sigs, i, &len);
	if (n > 1 || out->len - begin < len)
		return n;
	out->len = begin;
	return 0;
}

/* ---- decoding ---- */

bool rn_line_get(struct rn_reader *in, uint64_t before, uint64_t left, struct rn_line *l)
{
	l->back = rn_get_u64(in);
	l->n = rn_get_u64(in);
	l->edits = rn_get_count(in, 1);
	if (l->back >= before || l->n >= left)
		rn_fail(in);
	l->n++;
	return !in->bad;
}

/* The remaining edits of the numbers of a signature. */
struct edits {
	struct rn_reader *in;
	uint64_t left, at; /* edits left; index of the next edited number */
	enum op op;
	uint64_t step;
};

static void next_edit(struct edits *e)
{
	uint64_t head = rn_get_u64(e->in);

	e->at += head >> OP_BITS;
	e->op = (enum op)(head & ((1u << OP_BITS) - 1));
	e->step = e->op == ADD ? (uint64_t)rn_get_i64(e->in) : 0;
	if (e->op >= OPS)
		rn_fail(e->in);
}

static void edit_value(struct edits *e, uint64_t *at, struct rn_value *v)
{
	for (unsigned k = 0; k < numbers_of(v); k++, ++*at) {
		if (!e->left || e->at != *at)
			continue;
		set_number(v, k, applied(e->op, e->step, get_number(v, k)));
		e->at++;
		if (--e->left)
			next_edit(e);
	}
}

bool rn_line_next(const struct rn_line *l, struct rn_reader *edits, const void *sig, size_t len,
		  struct rn_buf *out)
{
	struct rn_reader in = rn_reader(sig, len);
	struct edits e = { .in = edits, .left = l->edits };
	const unsigned char *from = in.p;
	struct rn_value v;
	uint64_t at = 0;

	if (e.left)
		next_edit(&e);
	rn_get_u64(&in);
	rn_buf_add(out, from, (size_t)(in.p - from));
	while (rn_left(&in) && !edits->bad) {
		from = in.p;
		if (!rn_call_value(&in, &v))
			return false;
		if (numbers_of(&v)) {
			edit_value(&e, &at, &v);
			rn_value_write(&v, out);
		} else {
			rn_buf_add(out, from, (size_t)(in.p - from));
		}
	}
	return e.left == 0 && !edits->bad && out->len <= RN_CALL_BYTES_MAX;
}
