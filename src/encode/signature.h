/*
 * signature.h - a call as canonical bytes (its signature), and back.
 *
 * A signature is the function's number, then the values of the parameters that go in, then of those
 * that come out (one that does both has two), then the return value, and where the call was made,
 * if that is wanted (encode/callsite.h). A value says how it depends on
 * the rank that made the call, so that calls which do the same on different ranks have the same
 * bytes ("the neighbour to the east" is rank + 1). A value has exactly one encoding, so two calls
 * are equal when their bytes are.
 *
 *   head byte   bits 0-3 the kind, bits 4-7 a small number n; n = 15 means that a varint follows
 *               and that the number is 15 + varint
 *   number      zigzag, so that -7 .. 7 need no second byte
 *   word        the number of a word of the vocabulary; objects and places have more behind it
 *   text        the number is its length, the bytes follow
 *   list        the number is how many values follow
 *   in          the number is the length of a communicator's name, which follows, and one value
 *   status      the number is its form, which says how many values follow
 *   elastic     the number is its form (enum rn_elastic) + 8 * a number that tells signatures apart
 *               which are alike; of a place a word and a number follow, of a name length and bytes,
 *               of `same` the hole, counted from 0 without those that are the same as another, of
 *               `stack` how many there are, and so many values, of which the number says which
 *
 * Ranks are relative to the caller's in the communicator of the call: the first one among the
 * values that are not inside others, or the world if there is none. A value inside `in` has its
 * own. Which names communicators have, and what requests are, is in doc/format.md, 8.4 and 8.5.
 *
 * The vocabulary (functions and words: names of constants and of classes of objects) is one table
 * per program, the same on all ranks; what a trace uses of it is stored there, which so explains
 * itself. A blocking send so takes about 15 bytes.
 *
 * Writing goes into a buffer (base/buf.h), whose status the caller checks. The input of
 * readers is untrusted. On disk: doc/format.md.
 */
#ifndef RN_ENCODE_SIGNATURE_H
#define RN_ENCODE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "base/varint.h"

#define RN_CALL_PARAMS_MAX 64
#define RN_CALL_VALUES_MAX (2 * RN_CALL_PARAMS_MAX + 1)
#define RN_CALL_DEPTH_MAX  8                 /* lists in lists */
#define RN_CALL_BYTES_MAX  ((size_t)1 << 24) /* of any signature, as the format has it */

/* Where a parameter's value comes from: the program, the call, or first one and then the other. */
enum rn_dir { RN_DIR_IN, RN_DIR_OUT, RN_DIR_BOTH, RN_DIRS };

struct rn_func {
	uint32_t number;
	const char *name;
	const char *const *param; /* the standard's names */
	uint32_t nparams;
	const unsigned char *dir; /* enum rn_dir, one per parameter; NULL: all in */
};

struct rn_word {
	uint32_t number;
	const char *text;
};

/* What the numbers in signatures mean. Both tables ascend by number, gaps are fine. */
struct rn_vocab {
	const struct rn_func *func;
	const struct rn_word *word;
	uint32_t funcs, words;
};

/* NULL when there is none. O(1) without gaps below it, else O(log n). */
const struct rn_func *rn_vocab_func(const struct rn_vocab *v, uint64_t number);
const char *rn_vocab_word(const struct rn_vocab *v, uint64_t number);

/* The number of a word, or UINT64_MAX. O(words). */
uint64_t rn_vocab_find(const struct rn_vocab *v, const char *word);

enum rn_value_kind {
	RN_V_INT,     /* the number itself */
	RN_V_REL,     /* rank + number */
	RN_V_RELMOD,  /* (rank + number) modulo the number of ranks (of the remote group's) */
	RN_V_XOR,     /* rank xor number */
	RN_V_CONST,   /* a word: MPI_INT */
	RN_V_OBJECT,  /* a word and a number: request:5 */
	RN_V_PLACE,   /* a word, a number and a displacement: heap:3+64 */
	RN_V_NAME,    /* a name that is not in the vocabulary: comm:row */
	RN_V_STRING,  /* text of the program's */
	RN_V_LIST,    /* number of values, which follow */
	RN_V_IN,      /* a communicator's name, and one value, whose ranks are of that one */
	RN_V_STATUS,  /* its form (enum rn_status_form), and the fields that the form has */
	RN_V_VARIES,  /* each rank's own, in the table with this number (identity/comm_table.h) */
	RN_V_STEP,    /* only in a file (model/list_delta.h) */
	RN_V_ELASTIC, /* each call's own, the next of a series (file/values.h) */
	RN_V_KINDS,   /* at most 16: the head byte has four bits for it */
	RN_V_REQUEST, /* only in calls of a stream (read/calls.h): a request by its number */
};

/* A status as the program has it, or what is known of one that it ignored. */
enum rn_status_form {
	RN_STATUS_FULL,    /* source, tag, error, count (bytes), cancelled */
	RN_STATUS_MATCHED, /* ignored: source, tag */
	RN_STATUS_NOTHING, /* ignored, and nothing known */
	RN_STATUS_FORMS,
};

/* What the number from the series is. */
enum rn_elastic {
	RN_ELASTIC_INT = RN_V_INT, /* the value is of this kind, and that its number */
	RN_ELASTIC_REL = RN_V_REL,
	RN_ELASTIC_RELMOD = RN_V_RELMOD,
	RN_ELASTIC_XOR = RN_V_XOR,
	RN_ELASTIC_PLACE, /* the displacement of a place */
	RN_ELASTIC_NAME,  /* a displacement behind a name: static:solver+4096 */
	RN_ELASTIC_SAME,  /* no number of a series, but again that of an earlier hole, which follows
			   */
	RN_ELASTIC_STACK, /* which of the values that follow: only as where the call was made */
	RN_ELASTIC_FORMS,
};

#define RN_ELASTIC_STEP 8u

#define RN_CALL_SMALL 15u /* first number that does not fit into the head byte */

/* Functions that append values to a signature, which begins with the number of the function. */

static inline void rn_call_head(struct rn_buf *out, enum rn_value_kind kind, uint64_t v)
{
	uint64_t small = v < RN_CALL_SMALL ? v : RN_CALL_SMALL;

	rn_buf_byte(out, (unsigned char)(small << 4 | kind));
	if (v >= RN_CALL_SMALL)
		rn_buf_u64(out, v - RN_CALL_SMALL);
}

/* One of the four kinds that are numbers. */
static inline void rn_call_num(struct rn_buf *out, enum rn_value_kind kind, int64_t v)
{
	rn_call_head(out, kind, rn_zigzag(v));
}

static inline void rn_call_const(struct rn_buf *out, uint64_t word)
{
	rn_call_head(out, RN_V_CONST, word);
}

static inline void rn_call_object(struct rn_buf *out, uint64_t word, uint64_t id)
{
	rn_call_head(out, RN_V_OBJECT, word);
	rn_buf_u64(out, id);
}

static inline void rn_call_place(struct rn_buf *out, uint64_t word, uint64_t id, int64_t disp)
{
	rn_call_head(out, RN_V_PLACE, word);
	rn_buf_u64(out, id);
	rn_buf_i64(out, disp);
}

/* A name or a string of n bytes. */
static inline void rn_call_text(struct rn_buf *out, enum rn_value_kind kind, const char *s,
				size_t n)
{
	rn_call_head(out, kind, n);
	rn_buf_add(out, s, n);
}

/* A number of the series; `like` is 0 for the first of signatures that are alike. */
static inline void rn_call_elastic(struct rn_buf *out, enum rn_elastic form, uint32_t like)
{
	rn_call_head(out, RN_V_ELASTIC, (uint64_t)form + (uint64_t)like * RN_ELASTIC_STEP);
}

static inline void rn_call_elastic_place(struct rn_buf *out, uint32_t like, uint32_t word,
					 uint64_t id)
{
	rn_call_elastic(out, RN_ELASTIC_PLACE, like);
	rn_buf_u64(out, word);
	rn_buf_u64(out, id);
}

/* Again the number of that hole, which is a number as it is. */
static inline void rn_call_elastic_same(struct rn_buf *out, uint32_t like, uint32_t hole)
{
	rn_call_elastic(out, RN_ELASTIC_SAME, like);
	rn_buf_u64(out, hole);
}

/* One of the next n values, which are stacks. */
static inline void rn_call_elastic_stack(struct rn_buf *out, uint32_t like, uint32_t n)
{
	rn_call_elastic(out, RN_ELASTIC_STACK, like);
	rn_buf_u64(out, n);
}

static inline void rn_call_elastic_name(struct rn_buf *out, uint32_t like, const char *s, size_t n)
{
	rn_call_elastic(out, RN_ELASTIC_NAME, like);
	rn_buf_u64(out, n);
	rn_buf_add(out, s, n);
}

/* Begins a list: the next n values are its elements. */
static inline void rn_call_list(struct rn_buf *out, uint64_t n)
{
	rn_call_head(out, RN_V_LIST, n);
}

/* The communicator whose ranks the next value, a number or a status, is about. */
static inline void rn_call_in(struct rn_buf *out, const char *name, size_t n)
{
	rn_call_text(out, RN_V_IN, name, n);
}

/* Begins a status: the next 5, 2 or 0 values are its fields. */
static inline void rn_call_status(struct rn_buf *out, enum rn_status_form form)
{
	rn_call_head(out, RN_V_STATUS, (uint64_t)form);
}

struct rn_value {
	enum rn_value_kind kind;
	uint32_t span; /* entries of a template (encode/template.h) */
	/* As stored; a displacement; a status's or an elastic one's form; a list's number of values
	 */
	int64_t num;
	union {
		uint64_t word; /* of a constant, an object or a place */
		const char
			*text; /* names and strings, not terminated; for `in`, the communicator */
	};
	union {
		uint64_t id; /* of an object or a place; how many stacks there are */
		size_t len;  /* of the text */
	};
};

/* Reads one value, without what it is made of; false, with in->bad, when there is none. */
bool rn_call_value(struct rn_reader *in, struct rn_value *v);

/* How many of the values behind this one are its own: elements, fields, stacks, what `in` is about.
 */
uint64_t rn_value_parts(const struct rn_value *v);

/* Appends a number (also one that varies), an object or a place. */
void rn_value_write(const struct rn_value *v, struct rn_buf *out);

/* The kind that it has in a call, whether it is the same in all of them or not. */
static inline enum rn_value_kind rn_value_kind(const struct rn_value *v)
{
	if (v->kind != RN_V_ELASTIC)
		return v->kind;
	return v->num < RN_ELASTIC_PLACE    ? (enum rn_value_kind)v->num
	       : v->num == RN_ELASTIC_PLACE ? RN_V_PLACE
	       : v->num == RN_ELASTIC_NAME  ? RN_V_NAME
					    : RN_V_INT;
}

/* Whether it is one of the kinds that are numbers. */
static inline bool rn_value_is_number(const struct rn_value *v)
{
	return rn_value_kind(v) <= RN_V_XOR || v->kind == RN_V_VARIES;
}

/* Whether it depends on what the caller is in a communicator. */
static inline bool rn_value_is_relative(const struct rn_value *v)
{
	enum rn_value_kind k = rn_value_kind(v);

	return k == RN_V_REL || k == RN_V_RELMOD || k == RN_V_XOR;
}

/* The series of a valid signature: one for each elastic slot with values of its own. *stack, unless
 * NULL: that of the call site, or UINT32_MAX. */
uint32_t rn_call_elastics(const void *sig, size_t len, uint32_t *stack);

/* The number of a signature's function; UINT64_MAX: there is none. */
static inline uint64_t rn_call_function(const void *sig, size_t len)
{
	struct rn_reader in = rn_reader(sig, len);
	uint64_t function = rn_get_u64(&in);

	return in.bad ? UINT64_MAX : function;
}

/* How many values a signature of this function has before the return value. */
uint32_t rn_func_values(const struct rn_func *f);

/* Whether all parameters only go in. */
bool rn_func_all_in(const struct rn_func *f);

static inline enum rn_dir rn_func_dir(const struct rn_func *f, uint32_t param)
{
	return f->dir ? (enum rn_dir)f->dir[param] : RN_DIR_IN;
}

/* The number that `rank` of `ranks` (of that communicator) used. */
int64_t rn_value_resolve(const struct rn_value *v, uint64_t rank, uint64_t ranks);

/* A communicator as signatures name it: "comm:" and more, or MPI_COMM_WORLD or MPI_COMM_SELF. */
bool rn_comm_name(const char *s, size_t n);

/* Calls cb for each word that the signature, which is valid, uses; returns its function. */
typedef void rn_word_fn(void *arg, uint64_t word);
uint64_t rn_call_words(const void *sig, size_t len, rn_word_fn *cb, void *arg);

#endif
