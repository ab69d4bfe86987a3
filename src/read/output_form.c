/* output_form.c - see output_form.h. */
#include "read/output_form.h"

#include <stdio.h>

void rn_put_u64(struct rn_buf *out, uint64_t v)
{
	unsigned char digits[20], *p = digits + sizeof(digits);

	do
		*--p = (unsigned char)('0' + v % 10);
	while (v /= 10);
	rn_buf_add(out, p, (size_t)(digits + sizeof(digits) - p));
}

void rn_put_i64(struct rn_buf *out, int64_t v)
{
	if (v < 0)
		rn_buf_byte(out, '-');
	rn_put_u64(out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void json_number(struct rn_buf *out, int64_t v)
{
	const int64_t exact = (int64_t)1 << 53;
	bool text = v > exact || v < -exact;

	if (text)
		rn_buf_byte(out, '"');
	rn_put_i64(out, v);
	if (text)
		rn_buf_byte(out, '"');
}

static size_t put_text_char(struct rn_buf *out, const char *s, size_t n)
{
	char c[RN_TEXT_CHAR];
	size_t used = rn_text_char(s, n, c);

	rn_put(out, c);
	return used;
}

static void put_u(struct rn_buf *out, unsigned v)
{
	char u[8];

	snprintf(u, sizeof(u), "\\u%04x", v & 0xffff);
	rn_put(out, u);
}

/* A byte that is not UTF-8 is written as a private-use character, U+F700 + the byte. */
#define BYTE_CHAR 0xf700u

/* Returns the length of a character that is written unchanged; 0 if its first byte is written as a
 * byte. The characters U+F780 to U+F7FF are written as three bytes, so that every string can be
 * restored. */
static size_t json_length(const unsigned char *s, size_t n)
{
	size_t len = rn_text_length(s, n);
	bool stands_for_byte = len == 3 && s[0] == 0xef && (s[1] == 0x9e || s[1] == 0x9f);

	return stands_for_byte ? 0 : len;
}

static size_t put_json_char(struct rn_buf *out, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = json_length(s, n);
	char letter = rn_text_letter(s[0]);

	if (letter) {
		rn_buf_byte(out, '\\');
		rn_buf_byte(out, (unsigned char)letter);
	} else if (len == 0) {
		put_u(out, BYTE_CHAR + s[0]);
	} else if (rn_text_is_control(s, len)) {
		put_u(out, s[len - 1]); /* also control characters of C1: U+0080 is C2 80 */
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
			rn_put(out, "\\\"");
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

static void put_label(struct rn_buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n;)
		i += put_text_char(out, s + i, n - i);
}

static void quote_json(struct rn_buf *out, const char *s, size_t n)
{
	quote(out, s, n, put_json_char);
}

static void text_key(struct rn_buf *out, const char *name)
{
	rn_put(out, name);
	rn_buf_byte(out, '=');
}

static void json_key(struct rn_buf *out, const char *name)
{
	rn_buf_byte(out, '"');
	rn_put(out, name);
	rn_put(out, "\":");
}

static void text_head(struct rn_buf *out, uint64_t rank, uint64_t thread, uint64_t seq)
{
	rn_put_u64(out, rank);
	if (thread) {
		rn_buf_byte(out, '.');
		rn_put_u64(out, thread);
	}
	rn_buf_byte(out, ' ');
	rn_put_u64(out, seq);
	rn_buf_byte(out, ' ');
}

static void json_head(struct rn_buf *out, uint64_t rank, uint64_t thread, uint64_t seq)
{
	rn_put(out, "{\"rank\":");
	rn_put_u64(out, rank);
	if (thread) {
		rn_put(out, ",\"thread\":");
		rn_put_u64(out, thread);
	}
	rn_put(out, ",\"seq\":");
	json_number(out, (int64_t)seq); /* lengths are below 2^63 */
	rn_put(out, ",\"call\":\"");
}

const struct rn_form rn_form_text = {
	.separator = ", ",
	.number = rn_put_i64,
	.quote = quote_text,
	.label = put_label,
	.key = text_key,
	.head = text_head,
	.args = "(",
	.args_end = ")",
	.ret = " = ",
	.matched = " matched=",
	.site = { " at ", " < ", "" },
	.end = "\n",
};

const struct rn_form rn_form_json = {
	.separator = ",",
	.number = json_number,
	.quote = quote_json,
	.label = quote_json,
	.key = json_key,
	.head = json_head,
	.args = "\",\"args\":{",
	.args_end = "}",
	.ret = ",\"ret\":",
	.matched = ",\"matched\":",
	.site = { ",\"site\":[", ",", "]" },
	.end = "}\n",
	.quote_names = true,
};
