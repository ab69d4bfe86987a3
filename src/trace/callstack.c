/* callstack.c - see callstack.h. */
#include "trace/callstack.h"

#include "base/arena.h"
#include "base/errno_guard.h"
#include "base/intern.h"
#include "base/spin.h"
#include "base/vec.h"
#include "encode/callsite.h"
#include "encode/process_table.h"
#include "model/metadata.h"
#include "preload/loaded_object.h"
#include "runtime/message.h"
#include "runtime/process_log.h"
#include "trace/stream.h"
#include "track/unwind.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define UNKNOWN   1u   /* id of the unknown stack */
#define WALK_MAX  256u /* frames, omitted ones included */
#define BELOW_MAX 3u   /* frames below main */
#define BELOW     64u  /* bytes of code at the program's entry point */

/* ---- the cache of a thread ---- */

/* Cached properties of a return address. */
struct code {
	uintptr_t pc;
	struct rn_unwind_rule rule;
	bool kept;  /* the frame is part of the stack */
	bool below; /* omitted if it is the outermost frame, which calls main */
	bool lost;  /* the address is in no object */
	uint32_t module;
	uint64_t offset;
};

/* Words of a cached stack: two per frame, and some more. */
#define WORDS (2 * (RN_CALLSITE_FRAMES + BELOW_MAX) + 2)

struct stack {
	uintptr_t pc, sp;
	uint32_t number; /* 0: the entry is empty */
	uint32_t words;
	uintptr_t reach; /* offset from sp of the end of the last word */
	struct {
		intptr_t at; /* offset from sp */
		uintptr_t value;
	} word[WORDS];
};

#define CODES  1024u
#define STACKS 512u

struct rn_callstacks {
	uint32_t generation;
	struct code code[CODES];
	struct stack stack[STACKS];
};

static uint32_t generation; /* atomic; incremented when an object is unloaded */

void rn_callstack_forget(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
}

static void make_memory(struct rn_stream *t)
{
	RN_ERRNO_GUARD;
	void *p = mmap(NULL, sizeof(struct rn_callstacks), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED)
		t->stacks = p;
}

/* Returns the thread's cache, emptied if it is invalid. NULL if out of memory; nothing is then
 * cached. */
static struct rn_callstacks *memory_of(struct rn_stream *t)
{
	uint32_t now = __atomic_load_n(&generation, __ATOMIC_RELAXED);

	if (__builtin_expect(!t->stacks, 0))
		make_memory(t);
	if (t->stacks && __builtin_expect(t->stacks->generation != now, 0)) {
		memset(t->stacks, 0, sizeof(*t->stacks));
		t->stacks->generation = now;
	}
	return t->stacks;
}

/* ---- stack clusters ---- */

#define LATEST 64u /* clusters that a new stack is compared with */
#define CHAINS 1024u

/* Cluster data of a stack, with --callsite-slack. A new stack joins the first cluster whose first
 * stack differs from it in at most N frames. If no cluster matches, it begins a new one. A stack
 * never changes its cluster. A cluster has at most RN_CALLSITE_ALIKE stacks. Only the latest
 * clusters with the same depth and innermost frame are compared, so a new stack costs at most a few
 * microseconds more. A cluster is represented by its first stack. */
struct alike {
	uint32_t first;   /* first stack of the cluster; 0: not in a cluster, because memory was
			     exhausted */
	uint32_t members; /* stacks in the cluster */
	uint32_t next;    /* the previous cluster of the same chain, or 0 */
};

static struct rn_seg alikes;    /* struct alike, by stack id - 1 */
static uint32_t chains[CHAINS]; /* the latest cluster of each chain, or 0 */
static struct rn_callsite other_site;

static struct alike *alike_at(uint32_t number)
{
	return RN_SEG_AT(&alikes, struct alike, number - 1);
}

/* Chunks of the table never move, the first one included: stacks are looked up while more are
 * added. */
static bool make_room(struct rn_arena *mem, uint32_t number)
{
	if (!alikes.cap) {
		rn_seg_init(&alikes, sizeof(struct alike));
		if (!rn_seg_skip(&alikes, mem, 0))
			return false;
	}
	if (!rn_seg_grow(&alikes, mem, number))
		return false;
	alikes.n = number;
	return true;
}

static bool is_alike(const struct rn_sigs *table, uint32_t set, const struct rn_callsite *s)
{
	size_t len;
	const void *bytes = rn_sigs_get(table, set - 1, &len);

	return alike_at(set)->members < RN_CALLSITE_ALIKE &&
	       rn_callsite_read(bytes, len, &other_site) &&
	       rn_callsite_alike(s, &other_site, rn_config.callsite_slack);
}

static uint32_t *chain_of(const struct rn_callsite *s)
{
	uint64_t key = s->frame[0].offset << 7 | s->frames;

	return &chains[key * 0x9e3779b97f4a7c15u >> 54];
}

/* Adds stack `number`, the latest in the table of stacks, to a cluster. True if it is the second
 * stack of its cluster. The lock must be held. */
static bool add_alike(struct rn_arena *mem, const struct rn_sigs *table, uint32_t number,
		      const struct rn_callsite *s)
{
	uint32_t *chain, set, looked = 0;

	if (s->frames == 0 || !make_room(mem, number))
		return false;
	chain = chain_of(s);
	for (set = *chain; set && looked < LATEST; set = alike_at(set)->next, looked++) {
		if (is_alike(table, set, s)) {
			alike_at(number)->first = set;
			return ++alike_at(set)->members == 2;
		}
	}
	*alike_at(number) = (struct alike){ number, 1, *chain };
	*chain = number;
	return false;
}

static bool has_alike(uint32_t number)
{
	uint32_t first = number && number <= alikes.n ? alike_at(number)->first : 0;

	return first && alike_at(first)->members > 1;
}

uint32_t rn_slack_first(uint32_t number)
{
	return alike_at(number)->first;
}

/* ---- the table of stacks ---- */

static struct {
	struct rn_spin lock;
	struct rn_arena mem;
	struct rn_sigs *table;
	struct {
		char key[RN_CALLSITE_NAME + 8];
		const char *path;
	} path[RN_CALLSTACK_PATHS];
	uint32_t paths;
	bool told;
	struct rn_callsite site; /* the stack that is being built */
	unsigned char bytes[RN_CALLSITE_BYTES];
} all;

#define LIMIT ((size_t)256 << 20)

static void enter(void)
{
	rn_spin_lock(&all.lock);
	if (all.table)
		return;
	rn_arena_init(&all.mem, LIMIT);
	all.table = rn_sigs_new(&all.mem);
}

static void leave(void)
{
	rn_spin_unlock(&all.lock);
}

/* Returns the id of the stack, from 1; 0 if out of memory. The lock must be held. */
static uint32_t intern(const struct rn_callsite *s)
{
	size_t len = rn_callsite_write(s, all.bytes);
	uint32_t n = all.table ? rn_sigs_count(all.table) : 0, id;

	if (!all.table || rn_sigs_intern(all.table, all.bytes, len, &id) < 0)
		return 0;
	if (id == n)
		rn_process_log_stack(id + 1, all.bytes, len);
	/* The first stack of the cluster is cached as one without others. */
	if (id == n && rn_config.callsite_slack && add_alike(&all.mem, all.table, id + 1, s))
		rn_callstack_forget();
	return id + 1;
}

/* Returns the id of the stack, or UNKNOWN if it cannot be added. The unknown stack is added first.
 * If that fails, calls have no stack. */
static uint32_t intern_or_unknown(void)
{
	static const struct rn_callsite unknown;
	uint32_t first = all.table && rn_sigs_count(all.table) ? UNKNOWN : intern(&unknown);
	uint32_t number = first ? intern(&all.site) : 0;

	return number ? number : first;
}

static void add_path(const char *name, const char *path)
{
	uint32_t i = 0;
	char key[sizeof(all.path[0].key)];

	snprintf(key, sizeof(key), "%s%.*s", rn_meta_rows[RN_META_MODULE].key,
		 (int)RN_CALLSITE_NAME, name);
	while (i < all.paths && strcmp(all.path[i].key, key) != 0)
		i++;
	if (i < all.paths || i == RN_CALLSTACK_PATHS || !rn_name_valid(key, strlen(key)))
		return;
	memcpy(all.path[i].key, key, sizeof(key));
	all.path[i].path = path;
	all.paths++;
	rn_process_log_meta(key, path);
}

int rn_callstack_list(struct rn_arena *mem, struct rn_objects *out)
{
	int rc = RN_OK;

	enter();
	for (uint32_t i = 0; all.table && i < rn_sigs_count(all.table) && rc == RN_OK; i++) {
		size_t len;
		const void *bytes = rn_sigs_get(all.table, i, &len);

		rc = rn_objects_add(out, mem,
				    (struct rn_object){ .number = (uint64_t)i + 1,
							.bytes = bytes,
							.len = (uint32_t)len });
	}
	leave();
	return rc;
}

bool rn_callstack_path(uint32_t i, const char **key, const char **path)
{
	if (i >= all.paths)
		return false;
	*key = all.path[i].key;
	*path = all.path[i].path;
	return true;
}

/* ---- return addresses ---- */

/* The list has elements MODULE or MODULE:FROM-TO, separated by commas. MODULE can contain * and ?.
 * Offsets are hexadecimal. */
static bool is_ignored(const char *name, uint64_t offset)
{
	char list[sizeof(rn_config.callsite_ignore)], *save = NULL, *word;

	snprintf(list, sizeof(list), "%s", rn_config.callsite_ignore);
	for (word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		char *range = strchr(word, ':'), *to;
		unsigned long long from = 0, end = UINT64_MAX;

		if (range) {
			*range = '\0';
			from = strtoull(range + 1, &to, 16);
			end = *to == '-' ? strtoull(to + 1, NULL, 16) : 0;
		}
		if (fnmatch(word, name, 0) == 0 && offset >= from && offset < end)
			return true;
	}
	return false;
}

/* Whether the object is the tracer, MPI, or a binding between MPI and a program in another
 * language. */
static bool is_mpi(const struct link_map *object)
{
	return rn_object_kind(object) != RN_OBJECT_PROGRAM ||
	       rn_object_symbol(object, "PyInit_MPI") != NULL; /* mpi4py */
}

static bool calls_main(const struct link_map *object, uintptr_t pc)
{
	return pc - getauxval(AT_ENTRY) < BELOW ||
	       rn_object_symbol(object, "__libc_start_main") != NULL;
}

static struct code look_at(struct rn_stream *t, uintptr_t pc)
{
	struct code c = { .pc = pc, .rule = rn_unwind_rule(pc), .kept = true };
	const struct link_map *object = rn_object_at(pc - 1);
	struct rn_place place = { 0 };
	const char *name = NULL;

	if (object)
		place = rn_mem_place(&t->places, (const void *)pc);
	/* There is no name in a signal handler that interrupted a lookup of memory locations. */
	if (place.cls == RN_MEM_STATIC)
		name = rn_mem_module(place.id).name;
	if (!name) {
		c.lost = true;
		return c;
	}
	c.module = place.id;
	c.offset = (uint64_t)place.disp;
	c.below = calls_main(object, pc);
	c.kept = !is_mpi(object) && !is_ignored(name, c.offset);
	return c;
}

static struct code code_at(struct rn_stream *t, uintptr_t pc)
{
	struct rn_callstacks *m = t->stacks;
	struct code *c = m ? &m->code[pc * 0x9e3779b97f4a7c15u >> 54] : NULL;

	if (!c)
		return look_at(t, pc);
	if (c->pc != pc)
		*c = look_at(t, pc);
	return *c;
}

/* ---- walking ---- */

struct walk {
	struct rn_stream *t;
	struct rn_unwind u;
	uintptr_t end;      /* end of the thread's stack */
	struct stack *into; /* cache entry to be filled; NULL: the stack is not cached */
	struct code frame[RN_CALLSITE_FRAMES + BELOW_MAX];
	uint32_t frames;
};

static void remember(struct walk *w, const struct rn_unwind_uses *uses)
{
	struct stack *s = w->into;

	for (uint32_t i = 0; s && i < uses->n; i++) {
		intptr_t at = (intptr_t)(uses->at[i] - s->sp);

		if (s->words == WORDS) { /* too deep for the cache */
			w->into = NULL;
			return;
		}
		s->word[s->words].at = at;
		memcpy(&s->word[s->words++].value, (const void *)uses->at[i], sizeof(uintptr_t));
		if (at > 0 && (uintptr_t)at + sizeof(uintptr_t) > s->reach)
			s->reach = (uintptr_t)at + sizeof(uintptr_t);
	}
}

/* Steps to the caller. The end of a stack also depends on words of the stack. A frame pointer that
 * leads to no code is invalid. */
static bool step(struct walk *w, const struct code *from)
{
	struct rn_unwind_uses uses;
	bool stepped = rn_unwind_step(from->rule, w->end, &w->u, &uses);

	remember(w, &uses);
	return stepped && (from->rule.cfa != RN_CFA_CHAIN || !code_at(w->t, w->u.pc).lost);
}

/* Walks until `wanted` frames are found. True if the end of the stack was reached. */
static bool walk(struct walk *w, uint32_t wanted)
{
	for (uint32_t i = 0; i < WALK_MAX; i++) {
		struct code c = code_at(w->t, w->u.pc);

		if (c.kept)
			w->frame[w->frames++] = c;
		if (w->frames == wanted)
			return false;
		if (!step(w, &c))
			return true;
	}
	return false;
}

/* ---- stacks ---- */

static void add_frame(const struct code *c)
{
	const struct rn_mem_module its =
		c->lost ? (struct rn_mem_module){ 0 } : rn_mem_module(c->module);
	struct rn_code_module m = { .name = its.name,
				    .id = its.build_id,
				    .id_len = its.build_id_len };

	if (m.name) {
		m.name_len = strlen(m.name);
		add_path(m.name, its.path);
	}
	rn_callsite_add(&all.site, m, c->offset);
}

static uint32_t number_of(const struct walk *w, uint32_t frames)
{
	bool tell = false;
	uint32_t number;

	enter();
	all.site.modules = all.site.frames = 0;
	for (uint32_t i = 0; i < frames; i++)
		add_frame(&w->frame[i]);
	number = intern_or_unknown();
	if (frames && number <= UNKNOWN) {
		tell = !all.told;
		all.told = true;
	}
	if (rn_config.callsite_slack && has_alike(number))
		number |= RN_RAW_SITE_ALIKE;
	leave();
	if (tell)
		rn_say("no memory for more call stacks: some calls have none");
	return number;
}

/* Not inlined, because it needs much stack space. */
static __attribute__((noinline)) uint32_t find(struct rn_stream *t, struct rn_unwind u,
					       struct stack *into)
{
	const uintptr_t lo = t->places.stack_lo, size = t->places.stack_size;
	const bool inside = u.sp - lo < size;
	struct walk w;
	uint32_t depth = rn_config.callsite, number;
	RN_ERRNO_GUARD;

	/* The end of a stack that is not the thread's own is unknown. */
	w.t = t;
	w.u = u;
	w.end = inside ? lo + size : u.sp;
	w.into = into = inside ? into : NULL;
	w.frames = 0;
	if (into) {
		into->pc = u.pc;
		into->sp = u.sp;
		into->number = into->words = 0;
		into->reach = 0;
	}
	if (walk(&w, depth == 1 ? 1 : depth + BELOW_MAX))
		while (w.frames && w.frame[w.frames - 1].below)
			w.frames--;
	number = number_of(&w, w.frames < depth ? w.frames : depth);
	if (w.into && w.into == into)
		into->number = number;
	return number;
}

/* Whether a cached stack is valid for this call. The entry may be from another thread, which had a
 * larger stack. */
static bool is_still(const struct stack *s, struct rn_unwind u, const struct rn_mem_cache *places)
{
	uintptr_t below = u.sp - places->stack_lo, diff = 0;

	if (s->pc != u.pc || s->sp != u.sp || !s->number ||
	    (s->words && (below >= places->stack_size || places->stack_size - below < s->reach)))
		return false;
	for (uint32_t i = 0; i < s->words; i++)
		diff |= *(const uintptr_t *)(u.sp + (uintptr_t)s->word[i].at) ^ s->word[i].value;
	return diff == 0;
}

uint32_t rn_callstack(struct rn_stream *t, const void *frame)
{
	struct rn_unwind u = rn_unwind_from(frame);
	struct rn_callstacks *m = memory_of(t);
	struct stack *s =
		m ? &m->stack[(u.pc ^ u.sp * 0x9e3779b97f4a7c15u) * 0x9e3779b97f4a7c15u >> 55]
		  : NULL;

	return s && is_still(s, u, &t->places) ? s->number : find(t, u, s);
}
