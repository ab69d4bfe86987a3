#!/bin/sh
# Runs whose traces have the same name: consecutive or concurrent runs under one `rondo trace`, and
# concurrent runs under two. No trace is lost: later traces are numbered. RONDO_FAULTS=1 repeats the
# test many times.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

times=1
[ -z "$RONDO_FAULTS" ] || times=20

# one RANKS HOW
one() {
	mkdir -p "$at/log$1"
	RONDO_TEST_LOG=$at/log$1 trace_mpi "$at/out/trace.rondo" "$1" "$prog" "$2" >"$at/out$1" 2>"$at/err$1"
	echo $? >"$at/code$1"
}

# judge RANKS HOW: checks the one line of this run, and the trace that the line names
judge() {
	said=$(grep '^rondo: ' "$at/err$1")
	[ "$(printf '%s\n' "$said" | grep -c .)" = 1 ] || printf '%s\n' "$*: not one line:" "$said"
	case $2-$(cat "$at/code$1") in
	well-0 | exit-0-0 | kill-[1-9]*) ;; # without MPI_Finalize, the exit code depends on the launcher
	exit-0-*) ;;
	*) echo "$*: exit code $(cat "$at/code$1")" ;;
	esac
	case $2 in
	well) name=$(printf '%s\n' "$said" | sed -n "s/.* calls on $1 ranks\{0,1\} .* rondo info //p") ;;
	*) name=$(printf '%s\n' "$said" | sed -n "s/.*; \([^ ]*\): [1-9] of $1 ranks\{0,1\}, .*/\1/p") ;;
	esac
	[ -n "$name" ] && "$RONDO" check "$name" >/dev/null || echo "$*: no trace: $said"
	[ "$("$RONDO" info "$name" | sed -n 's/^ranks: //p')" = "$1" ] || echo "$*: $name is another run's"
	case $2 in
	well) compare "$name" "$at/log$1" >/dev/null || echo "$*: not the calls that were made" ;;
	esac
}

# pair HOW HOW: on 2 and on 3 ranks
pair() {
	at=$tmp/$mpi/$1-$2
	rm -rf "$at"
	mkdir -p "$at/out"
	one 2 "$1" &
	one 3 "$2" &
	wait
	judge 2 "$1"
	judge 3 "$2"
	[ "$(ls -A "$at/out" | tr '\n' ' ')" = "trace.2.rondo trace.rondo " ] || ls -AR "$at/out"
}

# names: prints the names of the traces in $at
names() {
	ls -A "$at" | grep -v -e '^log' -e '^first' | tr '\n' ' '
}

# script COMMAND: runs a shell script under `rondo trace` in $at
script() {
	(cd "$at" && with_yield "$root/t/limit" 120 "$RONDO" trace sh -c "$1") >"$tmp/out" 2>"$tmp/err"
}

several() {
	at=$tmp/$mpi/several
	run="mpirun.$mpi -n 1 $prog well"
	mkdir "$at"
	RONDO_TEST_LOG=$at/log
	export RONDO_TEST_LOG
	mkdir "$at/log"
	ok "$mpi: a script starts four runs" script "$run; $run; $run; $run"
	is "... there are four traces" "$(names)" \
		"prog_ending.2.rondo prog_ending.3.rondo prog_ending.4.rondo prog_ending.rondo "
	is "... the last line names three and counts the others" "$(tail -n 1 "$tmp/err")" \
		"rondo: 4 traces: $at/prog_ending.rondo, $at/prog_ending.2.rondo, $at/prog_ending.3.rondo and 1 other"
	cp "$at/prog_ending.rondo" "$at/first"
	ok "$mpi: a later command" script "$run"
	is "... adds no trace" "$(names)" \
		"prog_ending.2.rondo prog_ending.3.rondo prog_ending.4.rondo prog_ending.rondo "
	nok "... and replaces the first trace" cmp "$at/first" "$at/prog_ending.rondo"
	rm "$at"/*.rondo
	ok "$mpi: -o with program, job, host and number" env SLURM_JOB_ID=42 "$RONDO" trace \
		-o "$at/%p-%j-%h-%n-%%.rondo" "$prog" well
	ok "... and once more" env SLURM_JOB_ID=42 "$RONDO" trace -o "$at/%p-%j-%h-%n-%%.rondo" "$prog" well
	is "... the names contain program, job, host and number" "$(names)" \
		"prog_ending-42-$(uname -n)-1-%.rondo prog_ending-42-$(uname -n)-2-%.rondo "
	unset RONDO_TEST_LOG
}

# unchanged PATTERN OPTION...: the command does not replace the trace, and one line gives the reason
unchanged() {
	_pattern=$1
	shift
	with_yield t/limit 120 "$RONDO" trace -o "$at/x.rondo" "$@" "mpirun.$mpi" -n 2 \
		"$tmp/$mpi/prog_system" true >"$tmp/out" 2>"$tmp/err"
	_code=$?
	is "$mpi: $1 $2: one line is printed" "$(grep -c '^rondo: ' "$tmp/err")" 1
	like "... the line gives the reason" "$(cat "$tmp/err")" "$_pattern"
	ok "... the exit code is not 0" test $_code -ne 0
	ok "... the existing trace is unchanged" cmp "$at/first" "$at/x.rondo"
}

empty() {
	at=$tmp/$mpi/empty
	mkdir "$at"
	ok "$mpi: a trace" trace_mpi "$at/x.rondo" 2 "$prog" well
	cp "$at/x.rondo" "$at/first"
	unchanged 'selects none of the 2 ranks' --rank 7
	unchanged 'selects no function' --call '-MPI_*,-MPIX_*'
	unchanged 'no call was recorded' --call MPI_Ialltoallw
	status "$mpi: -o with an unknown sequence" 2 "$RONDO" trace -o "$at/%x.rondo" "$prog" well
}

# The command is killed, like a launcher, and the rank finishes one second later. `rondo trace` reads
# the reports of the rank after that.
orphans() {
	at=$tmp/$mpi/orphans
	mkdir "$at"
	cat >"$at/run" <<-END
		$tmp/$mpi/prog_system 'touch $at/up; sleep 1' &
		while ! [ -e $at/up ]; do sleep 0.1; done
		kill -9 \$\$
	END
	status "$mpi: a command is killed, and its rank finishes" 137 \
		with_yield t/limit 60 "$RONDO" trace -o "$at/x.rondo" sh "$at/run"
	like "... the trace is complete" "$("$RONDO" info "$at/x.rondo")" '^complete: yes$'
	is "... no other file is left" "$(ls -A "$at" | grep -v -e run -e up)" x.rondo
}

pairs() {
	prog=$tmp/$mpi/prog_ending
	ok "$mpi: prog_ending compiles" build_prog prog_ending
	with_yield : # makes what those that follow share
	_n=0
	while [ $_n -lt $times ]; do
		_n=$((_n + 1))
		is "$mpi: both end well" "$(pair well well)" ""
		is "$mpi: both without MPI_Finalize" "$(pair exit-0 exit-0)" ""
		is "$mpi: one is killed" "$(pair kill well)" ""
		is "$mpi: both are killed" "$(pair kill kill)" ""
	done
}

prepare() {
	prog=$tmp/$mpi/prog_ending
	ok "$mpi: prog_ending compiles" build_prog prog_ending
	ok "$mpi: prog_system compiles" "mpicc.$mpi" $prog_flags -o "$tmp/$mpi/prog_system" t/prog/prog_system.c
	several
	empty
	orphans
}

each_mpi pairs
each_mpi prepare

finish
