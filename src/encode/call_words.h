/*
 * call_words.h - call words: a call as 64-bit words while the program runs, and their conversion to
 * canonical bytes.
 *
 * A wrapper writes a call as 64-bit words, which are fast to write and fast to compare with the
 * predicted call. The first word is the function and, if call stacks are recorded, the id of the
 * stack. The function's row of the table (api/mpi.api) determines the meaning of the other words:
 * the values known before the call, in the order of the parameters, then those known after it, then
 * the return value. Words are valid inside one process: they contain ids of its tables and MPI's
 * own values of constants. rn_raw_write, called once per distinct call, converts them to bytes that
 * are independent of the process.
 *
 *   number     itself                     (all integer kinds)
 *   handle     constant: keyword << 1 | 1; object: id << 1; the upper half is the communicator, for
 *              windows and messages
 *   location   class (enum rn_mem_class, or RN_RAW_CLASS_*) | id << 8, displacement: two words
 *   text       id of a string
 *   request    see RN_RAW_REQUEST
 *   status     form | communicator << 8, then the fields of the form
 *   array      n << 2 | RN_RAW_HERE, and the elements; or n << 2 | RN_RAW_BLOB, and the id of
 *              the blob that contains them; or constant << 2 | RN_RAW_NAMED, for sentinels and
 *              meaningless arrays
 */
#ifndef RN_ENCODE_CALL_WORDS_H
#define RN_ENCODE_CALL_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encode/call_traits.h"
#include "encode/signature.h"

/* clang-format off */
#define RN_KINDS(X) \
	X(int) X(rank) X(tag) X(vary) X(color) X(index) X(thread) X(amode) X(assert) X(lock) \
	X(order) X(split) X(combiner) X(compare) X(topology) X(whence) X(distrib) X(darg) \
	X(fileoff) X(typeclass) X(errcode) X(fint) X(buffer) X(pointer) X(bufptr) X(func) X(commcopy) \
	X(commdelete) X(typecopy) X(typedelete) X(wincopy) X(windelete) X(keycopy) X(keydelete) X(convfn) \
	X(disp) X(attr) X(string) X(strings) X(argv) X(argvs) X(status) X(matched) X(weight) X(range) \
	X(varargs) X(request) X(comm) X(type) X(group) X(op) X(info) X(file) X(win) X(keyval) \
	X(errhandler) X(message) X(session) X(cvar) X(pvar) X(pvarsession) X(enum) X(event) \
	X(eventreg) X(greqclass) X(class) X(errcodes) X(statusptr) X(statusesptr)
/* clang-format on */

enum rn_param_kind {
#define RN_KIND_NAME(k) RN_K_##k,
	RN_KINDS(RN_KIND_NAME)
#undef RN_KIND_NAME
		RN_K_COUNT
};

enum rn_how {
	RN_HOW_in,
	RN_HOW_out,
	RN_HOW_inout,
	RN_HOW_new,
	RN_HOW_free,
	RN_HOW_ref,
	RN_HOW_done
};

struct rn_param {
	const char *name;
	uint8_t how, kind;
	bool array;
	uint8_t value; /* index of its value in a signature; of two, the input value */
};

/* Kinds of return values. */
enum rn_ret {
	RN_RET_errcode, /* an error code */
	RN_RET_hidden,  /* not recorded: a time, an address or a Fortran handle */
	RN_RET_seconds, /* a constant number of seconds; the word is the bits of a double */
};

struct rn_proto {
	const char *name;
	const struct rn_param *param;
	uint32_t nparams;
	enum rn_ret ret;
	struct rn_traits traits;
};

extern const struct rn_proto rn_mpi_protos[];
extern const struct rn_vocab rn_mpi_vocab;

/* Returns the number of the function with this name, or UINT32_MAX. O(log n). */
uint32_t rn_mpi_find(const char *name);

/* Returns the function of this program that has the name and the parameters of f, or NULL.
 * Directions are compared if f has them. O(log n). */
const struct rn_proto *rn_mpi_known(const struct rn_func *f);

/* Returns the traits of rn_mpi_known(f), or an entry without traits. Never returns NULL. */
const struct rn_traits *rn_func_traits(const struct rn_func *f);

/* Keywords that the code itself refers to. */
enum rn_mpi_word {
	RN_WORD_request = 0,
	RN_WORD_request_gone,
	RN_WORD_request_new,
	RN_WORD_type,
	RN_WORD_group,
	RN_WORD_op,
	RN_WORD_info,
	RN_WORD_file,
	RN_WORD_win,
	RN_WORD_keyval,
	RN_WORD_errhandler,
	RN_WORD_message,
	RN_WORD_session,
	RN_WORD_cvar,
	RN_WORD_pvar,
	RN_WORD_pvarsession,
	RN_WORD_enum,
	RN_WORD_event,
	RN_WORD_eventreg,
	RN_WORD_greqclass,
	RN_WORD_heap,
	RN_WORD_static,
	RN_WORD_stack,
	RN_WORD_mmap,
	RN_WORD_gpu,
	RN_WORD_alloc,
	RN_WORD_window,
	RN_WORD_other,
	RN_WORD_fint,
	RN_WORD_unset,
	RN_WORD_NULL,
	RN_WORD_nothing,
	RN_WORD_tls,
	RN_WORD_pinned,
	RN_WORD_managed,
};

/* ---- words ---- */

/* The first word: the function, and the id of the call stack, or 0. */
#define RN_RAW_HEAD(function, site) ((uint64_t)(site) << 32 | (function))
#define RN_RAW_FUNCTION(word)       ((uint32_t)(word))
#define RN_RAW_SITE(word)           ((uint32_t)((word) >> 32) & (RN_RAW_SITE_ALIKE - 1))

/* Flag in the stack id: the stack belongs to a stack cluster (encode/callsite.h). When the call has
 * returned, the id is that of the first stack of the cluster, and one more word follows the return
 * value: the id of the stack itself, which is always an elastic slot in signatures. */
#define RN_RAW_SITE_ALIKE ((uint32_t)1 << 31)
#define RN_RAW_ALIKE      ((uint64_t)RN_RAW_SITE_ALIKE << 32)

#define RN_RAW_UNSET   ((uint64_t)1 << 63 | 1) /* an output of a call that failed */
#define RN_RAW_NULL    ((uint64_t)1 << 63 | 3) /* the pointer was NULL */
#define RN_RAW_NOTHING ((uint64_t)1 << 63 | 5) /* the value has no meaning in this call */

#define RN_RAW_HOLE ((uint64_t)1 << 63 | 7) /* an elastic slot (encode/elastic_slots.h) */

/* The value of an earlier elastic slot. The index counts from 0 and skips the words that are
 * RN_RAW_SAME. */
#define RN_RAW_SAME(hole)    ((uint64_t)1 << 63 | (uint64_t)(hole) << 8 | 9)
#define RN_RAW_IS_SAME(word) (((word) & ~(uint64_t)0xff00) == ((uint64_t)1 << 63 | 9))
#define RN_RAW_SAME_AS(word) ((uint32_t)((word) >> 8) & 0xff)

#define RN_RAW_HERE  0u
#define RN_RAW_BLOB  1u
#define RN_RAW_NAMED 2u

#define RN_RAW_FEW 64 /* maximum number of array elements that are written in place */

#define RN_RAW_CLASS_CONST 255u /* location: the id is a constant */
#define RN_RAW_CLASS_INT   254u /* location: not an address; the displacement is an integer */

/* A request. 0: MPI_REQUEST_NULL; 1: an unknown request. */
#define RN_RAW_REQUEST(stream, shape, slot) \
	((uint64_t)1 << 62 | (uint64_t)(stream) << 50 | (uint64_t)(shape) << 27 | (uint64_t)(slot))
#define RN_RAW_SHAPE_MAX    0x7fffffu
#define RN_RAW_GONE         ((uint64_t)1 << 61)
#define RN_RAW_STREAM(word) ((uint32_t)((word) >> 50) & 0x7ff)
#define RN_RAW_SHAPE(word)  ((uint32_t)((word) >> 27) & RN_RAW_SHAPE_MAX)
#define RN_RAW_SLOT(word)   ((uint32_t)(word)&0x7ffffff)

/* ---- conversion to bytes ---- */

#define RN_RAW_SLOTS_MAX 256u /* of one call; further numbers are written as absolute values */
#define RN_HOLES_MAX     256u /* elastic slots of one call */

/* A number that may differ between ranks. */
struct rn_raw_slot {
	int64_t value;
	uint32_t comm;           /* word of the communicator of the ranks; 0: the world */
	enum rn_value_kind kind; /* one of the numeric kinds; `number` is written with it */
	int64_t number;
};

/* An elastic slot, and how its values are written. */
struct rn_raw_hole {
	bool is_rank;
	uint32_t comm;
	enum rn_elastic form;
};

enum rn_raw_mode {
	RN_RAW_COLLECT, /* lists the numbers of the call, and writes 0 for each */
	RN_RAW_EXPRESS, /* writes the listed numbers with the kinds in the list */
	RN_RAW_PLAIN,   /* writes absolute values */
};

/* The numbers of a call, in the order in which they are written. */
struct rn_raw_numbers {
	enum rn_raw_mode mode;
	uint32_t slots;
	struct rn_raw_slot slot[RN_RAW_SLOTS_MAX];
	struct rn_raw_hole hole[RN_HOLES_MAX];
};

struct rn_process_table;
struct rn_sigs;

/* The tables that words refer to, and the way in which numbers are written. */
struct rn_raw_env {
	const struct rn_process_table *process;
	const struct rn_sigs *texts, *blobs; /* of the stream */
	struct rn_raw_numbers *numbers;
	bool elastic;  /* words may be elastic slots */
	uint32_t like; /* number of earlier signatures that are otherwise equal (rn_call_elastic) */
	/* The call stacks of the stack cluster that the call was made from. In the modes other than
	 * RN_RAW_EXPRESS, the empty stack is written instead. */
	const uint32_t *stack;
	uint32_t stacks;
	uint64_t most; /* longer arrays and texts are omitted; 0: no limit */
};

/*
 * Replaces the contents of `out` by words[0..n), function first, as a signature. Returns RN_OK,
 * RN_E_NOMEM, RN_E_ARG if the words are invalid, or RN_E_RANGE if the signature is too long.
 *
 * Two calls of one stream that create requests have equal bytes if and only if they have equal
 * words. Requests are named after the signature that created them (doc/format.md, 8.5): the tracer
 * counts distinct words, a reader counts distinct bytes. Every object that a word refers to must
 * therefore have a unique name: the process table has different names for different ids, and
 * the id of a window or message implies its communicator (trace/handles.c).
 */
int rn_raw_write(const struct rn_raw_env *env, const uint64_t *words, size_t n, struct rn_buf *out);

#endif
