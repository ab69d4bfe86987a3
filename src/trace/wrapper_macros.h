/*
 * wrapper_macros.h - macros for the code that gen.awk generates from api/mpi.api: one wrapper per
 * MPI function.
 *
 *   WRAP_BEGIN          tests if the call is recorded; the function's number is its first word
 *   IN_ REF_ FREE_ ...  values known before the call
 *   WRAP_CALL           calls the next function, and reads the clock before and after it
 *   OUT_ NEW_           values known after the call
 *   WRAP_END_           the return value; appends the call to the stream
 *
 * W(x) writes a word and compares it with that of the predicted call. Variables of a wrapper: t is
 * the stream, w the position of the next word, rn_p the next predicted word, and diff is not 0 if a
 * word differed.
 *
 * If the length of an array differs from the predicted one, or the array is missing, its elements
 * must not be compared: the predicted call may have fewer words. HEAD(x) writes such a length and
 * stops the comparison if it differs.
 */
#ifndef RN_TRACE_WRAPPER_MACROS_H
#define RN_TRACE_WRAPPER_MACROS_H

#include <string.h>

#include "encode/call_words.h"
#include "preload/next_mpi.h"
#include "trace/array_lengths.h"
#include "trace/bypass.h"
#include "trace/caller_filter.h"
#include "trace/callstack.h"
#include "trace/comm_registry.h"
#include "trace/handles.h"
#include "trace/mem_location.h"
#include "trace/request_names.h"
#include "trace/stream.h"
#include "trace/thread_stream.h"

#define RN_EXPORT      __attribute__((visibility("default")))
#define RN_LIKELY(x)   __builtin_expect(!!(x), 1)
#define RN_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Converts a handle of any kind to an integer. MPICH's handles are int, Open MPI's are pointers. */
#define H(x) ((uint64_t)(uintptr_t)(x))

#define W(x)                                   \
	do {                                   \
		uint64_t rn_x = (uint64_t)(x); \
		diff |= rn_x ^ *rn_p++;        \
		*w++ = rn_x;                   \
	} while (0)

#define HEAD(x)                                      \
	do {                                         \
		uint64_t rn_head = (uint64_t)(x);    \
		if (RN_UNLIKELY(rn_head != *rn_p)) { \
			diff = 1;                    \
			rn_p = rn_no_words;          \
		} else {                             \
			rn_p++;                      \
		}                                    \
		*w++ = rn_head;                      \
	} while (0)

/* ---- start and end of a wrapper ---- */

/* Destination of a call that is not recorded: MPI, or another tool. */
#define RN_ON(number, name)                                                                  \
	(RN_UNLIKELY(rn_tool.name != NULL) &&                                                \
			 rn_site_is_for_tool((uintptr_t)__builtin_return_address(0), number) \
		 ? rn_tool.name                                                              \
		 : rn_real.name)

/* Makes a call of which at most the outcome is recorded. */
#define RN_LIGHTLY(number, name, args)                                                        \
	do {                                                                                  \
		uint64_t *rn_light_base;                                                      \
		if (rn_light[number] == RN_LIGHT_STRAIGHT ||                                  \
		    !(rn_light_base = rn_light_begin(t, number, __builtin_frame_address(0)))) \
			return rn_real.name args;                                             \
		__auto_type rn_light_ret = rn_next[RN_LINK_TRACE].name args;                  \
		rn_light_end(t, rn_light_base);                                               \
		return rn_light_ret;                                                          \
	} while (0)

#define RN_GATE(number, name, args)                                                               \
	struct rn_stream *t = rn_me;                                                              \
	if (RN_UNLIKELY(!t) && !(t = rn_stream_begin()))                                          \
		return RN_ON(number, name) args;                                                  \
	const enum rn_site rn_way = rn_site((uintptr_t)__builtin_return_address(0), number);      \
	if (RN_UNLIKELY(rn_way != RN_SITE_RECORDS)) {                                             \
		if (rn_way == RN_SITE_LIGHT)                                                      \
			RN_LIGHTLY(number, name, args);                                           \
		return RN_ON(number, name) args;                                                  \
	}                                                                                         \
	if (RN_UNLIKELY(t->top != t->buffer) && !rn_stream_nested(t, __builtin_frame_address(0))) \
		return RN_ON(number, name) args;

/* First word of a call. With call sites, the predicted first word is never a bare function
 * number. */
#define RN_HEAD(number) rn_callstack_head(t, number, __builtin_frame_address(0))

/* Used after RN_GATE and before the tracer does any work for the call. */
#define RN_BUSY() uint64_t *const rn_base = rn_stream_enter(t);

#define RN_START(number)                                      \
	struct rn_sig *const rn_expected = t->expected;       \
	uint64_t *w = rn_base;                                \
	const uint64_t *rn_p = rn_expected->w;                \
	uint64_t rn_first = (number), rn_t0, rn_t1;           \
	uint64_t diff = *rn_p ^ rn_first;                     \
	uint32_t rn_comm = 0, rn_wild = 0;                    \
	(void)rn_comm;                                        \
	(void)rn_wild;                                        \
	if (RN_UNLIKELY(diff != 0)) {                         \
		rn_first = RN_HEAD(number);                   \
		diff = *rn_p ^ rn_first;                      \
	}                                                     \
	rn_p = RN_LIKELY(diff == 0) ? rn_p + 1 : rn_no_words; \
	*w++ = rn_first;

/* Puts the call whose words are base..w in flight. The journal has its words, or the id of its
 * signature. `bit`: RN_LIVE_GIVEN or 0. */
#define RN_UNDER_WAY(base, w, bit)                                 \
	((w)[0] = (uint64_t)(uintptr_t)__builtin_frame_address(0), \
	 (w)[1] = (uint64_t)(uintptr_t)(base),                     \
	 t->live.top = (uint64_t)(uintptr_t)((w) + 2) + (bit), rn_stream_leave(t, (w) + 2))

#define RN_ENTERED(t0) (t->live.entered = t->entered = (t0))

/* Makes the call. The words known before it end at `given`. */
#define RN_CALL_GIVEN(given, bit, ret, call)          \
	uint64_t *const rn_given = given;             \
	if (RN_UNLIKELY(diff != 0))                   \
		rn_stream_show(t, rn_base, rn_given); \
	rn_t0 = rn_clock_now();                       \
	RN_ENTERED(rn_t0);                            \
	RN_UNDER_WAY(rn_base, rn_given, bit);         \
	ret rn_ret = call;                            \
	t->top = NULL;                                \
	__atomic_signal_fence(__ATOMIC_SEQ_CST);      \
	rn_t1 = rn_clock_now();

#define RN_CALL(ret, call) RN_CALL_GIVEN(w, 0, ret, call)

#define RN_END() \
	rn_stream_call(t, RN_LIKELY(diff == 0) ? rn_expected : NULL, rn_base, w, rn_t0, rn_t1)

#define WRAP_BEGIN(name, ret, number, decl, args) \
	RN_EXPORT ret name decl                   \
	{                                         \
		RN_GATE(number, name, args)       \
		enum { RN_FUNCTION = number };    \
		RN_BUSY()                         \
		RN_START(number)

#define WRAP_CALL(name, ret, args)                     \
	RN_CALL(ret, rn_next[RN_LINK_TRACE].name args) \
	const bool rn_ok = rn_ret == MPI_SUCCESS;      \
	(void)rn_ok;

/* Functions that do not return an error code cannot fail. Times, addresses and Fortran handles are
 * not recorded; the resolution of the clock is recorded. */
#define WRAP_CALL_VALUE(name, ret, args) RN_CALL(ret, rn_next[RN_LINK_TRACE].name args)

#define WRAP_ALIAS(name) \
	extern __typeof__(name) P##name __attribute__((alias(#name), visibility("default")));

/* `append` appends the call to the stream. */
#define RN_WRAP_END(name, result, append) \
	W(result);                        \
	append;                           \
	rn_stream_leave(t, rn_base);      \
	return rn_ret;                    \
	}                                 \
	WRAP_ALIAS(name)

#define WRAP_END_errcode(name, ...) RN_WRAP_END(name, rn_error_word(rn_ret), RN_END())
#define WRAP_END_hidden(name, ...)  RN_WRAP_END(name, 0, RN_END())
#define WRAP_END_seconds(name, ...) RN_WRAP_END(name, rn_double_word(rn_ret), RN_END())

static inline uint64_t rn_double_word(double v)
{
	uint64_t word;

	memcpy(&word, &v, sizeof(word));
	return word;
}

#define RN_END_REQUEST()                                                                  \
	do {                                                                              \
		struct rn_sig *rn_s = RN_END();                                           \
		if (RN_LIKELY(rn_ok && rn_s))                                             \
			rn_request_born(t, rn_s, H(*request), request, rn_comm, rn_wild); \
	} while (0)
#define WRAP_END_REQUEST(name, ...) RN_WRAP_END(name, rn_error_word(rn_ret), RN_END_REQUEST())

/* ---- integers ---- */

#define IN_int(x) W((int64_t)(x))
#define IN_rank(x)                                \
	do {                                      \
		W((int64_t)(x));                  \
		rn_wild |= (x) == MPI_ANY_SOURCE; \
	} while (0)
#define IN_tag(x)                              \
	do {                                   \
		W((int64_t)(x));               \
		rn_wild |= (x) == MPI_ANY_TAG; \
	} while (0)
/* Saves the value of a length that the call may change. */
#define HAD(x)     const int64_t rn_had_##x = (x) ? (int64_t) * (x) : 0;
#define REF_int(x) W((x) ? (uint64_t)(int64_t) * (x) : RN_RAW_NULL)
/* A word that is known after the call, unless the pointer x is NULL. */
#define RN_OUT(x, cond, word) W(!rn_ok || !(cond) ? RN_RAW_UNSET : (x) ? (word) : RN_RAW_NULL)
#define OUT_int(x, cond)      RN_OUT(x, cond, (uint64_t)(int64_t) * (x))

/* ---- arrays ---- */

/* `element` writes element rn_i with W. Arrays of more than RN_RAW_FEW elements are stored as a
 * blob. While the blob is written, its words are compared with themselves. */
#define RN_ARRAY(a, len, cond, each, element)                                                      \
	do {                                                                                       \
		int64_t rn_n = 0;                                                                  \
		if (!(cond)) {                                                                     \
			HEAD((uint64_t)RN_WORD_nothing << 2 | RN_RAW_NAMED);                       \
		} else if (!(a)) {                                                                 \
			HEAD((uint64_t)RN_WORD_NULL << 2 | RN_RAW_NAMED);                          \
		} else if ((rn_n = (int64_t)(len)) <= RN_RAW_FEW) {                                \
			rn_n = rn_n < 0 ? 0 : rn_n;                                                \
			HEAD((uint64_t)rn_n << 2 | RN_RAW_HERE);                                   \
			for (int64_t rn_i = 0; rn_i < rn_n; rn_i++)                                \
				element;                                                           \
		} else {                                                                           \
			uint64_t *rn_w = w, rn_diff = diff, rn_id;                                 \
			const uint64_t *rn_old = rn_p;                                             \
			uint64_t *rn_all = rn_stream_room(t, a, (size_t)rn_n, sizeof(*(a)), each); \
			w = rn_all;                                                                \
			rn_p = w;                                                                  \
			for (int64_t rn_i = 0; w && rn_i < rn_n; rn_i++)                           \
				element;                                                           \
			rn_id = rn_all ? rn_stream_blob(t, rn_all, (size_t)(w - rn_all))           \
				       : RN_RAW_UNSET;                                             \
			w = rn_w;                                                                  \
			rn_p = rn_old;                                                             \
			diff = rn_diff;                                                            \
			if (rn_id == RN_RAW_UNSET) {                                               \
				HEAD((uint64_t)RN_WORD_unset << 2 | RN_RAW_NAMED);                 \
			} else {                                                                   \
				HEAD((uint64_t)rn_n << 2 | RN_RAW_BLOB);                           \
				W(rn_id);                                                          \
			}                                                                          \
		}                                                                                  \
	} while (0)

/* An array that the call has written. */
#define RN_OUT_ARRAY(a, len, cond, each, element)                          \
	do {                                                               \
		if (!rn_ok)                                                \
			HEAD((uint64_t)RN_WORD_unset << 2 | RN_RAW_NAMED); \
		else                                                       \
			RN_ARRAY(a, len, cond, each, element);             \
	} while (0)

#define INV_int(a, len, cond)  RN_ARRAY(a, len, cond, 1, W((int64_t)(a)[rn_i]))
#define REFV_int(a, len, cond) INV_int(a, len, cond)
#define OUTV_int(a, len, cond) RN_OUT_ARRAY(a, len, cond, 1, W((int64_t)(a)[rn_i]))

/* Pointers that are named constants and do not point to an array. */
#define RN_SENTINEL(kind, a, otherwise)                                              \
	do {                                                                         \
		int64_t rn_word = rn_constant(RN_K_##kind, (int64_t)(uintptr_t)(a)); \
		if (rn_word >= 0)                                                    \
			HEAD((uint64_t)rn_word << 2 | RN_RAW_NAMED);                 \
		else                                                                 \
			otherwise;                                                   \
	} while (0)

#define OUTV_errcode(a, len, cond) RN_SENTINEL(errcodes, a, OUTV_int(a, len, cond))
#define INV_range(a, len, cond)           \
	RN_ARRAY(a, len, cond, 3, {       \
		W((int64_t)(a)[rn_i][0]); \
		W((int64_t)(a)[rn_i][1]); \
		W((int64_t)(a)[rn_i][2]); \
	})
#define INV_weight(a, len, cond)  RN_SENTINEL(weight, a, INV_int(a, len, cond))
#define OUTV_weight(a, len, cond) RN_SENTINEL(weight, a, OUTV_int(a, len, cond))

/* ---- handles ---- */

#define RN_HANDLE(kind, x) rn_handle_word(t, RN_K_##kind, H(x))

#define IN_comm(x)                                     \
	do {                                           \
		uint64_t rn_word = RN_HANDLE(comm, x); \
		if (!rn_comm)                          \
			rn_comm = (uint32_t)rn_word;   \
		W(rn_word);                            \
	} while (0)

/* If the parameter may be insignificant, only a handle that the tracer knows is converted: any
 * other value may not be a handle. */
#define IN_handle_if(kind, x, cond)                                                        \
	do {                                                                               \
		const struct rn_handle_cache *rn_c = rn_handle_kept(t, RN_K_##kind, H(x)); \
		W(rn_handle_fresh(rn_c, RN_K_##kind, H(x))       ? rn_c->word              \
		  : rn_handle_known(RN_K_##kind, H(x)) || (cond) ? RN_HANDLE(kind, x)      \
								 : RN_RAW_NOTHING);        \
	} while (0)
#define IN_handle(kind, x)             W(RN_HANDLE(kind, x))
#define REF_type(x)                    W((x) ? RN_HANDLE(type, *(x)) : RN_RAW_NULL)
#define INV_handle(kind, a, len, cond) RN_ARRAY(a, len, cond, 1, IN_handle(kind, (a)[rn_i]))

/* Handles of existing objects that the call returns. An object that is not known is numbered
 * now. */
#define OUT_type(x, cond)       RN_OUT(x, cond, rn_handle_again(RN_K_type, H(*(x))))
#define OUT_comm(x, cond)       RN_OUT(x, cond, RN_HANDLE(comm, *(x)))
#define OUT_errhandler(x, cond) RN_OUT(x, cond, rn_handle_again(RN_K_errhandler, H(*(x))))
#define OUT_enum(x, cond)       RN_OUT(x, cond, RN_HANDLE(enum, *(x)))
#define OUTV_type(a, len, cond) \
	RN_OUT_ARRAY(a, len, cond, 1, W(rn_handle_again(RN_K_type, H((a)[rn_i]))))

#define NEW_handle(kind, x, cond) RN_OUT(x, cond, rn_handle_new(RN_K_##kind, H(*(x)), rn_comm))

#define BEFORE_comm(parent, by) \
	struct rn_comm_birth rn_birth = rn_comm_birth(t, RN_FUNCTION, parent, (uint64_t)(by));
#define NEW_comm(x, cond, parent) W(!rn_ok || !(cond) ? RN_RAW_UNSET : rn_comm_new(&rn_birth, *(x)))

/* The communicator's word is read before the call: attribute delete functions may use it during the
 * call, and the call may fail. */
#define FREE_comm(x)                                                                             \
	const uint64_t rn_ends = (x) ? H(*(x)) : 0;                                              \
	const uint64_t rn_ends_word = (x) ? rn_handle_word(t, RN_K_comm, rn_ends) : RN_RAW_NULL; \
	W(rn_ends_word)
#define GONE_comm() \
	if (rn_ok)  \
	rn_comm_gone(rn_ends, rn_ends_word)
/* Reads the handle through its address, which may be NULL in a call that fails. */
#define FREE_handle(kind, x) W((x) ? rn_handle_free(t, RN_K_##kind, H(*(x))) : RN_RAW_NULL)
#define FREE_win(x)                              \
	do {                                     \
		if (x)                           \
			rn_place_win_ends(*(x)); \
		FREE_handle(win, x);             \
	} while (0)
#define FREE_eventreg(x) W(rn_handle_free(t, RN_K_eventreg, H(x)))
#define FREE_message(x)                                      \
	do {                                                 \
		FREE_handle(message, x);                     \
		rn_comm = (x) ? (uint32_t)(w[-1] >> 32) : 0; \
	} while (0)

/* ---- memory ---- */

#define RN_PLACE(kind, x)                                                                        \
	do {                                                                                     \
		struct rn_place_words rn_pl = rn_place_words(t, RN_K_##kind, (const void *)(x)); \
		W(rn_pl.head);                                                                   \
		W(rn_pl.disp);                                                                   \
	} while (0)

#define IN_buffer(x)           RN_PLACE(buffer, x)
#define IN_pointer(x)          RN_PLACE(pointer, x)
#define IN_func(x)             RN_PLACE(func, (uintptr_t)(x))
#define IN_function(kind, x)   RN_PLACE(kind, (uintptr_t)(x))
#define IN_attr(x)             RN_PLACE(attr, x)
#define IN_disp(x)             RN_PLACE(disp, (uintptr_t)(x))
#define INV_disp(a, len, cond) RN_ARRAY(a, len, cond, 2, IN_disp((a)[rn_i]))

#define RN_NO_PLACE(why) \
	do {             \
		W(why);  \
		W(0);    \
	} while (0)
#define RN_OUT_PLACE(kind, x, cond)                \
	do {                                       \
		if (rn_ok && (cond))               \
			RN_PLACE(kind, x);         \
		else                               \
			RN_NO_PLACE(RN_RAW_UNSET); \
	} while (0)
#define OUT_disp(x, cond) RN_OUT_PLACE(disp, (uintptr_t) * (x), cond)
/* Memory that MPI allocated. It is identified by its allocation, whatever its address is. If the
 * size is 0, the address may be anything. */
#define NEW_bufptr(x, cond)                                                       \
	do {                                                                      \
		if (rn_ok)                                                        \
			rn_place_given(RN_FUNCTION, *(void **)(x), (size_t)size); \
		if (rn_ok && size == 0)                                           \
			RN_NO_PLACE(RN_RAW_NOTHING);                              \
		else                                                              \
			RN_OUT_PLACE(bufptr, *(void **)(x), cond);                \
	} while (0)
#define FREE_buffer(x)                 \
	do {                           \
		RN_PLACE(buffer, x);   \
		rn_mem_region_drop(x); \
	} while (0)
#define OUT_bufptr(x, cond)     RN_OUT_PLACE(bufptr, *(void **)(x), cond)
#define OUT_attr(x, cond)       RN_OUT_PLACE(attr, *(void **)(x), cond)
#define OUTV_disp(a, len, cond) RN_OUT_ARRAY(a, len, cond, 2, IN_disp((a)[rn_i]))

/* ---- strings ---- */

#define RN_TEXT(s)          rn_stream_text(t, s, (s) ? strlen(s) : 0)
#define IN_string(x, cond)  W((cond) ? RN_TEXT(x) : RN_RAW_NOTHING)
#define OUT_string(x, cond) W(!rn_ok || !(cond) ? RN_RAW_UNSET : RN_TEXT(x))
#define OUTV_string(x, len, cond) \
	W(!rn_ok || !(cond) ? RN_RAW_UNSET : rn_stream_text(t, x, strnlen(x, (size_t)(len))))

#define RN_TEXTS(a, len, cond)    RN_ARRAY(a, len, cond, 1, W(RN_TEXT((a)[rn_i])))
#define IN_strings(a, cond)       RN_SENTINEL(strings, a, RN_TEXTS(a, rn_count_texts(a), cond))
#define INV_strings(a, len, cond) RN_TEXTS(a, len, cond)
#define RN_TEXTS_OF(a)            RN_TEXTS(a, rn_count_texts(a), 1)
#define INV_argvs(a, len, cond)                                                                  \
	RN_SENTINEL(                                                                             \
		argvs, a, do {                                                                   \
			const int rn_lists = !(cond) || (len) < 0 ? 0 : (len);                   \
			if (!(cond) || rn_lists > RN_RAW_FEW) {                                  \
				HEAD((uint64_t)((cond) ? RN_WORD_unset : RN_WORD_nothing) << 2 | \
				     RN_RAW_NAMED);                                              \
				break;                                                           \
			}                                                                        \
			HEAD((uint64_t)rn_lists << 2 | RN_RAW_HERE);                             \
			for (int rn_list = 0; rn_list < rn_lists; rn_list++)                     \
				RN_TEXTS_OF((a)[rn_list]);                                       \
		} while (0))
#define INV_argv(a, len, cond) RN_TEXTS(a, len, cond)

static inline int rn_count_texts(char *const *a)
{
	int n = 0;

	while (a && a[n])
		n++;
	return n;
}

/* ---- statuses and requests ---- */

/* For receives: if the program ignores the status, the wrapper passes its own, so that the match is
 * recorded. */
#define BEFORE_matched(x)                                 \
	MPI_Status rn_own;                                \
	const bool rn_ignored = (x) == MPI_STATUS_IGNORE; \
	MPI_Status *const rn_status = rn_ignored ? &rn_own : (x);

#define OUT_matched(x, cond)                                                 \
	do {                                                                 \
		if (!rn_ok || !(cond)) {                                     \
			HEAD(rn_ignored ? RN_STATUS_NOTHING : RN_RAW_UNSET); \
		} else if (rn_ignored) {                                     \
			HEAD((uint64_t)rn_comm << 8 | RN_STATUS_MATCHED);    \
			W((int64_t)rn_status->MPI_SOURCE);                   \
			W((int64_t)rn_status->MPI_TAG);                      \
		} else {                                                     \
			HEAD((uint64_t)rn_comm << 8 | RN_STATUS_FULL);       \
			RN_STATUS_FIELDS(rn_status);                         \
		}                                                            \
	} while (0)

/* The status of a receive or a probe. Such a call cannot be cancelled, and MPI leaves the field
 * unset in some of them. The error is that of the operation, which succeeded: MPI sets the field
 * only in calls that complete several requests. */
#define RN_STATUS_FIELDS(s)                  \
	do {                                 \
		W((int64_t)(s)->MPI_SOURCE); \
		W((int64_t)(s)->MPI_TAG);    \
		W(0);                        \
		W(rn_status_count(s));       \
		W(0);                        \
	} while (0)

/* The status of a file operation, or of a function that reads or sets one field. `field` is the
 * field that the function defines or reads: count, cancelled or nothing (api/mpi.api). */
enum rn_status_field { RN_FIELD_nothing, RN_FIELD_count, RN_FIELD_cancelled };
#define RN_STATUS_FIELD(s, field)                                                         \
	do {                                                                              \
		HEAD(RN_STATUS_FULL);                                                     \
		W(RN_RAW_NOTHING);                                                        \
		W(RN_RAW_NOTHING);                                                        \
		W(RN_RAW_NOTHING);                                                        \
		W(field == RN_FIELD_count ? rn_status_count(s) : RN_RAW_NOTHING);         \
		W(field == RN_FIELD_cancelled ? rn_status_cancelled(s) : RN_RAW_NOTHING); \
	} while (0)
#define RN_ANY_STATUS(x, cond, field)                         \
	do {                                                  \
		if ((x) == MPI_STATUS_IGNORE)                 \
			HEAD(RN_STATUS_NOTHING);              \
		else if (!(x))                                \
			HEAD(RN_RAW_NULL);                    \
		else if (!(cond))                             \
			HEAD(RN_RAW_UNSET);                   \
		else                                          \
			RN_STATUS_FIELD(x, RN_FIELD_##field); \
	} while (0)
#define IN_status(x, field)        RN_ANY_STATUS(x, 1, field)
#define REF_status(x, field)       RN_ANY_STATUS(x, 1, nothing)
#define OUT_status(x, cond, field) RN_ANY_STATUS(x, rn_ok && (cond), field)

#define NEW_request(x, cond) W(!rn_ok ? RN_RAW_UNSET : *(x) == MPI_REQUEST_NULL ? 0 : 2)
#define IN_request(x)        W(rn_request_word(t, H(x), NULL))
#define REF_request(x)       W((x) ? rn_request_word(t, H(*(x)), x) : RN_RAW_NULL)
#define REFV_request(a, len, cond) \
	RN_ARRAY(a, len, cond, 1, W(rn_request_word(t, H((a)[rn_i]), &(a)[rn_i])))
#define DONE_request(x) W((x) ? rn_request_free(t, rn_base, H(*(x)), x) : RN_RAW_NULL)

#endif
