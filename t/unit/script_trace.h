/*
 * script_trace.h - builds a trace from calls given as text, for tests.
 *
 *	static const char *const rank0[] = {
 *		"MPI_Irecv source=* tag=7 comm=MPI_COMM_WORLD request=+a",
 *		"MPI_Wait request=a- status=<1,7,0>",
 *		NULL };
 *
 * Functions and keywords are those of MPI. An input parameter that is omitted is 0, an omitted
 * output parameter is unset, and an omitted `ret` is 0. Values:
 *
 *	12  *                   a number; MPI_ANY_SOURCE or MPI_ANY_TAG
 *	^1                      the caller's rank + 1
 *	comm:x  MPI_INT         a communicator; any other keyword
 *	+a  a  a-               a request: created by the call, existing, ended by the call;
 *	                        26 have names
 *	<1,7,0>  {1,7}  ~       a status: source, tag, cancelled; one that was ignored; unchanged
 *	[..]                    a list of these
 */
#ifndef RN_T_SCRIPT_TRACE_H
#define RN_T_SCRIPT_TRACE_H

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "bench/rank_merge.h"
#include "encode/call_words.h"
#include "encode/signature.h"
#include "encode/template.h"
#include "file/container.h"
#include "file/trace_writer.h"
#include "grammar/grammar.h"
#include "identity/comm_table.h"
#include "model/merged_streams.h"
#include "model/payload.h"
#include "tap.h"
#include "call_writer.h"

#define SCRIPT_NAMES  26
#define SCRIPT_SHAPES 64

/* A stream and its open requests. */
struct script {
	struct {
		int shape, slot; /* creator and index; shape -1: no such request */
	} request[SCRIPT_NAMES];
	unsigned char shape[SCRIPT_SHAPES][256];
	size_t shape_len[SCRIPT_SHAPES];
	int shapes;
	int made;       /* request created by the current call; -1: none */
	unsigned going; /* bit set of the requests that the current call ends */
	struct rn_buf w;
};

static inline uint32_t script_word(const char *text, size_t n)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.words; i++)
		if (strlen(rn_mpi_vocab.word[i].text) == n &&
		    memcmp(rn_mpi_vocab.word[i].text, text, n) == 0)
			return rn_mpi_vocab.word[i].number;
	CHECK(!"a word of MPI's");
	return 0;
}

#define SCRIPT_WORD(s) script_word(s, sizeof(s) - 1)

/* Parses numbers up to the closing bracket. */
static inline const char *script_status(struct script *s, const char *p)
{
	bool full = *p == '<';
	int v[3] = { 0 };

	CHECK(sscanf(p + 1, "%d,%d,%d", &v[0], &v[1], &v[2]) == (full ? 3 : 2));
	rn_call_status(&s->w, full ? RN_STATUS_FULL : RN_STATUS_MATCHED);
	rn_call_num(&s->w, RN_V_INT, v[0]);
	rn_call_num(&s->w, RN_V_INT, v[1]);
	if (full) {
		rn_call_num(&s->w, RN_V_INT, 0);
		rn_call_num(&s->w, RN_V_INT, 4);
		rn_call_num(&s->w, RN_V_INT, v[2]);
	}
	return strchr(p, full ? '>' : '}') + 1;
}

static inline const char *script_request(struct script *s, const char *p)
{
	int name = p[*p == '+'] - 'a';
	bool gone = p[1] == '-';

	if (*p == '+') {
		rn_call_const(&s->w, SCRIPT_WORD("request+"));
		s->made = name;
		return p + 2;
	}
	if (s->request[name].shape < 0) {
		rn_call_const(&s->w, SCRIPT_WORD("MPI_REQUEST_NULL"));
		return p + 1 + gone;
	}
	rn_call_place(&s->w, gone ? SCRIPT_WORD("request-") : SCRIPT_WORD("request"),
		      (uint64_t)s->request[name].shape, s->request[name].slot);
	if (gone)
		s->going |= 1u << name;
	return p + 1 + gone;
}

static inline const char *script_value(struct script *s, const char *p, bool is_tag)
{
	size_t n = strcspn(p, " ,]");
	char *end;

	if (*p == '*') {
		rn_call_const(&s->w,
			      is_tag ? SCRIPT_WORD("MPI_ANY_TAG") : SCRIPT_WORD("MPI_ANY_SOURCE"));
	} else if (*p == '~') {
		rn_call_status(&s->w, RN_STATUS_NOTHING);
	} else if (*p == '<' || *p == '{') {
		return script_status(s, p);
	} else if (*p == '^') {
		rn_call_num(&s->w, RN_V_REL, strtol(p + 1, &end, 10));
	} else if (isdigit((unsigned char)*p) || (*p == '-' && n > 1)) {
		rn_call_num(&s->w, RN_V_INT, strtol(p, &end, 10));
	} else if (n > 5 && memcmp(p, "comm:", 5) == 0) {
		rn_call_text(&s->w, RN_V_NAME, p, n);
	} else if (n <= 2 && (islower((unsigned char)*p) || *p == '+')) {
		return script_request(s, p);
	} else {
		rn_call_const(&s->w, script_word(p, n));
	}
	return p + n;
}

static inline void script_list(struct script *s, const char *p)
{
	struct rn_buf head = s->w;
	uint64_t n = 0;

	/* The number of elements precedes them and occupies one byte. */
	rn_call_list(&s->w, 0);
	for (p++; *p && *p != ']'; n++) {
		p = script_value(s, p, false);
		p += *p == ',';
	}
	rn_call_list(&head, n);
	CHECK(n < RN_CALL_SMALL);
}

/* Returns the value of a parameter in the line, or NULL. */
static inline const char *script_find(const char *line, const char *param)
{
	size_t n = strlen(param);

	for (const char *p = strchr(line, ' '); p; p = strchr(p + 1, ' '))
		if (strncmp(p + 1, param, n) == 0 && p[1 + n] == '=')
			return p + 2 + n;
	return NULL;
}

static inline void script_param(struct script *s, const char *line, const char *param, bool out)
{
	const char *p = script_find(line, param);

	if (p && *p == '[')
		script_list(s, p);
	else if (p)
		script_value(s, p, strstr(param, "tag"));
	else if (out)
		rn_call_const(&s->w, SCRIPT_WORD("unset"));
	else
		rn_call_num(&s->w, RN_V_INT, 0);
}

static inline const struct rn_func *script_func(const char *line)
{
	size_t n = strcspn(line, " ");

	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++)
		if (strlen(rn_mpi_vocab.func[i].name) == n &&
		    memcmp(rn_mpi_vocab.func[i].name, line, n) == 0)
			return &rn_mpi_vocab.func[i];
	CHECK(!"a function of MPI's");
	return &rn_mpi_vocab.func[0];
}

/* Names requests as the format requires (doc/format.md, 8.5). */
static inline void script_settle(struct script *s, const unsigned char *sig, size_t len)
{
	int shape = 0, slot = 0;

	for (int i = 0; i < SCRIPT_NAMES; i++)
		if (s->going >> i & 1)
			s->request[i].shape = -1;
	s->going = 0;
	if (s->made < 0)
		return;
	while (shape < s->shapes &&
	       (s->shape_len[shape] != len || memcmp(s->shape[shape], sig, len) != 0))
		shape++;
	if (shape == s->shapes) {
		CHECK(s->shapes < SCRIPT_SHAPES && len <= sizeof(s->shape[0]));
		memcpy(s->shape[shape], sig, len);
		s->shape_len[s->shapes++] = len;
	}
	for (int i = 0; i < SCRIPT_NAMES; i++)
		if (s->request[i].shape == shape && s->request[i].slot == slot) {
			slot++;
			i = -1;
		}
	s->request[s->made].shape = shape;
	s->request[s->made].slot = slot;
	s->made = -1;
}

static inline size_t script_call(struct script *s, const char *line, unsigned char *sig, size_t cap)
{
	const struct rn_func *f = script_func(line);
	const char *ret = script_find(line, "ret");
	size_t len = 0;

	call_begin(&s->w, sig, cap, f->number);
	for (int out = 0; out < 2; out++)
		for (uint32_t i = 0; i < f->nparams; i++)
			if (rn_func_dir(f, i) == RN_DIR_BOTH ||
			    rn_func_dir(f, i) == (enum rn_dir)out)
				script_param(s, line, f->param[i], out);
	if (ret)
		script_value(s, ret, false);
	else
		rn_call_num(&s->w, RN_V_INT, 0);
	CHECK(call_done(&s->w, &len) == RN_OK);
	CHECK(rn_call_valid(sig, len, &rn_mpi_vocab));
	script_settle(s, sig, len);
	return len;
}

static inline int script_stream(const char *const *line, struct rn_sigs *sigs, struct rn_grammar *g)
{
	struct script s = { .made = -1 };
	unsigned char sig[1024];
	int rc = RN_OK;

	for (int i = 0; i < SCRIPT_NAMES; i++)
		s.request[i].shape = -1;
	for (; *line && rc == RN_OK; line++) {
		size_t len = script_call(&s, *line, sig, sizeof(sig));
		uint32_t id;

		rc = rn_sigs_intern(sigs, sig, len, &id);
		if (rc >= 0)
			rc = rn_grammar_append(g, id);
	}
	return rc;
}

/* Appends the whole file of ranks with one thread each to out. `comms` may be NULL. */
static inline int script_file(const char *const *const *rank, uint64_t ranks,
			      const struct rn_comms *comms, struct rn_buf *out)
{
	static struct rank_merge link;
	const struct rn_meta_entry entry = { "program", "script" };
	const struct rn_meta meta = { &entry, 1 };
	struct rn_container_writer w = { 0 };
	struct rn_buf b = { 0 };
	struct rn_streams s;
	struct rn_arena mem;
	const void *bytes;
	size_t len;
	int rc = RN_OK;

	rn_arena_init(&mem, SIZE_MAX);
	rank_merge_init(&link);
	for (uint64_t i = 0; i < ranks && rc == RN_OK; i++) {
		struct rn_sigs *sigs = rn_sigs_new(&mem);
		struct rn_grammar *g = rn_grammar_new(&mem, NULL);

		rc = script_stream(rank[i], sigs, g);
		if (rc == RN_OK)
			rc = rank_merge_add(&link, sigs, g);
	}
	if (rc == RN_OK)
		rc = rank_merge_finish(&link, &mem, &s);
	if (rc == RN_OK)
		rc = rank_merge_sections(&w, &s, &rn_mpi_vocab, &meta, NULL);
	if (rc == RN_OK && comms)
		rc = rn_comms_encode(comms, &b);
	if (rc == RN_OK && comms)
		rc = rn_container_add(&w, RN_SECTION_COMMS, b.data, b.len, NULL);
	if (rc == RN_OK)
		rc = rn_container_finish(&w, &bytes, &len, NULL);
	if (rc == RN_OK)
		rn_buf_add(out, bytes, len);
	rn_container_writer_free(&w);
	rn_buf_free(&b);
	rank_merge_free(&link);
	rn_arena_free(&mem);
	return rc;
}

#endif
