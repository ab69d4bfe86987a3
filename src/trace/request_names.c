/*
 * request_names.c - see request_names.h. The table of requests is in track/request_table.h; this
 * file contains the parts that depend on MPI.
 */
#include "trace/request_names.h"

#include "base/errno_guard.h"
#include "base/vec.h"
#include "encode/call_words.h"
#include "runtime/tracer_state.h"
#include "trace/handles.h"
#include "trace/stream_journal.h"
#include "trace/thread_stream.h"

#include <string.h>

#include "hand.h"

#define AHEAD       8u /* distance of the prefetch in an array of requests */
#define NULL_HANDLE ((uint64_t)(uintptr_t)MPI_REQUEST_NULL)

static enum rn_request_kind kind_of(const struct rn_sig *s, uint32_t wild)
{
	uint32_t is = rn_mpi_protos[RN_RAW_FUNCTION(s->words[0])].traits.is;

	return is & RN_IS_generalized ? RN_REQUEST_GENERALIZED
	       : is & RN_IS_receives  ? (wild ? RN_REQUEST_WILDCARD : RN_REQUEST_RECEIVE)
	       : is & RN_IS_sends     ? RN_REQUEST_SEND
	       : is & RN_IS_file      ? RN_REQUEST_FILE
				      : RN_REQUEST_OTHER;
}

/* Makes s a creator at its first request. */
static bool new_shape(struct rn_stream *t, struct rn_sig *s, uint32_t wild)
{
	uint64_t call = s->id;

	if (t->shape.n > RN_RAW_SHAPE_MAX || !rn_seg_reserve(&t->shape, &t->mem, 1))
		return false;
	rn_spool_fact(t, RN_FACT_SHAPE, &call, sizeof(call));
	*RN_SEG_AT(&t->shape, struct rn_sig *, t->shape.n) = s;
	s->shape = ++t->shape.n;
	s->request_kind = (uint8_t)kind_of(s, wild);
	return true;
}

static void give_slot(struct rn_stream *t, uint32_t shape, uint32_t slot)
{
	rn_idpool_give(&(*RN_SEG_AT(&t->shape, struct rn_sig *, shape))->slots, slot);
}

/* Appends `ended` markers for requests that ended in other streams, and releases their indices. */
static void tell_ended(struct rn_stream *t)
{
	for (uint32_t i = 0; i < t->ended.n; i++) {
		uint64_t word = *RN_SEG_AT(&t->ended, uint64_t, i);
		const uint64_t w[3] = { RN_N_rondo_ended, word, 0 };

		rn_stream_marker(t, w, 3);
		give_slot(t, RN_RAW_SHAPE(word), RN_RAW_SLOT(word));
	}
	t->ended.n = 0;
}

static void born(struct rn_stream *t, struct rn_sig *s, uint64_t handle, const void *var,
		 uint32_t comm, uint32_t wild)
{
	struct rn_request r = { .stream = t->number, .comm = comm };

	if ((!s->shape && !new_shape(t, s, wild)) ||
	    rn_idpool_take(&s->slots, &t->mem, &r.slot) < 0) {
		rn_stream_lost(t);
		return;
	}
	r.shape = s->shape - 1;
	r.kind = s->request_kind;
	if (rn_requests_add(&rn_tracer.requests, handle, var, &r) < 0)
		rn_stream_lost(t);
	if (__builtin_expect(t->ended.n != 0, 0))
		tell_ended(t);
}

void rn_request_born(struct rn_stream *t, struct rn_sig *s, uint64_t handle, const void *var,
		     uint32_t comm, uint32_t wild)
{
	RN_ERRNO_GUARD;

	if (handle == NULL_HANDLE)
		return;
	rn_tracer_lock();
	born(t, s, handle, var, comm, wild);
	rn_tracer_unlock();
}

static uint64_t word_of(const struct rn_stream *t, const struct rn_request *r)
{
	return RN_RAW_REQUEST(r->stream == t->number ? 0 : r->stream + 1, r->shape, r->slot);
}

static struct rn_request_token find(uint64_t handle, const void *var)
{
	return rn_requests_find(&rn_tracer.requests, handle, var);
}

uint64_t rn_request_word(struct rn_stream *t, uint64_t handle, const void *var)
{
	const struct rn_request *r;
	uint64_t word = 1;

	if (handle == NULL_HANDLE)
		return 0;
	rn_tracer_lock();
	r = rn_requests_get(&rn_tracer.requests, find(handle, var));
	if (r)
		word = word_of(t, r);
	rn_tracer_unlock();
	return word;
}

/* Registers the end of a request in another stream than its own. A reader of the creating stream,
 * which numbers its requests, does not see this end. The index remains in use until the creating
 * stream appends an `ended` marker. If out of memory, it remains in use permanently. */
static void ended_elsewhere(const struct rn_request *r)
{
	struct rn_stream *maker = rn_stream_get(r->stream);

	if (!rn_seg_reserve(&maker->ended, &rn_tracer.mem, 1))
		return;
	*RN_SEG_AT(&maker->ended, uint64_t, maker->ended.n) =
		RN_RAW_REQUEST(0, r->shape, r->slot) | RN_RAW_GONE;
	maker->ended.n++;
}

/* Ends a request. The words of the call that ends it begin at `base`. The index can be reused at
 * once. */
static void end(struct rn_stream *t, const uint64_t *base, struct rn_request_token token)
{
	const struct rn_request *r = rn_requests_get(&rn_tracer.requests, token);

	/* A removed entry remains unchanged until the next one is added. */
	if (!r || !rn_requests_remove(&rn_tracer.requests, token))
		return;
	if (r->stream != t->number || (t->off && rn_stream_silent(t, base)))
		ended_elsewhere(r);
	else
		give_slot(t, r->shape, r->slot);
}

uint64_t rn_request_free(struct rn_stream *t, const uint64_t *base, uint64_t handle,
			 const void *var)
{
	struct rn_request_token token;
	const struct rn_request *r;
	uint64_t word = 1;

	if (handle == NULL_HANDLE)
		return 0;
	rn_tracer_lock();
	token = find(handle, var);
	r = rn_requests_get(&rn_tracer.requests, token);
	if (r) {
		word = word_of(t, r) | RN_RAW_GONE;
		end(t, base, token);
	}
	rn_tracer_unlock();
	return word;
}

void rn_request_look(struct rn_stream *t, uint32_t n, const MPI_Request *q,
		     struct rn_request_use *u, uint64_t *word)
{
	struct rn_requests *all = &rn_tracer.requests;

	rn_tracer_lock();
	rn_requests_begin(all);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t handle = (uint64_t)(uintptr_t)q[i];

		if (n - i > AHEAD)
			rn_requests_prefetch(all, (uint64_t)(uintptr_t)q[i + AHEAD]);
		word[i] = handle != NULL_HANDLE;
		u[i] = (struct rn_request_use){ 0 };
		if (handle != NULL_HANDLE)
			u[i].token = rn_requests_find_at(all, handle, &q[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct rn_request *r;

		if (!word[i])
			continue;
		if (!u[i].token.entry)
			u[i].token = rn_requests_find_moved(all, (uint64_t)(uintptr_t)q[i]);
		r = rn_requests_get(all, u[i].token);
		if (r) {
			u[i].comm = r->comm;
			u[i].kind = r->kind;
			word[i] = word_of(t, r);
		}
	}
	rn_tracer_unlock();
}

void rn_request_settle(struct rn_stream *t, const uint64_t *base, uint32_t n, const MPI_Request *q,
		       const struct rn_request_use *u, uint64_t *word)
{
	rn_tracer_lock();
	for (uint32_t i = 0; i < n; i++)
		if (word[i] > 1 && q[i] == MPI_REQUEST_NULL) {
			word[i] |= RN_RAW_GONE;
			end(t, base, u[i].token);
		}
	rn_tracer_unlock();
}

#ifdef OPEN_MPI
/*
 * Open MPI replaces the handle of a persistent request that is started again while its previous
 * message is still in transit. For the program this message (buffered or small) is complete.
 */
#define CHUNK 1024 /* number of handles on the stack */

static void follow(uint64_t before, const MPI_Request *q)
{
	struct rn_requests *all = &rn_tracer.requests;
	uint64_t now = (uint64_t)(uintptr_t)*q;
	struct rn_request_token token;
	const struct rn_request *r;
	struct rn_request copy;

	if (now == before || now == NULL_HANDLE)
		return;
	rn_tracer_lock();
	token = find(before, q);
	r = rn_requests_get(all, token);
	if (r) {
		copy = *r;
		rn_requests_remove(all, token);
		rn_requests_add(all, now, q, &copy); /* out of memory: `now` is unknown */
	}
	rn_tracer_unlock();
}

static int start_chunk(int n, MPI_Request *q)
{
	uint64_t before[CHUNK];
	int rc;

	for (int i = 0; i < n; i++)
		before[i] = (uint64_t)(uintptr_t)q[i];
	rc = rn_next[RN_LINK_REQUESTS].MPI_Startall(n, q);
	for (int i = 0; i < n; i++)
		follow(before[i], &q[i]);
	return rc;
}

static int hook_Startall(int n, MPI_Request *q)
{
	int rc = MPI_SUCCESS;

	if (n <= 0 || !q)
		return rn_next[RN_LINK_REQUESTS].MPI_Startall(n, q);
	for (int i = 0; i < n && rc == MPI_SUCCESS; i += CHUNK)
		rc = start_chunk(n - i < CHUNK ? n - i : CHUNK, q + i);
	return rc;
}

static int hook_Start(MPI_Request *q)
{
	uint64_t before = q ? (uint64_t)(uintptr_t)*q : NULL_HANDLE;
	int rc = rn_next[RN_LINK_REQUESTS].MPI_Start(q);

	if (before != NULL_HANDLE)
		follow(before, q);
	return rc;
}

void rn_request_hook_starts(void)
{
	RN_HOOK(RN_LINK_REQUESTS, MPI_Start, hook_Start);
	RN_HOOK(RN_LINK_REQUESTS, MPI_Startall, hook_Startall);
}
#else
void rn_request_hook_starts(void)
{
}
#endif

/* Whether the value is an error code. Callbacks may return other values, and the functions that
 * call them too. Querying Open MPI for such a value is itself an error, which would be reported to
 * the program. */
static bool is_code(int code)
{
#ifdef OPEN_MPI
	int *last = NULL, known = 0;

	rn_real.MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &known);
	return code >= 0 && known && code <= *last;
#else
	(void)code;
	return true;
#endif
}

uint64_t rn_error_word_slow(int code)
{
	int class = code;

	/* Before MPI-4, MPI_Error_class may be called only between MPI_Init and MPI_Finalize. The
	 * functions that fail outside of them (tools interface) return classes. */
	if ((MPI_VERSION >= 4 || (rn_tracer.init_done && !rn_tracer.finished)) && is_code(code))
		rn_real.MPI_Error_class(code, &class);
	return (uint64_t)(int64_t) class;
}
