/* setting.c - see setting.h. */
#include "intercept/setting.h"

#include "base/words.h"
#include "intercept/config.h"
#include "intercept/real.h"
#include "intercept/replay.h"
#include "intercept/tracer.h"
#include "track/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE  ((size_t)128 << 10) /* bytes of a command line that are looked at */
#define SHOWN 300                 /* bytes of a text that are told */

static struct {
	const char *key, *value;
} setting[RN_SETTINGS];
static uint32_t known;

static struct rn_words arguments;
static char library[128];

/* ---- the command ---- */

static size_t read_file(const char *path, char *bytes, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 1;

	while (fd >= 0 && n < cap && got > 0) {
		got = read(fd, bytes + n, cap - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	return n;
}

/* All words but the first, which is its name. */
static void read_arguments(void)
{
	char *line = mmap(NULL, LINE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t n;

	if (line == MAP_FAILED)
		return;
	n = read_file("/proc/self/cmdline", line, LINE - 1);
	for (size_t at = strlen(line) + 1; at < n; at += strlen(line + at) + 1)
		rn_words_add(&arguments, line + at);
	munmap(line, LINE);
}

/* ---- MPI ---- */

/* What is at the beginning of a line of the text, up to one of `ends`, behind what is there now. */
static void add_line(const char *text, const char *begin, const char *ends)
{
	const char *at = strstr(text, begin);
	size_t n = strlen(library);

	if (!at)
		return;
	at += strlen(begin);
	at += strspn(at, " \t");
	snprintf(library + n, sizeof(library) - n, "%s%.*s", n ? " " : "", (int)strcspn(at, ends),
		 at);
}

/* Of MPICH's page of text, the lines that matter. */
static void read_library(void)
{
	static char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int n;

	if (rn_real.MPI_Get_library_version(text, &n) != MPI_SUCCESS)
		return;
	library[0] = '\0';
#ifdef OPEN_MPI
	add_line(text, "", ",\n");
#else
	snprintf(library, sizeof(library), "MPICH");
	add_line(text, "MPICH Version:", "\n");
	add_line(text, "MPICH Device:", "\n");
#endif
}

static void add(const char *key, const char *value)
{
	if (!*value)
		return;
	setting[known].key = key;
	setting[known++].value = value;
}

void rn_setting_read(void)
{
	int saved = errno;

	read_arguments();
	read_library();
	add("library", library);
	add("arguments", rn_words_text(&arguments));
	errno = saved;
}

bool rn_setting(uint32_t i, const char **key, const char **value)
{
	if (i >= known)
		return false;
	*key = setting[i].key;
	*value = setting[i].value;
	return true;
}

/* ---- compared ---- */

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
	size_t n = 0;
	const unsigned char *id = rn_mem_program_id(&n);
	const char *recorded;

	snprintf(key, sizeof(key), "build_id.%s", rn_config.program);
	recorded = rn_replay_fact(key);
	if (!recorded || !id || 2 * n >= sizeof(now))
		return;
	for (size_t i = 0; i < n; i++)
		snprintf(now + 2 * i, 3, "%02x", id[i]);
	if (differs(recorded, now))
		rn_say("%s is not the build of it that was recorded", rn_config.program);
}

static void compare_command(void)
{
	const char *program = rn_replay_fact("program"), *with = rn_replay_fact("arguments");

	if (program && differs(program, rn_config.program))
		rn_say("the program is %s, but what is replayed was recorded of %.*s",
		       rn_config.program, SHOWN, program);
	compare_build();
	if (program && rn_replay_fact("library") && differs(with, rn_words_text(&arguments)))
		rn_say("the program's arguments are: %.*s; when it was recorded: %.*s", SHOWN,
		       or_none(rn_words_text(&arguments)), SHOWN, or_none(with));
}

static void compare_library(void)
{
	const char *recorded = rn_replay_fact("library");

	if (recorded && differs(recorded, library))
		rn_say("the MPI library was %.*s, and is %s: messages may be buffered, and "
		       "reductions computed, in other ways",
		       SHOWN, recorded, library);
}

void rn_setting_compare(void)
{
	int saved = errno;

	compare_command();
	compare_library();
	errno = saved;
}
