/*
 * test_request.c - the table of requests, compared with a plain list, oldest first.
 *
 * Tokens are held over other operations, like those of threads that are inside a call, so many of
 * them are stale when they are used. There are few handles and few variables, so most requests
 * share theirs with others. Handles that are never reused make the table evict old entries.
 */
#include "base/arena.h"
#include "base/err.h"
#include "track/request_table.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

#define LIVE_MAX 4000u
#define HELD     40u /* tokens that threads hold */
#define ARRAY    24u

struct live {
	uint64_t handle;
	const void *var;
	uint32_t id; /* unique; also in the payload */
	uint32_t round;
};

struct held {
	struct rn_request_token token;
	uint32_t id; /* of the expected request; 0: none */
};

struct config {
	uint32_t handles, vars, live;
	bool fresh; /* handles count up, with a window of `handles` */
};

struct model {
	struct config c;
	struct rn_requests table;
	struct rn_arena mem;
	struct live live[LIVE_MAX];
	struct held held[HELD];
	uint32_t n, ids, round;
};

static struct model m;
static char variable[LIVE_MAX];

static void start(struct config c)
{
	rn_arena_free(&m.mem);
	memset(&m, 0, sizeof(m));
	m.c = c;
	m.round = 1;
	rn_arena_init(&m.mem, SIZE_MAX);
	CHECK(rn_requests_init(&m.table, &m.mem) == RN_OK);
}

/* Small and large handles, like those of the two MPI libraries. Handle 0 is valid. */
static uint64_t any_handle(void)
{
	uint64_t k = tap_below(m.c.handles) + (m.c.fresh ? m.ids : 0);

	return k & 1 ? 0x7f0012345600u + k * 448 : k;
}

static const void *any_variable(void)
{
	uint64_t k = tap_below(m.c.vars);

	return k ? &variable[k] : NULL;
}

static struct rn_request payload(uint32_t id)
{
	return (struct rn_request){ id * 3, id * 5, id, id * 7, id * 11, (uint8_t)id };
}

static bool is_payload(const struct rn_request *r, uint32_t id)
{
	return r && r->slot == id && r->stream == id * 3 && r->shape == id * 5 &&
	       r->comm == id * 7 && r->aux == id * 11 && r->kind == (uint8_t)id;
}

/* ---- the same operations on both ---- */

static bool add(uint64_t handle, const void *var)
{
	struct rn_request r = payload(m.ids + 1);

	if (rn_requests_add(&m.table, handle, var, &r) < 0)
		return false;
	m.live[m.n++] = (struct live){ handle, var, ++m.ids, 0 };
	return true;
}

static struct live *model_at(uint64_t handle, const void *var)
{
	for (uint32_t i = 0; i < m.n; i++)
		if (m.live[i].handle == handle && m.live[i].var == var)
			return &m.live[i];
	return NULL;
}

static struct live *model_moved(uint64_t handle)
{
	for (uint32_t i = 0; i < m.n; i++)
		if (m.live[i].handle == handle && m.live[i].round != m.round)
			return &m.live[i];
	return NULL;
}

static bool model_remove(uint32_t id)
{
	for (uint32_t i = 0; i < m.n; i++)
		if (m.live[i].id == id) {
			memmove(&m.live[i], &m.live[i + 1], (--m.n - i) * sizeof(m.live[0]));
			return true;
		}
	return false;
}

static void begin(void)
{
	rn_requests_begin(&m.table);
	m.round++;
}

/* Whether the token refers to the request that the model found. If so, a thread holds it. */
static bool given(struct rn_request_token k, struct live *l, struct held *h)
{
	*h = (struct held){ k, l ? l->id : 0 };
	if (!l)
		return k.entry == 0 && !rn_requests_get(&m.table, k);
	l->round = m.round;
	return is_payload(rn_requests_get(&m.table, k), l->id);
}

static bool find(struct held *h)
{
	uint64_t handle = any_handle();
	const void *var = any_variable();
	struct rn_request_token k = rn_requests_find(&m.table, handle, var);
	struct live *l = model_at(handle, var);

	if (!l) {
		m.round++;
		l = model_moved(handle);
	}
	return given(k, l, h);
}

/* A call with an array. Its elements are different variables, so no request is found twice. */
static bool find_array(void)
{
	uint64_t handle[ARRAY];
	uint32_t n = (uint32_t)tap_below(ARRAY), v = (uint32_t)tap_below(m.c.vars);
	bool good = true;

	begin();
	for (uint32_t i = 0; i < n; i++) {
		const void *var = &variable[1 + (v + i) % (LIVE_MAX - 1)];

		handle[i] = any_handle();
		good &= given(rn_requests_find_at(&m.table, handle[i], var),
			      model_at(handle[i], var), &m.held[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		if (!m.held[i].id)
			good &= given(rn_requests_find_moved(&m.table, handle[i]),
				      model_moved(handle[i]), &m.held[i]);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			good &= !m.held[i].id || m.held[i].id != m.held[j].id;
	return good;
}

/* One more request in the current round, whatever has happened since the round began. */
static bool find_more(struct held *h)
{
	uint64_t handle = any_handle();

	return given(rn_requests_find_moved(&m.table, handle), model_moved(handle), h);
}

static bool remove_held(struct held *h)
{
	bool there = model_remove(h->id);

	return (rn_requests_get(&m.table, h->token) != NULL) == there &&
	       rn_requests_remove(&m.table, h->token) == there;
}

/* Removes a request. Without this the table would only grow. */
static bool complete_one(void)
{
	struct live l = m.live[tap_below(m.n)];
	struct rn_request_token k = rn_requests_find(&m.table, l.handle, l.var);

	return model_remove(model_at(l.handle, l.var)->id) && rn_requests_remove(&m.table, k);
}

/* ---- tests ---- */

static bool ages_agree(uint64_t handle)
{
	struct held h;
	bool good = true;

	begin();
	do
		good &= given(rn_requests_find_moved(&m.table, handle), model_moved(handle), &h);
	while (good && h.id);
	return good;
}

static bool first_of_its_handle(uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (m.live[k].handle == m.live[i].handle)
			return false;
	return true;
}

static bool agrees(void)
{
	struct held h;

	for (uint32_t i = 0; i < m.n; i++) {
		struct live *l = &m.live[i];

		if (!given(rn_requests_find_at(&m.table, l->handle, l->var),
			   model_at(l->handle, l->var), &h))
			return false;
		if (first_of_its_handle(i) && !ages_agree(l->handle))
			return false;
	}
	return rn_requests_check(&m.table);
}

static bool operation(uint32_t adds)
{
	struct held *h = &m.held[tap_below(HELD)];

	if (tap_below(10) < adds && m.n < m.c.live)
		return add(any_handle(), any_variable());
	switch (tap_below(m.n ? 6 : 5)) {
	case 0:
		return tap_below(4) ? find_more(h) : find(h);
	case 1:
		return tap_below(4) ? find_more(h) : find_array();
	case 2:
	case 3:
	case 4:
		return remove_held(h);
	default:
		return complete_one();
	}
}

/* Phases that mostly add requests alternate with phases that mostly remove them. */
static void test_random(struct config c, uint32_t ops)
{
	uint32_t adds = 6;
	uint64_t wrong = 0;

	start(c);
	for (uint32_t i = 0; i < ops; i++) {
		if (i % (ops / 20) == 0) {
			adds = adds == 6 ? 2 : 6;
			CHECK(agrees());
		}
		wrong += !operation(adds);
	}
	CHECK(wrong == 0);
	CHECK(agrees());
}

/* Each allocation fails, and the next two as well. The table is unchanged after each failure, and
 * the add succeeds when it is repeated. */
static void test_failures(struct config c)
{
	unsigned failures = 0;

	start(c);
	while (m.n < c.live) {
		uint64_t handle = any_handle();
		const void *var = any_variable();
		uint32_t n = m.n;

		for (uint64_t k = 1; k <= 3 && m.n == n; k++) {
			m.mem.fail_at = k;
			errno = EDOM;
			if (add(handle, var))
				continue;
			failures++;
			CHECK(errno == EDOM && agrees());
		}
		m.mem.fail_at = 0;
		CHECK(m.n > n || add(handle, var));
	}
	CHECK(failures > 3);
	CHECK(agrees());
	while (m.n && CHECK(complete_one()))
		;
	CHECK(agrees());
}

static void test_init_failures(void)
{
	struct rn_arena mem;
	struct rn_requests t;
	int rc = RN_E_NOMEM;

	rn_arena_init(&mem, SIZE_MAX);
	for (uint64_t k = 1; rc != RN_OK && k < 10; k++) {
		mem.fail_at = k;
		rc = rn_requests_init(&t, &mem);
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
	}
	CHECK(rc == RN_OK && rn_requests_check(&t));
	rn_arena_free(&mem);
}

/* A program that loses its requests: one handle, one variable. The k-th found is the k-th added, by
 * the variable and by age. A few other requests are added in between. */
static void test_forgotten(void)
{
	const uint32_t n = 200000, others = 1000;
	uint64_t wrong = 0;

	start((struct config){ 1, 1, 1, false });
	for (uint32_t i = 1; i <= n; i++) {
		struct rn_request r = payload(i);

		wrong += rn_requests_add(&m.table, 77, variable, &r) < 0;
		if (i <= n - others)
			continue;
		wrong += rn_requests_add(&m.table, 1000 + i, variable, &r) < 0;
		wrong += !rn_requests_find(&m.table, 1000 + i, variable).entry;
	}
	CHECK(wrong == 0 && rn_requests_check(&m.table));
	for (uint32_t i = 1; i <= n; i++) {
		const void *var = i % 3 ? variable : variable + 1;
		struct rn_request_token k = rn_requests_find(&m.table, 77, var);

		wrong += !is_payload(rn_requests_get(&m.table, k), i);
		wrong += !rn_requests_remove(&m.table, k) || rn_requests_remove(&m.table, k);
	}
	CHECK(wrong == 0 && rn_requests_check(&m.table));
	CHECK(rn_requests_find(&m.table, 77, variable).entry == 0);
	for (uint32_t i = n; i > n - others; i--) {
		struct rn_request_token k = rn_requests_find(&m.table, 1000 + i, variable);

		wrong += !is_payload(rn_requests_get(&m.table, k), i);
	}
	CHECK(wrong == 0);
}

/* The memory for removed requests is bounded: for handles with one request and with several, and
 * for variables of one handle. */
static void test_memory(void)
{
	size_t mapped;

	start((struct config){ 1, 1, 1, false });
	mapped = m.mem.mapped;
	for (uint32_t i = 0; i < 1000000; i++) {
		struct rn_request r = payload(i);
		uint64_t handle[] = { 100 + i, 100 + i % 2 * i, 5, 5 };

		for (uint32_t k = 0; k < 4; k++)
			rn_requests_add(&m.table, handle[k], variable + (i + k) % 1000, &r);
		for (uint32_t k = 0; k < 4; k++)
			rn_requests_remove(&m.table,
					   rn_requests_find(&m.table, handle[k], variable));
	}
	CHECK(rn_requests_check(&m.table));
	CHECK(m.mem.mapped == mapped);
}

/* The consistency check must detect an inconsistent table. */
static void test_check(void)
{
	struct rn_request_entry *e;
	uint32_t group;

	start((struct config){ 3, 2, 60, false });
	while (m.n < 60)
		add(any_handle(), any_variable());
	CHECK(rn_requests_check(&m.table));
	m.table.used++;
	CHECK(!rn_requests_check(&m.table));
	m.table.used--;
	m.table.nfree--;
	CHECK(!rn_requests_check(&m.table));
	m.table.nfree++;
	e = rn_requests_entry(&m.table, rn_requests_find(&m.table, 0, NULL).entry);
	group = e->group;
	CHECK(group != 0);
	e->group = 0;
	CHECK(!rn_requests_check(&m.table));
	e->group = group;
	e->key++;
	CHECK(!rn_requests_check(&m.table));
	e->key--;
	e->newer = 0;
	CHECK(!rn_requests_check(&m.table));
}

int main(void)
{
	test_random((struct config){ 3, 8, 40, false }, 1000000);
	ok("a million operations agree with the model: 3 handles, 8 variables");
	test_random((struct config){ 20, 4, 60, false }, 300000);
	test_random((struct config){ 1, 60, 100, false }, 200000);
	ok("... mostly alone; one handle");
	test_random((struct config){ 10, 30, 60, true }, 500000);
	ok("... handles that do not come back");
	test_random((struct config){ 2000, LIVE_MAX, LIVE_MAX, false }, 30000);
	test_random((struct config){ 2, LIVE_MAX, LIVE_MAX, false }, 30000);
	test_random((struct config){ 2, 2, LIVE_MAX, false }, 30000);
	ok("... thousands live");
	test_failures((struct config){ 2000, 100, LIVE_MAX, false });
	test_failures((struct config){ 2, 1000, 2000, false });
	test_failures((struct config){ 1, 1, 2000, false });
	test_init_failures();
	ok("every allocation fails in turn and the table is as it was");
	test_forgotten();
	ok("200 thousand with one handle and one variable");
	test_memory();
	ok("what is gone is forgotten in the end");
	test_check();
	ok("the check sees damage");
	rn_arena_free(&m.mem);
	return tap_done();
}
