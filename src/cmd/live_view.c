/* live_view.c - see live_view.h: the command, and its output as JSON. */
#include "cmd/live_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/live.h"
#include "encode/raw.h"
#include "file/salvage.h"
#include "read/calls.h"
#include "read/decode.h"
#include "read/form.h"

static const char *state_name(const struct live *v, const struct rn_stand *s)
{
	static const char *const name[] = { "call", "poll", "none", "busy" };

	return v->running && !v->process[s->sight->tag].state ? "ended" : name[s->kind];
}

static void put_array(struct live *v, const char *key, const uint64_t *n, uint64_t count)
{
	live_putf(v, ",\"%s\":[", key);
	for (uint64_t i = 0; i < count; i++)
		live_putf(v, "%s%" PRIu64, i ? "," : "", n[i]);
	live_put(v, "]");
}

static void put_string(struct live *v, const char *key, const char *s)
{
	live_putf(v, ",\"%s\":", key);
	rn_form_json.quote(&v->out, s, strlen(s));
}

/* As `rondo dump --json` has it, without its end; of a thread that is in no call, the last one. */
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
		live_putf(v, "{\"rank\":%" PRIu64, s->rank);
		if (s->thread)
			live_putf(v, ",\"thread\":%" PRIu32, s->thread);
	}
}

static void put_object(struct live *v, const struct rn_decoder *d, const struct rn_stand *s)
{
	double seconds = live_seconds(v, s);

	put_call(v, d, s);
	put_string(v, "state", state_name(v, s));
	put_string(v, "host", v->process[s->sight->tag].file->host);
	live_putf(v, ",\"pid\":%" PRIu32 ",\"calls\":%" PRIu64, s->sight->process->process,
		  s->now->calls);
	if (seconds >= 0)
		live_putf(v, ",\"seconds\":%.3f", seconds);
	for (uint32_t i = 0; i < s->need.requests; i++) {
		live_put(v, i ? "," : ",\"requests\":[");
		rn_form_json.quote(&v->out, s->need.request[i], strlen(s->need.request[i]));
	}
	live_put(v, s->need.requests ? "]" : "");
	if (s->set && !s->sight->gone)
		put_array(v, s->set->all ? "waits_for" : "waits_for_some", s->set->rank, s->set->n);
	live_put(v, "}\n");
}

static void put_json(struct live *v)
{
	const struct rn_verdict *x = &v->standstill.verdict;
	const struct rn_decoder d = { .keywords = rn_keywords_of(&rn_mpi_vocab) };

	for (size_t i = 0; i < v->standstill.stands; i++)
		put_object(v, &d, &v->standstill.stand[i]);
	live_putf(v, "{\"ranks\":%" PRIu64 ",\"running\":%s,\"waiting\":%" PRIu64,
		  v->standstill.ranks, v->running ? "true" : "false", x->waiting);
	put_array(v, "deadlock", x->circle, x->circle_n);
	put_array(v, "stuck", x->stuck, x->stuck_n);
	put_array(v, "waited_for", x->root, x->root_n);
	live_put(v, "}\n");
}

static int show(void *arg, const struct part_view *file, size_t n)
{
	struct live *v = arg;
	int code;

	v->file = file;
	v->files = n;
	code = live_look(v);
	if (code)
		return code;
	if (v->json)
		put_json(v);
	if ((!v->json && !live_put_text(v)) || v->out.failed)
		return fail_memory(NULL);
	fwrite(v->out.data, 1, v->out.len, stdout);
	return finish_output();
}

int live_show(const char *folder, bool json)
{
	struct live v = { .folder = folder, .json = json };
	int code;

	if (access(folder, F_OK) < 0 && errno == ENOENT)
		return fail(EXIT_INPUT,
			    "%s: there is no such folder; the run is over, has not begun, or has "
			    "its parts elsewhere",
			    folder);
	rn_arena_init(&v.mem, SIZE_MAX);
	code = parts_look(folder, show, &v);
	rn_buf_free(&v.out);
	rn_arena_free(&v.mem);
	return code;
}
