/*
 * err.h - status codes, and the one-line error text that accompanies them.
 *
 * A function that can fail returns 0 or a negative code. Where the cause is known, it also fills a
 * struct rn_err, which only commands print (cmd_*.c). Every function here accepts a NULL err and
 * then only returns the code, so callers that do not need the text pass NULL.
 */
#ifndef RN_BASE_ERR_H
#define RN_BASE_ERR_H

struct rn_reader;

enum rn_status {
	RN_OK = 0,
	RN_E_NOMEM = -1, /* an allocation failed; the object is unchanged */
	RN_E_ARG = -2,   /* an argument is invalid */
	RN_E_DATA = -3,  /* untrusted input is malformed */
	RN_E_SYS = -4,   /* a system call failed; the text contains strerror(errno) */
	RN_E_RANGE = -5, /* there is no such element */
};

struct rn_err {
	int code;
	char text[256];
};

/* Both return `code` (or RN_E_SYS), for use in `return rn_err_set(...)`. */
int rn_err_set(struct rn_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int rn_err_sys(struct rn_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns RN_E_NOMEM. The text is "out of memory" or, if the budget (budget.h) was exceeded, states
 * the limit. */
int rn_err_nomem(struct rn_err *err);

/* Verifies the end of the input of a decoder. Returns RN_OK, or RN_E_DATA if the input was
 * malformed (in->bad) or bytes are left over. */
int rn_err_end(const struct rn_reader *in, struct rn_err *err);

/* Inserts "what: " (a path, a section name) before the existing text. Returns the existing code, or
 * RN_E_ARG if err is NULL. A caller that permits NULL must therefore return its own code. */
int rn_err_prefix(struct rn_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
