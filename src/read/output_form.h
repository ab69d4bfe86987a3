/*
 * output_form.h - the syntax elements of the two output forms of a call, text and JSON.
 *
 * call_text.h describes the forms. Names (rn_name_valid) need no escaping in either form. All
 * output is appended to a buffer. The caller checks the buffer for failure.
 */
#ifndef RN_READ_OUTPUT_FORM_H
#define RN_READ_OUTPUT_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

struct rn_form {
	const char *separator;
	void (*number)(struct rn_buf *out, int64_t v);
	void (*quote)(struct rn_buf *out, const char *s, size_t n); /* quotes any bytes */
	void (*label)(struct rn_buf *out, const char *s,
		      size_t n);                           /* unquoted where the form allows it */
	void (*key)(struct rn_buf *out, const char *name); /* name and the separator after it */
	/* Appends the text before the name of the call. */
	void (*head)(struct rn_buf *out, uint64_t rank, uint64_t thread, uint64_t seq);
	const char *args, *args_end; /* around the arguments */
	const char *ret, *matched;   /* before the return value and the match */
	const char *site[3];         /* before, between and after the frames of a stack */
	const char *end;             /* end of the line */
	bool quote_names;
};

extern const struct rn_form rn_form_text, rn_form_json;

/* Appends a constant string in both forms. Inline, because most strings are constant. */
static inline void rn_put(struct rn_buf *out, const char *s)
{
	rn_buf_add(out, s, strlen(s));
}

/* Appends untrusted text with control characters escaped, so that none reaches a terminal. */
static inline void rn_put_safe(struct rn_buf *out, const char *s)
{
	rn_form_text.label(out, s, strlen(s));
}

void rn_put_u64(struct rn_buf *out, uint64_t v);
void rn_put_i64(struct rn_buf *out, int64_t v);

#endif
