/* script_name.c - see script_name.h. */
#include "base/script_name.h"

#include <stdio.h>
#include <string.h>

#include "base/mpi_detect.h"

/* The command line of an interpreter. One-letter options can be combined ("-um"). */
struct interpreter {
	const char *const *names;
	const char *values;   /* options with a value, in the same argument or the next */
	const char *attached; /* options whose optional value is in the same argument */
	const char *code;     /* options whose value is the program */
	const char *modules;  /* options whose value is the name of a module to run */
	const char *file;     /* long option whose value is the script; NULL: no such option */
	const char *const *extension; /* file name extensions of scripts; not part of the name */
	const char *const *runners;   /* modules that run the script or module that follows */
};

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const struct interpreter interpreters[] = {
	{ LIST("python", "pypy"), "WX", "", "c", "m", NULL, LIST(".py", ".pyc", ".pyz"),
	  LIST("mpi4py", "mpi4py.run", "mpi4py.futures", "cProfile", "profile", "pdb", "runpy") },
	{ LIST("perl"), "I", "0CDFMVilmx", "eE", "", NULL, LIST(".pl"), LIST(NULL) },
	{ LIST("ruby"), "CEIr", "0FKWTix", "e", "", NULL, LIST(".rb"), LIST(NULL) },
	{ LIST("julia"), "CHJLpt", "Og", "eE", "", NULL, LIST(".jl"), LIST(NULL) },
	{ LIST("Rscript", "R"), "g", "", "e", "", "--file=", LIST(".R", ".r"), LIST(NULL) },
	{ LIST("octave"), "p", "", "", "", NULL, LIST(".m"), LIST(NULL) },
	{ LIST("lua", "luajit"), "el", "Oj", "", "", NULL, LIST(".lua"), LIST(NULL) },
};

/* Whether the text after the name of an interpreter is a version: "3.11", "-cli-7.3.0", "3.11-dbg".
 * The program R-tree is not R. */
static bool is_version(const char *s)
{
	static const char *const builds[] = { "-cli", "-gui", "-dbg", "-c" };

	s += strspn(s, "0123456789.");
	for (size_t i = 0; i < sizeof(builds) / sizeof(*builds); i++)
		if (rn_begins(s, builds[i])) {
			s += strlen(builds[i]);
			break;
		}
	return !s[strspn(s, "0123456789.-")];
}

static const struct interpreter *find_interpreter(const char *executable)
{
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(*interpreters); i++)
		for (const char *const *n = interpreters[i].names; *n; n++)
			if (rn_begins(executable, *n) && is_version(executable + strlen(*n)))
				return &interpreters[i];
	return NULL;
}

/* Returns the argument at *at and advances *at to the next one; NULL at the end. */
static const char *next_arg(const char **at, const char *end)
{
	const char *arg = *at;

	if (arg >= end || !memchr(arg, 0, (size_t)(end - arg)))
		return NULL;
	*at = arg + strlen(arg) + 1;
	return arg;
}

static bool ends_with(const char *s, size_t n, const char *ending)
{
	size_t k = strlen(ending);

	return n > k && memcmp(s + n - k, ending, k) == 0;
}

static bool is_listed(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(s, *list) == 0)
			return true;
	return false;
}

static bool store(const char *s, size_t n, char *name, size_t cap)
{
	if (n == 0 || n >= cap || (n <= 2 && memcmp(s, "..", n) == 0))
		return false;
	snprintf(name, cap, "%.*s", (int)n, s);
	return true;
}

/* Stores the name of a script, which is a file or a directory. */
static bool store_file(const struct interpreter *it, const char *path, char *name, size_t cap)
{
	size_t n = strlen(path);
	const char *base;

	while (n > 1 && path[n - 1] == '/')
		n--;
	base = memrchr(path, '/', n);
	base = base ? base + 1 : path;
	n -= (size_t)(base - path);
	for (const char *const *e = it->extension; *e; e++)
		if (ends_with(base, n, *e))
			return store(base, n - strlen(*e), name, cap);
	return strcmp(path, "-") != 0 && store(base, n, name, cap);
}

/* Stores the name of a module: "module" for package.module, "package" for package.__main__. */
static bool store_module(const char *module, char *name, size_t cap)
{
	size_t n = strlen(module);
	const char *dot;

	if (ends_with(module, n, ".__main__"))
		n -= strlen(".__main__");
	dot = memrchr(module, '.', n);
	dot = dot ? dot + 1 : module;
	return store(dot, n - (size_t)(dot - module), name, cap);
}

enum option { OPTION_ALONE, OPTION_VALUE, OPTION_CODE, OPTION_MODULE };

/* Returns the kind of the option that determines the script, in an argument of one-letter options.
 * *value: the rest of the argument after an option that has a value; empty if the value is the next
 * argument. */
static enum option read_cluster(const struct interpreter *it, const char *letters,
				const char **value)
{
	for (; *letters; letters++) {
		*value = letters + 1;
		if (strchr(it->code, *letters))
			return OPTION_CODE;
		if (strchr(it->modules, *letters))
			return OPTION_MODULE;
		if (strchr(it->values, *letters))
			return OPTION_VALUE;
		if (strchr(it->attached, *letters))
			return OPTION_ALONE;
	}
	return OPTION_ALONE;
}

/* Stores the first argument with the extension of a script, because the options of a module that
 * runs a script precede it. */
static bool store_after_runner(const struct interpreter *it, const char *args, const char *end,
			       char *name, size_t cap)
{
	const char *arg;

	while ((arg = next_arg(&args, end)) && strcmp(arg, "-m") != 0)
		for (const char *const *e = it->extension; *e; e++)
			if (ends_with(arg, strlen(arg), *e))
				return store_file(it, arg, name, cap);
	return false;
}

bool rn_script_name(const char *executable, const char *args, size_t len, char *name, size_t cap)
{
	const struct interpreter *it = find_interpreter(executable);
	const char *end = args + len, *arg, *value;
	enum option option;

	while (it && (arg = next_arg(&args, end))) {
		if (it->file && rn_begins(arg, it->file))
			return store_file(it, arg + strlen(it->file), name, cap);
		if (strcmp(arg, "--") == 0) {
			arg = next_arg(&args, end);
			return arg && store_file(it, arg, name, cap);
		}
		if (arg[0] != '-' || !arg[1])
			return store_file(it, arg, name, cap);
		option = arg[1] == '-' ? OPTION_ALONE : read_cluster(it, arg + 1, &value);
		if (option == OPTION_CODE)
			return false;
		if (option == OPTION_ALONE)
			continue;
		if (!*value)
			value = next_arg(&args, end);
		if (option != OPTION_MODULE)
			continue;
		if (!(value && is_listed(value, it->runners)))
			return value && store_module(value, name, cap);
		if (store_after_runner(it, args, end, name, cap))
			return true;
	}
	return false;
}
