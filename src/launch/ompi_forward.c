/* ompi_forward.c - see ompi_forward.h. */
#include "launch/ompi_forward.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mpi_detect.h"
#include "base/notes.h"
#include "base/tracer_env.h"

static const char parameter[] = "mca_base_env_list", variable[] = "OMPI_MCA_mca_base_env_list",
		  delimiter[] = "OMPI_MCA_mca_base_env_list_delimiter",
		  users_file[] = "/.openmpi/mca-params.conf";

/* Both buffers are used until the process ends. */
static struct rn_buf list; /* "NAME;NAME;..." */
static struct rn_buf line; /* pointers to the arguments */

static bool is_ours(const char *entry)
{
	return rn_begins(entry, "LD_PRELOAD=") || rn_begins(entry, RN_ENV_PREFIX);
}

/* Reads the value of "mca_base_env_list = VALUE" from a parameter file. The last line counts. */
static void read_file(const char *path, struct rn_buf *value)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t cap = 0;

	while (f && getline(&text, &cap, f) > 0) {
		char *key = text + strspn(text, " \t"), *at = key + strlen(parameter);

		if (!rn_begins(key, parameter) || *(at += strspn(at, " \t")) != '=')
			continue;
		at += 1 + strspn(at + 1, " \t");
		at[strcspn(at, "\r\n")] = 0;
		rn_buf_clear(value);
		rn_putf(value, "%s", at);
	}
	free(text);
	if (f)
		fclose(f);
}

/* Reads the list that the user has set in the environment or in the parameter file, if any. */
static void read_users_list(struct rn_buf *value)
{
	const char *set = getenv(variable), *home = getenv("HOME");
	struct rn_buf path = { 0 };

	if (set) {
		rn_putf(value, "%s", set);
	} else if (home) {
		rn_note(&path, "%s%s", home, users_file);
		if (rn_buf_status(&path) == RN_OK)
			read_file((char *)path.data, value);
		rn_buf_free(&path);
	}
}

/* Makes the list. Variables of Rondo precede those of the user, because Open MPI stops reading at
 * the first variable that is not set. */
static int make_list(const char *users, size_t len)
{
	const char *set = getenv(delimiter);
	char between[2] = { set && *set ? *set : ';', 0 };

	for (char **e = environ; *e; e++)
		if (is_ours(*e))
			rn_putf(&list, "%s%.*s", list.len ? between : "", (int)strcspn(*e, "="),
				*e);
	rn_note(&list, "%s%.*s", len ? between : "", (int)len, users);
	return rn_buf_status(&list);
}

/* Returns the position of VALUE of "--mca mca_base_env_list VALUE" in the command line, or NULL. */
static char **find_parameter(char **command)
{
	for (char **c = command + 1; *c; c++)
		if (strcmp(*c, parameter) == 0 && strstr(c[-1], "mca") && c[1])
			return c + 1;
	return NULL;
}

static bool has_word(char **command, const char *word)
{
	for (; *command; command++)
		if (strcmp(*command, word) == 0)
			return true;
	return false;
}

static void add_word(char *word)
{
	line.failed |= !word;
	rn_buf_add(&line, &word, sizeof(word));
}

/* Appends "-x", NAME for each variable of Rondo. */
static void add_options(void)
{
	for (char **e = environ; *e; e++) {
		if (!is_ours(*e))
			continue;
		add_word("-x");
		add_word(strndup(*e, strcspn(*e, "=")));
	}
}

/* Copies the command with the options added for each program, because an option applies to one
 * program and ":" separates programs. */
static char **copy_with_options(char **command)
{
	char *end = NULL;

	for (char **c = command; *c; c++) {
		add_word(*c);
		if (c == command || strcmp(*c, ":") == 0)
			add_options();
	}
	rn_buf_add(&line, &end, sizeof(end));
	return rn_buf_status(&line) == RN_OK ? RN_BUF_AT(&line, char *, 0) : NULL;
}

char **forward_environment(char **command)
{
	char **value = find_parameter(command);
	struct rn_buf users = { 0 };
	int rc;

	if (value) {
		if (make_list(*value, strlen(*value)) < 0)
			return NULL;
		*value = (char *)list.data;
		return command;
	}
	read_users_list(&users);
	if (users.len == 0 && has_word(command, "-x"))
		return copy_with_options(command);
	rc = make_list(users.len ? (char *)users.data : "", users.len);
	if (rc == RN_OK)
		rc = setenv(variable, (char *)list.data, 1);
	rn_buf_free(&users);
	return rc == RN_OK ? command : NULL;
}
