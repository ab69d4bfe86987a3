/*
 * mpi_detect.h - identifies the MPI implementation, the launcher and the rank of a process from
 * names: of the libraries that it links, of the variables that its launcher set, and of its
 * executable.
 *
 * The rondo program and the stub that it preloads use the same tables. No allocation and no MPI,
 * only string comparisons: safe before a program's main.
 */
#ifndef RN_BASE_MPI_DETECT_H
#define RN_BASE_MPI_DETECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum rn_mpi { RN_MPI_NONE, RN_MPI_OMPI, RN_MPI_MPICH };

#define RN_STUB_LIBRARY "librondo-stub.so"

/* By implementation: its name in messages, its value of --mpi and RONDO_MPI, and its tracer. */
static const struct {
	const char *name, *word, *tracer;
} rn_mpi_names[] = {
	[RN_MPI_NONE] = { "no MPI", "auto", "" },
	[RN_MPI_OMPI] = { "Open MPI", "ompi", "librondo-ompi.so" },
	[RN_MPI_MPICH] = { "MPICH", "mpich", "librondo-mpich.so" },
};

static inline const char *rn_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static inline bool rn_begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* Returns the implementation for a value of --mpi or RONDO_MPI, which may be NULL. */
static inline enum rn_mpi rn_mpi_of_word(const char *word)
{
	if (word && strcmp(word, "ompi") == 0)
		return RN_MPI_OMPI;
	return word && strcmp(word, "mpich") == 0 ? RN_MPI_MPICH : RN_MPI_NONE;
}

/* Returns the implementation for the name of a library, with or without its directory. MPICH's C
 * library has two names: libmpich.so.12 in Debian, and libmpi.so.12, which derived libraries also
 * use. */
static inline enum rn_mpi rn_mpi_of_library(const char *path)
{
	static const struct {
		const char *begin;
		enum rn_mpi mpi;
	} known[] = {
		{ "libmpi.so.40", RN_MPI_OMPI },      { "libmpi_mpifh.so.", RN_MPI_OMPI },
		{ "libmpi_usempi", RN_MPI_OMPI },     { "libmpi_cxx.so.", RN_MPI_OMPI },
		{ "libmpi.so.12", RN_MPI_MPICH },     { "libmpich.so.", RN_MPI_MPICH },
		{ "libmpichfort.so", RN_MPI_MPICH },  { "libmpichcxx.so", RN_MPI_MPICH },
		{ "libmpifort.so.12", RN_MPI_MPICH }, { "libmpicxx.so.12", RN_MPI_MPICH },
	};
	const char *name = rn_base_name(path);

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (rn_begins(name, known[i].begin))
			return known[i].mpi;
	return RN_MPI_NONE;
}

/* getenv(3) for callers that run before the C library is initialized. */
static inline const char *rn_env_get(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Returns the implementation according to the variables that a launcher sets for its ranks.
 * PMIX_RANK is not sufficient: Open MPI sets it, but Slurm also does for both implementations. */
static inline enum rn_mpi rn_mpi_of_rank(char *const *env)
{
	if (rn_env_get(env, "OMPI_COMM_WORLD_RANK"))
		return RN_MPI_OMPI;
	if (rn_env_get(env, "PMI_RANK") || rn_env_get(env, "PMI_SIZE"))
		return RN_MPI_MPICH;
	return RN_MPI_NONE;
}

/* Whether the process is a rank. Slurm also numbers the processes of a batch script, but only those
 * of a step are ranks. */
static inline bool rn_is_rank(char *const *env)
{
	return rn_mpi_of_rank(env) != RN_MPI_NONE || rn_env_get(env, "PMIX_RANK") ||
	       (rn_env_get(env, "SLURM_PROCID") && rn_env_get(env, "SLURM_STEP_ID"));
}

/* Returns the value of the first variable that is set, of a list that ends with NULL; `otherwise`
 * if none is set. */
static inline int rn_env_number(char *const *env, const char *const *names, int otherwise)
{
	for (; *names; names++) {
		const char *value = rn_env_get(env, *names);

		if (value && *value)
			return atoi(value);
	}
	return otherwise;
}

/* Return the rank and the number of ranks from the launcher's variables: before MPI_Init, or
 * without it. */
static inline int rn_rank_of(char *const *env, int otherwise)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
					     "SLURM_PROCID", NULL };

	return rn_is_rank(env) ? rn_env_number(env, names, otherwise) : otherwise;
}

static inline int rn_size_of(char *const *env, int otherwise)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
					     "SLURM_STEP_NUM_TASKS", NULL };

	return rn_env_number(env, names, otherwise);
}

/* Whether a name is in the list, or is a name of the list with a suffix, such as python3.11,
 * mpirun.openmpi or hydra_pmi_proxy. */
static inline bool rn_is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++) {
		size_t n = strlen(*names);

		if (strncmp(name, *names, n) == 0 &&
		    strchr("-._0123456789", name[n])) /* also matches the terminator */
			return true;
	}
	return false;
}

/* Programs that start ranks, or daemons that start them on other nodes. */
static inline bool rn_is_launcher(const char *path)
{
	static const char *const names[] = { "mpirun", "mpiexec", "orterun", "orted", "prterun",
					     "prted",  "prun",    "prte",    "hydra", "srun",
					     "aprun",  "jsrun",   "ibrun",   NULL };

	return rn_is_one_of(rn_base_name(path), names);
}

/* Programs that may load MPI after they were started. */
static inline bool rn_is_interpreter(const char *path)
{
	static const char *const names[] = { "python",  "pypy", "perl",   "ruby", "julia",  "R",
					     "Rscript", "java", "octave", "lua",  "luajit", NULL };

	return rn_is_one_of(rn_base_name(path), names);
}

/* Programs that use no MPI but run others that may. */
static inline bool rn_is_runner(const char *path)
{
	static const char *const names[] = { "sh",      "bash",     "dash",    "zsh",     "ksh",
					     "mksh",    "csh",      "tcsh",    "fish",    "rbash",
					     "busybox", "env",      "nice",    "ionice",  "nohup",
					     "timeout", "time",     "stdbuf",  "numactl", "taskset",
					     "chrt",    "setsid",   "setarch", "xargs",   "prlimit",
					     "make",    "xterm",    "gdb",     "strace",  "ltrace",
					     "perf",    "valgrind", NULL };

	return rn_is_one_of(rn_base_name(path), names);
}

#endif
