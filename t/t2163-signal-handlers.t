#!/bin/sh
# MPI calls in signal handlers do not disturb the tracer. They are recorded or counted as lost.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# handlers_calls: prints the number of calls of prog_signals' handlers in the trace. Two calls of
# MPI_Comm_rank, one per rank, are not made by a handler.
handlers_calls() {
	"$RONDO" dump "$trace" | awk '
		/MPI_Wtime\(|MPI_Initialized\(|MPI_Comm_rank\(/ { n++ }
		END { print n - 2 }'
}

lost() {
	sed -n 's/^rondo: .*, \([0-9]*\) lost;.*/\1/p' "$1"
}

accounted() {
	_made=$(awk '/^handled/ { n += 3 * $2 } END { print n }' "$tmp/err.traced")
	_lost=$(lost "$tmp/err.traced")
	is "... every call of a handler is recorded or counted as lost" \
		"$(($(handlers_calls) + _lost))" "$_made"
	ok "... handlers made more than 100 calls" [ "$_made" -gt 100 ]
}

handlers() {
	build_prog prog_signals
	trace=$tmp/$mpi/signals.rondo
	run_mpi 2 "$tmp/$mpi/prog_signals" 3000 5000 2>/dev/null | sort >"$tmp/want"
	trace_mpi "$trace" 2 "$tmp/$mpi/prog_signals" 3000 5000 2>"$tmp/err.traced" |
		sort >"$tmp/got"
	is "$mpi: tracing does not change the output of a program with MPI calls in signal handlers" \
		"$(cat "$tmp/got")" "$(cat "$tmp/want")"
	ok "... its trace is sound" "$RONDO" check "$trace"
	accounted
}

# The handler's calls interrupt the tracer while it writes the trace.
finalize() {
	trace=$tmp/$mpi/finalize.rondo
	trace_mpi "$trace" 2 "$tmp/$mpi/prog_signals" 300 5000 finalize 2>/dev/null | sort >"$tmp/got"
	run_mpi 2 "$tmp/$mpi/prog_signals" 300 100 2>/dev/null | sort >"$tmp/want"
	is "$mpi: MPI calls of signal handlers in MPI_Finalize do not change the program" \
		"$(cat "$tmp/got")" "$(cat "$tmp/want")"
	ok "... its trace is sound" "$RONDO" check "$trace"
}

each_mpi handlers
each_mpi finalize

finish
