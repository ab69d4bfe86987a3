# lib-mpi.sh - functions for tests that trace MPI programs. A test sources it after lib.sh.
#
#	each_mpi COMMAND...   runs COMMAND for each MPI, with $mpi (openmpi or mpich). Reports a
#	                      skipped test for an MPI that is missing or has no tracer.
#	lossless PROG N ARGUMENTS...        t/prog/PROG.c on N ranks: the calls in the trace are
#	                                    exactly those that the program logged
#	lossless_large PROG N ARGUMENTS...  lossless with the large-count functions, if the MPI has them
#
# and these, which require that $mpi is set:
#
#	build_prog PROG FLAGS...            compiles t/prog/PROG.c and the log to $tmp/$mpi/PROG
#	run_mpi N PROGRAM...                runs PROGRAM on N ranks, also with fewer processors
#	trace_mpi FILE N PROGRAM...         run_mpi under `rondo trace`, into FILE
#	new_log                             creates the directory $log for program logs and sets $trace
#	sound_and_as_logged                 two tests: $trace is valid and contains the calls of $log
#	traced_as_logged WHAT N PROGRAM...  new_log, trace_mpi and these tests, for a built program
#	has_mpi4                            succeeds if the MPI implements MPI-4
#
# shellcheck shell=sh disable=SC2154

# Permits Open MPI to run as root, and with more ranks than processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

# mpi_missing MPI: prints the reason why MPI cannot be tested, or nothing if it can be
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

# The -Wno-stringop options: the compiler takes Open MPI's sentinel pointers for empty arrays.
prog_flags="-std=gnu11 -D_GNU_SOURCE -g -Wall -Wextra -Wshadow -Werror -Wno-deprecated-declarations
	-Wno-stringop-overflow -Wno-stringop-overread"

# log_object FLAGS...: compiles the log with FLAGS to the file $log_o
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

# with_yield COMMAND...: runs COMMAND. MPICH polls; a preload makes it yield the processor.
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

# dump_calls FILE: prints the calls, for comparing a trace whose streams have segments with another
# one. The signatures of a stream depend on where its segments begin, and the names of requests of
# other threads refer to signatures. These names are therefore masked. The log of prog_random
# verifies them.
dump_calls() {
	"$RONDO" dump "$1" | sed 's/request:[0-9]*\.[0-9]*\.[0-9]*/request:other/g'
}

# compare FILE LOGDIR: succeeds if the trace has exactly the logged calls
compare() {
	"$RONDO" dump --json "$1" >"$tmp/dump" && t/compare-log "$2" <"$tmp/dump"
}

# new_log: sets $log to an empty directory for program logs, and $trace to an unused file name
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

# nothing_left: tests that a replay left no processes or directories. The test defines left_behind,
# which prints them. Killed processes have 5 seconds to end.
nothing_left() {
	for _ in $(seq 50); do
		[ -n "$(left_behind)" ] || break
		sleep 0.1
	done
	is "... nothing is left behind" "$(left_behind)" ""
	rm -rf "$tmp/$mpi"/*.replay-*
}
