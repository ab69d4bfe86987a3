# lib-mpi.sh - for tests that trace MPI programs. A test sources it behind lib.sh, and gets
#
#	each_mpi COMMAND...   runs COMMAND for each MPI, with $mpi (openmpi or mpich); where one is
#	                      missing, or there is no tracer for it, a skipped test says so
#	lossless PROG N ARGUMENTS...        t/prog/PROG.c on N ranks: the calls in the trace are
#	                                    exactly those that the program says it made
#	lossless_large PROG N ARGUMENTS...  the same with the large-count forms, where MPI has them
#
# and, to build upon, with $mpi set:
#
#	build_prog PROG FLAGS...            compiles t/prog/PROG.c, with its log, to $tmp/$mpi/PROG
#	run_mpi N PROGRAM...                on N ranks, on as few processors as there are
#	trace_mpi FILE N PROGRAM...         the same under `rondo trace`
#	new_log                             makes $log, for programs to log to, and sets $trace
#	sound_and_as_logged                 two tests: $trace is sound, and has the calls in $log
#	traced_as_logged WHAT N PROGRAM...  all of this for a program that is built
#	has_mpi4                            does it have what came with MPI-4?
#
# shellcheck shell=sh disable=SC2154

# Open MPI wants to be told that it may.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

# Why MPI $1 cannot be tested; nothing when it can.
mpi_missing() {
	for _command in "mpicc.$1" "mpirun.$1"; do
		command -v "$_command" >/dev/null || {
			echo "$_command is not installed"
			return
		}
	done
	case $1 in
	openmpi) _tracer=${RONDO%/*}/librondo-ompi.so ;;
	mpich) _tracer=${RONDO%/*}/librondo-mpich.so ;;
	esac
	if ! [ -e "$_tracer" ]; then
		echo "no ${_tracer##*/} was built"
	elif ldd "$_tracer" | grep -q 'lib[a-z]*san\.'; then
		echo "a sanitizer cannot be preloaded"
	fi
}

each_mpi() {
	for mpi in openmpi mpich; do
		_why=$(mpi_missing $mpi)
		if [ -n "$_why" ]; then
			skip "$mpi: $*" "$_why"
		else
			mkdir -p "$tmp/$mpi"
			"$@"
		fi
	done
}

# Open MPI's sentinels look like arrays without elements to the compiler.
prog_flags="-std=gnu11 -D_GNU_SOURCE -g -Wall -Wextra -Wshadow -Werror -Wno-deprecated-declarations
	-Wno-stringop-overflow -Wno-stringop-overread"

# log_object FLAGS...: $log_o is the log, compiled so
log_object() {
	log_o=$tmp/$mpi/log$(printf '%s' "$*" | tr -c 'A-Za-z0-9' _).o
	[ -e "$log_o" ] || "mpicc.$mpi" $prog_flags "$@" -c -o "$log_o" t/prog/log.c
}

build_prog() {
	_source=$1
	shift
	log_object "$@" && "mpicc.$mpi" $prog_flags "$@" -o "$tmp/$mpi/$_source" \
		"t/prog/$_source.c" "$log_o" -lpthread -lm
}

# MPICH polls; a preload makes it give processors away. with_yield COMMAND...
with_yield() {
	[ "$mpi" = mpich ] || {
		"$@"
		return
	}
	[ -e "$tmp/yield.so" ] ||
		cc -D_GNU_SOURCE -shared -fPIC -o "$tmp/yield.so" t/prog/yield_preload.c || return
	LD_PRELOAD=$tmp/yield.so "$@"
}

run_mpi() {
	_n=$1
	shift
	with_yield "$root/t/limit" 120 "mpirun.$mpi" -n "$_n" "$@"
}

trace_mpi() {
	_file=$1 _n=$2
	shift 2
	with_yield "$root/t/limit" 120 "$RONDO" trace -o "$_file" "mpirun.$mpi" -n "$_n" "$@"
}

# dump_calls FILE: for comparing traces whose streams are in segments with others. Which signatures a
# stream has depends on where segments begin, and by those requests of other threads are named; that
# they are right is what prog_random's log says.
dump_calls() {
	"$RONDO" dump "$1" | sed 's/request:[0-9]*\.[0-9]*\.[0-9]*/request:other/g'
}

# compare FILE LOGDIR: the trace has exactly the calls that were logged
compare() {
	"$RONDO" dump --json "$1" >"$tmp/dump" && t/compare-log "$2" <"$tmp/dump"
}

# new_log: $log, an empty folder that programs log to, and $trace, where no file is yet
new_log() {
	log=$tmp/$mpi/log trace=$tmp/$mpi/trace.rondo
	rm -rf "$log" "$trace" "$trace.part"
	mkdir "$log"
	export RONDO_TEST_LOG="$log"
}

sound_and_as_logged() {
	ok "... is a sound trace" "$RONDO" check "$trace"
	ok "... of exactly the calls that were made" compare "$trace" "$log"
}

traced_as_logged() {
	_what=$1 _ranks=$2
	shift 2
	new_log
	ok "$mpi: $_what on $_ranks ranks" trace_mpi "$trace" "$_ranks" "$@"
	sound_and_as_logged
}

lossless() {
	_prog=$1 _ranks=$2
	shift 2
	ok "$mpi: $_prog compiles" build_prog "$_prog"
	traced_as_logged "$_prog${*:+ }$*" "$_ranks" "$tmp/$mpi/$_prog" "$@"
}

has_mpi4() {
	printf '#include <mpi.h>\n#if MPI_VERSION < 4\n#error\n#endif\n' |
		"mpicc.$mpi" -E - >/dev/null 2>&1
}

lossless_large() {
	_prog=$1 _ranks=$2
	shift 2
	if has_mpi4; then
		ok "$mpi: $_prog compiles with large counts" build_prog "$_prog" -DLARGE
		traced_as_logged "$_prog${*:+ }$* with large counts" "$_ranks" "$tmp/$mpi/$_prog" "$@"
	else
		skip "$mpi: $_prog with large counts" "it has none"
	fi
}

# nothing_left: of a replay; left_behind is the test's. Those that are being killed have a moment to end.
nothing_left() {
	for _ in $(seq 50); do
		[ -n "$(left_behind)" ] || break
		sleep 0.1
	done
	is "... nothing is left behind" "$(left_behind)" ""
	rm -rf "$tmp/$mpi"/*.replay-*
}
