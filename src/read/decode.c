/* decode.c - see decode.h. */
#include "read/decode.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

/* How the two forms differ; everything else is common. */
struct form {
	const char *separator;
	void (*number)(struct rn_buf *out, int64_t v);
	void (*quote)(struct rn_buf *out, const char *s, size_t n);
	bool quote_names;
};

static void put(struct rn_buf *out, const char *s)
{
	rn_buf_add(out, s, strlen(s));
}

static void put_u64(struct rn_buf *out, uint64_t v)
{
	unsigned char digits[20], *p = digits + sizeof(digits);

	do
		*--p = (unsigned char)('0' + v % 10);
	while (v /= 10);
	rn_buf_add(out, p, (size_t)(digits + sizeof(digits) - p));
}

static void put_i64(struct rn_buf *out, int64_t v)
{
	if (v < 0)
		rn_buf_byte(out, '-');
	put_u64(out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void json_number(struct rn_buf *out, int64_t v)
{
	const int64_t exact = (int64_t)1 << 53;
	bool text = v > exact || v < -exact;

	if (text)
		rn_buf_byte(out, '"');
	put_i64(out, v);
	if (text)
		rn_buf_byte(out, '"');
}

/* The letter behind the backslash for characters that have one. */
static char escape_letter(unsigned char c)
{
	static const char from[] = "\\\b\f\n\r\t", to[] = "\\bfnrt";
	const char *p = c ? strchr(from, c) : NULL;

	return p ? to[p - from] : 0;
}

/* Length of the UTF-8 character at s, or 0: shortest form, no surrogates, up to U+10FFFF. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	size_t len = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (len == 0 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))
		return 0;
	if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

/* C0, DEL and C1, which a terminal obeys: in the first byte, or, U+0080 to U+009F, in the second
 * of a character of two. */
static bool is_control(const unsigned char *s, size_t len)
{
	return s[0] < 0x20 || s[0] == 0x7f || (len == 2 && s[0] == 0xc2 && s[1] < 0xa0);
}

size_t rn_text_char(const char *text, size_t n, char out[RN_TEXT_CHAR])
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = s[0] < 0x80 ? 1 : utf8_length(s, n);
	char letter = escape_letter(s[0]);

	if (letter) {
		snprintf(out, RN_TEXT_CHAR, "\\%c", letter);
		return 1;
	}
	if (len == 0 || is_control(s, len)) {
		/* Three digits, always: unlike \x, they end by themselves. */
		snprintf(out, RN_TEXT_CHAR, "\\%03o", s[0]);
		return 1; /* a C1 character's second byte is on its own then, and no UTF-8 */
	}
	memcpy(out, s, len);
	out[len] = 0;
	return len;
}

static size_t put_text_char(struct rn_buf *out, const char *s, size_t n)
{
	char c[RN_TEXT_CHAR];
	size_t used = rn_text_char(s, n, c);

	put(out, c);
	return used;
}

static void put_u(struct rn_buf *out, unsigned v)
{
	char u[8];

	snprintf(u, sizeof(u), "\\u%04x", v & 0xffff);
	put(out, u);
}

static size_t put_json_char(struct rn_buf *out, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = s[0] < 0x80 ? 1 : utf8_length(s, n);
	char letter = escape_letter(s[0]);

	if (letter) {
		rn_buf_byte(out, '\\');
		rn_buf_byte(out, (unsigned char)letter);
	} else if (len == 0) {
		put_u(out, 0xdc00u + s[0]);
	} else if (is_control(s, len)) {
		put_u(out, s[len - 1]); /* of C1 too: U+0080 is C2 80 */
	} else {
		rn_buf_add(out, s, len);
	}
	return len ? len : 1;
}

typedef size_t put_char_fn(struct rn_buf *out, const char *s, size_t n);

static void quote(struct rn_buf *out, const char *s, size_t n, put_char_fn *put_char)
{
	rn_buf_byte(out, '"');
	for (size_t i = 0; i < n;) {
		if (s[i] == '"') {
			put(out, "\\\"");
			i++;
		} else {
			i += put_char(out, s + i, n - i);
		}
	}
	rn_buf_byte(out, '"');
}

static void quote_text(struct rn_buf *out, const char *s, size_t n)
{
	quote(out, s, n, put_text_char);
}

static void quote_json(struct rn_buf *out, const char *s, size_t n)
{
	quote(out, s, n, put_json_char);
}

static const struct form text_form = { ", ", put_i64, quote_text, false };
static const struct form json_form = { ",", json_number, quote_json, true };

static void put_displacement(struct rn_buf *out, int64_t v)
{
	if (v >= 0)
		rn_buf_byte(out, '+');
	put_i64(out, v);
}

/* Names consist of characters that need no escaping (rn_name_valid). */
static void put_name(const struct form *f, const struct rn_vocab *vocab, const struct rn_value *v,
		     struct rn_buf *out)
{
	if (f->quote_names)
		rn_buf_byte(out, '"');
	if (v->kind == RN_V_NAME)
		rn_buf_add(out, v->text, v->len);
	else
		put(out, rn_vocab_word(vocab, v->word));
	if (v->kind == RN_V_OBJECT || v->kind == RN_V_PLACE) {
		rn_buf_byte(out, ':');
		put_u64(out, v->id);
	}
	if (v->kind == RN_V_PLACE)
		put_displacement(out, v->num);
	if (f->quote_names)
		rn_buf_byte(out, '"');
}

static void put_value(const struct form *f, const struct rn_vocab *vocab, const struct rn_call *c,
		      struct rn_reader *in, struct rn_buf *out)
{
	struct rn_value v;

	if (!rn_call_value(in, &v))
		return;
	switch (v.kind) {
	case RN_V_CONST:
	case RN_V_OBJECT:
	case RN_V_PLACE:
	case RN_V_NAME:
		put_name(f, vocab, &v, out);
		break;
	case RN_V_STRING:
		f->quote(out, v.text, v.len);
		break;
	case RN_V_LIST: /* no deeper than RN_CALL_DEPTH_MAX in a valid signature */
		rn_buf_byte(out, '[');
		for (int64_t i = 0; i < v.num; i++) {
			if (i)
				put(out, f->separator);
			put_value(f, vocab, c, in, out);
		}
		rn_buf_byte(out, ']');
		break;
	default:
		f->number(out, rn_value_resolve(&v, c->rank, c->ranks));
	}
}

void rn_decode_text(const struct rn_vocab *vocab, const struct rn_call *c, struct rn_buf *out)
{
	struct rn_reader in = rn_reader(c->sig, c->len);
	const struct rn_func *func = rn_vocab_func(vocab, rn_get_u64(&in));

	put_u64(out, c->rank);
	rn_buf_byte(out, ' ');
	put_u64(out, c->seq);
	rn_buf_byte(out, ' ');
	put(out, func->name);
	rn_buf_byte(out, '(');
	for (uint32_t i = 0; i < func->nparams; i++) {
		if (i)
			put(out, text_form.separator);
		put(out, func->param[i]);
		rn_buf_byte(out, '=');
		put_value(&text_form, vocab, c, &in, out);
	}
	put(out, ") = ");
	put_value(&text_form, vocab, c, &in, out);
	rn_buf_byte(out, '\n');
}

void rn_decode_json(const struct rn_vocab *vocab, const struct rn_call *c, struct rn_buf *out)
{
	struct rn_reader in = rn_reader(c->sig, c->len);
	const struct rn_func *func = rn_vocab_func(vocab, rn_get_u64(&in));

	put(out, "{\"rank\":");
	put_u64(out, c->rank);
	put(out, ",\"seq\":");
	json_number(out, (int64_t)c->seq); /* lengths are below 2^63 */
	put(out, ",\"call\":\"");
	put(out, func->name);
	put(out, "\",\"args\":{");
	for (uint32_t i = 0; i < func->nparams; i++) {
		put(out, i ? ",\"" : "\"");
		put(out, func->param[i]);
		put(out, "\":");
		put_value(&json_form, vocab, c, &in, out);
	}
	put(out, "},\"ret\":");
	put_value(&json_form, vocab, c, &in, out);
	put(out, "}\n");
}
