/*
 * test_map.c - the hash table, compared with a plain array.
 *
 * The test chooses a number k, a function maps it to a tag, and the entry is (tag(k), k). The model
 * is therefore an array with the number of entries in the table for each k.
 */
#include "base/err.h"
#include "base/map.h"
#include "tap.h"

#include <string.h>

/* The function that maps numbers to tags determines which code of the table is exercised. */
static uint32_t tag_spread(uint32_t k)
{
	return k * 2654435761u;
}

static uint32_t tag_low(uint32_t k) /* prefixes of one page: pages double and split often */
{
	return k;
}

static uint32_t tag_high(uint32_t k) /* one home slot per page: long probe runs */
{
	return k << 18;
}

static uint32_t tag_few(uint32_t k) /* many equal tags */
{
	return (k % 7) * 0x20000003u;
}

#define KEYS   (1u << 13)
#define COPIES 2 /* each (tag, value) at most this often */

struct model {
	uint32_t (*tag)(uint32_t);
	struct rn_map map;
	struct rn_arena mem;
	uint8_t copies[KEYS]; /* entries (tag(k), k) in the table */
	uint64_t used;
};

static void model_init(struct model *m, uint32_t (*tag)(uint32_t))
{
	memset(m, 0, sizeof(*m));
	m->tag = tag;
	rn_arena_init(&m->mem, SIZE_MAX);
	CHECK(rn_map_init(&m->map, &m->mem) == RN_OK);
}

/* Returns how often a search for the tag of k returns k. */
static uint32_t found(const struct model *m, uint32_t k)
{
	uint32_t tag = m->tag(k), pos = tag, n = 0, val;
	const struct rn_map_page *p = rn_map_page(&m->map, tag);

	while ((val = rn_map_next(p, tag, &pos)) != RN_MAP_NONE)
		n += val == k;
	return n;
}

static bool agrees(const struct model *m)
{
	for (uint32_t k = 0; k < KEYS; k++)
		if (found(m, k) != m->copies[k])
			return false;
	return m->map.used == m->used && rn_map_check(&m->map);
}

static bool insert(struct model *m, uint32_t k)
{
	if (m->copies[k] == COPIES)
		return true;
	if (rn_map_reserve(&m->map, m->tag(k)) < 0)
		return false;
	rn_map_insert(&m->map, m->tag(k), k);
	m->copies[k]++;
	m->used++;
	return true;
}

static bool drop(struct model *m, uint32_t k)
{
	bool had = m->copies[k] > 0;

	if (rn_map_remove(&m->map, m->tag(k), k) != had)
		return false;
	m->copies[k] = (uint8_t)(m->copies[k] - had);
	m->used -= had;
	return true;
}

static void clear(struct model *m)
{
	rn_map_clear(&m->map);
	memset(m->copies, 0, sizeof(m->copies));
	m->used = 0;
}

/* Phases that mostly insert alternate with phases that mostly delete. */
static void test_random(uint32_t (*tag)(uint32_t), uint32_t ops, uint32_t keys)
{
	static struct model m;
	uint64_t wrong = 0;
	uint32_t inserts = 7; /* of 10 */

	model_init(&m, tag);
	for (uint32_t i = 0; i < ops; i++) {
		uint32_t k = (uint32_t)tap_below(keys);

		if (i % (ops / 20) == 0) {
			inserts = inserts == 7 ? 3 : 7;
			CHECK(agrees(&m));
		}
		if (i % (ops / 3) == ops / 4)
			clear(&m);
		if (tap_below(10) < inserts)
			wrong += !insert(&m, k);
		else
			wrong += !drop(&m, k);
		if (tag != tag_few || i % 16 == 0)
			wrong += found(&m, k) != m.copies[k];
	}
	CHECK(wrong == 0);
	CHECK(agrees(&m));
	rn_arena_free(&m.mem);
}

/* A large table: pages and directory split, memory is proportional to the entries, and all
 * entries are found. */
static void test_large(void)
{
	const uint32_t n = 1000000;
	struct rn_arena mem;
	struct rn_map m;
	uint64_t missing = 0;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_map_init(&m, &mem) == RN_OK);
	for (uint32_t k = 0; k < n; k++) {
		if (!CHECK(rn_map_reserve(&m, tag_spread(k)) == RN_OK))
			return;
		rn_map_insert(&m, tag_spread(k), k);
	}
	CHECK(m.used == n && rn_map_check(&m));
	for (uint32_t k = 0; k < n; k++) {
		uint32_t pos = tag_spread(k);

		missing += rn_map_next(rn_map_page(&m, pos), tag_spread(k), &pos) != k;
	}
	CHECK(missing == 0);
	CHECK(mem.mapped < (size_t)n * 8 * 5);
	for (uint32_t k = 0; k < n; k += 2)
		missing += !rn_map_remove(&m, tag_spread(k), k);
	CHECK(missing == 0);
	CHECK(m.used == n / 2 && rn_map_check(&m));
	rn_arena_free(&mem);
}

/* One tag only, with far more entries than a page may hold: the table becomes slow, but stays
 * correct. */
static void test_one_tag(void)
{
	const uint32_t n = 8000, tag = 0xdeadbeef;
	struct rn_arena mem;
	struct rn_map m;
	uint8_t *seen = calloc(n, 1);
	uint32_t val, pos = tag, twice = 0, count = 0;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_map_init(&m, &mem) == RN_OK);
	for (uint32_t k = 0; k < n; k++) {
		if (!CHECK(rn_map_reserve(&m, tag) == RN_OK))
			return;
		rn_map_insert(&m, tag, k);
	}
	while ((val = rn_map_next(rn_map_page(&m, tag), tag, &pos)) != RN_MAP_NONE) {
		twice += seen[val]++ != 0;
		count++;
	}
	CHECK(count == n && twice == 0 && rn_map_page(&m, tag)->used == n);
	CHECK(!rn_map_remove(&m, tag ^ 1, 5));
	CHECK(rn_map_remove(&m, tag, 5) && !rn_map_remove(&m, tag, 5));
	rn_map_clear(&m);
	CHECK(m.used == 0 && rn_map_check(&m));
	rn_arena_free(&mem);
	free(seen);
}

/* Each allocation that an insertion makes fails once, and again in the next two attempts. The
 * table is valid and unchanged after every failure, and the repeated insertion succeeds. */
static void test_failures(uint32_t (*tag)(uint32_t), uint32_t keys)
{
	static struct model m;
	unsigned failures = 0;

	model_init(&m, tag);
	for (uint32_t i = 0; i < keys; i++) {
		/* A split makes up to three allocations. Each of them fails in turn. */
		for (uint64_t at = 1; at <= 3; at++) {
			m.mem.fail_at = at;
			if (insert(&m, i))
				break;
			failures++;
			CHECK(agrees(&m));
		}
		m.mem.fail_at = 0;
		CHECK(m.copies[i] || insert(&m, i));
	}
	CHECK(failures > 3);
	CHECK(m.used == keys && agrees(&m));
	rn_arena_free(&m.mem);
}

static void test_init_failures(void)
{
	struct rn_arena mem;
	struct rn_map m;
	int rc = RN_E_NOMEM;

	rn_arena_init(&mem, SIZE_MAX);
	for (uint64_t at = 1; rc != RN_OK && at < 10; at++) {
		mem.fail_at = at;
		rc = rn_map_init(&m, &mem);
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
	}
	CHECK(rc == RN_OK && rn_map_check(&m) && m.used == 0);
	rn_arena_free(&mem);
}

/* rn_map_check is useful only if it detects errors: each of these is one. */
static void test_check(void)
{
	static struct model m;
	struct rn_map_page *p;

	model_init(&m, tag_spread);
	for (uint32_t k = 0; k < 2000; k++)
		insert(&m, k);
	CHECK(rn_map_check(&m.map));
	m.map.used++;
	CHECK(!rn_map_check(&m.map));
	m.map.used--;
	p = rn_map_page(&m.map, tag_spread(5));
	p->used++;
	CHECK(!rn_map_check(&m.map));
	p->used--;
	for (uint32_t i = 0; i <= p->mask; i++)
		if (p->slot[i].val != RN_MAP_NONE) {
			p->slot[i].tag += p->mask / 2 + 1;
			break;
		}
	CHECK(!rn_map_check(&m.map));
	rn_arena_free(&m.mem);
}

int main(void)
{
	test_random(tag_spread, 1500000, KEYS);
	ok("1.5 million operations agree with the model: tags well spread");
	test_random(tag_low, 500000, KEYS);
	ok("... tags that share their top bits");
	test_random(tag_high, 500000, 2000);
	ok("... tags that share their home slot");
	test_random(tag_few, 200000, 700);
	ok("... seven tags for everything");
	test_large();
	ok("a million entries");
	test_one_tag();
	ok("8000 entries under one tag");
	test_failures(tag_spread, KEYS);
	test_failures(tag_low, KEYS);
	test_failures(tag_few, KEYS / 2);
	test_init_failures();
	ok("every allocation fails in turn and the table is as it was");
	test_check();
	ok("the check sees damage");
	return tap_done();
}
