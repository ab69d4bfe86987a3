#!/bin/sh
# rondo replay of a program that does something else than was recorded, or more: who waits for what no
# longer comes goes on, one rank tells, and nothing is left behind, however it ends.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

limit=60 # seconds, for one that hangs

# build NAME...: t/prog/order_NAME.c
build() {
	for _name; do
		"mpicc.$mpi" $prog_flags -O1 -o "$tmp/$mpi/$_name" "t/prog/order_$_name.c" -lm -lpthread || return
	done
}

# timed COMMAND...
timed() {
	with_yield run t/limit $limit "$@"
}

# stray COMMAND...: the same, and the program does something else
stray() {
	timed env STRAY=1 "$@"
}

# record ARGUMENTS...: of order_strays, on 4 ranks
record() {
	timed "$RONDO" trace --only=order -o "$trace" "mpirun.$mpi" -n 4 "$at/strays" "$@"
}

said() {
	grep '^rondo: ' "$tmp/err"
}

# one_line NAME PATTERN: of rondo's lines exactly one is so
one_line() {
	is "$1" "$(said | grep -Ec "$2")" 1
	[ "$(said | grep -Ec "$2")" = 1 ] || show_output
}

left_behind() {
	ls -d "$at"/*.replay-* 2>/dev/null
}

divergence='the program does not do what was recorded: rank 1, event [0-9]+: now MPI_Probe\(.*\), recorded was MPI_Waitany'
freely='the run goes on freely, since rank 1 has diverged'

# told WHAT CODE: the last run has diverged, on rank 1
told() {
	is "$1" "$2" 71
	one_line "... one line tells where" "$divergence"
}

went_on() {
	one_line "... and one that the run goes on" "$freely"
	is "... which is all" "$(said | wc -l)" 2
	like "... to its end" "$(cat "$tmp/out")" '^hash='
	nothing_left
}

goes_on() {
	for call in recv wait test waitany testsome probe iprobe mprobe start; do
		ok "$mpi: recorded with $call" record 4 1 $call
		stray "$RONDO" replay --on-divergence=continue "$trace" "mpirun.$mpi" -n 4 "$at/strays" 4 1 $call
		told "... one strays" $?
		went_on
	done
}

# Each rank has its own rondo.
launched() {
	ok "$mpi: recorded for many a rondo" record 4 1 wait
	stray "mpirun.$mpi" -n 4 "$RONDO" replay "$trace" "$at/strays" 4 1 wait
	told "... one strays" $?
	is "... which is all" "$(said | wc -l)" 1
	nothing_left
	stray "mpirun.$mpi" -n 4 "$RONDO" replay --on-divergence=continue "$trace" "$at/strays" 4 1 wait
	told "... and when it goes on" $?
	went_on
}

# The folder is gone when all ranks have begun.
killed() {
	cat >"$at/rank" <<-END
		#!/bin/sh
		echo \$\$ >>"$at/ranks"
		exec "\$@"
	END
	chmod +x "$at/rank"
	ok "$mpi: recorded to be killed" record 10 1 recv
	rm -f "$at/ranks"
	with_yield env DELAY=100000 "$RONDO" replay "$trace" "mpirun.$mpi" -n 4 "$at/rank" "$at/strays" \
		100000 1 recv >/dev/null 2>&1 &
	_rondo=$!
	for _ in $(seq 300); do
		[ "$(wc -l 2>/dev/null <"$at/ranks")" = 4 ] && [ -z "$(left_behind)" ] && break
		sleep 0.1
	done
	is "... nothing is there while it runs" "$(left_behind)" ""
	kill -KILL $(cat "$at/ranks") $(ps -o pid= --ppid $_rondo) $_rondo 2>/dev/null
	wait $_rondo 2>/dev/null
	nothing_left
}

# The record ends before the program does.
tells_time() {
	timed "$RONDO" trace --only=order -o "$trace" "mpirun.$mpi" -n 2 "$at/clock" 10 10
	like "$mpi: the time is shown in seconds" "$("$RONDO" dump "$trace")" \
		'^0 1 MPI_Wtime\(\) = [0-9]+\.[0-9]+( |$)'
	like "... in JSON too" "$("$RONDO" dump --json "$trace")" '"call":"MPI_Wtime","args":\{\},"ret":[0-9]+\.[0-9]+[,}]'
	timed "$RONDO" replay "$trace" "mpirun.$mpi" -n 2 "$at/clock" 1000 0
	is "... and does not go back at the record's end" "$(sort -u "$tmp/out")" "back: 0"
	nothing_left
	timed "$RONDO" trace --only=order -o "$trace" "mpirun.$mpi" -n 2 "$at/threads" 2
	like "... threads are shown as threads" "$("$RONDO" dump "$trace")" 'thread\(birth=-?[0-9]+\) = 0$'
}

# extra VARIABLE=N RANKS [OPTION...]: a replay in which the program does more
extra() {
	_with=$1 _ranks=$2
	shift 2
	timed env "$_with" "$RONDO" replay "$@" "$trace" "mpirun.$mpi" -n "$_ranks" "$at/extra" 5
}

# What is not recorded at all, and receives that are still to come.
more() {
	ok "$mpi: recorded with one look" timed env EARLY=1 "$RONDO" trace --only=order -o "$trace" \
		"mpirun.$mpi" -n 4 "$at/extra" 5
	_hash=$(cat "$tmp/out")
	extra LATE=3 4
	is "... three looks are in vain, too" "$(cat "$tmp/out")" "found 0
$_hash"
	like "... and counted" "$(said)" '15 messages came, .* failed tests: 2 more, 0 fewer than recorded$'
	extra PROBE=1 4
	is "... a probe is another call" $? 71
	one_line "... than what was recorded" 'rank 0, event [0-9]+: now MPI_Probe\(source any, tag any, MPI_COMM_WORLD\), recorded was MPI_Recv'
	extra EARLY=1 3
	is "... fewer ranks" $? 71
	one_line "... cannot have sent everything" \
		'rank 0, event [0-9]+: now MPI_Recv, on a communicator of 3 ranks, recorded was a message from rank 3$'
	extra EARLY=1 3 --on-divergence=continue
	like "... but can go on" "$(cat "$tmp/out")" '^hash='
	nothing_left
}

test_divergence() {
	at=$tmp/$mpi trace=$tmp/$mpi/run.rondo
	ok "$mpi: the programs compile" build strays clock threads extra
	more
	goes_on
	launched
	killed
	tells_time
}

each_mpi test_divergence

finish
