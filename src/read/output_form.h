/*
 * output_form.h - how the two forms of a call, text and JSON, write what they are made of.
 *
 * See call_text.h for what the forms are. Names (rn_name_valid) need no escaping in either.
 * Everything goes into a buffer whose failure the caller looks at once.
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
	void (*quote)(struct rn_buf *out, const char *s, size_t n); /* any bytes */
	void (*label)(struct rn_buf *out, const char *s, size_t n); /* shown bare where it can be */
	void (*key)(struct rn_buf *out, const char *name);          /* with what follows it */
	/* Text before the name of the call. */
	void (*head)(struct rn_buf *out, uint64_t rank, uint64_t thread, uint64_t seq);
	const char *args, *args_end; /* around the arguments */
	const char *ret, *matched;   /* before the return value and the match */
	const char *site[3];         /* before, between and after the frames of a stack */
	const char *end;             /* end of the line */
	bool quote_names;
};

extern const struct rn_form rn_form_text, rn_form_json;

/* The same in both. Inline, as most texts are constant. */
static inline void rn_put(struct rn_buf *out, const char *s)
{
	rn_buf_add(out, s, strlen(s));
}

/* Untrusted text: control characters do not reach a terminal. */
static inline void rn_put_safe(struct rn_buf *out, const char *s)
{
	rn_form_text.label(out, s, strlen(s));
}

void rn_put_u64(struct rn_buf *out, uint64_t v);
void rn_put_i64(struct rn_buf *out, int64_t v);

#endif
