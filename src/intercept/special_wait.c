/*
 * special_wait.c - the calls that complete requests, by hand.
 *
 * Which requests are gone is known only after the call, but is part of what the call was given; so
 * their words are left open before it and written after it. Statuses are of the communicators that
 * the requests were made on. Where the program ignores them and a wildcard receive is among the
 * requests, statuses of our own tell what was received.
 */
#include "intercept/wrap.h"

#include <string.h>

#include "hand.h"

#define FEW RN_RAW_FEW

/* Everything about the requests of one call. */
struct wait {
	struct rn_stream *t;
	uint32_t n;
	MPI_Request *q;
	struct rn_request_use *use, few[FEW];
	MPI_Status *own, own_few[FEW]; /* ours, where the program's are ignored but wanted */
	bool ignored, wanted;
	uint64_t *heap, *scratch; /* for many: words of blobs; and all of it */
	size_t scratch_words;
};

static bool wildcards(const struct wait *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->use[i].r.flags & RN_REQ_WILDCARD)
			return true;
	return false;
}

/* Room for many requests: what is known of them, 8 words of blobs for each, statuses. It is the
 * stream's, which does without while the call lasts, for calls inside of it may need some too. */
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
	x->heap = (uint64_t *)(void *)(x->use + x->n);
	x->own = (MPI_Status *)(void *)(x->heap + x->n * (size_t)8);
	return true;
}

/* False when there is no memory: the call is then made, and counted as lost. */
static bool look(struct wait *x, struct rn_stream *t, int n, MPI_Request *q, bool ignored)
{
	x->t = t;
	x->n = n > 0 && q ? (uint32_t)n : 0;
	x->q = q;
	x->use = x->few;
	x->own = x->own_few;
	x->ignored = ignored;
	x->heap = x->scratch = NULL;
	if (x->n > FEW && !make_room(x, t))
		return false;
	rn_request_look(t, x->n, q, x->use);
	x->wanted = ignored && wildcards(x);
	return true;
}

static MPI_Status *statuses(struct wait *x, MPI_Status *given)
{
	return x->wanted ? x->own : given;
}

/* The room goes back. */
static void leave(struct wait *x)
{
	if (x->scratch)
		rn_stream_scratch_back(x->t, x->scratch, x->scratch_words);
}

/* w and p of the caller, moved along: an array of requests, or one. */
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

/* A list of n, whose words are too many for the call. */
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

static void put_requests(struct pen *pen, struct wait *x)
{
	uint64_t *words = x->heap;

	if (x->n <= FEW) {
		put_head(pen, (uint64_t)x->n << 2 | RN_RAW_HERE);
		for (uint32_t i = 0; i < x->n; i++)
			put(pen, x->use[i].word);
		return;
	}
	for (uint32_t i = 0; i < x->n; i++)
		words[i] = x->use[i].word;
	put_blob(pen, x, x->n, words, x->n);
}

/* A status of request i: what MPI says of a receive, and of others only what has a meaning. */
static void put_status(struct pen *pen, const struct wait *x, uint32_t i, const MPI_Status *s,
		       bool errors)
{
	const struct rn_request_use *u = i < x->n ? &x->use[i] : NULL;
	bool recv = u && (u->r.flags & RN_REQ_RECV);
	bool known = u && u->word > 1;

	if (x->ignored) {
		if (!recv || !(u->r.flags & RN_REQ_WILDCARD) || !x->wanted) {
			put_head(pen, RN_STATUS_NOTHING);
			return;
		}
		put_head(pen, (uint64_t)u->r.comm << 8 | RN_STATUS_MATCHED);
		put(pen, (uint64_t)(int64_t)s->MPI_SOURCE);
		put(pen, (uint64_t)(int64_t)s->MPI_TAG);
		return;
	}
	put_head(pen, (uint64_t)(known ? u->r.comm : 0) << 8 | RN_STATUS_FULL);
	put(pen, recv || !known ? (uint64_t)(int64_t)s->MPI_SOURCE : RN_RAW_UNSET);
	put(pen, recv || !known ? (uint64_t)(int64_t)s->MPI_TAG : RN_RAW_UNSET);
	put(pen, errors ? rn_error_word(s->MPI_ERROR) : 0);
	put(pen,
	    recv || !known || (u->r.flags & RN_REQ_COUNTED) ? rn_status_count(s) : RN_RAW_UNSET);
	put(pen, u && (u->r.flags & RN_REQ_COUNTED) ? 0 : rn_status_cancelled(s));
}

/* Statuses of n requests, which[k] or k the k-th one. */
static void put_statuses(struct pen *pen, struct wait *x, uint32_t n, const int *which,
			 const MPI_Status *s, bool errors)
{
	struct pen blob = { 0 };
	uint64_t *words = x->heap + x->n;

	if (x->ignored && !x->wanted) {
		put_head(pen, (uint64_t)rn_constant(RN_K_statusesptr,
						    (int64_t)(uintptr_t)MPI_STATUSES_IGNORE)
					      << 2 |
				      RN_RAW_NAMED);
		return;
	}
	if (n <= FEW) {
		put_head(pen, (uint64_t)n << 2 | RN_RAW_HERE);
		for (uint32_t k = 0; k < n; k++)
			put_status(pen, x, which ? (uint32_t)which[k] : k, &s[k], errors);
		return;
	}
	blob.w = words;
	for (uint32_t k = 0; k < n; k++) {
		blob.p = rn_no_words; /* nothing to compare with: the blob is found by its hash */
		put_status(&blob, x, which ? (uint32_t)which[k] : k, &s[k], errors);
	}
	put_blob(pen, x, n, words, (size_t)(blob.w - words));
}

#define PEN()   struct pen pen = { w, diff, rn_p }
#define UNPEN() (w = pen.w, diff = pen.diff, rn_p = pen.p, leave(&x))
#define NO_ROOM(real)              \
	do {                       \
		rn_stream_lost(t); \
		return real;       \
	} while (0)

RN_EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	RN_GATE(RN_N_MPI_Wait, MPI_Wait, (request, status))
	struct wait x;
	if (!look(&x, t, 1, request, status == MPI_STATUS_IGNORE))
		NO_ROOM(rn_real.MPI_Wait(request, status));
	RN_START(RN_N_MPI_Wait)
	MPI_Status *s = statuses(&x, status);
	RN_CALL(int, rn_real.MPI_Wait(request, s))
	const bool rn_ok = rn_ret == MPI_SUCCESS;
	PEN();

	rn_request_settle(t, 1, request, x.use);
	put(&pen, x.use->word);
	if (rn_ok)
		put_status(&pen, &x, 0, s, false);
	else
		put_head(&pen, RN_RAW_UNSET);
	put(&pen, rn_error_word(rn_ret));
	UNPEN();
	RN_END();
	return rn_ret;
}
WRAP_ALIAS(MPI_Wait)

RN_EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	RN_GATE(RN_N_MPI_Test, MPI_Test, (request, flag, status))
	struct wait x;
	if (!look(&x, t, 1, request, status == MPI_STATUS_IGNORE))
		NO_ROOM(rn_real.MPI_Test(request, flag, status));
	RN_START(RN_N_MPI_Test)
	MPI_Status *s = statuses(&x, status);
	RN_CALL(int, rn_real.MPI_Test(request, flag, s))
	const bool rn_ok = rn_ret == MPI_SUCCESS;
	PEN();

	rn_request_settle(t, 1, request, x.use);
	put(&pen, x.use->word);
	put(&pen, rn_ok ? (uint64_t)*flag : RN_RAW_UNSET);
	if (rn_ok && *flag)
		put_status(&pen, &x, 0, s, false);
	else
		put_head(&pen, x.ignored ? RN_STATUS_NOTHING : RN_RAW_UNSET);
	put(&pen, rn_error_word(rn_ret));
	UNPEN();
	RN_END();
	return rn_ret;
}
WRAP_ALIAS(MPI_Test)

/* Asks, and completes nothing. */
RN_EXPORT int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	RN_GATE(RN_N_MPI_Request_get_status, MPI_Request_get_status, (request, flag, status))
	struct wait x;
	if (!look(&x, t, 1, &request, status == MPI_STATUS_IGNORE))
		NO_ROOM(rn_real.MPI_Request_get_status(request, flag, status));
	RN_START(RN_N_MPI_Request_get_status)
	MPI_Status *s = statuses(&x, status);
	RN_CALL(int, rn_real.MPI_Request_get_status(request, flag, s))
	const bool rn_ok = rn_ret == MPI_SUCCESS;
	PEN();

	put(&pen, x.use->word);
	put(&pen, rn_ok ? (uint64_t)*flag : RN_RAW_UNSET);
	if (rn_ok && *flag)
		put_status(&pen, &x, 0, s, false);
	else
		put_head(&pen, x.ignored ? RN_STATUS_NOTHING : RN_RAW_UNSET);
	put(&pen, rn_error_word(rn_ret));
	UNPEN();
	RN_END();
	return rn_ret;
}
WRAP_ALIAS(MPI_Request_get_status)

RN_EXPORT int MPI_Waitall(int count, MPI_Request q[], MPI_Status st[])
{
	RN_GATE(RN_N_MPI_Waitall, MPI_Waitall, (count, q, st))
	struct wait x;
	if (!look(&x, t, count, q, st == MPI_STATUSES_IGNORE))
		NO_ROOM(rn_real.MPI_Waitall(count, q, st));
	RN_START(RN_N_MPI_Waitall)
	MPI_Status *s = statuses(&x, st);
	RN_CALL(int, rn_real.MPI_Waitall(count, q, s))
	const bool rn_ok = rn_ret == MPI_SUCCESS;
	PEN();

	rn_request_settle(t, x.n, q, x.use);
	put(&pen, (uint64_t)(int64_t)count);
	put_requests(&pen, &x);
	if (rn_ok || rn_ret == MPI_ERR_IN_STATUS || (x.ignored && !x.wanted))
		put_statuses(&pen, &x, x.n, NULL, s, rn_ret == MPI_ERR_IN_STATUS);
	else
		put_head(&pen, (uint64_t)RN_WORD_unset << 2 | RN_RAW_NAMED);
	put(&pen, rn_error_word(rn_ret));
	UNPEN();
	RN_END();
	return rn_ret;
}
WRAP_ALIAS(MPI_Waitall)

RN_EXPORT int MPI_Testall(int count, MPI_Request q[], int *flag, MPI_Status st[])
{
	RN_GATE(RN_N_MPI_Testall, MPI_Testall, (count, q, flag, st))
	struct wait x;
	if (!look(&x, t, count, q, st == MPI_STATUSES_IGNORE))
		NO_ROOM(rn_real.MPI_Testall(count, q, flag, st));
	RN_START(RN_N_MPI_Testall)
	MPI_Status *s = statuses(&x, st);
	RN_CALL(int, rn_real.MPI_Testall(count, q, flag, s))
	const bool rn_ok = rn_ret == MPI_SUCCESS;
	PEN();

	rn_request_settle(t, x.n, q, x.use);
	put(&pen, (uint64_t)(int64_t)count);
	put_requests(&pen, &x);
	put(&pen, rn_ok ? (uint64_t)*flag : RN_RAW_UNSET);
	if ((rn_ok && (*flag || x.ignored)) || rn_ret == MPI_ERR_IN_STATUS ||
	    (x.ignored && !x.wanted))
		put_statuses(&pen, &x, rn_ok && !*flag ? 0 : x.n, NULL, s,
			     rn_ret == MPI_ERR_IN_STATUS);
	else
		put_head(&pen, (uint64_t)RN_WORD_unset << 2 | RN_RAW_NAMED);
	put(&pen, rn_error_word(rn_ret));
	UNPEN();
	RN_END();
	return rn_ret;
}
WRAP_ALIAS(MPI_Testall)

/* The status of the request that was completed, if one was. */
static void put_any_status(struct pen *pen, struct wait *x, bool ok, int index, const MPI_Status *s)
{
	if (!ok)
		put_head(pen, x->ignored ? RN_STATUS_NOTHING : RN_RAW_UNSET);
	else
		put_status(pen, x, index == MPI_UNDEFINED ? UINT32_MAX : (uint32_t)index, s, false);
}

RN_EXPORT int MPI_Waitany(int count, MPI_Request q[], int *index, MPI_Status *status)
{
	RN_GATE(RN_N_MPI_Waitany, MPI_Waitany, (count, q, index, status))
	struct wait x;
	if (!look(&x, t, count, q, status == MPI_STATUS_IGNORE))
		NO_ROOM(rn_real.MPI_Waitany(count, q, index, status));
	RN_START(RN_N_MPI_Waitany)
	MPI_Status *s = statuses(&x, status);
	RN_CALL(int, rn_real.MPI_Waitany(count, q, index, s))
	const bool rn_ok = rn_ret == MPI_SUCCESS;
	PEN();

	rn_request_settle(t, x.n, q, x.use);
	put(&pen, (uint64_t)(int64_t)count);
	put_requests(&pen, &x);
	put(&pen, rn_ok ? (uint64_t)(int64_t)*index : RN_RAW_UNSET);
	put_any_status(&pen, &x, rn_ok, rn_ok ? *index : 0, s);
	put(&pen, rn_error_word(rn_ret));
	UNPEN();
	RN_END();
	return rn_ret;
}
WRAP_ALIAS(MPI_Waitany)

RN_EXPORT int MPI_Testany(int count, MPI_Request q[], int *index, int *flag, MPI_Status *status)
{
	RN_GATE(RN_N_MPI_Testany, MPI_Testany, (count, q, index, flag, status))
	struct wait x;
	if (!look(&x, t, count, q, status == MPI_STATUS_IGNORE))
		NO_ROOM(rn_real.MPI_Testany(count, q, index, flag, status));
	RN_START(RN_N_MPI_Testany)
	MPI_Status *s = statuses(&x, status);
	RN_CALL(int, rn_real.MPI_Testany(count, q, index, flag, s))
	const bool rn_ok = rn_ret == MPI_SUCCESS;
	PEN();

	rn_request_settle(t, x.n, q, x.use);
	put(&pen, (uint64_t)(int64_t)count);
	put_requests(&pen, &x);
	put(&pen, rn_ok ? (uint64_t)(int64_t)*index : RN_RAW_UNSET);
	put(&pen, rn_ok ? (uint64_t)*flag : RN_RAW_UNSET);
	put_any_status(&pen, &x, rn_ok && *flag, rn_ok ? *index : 0, s);
	put(&pen, rn_error_word(rn_ret));
	UNPEN();
	RN_END();
	return rn_ret;
}
WRAP_ALIAS(MPI_Testany)

static void put_some(struct pen *pen, struct wait *x, int ret, int outcount, const int *indices,
		     const MPI_Status *s)
{
	bool ok = ret == MPI_SUCCESS || ret == MPI_ERR_IN_STATUS;
	uint32_t n = ok && outcount > 0 ? (uint32_t)outcount : 0;

	put(pen, ok ? (uint64_t)(int64_t)outcount : RN_RAW_UNSET);
	if (n <= FEW) {
		put_head(pen, (uint64_t)n << 2 | RN_RAW_HERE);
		for (uint32_t k = 0; k < n; k++)
			put(pen, (uint64_t)indices[k]);
	} else {
		uint64_t *words = x->heap + x->n;

		for (uint32_t k = 0; k < n; k++)
			words[k] = (uint64_t)indices[k];
		put_blob(pen, x, n, words, n);
	}
	put_statuses(pen, x, n, indices, s, ret == MPI_ERR_IN_STATUS);
	put(pen, rn_error_word(ret));
}

#define SOME(name)                                                                     \
	RN_EXPORT int name(int incount, MPI_Request q[], int *outcount, int indices[], \
			   MPI_Status st[])                                            \
	{                                                                              \
		RN_GATE(RN_N_##name, name, (incount, q, outcount, indices, st))        \
		struct wait x;                                                         \
		if (!look(&x, t, incount, q, st == MPI_STATUSES_IGNORE))               \
			NO_ROOM(rn_real.name(incount, q, outcount, indices, st));      \
		RN_START(RN_N_##name)                                                  \
		MPI_Status *s = statuses(&x, st);                                      \
		RN_CALL(int, rn_real.name(incount, q, outcount, indices, s))           \
		PEN();                                                                 \
		rn_request_settle(t, x.n, q, x.use);                                   \
		put(&pen, (uint64_t)(int64_t)incount);                                 \
		put_requests(&pen, &x);                                                \
		put_some(&pen, &x, rn_ret, *outcount, indices, s);                     \
		UNPEN();                                                               \
		RN_END();                                                              \
		return rn_ret;                                                         \
	}                                                                              \
	WRAP_ALIAS(name)

SOME(MPI_Waitsome)
SOME(MPI_Testsome)
