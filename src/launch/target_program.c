/* target_program.c - see target_program.h. */
#include "launch/target_program.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/notes.h"
#include "base/tracer_env.h"
#include "launch/spawn.h"

int target_open(struct target *t, const char *name, struct rn_err *err)
{
	int rc;

	*t = (struct target){ .name = name };
	if (!find_program(name, t->path)) {
		if (errno == ENOENT && !strchr(name, '/'))
			return rn_err_set(err, RN_E_ARG, "there is no program %s in PATH", name);
		return rn_err_sys(err, "%s cannot be run", name);
	}
	t->runs = t->path;
	rc = elf_read(t->path, &t->elf, err);
	if (t->elf.kind == ELF_SCRIPT)
		t->runs = t->elf.loader;
	return rc;
}

void target_free(struct target *t)
{
	elf_free(&t->elf);
}

bool target_is_launcher(const struct target *t)
{
	return rn_is_launcher(t->path) || rn_is_launcher(t->name);
}

bool target_is_rank(const struct target *t)
{
	return rn_is_rank(environ) && !target_is_launcher(t);
}

bool target_is_openmpi_launcher(const struct target *t)
{
	return target_is_launcher(t) &&
	       (elf_needs(&t->elf, "libopen-rte.so") || elf_needs(&t->elf, "libopen-pal.so") ||
		elf_needs(&t->elf, "libprrte.so"));
}

/* Whether the program has more rights than its user. The dynamic loader ignores LD_PRELOAD for such
 * programs. */
static bool has_rights(const struct target *t)
{
	struct stat st;

	if (t->elf.kind == ELF_SCRIPT || stat(t->path, &st) < 0)
		return false;
	return ((st.st_mode & S_ISUID) && st.st_uid != getuid()) ||
	       ((st.st_mode & S_ISGID) && st.st_gid != getgid()) ||
	       (getuid() != 0 && getxattr(t->path, "security.capability", NULL, 0) > 0);
}

const char *target_obstacle(const struct target *t)
{
	if (t->elf.kind == ELF_FOREIGN)
		return "is for another kind of machine";
	if (has_rights(t))
		return "has more rights than its user (setuid, setgid or capabilities); a "
		       "preloaded library cannot reach it";
	if (t->elf.kind == ELF_STATIC)
		return "is statically linked; a preloaded library cannot reach it";
	return NULL;
}

enum rn_mpi forced_mpi(void)
{
	return rn_mpi_of_word(getenv(RN_ENV_MPI));
}

#define refuse(notes, ...) (rn_note((notes), __VA_ARGS__), RN_E_ARG)

/* Checks a program that links this MPI. */
static int check_linked(const struct target *t, enum rn_mpi linked, struct rn_buf *notes)
{
	enum rn_mpi forced = forced_mpi();
	char path[PATH_MAX];

	if (forced != RN_MPI_NONE && forced != linked)
		return refuse(notes, "%s uses %s, but --mpi=%s was given", t->name,
			      rn_mpi_names[linked].name, rn_mpi_names[forced].word);
	if (find_library(rn_mpi_names[linked].tracer, path))
		return RN_OK;
	return refuse(notes, "%s uses %s, but this Rondo was built without it (there is no %s)",
		      t->name, rn_mpi_names[linked].name, rn_mpi_names[linked].tracer);
}

/* Checks the first argument of a launcher that is a program with MPI. The launcher may
 * start another program. */
static int check_line(char *const *command, struct rn_buf *notes)
{
	enum rn_mpi linked = RN_MPI_NONE;
	int rc = RN_OK;

	for (char *const *word = command + 1; *word && linked == RN_MPI_NONE; word++) {
		struct target t;

		if (**word == '-' || target_open(&t, *word, NULL) < 0)
			continue;
		linked = elf_mpi(&t.elf);
		if (linked != RN_MPI_NONE)
			rc = check_linked(&t, linked, notes);
		target_free(&t);
	}
	return rc;
}

/* Notes that the program does not use MPI. Only rank 0 prints a note. An error is printed by each
 * rank, because the launcher may end the other ranks when one of them returns an error. */
static int note_no_mpi(const struct target *t, bool replayed, struct rn_buf *notes)
{
	struct rn_buf needs = { 0 };
	int rc = replayed ? RN_E_ARG : RN_OK;

	if (!replayed && rn_rank_of(environ, 0) != 0)
		return rc;
	for (const char *n = elf_library(&t->elf, NULL); n; n = elf_library(&t->elf, n)) {
		rn_buf_add(&needs, ", ", needs.len ? 2 : 0);
		rn_buf_add(&needs, n, strlen(n));
	}
	rn_buf_byte(&needs, 0);
	rn_note(notes,
		"%s%s does not use MPI (needs: %s); if it loads MPI while it runs, name that with "
		"--mpi=",
		replayed ? "nothing is replayed: " : "", t->name,
		rn_buf_status(&needs) == RN_OK ? (char *)needs.data : "?");
	rn_buf_free(&needs);
	return rc;
}

/* The MPI that an interpreter will load is assumed to be that of the launcher, or the only one with
 * a tracer. */
static int check_interpreter(const struct target *t, struct rn_buf *notes)
{
	char path[PATH_MAX];
	bool ompi = find_library(rn_mpi_names[RN_MPI_OMPI].tracer, path),
	     mpich = find_library(rn_mpi_names[RN_MPI_MPICH].tracer, path);

	if (rn_mpi_of_rank(environ) != RN_MPI_NONE || ompi != mpich)
		return RN_OK;
	return refuse(notes, "which MPI will %s use? Say --mpi=ompi or --mpi=mpich", t->name);
}

/* Additional checks of a program that will be a rank. If the program does not use MPI and is not a
 * known runner of other programs, rank 0 prints a note. In a replay, this is an error. */
static int check_rank(const struct target *t, bool replayed, struct rn_buf *notes)
{
	bool interpreter = rn_is_interpreter(t->runs),
	     alone = t->elf.kind == ELF_DYNAMIC && !interpreter && !rn_is_runner(t->runs);
	enum rn_mpi mpi = RN_MPI_NONE;

	if (alone && !elf_mpi_deep(t->path, &t->elf, &mpi))
		return RN_OK; /* the loader will report the missing library */
	if (mpi != RN_MPI_NONE)
		return check_linked(t, mpi, notes);
	if (forced_mpi() != RN_MPI_NONE || !(interpreter || alone))
		return RN_OK;
	return interpreter ? check_interpreter(t, notes) : note_no_mpi(t, replayed, notes);
}

static int check(const struct target *t, char *const *command, bool replayed, struct rn_buf *notes)
{
	bool runs_others = target_is_launcher(t) || rn_is_runner(t->runs);
	const char *why = target_obstacle(t);

	/* Programs that a static shell starts inherit LD_PRELOAD and load the stub. */
	if (why && !(runs_others && t->elf.kind == ELF_STATIC))
		return refuse(notes, "%s %s", t->name, why);
	if (elf_mpi(&t->elf) != RN_MPI_NONE)
		return check_linked(t, elf_mpi(&t->elf), notes);
	if (target_is_rank(t))
		return check_rank(t, replayed, notes);
	return target_is_launcher(t) ? check_line(command, notes) : RN_OK;
}

int target_open_checked(struct target *t, char *const *command, bool replayed, struct rn_buf *notes)
{
	struct rn_err err = { 0 };
	int rc = target_open(t, *command, &err);

	if (rc < 0)
		return refuse(notes, "%s", err.text);
	rc = check(t, command, replayed, notes);
	if (rc < 0)
		target_free(t);
	return rc;
}
