/* run_env_check.c - see run_env_check.h. */
#include "replay/run_env_check.h"

#include "base/command_text.h"
#include "base/errno_guard.h"
#include "identity/comm_table.h"
#include "replay/replay_cursor.h"
#include "runtime/message.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "trace/run_env.h"
#include "trace/run_env.h"
#include "track/memory.h"

#include <stdio.h>
#include <string.h>

#define SHOWN 300 /* bytes of a recorded text that a message contains at most */

static const char *or_none(const char *s)
{
	return s && *s ? s : "none";
}

static bool differs(const char *recorded, const char *now)
{
	return strcmp(or_none(recorded), or_none(now)) != 0;
}

static void compare_build(void)
{
	char key[sizeof(rn_config.program) + 16], now[2 * 64 + 1];
	struct rn_mem_module program;
	const char *recorded;

	snprintf(key, sizeof(key), "build_id.%s", rn_config.program);
	recorded = rn_replay_fact(key);
	if (!recorded)
		return;
	rn_mem_modules_changed();
	program = rn_mem_module(RN_MEM_PROGRAM);
	if (!program.build_id || 2 * program.build_id_len >= sizeof(now))
		return;
	for (size_t i = 0; i < program.build_id_len; i++)
		snprintf(now + 2 * i, 3, "%02x", program.build_id[i]);
	if (differs(recorded, now))
		rn_say("%s is not the build of it that was recorded", rn_config.program);
}

static void compare_command(void)
{
	const char *program = rn_replay_fact(rn_meta_rows[RN_META_PROGRAM].key),
		   *with = rn_replay_fact(rn_meta_rows[RN_META_ARGUMENTS].key);
	const char *now = rn_setting_value(RN_META_ARGUMENTS);

	if (program && differs(program, rn_config.program))
		rn_say("the program is %s, but what is replayed was recorded of %.*s",
		       rn_config.program, SHOWN, program);
	compare_build();
	if (program && rn_replay_fact(rn_meta_rows[RN_META_LIBRARY].key) && differs(with, now))
		rn_say("the program's arguments are: %.*s; when it was recorded: %.*s", SHOWN,
		       or_none(now), SHOWN, or_none(with));
}

static void compare_library(void)
{
	const char *recorded = rn_replay_fact(rn_meta_rows[RN_META_LIBRARY].key),
		   *library = rn_setting_value(RN_META_LIBRARY);

	if (recorded && differs(recorded, library))
		rn_say("the MPI library was %.*s, and is %s: messages may be buffered, and "
		       "reductions computed, in other ways",
		       SHOWN, recorded, library);
}

/* An item NAME=VALUE of a list, with the offset of its value; n is 0 at the end. Spaces inside
 * quotes belong to the item. */
struct item {
	const char *name;
	size_t n, value;
};

static struct item next_item(const char **text)
{
	struct item i = { .name = *text };
	bool quoted = false;

	for (; i.name[i.n] && (quoted || i.name[i.n] != ' '); i.n++)
		quoted ^= i.name[i.n] == '\'';
	*text += i.n + strspn(i.name + i.n, " ");
	if (*i.name == '\'' && i.n > 1) {
		i.name++;
		i.n -= 2;
	}
	while (i.value < i.n && i.name[i.value++] != '=')
		;
	return i;
}

static struct item find_item(const char *text, const struct item *like)
{
	struct item i;

	do
		i = next_item(&text);
	while (i.n && (i.value != like->value || memcmp(i.name, like->name, i.value) != 0));
	return i;
}

/* Appends "; NAME was A, is B" for each item of `mine` that is missing from `others` or different
 * there. Items that are in both lists are printed only if `now` is set. Returns the new length. */
static size_t put_items(char *text, size_t at, size_t cap, const char *mine, const char *others,
			bool now)
{
	for (struct item i; at < cap && (i = next_item(&mine)).n;) {
		struct item o = find_item(others, &i), was = now ? o : i, is = now ? i : o;

		if ((o.n && !now) || (o.n == i.n && memcmp(o.name, i.name, i.n) == 0))
			continue;
		at += (size_t)snprintf(
			text + at, cap - at, "%s%.*s was %.*s, is %.*s", at ? "; " : "",
			(int)i.value - 1, i.name, was.n ? (int)(was.n - was.value) : 7,
			was.n ? was.name + was.value : "not set", is.n ? (int)(is.n - is.value) : 7,
			is.n ? is.name + is.value : "not set");
	}
	return at;
}

/* Compares a recorded list of settings. `so` describes the possible effect of a difference. */
static void compare_list(enum rn_meta_key key, const char *what, const char *so)
{
	const char *recorded = rn_replay_fact(rn_meta_rows[key].key);
	const char *now = rn_setting_value(key);
	char text[2 * SHOWN] = "";
	size_t at;

	recorded = recorded ? recorded : "";
	if (strcmp(recorded, now) == 0 ||
	    strlen(recorded) >= RN_WORDS_MAX) /* not written by this version */
		return;
	at = put_items(text, 0, sizeof(text), now, recorded, true);
	put_items(text, at, sizeof(text), recorded, now, false);
	rn_say("%s when it was recorded (%s): %s", what, text, so);
}

/* Compares the MPI library and its settings, if the trace contains them. */
static void compare_mpi(void)
{
	if (!rn_replay_fact(rn_meta_rows[RN_META_LIBRARY].key))
		return;
	compare_library();
	compare_list(RN_META_EAGER, "the eager limits are not those",
		     "sends may complete at "
		     "other times");
	compare_list(RN_META_CHOICES, "MPI's choices are not those",
		     "messages may be buffered in other ways");
	compare_list(RN_META_ENVIRONMENT, "MPI's settings are not those",
		     "messages may be buffered, and reductions computed, in other ways");
}

void rn_setting_compare(void)
{
	RN_ERRNO_GUARD;

	compare_command();
	compare_mpi();
}

/* Rank 0 compares the number of ranks on its node. Each other rank compares its index on its node.
 * If the ranks are distributed differently, at least one of these values differs. */
void rn_setting_compare_node(bool (*first)(void))
{
	RN_ERRNO_GUARD;
	int rank, size, was, of;
	const char *recorded = rn_replay_fact(RN_NODE_NAME);

	if (recorded && sscanf(recorded, "%d of %d", &was, &of) == 2 &&
	    rn_setting_place(&rank, &size) && (rn_tracer.world_rank ? was != rank : of != size) &&
	    first())
		rn_say("the ranks are not on the nodes where they were recorded (on its node, rank "
		       "%d was number %d of %d, is %d of %d): messages may be buffered in other "
		       "ways",
		       rn_tracer.world_rank, was, of, rank, size);
}
