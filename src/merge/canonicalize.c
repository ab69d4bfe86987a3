/*
 * canonicalize.c - see canonicalize.h. Call words may come from a file. The objects that they refer
 * to may not exist.
 */
#include "merge/canonicalize.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "encode/call_words_visit.h"
#include "encode/elastic_slots.h"
#include "encode/process_table.h"
#include "encode/rank_expr.h"
#include "encode/time_stats.h"
#include "identity/comm_table.h"
#include "merge/stack_clusters.h"
#include "model/elastic_values.h"
#include "series/units.h"

struct writer {
	const struct rn_stream_calls *of;
	struct rn_raw_numbers numbers;
	uint64_t key;                     /* hash of the call without rank parameters */
	const struct rn_choices *choices; /* NULL: rank parameters are being collected */
	struct rn_comms *tables;
	struct rn_buf buf;
	const struct rn_holes *holes; /* elastic slots of the call; NULL: none */
	const struct rn_alike *alike;
	const struct rn_stack_cluster *stacks; /* stack cluster of the call; NULL: a single stack */
	uint32_t like; /* number of earlier calls of the stream with the same signature */
	bool cut;      /* the signature lacks arguments of the call */
	bool plain;    /* values are written as absolute values */
	struct rn_arena mem, scratch;
};

/* ---- rank parameters ---- */

static void whose(const struct writer *x, uint32_t comm, int64_t *rank, int64_t *size)
{
	struct rn_seen_comm c;

	*rank = x->of->process->rank;
	*size = x->of->process->size;
	if (!comm)
		return;
	c = rn_process_comm(x->of->process, comm);
	*rank = c.rank;
	*size = c.remote ? c.remote : c.size;
}

static uint64_t slot_key(uint64_t call, uint32_t slot)
{
	return call + (uint64_t)(slot + 1) * 0x9e3779b97f4a7c15u;
}

/* Adds the value to the per-rank table of the rank parameter, and stores the id of the table in
 * *number. If several calls of the rank have this parameter, the value is already in the table. */
static enum rn_value_kind varying(struct writer *x, uint64_t key, int64_t value, int64_t *number)
{
	int64_t table = (int64_t)rn_choices_varying(x->choices, key);

	if (rn_varies_add(x->tables, table, (uint64_t)x->of->process->rank,
			  (uint64_t)x->of->process->size, value) == RN_E_NOMEM)
		return RN_V_INT;
	*number = table;
	return RN_V_VARIES;
}

/* Chooses the rank expression of rank parameter i of the call. */
static void express_slot(struct writer *x, uint32_t i)
{
	struct rn_raw_slot *s = &x->numbers.slot[i];
	uint64_t key = slot_key(x->key, i);
	int64_t rank, size;

	s->kind = rn_choices_get(x->choices, key);
	s->number = s->value;
	if (s->kind == RN_V_VARIES) {
		s->kind = varying(x, key, s->value, &s->number);
	} else {
		whose(x, s->comm, &rank, &size);
		s->kind = rn_peer_express(s->kind, s->value, rank, size, &s->number);
	}
}

/* ---- elastic slots ---- */

#define HOLE_ROOM  ((size_t)256 << 10) /* bytes; sufficient to seal most series */
#define PEERS_SEEN 64 /* ranks examined to choose the expression of an elastic slot */

static uint64_t hole_key(uint64_t call, uint32_t hole)
{
	return slot_key(call, RN_RAW_SLOTS_MAX + hole);
}

/* Seals the values of an elastic slot of the call. They are valid until the next call of this
 * function. */
static int numbers(struct writer *x, uint32_t hole, struct rn_units **u)
{
	const struct rn_arena_mark beginning = { 0 };

	rn_arena_reserve(&x->mem, HOLE_ROOM);
	rn_arena_reserve(&x->scratch, HOLE_ROOM);
	rn_arena_rewind(&x->mem, beginning);
	return rn_holes_units(x->holes, hole, &x->mem, &x->scratch, u);
}

/* True if `kind` can express all values of the elastic slot. */
static bool can_express(struct writer *x, enum rn_value_kind kind, uint32_t hole, int64_t rank,
			int64_t size)
{
	struct rn_units *u;
	int64_t block[256], number;
	size_t n = 0;
	bool can = numbers(x, hole, &u) == RN_OK;

	for (uint64_t at = 0; can && (n = rn_units_read(u, at, block, 256)) > 0; at += n)
		for (size_t i = 0; i < n && can; i++)
			can = rn_peer_express(kind, block[i], rank, size, &number) == kind;
	return can;
}

/* Chooses the expression of the values of elastic slot i. */
static void express_hole(struct writer *x, uint32_t i)
{
	struct rn_raw_hole *h = &x->numbers.hole[i];
	enum rn_value_kind kind = RN_V_INT;
	int64_t rank, size;

	if (h->is_rank)
		kind = rn_choices_get(x->choices, hole_key(x->key, i));
	if (kind == RN_V_REL || kind == RN_V_RELMOD || kind == RN_V_XOR) {
		whose(x, h->comm, &rank, &size);
		if (can_express(x, kind, i, rank, size))
			h->form = (enum rn_elastic)kind;
	}
}

static void express(struct writer *x)
{
	for (uint32_t i = 0; i < x->numbers.slots; i++)
		express_slot(x, i);
	for (uint32_t i = 0; x->holes && i < x->holes->n; i++)
		express_hole(x, i);
}

static int add_peers(struct writer *x, uint32_t i, struct rn_peers *p)
{
	struct rn_units *u;
	int64_t number[PEERS_SEEN], rank, size;
	int rc = numbers(x, i, &u);
	size_t n;

	whose(x, x->numbers.hole[i].comm, &rank, &size);
	n = rc == RN_OK ? rn_units_read(u, 0, number, PEERS_SEEN) : 0;
	for (size_t k = 0; k < n && rc == RN_OK; k++)
		rc = rn_peers_add(p, hole_key(x->key, i), number[k], rank, size);
	return rc;
}

/* Adds the values of all elastic slots of the call, whose signature is `sig`. */
static int add_values(struct writer *x, const struct rn_canonical_out *out, uint32_t sig)
{
	struct rn_units *u;
	int rc = RN_OK;

	for (uint32_t i = 0; x->holes && i < x->holes->n && rc == RN_OK; i++) {
		const struct rn_raw_hole *h = &x->numbers.hole[i];
		struct rn_expressed how = { .kind = (enum rn_value_kind)h->form };

		if (how.kind > RN_V_XOR)
			how.kind = RN_V_INT;
		if (x->stacks && i == x->holes->n - 1)
			how.alike = x->stacks;
		whose(x, h->comm, &how.rank, &how.size);
		rc = numbers(x, i, &u);
		if (rc == RN_OK)
			rc = rn_values_add(out->values, (struct rn_value_place){ sig, i },
					   out->stream, u, &how);
	}
	return rc;
}

/* ---- writing ---- */

/* Limit of the elements of an array and of the characters of a text, in a call that is too long for
 * the format. */
#define MOST 65536

/* Writes a call to x->buf. If the call is too long for the format, its arrays and texts are
 * truncated. */
static int write_words(struct writer *x, const uint64_t *words, size_t n)
{
	struct rn_raw_env env = { .process = x->of->process,
				  .texts = x->of->texts,
				  .blobs = x->of->blobs,
				  .numbers = &x->numbers,
				  .elastic = x->holes || x->plain,
				  .like = x->like };
	int rc;

	x->numbers.mode = x->plain ? RN_RAW_PLAIN : x->choices ? RN_RAW_EXPRESS : RN_RAW_COLLECT;
	if (x->choices && words[0] & RN_RAW_ALIKE)
		x->stacks = rn_alike_stacks(x->alike, RN_RAW_SITE(words[0]));
	if (x->stacks) {
		env.stack = x->stacks->stack;
		env.stacks = x->stacks->n;
	}
	rc = rn_raw_write(&env, words, n, &x->buf);
	if (rc == RN_E_RANGE) {
		env.most = MOST;
		x->cut = true;
		rc = rn_raw_write(&env, words, n, &x->buf);
	}
	return rc;
}

/* Returns the words of call i. Invalid words are replaced by a call of function 0 without
 * arguments. */
static const uint64_t *words_of(const struct rn_stream_calls *c, uint32_t i, size_t *n)
{
	static const uint64_t none[1];
	const uint64_t *w = rn_sigs_get(c->words, i, n);

	*n /= sizeof(*w);
	if (*n > 0 && RN_RAW_FUNCTION(w[0]) < rn_mpi_vocab.funcs)
		return w;
	*n = 1;
	return none;
}

/* Writes the signature of call i. If the call cannot be converted, only its function is written. */
static int write_call(struct writer *x, uint32_t i)
{
	size_t n;
	const uint64_t *w = words_of(x->of, i, &n);
	bool one = !(w[0] & RN_RAW_ALIKE);
	uint64_t bare[RN_RAW_BARE_MAX] = { one ? w[0] : RN_RAW_FUNCTION(w[0]) };
	int rc = write_words(x, w, n);

	if (rc != RN_E_ARG && rc != RN_E_RANGE)
		return rc;
	x->cut = true;
	x->numbers.slots = 0;
	x->holes = NULL;
	x->stacks = NULL;
	return write_words(x, bare, (size_t)(rn_raw_unset(bare, bare + 1) - bare));
}

static int collect(struct writer *x, uint32_t i)
{
	int rc;

	x->choices = NULL;
	x->numbers.slots = 0;
	x->like = 0;
	x->cut = false;
	x->stacks = NULL;
	x->holes = rn_holes_of(x->of->holes, i);
	rc = write_call(x, i);
	if (rc == RN_OK)
		x->key = rn_hash(x->buf.data, x->buf.len);
	return rc;
}

static void begin(struct writer *x, const struct rn_stream_calls *c)
{
	*x = (struct writer){ .of = c };
	rn_arena_init(&x->mem, SIZE_MAX);
	rn_arena_init(&x->scratch, SIZE_MAX);
}

static void end(struct writer *x)
{
	rn_buf_free(&x->buf);
	rn_arena_free(&x->mem);
	rn_arena_free(&x->scratch);
}

int rn_canonical_collect(const struct rn_stream_calls *c, struct rn_peers *p)
{
	struct writer x;
	int rc = RN_OK;

	begin(&x, c);
	for (uint32_t i = 0; i < rn_sigs_count(c->words) && rc == RN_OK; i++) {
		rc = collect(&x, i);
		for (uint32_t k = 0; k < x.numbers.slots && rc == RN_OK; k++) {
			const struct rn_raw_slot *s = &x.numbers.slot[k];
			int64_t rank, size;

			whose(&x, s->comm, &rank, &size);
			rc = rn_peers_add(p, slot_key(x.key, k), s->value, rank, size);
		}
		for (uint32_t k = 0; x.holes && k < x.holes->n && rc == RN_OK; k++)
			if (x.numbers.hole[k].is_rank)
				rc = add_peers(&x, k, p);
	}
	end(&x);
	return rc;
}

int rn_canonical_one(const struct rn_stream_calls *c, const uint64_t *words, size_t n,
		     struct rn_buf *out)
{
	struct writer x;
	int rc;

	if (n == 0 || RN_RAW_FUNCTION(words[0]) >= rn_mpi_vocab.funcs)
		return RN_E_ARG;
	begin(&x, c);
	x.plain = true;
	rc = write_words(&x, words, n);
	if (rc == RN_OK)
		rn_buf_add(out, x.buf.data, x.buf.len);
	end(&x);
	return rc == RN_OK ? rn_buf_status(out) : rc;
}

/* Returns the number of times that the stream has call i. */
static uint64_t occurrences(const struct rn_stream_calls *c, uint32_t i)
{
	const struct rn_time *time = rn_times_get(c->times, i);

	return time ? rn_timing_count(&time->dur) : 1;
}

/* Writes the final signature of call i. Calls with equal signatures are merged, except calls with
 * elastic values: x->like makes their signatures distinct. */
static int write_for_good(struct writer *x, uint32_t i, const struct rn_canonical_out *out)
{
	uint32_t id;
	int rc;

	do {
		rc = write_call(x, i);
		x->like++;
	} while (rc == RN_OK && x->holes && rn_sigs_find(out->sigs, x->buf.data, x->buf.len, &id));
	if (rc == RN_OK)
		rc = rn_sigs_intern(out->sigs, x->buf.data, x->buf.len, &out->map[i]);
	return rc == RN_OK ? add_values(x, out, out->map[i]) : rc;
}

int rn_canonical_write(const struct rn_stream_calls *c, const struct rn_choices *choices,
		       const struct rn_canonical_out *out)
{
	struct rn_arena mem;
	struct rn_alike stacks;
	struct writer x;
	int rc;

	begin(&x, c);
	rn_arena_init(&mem, SIZE_MAX);
	x.alike = &stacks;
	rc = rn_alike_find(&stacks, &mem, c);
	for (uint32_t i = 0; i < rn_sigs_count(c->words) && rc == RN_OK; i++) {
		rc = collect(&x, i);
		x.choices = choices;
		x.tables = out->tables;
		if (rc == RN_OK) {
			express(&x);
			rc = write_for_good(&x, i, out);
		}
		if (x.cut)
			*out->lost += occurrences(c, i);
	}
	rn_arena_free(&mem);
	end(&x);
	return rc;
}
