/* journal_read.c - see journal_read.h: the file, its processes, and the records of each process. */
#include "recover/journal_read.h"

#include "base/arena.h"
#include "encode/callsite.h"
#include "encode/time_stats.h"
#include "identity/comm_table.h"
#include "journal/event_tail.h"
#include "journal/journal_file.h"
#include "model/metadata.h"
#include "recover/journal_read_stream.h"
#include "recover/segment_join.h"

#include <stdlib.h>
#include <string.h>

#define CONSTANTS_MAX 4096u
#define META_MAX      64u

/* ---- extents ---- */

bool rn_found_at(const unsigned char *bytes, size_t len, uint64_t page, struct rn_found *f)
{
	uint64_t pages = len / RN_SPILL_PAGE;

	if (page == 0 || page >= pages)
		return false;
	f->at = bytes + page * RN_SPILL_PAGE;
	memcpy(&f->head, f->at, sizeof(f->head));
	if (f->head.magic != RN_EXTENT_MAGIC || f->head.number != page || f->head.pages == 0 ||
	    f->head.sum != rn_extent_sum(&f->head))
		return false;
	pages -= page;
	f->len = (size_t)(f->head.pages < pages ? f->head.pages : pages) * RN_SPILL_PAGE;
	return true;
}

bool rn_found_next(const unsigned char *bytes, size_t len, uint64_t *page, struct rn_found *f)
{
	while (*page < len / RN_SPILL_PAGE) {
		if (rn_found_at(bytes, len, *page, f)) {
			*page += f->len / RN_SPILL_PAGE;
			return true;
		}
		++*page;
	}
	return false;
}

static int by_owner(const void *a, const void *b)
{
	const struct rn_extent *x = &((const struct rn_found *)a)->head;
	const struct rn_extent *y = &((const struct rn_found *)b)->head;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static int find_extents(struct rn_arena *mem, const unsigned char *bytes, size_t len,
			struct rn_founds *out)
{
	struct rn_found *list, f;
	uint64_t page = 1;

	out->n = 0;
	while (rn_found_next(bytes, len, &page, &f))
		out->n++;
	list = rn_new(mem, struct rn_found, (size_t)out->n + 1);
	if (!list)
		return RN_E_NOMEM;
	page = 1;
	for (uint32_t i = 0; rn_found_next(bytes, len, &page, &f); i++)
		list[i] = f;
	qsort(list, out->n, sizeof(*list), by_owner);
	out->extent = list;
	return RN_OK;
}

/* Removes the extents of the first process from the front of a list, or with `stream` those of its
 * first stream. Returns the removed extents. */
static struct rn_founds take_same(struct rn_founds *from, bool stream)
{
	struct rn_founds out = { from->extent, 0 };

	while (out.n < from->n && out.extent[out.n].head.process == out.extent[0].head.process &&
	       (!stream || out.extent[out.n].head.stream == out.extent[0].head.stream))
		out.n++;
	from->extent += out.n;
	from->n -= out.n;
	return out;
}

static int get_head(const void *bytes, size_t len, struct rn_spill_head *h, struct rn_err *err)
{
	if (len < RN_SPILL_PAGE)
		return rn_err_set(err, RN_E_DATA, "is too short for a part");
	memcpy(h, bytes, sizeof(*h));
	if (h->magic == RN_SPILL_MAGIC)
		return RN_OK;
	if (h->magic << 8 == RN_SPILL_MAGIC << 8 && h->magic >> 56 >= '0' && h->magic >> 56 <= '9')
		return rn_err_set(err, RN_E_DATA,
				  "has part format %d; this version of rondo reads part format %d",
				  (int)(h->magic >> 56) - '0', (int)(RN_SPILL_MAGIC >> 56) - '0');
	return rn_err_set(err, RN_E_DATA, "is not a part of a trace");
}

/* ---- records of a process ---- */

struct process {
	struct rn_arena *mem;
	struct rn_salvaged *out;
	bool is_known, failed;
	struct rn_const_value constant[CONSTANTS_MAX];
	uint32_t constants;
	struct rn_meta_entry meta[META_MAX];
	const unsigned char *wanted; /* by function: whether the filter selects it; NULL: all */
	enum rn_salvage_what what;
	struct rn_segment_list *pieces; /* by stream */
};

static const char *copy_text(struct process *p, const void *bytes, size_t len)
{
	char *s = rn_new(p->mem, char, len + 1);

	if (s)
		memcpy(s, bytes, len);
	else
		p->failed = true;
	return s;
}

static void add_object(struct process *p, struct rn_objects *list, const struct rn_object *o)
{
	if (!p->failed && rn_objects_add(list, p->mem, *o) < 0)
		p->failed = true;
}

static void take_world(struct process *p, const void *bytes, size_t len)
{
	struct rn_fact_world w;

	if (!rn_fact_get(bytes, len, &w, sizeof(w)) || w.rank < 0 || w.rank >= w.size ||
	    (uint64_t)w.size > RN_COMM_RANKS_MAX || !w.scale)
		return;
	p->out->world = w;
	p->is_known = true;
}

static void take_meta(struct process *p, const void *bytes, size_t len)
{
	const char *key = copy_text(p, bytes, len);
	size_t n = key ? strlen(key) + 1 : 0;
	uint32_t *metas = &p->out->meta.n;

	if (!key || *metas == META_MAX || n >= len)
		return;
	for (uint32_t i = 0; i < *metas; i++)
		if (strcmp(p->meta[i].key, key) == 0)
			return;
	p->meta[*metas] = (struct rn_meta_entry){ key, key + n };
	if (rn_meta_check(&(struct rn_meta){ &p->meta[*metas], 1 }, NULL) == RN_OK)
		++*metas;
}

static void take_constant(struct process *p, const void *bytes, size_t len)
{
	struct rn_const_value c;

	if (p->constants < CONSTANTS_MAX && rn_fact_get(bytes, len, &c, sizeof(c)) &&
	    c.kind < RN_K_COUNT && rn_vocab_word(&rn_mpi_vocab, c.word))
		p->constant[p->constants++] = c;
}

static bool is_entry(const struct rn_comm_entry *e)
{
	return e->my_rank < e->size && e->size <= RN_COMM_RANKS_MAX &&
	       e->remote <= RN_COMM_RANKS_MAX;
}

static void take_comm(struct process *p, const void *bytes, size_t len)
{
	struct rn_object o = { 0 };
	struct rn_fact_comm f;

	if (len < sizeof(f))
		return;
	memcpy(&f, bytes, sizeof(f));
	o.number = f.word;
	o.bytes = copy_text(p, (const char *)bytes + sizeof(f), len - sizeof(f));
	o.complete = f.complete && is_entry(&f.entry);
	if (o.complete)
		o.entry = f.entry;
	add_object(p, &p->out->recorded.process.comms, &o);
}

/* Decodes an id and the bytes of the object with that id. */
static bool get_object(struct process *p, const void *bytes, size_t len, struct rn_object *o)
{
	*o = (struct rn_object){ 0 };
	if (len < sizeof(o->number) || len > UINT32_MAX)
		return false;
	memcpy(&o->number, bytes, sizeof(o->number));
	o->len = (uint32_t)(len - sizeof(o->number));
	o->bytes = copy_text(p, (const char *)bytes + sizeof(o->number), o->len);
	return o->bytes != NULL;
}

static void take_module(struct process *p, const void *bytes, size_t len)
{
	struct rn_object o;

	if (get_object(p, bytes, len, &o))
		add_object(p, &p->out->recorded.process.modules, &o);
}

static void take_site(struct process *p, const void *bytes, size_t len)
{
	struct rn_object o;
	struct rn_callsite s;

	if (get_object(p, bytes, len, &o) && rn_callsite_read(o.bytes, o.len, &s))
		add_object(p, &p->out->recorded.process.sites, &o);
}

static void take_end(struct process *p, const void *bytes, size_t len)
{
	struct rn_fact_end *end = &p->out->end;

	if (len < sizeof(*end))
		return;
	memcpy(end, bytes, sizeof(*end));
	p->out->ended = copy_text(p, (const char *)bytes + sizeof(*end), len - sizeof(*end));
}

static bool take_fact(void *arg, uint32_t type, const void *bytes, size_t len)
{
	struct process *p = arg;

	switch (type) {
	case RN_FACT_WORLD:
		take_world(p, bytes, len);
		break;
	case RN_FACT_META:
		take_meta(p, bytes, len);
		break;
	case RN_FACT_CONSTANT:
		take_constant(p, bytes, len);
		break;
	case RN_FACT_COMM:
		take_comm(p, bytes, len);
		break;
	case RN_FACT_MODULE:
		take_module(p, bytes, len);
		break;
	case RN_FACT_SITE:
		take_site(p, bytes, len);
		break;
	case RN_FACT_WANTED:
		p->wanted =
			len == rn_mpi_vocab.funcs ? (const void *)copy_text(p, bytes, len) : NULL;
		break;
	case RN_FACT_END:
		take_end(p, bytes, len);
		break;
	case RN_FACT_CLOCK:
		rn_fact_get(bytes, len, &p->out->clock, sizeof(p->out->clock));
		break;
	default:
		return false;
	}
	return !p->failed;
}

/* ---- a process ---- */

static bool keeps_times(const struct rn_meta *meta)
{
	const char *time = rn_meta_value(meta, RN_META_TIME);

	return !time || strcmp(time, "none") != 0;
}

static int make_table(struct process *p)
{
	struct rn_process_table *table = &p->out->recorded.process;

	table->rank = p->out->world.rank;
	table->size = p->out->world.size;
	rn_objects_sort(&table->comms);
	rn_objects_sort(&table->modules);
	rn_objects_sort(&table->sites);
	return rn_process_set_constants(table, p->mem, p->constant, p->constants);
}

static int start(struct process *p, uint32_t streams)
{
	struct rn_recorded_stream *s = rn_new(p->mem, struct rn_recorded_stream, streams + 1);
	struct rn_salvaged *out = p->out;

	out->stopped = rn_new(p->mem, uint32_t, streams + 1);
	p->pieces = rn_new(p->mem, struct rn_segment_list, streams + 1);
	if (p->what == RN_SALVAGE_NOW)
		out->now = rn_new(p->mem, struct rn_now, streams + 1);
	if (!s || !out->stopped || !p->pieces || (p->what == RN_SALVAGE_NOW && !out->now) ||
	    make_table(p) < 0)
		return RN_E_NOMEM;
	out->recorded.stream = s;
	out->recorded.streams = streams;
	out->recorded.times = keeps_times(&out->meta);
	out->recorded.offset = out->clock.offset;
	out->recorded.drift = out->clock.drift;
	for (uint32_t i = 0; i < streams; i++) {
		out->stopped[i] = RN_STOPPED_NOWHERE;
		if (rn_salvage_nothing(p->mem, &s[i], &p->pieces[i]) < 0)
			return RN_E_NOMEM;
		s[i].calls.process = &out->recorded.process;
	}
	return RN_OK;
}

/* The extents are sorted by stream id, those of the process last. The result is at least 1: a
 * process may have had no space for its stream. */
static uint32_t count_streams(struct rn_founds all)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < all.n; i++)
		if (all.extent[i].head.stream < RN_SALVAGE_STREAMS)
			n = all.extent[i].head.stream + 1;
	return n;
}

static int read_streams(struct process *p, struct rn_founds all)
{
	struct rn_salvaged *out = p->out;
	struct rn_recorded_stream *s = (struct rn_recorded_stream *)out->recorded.stream;
	int rc = RN_OK;

	while (all.n && rc == RN_OK) {
		uint32_t i = all.extent[0].head.stream;
		struct rn_founds one = take_same(&all, true);
		struct rn_stream_facts facts = { .scale = out->world.scale,
						 .wanted = p->wanted,
						 .sealed_only = p->what == RN_SALVAGE_SEALED,
						 .stopped = RN_STOPPED_NOWHERE };

		if (i >= RN_SALVAGE_STREAMS)
			continue;
		rc = rn_salvage_stream(p->mem, one, &facts, &s[i], &p->pieces[i],
				       out->now ? &out->now[i] : NULL);
		out->stopped[i] = facts.stopped;
		out->damaged |= facts.damaged;
		out->complete &= s[i].lost == 0;
	}
	s[0].lost += out->end.lost;
	out->complete &= out->end.lost == 0;
	out->complete &= !out->damaged;
	return rc;
}

/* Joins the segments of divided streams. Then the other streams of the process are converted, too,
 * because they refer to the requests of divided streams. */
static int join_streams(struct process *p)
{
	struct rn_recorded *r = &p->out->recorded;
	bool whole = true;

	for (uint32_t i = 0; i < r->streams; i++)
		whole &= p->pieces[i].segment.n == 1;
	if (whole || p->what == RN_SALVAGE_NOW)
		return RN_OK;
	return rn_join(p->mem, p->pieces, r->streams, (struct rn_recorded_stream *)r->stream);
}

static struct rn_founds shared_of(struct rn_founds all)
{
	struct rn_founds one = { NULL, 0 };

	while (all.n && all.extent[all.n - 1].head.stream == RN_EXTENT_SHARED)
		all.n--, one.n++;
	one.extent = all.extent + all.n;
	return one;
}

static bool has_kind(struct rn_founds all, enum rn_extent_kind kind)
{
	for (uint32_t i = 0; i < all.n; i++)
		if (all.extent[i].head.kind == kind)
			return true;
	return false;
}

/* Returns 1 if the process is stored in `out`; 0 if it is unidentified or has too many calls; or an
 * error. `cut`: the end of the file is missing. */
static int read_process(struct rn_arena *mem, struct rn_founds all, enum rn_salvage_what what,
			bool cut, struct rn_salvaged *out)
{
	struct process *p = rn_new(mem, struct process, 1);
	int rc;

	if (!p)
		return RN_E_NOMEM;
	p->mem = mem;
	p->out = out;
	*out = (struct rn_salvaged){ .process = all.extent[0].head.process, .meta.entry = p->meta };
	p->what = what;
	out->damaged = !rn_found_log(shared_of(all), take_fact, p);
	if (p->failed)
		return RN_E_NOMEM;
	if (!p->is_known)
		return 0;
	out->complete = out->ended != NULL;
	out->damaged |= cut && out->end.lost == 0 && !has_kind(all, RN_EXTENT_LIVE);
	rc = start(p, count_streams(all));
	if (rc == RN_OK)
		rc = read_streams(p, all);
	if (rc == RN_OK)
		rc = join_streams(p);
	if (rc == RN_E_RANGE)
		return 0;
	return rc == RN_OK ? 1 : rc;
}

static uint32_t count_processes(struct rn_founds all)
{
	uint32_t n = 0;

	for (; all.n; n++)
		take_same(&all, false);
	return n;
}

/* Whether the end of the file is missing. A copy has only some extents. */
static bool is_cut(const struct rn_spill_head *head, size_t len)
{
	return head->copied != 2 && len / RN_SPILL_PAGE < head->next;
}

int rn_salvage(struct rn_arena *mem, const void *bytes, size_t len, enum rn_salvage_what what,
	       struct rn_salvage *out, struct rn_err *err)
{
	struct rn_spill_head head;
	struct rn_founds all;
	int rc = get_head(bytes, len, &head, err);

	*out = (struct rn_salvage){ .run = head.run };
	if (rc < 0)
		return rc;
	if (find_extents(mem, bytes, len, &all) < 0)
		return rn_err_nomem(err);
	out->process = rn_new(mem, struct rn_salvaged, (size_t)count_processes(all) + 1);
	if (!out->process)
		return rn_err_nomem(err);
	while (all.n) {
		rc = read_process(mem, take_same(&all, false), what, is_cut(&head, len),
				  &out->process[out->n]);
		if (rc < 0)
			return rn_err_nomem(err);
		out->n += rc == 1;
		out->unknown += rc == 0;
	}
	return RN_OK;
}

/* ---- other readers of the file ---- */

static bool peek_time(void *arg, uint32_t type, const void *bytes, size_t len)
{
	struct rn_fact_world w;
	uint64_t *time = arg;

	if (type == RN_FACT_WORLD && rn_fact_get(bytes, len, &w, sizeof(w)) && w.time > *time)
		*time = w.time;
	return true;
}

int rn_salvage_peek(const void *bytes, size_t len, uint64_t *run, uint64_t *time,
		    struct rn_err *err)
{
	struct rn_spill_head head = { 0 };
	struct rn_found f;
	uint64_t page = 1;
	int rc = get_head(bytes, len, &head, err);

	*run = head.run;
	*time = 0;
	while (rc == RN_OK && rn_found_next(bytes, len, &page, &f)) {
		f.head.before = 0; /* each extent is read as a separate log */
		if (f.head.kind == RN_EXTENT_LOG && f.head.stream == RN_EXTENT_SHARED)
			rn_found_log((struct rn_founds){ &f, 1 }, peek_time, time);
	}
	return rc;
}

bool rn_salvage_is_copy(const void *bytes)
{
	struct rn_spill_head head;

	memcpy(&head, bytes, sizeof(head));
	return head.copied == 2;
}

static bool is_tail(const struct rn_found *f)
{
	return f->head.kind == RN_EXTENT_ORDER && f->len > sizeof(struct rn_order_tail);
}

/* The first bytes of an extent, which contain its valid length. */
static size_t count_kept(const struct rn_found *f)
{
	return f->head.kind == RN_EXTENT_LIVE ? f->len
	       : is_tail(f)                   ? sizeof(struct rn_order_tail)
					      : 0;
}

/* Copies everything but the valid lengths of extents, which were copied earlier: they are not newer
 * than the data that they cover. */
static void copy_rest(unsigned char *to, const unsigned char *from, size_t len)
{
	uint64_t page = 1;
	struct rn_found f;

	while (rn_found_next(to, len, &page, &f)) {
		size_t at = (size_t)(f.at - to), kept = count_kept(&f);

		memcpy(to + at + kept, from + at + kept, f.len - kept);
	}
}

static bool is_live(const struct rn_found *f)
{
	return f->head.kind == RN_EXTENT_LIVE && f->len >= sizeof(struct rn_live);
}

/* Whether the rows still belong to the chunk that the copy has them for. */
static bool is_same_tail(const unsigned char *ours, const unsigned char *now)
{
	struct rn_order_tail a, b;

	memcpy(&a, ours, sizeof(a));
	memcpy(&b, now, sizeof(b));
	return a.word >> 32 == b.word >> 32;
}

/* Whether the data that the copies of the streams refer to is unchanged. If calls or the call in
 * flight changed during the copy, the call in flight is removed from the copy. */
static bool settle(unsigned char *to, const unsigned char *from, size_t len)
{
	uint64_t page = 1;
	struct rn_found f;

	while (rn_found_next(to, len, &page, &f)) {
		struct rn_live ours, now;

		if (is_tail(&f) && !is_same_tail(f.at, from + (f.at - to)))
			return false;
		if (!is_live(&f))
			continue;
		memcpy(&ours, f.at, sizeof(ours));
		memcpy(&now, from + (f.at - to), sizeof(now));
		if (now.sealed != ours.sealed ||
		    (ours.sealed < 2 &&
		     now.seal[ours.sealed].number != ours.seal[ours.sealed].number))
			return false;
		if (now.calls != ours.calls || now.top != ours.top)
			ours.top = ours.buffer;
		memcpy(to + (f.at - to), &ours, sizeof(ours));
	}
	return true;
}

bool rn_salvage_copy(void *to, const void *from, size_t len)
{
	for (int i = 0; i < 100; i++) {
		memcpy(to, from, len);
		copy_rest(to, from, len);
		if (settle(to, from, len))
			return true;
	}
	return false;
}
