#!/bin/sh
# rondo report and rondo diff of the order of runs: of events, and of all calls.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

build_order() {
	"mpicc.$mpi" $prog_flags -It/prog -O1 -o "$tmp/$mpi/$1" "t/prog/order_$1.c" -lm -lpthread
}

# record NAME RANKS PROGRAM OPTIONS...
record() {
	_to=$tmp/$mpi/$1.rondo _ranks=$2 _prog=$3
	shift 3
	with_yield t/limit 120 "$RONDO" trace "$@" -o "$_to" "mpirun.$mpi" -n "$_ranks" \
		"$tmp/$mpi/$_prog" 40 7
}

# sum COLUMN: of the table of call sites in $tmp/out
sum() {
	sed -n 's/,//g;/ calls .* where$/,/^$/p' "$tmp/out" | awk -v c="$1" '{ n += $c } END { print n }'
}

fact() {
	"$RONDO" info "$tmp/$mpi/$2.rondo" | sed -n "s/^$1: //p"
}

reports() {
	at=$tmp/$mpi
	ok "$mpi: programs compile" build_order jacobi
	ok "..." build_order workers
	ok "events of Jacobi" record j 4 jacobi --only=order
	ok "... report" "$RONDO" report "$at/j.rondo"
	like "... says what it is" "$(cat "$tmp/out")" '^jacobi: 640 events on 4 ranks'
	like "... how irregular" "$(cat "$tmp/out")" \
		'^order: [0-9]+ of 640 outcomes \([0-9.]+ %\) irregular, at [01] of 1 call site'
	like "... where" "$(cat "$tmp/out")" ' 640 +0 +640 +640 .* MPI_Waitany at .*order_jacobi\.c:'
	like "... and that tags tell the source" "$(cat "$tmp/out")" '^    messages with the same tag always'
	ok "all calls of Jacobi" record j-all 4 jacobi
	ok "... report" "$RONDO" report "$at/j-all.rondo"
	like "... says what is out of reference order" "$(cat "$tmp/out")" \
		'^order: [0-9]+ of 640 receives \([0-9.]+ %\) out of reference order'
	ok "events of Jacobi by clocks" record j-clock 4 jacobi --only=order --order-codec=clock
	ok "... report" "$RONDO" report "$at/j-clock.rondo"
	like "... says so too" "$(cat "$tmp/out")" \
		'^order: [0-9]+ of 640 receives \([0-9.]+ %\) out of reference order'
	unlike "... and misses nothing" "$(cat "$tmp/out")" 'is not in this trace'
	ok "..." "$RONDO" report "$at/j-all.rondo"
	like "... below the loops" "$(sed '/^order:/q' "$tmp/out")" 'MPI_Waitany'

	ok "events of master and workers" record w 4 workers --only=order
	ok "... report" "$RONDO" report "$at/w.rondo"
	like "... workers have one master" "$(cat "$tmp/out")" '^    always from rank 0: '
	is "... calls are all events" "$(sum 1)" "$(fact events w)"
	is "... and failed tests those that failed" "$(sum 2)" "$(fact failed_tests w)"
	status "... as many ranks as ranks" 1 "$RONDO" diff "$at/w.rondo" "$at/j.rondo"
	like "... but another program" "$(cat "$tmp/err")" 'different programs$'
	ok "a run and itself" "$RONDO" diff --strict "$at/w.rondo" "$at/w.rondo"
}

# headline NAME: of the report
headline() {
	"$RONDO" report "$tmp/$mpi/$1.rondo" | sed -n 's/^\(order: .* receives\).* \(out of reference order\).*/\1 \2/p'
}

# One worker: nothing can come otherwise, but for tests that fail.
diffs() {
	at=$tmp/$mpi
	ok "$mpi: one worker, twice" record one 2 workers --only=order
	ok "..." record two 2 workers --only=order
	ok "... and with all calls" record full 2 workers --callsite
	ok "... and by clocks" record clock 2 workers --only=order --order-codec=clock
	like "all comes in reference order" "$(headline full)" '^order: 0 of [0-9]+ receives out of'
	is "... by clocks too" "$(headline clock)" "$(headline full)"
	ok "the order is the same" "$RONDO" diff "$at/one.rondo" "$at/two.rondo"
	unlike "... call sites included" "$(cat "$tmp/out")" 'not compared'
	ok "... of events and calls" "$RONDO" diff "$at/one.rondo" "$at/full.rondo"
	unlike "... call sites included" "$(cat "$tmp/out")" 'not compared'
	status "three workers are more" 1 "$RONDO" diff "$at/one.rondo" "$at/w.rondo"
	size=$(wc -c <"$at/one.rondo")
	head -c $((size - 10)) "$at/one.rondo" >"$at/cut.rondo"
	status "a trace that is cut off" 3 "$RONDO" diff "$at/one.rondo" "$at/cut.rondo"
}

each_mpi reports
each_mpi diffs

finish
