/*
 * trace_check_comms.c - communicators are sound, and relative ranks are of ones that are known.
 *
 * A signature may be relative to a communicator only where each rank that makes the call is known
 * to be in it, and have a varying number only where the rank is in its table. Which of these names
 * a stream needs is found for 64 at a time, bottom up through the rules, without expanding
 * anything (what loops have inside it needs only if they are executed); then each of the stream's
 * ranks is asked for.
 */
#include <inttypes.h>
#include <string.h>

#include "base/intern.h"
#include "identity/comm_table.h"
#include "read/calls.h"
#include "read/trace.h"
#include "read/trace_check.h"
#include "series/units.h"

struct names {
	const struct rn_trace *t;
	struct rn_templates templates;
	struct rn_sigs *table;      /* the names, numbered */
	uint32_t first;             /* bit i of a mask is name first + i */
	uint64_t *of_sig, *of_rule; /* masks */
	struct rn_stretch *stretch; /* NULL: there are no loops */
};

/* A mask that is being made. */
struct mask {
	struct names *n;
	uint64_t bits;
};

static int add_name(struct mask *m, const char *name, size_t len)
{
	uint32_t id;
	int rc = rn_sigs_intern(m->n->table, name, len, &id);

	if (rc == RN_OK && id >= m->n->first && id - m->n->first < 64)
		m->bits |= (uint64_t)1 << (id - m->n->first);
	return rc;
}

/* All processes are members of the world, and of their own MPI_COMM_SELF. */
static int add_comm(struct mask *m, const struct rn_template_comm *c)
{
	if (c->len < 5 || memcmp(c->name, "comm:", 5) != 0)
		return RN_OK;
	return add_name(m, c->name, c->len);
}

/* The communicators and tables that values depend on. */
static int add_names(struct mask *m, const struct rn_template *t)
{
	char name[RN_VARIES_NAME_MAX];
	int rc = RN_OK;

	for (uint32_t i = 0; i < t->ranks && rc == RN_OK; i++) {
		const struct rn_template_rank *r = &t->rank[i];

		rc = r->kind == RN_V_VARIES ? add_name(m, name, rn_varies_name(name, r->num))
					    : add_comm(m, &t->comm_of[r->comm]);
	}
	for (uint32_t i = 0; i < t->slots && rc == RN_OK; i++)
		if (rn_value_is_relative(&t->slot[i].stored))
			rc = add_comm(m, &t->comm_of[t->slot[i].comm]);
	return rc;
}

static int fill_signatures(struct names *n)
{
	for (uint32_t i = 0; i < rn_sigs_count(n->t->streams.sigs); i++) {
		const struct rn_template *t = rn_templates_get(&n->templates, i);
		struct mask m = { n, 0 };

		if (!t || add_names(&m, t) < 0)
			return RN_E_NOMEM;
		n->of_sig[i] = m.bits;
	}
	return RN_OK;
}

static uint64_t item_mask(const struct names *n, const struct rn_item *it)
{
	const uint32_t *symbol;
	uint64_t len, mask = 0;

	if (it->kind == RN_KIND_RULE)
		return n->of_rule[it->id];
	if (it->kind == RN_KIND_TERMINAL)
		return n->of_sig[it->id];
	symbol = rn_rules_literal(n->t->streams.rules, it->id, &len);
	for (uint64_t i = 0; i < len; i++)
		mask |= n->of_sig[symbol[i]];
	return mask;
}

/* Bodies refer to rules of lower numbers. What is in loops depends on the group. */
static void fill_rules(struct names *n)
{
	const struct rn_rules *rules = n->t->streams.rules;
	const struct rn_loopset *loops = rn_streams_loops(&n->t->streams);

	for (uint32_t i = 0; i < rn_rules_count(rules); i++) {
		struct rn_body b = rn_rules_body(rules, i);

		n->of_rule[i] = 0;
		for (uint32_t k = 0; k < b.n; k++)
			if (!rn_loopset_holds(loops, &b.item[k]))
				n->of_rule[i] |= item_mask(n, &b.item[k]);
	}
}

struct need {
	const struct names *n;
	uint64_t mask;
};

static void add_item(void *arg, const struct rn_item *it, uint64_t times)
{
	struct need *need = arg;

	(void)times;
	need->mask |= item_mask(need->n, it);
}

static uint64_t group_mask(const struct names *n, uint32_t group)
{
	struct rn_flow flow = rn_streams_flow(&n->t->streams, group);
	struct need need = { n, 0 };

	rn_flow_each(n->stretch, &flow, add_item, &need);
	return need.mask;
}

static int missing(uint64_t rank, const char *name, size_t len, struct rn_err *err)
{
	if (memcmp(name, "comm:", 5) == 0)
		return rn_err_set(err, RN_E_DATA,
				  "calls of rank %" PRIu64
				  " are relative to %.*s, which it is not in",
				  rank, (int)len, name);
	return rn_err_set(err, RN_E_DATA,
			  "calls of rank %" PRIu64 " have a value in %.*s, which it is not in",
			  rank, (int)len, name);
}

/* Each of the streams' ranks is in the communicator or table. */
static int check_name(const struct names *n, const struct rn_units *streams, const char *name,
		      size_t len, struct rn_err *err)
{
	uint64_t rank, size;
	int64_t stream[256];
	size_t got;

	for (uint64_t at = 0; (got = rn_units_read(streams, at, stream, 256)) > 0; at += got) {
		for (size_t i = 0; i < got; i++) {
			uint64_t of = (uint64_t)stream[i] / n->t->threads;

			if (rn_comm_rank(n->t->comms, n->t->ranks, of, name, len, &rank, &size))
				continue;
			return missing(of, name, len, err);
		}
	}
	return RN_OK;
}

/* The 64 names from `first` on, in all groups. */
static int check_names(const struct names *n, struct rn_err *err)
{
	const struct rn_streams *s = &n->t->streams;

	for (uint32_t k = 0; k < s->groups; k++) {
		uint64_t mask = group_mask(n, k);

		for (; mask; mask &= mask - 1) {
			size_t len;
			uint32_t id = n->first + (uint32_t)__builtin_ctzll(mask);
			const char *name = rn_sigs_get(n->table, id, &len);
			int rc = check_name(n, s->group[k].ranks, name, len, err);

			if (rc < 0)
				return rc;
		}
	}
	return RN_OK;
}

static int check_all(struct names *n, struct rn_err *err)
{
	int rc = RN_OK;

	do {
		if (fill_signatures(n) < 0)
			return rn_err_nomem(err);
		fill_rules(n);
		rc = check_names(n, err);
		n->first += 64;
	} while (rc == RN_OK && n->first < rn_sigs_count(n->table));
	return rc;
}

static int check_relative(const struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	const struct rn_loopset *loops = rn_streams_loops(&t->streams);
	struct names n = { .t = t };
	int rc;

	n.table = rn_sigs_new(scratch);
	n.of_sig = rn_new(scratch, uint64_t, rn_sigs_count(t->streams.sigs));
	n.of_rule = rn_new(scratch, uint64_t, rn_rules_count(t->streams.rules));
	n.stretch = loops ? rn_stretch_new(scratch, loops, UINT64_MAX) : NULL;
	if (!n.table || !n.of_sig || !n.of_rule || (loops && !n.stretch) ||
	    rn_templates_init(&n.templates, scratch, &t->vocab, t->streams.sigs) < 0)
		return rn_err_nomem(err);
	rc = check_all(&n, err);
	rn_templates_free(&n.templates);
	return rc;
}

int rn_check_comms(const struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	int rc = t->comms ? rn_comms_check(t->comms, err) : RN_OK;

	if (rc < 0) {
		rn_err_prefix(err, "section comms");
		return rc;
	}
	return check_relative(t, scratch, err);
}
