/* template.c - see template.h. */
#include "encode/template.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/intern.h"

#define NAME_ROOM 256 /* a name and a displacement */

static const char world_name[] = "MPI_COMM_WORLD", self_name[] = "MPI_COMM_SELF";

struct rn_keywords rn_keywords_of(const struct rn_vocab *v)
{
	return (struct rn_keywords){
		.vocab = v,
		.world = rn_vocab_find(v, world_name),
		.self = rn_vocab_find(v, self_name),
		.live = rn_vocab_find(v, RN_REQUEST_LIVE),
		.gone = rn_vocab_find(v, RN_REQUEST_GONE),
		.made = rn_vocab_find(v, RN_REQUEST_NEW),
		.unset = rn_vocab_find(v, "unset"),
		.nothing = rn_vocab_find(v, "-"),
	};
}

/* ---- the values of a signature ---- */

/* Iterates over all values of a signature. A level holds the values nested in one value. Lists
 * contain lists at most to depth RN_CALL_DEPTH_MAX. The innermost list may contain an `in`, and
 * that a status; these contain no lists. */
struct values {
	struct rn_reader in;
	struct level {
		uint64_t left;
		enum rn_value_kind of; /* kind of the containing value; parameters: RN_V_LIST */
	} level[RN_CALL_DEPTH_MAX + 3];
	unsigned depth;
};

static bool is_stacks(const struct rn_value *v)
{
	return v->kind == RN_V_ELASTIC && v->num == RN_ELASTIC_STACK;
}

static bool fits(const struct level *l, unsigned depth, const struct rn_value *v)
{
	if (is_stacks(v))
		return false;
	if (l->of == RN_V_IN)
		return rn_value_is_number(v) || v->kind == RN_V_STATUS;
	if (l->of == RN_V_STATUS)
		return rn_value_is_number(v) || v->kind == RN_V_CONST;
	return v->kind != RN_V_LIST || depth < RN_CALL_DEPTH_MAX;
}

/* Returns false at the end, and at malformed input with in.bad set. */
static bool next_value(struct values *it, struct rn_value *v)
{
	struct level *l;

	while (it->level[it->depth].left == 0)
		if (it->depth-- == 0)
			return false;
	l = &it->level[it->depth];
	l->left--;
	if (!rn_call_value(&it->in, v))
		return false;
	if (!fits(l, it->depth, v)) {
		rn_fail(&it->in);
		return false;
	}
	if (v->kind == RN_V_LIST || v->kind == RN_V_IN || v->kind == RN_V_STATUS)
		it->level[++it->depth] = (struct level){ rn_value_parts(v), v->kind };
	assert(it->depth < sizeof(it->level) / sizeof(*it->level));
	return true;
}

static bool is_keyword_known(const struct rn_value *v, const struct rn_vocab *vocab)
{
	enum rn_value_kind kind = rn_value_kind(v);

	if (kind != RN_V_CONST && kind != RN_V_OBJECT && kind != RN_V_PLACE)
		return true;
	return rn_vocab_word(vocab, v->word);
}

/* ---- validation ---- */

static bool depends_on_rank(const struct rn_value *v)
{
	return v->kind == RN_V_VARIES || (v->kind != RN_V_ELASTIC && rn_value_is_relative(v));
}

static void count_value(struct rn_sig_contents *n, const struct rn_value *v)
{
	n->values += v->kind != RN_V_IN;
	n->comms += v->kind == RN_V_IN;
	n->ranks += depends_on_rank(v);
	n->slots += v->kind == RN_V_ELASTIC;
	n->names += v->kind == RN_V_ELASTIC && v->num == RN_ELASTIC_NAME;
	n->series += v->kind == RN_V_ELASTIC && v->num != RN_ELASTIC_SAME;
}

static bool is_return_value(const struct rn_value *v)
{
	return v->kind == RN_V_INT || (v->kind >= RN_V_CONST && v->kind <= RN_V_STRING);
}

/* Returns whether a value is a call site: the index of a stack in a trace, or the stack itself
 * before the trace is written. */
static bool is_site(const struct rn_value *v)
{
	return v->kind == RN_V_INT || v->kind == RN_V_STRING;
}

/* Validates the call site to the end of the bytes: a stack, or an elastic slot and its stacks. */
static bool site_valid(struct rn_reader *in, size_t len, struct rn_sig_contents *n)
{
	struct rn_reader first = *in;
	struct rn_value v;
	uint64_t left = 1;

	if (rn_call_value(&first, &v) && is_stacks(&v)) {
		count_value(n, &v);
		left = v.id;
		*in = first;
	}
	n->stacks = len - rn_left(in);
	for (; left > 0 && rn_call_value(in, &v) && is_site(&v); left--) {
		uint64_t number = v.kind == RN_V_INT && v.num >= 0 ? (uint64_t)v.num : UINT64_MAX;

		count_value(n, &v);
		n->max_site = number > n->max_site ? number : n->max_site;
	}
	return left == 0 && n->stacks < len && !rn_left(in);
}

bool rn_sig_scan(const void *sig, size_t len, const struct rn_vocab *vocab,
		 struct rn_sig_contents *n)
{
	struct values it = { .in = rn_reader(sig, len) };
	struct rn_value v;

	*n = (struct rn_sig_contents){ .func = rn_vocab_func(vocab, rn_get_u64(&it.in)),
				       .comms = 1 };
	if (it.in.bad || len > RN_CALL_BYTES_MAX || !n->func)
		return false;
	it.level[0] = (struct level){ rn_func_values(n->func), RN_V_LIST };
	while (next_value(&it, &v)) {
		/* A value equal to that of another slot must follow that slot. */
		if (!is_keyword_known(&v, vocab) ||
		    (v.kind == RN_V_ELASTIC && v.num == RN_ELASTIC_SAME && v.id >= n->series))
			return false;
		count_value(n, &v);
	}
	if (it.in.bad || !rn_call_value(&it.in, &v))
		return false;
	if (!is_return_value(&v) || !is_keyword_known(&v, vocab))
		return false;
	count_value(n, &v);
	return !rn_left(&it.in) || site_valid(&it.in, len, n);
}

bool rn_call_valid(const void *sig, size_t len, const struct rn_vocab *vocab)
{
	struct rn_sig_contents n;

	return rn_sig_scan(sig, len, vocab, &n);
}

/* ---- parsing ---- */

/* The state of a parser. The communicator named by an `in` applies to the next value. */
struct parser {
	struct rn_template *t;
	char *text;      /* buffers for the names of slots */
	uint32_t series; /* number of slots so far that have a series */
	uint32_t comm;
	unsigned in_depth; /* depth of the values that `comm` applies to; 0: it is the call's */
};

static void add_slot(struct parser *p, const struct rn_value *v)
{
	struct rn_template *t = p->t;
	struct rn_template_slot *s = &t->slot[t->slots++];

	*s = (struct rn_template_slot){
		.value = t->n, .comm = p->comm, .form = (enum rn_elastic)v->num, .stored = *v
	};
	s->series = s->form == RN_ELASTIC_SAME ? (uint32_t)v->id : p->series++;
	assert(s->series < p->series && s->comm < t->comms);
	if (s->form != RN_ELASTIC_NAME)
		return;
	s->text = p->text;
	p->text += NAME_ROOM;
}

static void add_value(struct parser *p, const struct rn_value *v)
{
	struct rn_template *t = p->t;

	if (v->kind == RN_V_ELASTIC)
		add_slot(p, v);
	if (depends_on_rank(v))
		t->rank[t->ranks++] = (struct rn_template_rank){ t->n, p->comm, v->kind, v->num };
	t->value[t->n++] = *v;
}

/* Sets *out to the name of a communicator. Returns false if the value is not a communicator. */
static bool comm_name(const struct rn_keywords *k, const struct rn_value *v,
		      struct rn_template_comm *out)
{
	if (v->kind == RN_V_NAME && rn_comm_name(v->text, v->len))
		*out = (struct rn_template_comm){ .name = v->text, .len = v->len };
	else if (v->kind == RN_V_CONST && v->word == k->world)
		*out = (struct rn_template_comm){ .name = world_name,
						  .len = sizeof(world_name) - 1 };
	else if (v->kind == RN_V_CONST && v->word == k->self)
		*out = (struct rn_template_comm){ .name = self_name, .len = sizeof(self_name) - 1 };
	else
		return false;
	return true;
}

/* Parses the next value of a parameter, at any depth. */
static void parse_value(struct parser *p, const struct rn_keywords *k, const struct rn_value *v,
			unsigned depth)
{
	struct rn_template *t = p->t;

	if (depth < p->in_depth)
		p->in_depth = p->comm = 0;
	if (v->kind == RN_V_IN) {
		t->comm_of[t->comms] = (struct rn_template_comm){ .name = v->text, .len = v->len };
		p->comm = t->comms++;
		p->in_depth = depth + 1;
	}
	if (depth == 0 && t->comm == RN_TEMPLATE_NONE && comm_name(k, v, &t->comm_of[0]))
		t->comm = t->ret;
	if (v->kind != RN_V_IN)
		add_value(p, v);
}

static void parse_params(struct parser *p, const struct rn_keywords *k, struct values *it)
{
	struct rn_template *t = p->t;
	struct rn_value v;

	for (;;) {
		unsigned depth;

		while (it->level[it->depth].left == 0 && it->depth)
			it->depth--;
		depth = it->depth;
		if (!next_value(it, &v))
			return;
		if (depth == 0)
			t->top[t->ret] = t->n;
		parse_value(p, k, &v, depth);
		t->ret += depth == 0;
	}
}

static void set_site(struct rn_template *t, uint32_t stack)
{
	assert(stack == RN_TEMPLATE_NONE || stack < t->n);
	t->stack = stack;
	t->site = stack == RN_TEMPLATE_NONE ? 0 : (uint32_t)t->value[stack].num;
}

/* Parses the return value and the call site. */
static void parse_rest(struct parser *p, struct rn_reader *in)
{
	struct rn_template *t = p->t;
	struct rn_value v;

	p->comm = 0;
	for (uint32_t i = t->ret; rn_left(in) && rn_call_value(in, &v); i++) {
		if (i <= t->ret + 1)
			t->top[i] = t->n;
		add_value(p, &v);
	}
	t->has_site = t->n > t->top[t->ret] + 1;
	set_site(t, t->has_site && !is_stacks(&t->value[t->top[t->ret + 1]]) ? t->top[t->ret + 1]
									     : RN_TEMPLATE_NONE);
}

static void set_spans(struct rn_template *t)
{
	for (uint32_t i = t->n; i-- > 0;) {
		uint64_t parts = rn_value_parts(&t->value[i]);
		uint32_t next = i + 1;

		for (; parts > 0; parts--)
			next += t->value[next].span;
		assert(next <= t->n);
		t->value[i].span = next - i;
	}
}

int rn_template_parse(struct rn_arena *mem, const struct rn_keywords *k, const void *sig,
		      size_t len, struct rn_template *out)
{
	struct values it = { .in = rn_reader(sig, len) };
	struct parser p = { .t = out };
	struct rn_sig_contents n;

	if (!rn_sig_scan(sig, len, k->vocab, &n))
		return RN_E_DATA;
	*out = (struct rn_template){
		.func = n.func, .comms = 1, .comm = RN_TEMPLATE_NONE, .stacks = n.stacks
	};
	out->value = rn_new(mem, struct rn_value, n.values);
	out->top = rn_new(mem, uint32_t, (size_t)rn_func_values(n.func) + 2);
	out->comm_of = rn_new(mem, struct rn_template_comm, n.comms);
	out->rank = rn_new(mem, struct rn_template_rank, n.ranks);
	out->slot = rn_new(mem, struct rn_template_slot, n.slots);
	p.text = rn_new(mem, char, n.names *NAME_ROOM);
	if (!out->value || !out->top || !out->comm_of || !out->rank || !out->slot || !p.text)
		return RN_E_NOMEM;
	out->comm_of[0] =
		(struct rn_template_comm){ .name = world_name, .len = sizeof(world_name) - 1 };
	rn_get_u64(&it.in);
	it.level[0] = (struct level){ rn_func_values(n.func), RN_V_LIST };
	parse_params(&p, k, &it);
	parse_rest(&p, &it.in);
	set_spans(out);
	assert(out->n == n.values && out->slots == n.slots && out->comms == n.comms);
	return RN_OK;
}

/* ---- tables ---- */

int rn_templates_init(struct rn_templates *t, struct rn_arena *mem, const struct rn_vocab *vocab,
		      const struct rn_sigs *sigs)
{
	*t = (struct rn_templates){ .keywords = rn_keywords_of(vocab), .sigs = sigs };
	rn_arena_init(&t->mem, SIZE_MAX);
	t->of = rn_new(mem, struct rn_template, rn_sigs_count(sigs));
	return t->of ? RN_OK : RN_E_NOMEM;
}

void rn_templates_free(struct rn_templates *t)
{
	rn_arena_free(&t->mem);
}

static int parse_one(struct rn_templates *t, uint32_t sig)
{
	size_t len;
	const void *bytes = rn_sigs_get(t->sigs, sig, &len);
	int rc = rn_template_parse(&t->mem, &t->keywords, bytes, len, &t->of[sig]);

	if (rc < 0)
		t->of[sig].func = NULL;
	return rc;
}

struct rn_template *rn_templates_parse(struct rn_templates *t, uint32_t sig)
{
	assert(sig < rn_sigs_count(t->sigs) && !t->of[sig].func);
	if (t->mem.mapped <= RN_TEMPLATES_MAX && parse_one(t, sig) == RN_OK)
		return &t->of[sig];
	rn_arena_free(&t->mem);
	memset(t->of, 0, rn_sigs_count(t->sigs) * sizeof(*t->of));
	return parse_one(t, sig) == RN_OK ? &t->of[sig] : NULL;
}

/* ---- calls ---- */

static bool fill_slot(struct rn_template *t, const struct rn_template_slot *s, int64_t number)
{
	struct rn_value *v = &t->value[s->value];
	const struct rn_template_comm *c = &t->comm_of[s->comm];

	assert(s->value < t->n && s->comm < t->comms);
	if (s->form == RN_ELASTIC_STACK) {
		bool known = number >= 0 && (uint64_t)number < s->stored.id;

		set_site(t, known ? s->value + 1 + (uint32_t)number : RN_TEMPLATE_NONE);
		return known;
	}
	v->kind = rn_value_kind(&s->stored);
	v->num = number;
	if (s->form == RN_ELASTIC_NAME) {
		v->len = (size_t)snprintf(s->text, NAME_ROOM, "%.*s%+lld", (int)s->stored.len,
					  s->stored.text, (long long)number);
		v->text = s->text;
	} else if (c->known && rn_value_is_relative(v)) {
		v->num = rn_value_resolve(v, c->rank, c->size);
		v->kind = RN_V_INT;
	}
	return true;
}

bool rn_template_fill(struct rn_template *t, const int64_t *series)
{
	bool known = true;

	for (uint32_t i = 0; i < t->slots; i++)
		known &= fill_slot(t, &t->slot[i], series[t->slot[i].series]);
	return known;
}

/* Values of inputs come before those of outputs; a parameter that is both has two. */
const struct rn_value *rn_template_argument(const struct rn_template *t, uint32_t param)
{
	bool after = rn_func_dir(t->func, param) == RN_DIR_OUT;
	uint32_t n = 0;

	assert(param < t->func->nparams);
	for (uint32_t i = 0; i < (after ? t->func->nparams : param); i++)
		n += rn_func_dir(t->func, i) != RN_DIR_OUT;
	for (uint32_t i = 0; after && i < param; i++)
		n += rn_func_dir(t->func, i) != RN_DIR_IN;
	return &t->value[t->top[n]];
}
