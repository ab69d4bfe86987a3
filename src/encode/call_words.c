/*
 * call_words.c - conversion of call words to canonical bytes, by kind of parameter.
 *
 * Runs once per distinct call, as a visitor of the words (call_words_visit.h).
 *
 * A rank is relative to a communicator. This is the communicator of the call (its first one) or,
 * for windows, messages and requests, the one that they were created with. A reader assumes the
 * first communicator, or the world if the call has no communicator. If the actual communicator is
 * another one, it is named beside the value.
 */
#include "encode/call_words.h"

#include "base/err.h"
#include "base/intern.h"
#include "base/number_text.h"
#include "encode/call_words_visit.h"
#include "encode/process_table.h"
#include "track/memory.h"

#include <stdio.h>

struct walk {
	const struct rn_raw_env *env;
	const struct rn_proto *f;
	struct rn_buf *out;
	uint64_t head; /* the first word */
	uint32_t slot, hole;
	uint32_t comm;      /* communicator of the ranks; 0: the world */
	const char *name;   /* communicator that a reader assumes */
	bool win;           /* that of a window; always named, because windows may look alike */
	uint32_t call_comm; /* saved `comm` and `name` of the call inside a status */
	const char *call_name;
	bool found;    /* the communicator of the call is known */
	bool returned; /* the return value was written */
	bool bad;      /* malformed words: a bug in the tracer; the call is rejected */
};

#define WORLD "MPI_COMM_WORLD"

/* Limits on the characters before the number in a composed name; a name has at most 255. */
#define BITS_MAX   220
#define MODULE_MAX 200

static void put_name(struct walk *c, const char *s)
{
	rn_call_text(c->out, RN_V_NAME, s, strlen(s));
}

static bool put_absent(struct walk *c, uint64_t v)
{
	if (!rn_raw_is_absent(v))
		return false;
	rn_call_const(c->out, v == RN_RAW_UNSET  ? RN_WORD_unset
			      : v == RN_RAW_NULL ? RN_WORD_NULL
						 : RN_WORD_nothing);
	return true;
}

/* ---- numbers ---- */

static const char *comm_name(const struct walk *c, uint32_t comm)
{
	const char *name = rn_process_comm(c->env->process, comm).name;

	return name ? name : "comm:unknown";
}

/* A call without a communicator uses the ranks of the world. */
static const char *comm_or_world(const struct walk *c, uint32_t comm)
{
	return comm ? comm_name(c, comm) : WORLD;
}

static int64_t constant(const struct walk *c, enum rn_param_kind kind, int64_t value)
{
	return rn_process_constant(c->env->process, kind, value);
}

/* Returns an element of a table of the stream; an empty one if the id is out of range. */
static const void *element(const struct rn_sigs *table, uint64_t id, size_t *len)
{
	*len = 0;
	return id < rn_sigs_count(table) ? rn_sigs_get(table, (uint32_t)id, len) : "";
}

/* States that the ranks of the next value refer to this communicator. */
static void put_in(struct walk *c, uint32_t comm)
{
	const char *name = comm_or_world(c, comm);

	if (strcmp(name, c->name) != 0)
		rn_call_in(c->out, name, strlen(name));
}

/* Returns how number i of the call is written. If the call is truncated, the numbers may differ
 * from those in the list; the result is then an absolute value. */
static struct rn_raw_slot slot_of(struct rn_raw_numbers *n, uint32_t i, int64_t v, uint32_t comm)
{
	struct rn_raw_slot s = { v, comm, RN_V_INT, v };

	if (n->mode == RN_RAW_COLLECT) {
		s.number = 0;
		if (i < RN_RAW_SLOTS_MAX) {
			n->slot[i] = s;
			n->slots = i + 1;
		}
	} else if (n->mode == RN_RAW_EXPRESS && i < n->slots && n->slot[i].value == v &&
		   n->slot[i].comm == comm) {
		s = n->slot[i];
	}
	return s;
}

/* Returns the form of the next elastic slot of the call. */
static enum rn_elastic next_hole(struct walk *c, bool is_rank, uint32_t comm)
{
	struct rn_raw_numbers *n = c->env->numbers;
	struct rn_raw_hole *h = &n->hole[c->hole < RN_HOLES_MAX ? c->hole : 0];

	c->hole++;
	if (n->mode != RN_RAW_EXPRESS)
		*h = (struct rn_raw_hole){ is_rank, comm, RN_ELASTIC_INT };
	return h->form;
}

/* Writes a number that may depend on the rank; comm 0: the world. */
static void put_slot(struct walk *c, int64_t v, uint32_t comm, bool named)
{
	struct rn_raw_slot s = slot_of(c->env->numbers, c->slot++, v, comm);

	if (named || (s.kind != RN_V_INT && s.kind != RN_V_VARIES))
		put_in(c, comm);
	rn_call_num(c->out, s.kind, s.number);
}

/* Writes the names of the set bits: MPI_MODE_CREATE|MPI_MODE_RDWR. Bits without a name come last,
 * as one number. */
static void put_bits(struct walk *c, enum rn_param_kind kind, uint64_t v)
{
	char text[256];
	size_t n = 0;
	uint64_t rest = 0;

	for (uint64_t bit = 1; bit; bit <<= 1) {
		int64_t word = v & bit ? constant(c, kind, (int64_t)bit) : -1;
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
		rn_call_text(c->out, RN_V_NAME, text, n);
	else
		rn_call_num(c->out, RN_V_INT, 0);
}

static bool is_hole(const struct walk *c, uint64_t raw)
{
	return raw == RN_RAW_HOLE && c->env->elastic;
}

static void put_hole(struct walk *c, enum rn_param_kind kind)
{
	bool slot = kind == RN_K_rank || kind == RN_K_vary;
	enum rn_elastic form = next_hole(c, slot, c->comm);

	if (form != RN_ELASTIC_INT || (kind == RN_K_rank && c->win))
		put_in(c, c->comm);
	rn_call_elastic(c->out, form, c->env->like);
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
	if (RN_RAW_IS_SAME(raw) && c->env->elastic) {
		rn_call_elastic_same(c->out, c->env->like, RN_RAW_SAME_AS(raw));
		return;
	}
	if (kind == RN_K_fint) {
		rn_call_const(c->out, RN_WORD_fint);
	} else if (kind == RN_K_amode || kind == RN_K_assert) {
		put_bits(c, kind, raw);
	} else if (kind == RN_K_int) {
		rn_call_num(c->out, RN_V_INT, v);
	} else if (kind == RN_K_errcode && v == 0) {
		rn_call_num(c->out, RN_V_INT, 0);
	} else if ((word = constant(c, kind, v)) >= 0) {
		rn_call_const(c->out, (uint32_t)word);
	} else if (kind == RN_K_rank) {
		put_slot(c, v, c->comm, c->win);
	} else if (kind == RN_K_vary || kind == RN_K_color) {
		put_slot(c, v, c->comm, false);
	} else {
		rn_call_num(c->out, RN_V_INT, v);
	}
}

/* ---- handles, memory, text ---- */

/* The keywords of the handle classes have the same order as their kinds. */
_Static_assert(RN_K_greqclass - RN_K_type == RN_WORD_greqclass - RN_WORD_type,
	       "each kind of handle has a keyword");

static uint32_t class_word(enum rn_param_kind kind)
{
	return RN_WORD_type + (kind - RN_K_type);
}

static void put_handle(struct walk *c, enum rn_param_kind kind, uint64_t raw)
{
	uint32_t v = (uint32_t)raw;

	if (put_absent(c, raw))
		return;
	if (v & 1)
		rn_call_const(c->out, v >> 1);
	else if (kind == RN_K_comm)
		put_name(c, comm_name(c, v));
	else
		rn_call_object(c->out, class_word(kind), v >> 1);
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

/* Converts a file name to a valid name: all bytes that a name cannot contain become %20 and so on.
 */
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

/* Writes the name of a memory location whose class has no keyword, without the displacement. */
static size_t place_text(const struct walk *c, uint32_t cls, uint32_t id, char text[256])
{
	char file[MODULE_MAX + 1];
	int n;

	if (cls >= RN_MEM_GPU) {
		n = snprintf(text, 256, "gpu%u:%u", cls - RN_MEM_GPU, id);
	} else {
		module_text(file, rn_process_module(c->env->process, id));
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
		next_hole(c, false, 0);
	if (cls == RN_RAW_CLASS_CONST) {
		rn_call_const(c->out, id);
	} else if (cls == RN_RAW_CLASS_INT && hole) {
		put_hole(c, RN_K_int);
	} else if (cls == RN_RAW_CLASS_INT) {
		rn_call_num(c->out, RN_V_INT, (int64_t)disp);
	} else if (cls >= RN_MEM_GPU || cls == RN_MEM_STATIC) {
		n = place_text(c, cls, id, text);
		if (hole) {
			rn_call_elastic_name(c->out, c->env->like, text, n);
		} else {
			snprintf(text + n, sizeof(text) - n, "%+lld", (long long)disp);
			put_name(c, text);
		}
	} else if (hole) {
		rn_call_elastic_place(c->out, c->env->like, memory_word(cls), id);
	} else {
		rn_call_place(c->out, memory_word(cls), id, (int64_t)disp);
	}
}

static void put_string(struct walk *c, uint64_t raw)
{
	size_t n;
	const char *s;

	if (put_absent(c, raw))
		return;
	s = element(c->env->texts, raw, &n);
	if (c->env->most && n > c->env->most)
		rn_call_const(c->out, RN_WORD_unset);
	else
		rn_call_text(c->out, RN_V_STRING, s, n);
}

/* ---- requests and statuses ---- */

static void put_request(struct walk *c, uint64_t raw)
{
	uint32_t stream = RN_RAW_STREAM(raw), shape = RN_RAW_SHAPE(raw), slot = RN_RAW_SLOT(raw);
	char text[64];

	if (put_absent(c, raw))
		return;
	if (raw == 0) {
		rn_call_const(c->out, (uint32_t)constant(c, RN_K_request, 0));
	} else if (raw == 1) {
		put_name(c, "request:?");
	} else if (stream) {
		snprintf(text, sizeof(text), "request:%u.%u.%u", stream - 1, shape, slot);
		put_name(c, text);
	} else {
		rn_call_place(c->out, raw & RN_RAW_GONE ? RN_WORD_request_gone : RN_WORD_request,
			      shape, slot);
	}
}

/* Writes the request that a call creates; its name follows from the signature. */
static void put_created(struct walk *c, uint64_t raw)
{
	if (raw && !rn_raw_is_absent(raw))
		rn_call_const(c->out, RN_WORD_request_new);
	else
		put_request(c, raw);
}

/* Begins a status. If its source belongs to another communicator than that of the call, the
 * communicator is stated for the whole status. */
static void put_status(struct walk *c, uint64_t head)
{
	enum rn_status_form form = (enum rn_status_form)(head & 255);
	uint32_t comm = (uint32_t)(head >> 8);

	if (put_absent(c, head))
		return;
	if (form != RN_STATUS_NOTHING) {
		put_in(c, comm);
		c->call_comm = c->comm;
		c->call_name = c->name;
		c->comm = comm;
		c->name = comm_or_world(c, comm);
	}
	rn_call_status(c->out, form);
}

static void end_status(struct walk *c)
{
	c->comm = c->call_comm;
	c->name = c->call_name;
}

/* ---- arrays ---- */

static void put_list(struct walk *c, uint64_t head)
{
	if ((head & 3) == RN_RAW_NAMED)
		rn_call_const(c->out, (uint32_t)(head >> 2));
	else if ((head & 3) == RN_RAW_HERE)
		rn_call_list(c->out, head >> 2);
}

static rn_raw_fn put_part;

static void put_array(struct walk *c, enum rn_param_kind kind, uint64_t head, uint64_t id)
{
	uint64_t n = head >> 2;
	const uint64_t *blob;
	size_t len;

	if (c->env->most && n > c->env->most && (head & 3) == RN_RAW_BLOB) {
		rn_call_const(c->out, RN_WORD_unset);
		return;
	}
	rn_call_list(c->out, n);
	blob = element(c->env->blobs, id, &len);
	/* The visitor does not change the words. */
	c->bad |= !rn_raw_visit_blob((uint64_t *)(uintptr_t)blob, len / sizeof(*blob), kind, n,
				     put_part, c);
}

/* ---- the communicator of the call ---- */

/* Returns whether the handle is a communicator; false for MPI_COMM_NULL. */
static bool is_comm(uint64_t raw)
{
	const char *name = raw & 1 ? rn_vocab_word(&rn_mpi_vocab, (uint32_t)raw >> 1) : WORLD;

	return name && rn_comm_name(name, strlen(name));
}

/* Finds the communicator that a reader assumes: the first one in the order of the values, else that
 * of a window or message. No function has a communicator after a status. */
static void find_comm(void *arg, enum rn_raw_part part, enum rn_param_kind kind, uint64_t *w)
{
	struct walk *c = arg;

	c->found |= part == RN_RAW_STATUS;
	if (part != RN_RAW_HANDLE || c->found)
		return;
	if (kind == RN_K_comm && is_comm(*w)) {
		c->comm = (uint32_t)*w;
		c->name = comm_name(c, c->comm);
		c->win = false;
		c->found = true;
	} else if ((kind == RN_K_win || kind == RN_K_message) && !rn_raw_is_absent(*w)) {
		c->comm = (uint32_t)(*w >> 32);
		c->win = kind == RN_K_win;
	}
}

/* ---- the call site and the return value ---- */

static void put_stack(struct walk *c, uint32_t site)
{
	size_t len;
	const char *bytes = rn_process_stack(c->env->process, site, &len);

	rn_call_text(c->out, RN_V_STRING, bytes, len);
}

/* Writes an elastic call site: the slot and the stacks of the cluster. */
static void put_alike(struct walk *c, uint64_t raw)
{
	if (!is_hole(c, raw)) {
		c->bad = true;
		return;
	}
	next_hole(c, false, 0);
	if (c->env->numbers->mode != RN_RAW_EXPRESS) {
		put_stack(c, 0);
		return;
	}
	c->bad |= !c->env->stack;
	rn_call_elastic_stack(c->out, c->env->like, c->env->stacks);
	for (uint32_t i = 0; i < c->env->stacks; i++)
		put_stack(c, c->env->stack[i]);
}

/* Writes seconds as a name that converts to the same double. */
static void put_seconds(struct walk *c, uint64_t raw)
{
	char text[RN_DOUBLE_TEXT];
	double v;

	memcpy(&v, &raw, sizeof(v));
	put_name(c, rn_double_text(text, v));
}

static void put_ret(struct walk *c, uint64_t raw)
{
	c->returned = true;
	if (c->f->ret == RN_RET_errcode || raw == RN_RAW_UNSET)
		put_number(c, RN_K_errcode, raw);
	else if (c->f->ret == RN_RET_seconds)
		put_seconds(c, raw);
	else
		rn_call_const(c->out, RN_WORD_nothing);
}

/* ---- a call ---- */

static void put_part(void *arg, enum rn_raw_part part, enum rn_param_kind kind, uint64_t *w)
{
	struct walk *c = arg;

	if (c->bad || c->out->len > RN_CALL_BYTES_MAX)
		return;
	switch (part) {
	case RN_RAW_NUMBER:
		put_number(c, kind, *w);
		break;
	case RN_RAW_PLACE:
		put_place(c, w[0], w[1]);
		break;
	case RN_RAW_TEXT:
		put_string(c, *w);
		break;
	case RN_RAW_HANDLE:
		put_handle(c, kind, *w);
		break;
	case RN_RAW_REQUESTED:
		put_request(c, *w);
		break;
	case RN_RAW_CREATED:
		put_created(c, *w);
		break;
	case RN_RAW_STATUS:
		put_status(c, *w);
		break;
	case RN_RAW_STATUS_END:
		end_status(c);
		break;
	case RN_RAW_TRIPLE:
		rn_call_list(c->out, 3);
		break;
	case RN_RAW_LIST:
		put_list(c, *w);
		break;
	case RN_RAW_ARRAY:
		put_array(c, kind, w[-1], *w);
		break;
	case RN_RAW_RETURN_VALUE:
		put_ret(c, *w);
		break;
	case RN_RAW_STACK:
		put_alike(c, *w);
	}
}

int rn_raw_write(const struct rn_raw_env *env, const uint64_t *words, size_t n, struct rn_buf *out)
{
	struct walk c = { .env = env, .out = out, .head = words[0], .name = WORLD };
	uint64_t *all = (uint64_t *)(uintptr_t)words; /* the visitors do not change the words */
	size_t used = 0;
	bool fits;

	c.f = &rn_mpi_protos[RN_RAW_FUNCTION(words[0])];
	rn_raw_visit(all, n, find_comm, &c, NULL);
	rn_buf_clear(out);
	rn_buf_u64(out, RN_RAW_FUNCTION(words[0]));
	fits = rn_raw_visit(all, n, put_part, &c, &used) && used == n && c.returned && !c.bad;
	if (fits && !(words[0] & RN_RAW_ALIKE) && RN_RAW_SITE(words[0]))
		put_stack(&c, RN_RAW_SITE(words[0]));
	if (out->len > RN_CALL_BYTES_MAX)
		return RN_E_RANGE;
	return fits ? rn_buf_status(out) : RN_E_ARG;
}
