#!/bin/sh
# Programs that end without MPI_Finalize: exit code and output are the program's, what can be kept is
# kept and one line says how to get it, and otherwise nothing is left.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# place RANKS HOW [WHO]: where what comes of this ending goes, in $at
place() {
	at=$tmp/$mpi/$(echo "$@" | tr ' ' -)
	log=$at/log out=$at/out
	trace=$out/trace.rondo
}

untraced() {
	place "$@"
	_ranks=$1
	shift
	run_mpi "$_ranks" "$prog" "$@" >"$at/plain" 2>/dev/null
	echo $? >"$at/plain.code"
}

traced() {
	place "$@"
	_ranks=$1
	shift
	RONDO_TEST_LOG=$log trace_mpi "$trace" "$_ranks" "$prog" "$@" >"$at/traced" 2>"$at/err"
	echo $? >"$at/traced.code"
}

# prepare "RANKS HOW [WHO]"...: all at the same time, because launchers wait for a second before
# they kill
prepare() {
	for _case in "$@"; do
		place $_case
		mkdir -p "$log" "$out"
		untraced $_case &
		traced $_case &
	done
	wait
}

# same_code RANKS HOW [WHO]: a launcher that has to kill ranks crashes itself now and then (139,
# traced or not): then both are run again
same_code() {
	for _ in 1 2 3; do
		! cmp -s "$at/traced.code" "$at/plain.code" && [ "$1" -gt 1 ] || break
		rm -rf "$out" "$log"
		prepare "$*"
	done
	is "$mpi: $*: the exit code is the program's" "$(cat "$at/traced.code")" "$(cat "$at/plain.code")"
}

# ending RANKS HOW [WHO]. Of several ranks, a launcher kills the others at once, and what they could
# still print is luck.
ending() {
	place "$@"
	ranks=$1
	same_code "$@"
	said=$(grep '^rondo: ' "$at/err")
	is "... one line of ours" "$(printf '%s\n' "$said" | grep -c .)" 1
	[ "$ranks" -gt 1 ] || is "... and the output is the program's" \
		"$(grep '^rank' "$at/traced")" "$(grep '^rank' "$at/plain")"
}

recovered() {
	like "... it says what to do" "$said" "rondo recover $trace.part\$"
	ok "... which does it" "$RONDO" recover "$trace.part"
}

all_recovered() {
	recovered
	like "... for all ranks" "$(cat "$tmp/out")" ": $ranks of $ranks ranks, "
	is "... and leaves nothing else" "$(ls -A "$out")" trace.rondo
	sound_and_as_logged
}

# Those that were not killed before.
some_recovered() {
	recovered
	unlike "... for at least one rank" "$(cat "$tmp/out")" ': 0 of'
	ok "... to a sound trace" "$RONDO" check "$trace"
}

nothing_recovered() {
	like "... says that there is nothing" "$said" "nothing was traced\$"
	is "... and nothing is left" "$(ls -A "$out")" ""
}

endings() {
	prog=$tmp/$mpi/prog_ending
	ok "$mpi: prog_ending compiles" build_prog prog_ending
	with_yield : # makes what those that follow share
	prepare "1 exit" "1 exit-0" "1 return" "1 mpi-abort" "1 quick-exit" "1 kill"
	prepare "1 abort" "1 mpi-error" "1 finalize" "2 exit 1" "2 mpi-abort 0" "2 kill 1"
	for _end in exit exit-0 return mpi-abort; do
		ending 1 $_end
		all_recovered
	done
	for _end in quick-exit kill abort; do
		ending 1 $_end
		nothing_recovered
	done
	ending 1 mpi-error # MPICH then calls exit, Open MPI does not
	case $mpi in
	openmpi) nothing_recovered ;;
	mpich) some_recovered ;;
	esac

	ending 1 finalize
	is "... there is nothing but the trace" "$(ls -A "$out")" trace.rondo
	sound_and_as_logged

	ending 2 exit 1
	some_recovered
	ending 2 mpi-abort 0
	some_recovered
	ending 2 kill 1
	nothing_recovered
}

# What an earlier run has left is not mixed with this one's.
twice() {
	prog=$tmp/$mpi/prog_ending
	place twice
	for _ranks in 2 3 1; do
		mkdir -p "$out"
		run trace_mpi "$trace" $_ranks "$prog" exit
	done
	said=$(grep '^rondo: ' "$tmp/err")
	recovered
	like "... of the latest run alone" "$(cat "$tmp/out")" ': 1 of 1 ranks, '
	ok "... and the earlier one's are kept" "$RONDO" recover "$trace.old.part"
	like "... as they were" "$(cat "$tmp/out")" ' of 3 ranks, '
}

each_mpi endings
each_mpi twice

finish
