/* test_owned_ids.c - ids that belong to an owner, compared with a list of all ids. */
#include "base/arena.h"
#include "base/err.h"
#include "track/owned_ids.h"
#include "tap.h"

#include <string.h>

#define IDS    2000u
#define OWNERS 40u

static struct {
	struct rn_owned_ids ids;
	struct rn_arena mem;
	uint64_t owner[IDS];
	bool used[IDS];
	uint32_t n; /* number of ids */
} m;

static void start(void)
{
	memset(&m, 0, sizeof(m));
	rn_arena_init(&m.mem, SIZE_MAX);
	CHECK(rn_owned_ids_init(&m.ids, &m.mem) == RN_OK);
}

/* Model: the lowest free id of the owner, or a new id. */
static uint32_t expected(uint64_t owner)
{
	uint32_t i = 0;

	while (i < m.n && (m.used[i] || m.owner[i] != owner))
		i++;
	return i;
}

/* The number of ids below this one that belong to the owner. */
static uint32_t owned_below(uint64_t owner, uint32_t id)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < id; i++)
		n += m.owner[i] == owner;
	return n;
}

/* Returns false if an allocation failed. */
static bool take(uint64_t owner)
{
	uint32_t want = expected(owner), got = UINT32_MAX;

	if (rn_owned_ids_take(&m.ids, owner, &m.mem, &got) < 0)
		return false;
	CHECK(got == want);
	CHECK(rn_owned_ids_index(&m.ids, got) == owned_below(owner, got));
	m.n += got == m.n;
	m.owner[got] = owner;
	m.used[got] = true;
	return true;
}

static void give(uint32_t id)
{
	rn_owned_ids_give(&m.ids, id);
	m.used[id] = false;
}

static void random_steps(void)
{
	start();
	for (int step = 0; step < 20000; step++) {
		uint32_t id = (uint32_t)tap_below(IDS);

		if (id < m.n && m.used[id])
			give(id);
		else if (m.n < IDS)
			take((uint64_t)tap_below(OWNERS) << 40);
	}
	CHECK(m.n > OWNERS);
	rn_arena_free(&m.mem);
}

static void without_memory(void)
{
	for (uint64_t fail = 1; fail < 30; fail++) {
		start();
		m.mem.fail_at = fail;
		for (uint32_t i = 0; i < 300; i++) {
			uint32_t before = m.n;

			CHECK(take(i % 7) || m.n == before);
		}
		rn_arena_free(&m.mem);
	}
}

int main(void)
{
	random_steps();
	ok("each object gets the lowest free id of its owner");
	without_memory();
	ok("a failed allocation changes no id");
	return tap_done();
}
