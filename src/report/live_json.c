/* live_json.c - see live_json.h: the entry point and the JSON output. */
#include "report/live_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/notes.h"
#include "encode/call_words.h"
#include "read/call_text.h"
#include "read/calls.h"
#include "read/output_form.h"
#include "recover/journal_read.h"
#include "recover/recover.h"
#include "report/live_report.h"

static const char *state_name(const struct live *v, const struct rn_stand *s)
{
	static const char *const name[] = { "call", "poll", "none", "busy" };

	return v->running && !v->process[s->sight->tag].state ? "ended" : name[s->kind];
}

static void put_array(struct live *v, const char *key, const uint64_t *n, uint64_t count)
{
	rn_putf(&v->out, ",\"%s\":[", key);
	for (uint64_t i = 0; i < count; i++)
		rn_putf(&v->out, "%s%" PRIu64, i ? "," : "", n[i]);
	rn_put(&v->out, "]");
}

static void put_string(struct live *v, const char *key, const char *s)
{
	rn_putf(&v->out, ",\"%s\":", key);
	rn_form_json.quote(&v->out, s, strlen(s));
}

/* Writes the call as `rondo dump --json` does, without the closing brace. If the thread is in no
 * call, its last call is written. */
static void put_call(struct live *v, const struct rn_decoder *d, const struct rn_stand *s)
{
	struct rn_call c = { .args = s->need.args,
			     .rank = s->rank,
			     .thread = s->thread,
			     .seq = s->now->calls - (s->kind == RN_STAND_CALL ? 0 : 1) };

	if (s->any && s->need.args) {
		rn_template_locate(s->need.args, NULL, v->standstill.ranks, s->rank);
		rn_decode_json(d, &c, &v->out);
		v->out.len -= v->out.failed ? 0 : strlen("}\n");
	} else {
		rn_putf(&v->out, "{\"rank\":%" PRIu64, s->rank);
		if (s->thread)
			rn_putf(&v->out, ",\"thread\":%" PRIu32, s->thread);
	}
}

static void put_object(struct live *v, const struct rn_decoder *d, const struct rn_stand *s)
{
	double seconds = live_seconds(v, s);

	put_call(v, d, s);
	put_string(v, "state", state_name(v, s));
	put_string(v, "host", v->process[s->sight->tag].file->host);
	rn_putf(&v->out, ",\"pid\":%" PRIu32 ",\"calls\":%" PRIu64, s->sight->process->process,
		s->now->calls);
	if (seconds >= 0)
		rn_putf(&v->out, ",\"seconds\":%.3f", seconds);
	for (uint32_t i = 0; i < s->need.requests; i++) {
		rn_put(&v->out, i ? "," : ",\"requests\":[");
		rn_form_json.quote(&v->out, s->need.request[i], strlen(s->need.request[i]));
	}
	rn_put(&v->out, s->need.requests ? "]" : "");
	if (s->set && !s->sight->gone)
		put_array(v, s->set->all ? "waits_for" : "waits_for_some", s->set->rank, s->set->n);
	rn_put(&v->out, "}\n");
}

static void put_json(struct live *v)
{
	const struct rn_verdict *x = &v->standstill.verdict;
	const struct rn_decoder d = { .keywords = rn_keywords_of(&rn_mpi_vocab) };

	for (size_t i = 0; i < v->standstill.stands; i++)
		put_object(v, &d, &v->standstill.stand[i]);
	rn_putf(&v->out, "{\"ranks\":%" PRIu64 ",\"running\":%s,\"waiting\":%" PRIu64,
		v->standstill.ranks, v->running ? "true" : "false", x->waiting);
	put_array(v, "deadlock", x->circle, x->circle_n);
	put_array(v, "stuck", x->stuck, x->stuck_n);
	put_array(v, "waited_for", x->root, x->root_n);
	rn_put(&v->out, "}\n");
}

static int show(void *arg, const struct rn_node_file *file, size_t n, struct rn_err *err)
{
	struct live *v = arg;
	int rc;

	v->file = file;
	v->files = n;
	rc = live_look(v, err);
	if (rc < 0)
		return rc;
	if (v->json)
		put_json(v);
	else if (!live_put_text(v))
		return rn_err_nomem(err);
	return v->out.failed ? rn_err_nomem(err) : RN_OK;
}

int live_show(const char *folder, bool json, struct rn_buf *out, struct rn_buf *notes,
	      struct rn_err *err)
{
	struct live v = { .folder = folder, .json = json };
	int rc;

	if (access(folder, F_OK) < 0 && errno == ENOENT)
		return rn_err_set(err, RN_E_DATA,
				  "there is no such folder; the run is over, has not begun, or has "
				  "its parts elsewhere");
	rn_arena_init(&v.mem, SIZE_MAX);
	rc = rn_journal_set_inspect(folder, show, &v, notes, err);
	*out = v.out;
	rn_arena_free(&v.mem);
	return rc;
}
