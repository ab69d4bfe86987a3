/*
 * signature.h - a call as canonical bytes (its signature), and the decoder of single values.
 *
 * A signature is the number of the function, the values of the input parameters, the values of the
 * output parameters, and the return value. A parameter that is both input and output has two
 * values. The call site follows if call sites are recorded (encode/callsite.h). A value states how
 * it depends on the rank of the caller, so calls that do the same on different ranks have the same
 * bytes ("the neighbor to the east" is rank + 1). A value has exactly one encoding, so two calls
 * are equal if and only if their bytes are equal.
 *
 *   head byte   bits 0-3: the kind; bits 4-7: a small number n. If n = 15, a varint follows and the
 *               number is 15 + varint
 *   number      zigzag, so that -7 .. 7 need no second byte
 *   keyword     the number is that of the keyword; for objects and memory locations more follows
 *   text        the number is its length; the bytes follow
 *   list        the number is the number of values that follow
 *   in          the number is the length of a communicator name; the name and one value follow
 *   status      the number is its form, which determines the number of values that follow
 *   elastic     the number is its form (enum rn_elastic) + 8 * an index that distinguishes
 *               signatures that are otherwise equal. After it follow, for a memory location, a
 *               keyword and a number; for a name, length and bytes; for `same`, the index of an
 *               elastic slot, counted from 0 without the `same` slots; for `stack`, the number of
 *               stacks and that many values, into which the elastic value is an index
 *
 * Ranks are relative to the rank of the caller in the communicator of the call. That communicator
 * is the first one among the values that are not inside others, or the world if no such value
 * exists. A value inside `in` has its own communicator. Communicator names and request names are
 * specified in doc/format.md, 8.4 and 8.5.
 *
 * The vocabulary (functions and keywords) is one table per program and is the same on all ranks. A
 * trace stores the part of the vocabulary that it uses, so it is self-contained. A blocking send
 * takes about 15 bytes.
 *
 * Writers append to a buffer (base/buf.h); the caller checks the status of the buffer. The input of
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
#define RN_CALL_DEPTH_MAX  8                 /* nesting depth of lists */
#define RN_CALL_BYTES_MAX  ((size_t)1 << 24) /* maximum signature length; file format */

/* Direction of a parameter: input, output, or both. */
enum rn_dir { RN_DIR_IN, RN_DIR_OUT, RN_DIR_BOTH, RN_DIRS };

struct rn_func {
	uint32_t number;
	const char *name;
	const char *const *param; /* names from the MPI standard */
	uint32_t nparams;
	const unsigned char *dir; /* enum rn_dir, one per parameter; NULL: all are inputs */
};

struct rn_word {
	uint32_t number;
	const char *text;
};

/* The functions and keywords that signatures refer to. Both tables are sorted by ascending number;
 * numbers may have gaps. */
struct rn_vocab {
	const struct rn_func *func;
	const struct rn_word *word;
	uint32_t funcs, words;
};

/* Returns the entry with this number, or NULL. O(1) without gaps below it, else O(log n). */
const struct rn_func *rn_vocab_func(const struct rn_vocab *v, uint64_t number);
const char *rn_vocab_word(const struct rn_vocab *v, uint64_t number);

/* Returns the number of a keyword, or UINT64_MAX. O(words). */
uint64_t rn_vocab_find(const struct rn_vocab *v, const char *word);

enum rn_value_kind {
	RN_V_INT,    /* the number itself */
	RN_V_REL,    /* rank + number */
	RN_V_RELMOD, /* (rank + number) modulo the size (of the remote group, if any) */
	RN_V_XOR,    /* rank xor number */
	RN_V_CONST,  /* a keyword: MPI_INT */
	RN_V_OBJECT, /* a keyword and a number: request:5 */
	RN_V_PLACE,  /* a keyword, a number and a displacement: heap:3+64 */
	RN_V_NAME,   /* a name that is not in the vocabulary: comm:row */
	RN_V_STRING, /* a string passed by the program */
	RN_V_LIST,   /* the number is the number of values that follow */
	RN_V_IN,     /* a communicator name, and one value whose ranks refer to it */
	RN_V_STATUS, /* its form (enum rn_status_form), and the fields of that form */
	RN_V_VARIES, /* a per-rank value, from the table with this number (identity/comm_table.h) */
	RN_V_STEP,   /* occurs only in a file (model/list_delta.h) */
	RN_V_ELASTIC, /* a per-call value, the next one of a series (file/values.h) */
	RN_V_KINDS,   /* at most 16, because the head byte has four bits for the kind */
	RN_V_REQUEST, /* occurs only in decoded calls (read/calls.h): a request by its number */
};

/* The fields of a status. If the program ignored the status, the form tells which fields the tracer
 * recorded. */
enum rn_status_form {
	RN_STATUS_FULL,    /* source, tag, error, count (bytes), cancelled */
	RN_STATUS_MATCHED, /* ignored by the program: source, tag */
	RN_STATUS_NOTHING, /* ignored by the program; no field is known */
	RN_STATUS_FORMS,
};

/* The meaning of an elastic value. */
enum rn_elastic {
	RN_ELASTIC_INT = RN_V_INT, /* the number of a value of this kind */
	RN_ELASTIC_REL = RN_V_REL,
	RN_ELASTIC_RELMOD = RN_V_RELMOD,
	RN_ELASTIC_XOR = RN_V_XOR,
	RN_ELASTIC_PLACE, /* the displacement of a memory location */
	RN_ELASTIC_NAME,  /* the displacement after a name: static:solver+4096 */
	RN_ELASTIC_SAME,  /* the value of an earlier elastic slot, whose index follows */
	RN_ELASTIC_STACK, /* an index into the stacks that follow; occurs only as the call site */
	RN_ELASTIC_FORMS,
};

#define RN_ELASTIC_STEP 8u

#define RN_CALL_SMALL 15u /* the first number that does not fit into the head byte */

/* Functions that append values to a signature, which begins with the function's number. */

static inline void rn_call_head(struct rn_buf *out, enum rn_value_kind kind, uint64_t v)
{
	bool is_small = v < RN_CALL_SMALL;
	unsigned char *p = rn_buf_reserve(out, is_small ? 1 : 1 + RN_VARINT_MAX), *end = p;

	if (!p)
		return;
	*end++ = (unsigned char)((is_small ? v : RN_CALL_SMALL) << 4 | kind);
	if (!is_small)
		end = rn_varint_put(end, v - RN_CALL_SMALL);
	out->len += (size_t)(end - p);
}

/* Appends a value of kind RN_V_INT, RN_V_REL, RN_V_RELMOD or RN_V_XOR. */
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

/* Appends a name or a string of n bytes. */
static inline void rn_call_text(struct rn_buf *out, enum rn_value_kind kind, const char *s,
				size_t n)
{
	rn_call_head(out, kind, n);
	rn_buf_add(out, s, n);
}

/* Appends an elastic slot. `like` is the number of earlier signatures that are otherwise equal. */
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

/* Appends an elastic slot whose value is always that of elastic slot `hole`. */
static inline void rn_call_elastic_same(struct rn_buf *out, uint32_t like, uint32_t hole)
{
	rn_call_elastic(out, RN_ELASTIC_SAME, like);
	rn_buf_u64(out, hole);
}

/* Begins an elastic call site. The caller appends the n stacks. */
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

/* Begins a value that refers to the ranks of this communicator. The next value is a number or a
 * status. */
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
	uint32_t span; /* number of entries in a template (encode/template.h) */
	/* By kind: the number as stored, a displacement, the form of a status or elastic slot, or
	 * the length of a list. */
	int64_t num;
	union {
		uint64_t word;    /* keyword of a constant, an object or a memory location */
		const char *text; /* not terminated; for `in`, the communicator name */
	};
	union {
		uint64_t id; /* id of an object or a memory location; number of stacks */
		size_t len;  /* length of the text in bytes */
	};
};

/* Reads one value without the values nested in it. Returns false and sets in->bad if the input is
 * malformed. */
bool rn_call_value(struct rn_reader *in, struct rn_value *v);

/* Returns the number of following values that belong to this one: list elements, status fields,
 * stacks, or the value of `in`. */
uint64_t rn_value_parts(const struct rn_value *v);

/* Appends a number (also an RN_V_VARIES), an object or a memory location. */
void rn_value_write(const struct rn_value *v, struct rn_buf *out);

/* Returns the kind of the value in a call; for an elastic slot, the kind of its elastic values. */
static inline enum rn_value_kind rn_value_kind(const struct rn_value *v)
{
	if (v->kind != RN_V_ELASTIC)
		return v->kind;
	return v->num < RN_ELASTIC_PLACE    ? (enum rn_value_kind)v->num
	       : v->num == RN_ELASTIC_PLACE ? RN_V_PLACE
	       : v->num == RN_ELASTIC_NAME  ? RN_V_NAME
					    : RN_V_INT;
}

/* Returns whether the kind is one of the numeric kinds. */
static inline bool rn_value_is_number(const struct rn_value *v)
{
	return rn_value_kind(v) <= RN_V_XOR || v->kind == RN_V_VARIES;
}

/* Returns whether the value depends on the rank of the caller in a communicator. */
static inline bool rn_value_is_relative(const struct rn_value *v)
{
	enum rn_value_kind k = rn_value_kind(v);

	return k == RN_V_REL || k == RN_V_RELMOD || k == RN_V_XOR;
}

/* Counts the series of a valid signature: one for each elastic slot except those of form
 * RN_ELASTIC_SAME. *stack, unless NULL: the index of the call site's series, or UINT32_MAX. */
uint32_t rn_call_elastics(const void *sig, size_t len, uint32_t *stack);

/* Returns the number of the signature's function; UINT64_MAX: the bytes are malformed. */
static inline uint64_t rn_call_function(const void *sig, size_t len)
{
	struct rn_reader in = rn_reader(sig, len);
	uint64_t function = rn_get_u64(&in);

	return in.bad ? UINT64_MAX : function;
}

/* Returns the number of values of this function's signatures before the return value. */
uint32_t rn_func_values(const struct rn_func *f);

/* Returns whether all parameters are inputs. */
bool rn_func_all_in(const struct rn_func *f);

static inline enum rn_dir rn_func_dir(const struct rn_func *f, uint32_t param)
{
	return f->dir ? (enum rn_dir)f->dir[param] : RN_DIR_IN;
}

/* Returns the number that `rank` passed; `ranks` is the size of the value's communicator. */
int64_t rn_value_resolve(const struct rn_value *v, uint64_t rank, uint64_t ranks);

/* Returns whether s is the name of a communicator: MPI_COMM_WORLD, MPI_COMM_SELF, or "comm:" and at
 * least one more character. */
bool rn_comm_name(const char *s, size_t n);

/* Calls cb for each keyword that the signature uses. The signature must be valid. Returns the
 * number of its function. */
typedef void rn_word_fn(void *arg, uint64_t word);
uint64_t rn_call_words(const void *sig, size_t len, rn_word_fn *cb, void *arg);

#endif
