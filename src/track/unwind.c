/*
 * unwind.c - see unwind.h.
 *
 * The format of .eh_frame is specified in the DWARF standard, 6.4, and in the Linux Standard Base,
 * "Exception Frames". It is read from memory, as mapped by the loader. It is trusted within the
 * limits that its own lengths set, as in every unwinder.
 */
#include "base/bisect.h"
#include "base/varint.h"
#include "track/unwind.h"

#include <link.h>
#include <string.h>

#define WORD sizeof(uintptr_t)

/* ---- stepping ---- */

/* Loads a word between the frame and the end of the stack. Returns false if `at` is outside. */
static bool load(const struct rn_unwind *u, uintptr_t end, uintptr_t at, uintptr_t *value)
{
	if (at % WORD || at < u->sp || at >= end || end - at < WORD)
		return false;
	memcpy(value, (const void *)at, WORD);
	return true;
}

static bool use(struct rn_unwind_uses *uses, uintptr_t at)
{
	uses->at[uses->n++] = at;
	return true;
}

/* Computes the start of the frame. */
static bool find_cfa(struct rn_unwind_rule r, uintptr_t end, const struct rn_unwind *u,
		     struct rn_unwind_uses *uses, uintptr_t *cfa)
{
	uintptr_t offset = (uintptr_t)(intptr_t)r.cfa_offset;

	switch (r.cfa) {
	case RN_CFA_SP:
		*cfa = u->sp + offset;
		return true;
	case RN_CFA_FP:
		*cfa = u->fp + offset;
		return use(uses, u->fp_at);
	case RN_CFA_AT_FP:
		return use(uses, u->fp_at) && load(u, end, u->fp + offset, cfa) &&
		       use(uses, u->fp + offset);
	case RN_CFA_CHAIN: /* the saved frame pointer and the return address precede the frame */
		*cfa = u->fp + 2 * WORD;
		return use(uses, u->fp_at);
	default:
		return false;
	}
}

static bool find_fp(struct rn_unwind_rule r, uintptr_t end, struct rn_unwind *u, uintptr_t cfa,
		    struct rn_unwind_uses *uses)
{
	uintptr_t offset = (uintptr_t)(intptr_t)r.fp_offset, at = cfa + offset;

	if (r.cfa == RN_CFA_CHAIN) {
		at = u->fp;
	} else if (r.fp == RN_FP_SAME) {
		return true;
	} else if (r.fp == RN_FP_AT_FP) {
		at = u->fp + offset;
		if (uses->n == 0)
			use(uses, u->fp_at);
	}
	if (!load(u, end, at, &u->fp))
		return false;
	u->fp_at = at;
	return true;
}

bool rn_unwind_step(struct rn_unwind_rule rule, uintptr_t end, struct rn_unwind *u,
		    struct rn_unwind_uses *uses)
{
	struct rn_unwind next = *u;
	uintptr_t cfa;

	uses->n = 0;
	if (!find_cfa(rule, end, u, uses, &cfa) || cfa <= u->sp ||
	    !load(u, end, cfa - WORD, &next.pc) || !find_fp(rule, end, &next, cfa, uses))
		return false;
	use(uses, cfa - WORD);
	next.sp = cfa;
	if (!next.pc)
		return false;
	*u = next;
	return true;
}

struct rn_unwind rn_unwind_from(const void *frame)
{
	const uintptr_t *f = frame;

	return (struct rn_unwind){ f[1], (uintptr_t)(f + 2), f[0], (uintptr_t)f };
}

#if defined(__x86_64__)

/* ---- reading ---- */

enum { FP = 6, SP = 7, RA = 16 }; /* DWARF register numbers */

static uint64_t get(struct rn_reader *b, size_t n)
{
	const unsigned char *p = rn_get_bytes(b, n);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, n);
	return v;
}

static uint64_t get_leb(struct rn_reader *b, bool is_signed)
{
	uint64_t v = 0;
	unsigned shift = 0, byte;

	do {
		byte = (unsigned)get(b, 1);
		if (shift < 64)
			v |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if (is_signed && (byte & 64) && shift < 64)
		v |= ~(uint64_t)0 << shift;
	return v;
}

static uint64_t get_u(struct rn_reader *b)
{
	return get_leb(b, false);
}

static int64_t get_s(struct rn_reader *b)
{
	return (int64_t)get_leb(b, true);
}

static struct rn_reader get_block(struct rn_reader *b)
{
	uint64_t n = get_u(b);
	const unsigned char *p = rn_get_bytes(b, n);

	return (struct rn_reader){ p, p ? p + n : p, !p };
}

/* Returns the number of bytes of an encoded address; 0: variable. */
static size_t encoded_size(unsigned encoding)
{
	static const unsigned char size[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8, 0, 0, 0 };

	return encoding == 0xff ? 0 : size[encoding & 15];
}

/* ---- from an address to its entry ---- */

struct search {
	uintptr_t pc;
	const unsigned char *table; /* .eh_frame_hdr of the object that pc is in */
	const unsigned char *end;   /* end of the mapped segment that contains it */
};

static int find_table(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const ElfW(Phdr) *frames = NULL;
	bool here = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && s->pc - (info->dlpi_addr + h->p_vaddr) < h->p_memsz)
			here = true;
		else if (h->p_type == PT_GNU_EH_FRAME)
			frames = h;
	}
	if (here && frames) {
		s->table = (const unsigned char *)info->dlpi_addr + frames->p_vaddr;
		s->end = s->table + frames->p_memsz;
	}
	return here;
}

/* Finds the entry of the last function that begins at or before pc. The linker's sorted table
 * contains pairs of offsets from the start of .eh_frame_hdr. */
static const unsigned char *find_entry(const struct search *s, uintptr_t *begin)
{
	enum { VERSION = 1, U4 = 0x03, TABLE_S4 = 0x3b };
	struct rn_reader b = { s->table, s->end, !s->table };
	unsigned version = (unsigned)get(&b, 1), frame = (unsigned)get(&b, 1);
	unsigned count = (unsigned)get(&b, 1), table = (unsigned)get(&b, 1);
	int64_t pc = (int64_t)(s->pc - (uintptr_t)s->table);
	struct rn_bisect at = { 0, 0, 0 };
	int32_t pair[2];

	get(&b, encoded_size(frame));
	at.hi = get(&b, 4);
	if (b.bad || version != VERSION || count != U4 || table != TABLE_S4 ||
	    at.hi * 8 > rn_left(&b))
		return NULL;
	while (rn_bisect_next(&at)) {
		memcpy(pair, b.p + at.mid * 8, sizeof(pair));
		rn_bisect_go(&at, pair[0] <= pc);
	}
	if (at.lo == 0)
		return NULL;
	memcpy(pair, b.p + (at.lo - 1) * 8, sizeof(pair));
	*begin = (uintptr_t)s->table + (uintptr_t)(intptr_t)pair[0];
	return s->table + pair[1];
}

/* ---- entries ---- */

/* The common information of many functions (CIE). */
struct common {
	uint64_t code_align;
	int64_t data_align;
	unsigned encoding; /* encoding of addresses */
	bool sized;        /* entries contain the length of their augmentation data */
	bool signal;       /* signal frame, created by the kernel */
	struct rn_reader program;
};

/* Returns an entry without its length field; 64-bit lengths do not occur. */
static struct rn_reader entry_at(const unsigned char *p)
{
	uint32_t n;
	bool bad;

	memcpy(&n, p, sizeof(n));
	p += sizeof(n);
	bad = n == 0 || n >= 0xfffffff0;
	return (struct rn_reader){ p, bad ? p : p + n, bad };
}

static void read_augmentation(struct rn_reader b, const char *letter, struct common *c)
{
	for (; *letter && !b.bad; letter++) {
		if (*letter == 'R')
			c->encoding = (unsigned)get(&b, 1);
		else if (*letter == 'P')
			get(&b, encoded_size((unsigned)get(&b, 1)));
		else if (*letter == 'L')
			get(&b, 1);
		else if (*letter == 'S')
			c->signal = true;
	}
}

static bool read_common(const unsigned char *p, struct common *c)
{
	struct rn_reader b = entry_at(p);
	const char *letters;
	unsigned version;

	*c = (struct common){ 0 };
	if (get(&b, 4) != 0) /* only a CIE has 0 here */
		return false;
	version = (unsigned)get(&b, 1);
	letters = (const char *)b.p;
	while (get(&b, 1))
		;
	c->code_align = get_u(&b);
	c->data_align = get_s(&b);
	if ((version == 1 ? get(&b, 1) : get_u(&b)) != RA || b.bad)
		return false;
	if (*letters == 'z') {
		c->sized = true;
		read_augmentation(get_block(&b), letters + 1, c);
	} else if (*letters) {
		return false;
	}
	c->program = b;
	return !b.bad;
}

/* Opens the entry at p, of a function that begins at `begin`: its common information and its own
 * program. Returns false if pc is outside the function. */
static bool read_entry(const unsigned char *p, uintptr_t begin, uintptr_t pc, struct common *c,
		       struct rn_reader *program)
{
	struct rn_reader b = entry_at(p);
	const unsigned char *here = b.p;
	uint64_t back = get(&b, 4), length;
	size_t size;

	if (b.bad || !back || !read_common(here - back, c))
		return false;
	size = encoded_size(c->encoding);
	get(&b, size);
	length = get(&b, size);
	if (c->sized)
		get_block(&b);
	*program = b;
	return size && !b.bad && pc - begin < length;
}

/* ---- programs ---- */

struct row {
	struct rn_unwind_rule rule;
	bool no_caller;
};

#define REMEMBERED 8

struct machine {
	const struct common *common;
	struct row row, first; /* first: the row after the common program */
	struct row saved[REMEMBERED];
	unsigned depth;
	uintptr_t at, pc;
	bool bad;
};

/* Reads one of the two expressions that compilers emit when they align the stack: frame pointer +
 * offset, and the value in memory there. */
static bool read_expression(struct rn_reader b, int32_t *offset, bool *deref)
{
	enum { BREG0 = 0x70, DEREF = 0x06 };

	if (get(&b, 1) != BREG0 + FP)
		return false;
	*offset = (int32_t)get_s(&b);
	*deref = b.p < b.end && get(&b, 1) == DEREF;
	return !b.bad && b.p == b.end;
}

static void cfa_expression(struct machine *m, struct rn_reader b)
{
	bool deref;

	m->row.rule.cfa = read_expression(b, &m->row.rule.cfa_offset, &deref) && deref
				  ? RN_CFA_AT_FP
				  : RN_CFA_END;
}

static void cfa_register(struct machine *m, uint64_t reg)
{
	m->row.rule.cfa = reg == SP ? RN_CFA_SP : reg == FP ? RN_CFA_FP : RN_CFA_END;
}

static void saved_at(struct machine *m, uint64_t reg, int64_t factored)
{
	int64_t offset = factored * m->common->data_align;

	if (reg == FP) {
		m->row.rule.fp = RN_FP_AT_CFA;
		m->row.rule.fp_offset = (int32_t)offset;
	} else if (reg == RA && offset != -(int64_t)WORD) {
		m->bad = true;
	}
}

static void saved_by_expression(struct machine *m, uint64_t reg, struct rn_reader b)
{
	bool deref;

	if (reg != FP) {
		m->bad |= reg == RA;
		return;
	}
	m->row.rule.fp = RN_FP_AT_FP;
	m->bad |= !read_expression(b, &m->row.rule.fp_offset, &deref) || deref;
}

static void restore(struct machine *m, uint64_t reg)
{
	if (reg != FP)
		return;
	m->row.rule.fp = m->first.rule.fp;
	m->row.rule.fp_offset = m->first.rule.fp_offset;
}

static void not_saved(struct machine *m, uint64_t reg, bool lost)
{
	if (reg == FP)
		m->row.rule.fp = RN_FP_SAME;
	else if (reg == RA && lost)
		m->row.no_caller = true;
}

static void advance(struct machine *m, uint64_t n)
{
	m->at += n * m->common->code_align;
}

static void remember(struct machine *m)
{
	if (m->depth < REMEMBERED)
		m->saved[m->depth++] = m->row;
	else
		m->bad = true;
}

static void recall(struct machine *m)
{
	if (m->depth)
		m->row = m->saved[--m->depth];
	else
		m->bad = true;
}

/* Executes an instruction with its own opcode byte. The cases are in the standard's order. */
static void run_extended(struct machine *m, struct rn_reader *b, unsigned op)
{
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		break;
	case 0x02:
	case 0x03: /* advance by 1, 2 or 4 bytes' worth */
		advance(m, get(b, op - 1u));
		break;
	case 0x04:
		advance(m, get(b, 4));
		break;
	case 0x05: /* offset */
		reg = get_u(b);
		saved_at(m, reg, (int64_t)get_u(b));
		break;
	case 0x06:
		restore(m, get_u(b));
		break;
	case 0x07: /* undefined */
	case 0x08: /* same value */
		not_saved(m, get_u(b), op == 0x07);
		break;
	case 0x0a:
		remember(m);
		break;
	case 0x0b:
		recall(m);
		break;
	case 0x0c: /* the frame begins at register + offset (def_cfa) */
		cfa_register(m, get_u(b));
		m->row.rule.cfa_offset = (int32_t)get_u(b);
		break;
	case 0x0d:
		cfa_register(m, get_u(b));
		break;
	case 0x0e:
		m->row.rule.cfa_offset = (int32_t)get_u(b);
		break;
	case 0x0f:
		cfa_expression(m, get_block(b));
		break;
	case 0x10:
		reg = get_u(b);
		saved_by_expression(m, reg, get_block(b));
		break;
	case 0x11:
		reg = get_u(b);
		saved_at(m, reg, get_s(b));
		break;
	case 0x12:
		cfa_register(m, get_u(b));
		m->row.rule.cfa_offset = (int32_t)(get_s(b) * m->common->data_align);
		break;
	case 0x13:
		m->row.rule.cfa_offset = (int32_t)(get_s(b) * m->common->data_align);
		break;
	case 0x16: /* a value that is not in memory; compilers do not emit it for FP and RA */
		reg = get_u(b);
		m->bad |= reg == FP || reg == RA;
		get_block(b);
		break;
	case 0x2e: /* size of arguments */
		get_u(b);
		break;
	default:
		m->bad = true;
	}
}

/* Executes the program up to the instructions for addresses after pc. */
static void run(struct machine *m, struct rn_reader b)
{
	while (!m->bad && !b.bad && b.p < b.end && m->at <= m->pc) {
		unsigned op = (unsigned)get(&b, 1), low = op & 63;

		if (op >> 6 == 1)
			advance(m, low);
		else if (op >> 6 == 2)
			saved_at(m, low, (int64_t)get_u(&b));
		else if (op >> 6 == 3)
			restore(m, low);
		else
			run_extended(m, &b, op);
	}
	m->bad |= b.bad;
}

/* Looks up the address before pc: the call precedes the return address and may be the last
 * instruction of its function. */
struct rn_unwind_rule rn_unwind_rule(uintptr_t pc)
{
	struct search s = { .pc = pc - 1 };
	struct rn_unwind_rule none = { .cfa = RN_CFA_CHAIN }, end = { .cfa = RN_CFA_END };
	struct common c;
	struct rn_reader program;
	struct machine m;
	const unsigned char *entry;
	uintptr_t begin;

	dl_iterate_phdr(find_table, &s);
	entry = s.table ? find_entry(&s, &begin) : NULL;
	if (!entry || !read_entry(entry, begin, s.pc, &c, &program))
		return none;
	if (c.signal)
		return end;
	m = (struct machine){ .common = &c, .at = begin, .pc = s.pc };
	m.row.rule.cfa = RN_CFA_END;
	run(&m, c.program);
	m.first = m.row;
	run(&m, program);
	return m.bad || m.row.no_caller ? end : m.row.rule;
}

#else

struct rn_unwind_rule rn_unwind_rule(uintptr_t pc)
{
	(void)pc;
	return (struct rn_unwind_rule){ .cfa = RN_CFA_CHAIN };
}

#endif
