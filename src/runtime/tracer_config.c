/*
 * tracer_config.c - see tracer_config.h.
 */
#include "runtime/tracer_config.h"

#include "base/arena.h"
#include "base/call_list.h"
#include "base/io.h"
#include "base/mpi_detect.h"
#include "base/sanitizer.h"
#include "base/script_name.h"
#include "base/tracer_env.h"
#include "encode/call_words.h"
#include "encode/callsite.h"
#include "encode/time_quant.h"
#include "file/trace_name.h"
#include "model/lossy.h"
#include "model/metadata.h"
#include "order/event_codec.h"

#include <mpi.h> /* OPEN_MPI */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef OPEN_MPI
#define OWN_LIBRARY rn_mpi_names[RN_MPI_OMPI].tracer
#else
#define OWN_LIBRARY rn_mpi_names[RN_MPI_MPICH].tracer
#endif

struct rn_config rn_config;

static void copy(char *to, size_t cap, const char *from)
{
	snprintf(to, cap, "%s", from ? from : "");
}

static void own_name(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	copy(rn_config.program, sizeof(rn_config.program), slash ? slash + 1 : "program");
}

/* Stores the name of the program, which names the trace: for an interpreter, the name of its
 * script. */
static void trace_name(char *to, size_t cap)
{
	char line[8192];
	size_t n = rn_io_read_head("/proc/self/cmdline", line, sizeof(line));
	const char *end = memchr(line, 0, n);

	if (!end ||
	    !rn_script_name(rn_config.program, end + 1, (size_t)(line + n - end - 1), to, cap))
		copy(to, cap, rn_config.program);
}

static char label[sizeof(rn_config.program)]; /* name of the program in the names of traces */

bool rn_config_name(unsigned number)
{
	char output[sizeof(rn_config.output)];

	if (!rn_trace_name(rn_config.pattern, label, number, output, sizeof(output)))
		return false;
	copy(rn_config.output, sizeof(rn_config.output), output);
	return true;
}

static void output_name(void)
{
	const char *given = getenv(RN_ENV_OUTPUT), *folder = getenv(RN_ENV_CWD);
	char here[2048];

	trace_name(label, sizeof(label));
	if (!folder || !*folder)
		folder = getcwd(here, sizeof(here)) ? here : "/";
	if (given && *given)
		copy(rn_config.pattern, sizeof(rn_config.pattern), given);
	else
		snprintf(rn_config.pattern, sizeof(rn_config.pattern), "%.2048s/%%p.rondo", folder);
	if (!rn_config_name(1))
		copy(rn_config.output, sizeof(rn_config.output), rn_config.pattern);
}

static char preload[4096]; /* LD_PRELOAD of the user */

#define STALL        10u /* seconds; tests do not wait this long */
#define MEMORY       ((size_t)256 << 20)
#define MEMORY_LEAST ((size_t)1 << 20) /* a stream uses a third of it before its first call */

static size_t memory_limit(void)
{
	const char *given = getenv(RN_ENV_MEMORY);
	size_t bytes = given ? strtoull(given, NULL, 10) : 0;

	if (bytes == 0)
		return MEMORY;
	return bytes < MEMORY_LEAST ? MEMORY_LEAST : bytes;
}

/* Values that `rondo trace` would have rejected are replaced with the default. */
static void read_time(void)
{
	static struct rn_arena mem;
	static struct rn_grain grain;
	const char *time = getenv(RN_ENV_TIME);

	copy(rn_config.time, sizeof(rn_config.time), time && *time ? time : "summary");
	rn_config.times = strcmp(rn_config.time, "none") != 0;
	if (!rn_config.times || strcmp(rn_config.time, "summary") == 0)
		return;
	rn_arena_init(&mem, SIZE_MAX);
	if (rn_grain_parse(&mem, rn_config.time, &rn_mpi_vocab, &grain, NULL) == RN_OK)
		rn_config.grain = &grain;
	else
		copy(rn_config.time, sizeof(rn_config.time), "summary");
}

/* Quantized counts cannot be combined with call times, which are in the order of the calls. */
static void read_lossy(void)
{
	struct rn_lossy l;

	copy(rn_config.lossy, sizeof(rn_config.lossy), getenv(RN_ENV_LOSSY));
	if (!rn_lossy_parse(rn_config.lossy, &l) || (l.counts && rn_config.grain))
		rn_config.lossy[0] = '\0';
}

/* Without recorded calls there are no call times. */
static void read_only(void)
{
	const char *only = getenv(RN_ENV_ONLY), *codec = getenv(RN_ENV_ORDER_CODEC);
	enum rn_order_codec c = codec ? rn_order_codec_named(codec) : RN_ORDER_MODEL;

	rn_config.order = only && strcmp(only, RN_ONLY_ORDER) == 0;
	if (!rn_config.order)
		return;
	rn_config.times = false;
	rn_config.grain = NULL;
	copy(rn_config.time, sizeof(rn_config.time), "none");
	c = c < RN_ORDER_CODECS ? c : RN_ORDER_MODEL;
	rn_config.order_sends = c == RN_ORDER_CLOCK;
	copy(rn_config.order_codec, sizeof(rn_config.order_codec), rn_order_codec_name(c));
	if (!rn_config.callsite)
		rn_config.callsite = 1;
}

static uint32_t read_frames(const char *name)
{
	const char *given = getenv(name);
	unsigned long frames = given ? strtoul(given, NULL, 10) : 0;

	return frames < RN_CALLSITE_FRAMES ? (uint32_t)frames : RN_CALLSITE_FRAMES;
}

static enum rn_order_values read_values(void)
{
	const char *given = getenv(RN_ENV_VALUES);

	if (given && strcmp(given, RN_VALUES_WORD_NONE) == 0)
		return RN_VALUES_NONE;
	return given && strcmp(given, RN_VALUES_WORD_ALL) == 0 ? RN_VALUES_ALL : RN_VALUES_MPI;
}

const char *rn_config_values(void)
{
	static const char *const words[] = { [RN_VALUES_NONE] = RN_VALUES_WORD_NONE,
					     [RN_VALUES_MPI] = NULL,
					     [RN_VALUES_ALL] = RN_VALUES_WORD_ALL };

	return words[rn_config.values];
}

void rn_config_read(void)
{
	const char *divergence = getenv(RN_ENV_DIVERGENCE);

	own_name();
	output_name();
	copy(rn_config.status, sizeof(rn_config.status), getenv(RN_ENV_STATUS));
	copy(rn_config.call, sizeof(rn_config.call), getenv(RN_ENV_CALL));
	copy(rn_config.rank, sizeof(rn_config.rank), getenv(RN_ENV_RANK));
	copy(rn_config.spill, sizeof(rn_config.spill), getenv(RN_ENV_SPILL));
	copy(preload, sizeof(preload), getenv(RN_ENV_PRELOAD));
	rn_config.elastic = !getenv(RN_ENV_NO_ELASTIC);
	rn_config.memory = memory_limit();
	read_time();
	read_lossy();
	copy(rn_config.callsite_ignore, sizeof(rn_config.callsite_ignore),
	     getenv(RN_ENV_CALLSITE_IGNORE));
	copy(rn_config.replay, sizeof(rn_config.replay), getenv(RN_ENV_REPLAY));
	rn_config.values = read_values();
	rn_config.diverges_on = divergence && strcmp(divergence, RN_DIVERGENCE_CONTINUE) == 0;
	rn_config.alone = getenv(RN_ENV_ALONE) != NULL;
	rn_config.stall = getenv(RN_ENV_STALL) ? (uint32_t)atoi(getenv(RN_ENV_STALL)) : STALL;
	rn_config.callsite = read_frames(RN_ENV_CALLSITE);
	if (rn_config.elastic)
		rn_config.callsite_slack = read_frames(RN_ENV_CALLSITE_SLACK);
	read_only();
}

/* Removes Rondo's variables from Open MPI's list of variables for other nodes. `rondo trace` has
 * put them before those of the user. */
static void give_back_list(void)
{
	static const char list[] = "OMPI_MCA_mca_base_env_list";
	const char *at = getenv(list), *delimiter = getenv("OMPI_MCA_mca_base_env_list_delimiter");
	char between[2] = { delimiter && *delimiter ? *delimiter : ';', '\0' }, *rest;

	if (!at)
		return;
	while (rn_begins(at, RN_ENV_PREFIX) || rn_begins(at, "LD_PRELOAD")) {
		at += strcspn(at, between);
		at += *at != '\0';
	}
	rest = strdup(at);
	if (!rest || !*rest)
		unsetenv(list);
	else
		setenv(list, rest, 1);
	free(rest);
}

void rn_config_pass_on(void)
{
	const char *all = getenv("LD_PRELOAD"), *at = all ? strstr(all, OWN_LIBRARY) : NULL,
		   *first = getenv(RN_ENV_SANITIZER_FIRST);
	size_t n = all ? strlen(all) + sizeof(RN_STUB_LIBRARY) : 0;
	char *changed = at ? malloc(n) : NULL;

	if (!changed)
		return;
	if (first && *first == '1') {
		all = rn_after_first(all);
		setenv(RN_ENV_SANITIZER_FIRST, "0", 1);
	}
	snprintf(changed, n, "%.*s" RN_STUB_LIBRARY "%s", (int)(at - all), all,
		 at + strlen(OWN_LIBRARY));
	setenv("LD_PRELOAD", changed, 1);
	if (rn_is_rank(environ))
		setenv(RN_ENV_IN_RANK, "1", 1);
	free(changed);
}

void rn_config_give_back(void)
{
	static const char *const ours[] = { RN_ENV_ALL, NULL };
	static bool done;

	if (done) /* the environment may have been changed by the program since */
		return;
	done = true;
	if (preload[0])
		setenv("LD_PRELOAD", preload, 1);
	else
		unsetenv("LD_PRELOAD");
	give_back_list();
	for (int i = 0; ours[i]; i++)
		unsetenv(ours[i]);
}

void rn_config_number(const char *word, int number)
{
	char *pattern = rn_config.pattern, ending[64];
	size_t n = strlen(pattern);

	if (n > 6 && strcmp(pattern + n - 6, ".rondo") == 0)
		n -= 6;
	snprintf(ending, sizeof(ending), ".%s-%d.rondo", word, number);
	if (n + strlen(ending) < sizeof(rn_config.pattern))
		memcpy(pattern + n, ending, strlen(ending) + 1);
	rn_config_name(1);
}

bool rn_config_wants_function(uint32_t number)
{
	static _Atomic signed char known[1024]; /* 1: recorded, -1: not, 0: unknown */

	if (!known[number])
		known[number] =
			rn_call_list_selects(rn_config.call, rn_mpi_protos[number].name) ? 1 : -1;
	return known[number] > 0;
}

bool rn_config_wants_rank(int rank)
{
	const char *p = rn_config.rank;
	int from, to, n;

	if (!*p)
		return true;
	while (sscanf(p, "%d%n", &from, &n) == 1) {
		to = from;
		p += n;
		if (*p == '-' && sscanf(p + 1, "%d%n", &to, &n) == 1)
			p += n + 1;
		if (rank >= from && rank <= to)
			return true;
		p += *p == ',';
	}
	return false;
}
