/*
 * wrap_completion.c - hand-written wrappers for the Wait and Test families.
 *
 * The call words of these functions contain the completed requests, which are known only after the
 * call. The words are therefore written twice: before the call, so that the journal shows the
 * requests of a blocked call, and again after it. A status refers to the communicator of its
 * request. If the program ignores statuses and one of the requests is a wildcard receive, the
 * wrapper passes its own statuses, to record the matches.
 */
#include "trace/wrapper_macros.h"

#include <string.h>

#include "hand.h"

#define FEW RN_RAW_FEW

#define GIVEN_MAX (RN_CALL_WORDS / 2) /* maximum number of requests shown for a call in flight */

/* The requests of one call. */
struct wait {
	struct rn_stream *t;
	uint32_t n;
	MPI_Request *q;
	struct rn_request_use *use, few[FEW];
	uint64_t *word, word_few[FEW + 1]; /* one extra, because they are copied in pairs */
	MPI_Status *own, own_few[FEW];     /* the wrapper's own statuses; used if `wanted` */
	bool ignored, wanted;
	uint64_t *heap, *scratch; /* for more than FEW requests: words of other blobs; and the whole
				     buffer */
	size_t scratch_words;
};

static bool wildcards(const struct wait *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->use[i].kind == RN_REQUEST_WILDCARD)
			return true;
	return false;
}

/* Allocates memory for many requests: their data, 7 words of blobs for each, and statuses. It is
 * the stream's scratch buffer, which is detached during the call, because nested calls may need one
 * too. */
static bool make_room(struct wait *x, struct rn_stream *t)
{
	size_t bytes = x->n * (sizeof(*x->use) + 8 * sizeof(uint64_t) + sizeof(*x->own));

	x->scratch = rn_stream_scratch(t, bytes / sizeof(uint64_t) + 1);
	if (!x->scratch)
		return false;
	x->scratch_words = t->scratch_words;
	t->scratch = NULL;
	t->scratch_words = 0;
	x->use = (struct rn_request_use *)(void *)x->scratch;
	x->word = (uint64_t *)(void *)(x->use + x->n);
	x->heap = x->word + x->n;
	x->own = (MPI_Status *)(void *)(x->heap + x->n * (size_t)7);
	return true;
}

static bool is_ignored(const MPI_Status *s)
{
	return s == MPI_STATUS_IGNORE || s == MPI_STATUSES_IGNORE;
}

/* Finds the requests before the call. False if out of memory: the call is then made and counted as
 * lost. */
static bool look(struct wait *x, struct rn_stream *t, int n, MPI_Request *q, bool ignored)
{
	x->t = t;
	x->n = n > 0 && q ? (uint32_t)n : 0;
	x->q = q;
	x->use = x->few;
	x->word = x->word_few;
	x->word[0] = RN_RAW_NULL; /* MPI_Wait(NULL), which fails */
	x->own = x->own_few;
	x->ignored = ignored;
	x->heap = x->scratch = NULL;
	if (x->n > FEW && !make_room(x, t))
		return false;
	rn_request_look(t, x->n, q, x->use, x->word);
	x->wanted = ignored && wildcards(x);
	return true;
}

static MPI_Status *statuses(struct wait *x, MPI_Status *given)
{
	return x->wanted ? x->own : given;
}

/* Returns the scratch buffer to the stream. */
static void leave(struct wait *x)
{
	if (x->scratch)
		rn_stream_scratch_back(x->t, x->scratch, x->scratch_words);
}

/* Position of the caller's w and p while it writes an array of requests, or one request. */
struct pen {
	uint64_t *w, diff;
	const uint64_t *p;
};

static void put(struct pen *pen, uint64_t x)
{
	pen->diff |= x ^ *pen->p++;
	*pen->w++ = x;
}

static void put_head(struct pen *pen, uint64_t x)
{
	if (x != *pen->p) {
		pen->diff = 1;
		pen->p = rn_no_words;
	} else {
		pen->p++;
	}
	*pen->w++ = x;
}

/* Writes an array of n elements whose words are too many for the call. */
static void put_blob(struct pen *pen, const struct wait *x, uint32_t n, const uint64_t *words,
		     size_t len)
{
	uint64_t id = rn_stream_blob(x->t, words, len);

	if (id == RN_RAW_UNSET) {
		put_head(pen, (uint64_t)RN_WORD_unset << 2 | RN_RAW_NAMED);
	} else {
		put_head(pen, (uint64_t)n << 2 | RN_RAW_BLOB);
		put(pen, id);
	}
}

/* Writes the requests before the call, after w. Returns the end of the words. The words are also
 * stored in the journal as those of the only call in flight. If it is nested, all words are stored
 * again (RN_CALL_GIVEN). */
static uint64_t *give_one(const struct wait *x, uint64_t *w)
{
	x->t->words_in_file[1] = *w = x->word[0];
	return w + 1;
}

/* Two words that are copied at once. */
struct pair {
	uint64_t word[2];
};

static uint64_t *give_all(const struct wait *x, int count, uint64_t *w)
{
	uint64_t *file = x->t->words_in_file + 1;

	file[0] = w[0] = (uint64_t)(int64_t)count;
	if (x->n > GIVEN_MAX) {
		file[1] = w[1] = (uint64_t)RN_WORD_unset << 2 | RN_RAW_NAMED;
		return w + 2;
	}
	file[1] = w[1] = (uint64_t)x->n << 2 | RN_RAW_HERE;
	for (uint32_t i = 0; i < x->n; i += 2) {
		struct pair p;

		memcpy(&p, x->word + i, sizeof(p));
		memcpy(w + 2 + i, &p, sizeof(p));
		memcpy(file + 2 + i, &p, sizeof(p));
	}
	return w + 2 + x->n;
}

static void put_requests(struct pen *pen, struct wait *x, int count)
{
	put(pen, (uint64_t)(int64_t)count);
	if (x->n <= FEW) {
		put_head(pen, (uint64_t)x->n << 2 | RN_RAW_HERE);
		for (uint32_t i = 0; i < x->n; i++)
			put(pen, x->word[i]);
		return;
	}
	put_blob(pen, x, x->n, x->word, x->n);
}

/* Fields of a status, except the error field, which MPI defines only in calls that return
 * MPI_ERR_IN_STATUS. */
enum { HAS_ENVELOPE = 1, HAS_COUNT = 2, HAS_CANCELLED = 4, HAS_ALL = 7 };

/* The fields that MPI defines for request i, by its kind. A null request has an empty status, in
 * which all fields are defined. Collective and one-sided operations define no fields. */
static unsigned request_fields(const struct wait *x, uint32_t i)
{
	static const uint8_t fields[] = {
		[RN_REQUEST_OTHER] = 0,         [RN_REQUEST_SEND] = HAS_CANCELLED,
		[RN_REQUEST_RECEIVE] = HAS_ALL, [RN_REQUEST_WILDCARD] = HAS_ALL,
		[RN_REQUEST_FILE] = HAS_COUNT,  [RN_REQUEST_GENERALIZED] = HAS_ALL,
	};

	if (i >= x->n || x->word[i] == 0)
		return HAS_ALL;
	return x->word[i] > 1 ? fields[x->use[i].kind] : 0;
}

/* The fields that are defined after the call: for a cancelled operation only HAS_CANCELLED, for a
 * failed receive only its envelope. */
static unsigned status_fields(const struct wait *x, uint32_t i, const MPI_Status *s, bool errors)
{
	unsigned fields = request_fields(x, i);

	if (errors && s->MPI_ERROR != MPI_SUCCESS)
		return s->MPI_ERROR == MPI_ERR_PENDING ? 0 : fields & HAS_ENVELOPE;
	if ((fields & HAS_CANCELLED) && rn_status_cancelled(s))
		return HAS_CANCELLED;
	return fields;
}

/* Writes the match of a wildcard receive whose status is ignored. */
static void put_ignored(struct pen *pen, const struct wait *x, uint32_t i, const MPI_Status *s)
{
	const struct rn_request_use *u = i < x->n ? &x->use[i] : NULL;

	if (!u || u->kind != RN_REQUEST_WILDCARD || !x->wanted || rn_status_cancelled(s)) {
		put_head(pen, RN_STATUS_NOTHING);
		return;
	}
	put_head(pen, (uint64_t)u->comm << 8 | RN_STATUS_MATCHED);
	put(pen, (uint64_t)(int64_t)s->MPI_SOURCE);
	put(pen, (uint64_t)(int64_t)s->MPI_TAG);
}

/* Writes the status of request i, without the fields that MPI leaves unset. */
static void put_status(struct pen *pen, const struct wait *x, uint32_t i, const MPI_Status *s,
		       bool errors)
{
	bool known = i < x->n && x->word[i] > 1;
	unsigned fields;

	if (x->ignored) {
		put_ignored(pen, x, i, s);
		return;
	}
	fields = status_fields(x, i, s, errors);
	put_head(pen, (uint64_t)(known ? x->use[i].comm : 0) << 8 | RN_STATUS_FULL);
	put(pen, fields & HAS_ENVELOPE ? (uint64_t)(int64_t)s->MPI_SOURCE : RN_RAW_NOTHING);
	put(pen, fields & HAS_ENVELOPE ? (uint64_t)(int64_t)s->MPI_TAG : RN_RAW_NOTHING);
	put(pen, errors ? rn_error_word(s->MPI_ERROR) : fields & HAS_ENVELOPE ? 0 : RN_RAW_NOTHING);
	put(pen, fields & HAS_COUNT ? rn_status_count(s) : RN_RAW_NOTHING);
	put(pen, fields & HAS_CANCELLED ? rn_status_cancelled(s) : RN_RAW_NOTHING);
}

static uint64_t statuses_ignored(void)
{
	static uint64_t head; /* looked up once; several threads compute the same value */

	if (!head)
		head = (uint64_t)rn_constant(RN_K_statusesptr,
					     (int64_t)(uintptr_t)MPI_STATUSES_IGNORE)
			       << 2 |
		       RN_RAW_NAMED;
	return head;
}

static void put_no_statuses(struct pen *pen, const struct wait *x)
{
	put_head(pen,
		 x->ignored ? statuses_ignored() : (uint64_t)RN_WORD_unset << 2 | RN_RAW_NAMED);
}

static void put_status_blob(struct pen *pen, struct wait *x, uint32_t n, const int *which,
			    const MPI_Status *s, bool errors)
{
	uint64_t *words = x->heap;
	struct pen blob = { .w = words };

	for (uint32_t k = 0; k < n; k++) {
		blob.p = rn_no_words; /* not compared: the blob is found by its hash */
		put_status(&blob, x, which ? (uint32_t)which[k] : k, &s[k], errors);
	}
	put_blob(pen, x, n, words, (size_t)(blob.w - words));
}

/* Writes the statuses of n requests: request which[k], or k if `which` is NULL. */
static void put_statuses(struct pen *pen, struct wait *x, uint32_t n, const int *which,
			 const MPI_Status *s, int ret)
{
	bool errors = ret == MPI_ERR_IN_STATUS;

	if ((x->ignored && !x->wanted) || (ret != MPI_SUCCESS && !errors)) {
		put_no_statuses(pen, x);
	} else if (n > FEW) {
		put_status_blob(pen, x, n, which, s, errors);
	} else {
		put_head(pen, (uint64_t)n << 2 | RN_RAW_HERE);
		for (uint32_t k = 0; k < n; k++)
			put_status(pen, x, which ? (uint32_t)which[k] : k, &s[k], errors);
	}
}

/* ---- words of each function after the call ---- */

/* Writes the status of the completed request, if there is one. */
static inline void put_one_status(struct pen *pen, struct wait *x, bool done, int index,
				  const MPI_Status *s)
{
	if (!done)
		put_head(pen, x->ignored ? RN_STATUS_NOTHING : RN_RAW_UNSET);
	else
		put_status(pen, x, index == MPI_UNDEFINED ? UINT32_MAX : (uint32_t)index, s, false);
}

/* In the following functions, `tests` is constant: whether the call has a flag. */
#define INLINE static inline __attribute__((always_inline))

INLINE void put_one(struct pen *pen, struct wait *x, int ret, bool tests, const int *flag,
		    const MPI_Status *s)
{
	bool ok = ret == MPI_SUCCESS;

	put(pen, x->word[0]);
	if (tests)
		put(pen, ok ? (uint64_t)*flag : RN_RAW_UNSET);
	put_one_status(pen, x, ok && (!tests || *flag), 0, s);
}

INLINE void put_all(struct pen *pen, struct wait *x, int count, int ret, bool tests,
		    const int *flag, const MPI_Status *s)
{
	bool ok = ret == MPI_SUCCESS;

	put_requests(pen, x, count);
	if (tests)
		put(pen, ok ? (uint64_t)*flag : RN_RAW_UNSET);
	if (tests && ok && !*flag)
		put_no_statuses(pen, x);
	else
		put_statuses(pen, x, x->n, NULL, s, ret);
}

INLINE void put_any(struct pen *pen, struct wait *x, int count, int ret, const int *index,
		    bool tests, const int *flag, const MPI_Status *s)
{
	bool ok = ret == MPI_SUCCESS;

	put_requests(pen, x, count);
	put(pen, ok ? (uint64_t)(int64_t)*index : RN_RAW_UNSET);
	if (tests)
		put(pen, ok ? (uint64_t)*flag : RN_RAW_UNSET);
	put_one_status(pen, x, ok && (!tests || *flag), ok ? *index : 0, s);
}

static void put_indices(struct pen *pen, struct wait *x, uint32_t n, const int *indices)
{
	uint64_t *words = x->heap;

	if (n <= FEW) {
		put_head(pen, (uint64_t)n << 2 | RN_RAW_HERE);
		for (uint32_t k = 0; k < n; k++)
			put(pen, (uint64_t)indices[k]);
		return;
	}
	for (uint32_t k = 0; k < n; k++)
		words[k] = (uint64_t)indices[k];
	put_blob(pen, x, n, words, n);
}

static void put_some(struct pen *pen, struct wait *x, int count, int ret, const int *outcount,
		     const int *indices, const MPI_Status *s)
{
	bool ok = ret == MPI_SUCCESS || ret == MPI_ERR_IN_STATUS;
	uint32_t n = ok && *outcount > 0 ? (uint32_t)*outcount : 0;

	put_requests(pen, x, count);
	put(pen, ok ? (uint64_t)(int64_t)*outcount : RN_RAW_UNSET);
	put_indices(pen, x, n, indices);
	put_statuses(pen, x, n, indices, s, ret);
}

/* ---- wrappers ---- */

/* st is the parameter that is a status or an array of statuses. s is the same, or the wrapper's own
 * statuses. `given` writes the words known before the call, and `said` all words after it. */
#define COMPLETES(name, decl, args, count, requests, given, real, said)                    \
	RN_EXPORT int name decl                                                            \
	{                                                                                  \
		RN_GATE(RN_N_##name, name, args)                                           \
		RN_BUSY()                                                                  \
		struct wait x;                                                             \
		if (!look(&x, t, count, requests, is_ignored(st))) {                       \
			rn_stream_lost(t);                                                 \
			rn_stream_leave(t, rn_base);                                       \
			return rn_real.name args;                                          \
		}                                                                          \
		RN_START(RN_N_##name)                                                      \
		MPI_Status *const s = statuses(&x, st);                                    \
		RN_CALL_GIVEN(given, RN_LIVE_GIVEN, int, rn_next[RN_LINK_TRACE].name real) \
		struct pen pen = { w, diff, rn_p };                                        \
		rn_request_settle(t, rn_base, x.n, requests, x.use, x.word);               \
		said;                                                                      \
		put(&pen, rn_error_word(rn_ret));                                          \
		w = pen.w;                                                                 \
		diff = pen.diff;                                                           \
		leave(&x);                                                                 \
		RN_END();                                                                  \
		rn_stream_leave(t, rn_base);                                               \
		return rn_ret;                                                             \
	}                                                                                  \
	WRAP_ALIAS(name)

COMPLETES(MPI_Wait, (MPI_Request * q, MPI_Status *st), (q, st), 1, q, give_one(&x, w), (q, s),
	  put_one(&pen, &x, rn_ret, false, NULL, s))

COMPLETES(MPI_Test, (MPI_Request * q, int *flag, MPI_Status *st), (q, flag, st), 1, q,
	  give_one(&x, w), (q, flag, s), put_one(&pen, &x, rn_ret, true, flag, s))

/* Completes no request: q is a copy of the handle, and does not change. */
COMPLETES(MPI_Request_get_status, (MPI_Request q, int *flag, MPI_Status *st), (q, flag, st), 1, &q,
	  give_one(&x, w), (q, flag, s), put_one(&pen, &x, rn_ret, true, flag, s))

COMPLETES(MPI_Waitall, (int n, MPI_Request q[], MPI_Status st[]), (n, q, st), n, q,
	  give_all(&x, n, w), (n, q, s), put_all(&pen, &x, n, rn_ret, false, NULL, s))

COMPLETES(MPI_Testall, (int n, MPI_Request q[], int *flag, MPI_Status st[]), (n, q, flag, st), n, q,
	  give_all(&x, n, w), (n, q, flag, s), put_all(&pen, &x, n, rn_ret, true, flag, s))

COMPLETES(MPI_Waitany, (int n, MPI_Request q[], int *index, MPI_Status *st), (n, q, index, st), n,
	  q, give_all(&x, n, w), (n, q, index, s),
	  put_any(&pen, &x, n, rn_ret, index, false, NULL, s))

COMPLETES(MPI_Testany, (int n, MPI_Request q[], int *index, int *flag, MPI_Status *st),
	  (n, q, index, flag, st), n, q, give_all(&x, n, w), (n, q, index, flag, s),
	  put_any(&pen, &x, n, rn_ret, index, true, flag, s))

COMPLETES(MPI_Waitsome, (int n, MPI_Request q[], int *done, int which[], MPI_Status st[]),
	  (n, q, done, which, st), n, q, give_all(&x, n, w), (n, q, done, which, s),
	  put_some(&pen, &x, n, rn_ret, done, which, s))

COMPLETES(MPI_Testsome, (int n, MPI_Request q[], int *done, int which[], MPI_Status st[]),
	  (n, q, done, which, st), n, q, give_all(&x, n, w), (n, q, done, which, s),
	  put_some(&pen, &x, n, rn_ret, done, which, s))
