#!/bin/sh
# However the program is started, all its ranks are in one trace, which is where it is expected; and
# the program finds its environment as it is without us.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# started WHAT COMMAND...: prog_p2p on two ranks, in whichever way
started() {
	_what=$1
	shift
	new_log
	ok "$mpi: $_what" with_yield t/limit 120 "$@"
	sound_and_as_logged
}

ways() {
	run=mpirun.$mpi prog=$tmp/$mpi/prog_p2p script=$tmp/$mpi/script
	ok "$mpi: prog_p2p compiles" build_prog prog_p2p
	printf '#!/bin/sh\ncd /\nX=1 "$@"\n' >"$script"
	chmod +x "$script"
	new_log
	started "behind the launcher" "$run" -n 2 "$RONDO" trace -o "$trace" "$prog"
	started "a shell" "$RONDO" trace -o "$trace" "$run" -n 2 sh -c 'cd . && "$1"; :' sh "$prog"
	started "env" "$RONDO" trace -o "$trace" "$run" -n 2 env -u HOME A=1 "$prog"
	started "a script" "$RONDO" trace -o "$trace" "$run" -n 2 "$script" "$prog"
	started "a script behind the launcher" "$run" -n 2 "$RONDO" trace -o "$trace" "$script" "$prog"
	started "the launcher in a script" "$RONDO" trace -o "$trace" "$script" "$run" -n 2 "$prog"
	started "two programs" "$RONDO" trace -o "$trace" "$run" -n 1 "$prog" : -n 1 env "$prog"
}

# Two programs without -o: one trace, named after the program of rank 0, lists all programs.
two_programs() {
	two=$tmp/$mpi/two
	with_yield : # creates the files that the following commands share
	mkdir -p "$two"
	echo '#include <mpi.h>
		#include <signal.h>
		int main(int n, char **a)
		{
			MPI_Init(0, 0);
			MPI_Barrier(MPI_COMM_WORLD);
			return n > 1 ? raise(SIGKILL) : (void)a, MPI_Finalize();
		}' >"$tmp/two.c"
	"mpicc.$mpi" -o "$two/first" "$tmp/two.c"
	cp "$two/first" "$two/second one"
	ok "$mpi: two programs are traced" in_folder "$two" with_yield "$root/t/limit" 120 \
		"$RONDO" trace "mpirun.$mpi" -n 1 ./first : -n 2 "./second one"
	is "... to one trace" "$(ls -A "$two")" "first
first.rondo
second one"
	is "... info shows all of them" "$("$RONDO" info "$two/first.rondo" | grep '^program')" "program: first
programs: 0 first
programs: 1-2 second one"
	is "... and so does report" "$("$RONDO" report "$two/first.rondo" | sed -n -e 's/ calls on.*//p' -e '/ ran /p')" \
		"first, second one: 9
rank 0 ran first
ranks 1-2 ran second one"
	ok "... check accepts the trace" "$RONDO" check "$two/first.rondo"
	run in_folder "$two" with_yield "$root/t/limit" 120 \
		"$RONDO" trace "mpirun.$mpi" -n 1 ./first die : -n 2 "./second one" die
	like "... info shows the programs of a killed run" \
		"$("$RONDO" info "$two/first.2.rondo" | tr '\n' ' ')" \
		'programs: 0 first programs: 1-2 second one .*complete: no'
	rm -rf "$two/first.rondo" "$two/first.2.rondo"
	ok "$mpi: one program is traced" \
		in_folder "$two" with_yield "$root/t/limit" 120 "$RONDO" trace "mpirun.$mpi" -n 2 ./first
	unlike "... info shows no list of programs" \
		"$("$RONDO" info "$two/first.rondo")" '^programs'
}

# No launcher: a world of one.
alone() {
	prog=$tmp/$mpi/prog_filter trace=$tmp/$mpi/alone.rondo
	ok "$mpi: prog_filter compiles" build_prog prog_filter
	echo '#include <mpi.h>
		#include <signal.h>
		int main(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_SELF); return raise(SIGKILL); }' >"$tmp/dies.c"
	"mpicc.$mpi" -o "$tmp/$mpi/dies" "$tmp/dies.c"
	ok "... and runs without a launcher" "$RONDO" trace -o "$trace" "$prog"
	like "... the summary uses singular forms" \
		"$(cat "$tmp/err")" '^rondo: [0-9]+ calls on 1 rank in '
	ok "... traced" "$RONDO" check "$trace"
	like "... check uses singular forms" "$(cat "$tmp/out")" ': ok, 1 rank, 1 group, '
	like "... report uses singular forms" "$("$RONDO" report "$trace")" ' calls on 1 rank(,|$)'
	like "... as one rank" "$("$RONDO" info "$trace")" '^ranks: 1$'
	ok "... --only=order succeeds" "$RONDO" trace --only=order -o "$trace" "$prog"
	unlike "... its summary uses singular forms" "$(cat "$tmp/err")" '[^0-9]1 [a-z]+s[ ,)]'
	ok "... a rank is killed" \
		sh -c '"$1" trace -o "$2" "$3" 9 >&2; :' sh "$RONDO" "$trace" "$tmp/$mpi/dies"
	like "... the message uses singular forms" "$(cat "$tmp/err")" ': 1 of 1 rank, '
}

# A program that has no MPI until it runs: a library that python loads, like mpi4py's.
python() {
	if ! command -v python3 >/dev/null; then
		skip "$mpi: python" "python3 is not installed"
		return
	fi
	trace=$tmp/$mpi/python.rondo module=$tmp/$mpi/module.so
	cat >"$tmp/module.c" <<'END'
#include <mpi.h>
#include <stddef.h>
int work(void);
int work(void)
{
	int sum = 0, one = 1;
	MPI_Init(NULL, NULL);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return MPI_Finalize() ? -1 : sum;
}
END
	ok "$mpi: a module for python compiles" "mpicc.$mpi" -shared -fPIC -o "$module" "$tmp/module.c"
	# In one write: an unbuffered print() makes two, and ranks write at the same time.
	set -- python3 -c 'import ctypes, sys; sys.stdout.write("%d\n" % ctypes.CDLL(sys.argv[1]).work())' "$module"
	for _where in "in front of" behind; do
		rm -f "$trace"
		case $_where in
		behind) ok "... rondo behind the launcher" run_mpi 2 "$RONDO" trace -o "$trace" "$@" ;;
		*) ok "... rondo in front of it" trace_mpi "$trace" 2 "$@" ;;
		esac
		is "... the program's output" "$(cat "$tmp/out")" "2
2"
		is "... all calls" "$("$RONDO" dump "$trace" | sed 's/(.*//' | tr '\n' ' ')" \
			"0 0 MPI_Init 0 1 MPI_Allreduce 0 2 MPI_Finalize 1 0 MPI_Init 1 1 MPI_Allreduce 1 2 MPI_Finalize "
	done
	if python3 -c 'import mpi4py' 2>/dev/null && mpi4py_is_for_this; then
		ok "$mpi: mpi4py" trace_mpi "$trace" 2 python3 -c 'from mpi4py import MPI; MPI.COMM_WORLD.Barrier()'
		like "... its calls" "$("$RONDO" dump --rank 1 "$trace")" 'MPI_Barrier\(comm=MPI_COMM_WORLD\)'
	else
		skip "$mpi: mpi4py" "it is not installed for this MPI"
	fi
}

# named_after WHAT NAME COMMAND...: without -o, COMMAND writes only the trace NAME.rondo
named_after() {
	_what=$1 _script=$2 _here=$tmp/$mpi/named
	shift 2
	mkdir -p "$_here"
	ok "$mpi: $_what" in_folder "$_here" with_yield "$root/t/limit" 120 "$@"
	is "... the trace is $_script.rondo" "$(ls -A "$_here")" "$_script.rondo"
	like "... its program is the interpreter" \
		"$("$RONDO" info "$_here/$_script.rondo")" '^program: python'
	rm -rf "$_here"
}

in_folder() {
	(cd "$1" && shift && "$@")
}

# The trace of a script is named after the script, not after its interpreter.
scripts() {
	if ! command -v python3 >/dev/null; then
		skip "$mpi: names of scripts" "python3 is not installed"
		return
	fi
	module=$tmp/$mpi/module.so scripts=$tmp/$mpi/scripts run=mpirun.$mpi
	mkdir -p "$scripts/package"
	echo "import ctypes; ctypes.CDLL('$module').work()" >"$scripts/solver.py"
	cp "$scripts/solver.py" "$scripts/package/step.py"
	{ echo '#!/usr/bin/env python3' && cat "$scripts/solver.py"; } >"$scripts/solve"
	chmod +x "$scripts/solve"
	_all=$(python3 -c 'import os, sys; print(os.path.basename(os.path.realpath(sys.executable)))')
	named_after "a script" solver "$RONDO" trace "$run" -n 2 python3 -u "$scripts/solver.py"
	named_after "a script after the launcher" solver \
		"$run" -n 2 "$RONDO" trace python3 "$scripts/solver.py"
	named_after "a module" step env PYTHONPATH="$scripts" "$RONDO" trace "$run" -n 1 python3 -m package.step
	named_after "a script that is executed" solve "$RONDO" trace "$run" -n 1 "$scripts/solve"
	named_after "code on the command line" "$_all" "$RONDO" trace "$run" -n 1 \
		python3 -c "$(cat "$scripts/solver.py")"
	named_after "a script that is killed" killed sh -c '
		echo "import ctypes, os; ctypes.CDLL(\"$3\").MPI_Init(None, None); os.kill(os.getpid(), 9)" >"$1/killed.py"
		"$2" trace "$4" -n 1 python3 "$1/killed.py" >/dev/null 2>&1; :' \
		sh "$scripts" "$RONDO" "$module" "$run"
}

mpi4py_is_for_this() {
	_lib=$(python3 -c 'from mpi4py import MPI; print(MPI.__file__)' 2>/dev/null) &&
		case $mpi in
		openmpi) ldd "$_lib" | grep -q 'libmpi\.so' ;;
		mpich) ldd "$_lib" | grep -q 'libmpich\.so' ;;
		esac
}

# names_of TRACE: the calls of rank 0
names_of() {
	"$RONDO" dump --rank 0 "$1" | sed -e 's/(.*//' -e 's/.* //' | tr '\n' ' '
}

# A program that is no MPI program until it asks for MPI's functions, where nobody else sees them.
late() {
	late=$tmp/$mpi/late trace=$tmp/$mpi/late.rondo
	case $mpi in
	openmpi) _library=libmpi.so.40 _word=ompi ;;
	mpich) _library=libmpich.so.12 _word=mpich ;;
	esac
	cat >"$tmp/late.c" <<'END'
#include <dlfcn.h>
#include <stddef.h>
int main(int argc, char **argv)
{
	void *mpi = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*init)(void *, void *) = mpi ? (int (*)(void *, void *))dlsym(mpi, "MPI_Init") : NULL;
	int (*finalize)(void) = mpi ? (int (*)(void))dlsym(mpi, "PMPI_Finalize") : NULL;
	return !init || !finalize || dlsym(mpi, "MPI_Nonsense") || init(NULL, NULL) || finalize();
}
END
	ok "$mpi: a program that loads MPI compiles" cc -o "$late" "$tmp/late.c" -ldl
	status "... and is not traced if nothing is said" 70 "$RONDO" trace -o "$trace" \
		"mpirun.$mpi" -n 2 "$late" "$_library"
	like "... is reported as not traced" \
		"$(cat "$tmp/err")" "not traced: $late loaded .* while it ran; try --mpi=$_word\$"
	for _how in front behind alone; do
		rm -f "$trace"
		set -- "$RONDO" trace -o "$trace" "--mpi=$_word"
		case $_how in
		front) set -- "$@" "mpirun.$mpi" -n 2 "$late" ;;
		behind) set -- "mpirun.$mpi" -n 2 "$@" "$late" ;;
		alone) set -- "$@" "$late" ;;
		esac
		ok "... but is with --mpi, $_how" t/limit 120 "$@" "$_library"
		is "... all calls" "$(names_of "$trace")" "MPI_Init MPI_Finalize "
	done
	rm -f "$trace"
	status "... before a traced program that is killed" 70 t/limit 120 "$RONDO" trace -o "$trace" \
		sh -c '"$1" "$2"; "$3" -n 2 "$4"; :' sh "$late" "$_library" "mpirun.$mpi" "$tmp/$mpi/dies"
	like "... is reported" "$(cat "$tmp/err")" "not traced: $late loaded .* while it ran; try --mpi=$_word\$"
	like "... the trace of the killed program is recovered" "$("$RONDO" info "$trace")" '^complete: no$'
	ok "... and no parts are left" test ! -e "$trace.part"
}

# The launcher of one MPI, the program of the other: worlds of one, none of which writes over
# another's trace. And an interpreter
# that starts a program of the other MPI, or loads a library.
other_mpi() {
	case $mpi in
	openmpi) other=mpich ;;
	mpich) other=openmpi ;;
	esac
	prog=$tmp/$mpi/plain here=$tmp/$mpi/other
	mkdir "$here"
	printf '#include <mpi.h>\nint main(void)\n{\n\treturn MPI_Init(0, 0) || MPI_Finalize();\n}\n' \
		>"$tmp/plain.c"
	ok "$mpi: a plain program compiles" "mpicc.$mpi" -o "$prog" "$tmp/plain.c"
	if [ -n "$(mpi_missing $other)" ]; then
		skip "$mpi: by the launcher of the other MPI" "it is not here"
		return
	fi
	ok "$mpi: by the launcher of the other MPI" \
		"$RONDO" trace -o "$here/x.rondo" "mpirun.$other" -n 2 "$prog"
	like "... which is said" "$(cat "$tmp/err")" 'each of 2 processes is a world of its own'
	is "... each has a trace" "$(ls -A "$here" | tr '\n' ' ')" "x.rank-1.rondo x.rondo "
	if ! command -v python3 >/dev/null; then
		skip "$mpi: in python" "python3 is not installed"
		return
	fi
	ok "... started by python" "$RONDO" trace -o "$here/y.rondo" "mpirun.$other" -n 1 \
		python3 -c 'import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))' "$prog"
	is "... all calls" "$(names_of "$here/y.rondo")" "MPI_Init MPI_Finalize "
	run "$RONDO" trace -o "$here/z.rondo" "mpirun.$other" -n 1 \
		python3 -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).work())' "$tmp/$mpi/module.so"
	is "... loaded by python" $? 70
	like "... which is said" "$(cat "$tmp/err")" \
		'not traced: python[0-9.]* uses .*, but was given the tracer for .*; try --mpi='
}

# A job that a rank starts is not part of its world, and leaves its trace alone. (Open MPI refuses.)
nested() {
	if [ "$mpi" = openmpi ] || ! command -v python3 >/dev/null; then
		skip "$mpi: a job in a rank" "it does not do that, or there is no python3"
		return
	fi
	here=$tmp/$mpi/nested
	mkdir "$here"
	ok "$mpi: a job in a rank" trace_mpi "$here/x.rondo" 1 python3 -c '
import ctypes, subprocess, sys
job = subprocess.call(sys.argv[2:])
work = ctypes.CDLL(sys.argv[1]).work() == 1
sys.exit(job or not work)' "$tmp/$mpi/module.so" "mpirun.$mpi" -n 3 "$prog"
	is "... one trace" "$(ls -A "$here")" x.rondo
	is "... which is the rank's" "$(names_of "$here/x.rondo")" "MPI_Init MPI_Allreduce MPI_Finalize "
}

# The default name is PROGRAM.rondo, in the directory where rondo was started. An older trace is replaced.
names() {
	here=$tmp/$mpi/here
	prog=$tmp/$mpi/prog_filter
	mkdir "$here"
	ok "$mpi: no name given" in_here with_yield "$RONDO" trace --time=none "$run" -n 2 "$script" "$prog"
	is "... the program's is taken" "$(ls -A "$here")" prog_filter.rondo
	ok "... and once more, behind the launcher" in_here with_yield "$run" -n 3 "$RONDO" trace "$prog"
	is "... there is one trace" "$(ls -A "$here")" prog_filter.rondo
	like "... it is the trace of the later run" "$("$RONDO" info "$here/prog_filter.rondo")" '^ranks: 3$'
}

in_here() {
	(cd "$here" && "$@")
}

# environment COMMAND...: names and values, but not those values of MPI that differ from run to run
environment() {
	with_yield t/limit 120 "$@" 2>/dev/null | sed -E -e '/: (_|PWD|OLDPWD|SHLVL)=/d' \
		-e 's/: ((OMPI|PMIX|PMI|ORTE|HYD)[A-Z]*_[A-Za-z0-9_]*)=.*/: \1/' | sort
}

# changes COMMAND...: what is not as in $tmp/env
changes() {
	environment "$@" | comm -3 "$tmp/env" -
}

same_environment() {
	show=$tmp/$mpi/show_env
	ok "$mpi: show_env compiles" "mpicc.$mpi" $prog_flags -o "$show" t/prog/show_env.c
	environment "mpirun.$mpi" -n 1 "$show" x >"$tmp/env"
	is "... and shows something" "$(grep -c ': PATH=' "$tmp/env")" 3
	is "... the same in front of the launcher" \
		"$(changes "$RONDO" trace -o "$trace" "mpirun.$mpi" -n 1 "$show" x)" ""
	is "... and behind it" \
		"$(changes "mpirun.$mpi" -n 1 "$RONDO" trace -o "$trace" "$show" x)" ""
}

launch() {
	ways
	two_programs
	alone
	python
	scripts
	late
	other_mpi
	nested
	names
	same_environment
}

each_mpi launch

finish
