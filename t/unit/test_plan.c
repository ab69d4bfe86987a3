/*
 * test_plan.c - replay plans: written, mapped and damaged; and the matches of receives, from
 * events.
 */
#include "tap.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "encode/call_words.h"
#include "order/replay_plan.h"

/* ---- writing and reading ---- */

static const struct rn_order_site site[] = { { RN_ORDER_SOME, 7, 0, 1 },
					     { RN_ORDER_VALUE, 9, 0, 0 } };
static struct rn_order_row row[] = { { 0, 12, 2 }, { 1, 0, 1 }, { 0, 3, 0 } };
static struct rn_order_done done[] = { { 0, 1, 4, 5, RN_ORDER_MATCHED },
				       { 3, RN_ORDER_NOT, 0, 0, 0 } };
static int64_t value[] = { 123 };
static const struct rn_plan_call call[] = { { 3, 1, 2, RN_PLAN_ANY, 10, 4, 5 } };
static const struct rn_plan_match match[] = { { 6, 7, RN_PLAN_INFERRED, 0 } };
static const char *const comm[] = { "MPI_COMM_WORLD", "comm:world.0" };
static const char *const place[] = { "main+0x10" };

static const struct rn_plan_part parts[] = {
	{ .order = { .site = site,
		     .row = row,
		     .done = done,
		     .value = value,
		     .sites = 2,
		     .rows = 3,
		     .dones = 2,
		     .values = 1 },
	  .call = call,
	  .calls = 1 },
	{ .match = match, .matches = 1 },
};

static const char *const fact[] = { "program", "app", "arguments", "" };

static const struct rn_plan_membership member[] = {
	{ 3, "comm:world.0", { 0, 1, 2, 4, 0, 0 } },
	{ 3, "comm:world.0.0", { 0, 0, 2, 4, 6, 1 } },
	{ 3, "comm:world.10", { 0, 3, 8, 1, 0, 0 } },
};

static const struct rn_plan_turn turn[] = { { 0, 1, RN_PLAN_SENDS, 1, 0 },
					    { 9, 1, RN_PLAN_SENDS, 0, 0 },
					    { 2, 2, RN_PLAN_RECEIVES, 1, 0 },
					    { 0, 2, RN_PLAN_SENDS, 1, 0 } };

static const struct rn_plan_source source = { 3, 8,    parts, 2,      comm, place, 2,
					      1, fact, 2,     member, 3,    turn,  4 };

/* Copies a plan to memory with the alignment of a mapping. */
static void *aligned(const struct rn_buf *b)
{
	void *p = aligned_alloc(8, (b->len + 7) & ~(size_t)7);

	if (CHECK(p != NULL) && b->len)
		memcpy(p, b->data, b->len);
	return p;
}

static const char *name_at(const struct rn_plan_head *h, const struct rn_plan_list *l, uint32_t i)
{
	return rn_plan_at(h, ((const uint64_t *)rn_plan_at(h, l->at))[i]);
}

static bool is_there(const struct rn_plan_head *h, const struct rn_plan_list *l, const void *p,
		     size_t size, uint64_t n)
{
	return l->n == n && memcmp(rn_plan_at(h, l->at), p, size * n) == 0;
}

static void check_streams(const struct rn_plan_head *h)
{
	const struct rn_plan_stream *s = rn_plan_at(h, h->stream.at);
	const struct rn_plan_match seen[] = { { 0, 0, RN_PLAN_UNSEEN, 0 },
					      { 4, 5, RN_PLAN_MATCHED, 1 } };

	CHECK(is_there(h, &s->site, site, sizeof(*site), 2));
	CHECK(is_there(h, &s->row, row, sizeof(*row), 3));
	CHECK(is_there(h, &s->done, done, sizeof(*done), 2));
	CHECK(is_there(h, &s->value, value, sizeof(*value), 1));
	CHECK(is_there(h, &s->call, call, sizeof(*call), 1));
	CHECK(is_there(h, &s->match, seen, sizeof(*seen), 2));
	CHECK(!rn_plan_done(s) && !rn_plan_done(&s[1]));
	CHECK(s[1].site.n == 0 && s[1].row.n == 0 && s[1].call.n == 0);
	CHECK(is_there(h, &s[1].match, match, sizeof(*match), 1));
}

static void check_members(const struct rn_plan_head *h)
{
	for (int i = 0; i < 3; i++) {
		const struct rn_plan_member *m = rn_plan_member(h, member[i].name);

		CHECK(m && strcmp(rn_plan_at(h, m->name), member[i].name) == 0);
		CHECK(m && memcmp(&m->rank, &member[i].in.rank,
				  sizeof(*m) - offsetof(struct rn_plan_member, rank)) == 0);
	}
	CHECK(!rn_plan_member(h, "comm:world") && !rn_plan_member(h, "comm:world.1"));
	CHECK(!rn_plan_member(h, "comm:world.9") && !rn_plan_member(h, ""));
}

static void check_turns(const struct rn_plan_head *h)
{
	const struct rn_plan_turn *all = rn_plan_at(h, h->turn.at);
	uint64_t n;

	for (uint32_t hint = 0; hint < 3; hint++) {
		CHECK(rn_plan_comm(h, comm[0], hint) == 1 && rn_plan_comm(h, comm[1], hint) == 2);
		CHECK(rn_plan_comm(h, "comm:world", hint) == 0);
	}
	CHECK(rn_plan_turns(h, 1, RN_PLAN_SENDS, &n) == all && n == 2);
	CHECK(rn_plan_turns(h, 2, RN_PLAN_RECEIVES, &n) == all + 2 && n == 1);
	CHECK(rn_plan_turns(h, 2, RN_PLAN_SENDS, &n) == all + 3 && n == 1);
	rn_plan_turns(h, 1, RN_PLAN_RECEIVES, &n);
	CHECK(n == 0);
	rn_plan_turns(h, 3, RN_PLAN_SENDS, &n);
	CHECK(n == 0);
}

/* The second stream has a receive to start and no rows. The first one has both. */
static void check_done(const struct rn_plan_head *h)
{
	struct rn_plan_stream s[2];

	memcpy(s, rn_plan_at(h, h->stream.at), sizeof(s));
	s[1].progress.messages = s[0].progress.messages = 1;
	CHECK(rn_plan_done(&s[1]) && !rn_plan_done(&s[0]));
	s[0].progress.row = 3;
	CHECK(rn_plan_done(&s[0]));
	s[0].progress.messages = 0;
	CHECK(!rn_plan_done(&s[0]));
}

static void test_write(void)
{
	struct rn_buf b = { 0 };
	struct rn_plan_head *h;

	CHECK(rn_plan_write(&source, &b) == RN_OK);
	h = aligned(&b);
	CHECK(rn_plan_valid(h, b.len) && h->rank == 3 && h->ranks == 8 && h->stream.n == 2);
	check_streams(h);
	check_members(h);
	check_done(h);
	CHECK(h->comm.n == 2 && strcmp(name_at(h, &h->comm, 0), comm[0]) == 0);
	CHECK(strcmp(name_at(h, &h->comm, 1), comm[1]) == 0);
	CHECK(strcmp(rn_plan_fact(h, "program"), "app") == 0);
	CHECK(strcmp(rn_plan_fact(h, "arguments"), "") == 0 && !rn_plan_fact(h, "app"));
	CHECK(is_there(h, &h->turn, turn, sizeof(*turn), 4));
	check_turns(h);
	CHECK(h->place.n == 1 && strcmp(name_at(h, &h->place, 0), place[0]) == 0);
	free(h);
	rn_buf_free(&b);
}

/* Appended to other bytes, and without content. */
static void test_append(void)
{
	const struct rn_plan_source none = { .ranks = 1 };
	struct rn_buf b = { 0 }, c = { 0 };
	void *p;

	rn_buf_add(&b, "abc", 3);
	CHECK(rn_plan_write(&source, &b) == RN_OK && rn_plan_write(&source, &c) == RN_OK);
	CHECK(b.len == c.len + 3 && memcmp(b.data + 3, c.data, c.len) == 0);
	rn_buf_clear(&c);
	CHECK(rn_plan_write(&none, &c) == RN_OK);
	p = aligned(&c);
	CHECK(rn_plan_valid(p, c.len));
	free(p);
	rn_buf_free(&b);
	rn_buf_free(&c);
}

static void test_no_memory(void)
{
	int rc = RN_E_NOMEM;

	for (uint64_t n = 1; rc == RN_E_NOMEM && n < 100; n++) {
		struct rn_buf b = { 0 };

		rn_buf_fail_at(n);
		rc = rn_plan_write(&source, &b);
		rn_buf_fail_at(0);
		rn_buf_free(&b);
	}
	CHECK(rc == RN_OK);
}

/* Reads everything that an offset refers to. */
static uint64_t touch_all(const struct rn_plan_head *h)
{
	const struct rn_plan_stream *s = rn_plan_at(h, h->stream.at);
	const struct rn_plan_turn *t = rn_plan_at(h, h->turn.at);
	uint64_t sum = 0;

	for (uint64_t i = 0; i < h->turn.n; i++)
		sum += s[t[i].stream].row.n;
	for (uint32_t i = 0; i < h->comm.n; i++)
		sum += strlen(name_at(h, &h->comm, i));
	for (uint32_t i = 0; i < h->place.n; i++)
		sum += strlen(name_at(h, &h->place, i));
	sum += rn_plan_fact(h, "none") != NULL;
	for (uint32_t i = 0; i < h->member.n; i++)
		sum += rn_plan_member(h, member[i % 3].name) != NULL;
	for (uint64_t i = 0; i < h->stream.n; i++)
		for (uint64_t k = 0; k < s[i].row.n; k++) {
			const struct rn_order_row *r = rn_plan_at(h, s[i].row.at);
			const struct rn_order_site *at = rn_plan_at(h, s[i].site.at);

			sum += at[r[k].site].kind;
		}
	return sum;
}

/* The plan is in memory of exactly its size, so that a sanitizer finds reads beyond its end. */
static void test_damage(void)
{
	struct rn_buf b = { 0 };
	unsigned char *p;
	uint64_t sum = 0;

	CHECK(rn_plan_write(&source, &b) == RN_OK);
	p = aligned(&b);
	for (size_t len = 0; len < b.len; len++)
		CHECK(!rn_plan_valid(p, len));
	for (unsigned i = 0; i < 20000; i++) {
		size_t at = tap_rand() % b.len;

		p[at] ^= (unsigned char)(1u << tap_rand() % 8);
		if (rn_plan_valid(p, b.len))
			sum += touch_all((void *)p);
		p[at] = b.data[at];
	}
	CHECK(rn_plan_valid(p, b.len) && sum > 0);
	free(p);
	rn_buf_free(&b);
}

/* ---- cancels ---- */

static uint32_t function_named(const char *name)
{
	uint32_t i = 0;

	while (strcmp(rn_mpi_vocab.func[i].name, name) != 0)
		i++;
	return rn_mpi_vocab.func[i].number;
}

/* Among other ordinals, and in another order. */
static void test_cancels(void)
{
	const struct rn_order_site sites[] = {
		{ RN_ORDER_CANCELLATION, RN_ORDER_NO_FUNCTION, 0, 0 },
		{ RN_ORDER_VALUE, function_named("MPI_Wtime"), 0, 0 },
		{ RN_ORDER_WAIT, function_named("MPI_Cancel"), 0, 0 },
		{ RN_ORDER_VALUE, UINT32_MAX, 0, 0 }
	};
	struct rn_order_row rows[] = { { 0, 0, 1 }, { 1, 0, 2 }, { 3, 0, 1 }, { 0, 0, 1 } };
	int64_t values[] = { 9 << 1 | 1, 5, 7, 3, 4 << 1 };
	const struct rn_order o = {
		.site = sites, .row = rows, .value = values, .sites = 4, .rows = 4, .values = 5
	};
	const struct rn_plan_cancel want[] = { { 4, 0 }, { 9, 1 } };
	struct rn_plan_cancel *got;
	struct rn_arena mem;
	size_t n;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_plan_cancels(&mem, &o, &got, &n) == RN_OK && n == 2);
	CHECK(memcmp(got, want, sizeof(want)) == 0);
	mem.fail_at = 1;
	CHECK(rn_plan_cancels(&mem, &o, &got, &n) == RN_E_NOMEM);
	rn_arena_free(&mem);
	CHECK(!rn_order_in_order(&sites[0]) && rn_order_in_order(&sites[1]));
	CHECK(!rn_order_in_order(&sites[2]) && rn_order_in_order(&sites[3]));
}

/* ---- matches ---- */

#define RECEIVES 60

static const struct rn_order_site waits = { .kind = RN_ORDER_WAIT };

/* Receives complete in random order; some never complete, some are cancelled. The model counts the
 * receives that are open. */
static void random_matches(void)
{
	struct rn_order_done d[2 * RECEIVES];
	struct rn_order_row r[2 * RECEIVES];
	struct rn_plan_match want[RECEIVES], *got;
	struct rn_order o = { .site = &waits, .row = r, .done = d };
	bool is_done[RECEIVES + 1] = { false };
	struct rn_arena mem;
	size_t n = 0, end;

	for (unsigned i = 0; i < RECEIVES; i++)
		want[i] = (struct rn_plan_match){ .state = RN_PLAN_UNSEEN };
	for (unsigned i = 0; i < 2 * RECEIVES; i++) {
		uint32_t k = (uint32_t)(tap_rand() % RECEIVES), late = 0;
		bool cancelled = tap_rand() % 4 == 0;

		if (o.rows == 0 || tap_rand() % 2)
			r[o.rows++] = (struct rn_order_row){ 0 };
		r[o.rows - 1].done++;
		for (uint32_t lower = 0; lower < k; lower++)
			late += !is_done[lower];
		if (is_done[k]) { /* a completion that is not a receive instead */
			d[o.dones++] = (struct rn_order_done){ .late = RN_ORDER_NOT };
			continue;
		}
		d[o.dones++] =
			(struct rn_order_done){ 0, late, (int32_t)k, 7,
						cancelled ? RN_ORDER_CANCELLED : RN_ORDER_MATCHED };
		is_done[k] = true;
		want[k].row = (uint32_t)o.rows;
		want[k].state = cancelled ? RN_PLAN_CANCELLED : RN_PLAN_MATCHED;
		if (!cancelled) {
			want[k].source = (int32_t)k;
			want[k].tag = 7;
		}
		n = k + 1 > n ? k + 1 : n;
	}
	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_plan_matches(&mem, &o, &got, &end) == RN_OK && end == n);
	CHECK(memcmp(got, want, n * sizeof(*got)) == 0);
	mem.fail_at = 1;
	CHECK(rn_plan_matches(&mem, &o, &got, &end) == RN_E_NOMEM);
	rn_arena_free(&mem);
}

static int matches_of(struct rn_order_done *d, size_t n)
{
	struct rn_order_row r = { .done = (uint32_t)n };
	const struct rn_order o = {
		.site = &waits, .row = &r, .rows = n > 0, .done = d, .dones = n
	};
	struct rn_plan_match *m;
	struct rn_arena mem;
	size_t end;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rc = rn_plan_matches(&mem, &o, &m, &end);
	rn_arena_free(&mem);
	return rc;
}

static void test_nonsense(void)
{
	struct rn_order_done far = { 0, RN_ORDER_NOT - 1, 0, 0, RN_ORDER_MATCHED };

	CHECK(matches_of(NULL, 0) == RN_OK);
	CHECK(matches_of(&far, 1) == RN_E_DATA);
}

int main(void)
{
	test_write();
	test_append();
	ok("a plan has what it was made of");
	test_no_memory();
	ok("every allocation fails once");
	test_damage();
	ok("a plan that is damaged is refused, or leads nowhere else");
	test_cancels();
	ok("what was cancelled");
	for (int i = 0; i < 200; i++)
		random_matches();
	ok("what receives matched, against a search");
	test_nonsense();
	ok("numbers that make no sense");
	return tap_done();
}
