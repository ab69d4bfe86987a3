/*
 * err.h - status codes and the one-line error that travels with them.
 *
 * A function that can fail returns 0 or a negative code; where the fact is known it also fills a
 * struct rn_err, which only cmd_*.c prints. Every function here takes a NULL err and then only
 * passes the code on, so callers that do not want the words need no dummy.
 */
#ifndef RN_BASE_ERR_H
#define RN_BASE_ERR_H

struct rn_reader;

enum rn_status {
	RN_OK = 0,
	RN_E_NOMEM = -1, /* an allocation failed; the object is as it was */
	RN_E_ARG = -2,   /* the caller asked for something that makes no sense */
	RN_E_DATA = -3,  /* bytes from outside are not what they claim to be */
	RN_E_SYS = -4,   /* the system said no; the text has strerror(errno) */
	RN_E_RANGE = -5, /* there is no such element */
};

struct rn_err {
	int code;
	char text[256];
};

/* Both return `code` (or RN_E_SYS), so that `return rn_err_set(...)` reads well. */
int rn_err_set(struct rn_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int rn_err_sys(struct rn_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns RN_E_NOMEM. The text is "out of memory" or, if the budget (budget.h) was exceeded, states
 * the limit. */
int rn_err_nomem(struct rn_err *err);

/* Verifies the end of the input of a decoder. Returns RN_OK, or RN_E_DATA if the input was
 * malformed (in->bad) or bytes are left over. */
int rn_err_end(const struct rn_reader *in, struct rn_err *err);

/* Puts "what: " in front of the text that is already there (a path, a section name). Gives the
 * code that is there, or RN_E_ARG for NULL: a caller that allows NULL returns its own. */
int rn_err_prefix(struct rn_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
