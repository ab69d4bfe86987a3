/*
 * test_raw.c - every function of MPI: random call words, their canonical bytes, and the printed
 * line.
 *
 * The model makes the words of a value and its JSON text together, by kind. MPI is never called.
 * The calls of one function are a stream of one process with its own communicators and requests.
 * The lines are compared when the stream is complete, as in a reader. Each value has a seed, so
 * that a call can be repeated exactly or with a single value changed.
 */
#include "tap.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "encode/call_words.h"
#include "encode/process_table.h"
#include "encode/template.h"
#include "identity/comm_table.h"
#include "read/call_text.h"
#include "read/calls.h"
#include "rules/rules.h"
#include "track/memory.h"

#define CALLS 1500 /* of each function */

#define BYTES  ((size_t)1 << 20)
#define WORDS  ((size_t)1 << 17)
#define PIECES ((size_t)1 << 14) /* strings, blobs or slots of a call */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t state; /* random state of the values */

static uint64_t draw(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t below(uint64_t n)
{
	return draw() % n;
}

static bool one_in(uint64_t n)
{
	return below(n) == 0;
}

/* ---- the process ---- */

#define COMMS        6 /* the reader has no data about the last one */
#define COMM_WORD(i) ((uint32_t)((i) + 1) << 28)

struct comm {
	const char *name;
	uint64_t rank, size; /* of the ranks that can be used */
	bool known;
};

static struct rn_arena mem;
static struct comm world, comm[COMMS];
static const struct comm self = { "MPI_COMM_SELF", 0, 1, true };
static struct rn_comms *comms;
static int64_t varying[64]; /* values of this process in the per-rank tables */
static uint32_t tables;
static uint32_t word_world, word_self, word_null;

static const struct comm *comm_of(uint32_t word)
{
	if (word == 0 || word == word_world)
		return &world;
	return word == word_self ? &self : &comm[(word >> 28) - 1];
}

static void random_comm(unsigned i, const char *name)
{
	struct rn_comm_entry e = { .size = 1 + below(one_in(2) ? 5 : 100000) };

	e.my_rank = below(e.size);
	e.remote = one_in(3) ? 1 + below(1000) : 0;
	comm[i] = (struct comm){ name, e.my_rank, e.remote ? e.remote : e.size, i < COMMS - 1 };
	if (comm[i].known)
		CHECK(rn_comms_add(comms, name, strlen(name), world.rank, &e) == RN_OK);
}

static void random_process(void)
{
	static const char *const name[COMMS] = {
		"comm:world.0", "comm:world.0.12", "comm:self.1",
		"comm:parent",  "comm:world.g1",   "comm:found.4"
	};

	world = (struct comm){ "MPI_COMM_WORLD", 0, 1 + below(one_in(2) ? 4 : 1000000), true };
	world.rank = below(world.size);
	comms = rn_comms_new(&mem);
	tables = 0;
	for (unsigned i = 0; i < COMMS; i++)
		random_comm(i, name[i]);
}

/* Whether the reader has a table. Some are missing. */
static bool table_known(int64_t table)
{
	return table % 8 != 7;
}

/* The table of a value, created if there is room; otherwise -1. */
static int64_t table_of(int64_t value)
{
	for (uint32_t i = 0; i < tables; i++)
		if (varying[i] == value)
			return i;
	if (tables == COUNT(varying))
		return -1;
	varying[tables] = value;
	if (table_known(tables))
		CHECK(rn_varies_add(comms, tables, world.rank, world.size, value) == RN_OK);
	return tables++;
}

/* ---- constants ---- */

#define FIRST (-77) /* the first value of constants, except bits */

static const struct {
	enum rn_param_kind kind;
	const char *name[4];
} some_constants[] = {
	{ RN_K_rank, { "MPI_ANY_SOURCE", "MPI_PROC_NULL", "MPI_ROOT", "MPI_UNDEFINED" } },
	{ RN_K_tag, { "MPI_ANY_TAG" } },
	{ RN_K_color, { "MPI_UNDEFINED" } },
	{ RN_K_index, { "MPI_UNDEFINED" } },
	{ RN_K_thread, { "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED" } },
	{ RN_K_amode,
	  { "MPI_MODE_CREATE", "MPI_MODE_RDONLY", "MPI_MODE_WRONLY", "MPI_MODE_RDWR" } },
	{ RN_K_assert, { "MPI_MODE_NOCHECK", "MPI_MODE_NOSTORE", "MPI_MODE_NOSUCCEED" } },
	{ RN_K_lock, { "MPI_LOCK_EXCLUSIVE", "MPI_LOCK_SHARED" } },
	{ RN_K_order, { "MPI_ORDER_C", "MPI_ORDER_FORTRAN" } },
	{ RN_K_split, { "MPI_COMM_TYPE_SHARED", "OMPI_COMM_TYPE_CLUSTER", "MPI_UNDEFINED" } },
	{ RN_K_combiner, { "MPI_COMBINER_NAMED", "MPI_COMBINER_HINDEXED_BLOCK" } },
	{ RN_K_compare, { "MPI_IDENT", "MPI_CONGRUENT", "MPI_SIMILAR", "MPI_UNEQUAL" } },
	{ RN_K_topology, { "MPI_GRAPH", "MPI_CART", "MPI_DIST_GRAPH", "MPI_UNDEFINED" } },
	{ RN_K_whence, { "MPI_SEEK_SET", "MPI_SEEK_CUR", "MPI_SEEK_END" } },
	{ RN_K_distrib, { "MPI_DISTRIBUTE_BLOCK", "MPI_DISTRIBUTE_CYCLIC" } },
	{ RN_K_darg, { "MPI_DISTRIBUTE_DFLT_DARG" } },
	{ RN_K_fileoff, { "MPI_DISPLACEMENT_CURRENT" } },
	{ RN_K_typeclass, { "MPI_TYPECLASS_REAL", "MPI_TYPECLASS_COMPLEX" } },
	{ RN_K_errcode, { "MPI_SUCCESS", "MPI_ERR_BUFFER", "MPI_ERR_ERRHANDLER" } },
	{ RN_K_request, { "MPI_REQUEST_NULL" } },
	{ RN_K_buffer, { "MPI_BOTTOM", "MPI_IN_PLACE", "NULL" } },
	{ RN_K_commcopy, { "MPI_COMM_NULL_COPY_FN" } },
	{ RN_K_convfn, { "MPI_CONVERSION_FN_NULL_C", "NULL" } },
	{ RN_K_func, { "MPI_COMM_NULL_COPY_FN", "MPI_CONVERSION_FN_NULL_C", "NULL" } },
	{ RN_K_weight, { "MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY" } },
	{ RN_K_strings, { "MPI_ARGV_NULL" } },
	{ RN_K_argvs, { "MPI_ARGVS_NULL" } },
	{ RN_K_status, { "MPI_STATUSES_IGNORE" } },
	{ RN_K_comm, { "MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_NULL" } },
	{ RN_K_type, { "MPI_DATATYPE_NULL", "MPI_INT", "MPIX_C_FLOAT16" } },
	{ RN_K_group, { "MPI_GROUP_EMPTY", "MPI_GROUP_NULL" } },
	{ RN_K_op, { "MPI_OP_NULL", "MPI_SUM", "MPI_NO_OP" } },
	{ RN_K_info, { "MPI_INFO_NULL", "MPI_INFO_ENV" } },
	{ RN_K_file, { "MPI_FILE_NULL" } },
	{ RN_K_win, { "MPI_WIN_NULL" } },
	{ RN_K_keyval, { "MPI_KEYVAL_INVALID", "MPI_WIN_MODEL" } },
	{ RN_K_errhandler, { "MPI_ERRORS_ARE_FATAL", "MPI_ERRHANDLER_NULL" } },
	{ RN_K_message, { "MPI_MESSAGE_NO_PROC", "MPI_MESSAGE_NULL" } },
	{ RN_K_session, { "MPI_SESSION_NULL" } },
};

static struct constants {
	const char *const *name;
	uint64_t word[4];
	unsigned n;
} constants_of[RN_K_COUNT];

static void find_constants(void)
{
	for (size_t i = 0; i < COUNT(some_constants); i++) {
		struct constants *k = &constants_of[some_constants[i].kind];

		k->name = some_constants[i].name;
		for (; k->n < 4 && k->name[k->n]; k->n++) {
			k->word[k->n] = rn_vocab_find(&rn_mpi_vocab, k->name[k->n]);
			CHECK(k->word[k->n] != UINT64_MAX);
		}
	}
	word_world = (uint32_t)constants_of[RN_K_comm].word[0] << 1 | 1;
	word_self = (uint32_t)constants_of[RN_K_comm].word[1] << 1 | 1;
	word_null = (uint32_t)constants_of[RN_K_comm].word[2] << 1 | 1;
}

static bool is_bits(enum rn_param_kind kind)
{
	return kind == RN_K_amode || kind == RN_K_assert;
}

/* Returns the index of the constant of this kind that has the value, or -1. Bits are not
 * consecutive. */
static int which_constant(enum rn_param_kind kind, int64_t value)
{
	const struct constants *k = &constants_of[kind];

	for (unsigned i = 0; i < k->n; i++)
		if (value == (is_bits(kind) ? (int64_t)1 << (3 * i + 1) : FIRST + (int64_t)i))
			return (int)i;
	return -1;
}

/* ---- the current call ---- */

/* One value of a signature. */
struct value {
	const struct rn_param *param;
	bool shown;
	uint64_t seed;
	size_t from, to; /* its range in the text */
};

struct slot {
	int64_t value, number;
	uint32_t comm;
	enum rn_value_kind kind;
};

struct piece {
	size_t from, n;
};

/* The effect of a call on a request. */
struct step {
	bool create;
	uint32_t shape, slot;
};

static struct {
	uint32_t function;
	struct value value[RN_CALL_VALUES_MAX];
	uint32_t values;
	uint64_t ret_seed;
	uint32_t comm; /* communicator that the ranks of the call refer to; 0: the world */
	uint64_t word[WORDS];
	size_t words;
	struct rn_buf text;
	struct rn_buf matched, received; /* matched: of the value; received: of the call */
	/* The data that words refer to. */
	uint64_t blob_word[WORDS];
	size_t blob_words;
	struct piece blob[PIECES];
	struct rn_buf string_bytes;
	struct rn_arena table_mem;
	struct rn_sigs *texts, *blob_table;
	struct slot slot[PIECES];
	struct step step[PIECES];
	uint32_t blobs, slots, steps, created;
} call;

static uint64_t *put;       /* position of the next word */
static struct rn_buf *page; /* output of the text */

static void word(uint64_t w)
{
	*put++ = w;
}

static void say(const char *s)
{
	rn_buf_add(page, s, strlen(s));
}

__attribute__((format(printf, 1, 2))) static void sayf(const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(text);
}

static void say_name(const char *s)
{
	sayf("\"%s\"", s);
}

/* Numbers that a double cannot represent are printed as text. */
static void say_number(struct rn_buf *to, int64_t v)
{
	char text[32];
	const char *mark = v > 9007199254740992 || v < -9007199254740992 ? "\"" : "";
	int n = snprintf(text, sizeof(text), "%s%" PRId64 "%s", mark, v, mark);

	rn_buf_add(to, text, (size_t)n);
}

/* ---- values by kind: words and text ---- */

static bool is_absent(uint64_t w)
{
	return w == RN_RAW_UNSET || w == RN_RAW_NULL || w == RN_RAW_NOTHING;
}

/* Whether the page from `from` on is this text. */
static bool says(size_t from, const char *s)
{
	return page->len - from == strlen(s) && memcmp(page->data + from, s, strlen(s)) == 0;
}

static void make_absent(uint64_t w)
{
	word(w);
	say_name(w == RN_RAW_UNSET ? "unset" : w == RN_RAW_NULL ? "NULL" : "-");
}

/* The word of an absent value, or 0. */
static uint64_t random_absent(void)
{
	static const uint64_t absent[] = { RN_RAW_UNSET, RN_RAW_NULL, RN_RAW_NOTHING };

	return one_in(12) ? absent[below(3)] : 0;
}

static int64_t random_number(void)
{
	static const int64_t odd[] = { INT64_MIN,
				       INT64_MAX,
				       INT32_MIN,
				       INT32_MAX,
				       -1,
				       UINT32_MAX,
				       ((int64_t)1 << 53) + 1,
				       -((int64_t)1 << 53) };
	uint64_t v = draw() >> below(64);

	switch (below(4)) {
	case 0:
		return FIRST - 1 + (int64_t)below(8); /* constants of some kinds */
	case 1:
		return (int64_t)below(100) - 10;
	case 2:
		return odd[below(COUNT(odd))];
	default:
		return is_absent(v) ? 0 : (int64_t)v;
	}
}

/* Writes a number as a rank expression, if possible. */
static void express(struct slot *s, const struct comm *c)
{
	static const enum rn_value_kind kinds[] = { RN_V_INT, RN_V_REL, RN_V_RELMOD, RN_V_XOR,
						    RN_V_VARIES };
	bool in_range = s->value >= 0 && (uint64_t)s->value < c->size;

	s->kind = kinds[below(5)];
	s->number = s->kind == RN_V_VARIES ? table_of(s->value) : s->value;
	if (s->kind == RN_V_VARIES && s->number < 0) {
		s->kind = RN_V_INT;
		s->number = s->value;
	}
	if (s->kind == RN_V_RELMOD && !in_range)
		s->kind = RN_V_INT;
	if (s->kind == RN_V_REL || s->kind == RN_V_RELMOD)
		s->number = (int64_t)((uint64_t)s->value - c->rank);
	if (s->kind == RN_V_RELMOD)
		s->number += (int64_t)(below(3) * c->size);
	if (s->kind == RN_V_XOR)
		s->number = (int64_t)((uint64_t)s->value ^ c->rank);
}

static void make_slot(int64_t v, uint32_t of)
{
	struct slot *s = &call.slot[call.slots++];
	const struct comm *c = comm_of(of);

	*s = (struct slot){ .value = v, .comm = of, .kind = RN_V_INT, .number = v };
	if (call.slots <= RN_RAW_SLOTS_MAX)
		express(s, c);
	word((uint64_t)v);
	if (s->kind == RN_V_VARIES ? table_known(s->number) : c->known || s->kind == RN_V_INT)
		say_number(page, v);
	else if (s->kind == RN_V_VARIES)
		sayf("\"slot:%" PRId64 "\"", s->number);
	else if (s->kind == RN_V_XOR)
		sayf("\"rank^%" PRId64 "\"", s->number);
	else
		sayf("\"rank%+" PRId64 "%s\"", s->number, s->kind == RN_V_RELMOD ? "%size" : "");
}

static void make_rank(uint32_t of)
{
	uint64_t w = random_absent();
	int64_t v = one_in(4) ? random_number() : (int64_t)below(comm_of(of)->size);
	int k = which_constant(RN_K_rank, v);

	if (w) {
		make_absent(w);
	} else if (k >= 0) {
		word((uint64_t)v);
		say_name(constants_of[RN_K_rank].name[k]);
	} else {
		make_slot(v, of);
	}
}

/* Prints the names of known bits, and the other bits as a number. */
static void make_bits(enum rn_param_kind kind)
{
	const struct constants *k = &constants_of[kind];
	uint64_t v = 0, rest;
	const char *between = "\"";

	for (unsigned i = 0; i < k->n; i++)
		v |= below(2) << (3 * i + 1);
	rest = one_in(4) ? draw() >> below(64) : one_in(8) ? UINT64_MAX : 0;
	if (!is_absent(v | rest))
		v |= rest;
	word(v);
	rest = v;
	for (unsigned i = 0; i < k->n; i++) {
		if (!(v >> (3 * i + 1) & 1))
			continue;
		rest &= ~((uint64_t)1 << (3 * i + 1));
		sayf("%s%s", between, k->name[i]);
		between = "|";
	}
	if (rest)
		sayf("%s0x%" PRIx64, between, rest);
	say(v ? "\"" : "0");
}

static void make_plain_number(enum rn_param_kind kind)
{
	int64_t v = random_number();
	int k = which_constant(kind, v);

	if (kind == RN_K_errcode && one_in(2)) {
		v = 0;
		k = -1;
	}
	word((uint64_t)v);
	if (kind == RN_K_fint)
		say_name("fint");
	else if (kind == RN_K_int || kind == RN_K_weight || k < 0)
		say_number(page, v);
	else
		say_name(constants_of[kind].name[k]);
}

static void make_number(enum rn_param_kind kind)
{
	uint64_t w;

	if (kind == RN_K_rank) {
		make_rank(call.comm);
		return;
	}
	w = random_absent();
	if (w) {
		make_absent(w);
	} else if (is_bits(kind)) {
		make_bits(kind);
	} else if (kind == RN_K_vary || kind == RN_K_color) {
		int64_t v = random_number();

		if (which_constant(kind, v) < 0) {
			make_slot(v, call.comm);
		} else {
			word((uint64_t)v);
			say_name(constants_of[kind].name[v - FIRST]);
		}
	} else {
		make_plain_number(kind);
	}
}

static const char *const kind_name[] = {
#define NAME(k) #k,
	RN_KINDS(NAME)
};

static bool has_comm(enum rn_param_kind kind)
{
	return kind == RN_K_win || kind == RN_K_message;
}

static uint32_t random_comm_word(void)
{
	uint64_t i = below(COMMS + 2);

	return i < COMMS ? COMM_WORD(i) : i == COMMS ? word_world : word_self;
}

static uint64_t random_handle(enum rn_param_kind kind)
{
	const struct constants *k = &constants_of[kind];
	uint64_t w = random_absent();

	if (w)
		return w;
	if (k->n && one_in(3))
		return k->word[below(k->n)] << 1 | 1;
	if (kind == RN_K_comm)
		return random_comm_word();
	w = (draw() & INT32_MAX) >> below(31) << 1;
	return has_comm(kind) && !one_in(4) ? w | (uint64_t)random_comm_word() << 32 : w;
}

static void make_handle(enum rn_param_kind kind)
{
	uint64_t w = random_handle(kind);

	if (is_absent(w)) {
		make_absent(w);
		return;
	}
	word(w);
	if (w & 1)
		say_name(rn_vocab_word(&rn_mpi_vocab, (uint32_t)w >> 1));
	else if (kind == RN_K_comm)
		say_name(comm_of((uint32_t)w)->name);
	else
		sayf("\"%s:%u\"", kind_name[kind], (uint32_t)w >> 1);
}

#define MODULES 5

static char module_name[MODULES][300] = { "a.out", "libfoo-1.2.so.3", "my program (2)", "" };

/* Bytes that a name cannot contain are printed as hexadecimal digits. The limit is about 200
 * characters in all. */
static void say_module(const char *s)
{
	for (size_t n = 0; *s; s++) {
		bool plain = *s > ' ' && *s <= '~' && !strchr("\"\\,()[]{}%", *s);

		if (n > 197)
			break;
		n += plain ? 1 : 3;
		sayf(plain ? "%c" : "%%%02x", (unsigned char)*s);
	}
}

static void make_memory(void)
{
	static const char *const name[] = { "other", "stack", "tls",    "",       "heap",
					    "mmap",  "alloc", "window", "pinned", "managed" };
	uint32_t cls = (uint32_t)below(one_in(2) ? RN_MEM_GPU : RN_MEM_CLASSES);
	uint32_t id =
		cls == RN_MEM_STATIC ? (uint32_t)below(MODULES) : (uint32_t)draw() >> below(32);
	int64_t disp = random_number();

	word(cls | (uint64_t)id << 8);
	word((uint64_t)disp);
	say("\"");
	if (cls == RN_MEM_STATIC) {
		say("static:");
		say_module(module_name[id]);
	} else if (cls >= RN_MEM_GPU) {
		sayf("gpu%u:%u", cls - RN_MEM_GPU, id);
	} else {
		sayf("%s:%u", name[cls], id);
	}
	sayf("%+" PRId64 "\"", disp);
}

static void make_place(enum rn_param_kind kind)
{
	const struct constants *k = &constants_of[kind];
	uint64_t w = random_absent();
	int64_t v = random_number();

	if (w) {
		make_absent(w);
		word((uint64_t)v);
	} else if (k->n && one_in(3)) {
		uint64_t i = below(k->n);

		word(RN_RAW_CLASS_CONST | k->word[i] << 8);
		word(0);
		say_name(k->name[i]);
	} else if (one_in(4)) {
		word(RN_RAW_CLASS_INT);
		word((uint64_t)v);
		say_number(page, v);
	} else {
		make_memory();
	}
}

/* ---- text ---- */

static void add_byte(uint64_t b)
{
	rn_buf_byte(&call.string_bytes, (unsigned char)b);
}

/* Adds a complete character, and its form in JSON. */
static void random_utf8(void)
{
	uint32_t c = (uint32_t)below(3) ? 0xa0 + (uint32_t)below(0x760)
					: 0x10000 + (uint32_t)below(0x100000);
	size_t from = call.string_bytes.len;

	if (one_in(3))
		c = one_in(2) ? 0x800 + (uint32_t)below(0xd000) : 0xe000 + (uint32_t)below(0x2000);
	if (c < 0x800) {
		add_byte(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		add_byte(0xe0 | c >> 12);
		add_byte(0x80 | (c >> 6 & 63));
	} else {
		add_byte(0xf0 | c >> 18);
		add_byte(0x80 | (c >> 12 & 63));
		add_byte(0x80 | (c >> 6 & 63));
	}
	add_byte(0x80 | (c & 63));
	if (c >= 0xf780 && c <= 0xf7ff) /* these characters are written as bytes */
		for (size_t i = from; i < call.string_bytes.len; i++)
			sayf("\\uf7%02x", (unsigned)call.string_bytes.data[i]);
	else
		rn_buf_add(page, call.string_bytes.data + from, call.string_bytes.len - from);
}

static void random_character(void)
{
	static const char letter[] = "\"\\\b\f\n\r\t", escape[] = "\"\\bfnrt";
	uint64_t i, b;

	switch (below(8)) {
	case 0: /* control characters with a letter escape */
		i = below(sizeof(letter) - 1);
		add_byte((unsigned char)letter[i]);
		sayf("\\%c", escape[i]);
		break;
	case 1: /* control characters without a letter escape, of one byte and of two */
		b = one_in(2) ? 0x7f : one_in(2) ? below(8) : 0x0e + below(18);
		add_byte(b);
		sayf("\\u%04x", (unsigned)b);
		b = 0x80 + below(0x20);
		add_byte(0xc2);
		add_byte(b);
		sayf("\\u%04x", (unsigned)b);
		break;
	case 2: /* a byte that is invalid in UTF-8 in every context */
		b = one_in(2) ? 0x80 + below(0x40) : 0xf5 + below(11);
		add_byte(b);
		sayf("\\uf7%02x", (unsigned)b);
		break;
	case 3:
		random_utf8();
		break;
	default:
		b = 'A' + below(26);
		add_byte(b);
		rn_buf_byte(page, (unsigned char)b);
	}
}

static void make_string(void)
{
	uint64_t w = random_absent(), n;
	size_t from = call.string_bytes.len;
	uint32_t id;

	if (w) {
		make_absent(w);
		return;
	}
	say("\"");
	for (n = one_in(64) ? below(2000) : below(10); n > 0; n--)
		random_character();
	say("\"");
	n = call.string_bytes.len - from;
	CHECK(rn_sigs_intern(call.texts, n ? call.string_bytes.data + from : NULL, n, &id) ==
	      RN_OK);
	word(id);
}

/* ---- requests ---- */

/* The request state of a reader of the stream. Lookups are linear. */
static struct {
	struct request {
		uint32_t shape, slot;
		uint64_t number;
	} live[CALLS * 2];
	uint32_t n, shapes;
	uint32_t shape_of[CALLS * 2]; /* by signature; 0: none, otherwise creator + 1 */
	uint64_t next;
} requests;

static struct request *find_request(uint32_t shape, uint32_t slot)
{
	for (uint32_t i = 0; i < requests.n; i++)
		if (requests.live[i].shape == shape && requests.live[i].slot == slot)
			return &requests.live[i];
	return NULL;
}

static void create_request(uint32_t sig)
{
	struct request r = { .number = requests.next++ };

	if (!requests.shape_of[sig])
		requests.shape_of[sig] = ++requests.shapes;
	r.shape = requests.shape_of[sig] - 1;
	while (find_request(r.shape, r.slot))
		r.slot++;
	requests.live[requests.n++] = r;
}

/* Applies the steps of the call, which has this signature. */
static void do_steps(uint32_t sig)
{
	for (uint32_t i = 0; i < call.steps; i++) {
		const struct step *s = &call.step[i];
		struct request *r = s->create ? NULL : find_request(s->shape, s->slot);

		if (s->create)
			create_request(sig);
		else if (r)
			*r = requests.live[--requests.n];
	}
}

static void make_new_request(void)
{
	if (one_in(8)) {
		make_absent(RN_RAW_UNSET);
	} else if (one_in(8)) {
		word(0);
		say_name("MPI_REQUEST_NULL");
	} else {
		word(2);
		call.step[call.steps++] = (struct step){ .create = true };
		sayf("\"request:%" PRIu64 "\"", requests.next + call.created++);
	}
}

/* A request of this stream, which may be live or not. Some end with the call. */
static void make_own_request(uint64_t gone)
{
	uint32_t shape = (uint32_t)below(1 << 23), slot = (uint32_t)below(1 << 27);
	const struct request *r = find_request(shape, slot);

	if (requests.n && !one_in(6)) {
		r = &requests.live[below(requests.n)];
		shape = r->shape;
		slot = r->slot;
	}
	word(RN_RAW_REQUEST(0, shape, slot) | gone);
	if (r)
		sayf("\"request:%" PRIu64 "\"", r->number);
	else
		say_name("request:?");
	if (r && gone)
		call.step[call.steps++] = (struct step){ false, shape, slot };
}

static void make_request(void)
{
	uint64_t gone = one_in(2) ? RN_RAW_GONE : 0, w = random_absent();
	uint32_t stream = 1 + (uint32_t)below(2047), shape = (uint32_t)below(1 << 23);
	uint32_t slot = (uint32_t)below(1 << 27);

	if (w) {
		make_absent(w);
		return;
	}
	switch (below(8)) {
	case 0:
		word(0);
		say_name("MPI_REQUEST_NULL");
		break;
	case 1:
		word(1);
		say_name("request:?");
		break;
	case 2:
		word(RN_RAW_REQUEST(stream, shape, slot) | gone);
		sayf("\"request:%u.%u.%u\"", stream - 1, shape, slot);
		break;
	default:
		make_own_request(gone);
	}
}

/* ---- statuses ---- */

/* An undefined field is not printed. */
static void make_field(const char *name, enum rn_param_kind kind, uint32_t of)
{
	size_t before = page->len, value;

	say(page->data[before - 1] == '{' ? "" : ",");
	say(name);
	value = page->len;
	if (kind == RN_K_rank)
		make_rank(of);
	else
		make_number(kind);
	if (says(value, "\"unset\"") || says(value, "\"-\""))
		page->len = before;
}

static void make_source_and_tag(uint32_t of)
{
	say("{");
	make_field("\"source\":", RN_K_rank, of);
	make_field("\"tag\":", RN_K_tag, of);
}

/* Appends the JSON form of a status to the page. A message that the program ignores is appended to
 * `matched`. */
static void make_status(enum rn_status_form form, struct rn_buf *matched)
{
	uint32_t of = one_in(4) ? 0 : random_comm_word();
	struct rn_buf *shown = page;

	word((uint64_t)of << 8 | (uint64_t)form);
	if (form == RN_STATUS_FULL) {
		make_source_and_tag(of);
		make_field("\"error\":", RN_K_errcode, of);
		make_field("\"count\":", RN_K_index, of);
		make_field("\"cancelled\":", RN_K_int, of);
		say("}");
		return;
	}
	say_name("MPI_STATUS_IGNORE");
	page = matched;
	if (form == RN_STATUS_MATCHED) {
		make_source_and_tag(of);
		say("}");
	} else {
		say("null");
	}
	page = shown;
}

static void make_one_status(void)
{
	static const enum rn_status_form forms[] = { RN_STATUS_FULL, RN_STATUS_MATCHED,
						     RN_STATUS_NOTHING };
	enum rn_status_form form = forms[below(3)];
	uint64_t w = random_absent();

	if (w) {
		make_absent(w);
		return;
	}
	make_status(form, &call.matched);
	if (form == RN_STATUS_NOTHING)
		rn_buf_clear(&call.matched); /* an empty value is not printed */
}

/* All statuses are stored by the program, or ignored. Both occur together, although no program can
 * do that. */
static void make_statuses(uint64_t n)
{
	static const enum rn_status_form forms[] = { RN_STATUS_MATCHED, RN_STATUS_NOTHING,
						     RN_STATUS_FULL };
	bool wanted = n == 0, known = false;
	uint64_t mode = below(4), first = mode == 0 ? 2 : mode == 1 ? 1 : 0;
	uint64_t kinds = mode == 2 ? 2 : mode == 3 ? 3 : 1;
	size_t from = page->len;

	for (uint64_t i = 0; i < n; i++) {
		enum rn_status_form form = forms[first + below(kinds)];

		rn_buf_add(page, i ? "," : "[", 1);
		rn_buf_add(&call.matched, i ? "," : "[", 1);
		make_status(form, &call.matched);
		wanted |= form == RN_STATUS_FULL;
		known |= form == RN_STATUS_MATCHED;
	}
	say(n ? "]" : "[]");
	rn_buf_byte(&call.matched, ']');
	if (wanted || !known)
		rn_buf_clear(&call.matched);
	if (!wanted) {
		page->len = from;
		say_name("MPI_STATUSES_IGNORE");
	}
}

/* ---- parameters ---- */

static bool is_place(enum rn_param_kind k)
{
	return k >= RN_K_buffer && k <= RN_K_attr;
}

static bool is_status(enum rn_param_kind k)
{
	return k == RN_K_status || k == RN_K_matched;
}

static void make_array(enum rn_param_kind kind, enum rn_param_kind element);

static void make_range(void)
{
	for (int i = 0; i < 3; i++) {
		say(i ? "," : "[");
		make_number(RN_K_int);
	}
	say("]");
}

static void make_one(enum rn_param_kind kind)
{
	if (kind < RN_K_buffer || kind == RN_K_weight)
		make_number(kind);
	else if (is_place(kind))
		make_place(kind);
	else if (kind == RN_K_string)
		make_string();
	else if (kind == RN_K_strings || kind == RN_K_argv)
		make_array(RN_K_strings, RN_K_string);
	else if (kind == RN_K_argvs)
		make_array(RN_K_argvs, RN_K_strings);
	else if (is_status(kind))
		make_one_status();
	else if (kind == RN_K_request)
		make_request();
	else if (kind == RN_K_range)
		make_range();
	else
		make_handle(kind);
}

static void make_elements(enum rn_param_kind element, uint64_t n)
{
	if (is_status(element)) {
		make_statuses(n);
		return;
	}
	say("[");
	for (uint64_t i = 0; i < n; i++) {
		if (i)
			say(",");
		make_one(element);
	}
	say("]");
}

/* The words of a blob are written at their final position. Those of nested blobs follow all
 * existing words. */
static void make_blob(enum rn_param_kind element, uint64_t n)
{
	static uint64_t scratch[2][WORDS];
	static unsigned depth;
	uint64_t *outer = put, *mine = scratch[depth++];
	struct piece b;
	uint32_t id;

	put = mine;
	make_elements(element, n);
	b = (struct piece){ call.blob_words, (size_t)(put - mine) };
	memcpy(call.blob_word + b.from, mine, b.n * sizeof(*mine));
	call.blob_words += b.n;
	put = outer;
	depth--;
	CHECK(rn_sigs_intern(call.blob_table, mine, b.n * sizeof(*mine), &id) == RN_OK);
	word(id);
	if (id == call.blobs)
		call.blob[call.blobs++] = b;
}

static void make_named(enum rn_param_kind kind)
{
	static const char *const absent[] = { "NULL", "-", "unset" };
	const struct constants *k = &constants_of[kind];
	bool own = k->n && (kind == RN_K_weight || kind == RN_K_strings || kind == RN_K_argvs ||
			    kind == RN_K_status);
	uint64_t i = below(own ? k->n + 3 : 3);
	const char *name = i < 3 ? absent[i] : k->name[i - 3];

	word(rn_vocab_find(&rn_mpi_vocab, name) << 2 | RN_RAW_NAMED);
	say_name(name);
}

static uint64_t random_length(void)
{
	return one_in(16) ? RN_RAW_FEW - 2 + below(9) : one_in(8) ? below(RN_RAW_FEW) : below(5);
}

static void make_array(enum rn_param_kind kind, enum rn_param_kind element)
{
	uint64_t n = random_length();

	if (one_in(8)) {
		make_named(kind);
	} else if (n > RN_RAW_FEW) {
		word(n << 2 | RN_RAW_BLOB);
		make_blob(element, n);
	} else {
		word(n << 2 | RN_RAW_HERE);
		make_elements(element, n);
	}
}

static bool is_texts(enum rn_param_kind kind)
{
	return kind >= RN_K_string && kind <= RN_K_argvs;
}

static void make_param(const struct rn_param *p)
{
	if (p->kind == RN_K_request && p->how == RN_HOW_new)
		make_new_request();
	else if (p->array && !is_texts(p->kind)) /* the kind of texts implies an array */
		make_array(p->kind, p->kind);
	else
		make_one(p->kind);
}

/* ---- calls ---- */

static bool is_early(const struct rn_param *p)
{
	return p->how != RN_HOW_out && p->how != RN_HOW_new;
}

static bool is_late(const struct rn_param *p)
{
	return !is_early(p) || p->how == RN_HOW_inout;
}

static void add_value(const struct rn_param *p, bool shown)
{
	call.value[call.values++] = (struct value){ p, shown, draw(), 0, 0 };
}

/* Starts a call of this function. The same seed results in the same values. */
static void begin_call(uint32_t function, uint64_t seed)
{
	const struct rn_proto *f = &rn_mpi_protos[function];

	state = seed;
	call.function = function;
	call.values = 0;
	call.ret_seed = draw();
	for (uint32_t i = 0; i < f->nparams; i++)
		if (is_early(&f->param[i]))
			add_value(&f->param[i], !is_late(&f->param[i]));
	for (uint32_t i = 0; i < f->nparams; i++)
		if (is_late(&f->param[i]))
			add_value(&f->param[i], true);
}

/* The reader uses the first communicator as that of the call. Without one, ranks refer to that
 * of a window or message. */
static void choose_comm(void)
{
	uint32_t outer = 0, implied = 0;

	for (uint32_t i = 0; i < call.values && !outer; i++) {
		const struct value *v = &call.value[i];
		enum rn_param_kind kind = v->param->kind;
		uint64_t w;

		state = v->seed;
		w = kind == RN_K_comm || has_comm(kind) ? random_handle(kind) : 0;
		if (is_absent(w) || w == word_null)
			continue;
		if (kind == RN_K_comm)
			outer = (uint32_t)w;
		else if (!implied)
			implied = (uint32_t)(w >> 32);
	}
	call.comm = outer ? outer : implied;
}

/* The word of a time in seconds is the bits of a double. */
static void make_seconds(void)
{
	static const struct {
		double v;
		const char *text;
	} seconds[] = { { 1e-9, "1e-09" }, { 1e-6, "1e-06" }, { 0.01, "0.01" }, { 1, "1" } };
	uint64_t w, i = below(4);

	memcpy(&w, &seconds[i].v, sizeof(w));
	word(w);
	say(seconds[i].text);
}

static void make_ret(void)
{
	state = call.ret_seed;
	switch (rn_mpi_protos[call.function].ret) {
	case RN_RET_hidden:
		word(draw() >> 1);
		say_name("-");
		break;
	case RN_RET_seconds:
		make_seconds();
		break;
	default:
		make_number(RN_K_errcode);
	}
}

static void add_line(struct rn_buf *line, const struct value *v)
{
	rn_buf_add(line, call.text.data + v->from, v->to - v->from);
}

static void text_to(struct rn_buf *line, const char *s)
{
	rn_buf_add(line, s, strlen(s));
}

/* Parameters in order. A parameter with two values is printed with the later one. */
static void make_args(struct rn_buf *line)
{
	const struct rn_proto *f = &rn_mpi_protos[call.function];

	for (uint32_t i = 0; i < f->nparams; i++) {
		text_to(line, i ? ",\"" : "\"");
		text_to(line, f->param[i].name);
		text_to(line, "\":");
		for (uint32_t k = 0; k < call.values; k++)
			if (call.value[k].param == &f->param[i] && call.value[k].shown)
				add_line(line, &call.value[k]);
	}
}

static void make_values(void)
{
	rn_buf_clear(&call.received);
	for (uint32_t i = 0; i < call.values; i++) {
		struct value *v = &call.value[i];

		state = v->seed;
		v->from = call.text.len;
		rn_buf_clear(&call.matched);
		make_param(v->param);
		v->to = call.text.len;
		if (v->shown) /* no function has two such values */
			rn_buf_add(&call.received, call.matched.data, call.matched.len);
	}
}

/* Adds the return value, unless the call did not return or the value was not recorded. */
static void add_ret(struct rn_buf *line, size_t from)
{
	if (says(from, "\"-\""))
		return;
	text_to(line, ",\"ret\":");
	if (says(from, "\"unset\""))
		text_to(line, "null,\"unfinished\":true");
	else
		rn_buf_add(line, page->data + from, page->len - from);
}

/* Makes the words and the line of the call from its seeds. */
static void make_call(const struct rn_call *c, struct rn_buf *line)
{
	char text[100];
	size_t ret;

	rn_buf_clear(&call.text);
	rn_buf_clear(&call.string_bytes);
	rn_arena_rewind(&call.table_mem, (struct rn_arena_mark){ 0 });
	call.texts = rn_sigs_new(&call.table_mem);
	call.blob_table = rn_sigs_new(&call.table_mem);
	call.blob_words = 0;
	call.blobs = call.slots = call.steps = call.created = 0;
	put = call.word;
	page = &call.text;
	word(call.function);
	choose_comm();
	make_values();
	ret = call.text.len;
	make_ret();
	call.words = (size_t)(put - call.word);

	snprintf(text, sizeof(text),
		 c->thread ? "{\"rank\":%" PRIu64 ",\"thread\":%" PRIu64 ",\"seq\":"
			   : "{\"rank\":%" PRIu64 ",\"seq\":",
		 c->rank, c->thread);
	text_to(line, text);
	say_number(line, (int64_t)c->seq);
	text_to(line, ",\"call\":\"");
	text_to(line, rn_mpi_protos[call.function].name);
	text_to(line, "\",\"args\":{");
	make_args(line);
	text_to(line, "}");
	add_ret(line, ret);
	if (call.received.len)
		text_to(line, ",\"matched\":");
	rn_buf_add(line, call.received.data, call.received.len);
	text_to(line, "}\n");
}

/* ---- data that words refer to ---- */

static struct rn_process_table process;
static struct rn_raw_numbers numbers;

static void fill_constants(void)
{
	struct rn_const_value list[4 * RN_K_COUNT];
	uint32_t n = 0;

	for (uint32_t kind = 0; kind < RN_K_COUNT; kind++)
		for (unsigned i = 0; i < constants_of[kind].n; i++) {
			int64_t v = is_bits(kind) ? (int64_t)1 << (3 * i + 1) : FIRST + (int64_t)i;

			list[n++] =
				(struct rn_const_value){ kind, (uint32_t)constants_of[kind].word[i],
							 v };
		}
	CHECK(rn_process_set_constants(&process, &mem, list, n) == RN_OK);
}

static void add_object(struct rn_objects *list, uint64_t number, const char *name)
{
	CHECK(rn_objects_add(list, &mem, (struct rn_object){ .number = number, .bytes = name }) ==
	      RN_OK);
}

static void fill_process(void)
{
	process = (struct rn_process_table){ .rank = (int64_t)world.rank,
					     .size = (int64_t)world.size };
	fill_constants();
	add_object(&process.comms, 0, "comm:?");
	for (uint32_t i = 0; i < COMMS; i++)
		add_object(&process.comms, COMM_WORD(i), comm[i].name);
	for (uint32_t i = 0; i < MODULES; i++)
		add_object(&process.modules, i, module_name[i]);
	rn_objects_sort(&process.comms);
}

/* ---- bytes ---- */

static int write_words(size_t words, unsigned char *buf, size_t cap, size_t *len)
{
	const struct rn_raw_env env = { .process = &process,
					.texts = call.texts,
					.blobs = call.blob_table,
					.numbers = &numbers };
	struct rn_buf w = rn_buf_over(buf, cap);
	int rc = rn_raw_write(&env, call.word, words, &w);

	*len = w.len;
	return rc;
}

/* Lists the numbers of the call and the form in which each is to be written. */
static void list_numbers(void)
{
	static unsigned char buf[BYTES];
	size_t len;

	numbers.mode = RN_RAW_COLLECT;
	numbers.slots = 0;
	CHECK(write_words(call.words, buf, BYTES, &len) == RN_OK);
	CHECK(numbers.slots == (call.slots < RN_RAW_SLOTS_MAX ? call.slots : RN_RAW_SLOTS_MAX));
	for (uint32_t i = 0; i < numbers.slots; i++) {
		const struct slot *s = &call.slot[i];
		struct rn_raw_slot *n = &numbers.slot[i];

		CHECK(s->value == n->value && comm_of(s->comm) == comm_of(n->comm));
		n->kind = s->kind;
		n->number = s->number;
	}
	numbers.mode = RN_RAW_EXPRESS;
}

/* Writes the bytes of the call, which are the same each time. */
static bool write_call(unsigned char *buf, size_t *len)
{
	static unsigned char again[BYTES];
	size_t n;

	list_numbers();
	if (!CHECK(write_words(call.words, buf, BYTES, len) == RN_OK))
		return false;
	if (!CHECK(rn_call_valid(buf, *len, &rn_mpi_vocab)))
		return false;
	CHECK(write_words(call.words, again, BYTES, &n) == RN_OK);
	return CHECK(n == *len && memcmp(buf, again, n) == 0);
}

/* Whether the call is rejected with this many words in blob i. If the table then has two equal
 * blobs, the words refer to other ones. */
static void check_blob_words(uint32_t i, size_t words)
{
	static unsigned char buf[BYTES];
	struct rn_arena_mark mark = rn_arena_mark(&call.table_mem);
	struct rn_sigs *table = call.blob_table;
	size_t n;
	uint32_t id;

	call.blob_table = rn_sigs_new(&call.table_mem);
	for (uint32_t k = 0; k < call.blobs; k++)
		CHECK(rn_sigs_intern(call.blob_table, call.blob_word + call.blob[k].from,
				     (k == i ? words : call.blob[k].n) * sizeof(uint64_t),
				     &id) == RN_OK);
	if (rn_sigs_count(call.blob_table) == call.blobs)
		CHECK(write_words(call.words, buf, BYTES, &n) == RN_E_ARG);
	call.blob_table = table;
	rn_arena_rewind(&call.table_mem, mark);
}

static void check_blob(uint32_t i)
{
	check_blob_words(i, call.blob[i].n + 1);
	if (call.blob[i].n)
		check_blob_words(i, call.blob[i].n - 1);
}

/* A buffer that is too small is rejected without a write beyond its end. A missing or extra word is
 * rejected too. */
static void check_refusals(size_t len)
{
	static unsigned char buf[BYTES];
	size_t cap = tap_below(len), n;

	memset(buf + cap, 0xa5, 64);
	CHECK(write_words(call.words, buf, cap, &n) == RN_E_NOMEM);
	for (size_t i = 0; i < 64; i++)
		CHECK(buf[cap + i] == 0xa5);
	CHECK(write_words(call.words - 1, buf, BYTES, &n) == RN_E_ARG);
	call.word[call.words] = 0;
	CHECK(write_words(call.words + 1, buf, BYTES, &n) == RN_E_ARG);
	for (uint32_t i = 0; i < call.blobs; i++)
		check_blob(i);
}

/* ---- streams ---- */

static struct {
	struct rn_call c;
	uint32_t sig;
	struct piece line;
} made[CALLS * 2];

static struct rn_sigs *sigs;
static struct rn_buf lines;
static uint32_t calls;

static uint32_t creators[1000], ncreators;

static bool uses(uint32_t function, bool born)
{
	const struct rn_proto *f = &rn_mpi_protos[function];

	for (uint32_t i = 0; i < f->nparams; i++)
		if (f->param[i].kind == RN_K_request && (f->param[i].how == RN_HOW_new) == born)
			return true;
	return false;
}

/* Prints the first few wrong lines. */
static void show(const char *what, const unsigned char *line, size_t n)
{
	if (tap.bad < 4)
		fprintf(stderr, "# %s: %.*s", what, (int)n, line);
}

/* The current call with another value for one of its parameters. */
static struct {
	unsigned char bytes[BYTES];
	struct rn_buf line;
	size_t len; /* 0: there is no such call */
} neighbour;

static void make_neighbour(const struct rn_call *c)
{
	uint64_t *seed = call.values ? &call.value[tap_below(call.values)].seed : &call.ret_seed;

	rn_buf_clear(&neighbour.line);
	make_call(c, &neighbour.line);
	if (!write_call(neighbour.bytes, &neighbour.len))
		neighbour.len = 0;
	*seed = tap_rand();
}

/* If the line differs, the bytes differ too. */
static void check_neighbour(const unsigned char *bytes, size_t len, const struct piece *line)
{
	const struct rn_buf *other = &neighbour.line;

	if (!neighbour.len ||
	    (other->len == line->n && memcmp(other->data, lines.data + line->from, line->n) == 0))
		return;
	CHECK(neighbour.len != len || memcmp(neighbour.bytes, bytes, len) != 0);
}

static void one_call(uint32_t function, uint64_t seed)
{
	static unsigned char bytes[BYTES];
	struct rn_call c = { .rank = world.rank, .seq = calls };
	size_t len, from = lines.len;

	if (tap_below(4) == 0)
		c.thread = tap_below(100);
	if (tap_below(16) == 0)
		c.seq = ((uint64_t)1 << 53) + tap_below(3);
	begin_call(function, seed);
	neighbour.len = 0;
	if (tap_below(4) == 0)
		make_neighbour(&c);
	make_call(&c, &lines);
	if (!write_call(bytes, &len)) {
		show("not written", lines.data + from, lines.len - from);
		return;
	}
	made[calls].line = (struct piece){ from, lines.len - from };
	check_neighbour(bytes, len, &made[calls].line);
	CHECK(rn_sigs_intern(sigs, bytes, len, &made[calls].sig) == RN_OK);
	made[calls].c = c;
	if (tap_below(8) == 0)
		check_refusals(len);
	do_steps(made[calls].sig);
	calls++;
}

/* The line depends on the open requests. */
static void compare(const struct rn_decoder *d, struct rn_numbering *n, struct rn_template *args,
		    uint32_t i, struct rn_buf *out)
{
	struct rn_call c = made[i].c;
	const struct piece *line = &made[i].line;
	const unsigned char *want = lines.data + line->from;

	rn_template_locate(args, comms, world.size, c.rank);
	CHECK(rn_numbering_call(n, made[i].sig, args->value) == RN_OK);
	c.args = args;
	rn_buf_clear(out);
	rn_decode_json(d, &c, out);
	if (CHECK(out->len == line->n && memcmp(out->data, want, line->n) == 0))
		return;
	show("wanted", want, line->n);
	show("got", out->data, out->len);
}

static void read_stream(void)
{
	struct rn_rules *rules = rn_rules_new(&mem);
	struct rn_numbering *numbering = rn_numbering_new(&mem, &rn_mpi_vocab, sigs, rules, NULL);
	const struct rn_decoder d = { .keywords = rn_keywords_of(&rn_mpi_vocab) };
	static struct rn_buf out;
	struct rn_templates templates;

	CHECK(rn_templates_init(&templates, &mem, &rn_mpi_vocab, sigs) == RN_OK);
	for (uint32_t i = 0; i < calls; i++)
		compare(&d, numbering, rn_templates_get(&templates, made[i].sig), i, &out);
	rn_templates_free(&templates);
	rn_numbering_free(numbering);
}

/* Some calls of each function are repeated often, so that several requests have one creator. */
static uint64_t random_seed(uint32_t function)
{
	return tap_below(4) ? tap_rand() : function * 4 + tap_below(4);
}

static void test_function(uint32_t function)
{
	bool waits = uses(function, false);
	uint32_t first = (uint32_t)tap_below(ncreators - 2);

	rn_arena_init(&mem, SIZE_MAX);
	state = tap_rand();
	random_process();
	fill_process();
	sigs = rn_sigs_new(&mem);
	memset(&requests, 0, sizeof(requests));
	rn_buf_clear(&lines);
	calls = 0;
	for (unsigned i = 0; i < CALLS; i++) {
		uint32_t creator = creators[first + tap_below(3)];

		if (waits && tap_below(3) == 0)
			one_call(creator, random_seed(creator));
		one_call(function, random_seed(function));
	}
	read_stream();
	rn_arena_free(&mem);
}

/* ---- the table ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool unique(const char **name, uint32_t n)
{
	bool good = true;

	qsort(name, n, sizeof(*name), by_text);
	for (uint32_t i = 1; i < n; i++) {
		if (strcmp(name[i - 1], name[i]) != 0)
			continue;
		good = false;
		fprintf(stderr, "# twice: %s\n", name[i]);
	}
	return good;
}

/* Compares the row of a function for writing with its row for reading. */
static void check_rows(const struct rn_proto *p, const struct rn_func *f)
{
	static const enum rn_dir dir[] = {
		[RN_HOW_in] = RN_DIR_IN,      [RN_HOW_ref] = RN_DIR_IN,  [RN_HOW_free] = RN_DIR_IN,
		[RN_HOW_done] = RN_DIR_IN,    [RN_HOW_out] = RN_DIR_OUT, [RN_HOW_new] = RN_DIR_OUT,
		[RN_HOW_inout] = RN_DIR_BOTH,
	};
	const char *name[RN_CALL_PARAMS_MAX];

	CHECK(strcmp(p->name, f->name) == 0);
	if (!CHECK(p->nparams == f->nparams && p->nparams <= RN_CALL_PARAMS_MAX))
		return;
	for (uint32_t i = 0; i < p->nparams; i++) {
		name[i] = p->param[i].name;
		CHECK(strcmp(name[i], f->param[i]) == 0);
		CHECK(p->param[i].kind < RN_K_class);
		CHECK(rn_func_dir(f, i) == dir[p->param[i].how]);
	}
	CHECK(unique(name, p->nparams));
}

/* call_words.c looks for communicators, windows and messages only before the first status. */
static void check_statuses(const struct rn_proto *f)
{
	bool status = false;

	begin_call((uint32_t)(f - rn_mpi_protos), 0);
	for (uint32_t i = 0; i < call.values; i++) {
		enum rn_param_kind kind = call.value[i].param->kind;

		CHECK(!status || (kind != RN_K_comm && !has_comm(kind)));
		status |= is_status(kind);
	}
}

/* The compiler verifies that every kind of api/mpi.api is a kind of call_words.h. */
static void test_table(void)
{
	const struct rn_vocab *v = &rn_mpi_vocab;
	const char **name = calloc(v->funcs, sizeof(*name));

	for (uint32_t i = 0; i < v->funcs; i++) {
		CHECK(v->func[i].number == i);
		check_rows(&rn_mpi_protos[i], &v->func[i]);
		check_statuses(&rn_mpi_protos[i]);
		name[i] = v->func[i].name;
	}
	CHECK(unique(name, v->funcs));
	free(name);
}

/* The keywords of a trace are distinct. Otherwise different calls would look equal. */
static void test_words(void)
{
	const struct rn_vocab *v = &rn_mpi_vocab;
	const char **name = calloc(v->words, sizeof(*name));

	for (uint32_t i = 0; i < v->words; i++)
		name[i] = v->word[i].text;
	CHECK(unique(name, v->words));
	free(name);
}

static void find_creators(void)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++)
		if (uses(i, true))
			creators[ncreators++] = i;
}

int main(void)
{
	clock_t start;
	uint64_t total = 0;

	test_table();
	ok("functions and their parameters have names of their own, and one direction each");
	test_words();
	ok("words are unique");

	rn_arena_init(&call.table_mem, SIZE_MAX);
	find_constants();
	find_creators();
	for (size_t i = 0; i < sizeof(module_name[0]) - 1; i++)
		module_name[MODULES - 1][i] = "%\xffzyxwvut"[i % 50 ? i % 7 + 2 : i % 3 != 0];
	start = clock();
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++) {
		test_function(i);
		total += calls;
	}
	diag("%u functions, %llu calls, %.1f s", rn_mpi_vocab.funcs, (unsigned long long)total,
	     (double)(clock() - start) / CLOCKS_PER_SEC);
	ok("every call of every function reads as it was made");
	return tap_done();
}
