#!/bin/sh
# rondo recover --live: programs that hang, seen while they do, and not disturbed by it.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# started N: waits until all ranks are about to hang, and then until they do
started() {
	_tries=0
	until [ "$(ls "$at"/pid.*[0-9] 2>/dev/null | wc -l)" -eq "$1" ]; do
		_tries=$((_tries + 1))
		[ $_tries -lt 1000 ] || return 1
		sleep 0.02
	done
	sleep 0.5
}

# ended: kills all ranks, and waits for the launcher
ended() {
	kill -KILL $(cat "$at"/pid.*[0-9]) 2>/dev/null
	wait "$job"
}

files_of() {
	find "$trace.part" -type f | sort | xargs ls -l --time-style=+ | awk '{ print $5, $NF }'
}

# hangs HOW N FLAGS...: $seen is what is seen of N ranks that hang so; `end` is to follow
hangs() {
	how=$1 _n=$2
	shift 2
	at=$tmp/$mpi/$how
	trace=$at/trace.rondo
	rm -rf "$at"
	mkdir "$at"
	with_yield t/limit 120 "$RONDO" trace -o "$trace" "mpirun.$mpi" "$@" -n "$_n" \
		"$tmp/$mpi/prog_hang" "$how" "$at/pid" >"$at/out" 2>"$at/err" &
	job=$!
	ok "$mpi: $how: the program hangs" started "$_n"
	_before=$(files_of)
	ok "... and can be looked at" "$RONDO" recover --live "$trace.part"
	seen=$(cat "$tmp/out")
	is "... without a word of error" "$(cat "$tmp/err")" ""
	[ "$how" = busy ] || is "... and without touching its files" "$(files_of)" "$_before"
	ok "... also by a program" "$RONDO" recover --live --json "$trace.part"
	json=$(cat "$tmp/out")
}

sees() {
	like "... $1" "$seen" "$2"
}

in_world='comm=MPI_COMM_WORLD'
time='[0-9.]+ s'

all_hangs() {
	ok "$mpi: prog_hang compiles" build_prog prog_hang
	with_yield : # makes what those that follow share

	hangs recv 4
	sees "the program" "^[^ ]*/trace\.rondo\.part: prog_hang, 4 ranks, 1 host, (Open MPI|MPICH) [0-9.]+$"
	sees "who receives" "^  rank 0: MPI_Recv\(source=1, tag=7, $in_world\) for $time$"
	sees "from whom" "^  rank 1: MPI_Recv\(source=0, tag=7, $in_world\) for $time$"
	sees "the others" "^  ranks 2-3: MPI_Barrier\($in_world\) for $time$"
	sees "who waits" "^  rank 0 waits for rank 1, in MPI_Recv$"
	sees "all of them" "^  ranks 2-3 wait for ranks 0-1: 0 in MPI_Recv, 1 in MPI_Recv$"
	sees "why" "^(a )?deadlock(, if it lasts)?: 0 -> 1 -> 0$"
	sees "what to try" "^try: gdb -p $(cat "$at/pid.0") \(rank 0 on "
	like "... as JSON: ranks" "$json" \
		"^\{\"rank\":0,\"seq\":4,\"call\":\"MPI_Recv\",.*\"source\":1,.*\"ret\":null,.*\"state\":\"call\",.*\"pid\":$(cat "$at/pid.0"),.*\"seconds\":[0-9.]+,\"waits_for\":\[1\]\}$"
	like "... as JSON: all" "$json" \
		'^\{"ranks":4,"running":true,"waiting":4,"deadlock":\[0,1\],"stuck":\[0,1,2,3\],"waited_for":\[\]\}$'
	ended

	hangs late 4
	sees "who has come" "^  ranks 0,2-3: MPI_Barrier\(comm=comm:world\.0\) for $time$"
	sees "who has not" "^  rank 1: in no MPI call for $time(, on the processor)?; the last was MPI_Comm_dup\($in_world\)$"
	sees "who waits" "^  ranks 0,2-3 wait for rank 1, in no MPI call for $time$"
	sees "for whom in the end" "^all that wait, wait in the end for rank 1, in no MPI call for $time$"
	ended

	hangs waitall 3
	sees "requests" "^  rank 0: MPI_Waitall\(MPI_Irecv\(source=1, tag=5, $in_world\), MPI_Irecv\(source=2, tag=5, $in_world\)\) for $time$"
	sees "whom they need" "^  rank 0 waits for one or more of ranks 1-2: 1 in MPI_Recv, 2 in MPI_Recv$"
	sees "why" "deadlock.*: 0 -> 1 -> 0$"
	ended
	like "... the trace has the requests" "$("$RONDO" dump "$trace" --rank 0)" \
		'MPI_Waitall\(count=2, array_of_requests=\[request:0, request:1\], array_of_statuses=unset\) = \? unfinished$'
	ok "... and is sound" "$RONDO" check "$trace"

	hangs loop 4
	sees "a chain" "^  rank 3 waits for rank 2, in MPI_Recv$"
	sees "its end" "^all that wait, wait in the end for rank 1, in no MPI call for $time$"
	ended

	hangs test 3
	sees "who asks again and again" "^  rank 0: in a loop of MPI_Test\(MPI_Irecv\(source=1, tag=5, $in_world\)\)$"
	sees "for whom" "^  rank 0 waits for rank 1, in MPI_Barrier$"
	ended

	hangs finalize 3
	sees "who has ended" "^  ranks 0,2: MPI_Finalize\(\) for $time$"
	sees "who has not" "^  ranks 0,2 wait for rank 1, in no MPI call for $time$"
	ended

	hangs thread 2
	sees "threads" "^  rank 0 thread 1: MPI_Recv\(source=1, tag=7, $in_world\) for $time$"
	sees "that wait" "^  rank 1 waits for rank 0, in MPI_Recv$"
	sees "maybe for ever" "^a deadlock, if no other thread helps: 0 -> 1 -> 0$"
	ended

	hangs off 3
	sees "what is not recorded" "^  rank 0: MPI_Recv\(source=1, "
	ended
	like "... it is the last in the trace" "$("$RONDO" dump "$trace" --rank 0 | tail -n 1)" \
		'^0 5 MPI_Recv\(.*source=1.* unfinished$'

	hangs ring 4
	sees "the same from all sides" "^  ranks 0-3: MPI_Recv\(source=rank-1, tag=7, $in_world\) for $time$"
	sees "why" "deadlock.*: 0 -> 3 -> 2 -> 1 -> 0$"
	ended

	hangs reduce 4
	sees "who has gone on" "^  ranks 2-3 wait for ranks 0-1: 0 in MPI_Reduce, 1 in no MPI call"
	sees "for whom in the end" "^all that wait, wait in the end for rank 1, in no MPI call for $time$"
	ended

	hangs busy 3
	sees "who works" "^  (ranks 0-2|rank 0): (at work|MPI_Sendrecv_replace)"
	unlike "... no deadlock that is none" "$seen" '^deadlock'
	ended

	# Open MPI ends the others.
	[ "$mpi" = openmpi ] || {
		hangs gone 3 -disable-auto-cleanup
		sees "who is gone" "^  rank 2: ended without a word; its last call was MPI_Barrier\($in_world\)$"
		sees "who will never go on" "^without end: ranks 0-1 wait for rank 2, which has ended$"
		ended
	}
}

each_mpi all_hangs

# Filters leave out also the call that a rank is in; looking is not recording.
filtered() {
	hangs_filtered=$tmp/$mpi/filtered
	trace=$hangs_filtered/trace.rondo at=$hangs_filtered
	mkdir "$at"
	with_yield t/limit 120 "$RONDO" trace --call 'MPI_Init,MPI_Barrier' -o "$trace" \
		"mpirun.$mpi" -n 3 "$tmp/$mpi/prog_hang" recv "$at/pid" >"$at/out" 2>"$at/err" &
	job=$!
	ok "$mpi: a filter" started 3
	ok "... does not matter here" "$RONDO" recover --live "$trace.part"
	like "... as is seen" "$(cat "$tmp/out")" '^  rank 0: MPI_Recv\('
	ended
	like "... but does in the trace" "$("$RONDO" dump "$trace" --rank 0 | tail -n 1)" \
		'^0 1 MPI_Barrier\(.* = 0$'
	like "... to the last call" "$("$RONDO" dump "$trace" --rank 2 | tail -n 1)" \
		'^2 2 MPI_Barrier\(.* unfinished$'
	ok "... which is sound" "$RONDO" check "$trace"
}

each_mpi filtered

finish
