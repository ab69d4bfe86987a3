/* test_script_name.c - the names of scripts, from command lines of interpreters. */
#include "tap.h"

#include <string.h>

#include "base/script_name.h"

/* `line`: arguments, separated by spaces. */
static void names(const char *executable, const char *line, const char *want)
{
	char args[256], name[32] = "none";
	size_t n = strlen(line);

	memcpy(args, line, n + 1);
	for (size_t i = 0; i < n; i++)
		args[i] = (char)(args[i] == ' ' ? '\0' : args[i]);
	CHECK(rn_script_name(executable, args, n ? n + 1 : 0, name, sizeof(name)) ==
	      (want != NULL));
	if (!CHECK(strcmp(name, want ? want : "none") == 0))
		diag("%s %s: %s", executable, line, name);
}

static void test_python(void)
{
	names("python3.11", "solver.py", "solver");
	names("python3", "/opt/x/my.solver.py 4 --fast", "my.solver");
	names("python3.11", "-u -m mpi4py solver.py", "solver");
	names("python3.11", "-um mpi4py.futures solver.py", "solver");
	names("python3.11", "-mmpi4py -m package.module", "module");
	names("python3", "-W ignore -Xdev -X importtime solver.py", "solver");
	names("python3", "-m package.module x.py", "module");
	names("python3", "-m package.__main__", "package");
	names("pypy3", "./directory/", "directory");
	names("python3", "-- -x.py", "-x");
	names("python3", "script", "script");
	names("python3", "-m cProfile -o prof.out -s cumtime solver.py", "solver");
	names("python3", "-m mpi4py -rc threads=0 solver.py", "solver");
	names("python3", "-m mpi4py -m package.module data.py", "module");
	names("python3.11-dbg", "solver.py", "solver");
}

static void test_none(void)
{
	names("python3", "-c pass solver.py", NULL);
	names("python3", "-uc pass", NULL);
	names("python3", "", NULL);
	names("python3", "-", NULL);
	names("python3", "-m", NULL);
	names("python3", "-W", NULL);
	names("python3", "..", NULL);
	names("python3", "/", NULL);
	names("python3", "a-name-that-is-longer-than-the-buffer.py", NULL);
	names("solver", "solver.py", NULL);
	names("pythonic", "solver.py", NULL);
	names("lua_bench", "input.dat", NULL);
	names("R-tree", "100", NULL);
	names("julia_set", "set.jl", NULL);
}

static void test_others(void)
{
	names("perl", "-w -Ilib -I lib -i.bak run.pl", "run");
	names("perl", "-we print", NULL);
	names("perl5.36.0", "-l run.pl", "run");
	names("ruby3.1", "-r mpi run.rb", "run");
	names("julia", "--project=. -t 4 heat.jl", "heat");
	names("julia", "-e 1 heat.jl", NULL);
	names("R", "--no-echo --no-restore --file=model.R --args 3", "model");
	names("Rscript", "--vanilla model.r", "model");
	names("octave-cli-7.3.0", "wave.m", "wave");
	names("lua5.4", "-l mpi -e x=1 wave.lua", "wave");
}

/* Truncated arguments are not terminated by a zero byte. */
static void test_cut_off(void)
{
	char name[32] = "none";

	CHECK(!rn_script_name("python3", "solver.py", 4, name, sizeof(name)));
	CHECK(strcmp(name, "none") == 0);
}

int main(void)
{
	test_python();
	ok("the name of a Python script or module is found");
	test_none();
	ok("a command line without a script has no name");
	test_others();
	ok("the names of scripts of other interpreters are found");
	test_cut_off();
	ok("a truncated command line is not read beyond its end");
	return tap_done();
}
