#!/bin/sh
# Calls that fail: with arguments that MPI refuses, a traced program gets the errors that it gets
# untraced, and its error handlers are called as often.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

refused() {
	trace=$tmp/$mpi/trace.rondo
	ok "$mpi: prog_invalid compiles" build_prog prog_invalid
	ok "... runs untraced" run_mpi 1 "$tmp/$mpi/prog_invalid"
	cp "$tmp/out" "$tmp/untraced"
	ok "... and traced" trace_mpi "$trace" 1 "$tmp/$mpi/prog_invalid"
	cp "$tmp/out" "$tmp/traced"
	ok "... with the same result" diff "$tmp/untraced" "$tmp/traced"
	ok "... which is a sound trace" "$RONDO" check "$trace"
}

each_mpi refused

finish
