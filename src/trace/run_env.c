/* run_env.c - see run_env.h. */
#include "trace/run_env.h"

#include "base/command_text.h"
#include "base/errno_guard.h"
#include "base/io.h"
#include "identity/comm_table.h"
#include "preload/next_mpi.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE ((size_t)128 << 10) /* bytes of a command line that are read */

static struct rn_words arguments;
static char library[128];
static struct rn_words eager, choices, environment; /* NAME=VALUE each, ascending */
static int node_rank, node_size;                    /* 0: unknown */

/* ---- the command ---- */

/* Reads all arguments except the first, which is the program's name. */
static void read_arguments(void)
{
	char *line = mmap(NULL, LINE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t n;

	if (line == MAP_FAILED)
		return;
	n = rn_io_read_head("/proc/self/cmdline", line, LINE - 1);
	for (size_t at = strlen(line) + 1; at < n; at += strlen(line + at) + 1)
		rn_words_add(&arguments, line + at);
	munmap(line, LINE);
}

/* ---- MPI ---- */

/* Appends to `library` the rest of the line that begins with `begin`, up to one of the characters
 * `ends`. */
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

/* Reads the version line; from MPICH's long text, only the significant lines. */
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

#ifdef OPEN_MPI

/* Exported by libopen-pal of Open MPI 1.7 and later, for Open MPI's own tools. */
typedef int find_fn(const char *project, const char *framework, const char *component,
		    const char *name);
typedef int get_fn(int variable, const void *value, int *source, const char **file);

struct variable {
	const char *framework, *component, *name;
};

static const void *value_of(find_fn *find, get_fn *get, const struct variable *v)
{
	const void *value = NULL;
	int i = find(NULL, v->framework, v->component, v->name);

	return i >= 0 && get(i, &value, NULL, NULL) == 0 ? value : NULL;
}

static void ask_eager(find_fn *find, get_fn *get)
{
	static const char *const transports[] = { "ofi", "openib", "self",  "sm",    "tcp",
						  "uct", "ugni",   "usnic", "vader", "portals4" };

	for (size_t i = 0; i < sizeof(transports) / sizeof(*transports); i++) {
		const struct variable v = { "btl", transports[i], "eager_limit" };
		const size_t *limit = value_of(find, get, &v);
		char item[64];

		if (!limit)
			continue;
		snprintf(item, sizeof(item), "%s=%zu", transports[i], *limit);
		rn_words_add(&eager, item);
	}
}

static void ask_choices(find_fn *find, get_fn *get)
{
	static const char *const frameworks[] = { "btl", "coll", "mtl", "pml" };

	for (size_t i = 0; i < sizeof(frameworks) / sizeof(*frameworks); i++) {
		const struct variable v = { frameworks[i], NULL, NULL };
		const char *const *choice = value_of(find, get, &v);
		char item[256];

		if (!choice || !*choice || !**choice)
			continue;
		snprintf(item, sizeof(item), "%s=%s", frameworks[i], *choice);
		rn_words_add(&choices, item);
	}
}

static void ask_library(void)
{
	find_fn *find = (find_fn *)dlsym(RTLD_DEFAULT, "mca_base_var_find");
	get_fn *get = (get_fn *)dlsym(RTLD_DEFAULT, "mca_base_var_get_value");

	if (!find || !get)
		return;
	ask_eager(find, get);
	ask_choices(find, get);
}

#else

/* All settings of MPICH come from the environment. */
static void ask_library(void)
{
}

#endif

/* ---- the environment ---- */

#define VARIABLES 256u

/* Whether the variable influences how messages are buffered or reductions computed, and is not
 * covered by the queries above. A launcher stores the host name in one of the variables. */
static bool matters(const char *variable)
{
	static const char *const such[] = { "FI_", "MPIR_CVAR_", "OMPI_MCA_coll_", "UCX_" };

	for (size_t i = 0; i < sizeof(such) / sizeof(*such); i++)
		if (strncmp(variable, such[i], strlen(such[i])) == 0)
			return !strstr(variable, "_HOSTNAME=");
	return false;
}

static bool is_limit(const char *variable)
{
	size_t n = strcspn(variable, "=");

	return memmem(variable, n, "EAGER", 5) || memmem(variable, n, "RNDV_THRESH", 11);
}

static void read_environment(void)
{
	const char *found[VARIABLES];
	uint32_t n = 0, at;

	for (char **e = environ; *e && n < VARIABLES; e++) {
		if (!matters(*e))
			continue;
		for (at = n++; at > 0 && strcmp(found[at - 1], *e) > 0; at--)
			found[at] = found[at - 1];
		found[at] = *e;
	}
	for (at = 0; at < n; at++)
		rn_words_add(is_limit(found[at]) ? &eager : &environment, found[at]);
}

/* ---- nodes ---- */

/* Reads the rank on the node from the launcher's variables. */
static void read_node(void)
{
	static const char *const names[][2] = {
		{ "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE" },
		{ "MPI_LOCALRANKID", "MPI_LOCALNRANKS" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *rank = getenv(names[i][0]), *size = getenv(names[i][1]);
		int r = rank ? atoi(rank) : -1, n = size ? atoi(size) : 0;

		if (r >= 0 && r < n && n <= rn_tracer.world_size) {
			node_rank = r;
			node_size = n;
			return;
		}
	}
}

bool rn_setting_place(int *rank, int *size)
{
	*rank = node_rank;
	*size = node_size;
	return node_size > 0;
}

bool rn_setting_node(struct rn_comm_entry *e)
{
	*e = rn_node_entry((uint64_t)rn_tracer.world_rank, (uint64_t)rn_tracer.world_size,
			   (uint32_t)node_rank, (uint32_t)node_size);
	return node_size && node_size < rn_tracer.world_size;
}

void rn_setting_read(bool all)
{
	RN_ERRNO_GUARD;

	read_arguments();
	read_library();
	if (all)
		ask_library();
	read_environment();
	read_node();
}

/* "Open MPI 4.1.4" */
static const char *mpi_version(void)
{
#ifdef OPEN_MPI
#define TEXT(x)       #x
#define DOTS(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)
	return "Open MPI " DOTS(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#else
	return "MPICH " MPICH_VERSION;
#endif
}

const char *rn_setting_value(enum rn_meta_key key)
{
	bool order = rn_config.order, one_node = node_size && node_size == rn_tracer.world_size;
	const char *const value[RN_META_COUNT] = {
		[RN_META_PROGRAM] = rn_config.program,
		[RN_META_MPI] = mpi_version(),
		[RN_META_TIME] = rn_config.time,
		[RN_META_ELASTIC] = rn_config.elastic ? NULL : "no",
		[RN_META_LOSSY] = rn_config.lossy,
		[RN_META_ONLY] = order ? RN_ONLY_ORDER : NULL,
		[RN_META_ORDER_CODEC] = order ? rn_config.order_codec : NULL,
		[RN_META_VALUES] = order ? rn_config_values() : NULL,
		[RN_META_LIBRARY] = library,
		[RN_META_ARGUMENTS] = rn_words_text(&arguments),
		[RN_META_EAGER] = rn_words_text(&eager),
		[RN_META_CHOICES] = rn_words_text(&choices),
		[RN_META_ENVIRONMENT] = rn_words_text(&environment),
		[RN_META_NODES] = one_node ? "1" : NULL,
	};

	return value[key] ? value[key] : "";
}
