/* rank_expr.c - see rank_expr.h. */
#include "encode/rank_expr.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/varint.h"
#include "base/vec.h"

#define EXPRESSIONS 4 /* the computed ones */
#define CHOICES     5 /* and the per-rank table */

static const enum rn_value_kind kinds[CHOICES] = { RN_V_INT, RN_V_REL, RN_V_RELMOD, RN_V_XOR,
						   RN_V_VARIES };

/* The values of one slot on all ranks so far, in one expression. */
struct view {
	int64_t *value;      /* the union over ranks, ascending */
	uint32_t order, set; /* hashes of a rank's values, while equal on all ranks */
	bool same_order, same_set;
	bool many; /* too many values, or one that cannot be expressed; n is 0 */
	unsigned char n, cap;
};

/* A slot without values was prepared by an rn_peers_absorb that failed. */
struct slot {
	uint64_t key;
	bool several; /* a rank has more than one value */
	struct view view[EXPRESSIONS];
};

/* The values added so far, so that each is counted once. */
struct added {
	uint64_t slot;
	int64_t value, rank, size;
};

struct rn_peers {
	struct rn_arena *mem;
	struct rn_map by_key, by_added;
	struct rn_seg slot, added;
	bool absorbed;
};

static struct slot *slot_at(const struct rn_peers *p, uint32_t i)
{
	return RN_SEG_AT(&p->slot, struct slot, i);
}

static bool empty(const struct slot *s)
{
	return s->view[0].n == 0 && !s->view[0].many;
}

static uint32_t order_hash(uint32_t before, int64_t v)
{
	return (uint32_t)rn_hash_u64((uint64_t)before << 32 ^ (uint64_t)v);
}

/* The hashes are summed over a set, so the order of its elements has no effect. */
static uint32_t set_hash(int64_t v)
{
	return (uint32_t)(rn_hash_u64((uint64_t)v) >> 32);
}

struct rn_peers *rn_peers_new(struct rn_arena *mem)
{
	struct rn_peers *p = rn_new(mem, struct rn_peers, 1);

	if (!p || rn_map_init(&p->by_key, mem) < 0 || rn_map_init(&p->by_added, mem) < 0)
		return NULL;
	p->mem = mem;
	rn_seg_init(&p->slot, sizeof(struct slot));
	rn_seg_init(&p->added, sizeof(struct added));
	return p;
}

/* Expressions */

/* Returns the shorter distance around a ring of `size`, which is the same for rings of different
 * sizes. */
static int64_t around(int64_t value, int64_t rank, int64_t size)
{
	int64_t d = (value - rank % size) % size;

	d = d < 0 ? d + size : d;
	return d > size / 2 ? d - size : d;
}

enum rn_value_kind rn_peer_express(enum rn_value_kind kind, int64_t value, int64_t rank,
				   int64_t size, int64_t *number)
{
	*number = value;
	switch (kind) {
	case RN_V_REL:
		*number = (int64_t)((uint64_t)value - (uint64_t)rank);
		return kind;
	case RN_V_XOR:
		*number = value ^ rank;
		return kind;
	case RN_V_RELMOD:
		if (value < 0 || value >= size || rank < 0)
			return RN_V_INT;
		*number = around(value, rank, size);
		return kind;
	default:
		return RN_V_INT;
	}
}

/* Slots and views */

static uint32_t find_slot(const struct rn_peers *p, uint64_t key)
{
	uint32_t tag = (uint32_t)rn_hash_u64(key);

	RN_MAP_EACH (&p->by_key, tag, i)
		if (slot_at(p, i)->key == key)
			return i;
	return RN_MAP_NONE;
}

/* Returns the slot of a key; creates it if necessary. RN_MAP_NONE without memory. */
static uint32_t need_slot(struct rn_peers *p, uint64_t key)
{
	uint32_t tag = (uint32_t)rn_hash_u64(key), i = find_slot(p, key);

	if (i != RN_MAP_NONE)
		return i;
	if (rn_map_reserve(&p->by_key, tag) < 0 || !rn_seg_reserve(&p->slot, p->mem, 1))
		return RN_MAP_NONE;
	i = RN_SEG_PUT(&p->slot, struct slot, (struct slot){ .key = key });
	rn_map_insert(&p->by_key, tag, i);
	return i;
}

/* Reserves memory for n more values, up to the limit. */
static bool view_reserve(struct view *v, struct rn_arena *mem, unsigned n)
{
	unsigned need = v->n + n < RN_PEERS_UNION ? v->n + n : RN_PEERS_UNION, cap = 1;
	int64_t *value;

	if (v->many || need <= v->cap)
		return true;
	while (cap < need)
		cap *= 2;
	value = rn_new(mem, int64_t, cap);
	if (!value)
		return false;
	if (v->n)
		memcpy(value, v->value, v->n * sizeof(*value));
	v->value = value;
	v->cap = (unsigned char)cap;
	return true;
}

/* Inserts a value into the union. Returns false if it was present. Memory must be reserved. */
static bool view_insert(struct view *v, int64_t x)
{
	unsigned i = v->n;

	if (v->many)
		return true;
	while (i && v->value[i - 1] > x)
		i--;
	if (i && v->value[i - 1] == x)
		return false;
	if (v->n == RN_PEERS_UNION) {
		v->many = true;
		v->n = 0;
		return true;
	}
	memmove(v->value + i + 1, v->value + i, (v->n - i) * sizeof(*v->value));
	v->value[i] = x;
	v->n++;
	return true;
}

/* Adds a value of this rank. */
static void view_add(struct view *v, int64_t x)
{
	if (v->n == 0 && !v->many)
		v->same_order = v->same_set = true;
	if (!view_insert(v, x))
		return;
	v->order = order_hash(v->order, x);
	v->set += set_hash(x);
}

/* Excludes an expression that cannot represent one of the values. */
static void view_kill(struct view *v)
{
	*v = (struct view){ .value = v->value, .cap = v->cap, .many = true };
}

static void view_merge(struct view *a, const struct view *b)
{
	bool first = a->n == 0 && !a->many;

	if (first) {
		a->order = b->order;
		a->set = b->set;
	}
	a->same_order = (first || a->same_order) && b->same_order && a->order == b->order;
	a->same_set = (first || a->same_set) && b->same_set && a->set == b->set;
	for (unsigned i = 0; i < b->n; i++)
		view_insert(a, b->value[i]);
	if (b->many) {
		a->many = true;
		a->n = 0;
	}
}

/* Adding */

static bool known(const struct rn_peers *p, const struct added *a, uint32_t tag)
{
	RN_MAP_EACH (&p->by_added, tag, i)
		if (memcmp(RN_SEG_AT(&p->added, struct added, i), a, sizeof(*a)) == 0)
			return true;
	return false;
}

static bool reserve_value(struct rn_peers *p, struct slot *s, uint32_t tag)
{
	for (unsigned e = 0; e < EXPRESSIONS; e++)
		if (!view_reserve(&s->view[e], p->mem, 1))
			return false;
	return rn_map_reserve(&p->by_added, tag) == 0 && rn_seg_reserve(&p->added, p->mem, 1);
}

int rn_peers_add(struct rn_peers *p, uint64_t key, int64_t value, int64_t rank, int64_t size)
{
	uint32_t slot = p->absorbed ? RN_MAP_NONE : need_slot(p, key), tag;
	struct added a = { slot, value, rank, size };
	int64_t number;

	if (slot == RN_MAP_NONE)
		return p->absorbed ? RN_E_ARG : RN_E_NOMEM;
	tag = (uint32_t)rn_hash(&a, sizeof(a));
	if (known(p, &a, tag))
		return RN_OK;
	if (!reserve_value(p, slot_at(p, slot), tag))
		return RN_E_NOMEM;
	slot_at(p, slot)->several = !empty(slot_at(p, slot));
	for (unsigned e = 0; e < EXPRESSIONS; e++) {
		struct view *v = &slot_at(p, slot)->view[e];

		if (rn_peer_express(kinds[e], value, rank, size, &number) == kinds[e])
			view_add(v, number);
		else
			view_kill(v);
	}
	*RN_SEG_AT(&p->added, struct added, p->added.n) = a;
	rn_map_insert(&p->by_added, tag, p->added.n++);
	return RN_OK;
}

/* Encoding */

struct sorted {
	uint64_t key;
	uint32_t slot;
};

static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct sorted *)a)->key, y = ((const struct sorted *)b)->key;

	return (x > y) - (x < y);
}

/* Returns the slots with values, sorted by key, or NULL. The caller rewinds the arena. */
static struct sorted *sort_slots(const struct rn_peers *p, uint32_t *n)
{
	struct sorted *s = rn_new(p->mem, struct sorted, (size_t)p->slot.n + 1);

	*n = 0;
	for (uint32_t i = 0; s && i < p->slot.n; i++)
		if (!empty(slot_at(p, i)))
			s[(*n)++] = (struct sorted){ slot_at(p, i)->key, i };
	if (s)
		qsort(s, *n, sizeof(*s), by_key);
	return s;
}

/* Writes a view. Hashes that follow from the values are omitted: that of a stored set, and that of
 * the order of one value. */
static void encode_view(const struct view *v, struct rn_buf *out)
{
	rn_buf_u64(out, (uint64_t)v->n << 2 | (uint64_t)v->same_order << 1 | v->same_set);
	for (unsigned i = 0; i < v->n; i++)
		if (i == 0)
			rn_buf_i64(out, v->value[0]);
		else
			rn_buf_u64(out, (uint64_t)v->value[i] - (uint64_t)v->value[i - 1] - 1);
	if (v->same_order && v->n != 1)
		rn_buf_le32(out, v->order);
	if (v->same_set && v->n == 0)
		rn_buf_le32(out, v->set);
}

int rn_peers_encode(const struct rn_peers *p, struct rn_buf *out)
{
	struct rn_arena_mark mark = rn_arena_mark(p->mem);
	uint32_t n;
	const struct sorted *s = sort_slots(p, &n);

	if (!s)
		return RN_E_NOMEM;
	rn_buf_u64(out, n);
	for (uint32_t i = 0; i < n; i++) {
		rn_buf_le64(out, s[i].key);
		rn_buf_byte(out, slot_at(p, s[i].slot)->several);
		for (unsigned e = 0; e < EXPRESSIONS; e++)
			encode_view(&slot_at(p, s[i].slot)->view[e], out);
	}
	rn_arena_rewind(p->mem, mark);
	return rn_buf_status(out);
}

/* Absorbing */

static uint64_t get_le(struct rn_reader *in, unsigned bytes)
{
	const unsigned char *b = rn_get_bytes(in, bytes);
	uint64_t v = 0;

	for (unsigned i = 0; b && i < bytes; i++)
		v |= (uint64_t)b[i] << 8 * i;
	return v;
}

static void decode_values(struct rn_reader *in, struct view *v)
{
	for (unsigned i = 0; i < v->n; i++) {
		uint64_t gap;

		if (i == 0) {
			v->value[0] = rn_get_i64(in);
			continue;
		}
		gap = rn_get_u64(in);
		v->value[i] = (int64_t)((uint64_t)v->value[i - 1] + gap + 1);
		if (gap == UINT64_MAX || v->value[i] <= v->value[i - 1])
			rn_fail(in);
	}
}

/* Reads one expression of one slot. Sets in->bad if rn_peers_encode cannot have written it. */
static void decode_view(struct rn_reader *in, struct view *v)
{
	uint64_t head = rn_get_max(in, (uint64_t)RN_PEERS_UNION << 2 | 3);

	v->n = (unsigned char)(head >> 2);
	v->many = v->n == 0;
	v->same_order = head >> 1 & 1;
	v->same_set = head & 1;
	if ((v->same_order && !v->same_set) || (v->n == 1 && !v->same_order))
		rn_fail(in);
	decode_values(in, v);
	if (in->bad)
		return;
	v->order = v->n == 1 ? order_hash(0, v->value[0]) : 0;
	v->set = 0;
	for (unsigned i = 0; i < v->n; i++)
		v->set += set_hash(v->value[i]);
	if (v->same_order && v->n != 1)
		v->order = (uint32_t)get_le(in, 4);
	if (v->same_set && v->n == 0)
		v->set = (uint32_t)get_le(in, 4);
}

/* A slot read from a summary, and the storage of its values. */
struct incoming {
	struct slot slot;
	int64_t value[EXPRESSIONS][RN_PEERS_UNION];
};

static bool read_slot(struct rn_reader *in, struct incoming *s, bool first)
{
	uint64_t key = get_le(in, 8);

	if (!first && key <= s->slot.key)
		rn_fail(in);
	s->slot.key = key;
	s->slot.several = rn_get_max(in, 1);
	for (unsigned e = 0; e < EXPRESSIONS; e++) {
		s->slot.view[e].value = s->value[e];
		decode_view(in, &s->slot.view[e]);
	}
	return !in->bad;
}

static bool prepare_slot(struct rn_peers *p, const struct incoming *s)
{
	uint32_t i = need_slot(p, s->slot.key);

	if (i == RN_MAP_NONE)
		return false;
	for (unsigned e = 0; e < EXPRESSIONS; e++)
		if (!view_reserve(&slot_at(p, i)->view[e], p->mem, s->slot.view[e].n))
			return false;
	return true;
}

static void commit_slot(struct rn_peers *p, const struct incoming *s)
{
	struct slot *to = slot_at(p, find_slot(p, s->slot.key));

	to->several = to->several || s->slot.several;
	for (unsigned e = 0; e < EXPRESSIONS; e++)
		view_merge(&to->view[e], &s->slot.view[e]);
}

#define SLOT_MIN (9 + EXPRESSIONS)

/* The first pass does everything that can fail, without a visible effect; the second pass applies
 * it. Keys ascend, so each key's reserved memory is used by that key only. */
int rn_peers_absorb(struct rn_peers *p, const void *bytes, size_t len, struct rn_err *err)
{
	struct rn_reader in = rn_reader(bytes, len), again;
	uint64_t n = rn_get_count(&in, SLOT_MIN);
	struct incoming s;

	again = in;
	for (uint64_t i = 0; i < n; i++) {
		if (!read_slot(&in, &s, i == 0))
			return rn_err_set(err, RN_E_DATA, "peers: slot %llu is malformed",
					  (unsigned long long)i);
		if (!prepare_slot(p, &s))
			return rn_err_nomem(err);
	}
	if (in.bad || rn_left(&in))
		return rn_err_set(err, RN_E_DATA, "peers: %s",
				  in.bad ? "cut off" : "bytes left over");
	for (uint64_t i = 0; i < n && read_slot(&again, &s, i == 0); i++)
		commit_slot(p, &s);
	p->absorbed = true;
	return RN_OK;
}

/* Choosing */

static enum rn_value_kind choose(const struct slot *s)
{
	unsigned best = 0, fewest = RN_PEERS_UNION + 1;

	for (unsigned e = 0; e < EXPRESSIONS; e++)
		if (s->view[e].same_order)
			return kinds[e];
	for (unsigned e = 0; e < EXPRESSIONS; e++)
		if (s->view[e].same_set)
			return kinds[e];
	if (!s->several)
		return RN_V_VARIES;
	for (unsigned e = 0; e < EXPRESSIONS; e++) {
		const struct view *v = &s->view[e];

		if (!v->many && v->n < fewest) {
			fewest = v->n;
			best = e;
		}
	}
	return kinds[best];
}

static void encode_choices(const struct rn_peers *p, const struct sorted *s, uint32_t n,
			   enum rn_value_kind kind, struct rn_buf *out)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < n; i++)
		count += choose(slot_at(p, s[i].slot)) == kind;
	rn_buf_u64(out, count);
	for (uint32_t i = 0; i < n; i++)
		if (choose(slot_at(p, s[i].slot)) == kind)
			rn_buf_le64(out, s[i].key);
}

int rn_choices_encode(const struct rn_peers *p, struct rn_buf *out)
{
	struct rn_arena_mark mark = rn_arena_mark(p->mem);
	uint32_t n;
	const struct sorted *s = sort_slots(p, &n);

	if (!s)
		return RN_E_NOMEM;
	for (unsigned e = 1; e < CHOICES; e++)
		encode_choices(p, s, n, kinds[e], out);
	rn_arena_rewind(p->mem, mark);
	return rn_buf_status(out);
}

struct rn_choices {
	const uint64_t
		*key[CHOICES]; /* keys sorted by value; no array for the absolute expression */
	uint64_t n[CHOICES];
};

int rn_choices_decode(struct rn_arena *mem, const void *bytes, size_t len, struct rn_choices **out,
		      struct rn_err *err)
{
	struct rn_reader in = rn_reader(bytes, len);
	struct rn_choices *c = rn_new(mem, struct rn_choices, 1);

	if (!c)
		return rn_err_nomem(err);
	for (unsigned e = 1; e < CHOICES; e++) {
		uint64_t n = rn_get_count(&in, 8), *key = rn_new(mem, uint64_t, n);

		if (!key)
			return rn_err_nomem(err);
		for (uint64_t i = 0; i < n; i++) {
			key[i] = get_le(&in, 8);
			if (i && key[i] <= key[i - 1])
				rn_fail(&in);
		}
		c->key[e] = key;
		c->n[e] = n;
	}
	if (in.bad || rn_left(&in))
		return rn_err_set(err, RN_E_DATA, "choices: malformed");
	*out = c;
	return RN_OK;
}

/* Returns the index of x, or UINT64_MAX. */
static uint64_t place_of(const uint64_t *key, uint64_t n, uint64_t x)
{
	struct rn_bisect b = { 0, n, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, key[b.mid] < x);
	return b.lo < n && key[b.lo] == x ? b.lo : UINT64_MAX;
}

enum rn_value_kind rn_choices_get(const struct rn_choices *c, uint64_t key)
{
	for (unsigned e = 1; e < CHOICES; e++)
		if (place_of(c->key[e], c->n[e], key) != UINT64_MAX)
			return kinds[e];
	return RN_V_INT;
}

uint64_t rn_choices_varying(const struct rn_choices *c, uint64_t key)
{
	return place_of(c->key[CHOICES - 1], c->n[CHOICES - 1], key);
}
