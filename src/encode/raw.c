/*
 * raw.c - canonical bytes from a call's words: each kind of parameter, read and written.
 *
 * Runs once per distinct call, so it is a plain walk over the function's row. What a rank is
 * relative to: the communicator of the call, which is its first one; for windows, messages and
 * requests the one they were made with. A reader takes it to be the first one, or the world if
 * there is none; where it is another, that is named beside the value.
 */
#include "encode/raw.h"

#include "base/err.h"
#include "base/number_text.h"
#include "encode/raw_walk.h"
#include "track/memory.h"

#include <stdio.h>

struct walk {
	const struct rn_raw_env *env;
	const uint64_t *at, *end;
	struct rn_call_writer *w;
	uint32_t slot, hole;
	uint32_t comm;    /* what ranks are of; 0: the world */
	const char *name; /* what a reader takes it to be */
	bool win;         /* it is a window's: always named, for windows of others can be alike */
	bool bad;         /* words do not fit: a mistake of ours, refused; all further ones are 0 */
};

#define WORLD "MPI_COMM_WORLD"

/* Of names that are put together, at most so many characters before a number: a name has 255. */
#define BITS_MAX   220
#define MODULE_MAX 200

static uint64_t next(struct walk *c)
{
	if (c->at < c->end && !c->bad)
		return *c->at++;
	c->bad = true;
	return 0;
}

static void put_name(struct walk *c, const char *s)
{
	rn_call_text(c->w, RN_V_NAME, s, strlen(s));
}

static bool put_absent(struct walk *c, uint64_t v)
{
	if (!rn_raw_is_absent(v))
		return false;
	rn_call_const(c->w, v == RN_RAW_UNSET  ? RN_WORD_unset
			    : v == RN_RAW_NULL ? RN_WORD_NULL
					       : RN_WORD_nothing);
	return true;
}

/* ---- numbers ---- */

static const char *comm_name(const struct walk *c, uint32_t comm)
{
	return comm ? c->env->comm(c->env->arg, comm) : WORLD;
}

/* The next value is about ranks of this communicator. */
static void put_in(struct walk *c, uint32_t comm)
{
	const char *name = comm_name(c, comm);

	if (strcmp(name, c->name) != 0)
		rn_call_in(c->w, name, strlen(name));
}

/* A number that may depend on the rank; comm 0: not as a rank of anything. */
static void put_slot(struct walk *c, int64_t v, uint32_t comm, bool named)
{
	int64_t number = v;
	enum rn_value_kind kind;

	if (c->bad)
		return;
	kind = c->env->slot(c->env->arg, c->slot++, v, comm, &number);
	if (named || (kind != RN_V_INT && kind != RN_V_VARIES))
		put_in(c, comm);
	rn_call_num(c->w, kind, number);
}

/* Constants that are bits, by name, joined: MPI_MODE_CREATE|MPI_MODE_RDWR. Bits that have none come
 * last, as one number. */
static void put_bits(struct walk *c, enum rn_param_kind kind, uint64_t v)
{
	char text[256];
	size_t n = 0;
	uint64_t rest = 0;

	for (uint64_t bit = 1; bit; bit <<= 1) {
		int64_t word = v & bit ? c->env->constant(c->env->arg, kind, (int64_t)bit) : -1;
		const char *name = word < 0 ? NULL : rn_vocab_word(&rn_mpi_vocab, (uint64_t)word);

		if (name && n + strlen(name) < BITS_MAX)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? "|" : "",
					      name);
		else
			rest |= v & bit;
	}
	if (rest)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%#llx", n ? "|" : "",
				      (unsigned long long)rest);
	if (n)
		rn_call_text(c->w, RN_V_NAME, text, n);
	else
		rn_call_num(c->w, RN_V_INT, 0);
}

static bool is_hole(const struct walk *c, uint64_t raw)
{
	return raw == RN_RAW_HOLE && c->env->hole && !c->bad;
}

static void put_hole(struct walk *c, enum rn_param_kind kind)
{
	bool slot = kind == RN_K_rank || kind == RN_K_vary;
	enum rn_elastic form = c->env->hole(c->env->arg, c->hole++, slot, c->comm);

	if (form != RN_ELASTIC_INT || (kind == RN_K_rank && c->win))
		put_in(c, c->comm);
	rn_call_elastic(c->w, form, c->env->like);
}

static void put_number(struct walk *c, enum rn_param_kind kind, uint64_t raw)
{
	int64_t v = (int64_t)raw, word;

	if (put_absent(c, raw))
		return;
	if (is_hole(c, raw)) {
		put_hole(c, kind);
		return;
	}
	if (RN_RAW_IS_SAME(raw) && c->env->hole && !c->bad) {
		rn_call_elastic_same(c->w, c->env->like, RN_RAW_SAME_AS(raw));
		return;
	}
	if (kind == RN_K_fint) {
		rn_call_const(c->w, RN_WORD_fint);
	} else if (kind == RN_K_amode || kind == RN_K_assert) {
		put_bits(c, kind, raw);
	} else if (kind == RN_K_int) {
		rn_call_num(c->w, RN_V_INT, v);
	} else if (kind == RN_K_errcode && v == 0) {
		rn_call_num(c->w, RN_V_INT, 0);
	} else if ((word = c->env->constant(c->env->arg, kind, v)) >= 0) {
		rn_call_const(c->w, (uint32_t)word);
	} else if (kind == RN_K_rank) {
		put_slot(c, v, c->comm, c->win);
	} else if (kind == RN_K_vary || kind == RN_K_color) {
		put_slot(c, v, c->comm, false);
	} else {
		rn_call_num(c->w, RN_V_INT, v);
	}
}

/* ---- handles, memory, text ---- */

static uint32_t class_word(enum rn_param_kind kind)
{
	static const uint8_t word[RN_K_COUNT] = {
		[RN_K_type] = RN_WORD_type,
		[RN_K_group] = RN_WORD_group,
		[RN_K_op] = RN_WORD_op,
		[RN_K_info] = RN_WORD_info,
		[RN_K_file] = RN_WORD_file,
		[RN_K_win] = RN_WORD_win,
		[RN_K_keyval] = RN_WORD_keyval,
		[RN_K_errhandler] = RN_WORD_errhandler,
		[RN_K_message] = RN_WORD_message,
		[RN_K_session] = RN_WORD_session,
		[RN_K_cvar] = RN_WORD_cvar,
		[RN_K_pvar] = RN_WORD_pvar,
		[RN_K_pvarsession] = RN_WORD_pvarsession,
		[RN_K_enum] = RN_WORD_enum,
		[RN_K_event] = RN_WORD_event,
		[RN_K_eventreg] = RN_WORD_eventreg,
		[RN_K_greqclass] = RN_WORD_greqclass,
	};

	return word[kind];
}

static void put_handle(struct walk *c, enum rn_param_kind kind, uint64_t raw)
{
	uint32_t v = (uint32_t)raw;

	if (put_absent(c, raw))
		return;
	if (v & 1)
		rn_call_const(c->w, v >> 1);
	else if (kind == RN_K_comm)
		put_name(c, c->env->comm(c->env->arg, v));
	else
		rn_call_object(c->w, class_word(kind), v >> 1);
}

static uint32_t memory_word(uint32_t cls)
{
	static const uint8_t word[] = {
		[RN_MEM_OTHER] = RN_WORD_other,   [RN_MEM_HEAP] = RN_WORD_heap,
		[RN_MEM_STACK] = RN_WORD_stack,   [RN_MEM_TLS] = RN_WORD_tls,
		[RN_MEM_STATIC] = RN_WORD_static, [RN_MEM_MMAP] = RN_WORD_mmap,
		[RN_MEM_ALLOC] = RN_WORD_alloc,   [RN_MEM_WIN] = RN_WORD_window,
		[RN_MEM_PINNED] = RN_WORD_pinned, [RN_MEM_MANAGED] = RN_WORD_managed,
	};

	return cls < sizeof(word) ? word[cls] : RN_WORD_gpu;
}

/* A file's name may have any bytes, a name may not: the others are %20 and so on. */
static void module_text(char text[MODULE_MAX + 1], const char *file)
{
	size_t n = 0;

	for (; *file && n <= MODULE_MAX - 3; file++) {
		if (*file != '%' && rn_name_valid(file, 1))
			text[n++] = *file;
		else
			n += (size_t)sprintf(text + n, "%%%02x", (unsigned char)*file);
	}
	text[n] = 0;
}

/* What a place that has no number of the vocabulary is called, without its displacement. */
static size_t place_text(const struct walk *c, uint32_t cls, uint32_t id, char text[256])
{
	char file[MODULE_MAX + 1];
	int n;

	if (cls >= RN_MEM_GPU) {
		n = snprintf(text, 256, "gpu%u:%u", cls - RN_MEM_GPU, id);
	} else {
		module_text(file, c->env->module(c->env->arg, id));
		n = snprintf(text, 256, "static:%s", file);
	}
	return (size_t)n;
}

static void put_place(struct walk *c, uint64_t head, uint64_t disp)
{
	uint32_t cls = (uint32_t)(head & 255), id = (uint32_t)(head >> 8);
	bool hole = is_hole(c, disp);
	char text[256];
	size_t n;

	if (put_absent(c, head))
		return;
	if (hole && cls < RN_RAW_CLASS_INT)
		c->env->hole(c->env->arg, c->hole++, false, 0);
	if (cls == RN_RAW_CLASS_CONST) {
		rn_call_const(c->w, id);
	} else if (cls == RN_RAW_CLASS_INT && hole) {
		put_hole(c, RN_K_int);
	} else if (cls == RN_RAW_CLASS_INT) {
		rn_call_num(c->w, RN_V_INT, (int64_t)disp);
	} else if (cls >= RN_MEM_GPU || cls == RN_MEM_STATIC) {
		n = place_text(c, cls, id, text);
		if (hole) {
			rn_call_elastic_name(c->w, c->env->like, text, n);
		} else {
			snprintf(text + n, sizeof(text) - n, "%+lld", (long long)disp);
			put_name(c, text);
		}
	} else if (hole) {
		rn_call_elastic_place(c->w, c->env->like, memory_word(cls), id);
	} else {
		rn_call_place(c->w, memory_word(cls), id, (int64_t)disp);
	}
}

static void put_string(struct walk *c, uint64_t raw)
{
	size_t n;
	const char *s;

	if (put_absent(c, raw) || c->bad)
		return;
	s = c->env->string(c->env->arg, raw, &n);
	if (c->env->most && n > c->env->most)
		rn_call_const(c->w, RN_WORD_unset);
	else
		rn_call_text(c->w, RN_V_STRING, s, n);
}

/* ---- requests and statuses ---- */

static void put_request(struct walk *c, uint64_t raw)
{
	uint32_t stream = RN_RAW_STREAM(raw), shape = RN_RAW_SHAPE(raw), slot = RN_RAW_SLOT(raw);
	char text[64];

	if (put_absent(c, raw))
		return;
	if (raw == 0) {
		rn_call_const(c->w, (uint32_t)c->env->constant(c->env->arg, RN_K_request, 0));
	} else if (raw == 1) {
		put_name(c, "request:?");
	} else if (stream) {
		snprintf(text, sizeof(text), "request:%u.%u.%u", stream - 1, shape, slot);
		put_name(c, text);
	} else {
		rn_call_place(c->w, raw & RN_RAW_GONE ? RN_WORD_request_gone : RN_WORD_request,
			      shape, slot);
	}
}

static void put_status_fields(struct walk *c, enum rn_status_form form)
{
	put_number(c, RN_K_rank, next(c));
	put_number(c, RN_K_tag, next(c));
	if (form == RN_STATUS_MATCHED)
		return;
	put_number(c, RN_K_errcode, next(c));
	put_number(c, RN_K_index, next(c));
	put_number(c, RN_K_int, next(c));
}

/* A source that belongs to a communicator that is not the call's is told so as a whole. */
static void put_status(struct walk *c)
{
	uint64_t head = next(c);
	uint32_t comm = (uint32_t)(head >> 8), call = c->comm;
	const char *name = c->name;
	enum rn_status_form form = (enum rn_status_form)(head & 255);

	if (put_absent(c, head))
		return;
	if (form == RN_STATUS_NOTHING) {
		rn_call_status(c->w, form);
		return;
	}
	put_in(c, comm);
	rn_call_status(c->w, form);
	c->comm = comm;
	c->name = comm_name(c, comm);
	put_status_fields(c, form);
	c->comm = call;
	c->name = name;
}

/* ---- parameters ---- */

static void put_list(struct walk *c, enum rn_param_kind kind);

static void put_one(struct walk *c, enum rn_param_kind kind)
{
	if (rn_raw_is_place(kind)) {
		uint64_t head = next(c);

		put_place(c, head, next(c));
	} else if (rn_raw_is_status(kind)) {
		put_status(c);
	} else if (kind == RN_K_request) {
		put_request(c, next(c));
	} else if (kind == RN_K_string) {
		put_string(c, next(c));
	} else if (rn_raw_is_texts(kind)) {
		put_list(c, rn_raw_element(kind));
	} else if (kind == RN_K_range) {
		rn_call_list(c->w, 3);
		for (int i = 0; i < 3; i++)
			put_number(c, RN_K_int, next(c));
	} else if (rn_raw_is_number(kind)) {
		put_number(c, kind == RN_K_weight ? RN_K_int : kind, next(c));
	} else {
		put_handle(c, kind, next(c));
	}
}

/* An array: its head, and where its elements are. */
static void put_list(struct walk *c, enum rn_param_kind kind)
{
	uint64_t head = next(c), n = head >> 2, id;
	const uint64_t *at, *end = c->end;
	size_t words;

	if ((head & 3) == RN_RAW_NAMED) {
		rn_call_const(c->w, (uint32_t)n);
		return;
	}
	if (c->env->most && n > c->env->most && (head & 3) == RN_RAW_BLOB) {
		next(c);
		rn_call_const(c->w, RN_WORD_unset);
		return;
	}
	rn_call_list(c->w, n);
	if ((head & 3) == RN_RAW_HERE) {
		for (uint64_t i = 0; i < n && !c->bad; i++)
			put_one(c, kind);
		return;
	}
	id = next(c);
	if (c->bad)
		return;
	at = c->at;
	c->at = c->env->blob(c->env->arg, id, &words);
	c->end = c->at + words;
	for (uint64_t i = 0; i < n && !c->bad; i++)
		put_one(c, kind);
	c->bad |= c->at != c->end;
	c->at = at;
	c->end = end;
}

static void put_param(struct walk *c, const struct rn_param *p)
{
	enum rn_param_kind kind = p->kind;

	if (kind == RN_K_request && p->how == RN_HOW_new && !p->array) {
		uint64_t raw = next(c);

		if (!put_absent(c, raw) && raw)
			rn_call_const(c->w, RN_WORD_request_new);
		else if (raw == 0)
			put_request(c, raw);
	} else if (rn_raw_is_list(p)) {
		put_list(c, kind);
	} else {
		put_one(c, kind);
	}
}

/* ---- calls without results ---- */

static uint64_t *unset(const struct rn_param *p, uint64_t *w)
{
	bool list = rn_raw_is_list(p) || rn_raw_is_texts(p->kind);

	*w++ = list ? (uint64_t)RN_WORD_unset << 2 | RN_RAW_NAMED : RN_RAW_UNSET;
	if (!list && rn_raw_is_place(p->kind))
		*w++ = 0;
	return w;
}

uint64_t *rn_raw_unset(const uint64_t *words, uint64_t *end)
{
	const struct rn_proto *f = &rn_mpi_protos[RN_RAW_FUNCTION(words[0])];
	bool none = end == words + 1;

	for (uint32_t i = 0; i < f->nparams; i++)
		if (none && rn_raw_early(&f->param[i]))
			end = unset(&f->param[i], end);
	for (uint32_t i = 0; i < f->nparams; i++)
		if (rn_raw_late(&f->param[i]))
			end = unset(&f->param[i], end);
	*end++ = RN_RAW_UNSET;
	return end;
}

/* ---- the communicator of the call ---- */

static void skip_list(struct walk *c, enum rn_param_kind kind);

static void skip_one(struct walk *c, enum rn_param_kind kind)
{
	if (rn_raw_is_texts(kind)) {
		skip_list(c, rn_raw_element(kind));
	} else {
		next(c);
		if (rn_raw_is_place(kind))
			next(c);
	}
}

static void skip_list(struct walk *c, enum rn_param_kind kind)
{
	uint64_t head = next(c);

	if ((head & 3) == RN_RAW_BLOB)
		next(c);
	for (uint64_t i = 0; (head & 3) == RN_RAW_HERE && i < head >> 2 && !c->bad; i++)
		skip_one(c, kind);
}

/* MPI_COMM_NULL is none. */
static bool is_comm(uint64_t raw)
{
	const char *name = raw & 1 ? rn_vocab_word(&rn_mpi_vocab, (uint32_t)raw >> 1) : WORLD;

	return name && rn_comm_name(name, strlen(name));
}

/* Looks at one parameter, and moves behind it. True at the communicator of the call, and at a
 * status, behind which no function has one. */
static bool try_comm(struct walk *c, const struct rn_param *p)
{
	uint64_t raw = c->at < c->end ? *c->at : 0;

	if (p->kind == RN_K_comm && is_comm(raw)) {
		c->comm = (uint32_t)raw;
		c->name = c->env->comm(c->env->arg, c->comm);
		c->win = false;
		return true;
	}
	if ((p->kind == RN_K_win || p->kind == RN_K_message) && !rn_raw_is_absent(raw)) {
		c->comm = (uint32_t)(raw >> 32);
		c->win = p->kind == RN_K_win;
	}
	if (rn_raw_is_list(p))
		skip_list(c, p->kind);
	else
		skip_one(c, p->kind);
	return rn_raw_is_status(p->kind);
}

/* The first one, among the values from before the call and then among those from after it, as a
 * reader looks for it; else ranks are of that of a window or message. */
static void find_comm(struct walk *call, const struct rn_proto *f)
{
	struct walk c = *call;
	bool done = false;

	for (uint32_t i = 0; i < f->nparams && !done; i++)
		done = rn_raw_early(&f->param[i]) && try_comm(&c, &f->param[i]);
	for (uint32_t i = 0; i < f->nparams && !done; i++)
		done = rn_raw_late(&f->param[i]) && try_comm(&c, &f->param[i]);
	call->comm = c.comm;
	call->name = c.name;
	call->win = c.win;
}

static void put_stack(struct walk *c, uint32_t site)
{
	size_t len;
	const char *bytes = c->env->site(c->env->arg, site, &len);

	rn_call_text(c->w, RN_V_STRING, bytes, len);
}

/* A hole, and what may stand in it. */
static void put_alike(struct walk *c, uint32_t site)
{
	const uint32_t *all;
	uint32_t n = 0;

	if (!is_hole(c, next(c))) {
		c->bad = true;
		return;
	}
	c->env->hole(c->env->arg, c->hole++, false, 0);
	if (!c->env->alike) {
		put_stack(c, 0);
		return;
	}
	all = c->env->alike(c->env->arg, site, &n);
	c->bad |= !all;
	rn_call_elastic_stack(c->w, c->env->like, n);
	for (uint32_t i = 0; i < n; i++)
		put_stack(c, all[i]);
}

static void put_site(struct walk *c, uint64_t head)
{
	if (head & RN_RAW_ALIKE)
		put_alike(c, RN_RAW_SITE(head));
	else if (RN_RAW_SITE(head))
		put_stack(c, RN_RAW_SITE(head));
}

/* A number of seconds is stored as a name, which converts to the same double. */
static void put_seconds(struct walk *c, uint64_t raw)
{
	char text[RN_DOUBLE_TEXT];
	double v;

	memcpy(&v, &raw, sizeof(v));
	put_name(c, rn_double_text(text, v));
}

static void put_ret(struct walk *c, enum rn_ret kind, uint64_t raw)
{
	if (kind == RN_RET_errcode || raw == RN_RAW_UNSET)
		put_number(c, RN_K_errcode, raw);
	else if (kind == RN_RET_seconds)
		put_seconds(c, raw);
	else
		rn_call_const(c->w, RN_WORD_nothing);
}

int rn_raw_write(const struct rn_raw_env *env, const uint64_t *words, size_t n,
		 struct rn_call_writer *w, unsigned char *buf, size_t cap, size_t *len)
{
	const struct rn_proto *f = &rn_mpi_protos[RN_RAW_FUNCTION(words[0])];
	struct walk c = { .env = env, .at = words + 1, .end = words + n, .w = w, .name = WORLD };

	find_comm(&c, f);
	rn_call_begin(w, buf, cap, RN_RAW_FUNCTION(words[0]));
	for (uint32_t i = 0; i < f->nparams; i++)
		if (rn_raw_early(&f->param[i]))
			put_param(&c, &f->param[i]);
	for (uint32_t i = 0; i < f->nparams; i++)
		if (rn_raw_late(&f->param[i]))
			put_param(&c, &f->param[i]);
	put_ret(&c, f->ret, next(&c));
	put_site(&c, words[0]);
	if (c.bad || c.at != c.end)
		return RN_E_ARG;
	return rn_call_done(w, len);
}
