/* signature.c - reading signatures; see signature.h. */
#include "encode/signature.h"

#include <assert.h>

#include "base/bisect.h"

_Static_assert((unsigned)RN_ELASTIC_FORMS == RN_ELASTIC_STEP, "no number is without a form");

static bool has_word(const struct rn_value *v)
{
	enum rn_value_kind kind = rn_value_kind(v);

	return kind == RN_V_CONST || kind == RN_V_OBJECT || kind == RN_V_PLACE;
}

const struct rn_func *rn_vocab_func(const struct rn_vocab *v, uint64_t number)
{
	struct rn_bisect b = { 0, v->funcs, 0 };

	if (number < v->funcs && v->func[number].number == number)
		return &v->func[number];
	while (rn_bisect_next(&b))
		rn_bisect_go(&b, v->func[b.mid].number < number);
	return b.lo < v->funcs && v->func[b.lo].number == number ? &v->func[b.lo] : NULL;
}

const char *rn_vocab_word(const struct rn_vocab *v, uint64_t number)
{
	struct rn_bisect b = { 0, v->words, 0 };

	if (number < v->words && v->word[number].number == number)
		return v->word[number].text;
	while (rn_bisect_next(&b))
		rn_bisect_go(&b, v->word[b.mid].number < number);
	return b.lo < v->words && v->word[b.lo].number == number ? v->word[b.lo].text : NULL;
}

uint64_t rn_vocab_find(const struct rn_vocab *v, const char *word)
{
	for (uint32_t i = 0; i < v->words; i++)
		if (strcmp(v->word[i].text, word) == 0)
			return v->word[i].number;
	return UINT64_MAX;
}

/* Returns the number of a head byte. Sets in->bad if the sum overflows, because every number has
 * exactly one encoding. */
static uint64_t head_number(struct rn_reader *in, unsigned small)
{
	uint64_t v;

	if (small < RN_CALL_SMALL)
		return small;
	v = rn_get_u64(in);
	return v <= UINT64_MAX - RN_CALL_SMALL ? v + RN_CALL_SMALL : rn_fail(in);
}

static bool text_valid(const struct rn_value *v)
{
	/* The limit leaves room for a displacement. */
	if (v->kind == RN_V_ELASTIC)
		return v->len <= 230 && rn_name_valid(v->text, v->len);
	if (v->kind == RN_V_IN && !rn_comm_name(v->text, v->len))
		return false;
	return v->kind == RN_V_STRING || rn_name_valid(v->text, v->len);
}

static void read_text(struct rn_reader *in, uint64_t n, struct rn_value *v)
{
	v->text = (const char *)rn_get_bytes(in, n);
	v->len = v->text ? (size_t)n : 0;
	if (v->text && !text_valid(v))
		rn_fail(in);
}

static void read_elastic(struct rn_reader *in, uint64_t n, struct rn_value *v)
{
	v->num = (int64_t)(n % RN_ELASTIC_STEP);
	if (v->num == RN_ELASTIC_PLACE) {
		v->word = rn_get_u64(in);
		v->id = rn_get_u64(in);
	} else if (v->num == RN_ELASTIC_NAME) {
		read_text(in, rn_get_u64(in), v);
	} else if (v->num == RN_ELASTIC_SAME) {
		v->id = rn_get_u64(in);
	} else if (v->num == RN_ELASTIC_STACK) {
		v->id = rn_get_count(in, 1);
	}
}

/* Reads the fields after the head byte; n is the head's number. */
static void read_rest(struct rn_reader *in, uint64_t n, struct rn_value *v)
{
	switch (v->kind) {
	case RN_V_NAME:
	case RN_V_STRING:
	case RN_V_IN:
		read_text(in, n, v);
		break;
	case RN_V_CONST:
		v->word = n;
		break;
	case RN_V_OBJECT:
	case RN_V_PLACE:
		v->word = n;
		v->id = rn_get_u64(in);
		if (v->kind == RN_V_PLACE)
			v->num = rn_get_i64(in);
		break;
	case RN_V_LIST: /* every element takes at least one byte */
		v->num = (int64_t)(n <= rn_left(in) ? n : rn_fail(in));
		break;
	case RN_V_STATUS:
		v->num = (int64_t)(n < RN_STATUS_FORMS ? n : rn_fail(in));
		break;
	case RN_V_ELASTIC:
		read_elastic(in, n, v);
		break;
	default:
		v->num = rn_unzigzag(n);
	}
}

bool rn_call_value(struct rn_reader *in, struct rn_value *v)
{
	const unsigned char *head = rn_get_bytes(in, 1);

	*v = (struct rn_value){ 0 };
	if (!head || (*head & 15) >= RN_V_KINDS || (*head & 15) == RN_V_STEP) {
		rn_fail(in);
		return false;
	}
	v->kind = (enum rn_value_kind)(*head & 15);
	read_rest(in, head_number(in, *head >> 4), v);
	return !in->bad;
}

uint64_t rn_value_parts(const struct rn_value *v)
{
	static const unsigned char fields[RN_STATUS_FORMS] = { 5, 2, 0 };

	switch (v->kind) {
	case RN_V_LIST:
		return (uint64_t)v->num;
	case RN_V_IN:
		return 1;
	case RN_V_STATUS:
		assert(v->num >= 0 && v->num < RN_STATUS_FORMS);
		return fields[v->num];
	case RN_V_ELASTIC:
		return v->num == RN_ELASTIC_STACK ? v->id : 0;
	default:
		return 0;
	}
}

void rn_value_write(const struct rn_value *v, struct rn_buf *out)
{
	assert(v->kind == RN_V_OBJECT || v->kind == RN_V_PLACE || rn_value_is_number(v));
	if (v->kind == RN_V_OBJECT)
		rn_call_object(out, v->word, v->id);
	else if (v->kind == RN_V_PLACE)
		rn_call_place(out, v->word, v->id, v->num);
	else
		rn_call_num(out, v->kind, v->num);
}

uint32_t rn_func_values(const struct rn_func *f)
{
	uint32_t n = f->nparams;

	for (uint32_t i = 0; i < f->nparams; i++)
		n += rn_func_dir(f, i) == RN_DIR_BOTH;
	return n;
}

bool rn_func_all_in(const struct rn_func *f)
{
	for (uint32_t i = 0; i < f->nparams; i++)
		if (rn_func_dir(f, i) != RN_DIR_IN)
			return false;
	return true;
}

static int64_t modulo(int64_t v, uint64_t rank, uint64_t ranks)
{
	__int128 m = ((__int128)v + (__int128)rank) % (__int128)ranks;

	assert(ranks > 0);
	return (int64_t)(m < 0 ? m + (__int128)ranks : m);
}

int64_t rn_value_resolve(const struct rn_value *v, uint64_t rank, uint64_t ranks)
{
	switch (v->kind) {
	case RN_V_REL:
		return (int64_t)(rank + (uint64_t)v->num); /* a forged offset wraps around */
	case RN_V_RELMOD:
		return ranks ? modulo(v->num, rank, ranks) : 0;
	case RN_V_XOR:
		return (int64_t)(rank ^ (uint64_t)v->num);
	default:
		return v->num;
	}
}

static bool text_is(const char *s, size_t n, const char *what)
{
	return n == strlen(what) && memcmp(s, what, n) == 0;
}

bool rn_comm_name(const char *s, size_t n)
{
	return (n > 5 && memcmp(s, "comm:", 5) == 0) || text_is(s, n, "MPI_COMM_WORLD") ||
	       text_is(s, n, "MPI_COMM_SELF");
}

/* Needs no vocabulary: reads all values to the end of the bytes, including the return value. */
uint64_t rn_call_words(const void *sig, size_t len, rn_word_fn *cb, void *arg)
{
	struct rn_reader in = rn_reader(sig, len);
	uint64_t func = rn_get_u64(&in);
	struct rn_value v;

	while (rn_left(&in) && rn_call_value(&in, &v))
		if (has_word(&v))
			cb(arg, v.word);
	return func;
}

uint32_t rn_call_elastics(const void *sig, size_t len, uint32_t *stack)
{
	struct rn_reader in = rn_reader(sig, len);
	uint32_t n = 0, of_stack = UINT32_MAX;
	struct rn_value v;

	rn_get_u64(&in);
	while (rn_left(&in) && rn_call_value(&in, &v)) {
		if (v.kind == RN_V_ELASTIC && v.num == RN_ELASTIC_STACK)
			of_stack = n;
		n += v.kind == RN_V_ELASTIC && v.num != RN_ELASTIC_SAME;
	}
	if (stack)
		*stack = of_stack;
	return n;
}
