/* again.c - see again.h. */
#include "cmd/again.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/notes.h"
#include "base/which_mpi.h"
#include "base/words.h"
#include "cmd/target.h"
#include "file/metadata.h"
#include "read/trace.h"

#define SHOWN 300 /* bytes of a text that are told */

/* Texts of the trace may be anything. */
static const char *shown(char text[SHOWN + 1], const char *recorded)
{
	snprintf(text, SHOWN + 1, "%s", recorded);
	rn_words_clean(text);
	return text;
}

/* By the name that the process will have found itself by. */
static void compare_name(const char *recorded, const struct target *t, struct rn_buf *notes)
{
	char path[PATH_MAX], text[SHOWN + 1];
	const char *now = rn_base_name(realpath(t->path, path) ? path : t->path);

	if (strcmp(recorded, now) != 0)
		rn_note(notes, "the program is %s, but what is replayed was recorded of %s", now,
			shown(text, recorded));
}

/* Up to the next program of the launcher's. */
static void compare_arguments(const char *recorded, char *const *word, struct rn_buf *notes)
{
	struct rn_words now = { 0 };
	char text[SHOWN + 1];

	for (; *word && strcmp(*word, ":") != 0; word++)
		rn_words_add(&now, *word);
	if (strcmp(rn_words_text(&now), recorded ? recorded : "") != 0)
		rn_note(notes, "the program's arguments are: %.*s; when it was recorded: %s", SHOWN,
			now.len ? now.text : "none", shown(text, recorded ? recorded : "none"));
}

static void compare(const struct rn_meta *m, const struct target *t, char *const *arguments,
		    struct rn_buf *notes)
{
	compare_name(rn_meta_value(m, RN_META_PROGRAM), t, notes);
	if (rn_meta_value(m, RN_META_LIBRARY))
		compare_arguments(rn_meta_value(m, RN_META_ARGUMENTS), arguments, notes);
}

/* A word that could be run, if it uses MPI. */
static bool compare_word(const struct rn_meta *m, char *const *word, bool *runs,
			 struct rn_buf *notes)
{
	struct target t;
	bool found;

	*runs = **word != '-' && target_open(&t, *word, NULL) == RN_OK;
	if (!*runs)
		return false;
	found = elf_mpi(&t.elf) != RN_MPI_NONE;
	if (found)
		compare(m, &t, word + 1, notes);
	target_free(&t);
	return found;
}

bool again_compare(const struct rn_trace *trace, const struct target *t, char *const *command,
		   struct rn_buf *notes)
{
	const struct rn_meta *m = &trace->meta;
	bool runs = false, found = false;

	if (!rn_meta_value(m, RN_META_PROGRAM) || rn_is_rank(environ))
		return false;
	if (elf_mpi(&t->elf) != RN_MPI_NONE) {
		compare(m, t, command + 1, notes);
		return true;
	}
	if (!target_is_launcher(t))
		return false;
	for (char *const *word = command + 1; *word && !runs; word++)
		found = compare_word(m, word, &runs, notes);
	return found;
}
