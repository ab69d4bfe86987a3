/* list_delta.c - see list_delta.h. */
#include "model/list_delta.h"

#include "encode/signature.h"

#define COLUMNS 8 /* values of an element that may be steps; a status in a communicator has 7 */

/* Conversion of a signature from one form to the other. */
struct pass {
	struct rn_reader in;
	struct rn_buf *out;
	/* Converts one value. `before` is the value that it may be a step from, or NULL. False if
	 * the input is malformed. */
	bool (*value)(struct pass *p, struct rn_value *before, struct rn_value *v);
};

static bool is_number(const struct rn_value *v)
{
	return v->kind <= RN_V_XOR;
}

/* Returns the number that a step changes. */
static uint64_t last_number(const struct rn_value *v)
{
	return v->kind == RN_V_OBJECT ? v->id : (uint64_t)v->num;
}

static bool step_between(const struct rn_value *a, const struct rn_value *b)
{
	if (a->kind != b->kind || a->word != b->word)
		return false;
	return is_number(a) || a->kind == RN_V_OBJECT || (a->kind == RN_V_PLACE && a->id == b->id);
}

static void copy_from(struct pass *p, const unsigned char *from)
{
	rn_buf_add(p->out, from, (size_t)(p->in.p - from));
}

/* ---- one value ---- */

static bool pack_value(struct pass *p, struct rn_value *before, struct rn_value *v)
{
	const unsigned char *from = p->in.p;

	if (!rn_call_value(&p->in, v))
		return false;
	if (before && step_between(before, v))
		rn_call_num(p->out, RN_STEPS_KIND, (int64_t)(last_number(v) - last_number(before)));
	else
		copy_from(p, from);
	return true;
}

/* Decodes the number in the head byte of a step, encoded as rn_call_value expects it for other
 * kinds. */
static bool read_step(struct rn_reader *in, uint64_t *step)
{
	unsigned small = *in->p++ >> 4;

	*step = small;
	if (small == RN_CALL_SMALL && __builtin_add_overflow(rn_get_u64(in), small, step))
		rn_fail(in);
	return !in->bad;
}

static bool unpack_value(struct pass *p, struct rn_value *before, struct rn_value *v)
{
	const unsigned char *from = p->in.p;
	uint64_t step;

	if (!rn_left(&p->in) || (*from & 15) != RN_STEPS_KIND) {
		if (!rn_call_value(&p->in, v))
			return false;
		copy_from(p, from);
		return true;
	}
	if (!before || !step_between(before, before) || !read_step(&p->in, &step))
		return false;
	*v = *before;
	if (v->kind == RN_V_OBJECT)
		v->id += (uint64_t)rn_unzigzag(step);
	else
		v->num = (int64_t)((uint64_t)v->num + (uint64_t)rn_unzigzag(step));
	rn_value_write(v, p->out);
	return true;
}

/* ---- lists ---- */

/* Converts an element: a value and all values nested in it. They replace those in `before`. */
static bool pass_element(struct pass *p, struct rn_value before[COLUMNS], unsigned *known)
{
	unsigned i = 0;

	for (uint64_t left = 1; left > 0; left--, i++) {
		struct rn_value v;

		if (!p->value(p, i < *known ? &before[i] : NULL, &v))
			return false;
		left += rn_value_parts(&v);
		if (i < COLUMNS)
			before[i] = v;
	}
	*known = i < COLUMNS ? i : COLUMNS;
	return true;
}

static bool pass_list(struct pass *p, uint64_t n)
{
	struct rn_value before[COLUMNS];
	unsigned known = 0;

	for (uint64_t i = 0; i < n && p->out->len <= RN_CALL_BYTES_MAX; i++)
		if (!pass_element(p, before, &known))
			return false;
	return true;
}

/* Converts all values up to the end. A list inside a long list is treated as values of its element.
 */
static bool pass_all(struct pass *p)
{
	const unsigned char *from = p->in.p;

	rn_get_u64(&p->in); /* function */
	copy_from(p, from);
	while (rn_left(&p->in)) {
		struct rn_value v;

		from = p->in.p;
		if (!rn_call_value(&p->in, &v))
			return false;
		copy_from(p, from);
		if (v.kind == RN_V_LIST && (uint64_t)v.num > RN_STEPS_FEW &&
		    !pass_list(p, (uint64_t)v.num))
			return false;
	}
	return !p->in.bad;
}

bool rn_steps_needed(const void *sig, size_t len)
{
	struct rn_reader in = rn_reader(sig, len);
	struct rn_value v;

	if (len <= RN_STEPS_FEW)
		return false;
	rn_get_u64(&in);
	while (rn_left(&in) && rn_call_value(&in, &v))
		if (v.kind == RN_V_LIST && (uint64_t)v.num > RN_STEPS_FEW)
			return true;
	return false;
}

void rn_steps_pack(const void *sig, size_t len, struct rn_buf *out)
{
	struct pass p = { rn_reader(sig, len), out, pack_value };

	pass_all(&p);
}

bool rn_steps_unpack(const void *stored, size_t len, struct rn_buf *out)
{
	struct pass p = { rn_reader(stored, len), out, unpack_value };

	return pass_all(&p) && out->len <= RN_CALL_BYTES_MAX;
}
