/* elastic.c - see elastic.h. */
#include "trace/elastic.h"

#include "base/intern.h"
#include "base/vec.h"
#include "encode/call_words_visit.h"
#include "encode/elastic_slots.h"
#include "encode/time_stats.h"
#include "runtime/tracer_config.h"
#include "trace/stream.h"
#include "trace/stream_journal.h"

#include <string.h>

#define MEMBERS_STEADY 8u    /* members at which arithmetic progressions become slots */
#define MEMBERS_FIRST  32u   /* members at which parameters with many values become slots */
#define MEMBERS_LAST   1024u /* maximum number of members that are checked */
#define ASTRAY         4u    /* creator changes at which slots are reconsidered */
#define ASTRAY_FEW     2u    /* a slot is not worthwhile for this number of partners */

/* An elastic slot; or a parameter that has always been equal to slot `same`. */
struct hole {
	uint16_t at;
	int16_t same; /* -1: an elastic slot */
};

struct rn_family {
	struct hole *hole; /* by position */
	uint32_t holes;
	struct rn_sig **member; /* signatures that are not retired */
	uint32_t members, room;
	uint32_t next;   /* number of members at which slots are reconsidered */
	uint32_t astray; /* number of creator changes: waits for a request that another member had
			    created before */
	const struct rn_possible *at; /* numeric parameters, by position */
	uint32_t possible;
	const struct rn_sig *last; /* latest signature that refers to requests, or NULL */
};

/* ---- which parameters become slots ---- */

static bool has_many(const struct rn_family *f, uint16_t at, uint32_t enough)
{
	uint64_t value[8];
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->members && n < enough; i++) {
		uint64_t v = f->member[i]->words[at];
		uint32_t k = 0;

		while (k < n && value[k] != v)
			k++;
		if (k == n)
			value[n++] = v;
	}
	return n >= enough;
}

/* Whether the values increase or decrease by a constant step: a counter, and not a few recurring
 * values. */
static bool is_steady(const struct rn_family *f, uint16_t at)
{
	uint64_t step = f->member[1]->words[at] - f->member[0]->words[at];

	for (uint32_t i = 1; i < f->members && step; i++)
		if (f->member[i]->words[at] - f->member[i - 1]->words[at] != step)
			return false;
	return step;
}

/* Number of distinct values that make a parameter elastic; 0: it must be constant. Fewer are needed
 * if many members have few values each, or if the masked signature already has elastic slots, so
 * that each member stands for many calls. */
static uint32_t needed(const struct rn_family *f)
{
	if (f->holes || f->members > MEMBERS_FIRST)
		return 4;
	return f->members < MEMBERS_FIRST ? 0 : 8;
}

static bool are_same(const struct rn_family *f, uint16_t a, uint16_t b)
{
	for (uint32_t i = 0; i < f->members; i++)
		if (f->member[i]->words[a] != f->member[i]->words[b])
			return false;
	return true;
}

static uint64_t calls_of(const struct rn_stream *t, const struct rn_sig *s)
{
	const struct rn_time *time = rn_times_get(&t->times, s->id);

	return time ? rn_timing_count(&time->dur) : 0;
}

/* Retires all members except those with more than an eighth of the calls. */
static void retire(struct rn_stream *t, const struct rn_family *f)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < f->members; i++)
		all += calls_of(t, f->member[i]);
	for (uint32_t i = 0; i < f->members; i++)
		f->member[i]->retired = calls_of(t, f->member[i]) < all / 8 + 1;
}

static void retire_all(const struct rn_family *f)
{
	for (uint32_t i = 0; i < f->members; i++)
		f->member[i]->retired = true;
}

/* Returns the earlier slot that has the same value in all members; -1: no such slot. */
static int16_t same_as(const struct rn_family *f, const struct hole *hole, uint32_t n,
		       const struct rn_possible *at, const bool *plain)
{
	int16_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (hole[i].same >= 0)
			continue;
		if (at->plain && plain[i] && are_same(f, hole[i].at, at->at))
			return k;
		k++;
	}
	return -1;
}

/* Makes slots of the parameters whose values vary. A parameter that is a slot already cannot
 * become an alias, because its values in the members are no longer known. False if there are no
 * new slots. */
static bool make_holes(struct rn_stream *t, struct rn_family *f, uint32_t values)
{
	struct hole *all = rn_new(&t->mem, struct hole, f->possible);
	bool plain[RN_HOLES_MAX];
	uint32_t holes = 0, old = 0;

	for (uint32_t i = 0; all && i < f->possible; i++) {
		const struct rn_possible *at = &f->at[i];
		bool is = old < f->holes && f->hole[old].at == at->at;

		old += is;
		if (!is && !(values ? has_many(f, at->at, values) : is_steady(f, at->at)))
			continue;
		all[holes].at = at->at;
		all[holes].same = is ? -1 : same_as(f, all, holes, at, plain);
		plain[holes++] = !is && at->plain;
	}
	if (!all || holes == f->holes)
		return false;
	f->hole = all;
	f->holes = holes;
	return true;
}

static void start_over(struct rn_family *f)
{
	f->members = 0;
	f->next = MEMBERS_STEADY;
}

static bool add_member(struct rn_stream *t, struct rn_family *f, struct rn_sig *s)
{
	if (!RN_GROW(&t->mem, f->member, f->members + 1, f->room))
		return false;
	s->family = f;
	f->member[f->members++] = s;
	return true;
}

static void grow(struct rn_stream *t, struct rn_family *f, struct rn_sig *s)
{
	if (f->members == MEMBERS_LAST || !add_member(t, f, s) || f->members < f->next)
		return;
	f->next = f->next < MEMBERS_FIRST ? MEMBERS_FIRST : 2 * f->next;
	if (make_holes(t, f, needed(f))) {
		retire(t, f);
		start_over(f);
	}
}

/* ---- families (masked signatures) ---- */

static struct rn_family *new_family(struct rn_stream *t, const struct rn_possible *at,
				    uint32_t possible)
{
	struct rn_family *f = rn_new(&t->mem, struct rn_family, 1);
	struct rn_possible *own = rn_new(&t->mem, struct rn_possible, possible);

	if (!f || !own || !rn_seg_reserve(&t->family, &t->mem, 1))
		return NULL;
	if (possible)
		memcpy(own, at, possible * sizeof(*at));
	f->at = own;
	f->possible = possible;
	f->next = MEMBERS_STEADY;
	RN_SEG_PUT(&t->family, struct rn_family *, f);
	return f;
}

/* Returns a copy of the words, in which slots can be masked. The stack of a clustered call is
 * masked already. */
static uint64_t *masked(struct rn_stream *t, const uint64_t *w, size_t n)
{
	memcpy(t->masked, w, n * sizeof(*w));
	if (w[0] & RN_RAW_ALIKE)
		t->masked[n - 1] = RN_RAW_HOLE;
	return t->masked;
}

/* Returns the family with these masked words, which all members share. */
static struct rn_family *family_with(struct rn_stream *t, const uint64_t *words, size_t n,
				     const struct rn_possible *at, uint32_t possible)
{
	uint32_t id;

	if (rn_sigs_intern(t->families, words, n * sizeof(*words), &id) < 0)
		return NULL;
	if (id < t->family.n)
		return *RN_SEG_AT(&t->family, struct rn_family *, id);
	return id == t->family.n ? new_family(t, at, possible) : NULL;
}

static struct rn_family *family_of(struct rn_stream *t, const uint64_t *w, size_t n)
{
	struct rn_possible at[RN_HOLES_MAX];
	uint32_t possible = rn_holes_possible(w, n, at);
	uint64_t *words;

	if (!possible)
		return NULL;
	words = masked(t, w, n);
	for (uint32_t i = 0; i < possible; i++)
		words[at[i].at] = RN_RAW_HOLE;
	return family_with(t, words, n, at, possible);
}

/* ---- creators ---- */

/* A request is named by the signature that created it. If the creator changes with the partner, the
 * words of the waiting call change too. Example: four requests to any of four ranks make 256
 * signatures of MPI_Waitall, though each of the four creating calls has at most four signatures.
 * So the creators of the requests of a new call are compared with those of the latest such call. If
 * two creators differ only in partners and lengths, this is a creator change of their family. After
 * ASTRAY creator changes, all parameters in which the members differ become slots.
 * A change counts only if one of the creators was called before: then known calls occur in a new
 * combination, and more combinations will follow. If all creators are new, this may be the next
 * phase of a loop that never changes. */

/* Words of a call in which every variable parameter is masked, and the positions of the words that
 * refer to requests. */
struct asked {
	uint64_t *words;
	uint32_t n;
	uint16_t at[RN_HOLES_WORDS];
	uint16_t blob; /* position of the blob id of an array of requests; 0: no blob */
};

static void mask(void *arg, enum rn_raw_part part, enum rn_param_kind kind, uint64_t *w)
{
	struct asked *a = arg;
	uint16_t at = (uint16_t)(w - a->words);

	if (part == RN_RAW_REQUESTED || part == RN_RAW_CREATED)
		a->at[a->n++] = at;
	if (part == RN_RAW_ARRAY && kind == RN_K_request)
		a->blob = at;
	if (part == RN_RAW_NUMBER || part == RN_RAW_PLACE || part == RN_RAW_REQUESTED ||
	    part == RN_RAW_CREATED || part == RN_RAW_ARRAY || part == RN_RAW_STACK)
		w[part == RN_RAW_PLACE] = RN_RAW_HOLE;
}

/* Returns the signature that created a request of this stream, or NULL if it is not known: the
 * first call of a segment may have ended the request already. */
static const struct rn_sig *maker_of(const struct rn_stream *t, uint64_t word)
{
	uint32_t shape = RN_RAW_SHAPE(word);

	if (word <= 1 || RN_RAW_STREAM(word) || !rn_seg_has(&t->shape, shape))
		return NULL;
	return *RN_SEG_AT(&t->shape, struct rn_sig *, shape);
}

static bool differ_in_partner(const struct rn_family *f, const struct rn_sig *a,
			      const struct rn_sig *b)
{
	bool only = true;

	for (uint32_t i = 0; i < f->possible && only; i++)
		only = f->at[i].partner || a->words[f->at[i].at] == b->words[f->at[i].at];
	return only;
}

/* Returns the family of both signatures if they differ only in partners and lengths, or NULL. */
static struct rn_family *common_family(const struct rn_sig *a, const struct rn_sig *b)
{
	struct rn_family *f = a && b && a != b && a->family == b->family ? a->family : NULL;

	return f && differ_in_partner(f, a, b) ? f : NULL;
}

/* A family with few partners makes few combinations. */
static bool has_few_partners(const struct rn_family *f)
{
	bool few = false;

	for (uint32_t i = 0; i < f->possible && !few; i++)
		few = f->at[i].partner && has_many(f, f->at[i].at, 2) &&
		      !has_many(f, f->at[i].at, ASTRAY_FEW + 1);
	return few;
}

/* Counts a creator change. If slots are made, all members retire: a remaining one would be another
 * creator. */
static void go_astray(struct rn_stream *t, struct rn_family *f)
{
	if (++f->astray < ASTRAY)
		return;
	f->astray = 0;
	if (!has_few_partners(f) && make_holes(t, f, 2)) {
		retire_all(f);
		start_over(f);
	}
}

/* Requests of the latest call and of the new one. */
struct pairs {
	const uint64_t *before, *now;
	const uint16_t *at; /* positions of the requests; NULL: consecutive */
	size_t n;
};

static struct rn_family *pair(const struct rn_stream *t, const struct pairs *p, size_t i,
			      const struct rn_sig **maker)
{
	size_t k = p->at ? p->at[i] : i;

	*maker = maker_of(t, p->now[k]);
	return common_family(maker_of(t, p->before[k]), *maker);
}

static bool any_came_before(const struct rn_stream *t, const struct pairs *p)
{
	const struct rn_sig *maker;
	bool any = false;

	for (size_t i = 0; i < p->n && !any; i++)
		any = pair(t, p, i, &maker) && calls_of(t, maker) > 1;
	return any;
}

static void see_makers(struct rn_stream *t, const struct pairs *p)
{
	const struct rn_sig *maker;
	bool any = any_came_before(t, p);

	for (size_t i = 0; i < p->n && any; i++) {
		struct rn_family *f = pair(t, p, i, &maker);

		if (f)
			go_astray(t, f);
	}
}

/* Compares the creators of long arrays, which are stored as blobs. */
static void see_blobs(struct rn_stream *t, uint64_t before, uint64_t now)
{
	uint32_t blobs = rn_sigs_count(t->blobs);
	struct pairs p = { 0 };
	size_t a, b;

	if (before >= blobs || now >= blobs) /* out of memory when it was added */
		return;
	p.before = rn_sigs_get(t->blobs, (uint32_t)before, &a);
	p.now = rn_sigs_get(t->blobs, (uint32_t)now, &b);
	p.n = (a < b ? a : b) / sizeof(*p.now);
	see_makers(t, &p);
}

static void compare_makers(struct rn_stream *t, const struct asked *a, const struct rn_sig *last,
			   const struct rn_sig *s)
{
	struct pairs p = { last->words, s->words, a->at, a->n };

	if (a->blob)
		see_blobs(t, last->words[a->blob], s->words[a->blob]);
	else
		see_makers(t, &p);
}

/* Calls with one request are not examined: they have as many signatures as the request has
 * creators. */
static void see_requests(struct rn_stream *t, const struct rn_sig *s)
{
	struct asked a = { .words = t->masked };
	struct rn_family *f;

	if (s->n > RN_HOLES_WORDS)
		return;
	memcpy(a.words, s->words, s->n * sizeof(*a.words));
	if (!rn_raw_visit(a.words, s->n, mask, &a, NULL) || (a.n < 2 && !a.blob))
		return;
	f = family_with(t, a.words, s->n, NULL, 0);
	if (f && f->last)
		compare_makers(t, &a, f->last, s);
	if (f)
		f->last = s;
}

/* ---- members ---- */

static uint16_t place_of(const struct rn_family *f, int16_t hole)
{
	uint32_t i = 0;

	while (f->hole[i].same >= 0 || hole-- > 0)
		i++;
	return f->hole[i].at;
}

/* Makes aliases that differ in this call slots of their own. This renumbers the slots after them,
 * so all aliases of the family are removed. */
static void see_same(struct rn_family *f, const uint64_t *w)
{
	bool same = true;

	for (uint32_t i = 0; i < f->holes && same; i++)
		if (f->hole[i].same >= 0)
			same = w[f->hole[i].at] == w[place_of(f, f->hole[i].same)];
	for (uint32_t i = 0; i < f->holes && !same; i++)
		f->hole[i].same = -1;
}

static struct rn_sig *intern_holes(struct rn_stream *t, const uint64_t *words, size_t n)
{
	struct rn_sig *s = rn_stream_intern(t, words, n, true);

	return s && !s->holes->closed ? s : NULL;
}

/* Returns the signature with the slots of the family. */
static struct rn_sig *with_holes(struct rn_stream *t, struct rn_family *f, const uint64_t *w,
				 size_t n)
{
	uint64_t *words = masked(t, w, n);

	see_same(f, w);
	for (uint32_t i = 0; i < f->holes; i++)
		words[f->hole[i].at] =
			f->hole[i].same < 0 ? RN_RAW_HOLE : RN_RAW_SAME(f->hole[i].same);
	return intern_holes(t, words, n);
}

/* Returns the signature without slots. If the stack slot of a clustered call cannot be used, the
 * call gets its own stack. */
static struct rn_sig *without(struct rn_stream *t, uint64_t *w, size_t n)
{
	struct rn_sig *s;

	if (!(w[0] & RN_RAW_ALIKE))
		return rn_stream_intern(t, w, n, false);
	s = intern_holes(t, masked(t, w, n), n);
	if (s)
		return s;
	w[0] = RN_RAW_HEAD(RN_RAW_FUNCTION(w[0]), w[n - 1]);
	return rn_stream_intern(t, w, n - 1, false);
}

/* Returns the signature of a call that is not a member yet, or whose member is retired. */
static struct rn_sig *member_for(struct rn_stream *t, uint64_t *w, size_t n)
{
	struct rn_family *f = rn_config.elastic ? family_of(t, w, n) : NULL;
	uint32_t sigs = t->sig.n;
	struct rn_sig *s = f && f->holes ? with_holes(t, f, w, n) : NULL;

	if (!s)
		s = without(t, w, n);
	if (s && s->n == n && f && !s->family && !s->retired)
		grow(t, f, s);
	if (s && f && t->sig.n > sigs)
		see_requests(t, s);
	return s;
}

/* ---- calls ---- */

/* Finds the signature with these words. The stack of a clustered call is masked, because it is not
 * part of the signature. */
static bool find(const struct rn_stream *t, uint64_t *w, size_t n, uint32_t *id)
{
	uint64_t last = w[n - 1];
	bool found;

	if (w[0] & RN_RAW_ALIKE)
		w[n - 1] = RN_RAW_HOLE;
	found = rn_sigs_find(t->words, w, n * sizeof(*w), id) && *id < t->sig.n;
	w[n - 1] = last;
	return found;
}

static struct rn_sig *known(const struct rn_stream *t, uint64_t *w, size_t n)
{
	struct rn_sig *s = t->expected;
	uint32_t id;
	bool open;

	if (s->holes && s->n == n && !s->holes->closed && rn_holes_fit(s->holes, s->words, w, n))
		return s;
	if (!find(t, w, n, &id))
		return NULL;
	s = *RN_SEG_AT(&t->sig, struct rn_sig *, id);
	/* If the found words contain other slots than the stack, a parameter value equals the slot
	 * marker. */
	open = w[0] & RN_RAW_ALIKE ? s->holes && !s->holes->closed : !s->holes;
	return open && !s->retired ? s : NULL;
}

/* Appends the elastic values of a call. They are in the journal before the call is. */
static bool add_numbers(struct rn_stream *t, const struct rn_sig *s, const uint64_t *w)
{
	struct rn_holes *h = s->holes;

	if (t->values_at + h->n > t->values_end)
		rn_spool_seal(t);
	for (uint32_t k = 0; k < h->n; k++)
		t->values[(t->values_at + k) & t->values_mask] = (int64_t)w[h->at[k]];
	if (rn_holes_append(h, w) < 0)
		return false;
	t->values_at += h->n;
	return true;
}

struct rn_sig *rn_elastic_call(struct rn_stream *t, uint64_t *w, size_t n)
{
	struct rn_sig *s = known(t, w, n);

	if (!s)
		s = member_for(t, w, n);
	if (s && s->holes && !add_numbers(t, s, w))
		s = NULL;
	return s;
}

void rn_elastic_undo(struct rn_stream *t, uint32_t id)
{
	struct rn_holes *h = (*RN_SEG_AT(&t->sig, struct rn_sig *, id))->holes;

	if (!h)
		return;
	h->closed = true;
	t->values_at -= h->n;
}
