/*
 * test_comms.c - communicator tables, compared with a plain table, through merges, encoding and
 * failures.
 */
#include "tap.h"

#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "identity/comm_table.h"

#define NAMES 24
#define RANKS 40

/* The model: which rank has which communicator under which name. */
static struct {
	char name[NAMES][40];
	bool have[NAMES][RANKS];
	struct rn_comm_entry e[NAMES][RANKS];
} model;

/* Communicators as programs create them: splits of all kinds, duplicates, and the two sides of
 * inter-communicators. */
static void model_rank(uint32_t i, uint64_t r, unsigned kind, uint64_t param)
{
	struct rn_comm_entry *e = &model.e[i][r];
	uint64_t sides[2] = { param, RANKS - param }, side = r >= param;

	model.have[i][r] = true;
	switch (kind) {
	case 0: /* a duplicate of MPI_COMM_WORLD */
		*e = (struct rn_comm_entry){ r, RANKS, 0, 0, 0 };
		break;
	case 1: /* blocks */
		*e = (struct rn_comm_entry){ r % param, param, 0, r - r % param, 0 };
		model.have[i][r] = r / param < RANKS / param;
		break;
	case 2: /* cyclic */
		*e = (struct rn_comm_entry){ r / param, (RANKS - 1 - r % param) / param + 1, 0,
					     r % param, 0 };
		break;
	case 3: /* the first ranks of MPI_COMM_WORLD, in reverse */
		*e = (struct rn_comm_entry){ param - 1 - r, param, 0, param - 1, 0 };
		model.have[i][r] = r < param;
		break;
	case 4: /* an inter-communicator */
		*e = (struct rn_comm_entry){ r - (side ? param : 0), sides[side], sides[!side],
					     side ? param : 0, side ? 0 : param };
		break;
	default: /* the rank alone, with a random key */
		*e = (struct rn_comm_entry){ 0, 1, 0, tap_rand(), 0 };
		model.have[i][r] = tap_below(3) > 0;
	}
}

static void random_model(void)
{
	memset(&model, 0, sizeof(model));
	for (uint32_t i = 0; i < NAMES; i++) {
		unsigned kind = (unsigned)tap_below(6);
		uint64_t param = 1 + tap_below(RANKS - 1);

		/* Names that are prefixes of each other, and numbers of several digits. */
		snprintf(model.name[i], sizeof(model.name[i]), "comm:world.%u%s", i,
			 i % 3 ? "" : ".0");
		if (tap_below(8) == 0)
			snprintf(model.name[i], sizeof(model.name[i]), "comm:%.*s", 1 + (int)i,
				 "aaaaaaaaaaaaaaaaaaaaaaaa");
		for (uint64_t r = 0; r < RANKS; r++)
			model_rank(i, r, kind, param);
	}
}

static int add_rank(struct rn_comms *c, uint64_t r)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < NAMES && rc == RN_OK; i++)
		if (model.have[i][r])
			rc = rn_comms_add(c, model.name[i], strlen(model.name[i]), r,
					  &model.e[i][r]);
	return rc;
}

static bool same_entry(const struct rn_comm_entry *a, const struct rn_comm_entry *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

struct walk {
	uint32_t name;
	uint64_t next, seen; /* ranks ascend */
	bool remote;
	const struct rn_comm_entry *of;
};

static int on_member(void *arg, uint64_t rank, uint64_t world_rank)
{
	struct walk *w = arg;
	const struct rn_comm_entry *e;

	if (!CHECK(world_rank < RANKS && model.have[w->name][world_rank]))
		return 7;
	e = &model.e[w->name][world_rank];
	CHECK(rank >= w->next && e->my_rank == rank);
	CHECK(e->key == (w->remote ? w->of->remote_key : w->of->key));
	w->next = rank + 1;
	w->seen++;
	return 0;
}

static uint64_t model_members(uint32_t i, uint64_t key)
{
	uint64_t n = 0;

	for (uint64_t r = 0; r < RANKS; r++)
		n += model.have[i][r] && model.e[i][r].key == key;
	return n;
}

static void same_members(const struct rn_comms *c, uint32_t i, uint64_t r)
{
	const struct rn_comm_entry *e = &model.e[i][r];
	struct walk w = { i, 0, 0, false, e };

	CHECK(rn_comms_members(c, model.name[i], strlen(model.name[i]), r, on_member, &w) == RN_OK);
	CHECK(w.seen == model_members(i, e->key));
	w = (struct walk){ i, 0, 0, true, e };
	CHECK(rn_comms_remote_members(c, model.name[i], strlen(model.name[i]), r, on_member, &w) ==
	      RN_OK);
	CHECK(w.seen == (e->remote ? model_members(i, e->remote_key) : 0));
}

/* Checks that the table equals the model for the ranks from..to. */
static void same_as_model(const struct rn_comms *c, uint64_t from, uint64_t to)
{
	struct rn_err err = { 0 };

	if (!CHECK(rn_comms_check(c, &err) == RN_OK))
		diag("%s", err.text);
	for (uint32_t i = 0; i < NAMES; i++) {
		for (uint64_t r = 0; r < RANKS; r++) {
			struct rn_comm_entry e;
			int rc = rn_comms_find(c, model.name[i], strlen(model.name[i]), r, &e);

			if (r < from || r >= to || !model.have[i][r]) {
				CHECK(rc == RN_E_RANGE);
				continue;
			}
			CHECK(rc == RN_OK && same_entry(&e, &model.e[i][r]));
			if (from == 0 && to == RANKS && tap_below(4) == 0)
				same_members(c, i, r);
		}
	}
}

static bool one_line(const struct rn_err *err)
{
	return err->text[0] && !strchr(err->text, '\n');
}

/* Encodes the table and decodes it into another arena. */
static struct rn_comms *recode(struct rn_arena *mem, const struct rn_comms *c)
{
	struct rn_buf b = { 0 };
	struct rn_err err = { 0 };
	struct rn_comms *out = NULL;

	CHECK(rn_comms_encode(c, &b) == RN_OK);
	if (!CHECK(rn_comms_decode(mem, b.data, b.len, &out, &err) == RN_OK))
		diag("%s", err.text);
	rn_buf_free(&b);
	return out;
}

/* Merges the ranks from..to in a random tree, encoding some tables on the way. Merged tables are
 * freed, so that a remaining reference to them would be detected. */
static struct rn_comms *random_tree(struct rn_arena *mem, uint64_t from, uint64_t to)
{
	struct rn_arena other;
	struct rn_comms *a, *b;
	uint64_t mid;

	if (to - from == 1 || tap_below(10) == 0) {
		a = rn_comms_new(mem);
		for (uint64_t r = from; r < to; r++)
			CHECK(add_rank(a, r) == RN_OK);
		return a;
	}
	mid = from + 1 + tap_below(to - from - 1);
	rn_arena_init(&other, SIZE_MAX);
	a = random_tree(mem, from, mid);
	b = random_tree(&other, mid, to);
	if (tap_below(2))
		a = recode(mem, a);
	if (tap_below(2))
		b = recode(&other, b);
	CHECK(rn_comms_merge(a, b) == RN_OK);
	if (rn_comms_count(b))
		CHECK(rn_comms_merge(a, b) == RN_E_ARG);
	rn_arena_free(&other);
	return a;
}

static void test_model(void)
{
	struct rn_arena mem;
	struct rn_buf first = { 0 }, again = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	for (int round = 0; round < 60; round++) {
		struct rn_comms *c;

		random_model();
		for (int tree = 0; tree < 3; tree++) {
			struct rn_buf *b = tree ? &again : &first;

			rn_buf_clear(b);
			c = random_tree(&mem, 0, RANKS);
			CHECK(rn_comms_ranks(c) <= RANKS);
			same_as_model(c, 0, RANKS);
			CHECK(rn_comms_encode(c, b) == RN_OK);
			same_as_model(recode(&mem, c), 0, RANKS);
		}
		CHECK(again.len == first.len && memcmp(again.data, first.data, first.len) == 0);
		c = random_tree(&mem, 10, 30);
		same_as_model(c, 10, 30);
		rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
	}
	rn_buf_free(&first);
	rn_buf_free(&again);
	rn_arena_free(&mem);
}

static void test_arguments(void)
{
	static const struct rn_comm_entry good = { 0, 1, 0, 0, 0 };
	static const char *const bad[] = {
		"", "a b", "a\n", "a,b", "a(", "\"", "\x7f", "\xc3\xa4"
	};
	struct rn_arena mem;
	struct rn_comms *c;
	struct rn_comm_entry e;
	char longest[300];

	rn_arena_init(&mem, SIZE_MAX);
	c = rn_comms_new(&mem);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(rn_comms_add(c, bad[i], strlen(bad[i]), 0, &good) == RN_E_ARG);
	memset(longest, 'x', sizeof(longest));
	CHECK(rn_comms_add(c, longest, 256, 0, &good) == RN_E_ARG);
	CHECK(rn_comms_add(c, "x", 1, RN_COMM_RANKS_MAX, &good) == RN_E_ARG);
	e = (struct rn_comm_entry){ 1, 1, 0, 0, 0 };
	CHECK(rn_comms_add(c, "x", 1, 0, &e) == RN_E_ARG);
	e = (struct rn_comm_entry){ 0, RN_COMM_RANKS_MAX + 1, 0, 0, 0 };
	CHECK(rn_comms_add(c, "x", 1, 0, &e) == RN_E_ARG);
	e = (struct rn_comm_entry){ 0, 1, RN_COMM_RANKS_MAX + 1, 0, 0 };
	CHECK(rn_comms_add(c, "x", 1, 0, &e) == RN_E_ARG);
	CHECK(rn_comms_count(c) == 0 && rn_comms_ranks(c) == 0);
	CHECK(rn_comms_add(c, longest, 255, 5, &good) == RN_OK);
	CHECK(rn_comms_add(c, longest, 255, 5, &good) == RN_E_ARG);
	CHECK(rn_comms_add(c, longest, 255, 4, &good) == RN_E_ARG);
	CHECK(rn_comms_find(c, longest, 255, 4, &e) == RN_E_RANGE);
	CHECK(rn_comms_find(c, longest, 254, 5, &e) == RN_E_RANGE);
	CHECK(rn_comms_find(c, longest, 255, 5, &e) == RN_OK && same_entry(&e, &good));
	CHECK(rn_comms_ranks(recode(&mem, c)) == 6);
	rn_arena_free(&mem);
}

/* Communicators created by some of the ranks. Each rank counts those that it created, so one
 * communicator has many names. Every third one is an inter-communicator, whose remote group is
 * the next one. */
#define GROUPS 30

static struct {
	uint64_t n, rank[RANKS]; /* in rank order */
	unsigned name[RANKS];    /* by rank in MPI_COMM_WORLD */
} group[GROUPS];

static bool has_other(unsigned g)
{
	return g % 3 == 0;
}

static uint64_t group_key(unsigned g)
{
	return RN_COMM_KEY_APART | (g + 1) * UINT64_C(0x123456789abcdef);
}

/* Creates a communicator of random ranks that are not in `without`. */
static void random_group(unsigned g, const bool *without, unsigned *counted)
{
	uint64_t left[RANKS], n = 0, i;

	for (uint64_t r = 0; r < RANKS; r++)
		if (!without[r])
			left[n++] = r;
	group[g].n = 1 + tap_below(n / 2);
	for (uint64_t k = 0; k < group[g].n; k++) {
		i = tap_below(n);
		group[g].rank[k] = left[i];
		group[g].name[left[i]] = counted[left[i]]++;
		left[i] = left[--n];
	}
}

static void random_groups(void)
{
	unsigned counted[RANKS] = { 0 };

	for (unsigned g = 0; g < GROUPS; g++) {
		bool without[RANKS] = { false };

		for (uint64_t k = 0; g && has_other(g - 1) && k < group[g - 1].n; k++)
			without[group[g - 1].rank[k]] = true;
		random_group(g, without, counted);
	}
}

static size_t group_name(char name[32], unsigned g, uint64_t r)
{
	return (size_t)snprintf(name, 32, "comm:world.g%u", group[g].name[r]);
}

static void add_groups(struct rn_comms *c, uint64_t r)
{
	for (unsigned g = 0; g < GROUPS; g++) {
		unsigned other = has_other(g) ? g + 1 : g && has_other(g - 1) ? g - 1 : GROUPS;
		char name[32];

		for (uint64_t k = 0; k < group[g].n; k++) {
			struct rn_comm_entry e = { k, group[g].n, 0, group_key(g), 0 };

			if (group[g].rank[k] != r)
				continue;
			if (other < GROUPS) {
				e.remote = group[other].n;
				e.remote_key = group_key(other);
			}
			CHECK(rn_comms_add(c, name, group_name(name, g, r), r, &e) == RN_OK);
		}
	}
}

struct group_walk {
	unsigned g;
	uint64_t next;
};

static int in_group(void *arg, uint64_t rank, uint64_t world_rank)
{
	struct group_walk *w = arg;

	CHECK(rank == w->next && group[w->g].rank[rank] == world_rank);
	w->next++;
	return 0;
}

static void same_groups(const struct rn_comms *c)
{
	for (unsigned g = 0; g < GROUPS; g++) {
		for (uint64_t k = 0; k < group[g].n; k++) {
			struct group_walk w = { g, 0 }, other = { g + 1, 0 };
			uint64_t r = group[g].rank[k];
			char name[32];
			size_t len = group_name(name, g, r);

			CHECK(rn_comms_members(c, name, len, r, in_group, &w) == RN_OK);
			CHECK(w.next == group[g].n);
			if (!has_other(g))
				continue;
			CHECK(rn_comms_remote_members(c, name, len, r, in_group, &other) == RN_OK);
			CHECK(other.next == group[g + 1].n);
		}
	}
}

static int count_listed(void *arg, const struct rn_comm_listed *l)
{
	uint64_t *n = arg;

	CHECK(l->local.n == l->local.size && l->remote.n == l->remote.size);
	*n += l->by.n;
	return 0;
}

static void test_apart(void)
{
	struct rn_arena mem, other;
	struct rn_err err = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&other, SIZE_MAX);
	for (int round = 0; round < 20; round++) {
		struct rn_comms *c = rn_comms_new(&mem);
		uint64_t rows = 0, listed = 0;

		random_groups();
		for (uint64_t r = 0; r < RANKS; r++) {
			struct rn_comms *one = rn_comms_new(&other);

			add_groups(one, r);
			CHECK(rn_comms_merge(c, tap_below(2) ? recode(&other, one) : one) == RN_OK);
		}
		for (unsigned g = 0; g < GROUPS; g++)
			rows += group[g].n;
		c = recode(&mem, c);
		CHECK(rn_comms_check(c, &err) == RN_OK);
		same_groups(c);
		CHECK(rn_comms_list(c, count_listed, &listed) == RN_OK && listed == rows);
		CHECK(rn_comms_tidy(c) == RN_OK && rn_comms_check(c, &err) == RN_OK);
		same_groups(c);
		rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
		rn_arena_rewind(&other, (struct rn_arena_mark){ 0 });
	}
	rn_arena_free(&mem);
	rn_arena_free(&other);
}

/* Adds a rank of a cols x rows grid: row and column communicators, and duplicates of
 * MPI_COMM_WORLD. */
static void add_grid(struct rn_comms *c, uint64_t r, uint64_t cols, uint64_t rows, unsigned dups)
{
	uint64_t x = r % cols, y = r / cols;
	struct rn_comm_entry row = { x, cols, 0, y * cols, 0 }, col = { y, rows, 0, x, 0 };
	struct rn_comm_entry dup = { r, cols * rows, 0, 0, 0 };
	char name[32];

	CHECK(rn_comms_add(c, "comm:world.0", 12, r, &row) == RN_OK);
	CHECK(rn_comms_add(c, "comm:world.1", 12, r, &col) == RN_OK);
	for (unsigned i = 0; i < dups; i++) {
		int n = snprintf(name, sizeof(name), "comm:world.%u", 2 + i);

		CHECK(rn_comms_add(c, name, (size_t)n, r, &dup) == RN_OK);
	}
}

static struct rn_comms *grid_tree(struct rn_arena *mem, uint64_t from, uint64_t to, uint64_t cols,
				  uint64_t rows, unsigned dups)
{
	struct rn_arena other;
	struct rn_comms *a;

	if (to - from == 1) {
		a = rn_comms_new(mem);
		add_grid(a, from, cols, rows, dups);
		return a;
	}
	rn_arena_init(&other, SIZE_MAX);
	a = grid_tree(mem, from, (from + to) / 2, cols, rows, dups);
	CHECK(rn_comms_merge(a, recode(mem, grid_tree(&other, (from + to) / 2, to, cols, rows,
						      dups))) == RN_OK);
	rn_arena_free(&other);
	return a;
}

static size_t grid_size(uint64_t cols, uint64_t rows, unsigned dups)
{
	struct rn_arena mem;
	struct rn_buf b = { 0 };
	size_t n;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_comms_encode(grid_tree(&mem, 0, cols * rows, cols, rows, dups), &b) == RN_OK);
	n = b.len;
	rn_buf_free(&b);
	rn_arena_free(&mem);
	return n;
}

/* Rows created by MPI_Comm_create_group, and inter-communicators of neighboring rows. */
static size_t group_size(uint64_t cols, uint64_t rows)
{
	struct rn_arena mem;
	struct rn_buf b = { 0 };
	struct rn_comms *c;
	struct group_walk w = { 0, 0 };
	size_t n;

	rn_arena_init(&mem, SIZE_MAX);
	c = rn_comms_new(&mem);
	for (uint64_t r = 0; r < cols * rows; r++) {
		uint64_t y = r / cols;
		struct rn_comm_entry row = { r % cols, cols, 0, group_key((unsigned)y), 0 };
		struct rn_comm_entry two = row;

		two.remote = cols;
		two.key = group_key(1000 + (unsigned)y);
		two.remote_key = group_key(1000 + (unsigned)(y ^ 1));
		CHECK(rn_comms_add(c, "comm:world.g0", 13, r, &row) == RN_OK);
		CHECK(rn_comms_add(c, "comm:world.g0.0", 15, r, &two) == RN_OK);
	}
	CHECK(rn_comms_tidy(c) == RN_OK && rn_comms_encode(c, &b) == RN_OK);
	group[0].n = cols;
	for (uint64_t k = 0; k < cols; k++)
		group[0].rank[k] = 3 * cols + k;
	CHECK(rn_comms_remote_members(c, "comm:world.g0.0", 15, 2 * cols, in_group, &w) == RN_OK);
	CHECK(w.next == cols);
	n = b.len;
	rn_buf_free(&b);
	rn_arena_free(&mem);
	return n;
}

static void test_tidy(void)
{
	size_t a = group_size(4, 4), b = group_size(32, 64);

	diag("rows and pairs of rows by their members: %zu bytes for 16 ranks, %zu for 2048", a, b);
	CHECK(b <= a + 20);
}

static void test_size(void)
{
	size_t a = grid_size(4, 4, 0), b = grid_size(8, 8, 0), c = grid_size(64, 64, 0);
	size_t d = grid_size(96, 40, 0), dup = grid_size(64, 64, 4);

	diag("row and column communicators: %zu bytes for 16 ranks, %zu for 64, %zu for 4096, "
	     "%zu for 3840",
	     a, b, c, d);
	diag("and four duplicates of the world: %zu more", dup - c);
	CHECK(a <= 120 && b <= 120 && c <= 120 && d <= 120);
	CHECK(b <= a + 4 && c <= b + 10 && dup <= c + 40);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Many names: duplicates, which share a row set, and splits that all differ. */
static void test_many(bool distinct)
{
	struct rn_arena mem, other;
	struct rn_comms *c, *d;
	double t[4];
	char name[32];

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&other, SIZE_MAX);
	c = rn_comms_new(&mem);
	t[0] = seconds();
	for (uint64_t i = 0; i < 10000; i++) {
		struct rn_comm_entry e = { 3, 64, 0, distinct ? i * i : 0, 0 };
		int n = snprintf(name, sizeof(name), "comm:world.%u", (unsigned)i);

		CHECK(rn_comms_add(c, name, (size_t)n, 3, &e) == RN_OK);
	}
	t[1] = seconds();
	d = recode(&other, c);
	t[2] = seconds();
	CHECK(rn_comms_merge(rn_comms_new(&mem), d) == RN_OK);
	t[3] = seconds();
	diag("10000 %s: add %.1f ms, encode and decode %.1f ms, merge %.1f ms, %zu KiB",
	     distinct ? "splits" : "duplicates", 1e3 * (t[1] - t[0]), 1e3 * (t[2] - t[1]),
	     1e3 * (t[3] - t[2]), mem.mapped >> 10);
	CHECK(rn_comms_count(d) == 10000 && t[3] - t[0] < 1);
	rn_arena_free(&mem);
	rn_arena_free(&other);
}

/* The bytes that doc/format.md lists as an example: the rows of a 4 x 4 grid of ranks, and a
 * duplicate of MPI_COMM_WORLD. */
static void test_documented(void)
{
	static const char bytes[] = "\2"
				    "\x10\x9e\6"
				    "\0\2"
				    "\x14\0\1\1\2\1\0\5\1\5\1\x09\1"
				    "\x08"
				    "\x14\0\1\1\0\1\0\x08\1\5\1\x09\1"
				    "\x10\x1a"
				    "\0\2\0\2\x20"
				    "\2"
				    "\0\x0c"
				    "comm:world.0\0"
				    "\x0b\1"
				    "1\1";
	struct rn_arena mem;
	struct rn_comms *c;
	struct rn_buf b = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	c = rn_comms_new(&mem);
	for (uint64_t r = 0; r < 16; r++) {
		struct rn_comm_entry row = { r % 4, 4, 0, r - r % 4, 0 }, dup = { r, 16, 0, 0, 0 };

		CHECK(rn_comms_add(c, "comm:world.0", 12, r, &row) == RN_OK);
		CHECK(rn_comms_add(c, "comm:world.1", 12, r, &dup) == RN_OK);
	}
	CHECK(rn_comms_encode(c, &b) == RN_OK);
	CHECK(b.len == sizeof(bytes) - 1 && memcmp(b.data, bytes, b.len) == 0);
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

static int count_member(void *arg, uint64_t rank, uint64_t world_rank)
{
	uint64_t *n = arg;

	(void)rank, (void)world_rank;
	return ++*n > 100000 ? 1 : 0;
}

static int ignore_listed(void *arg, const struct rn_comm_listed *l)
{
	(void)arg;
	return l->by.n > l->local.n;
}

/* The bytes are refused, or accepted and then usable. */
static int survived(const void *bytes, size_t len)
{
	struct rn_arena mem;
	struct rn_err err = { 0 };
	struct rn_comms *c, *d;
	struct rn_comm_entry e;
	struct rn_buf b = { 0 };
	uint64_t n = 0;
	int rc;

	rn_arena_init(&mem, (size_t)64 << 20);
	rc = rn_comms_decode(&mem, bytes, len, &c, &err);
	CHECK(rc == RN_OK || (rc == RN_E_DATA && one_line(&err)));
	if (rc == RN_OK && rn_comms_ranks(c) < 1000) {
		rn_comms_check(c, &err);
		for (uint32_t i = 0; i < rn_comms_count(c); i++) {
			size_t name_len;
			const char *name = rn_comms_name(c, i, &name_len);

			rn_comms_find(c, name, name_len, tap_below(RANKS), &e);
			rn_comms_members(c, name, name_len, tap_below(RANKS), count_member, &n);
		}
		rn_comms_list(c, ignore_listed, NULL);
		d = rn_comms_new(&mem);
		CHECK(rn_comms_merge(d, c) == RN_OK);
		CHECK(rn_comms_encode(c, &b) == rn_comms_encode(d, &b));
	}
	rn_buf_free(&b);
	rn_arena_free(&mem);
	return rc;
}

static void test_damage(void)
{
	struct rn_arena mem;
	struct rn_buf b = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	for (int round = 0; round < 4; round++) {
		random_model();
		rn_buf_clear(&b);
		CHECK(rn_comms_encode(random_tree(&mem, 0, RANKS), &b) == RN_OK);
		for (size_t cut = 0; cut < b.len; cut++)
			CHECK(survived(b.data, cut) == RN_E_DATA);
		rn_buf_byte(&b, 0);
		CHECK(survived(b.data, b.len) == RN_E_DATA);
		b.len--;
		for (int k = 0; k < 800; k++) {
			size_t i = tap_below(b.len);
			unsigned char was = b.data[i];

			b.data[i] ^= (unsigned char)(1 << tap_below(8));
			survived(b.data, b.len);
			b.data[i] = was;
		}
		rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
	}
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

/* Well-formed bytes with contradictory contents. */
static void test_hostile(void)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{ "\1\0\0\0", 4 },                                   /* no rows */
		{ "\1\2\x11\2\2\1\0\1x\0", 10 },                     /* rank 1 twice */
		{ "\1\2\x12\2\1\2\1\0\1x\0", 11 },                   /* ranks descend */
		{ "\1\2\x12\2\xfe\xff\xff\xff\x1f\2\1\0\1x\0", 15 }, /* ranks above 2^31 */
		{ "\1\2\x92\0\2\2\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1\0\1x\0", 21 },
		{ "\1\1\x10\2\1\0\1x\1", 9 },          /* row set does not exist */
		{ "\1\1\x10\2\2\0\1x\0\0\1x\0", 13 },  /* duplicate name */
		{ "\1\1\x10\2\2\0\1x\0\0\1a\0", 13 },  /* names descend */
		{ "\1\1\x10\2\2\0\1x\0\1\0\0", 12 },   /* equal to its prefix */
		{ "\1\1\x10\2\1\0\1 \0", 9 },          /* not a name */
		{ "\2\1\x10\2\1\x10\4\1\0\1x\0", 12 }, /* a row set without a name */
		{ "\1\2\x13\2\x10\0\2\1\0\1x\0", 12 }, /* too few elements */
	};
	/* The sizes are 0, which the decoder does not check. */
	static const char odd[] = "\1\2\x22\0\2\0\2\1\0\1x\0";
	struct rn_arena mem;
	struct rn_comms *c;
	struct rn_comm_entry e;
	struct rn_buf b = { 0 };
	struct rn_err err = { 0 };
	uint64_t n = 0;

	CHECK(survived("\1\1\x10\2\1\0\1x\0", 9) == RN_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!CHECK(survived(bad[i].bytes, bad[i].len) == RN_E_DATA))
			diag("number %zu was taken", i);
	rn_arena_init(&mem, SIZE_MAX);
	if (CHECK(rn_comms_decode(&mem, odd, sizeof(odd) - 1, &c, &err) == RN_OK)) {
		CHECK(rn_comms_find(c, "x", 1, 0, &e) == RN_E_DATA);
		CHECK(rn_comms_find(c, "x", 1, 2, &e) == RN_E_RANGE);
		CHECK(rn_comms_members(c, "x", 1, 0, count_member, &n) == RN_E_DATA);
		CHECK(rn_comms_check(c, &err) == RN_E_DATA && one_line(&err));
		CHECK(rn_comms_encode(c, &b) == RN_E_DATA && b.len == 0);
	}
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

/* rn_comms_check detects contradictory entries. */
static void test_check(void)
{
	static const struct rn_comm_entry pair[][2] = {
		{ { 0, 2, 0, 0, 0 }, { 0, 2, 0, 0, 0 } },
		{ { 0, 2, 0, 0, 0 }, { 1, 3, 0, 0, 0 } },
		{ { 0, 2, 1, 0, 5 }, { 1, 2, 2, 0, 5 } },
	};
	struct rn_arena mem;
	struct rn_err err = { 0 };
	uint64_t n = 0;

	rn_arena_init(&mem, SIZE_MAX);
	for (size_t i = 0; i < 3; i++) { /* under several names */
		struct rn_comms *c = rn_comms_new(&mem);
		struct rn_comm_entry a = pair[i][0], b = pair[i][1];

		a.key = b.key = RN_COMM_KEY_APART;
		CHECK(rn_comms_add(c, "comm:x", 6, 4, &a) == RN_OK);
		CHECK(rn_comms_add(c, "comm:y", 6, 7, &b) == RN_OK);
		CHECK(rn_comms_check(c, &err) == RN_E_DATA && one_line(&err));
	}
	for (size_t i = 0; i < 3; i++) {
		struct rn_comms *c = rn_comms_new(&mem);

		CHECK(rn_comms_add(c, "x", 1, 4, &pair[i][0]) == RN_OK);
		CHECK(rn_comms_check(c, &err) == RN_OK);
		CHECK(rn_comms_add(c, "x", 1, 7, &pair[i][1]) == RN_OK);
		CHECK(rn_comms_check(c, &err) == RN_E_DATA && one_line(&err));
		CHECK(rn_comms_check(recode(&mem, c), &err) == RN_E_DATA);
		if (i == 0)
			CHECK(rn_comms_members(c, "x", 1, 4, count_member, &n) == RN_E_DATA);
	}
	rn_arena_free(&mem);
}

static void fail_merge(struct rn_arena *mem, const struct rn_comms *b)
{
	struct rn_comms *a = random_tree(mem, 0, 20);
	int rc = RN_E_NOMEM;

	for (uint64_t at = 1; rc != RN_OK && at < 1000; at++) {
		mem->fail_at = at;
		rc = rn_comms_merge(a, b);
		mem->fail_at = 0;
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
		if (rc == RN_OK || at % 7 == 0)
			same_as_model(a, 0, rc == RN_OK ? RANKS : 20);
	}
	CHECK(rc == RN_OK);
}

static void fail_code(struct rn_arena *mem, const struct rn_comms *c)
{
	struct rn_buf b = { 0 };
	struct rn_comms *d = NULL;
	struct rn_err err;
	int rc = RN_E_NOMEM;

	rn_buf_byte(&b, 'a');
	for (uint64_t at = 1; rc != RN_OK && at < 5000; at++) {
		mem->fail_at = at;
		rc = rn_comms_encode(c, &b);
		mem->fail_at = 0;
		CHECK(rc == RN_OK || (rc == RN_E_NOMEM && b.len == 1));
	}
	CHECK(rc == RN_OK);
	rc = RN_E_NOMEM;
	for (uint64_t at = 1; rc != RN_OK && at < 5000; at++) {
		mem->fail_at = at;
		rc = rn_comms_decode(mem, b.data + 1, b.len - 1, &d, &err);
		CHECK(rc == RN_OK || (rc == RN_E_NOMEM && one_line(&err)));
		mem->fail_at = 0;
	}
	if (CHECK(rc == RN_OK))
		same_as_model(d, 0, RANKS);
	for (uint64_t at = 1; at < 100; at++) { /* the buffers */
		struct rn_buf e = { 0 };

		rn_buf_fail_at(at);
		rc = rn_comms_encode(c, &e);
		rn_buf_fail_at(0);
		CHECK(rc == RN_OK || (rc == RN_E_NOMEM && e.len == 0));
		rn_buf_free(&e);
	}
	rn_buf_free(&b);
}

static void fail_add(struct rn_arena *mem)
{
	struct rn_comms *c = rn_comms_new(mem);

	for (uint64_t r = 0; r < RANKS; r++)
		for (uint32_t i = 0; i < NAMES; i++) {
			int rc = RN_E_NOMEM;

			for (uint64_t at = 1; model.have[i][r] && rc != RN_OK && at < 20; at++) {
				mem->fail_at = at;
				rc = rn_comms_add(c, model.name[i], strlen(model.name[i]), r,
						  &model.e[i][r]);
				mem->fail_at = 0;
				CHECK(rc == RN_OK || rc == RN_E_NOMEM);
			}
		}
	same_as_model(c, 0, RANKS);
}

static void test_no_memory(void)
{
	struct rn_arena mem, other;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&other, SIZE_MAX);
	for (int round = 0; round < 3; round++) {
		random_model();
		fail_add(&mem);
		fail_merge(&mem, random_tree(&other, 20, RANKS));
		fail_code(&mem, random_tree(&mem, 0, RANKS));
		rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
		rn_arena_rewind(&other, (struct rn_arena_mark){ 0 });
	}
	rn_arena_free(&mem);
	rn_arena_free(&other);
}

/* Two ranks per node; the last rank is alone on its node. */
static void test_nodes(void)
{
	struct rn_arena mem;
	struct rn_comms *c;
	uint64_t rank, size;

	rn_arena_init(&mem, SIZE_MAX);
	c = rn_comms_new(&mem);
	CHECK(!rn_node_find(c, 0, &rank, &size));
	for (uint32_t r = 0; r < 9; r++) {
		struct rn_comm_entry e = rn_node_entry(r, 9, r % 2, r < 8 ? 2 : 1);

		CHECK(rn_comms_add(c, RN_NODE_NAME, strlen(RN_NODE_NAME), r, &e) == RN_OK);
	}
	CHECK(rn_comms_check(c, NULL) == RN_OK && rn_comms_tidy(c) == RN_OK);
	for (uint32_t r = 0; r < 9; r++)
		CHECK(rn_node_find(c, r, &rank, &size) && rank == r % 2 && size == (r < 8 ? 2 : 1));
	CHECK(!rn_node_find(c, 9, &rank, &size));
	rn_arena_free(&mem);
}

int main(void)
{
	test_model();
	ok("random communicators through random trees are what they were, byte for byte");
	test_arguments();
	ok("names and numbers that cannot be are refused");
	test_apart();
	ok("groups whose members have different names for them are found");
	test_size();
	test_tidy();
	ok("row and column communicators cost the same for any number of ranks");
	test_many(false);
	test_many(true);
	ok("ten thousand names are fast");
	test_documented();
	ok("the example of the format document");
	test_damage();
	ok("every truncation is refused, flipped bits are survived");
	test_hostile();
	ok("impossible bytes are refused, impossible entries found when read");
	test_check();
	ok("contradictions are found");
	test_no_memory();
	ok("every failed allocation leaves things as they were");
	test_nodes();
	ok("nodes");
	return tap_done();
}
