#!/bin/sh
# Filters: of the calls that a full trace has, just those that were asked for, with the same
# arguments, types and communicators.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# calls FILE: all of them, without their numbers: "RANK CALL(...) = RET"
calls() {
	"$RONDO" dump "$1" | sed -E 's/^([0-9]+) [0-9]+ /\1 /'
}

# filtered WHAT PATTERN OPTION...: the trace has the lines of the full one that match
filtered() {
	_what=$1 _pattern=$2
	shift 2
	rm -f "$trace"
	ok "$mpi: $_what" with_yield t/limit 120 "$RONDO" trace -o "$trace" "$@" "mpirun.$mpi" -n 3 "$prog"
	ok "... is sound" "$RONDO" check "$trace"
	calls "$trace" >"$tmp/got"
	grep -E "$_pattern" "$tmp/full" >"$tmp/want"
	ok "... and has these calls" diff "$tmp/want" "$tmp/got"
}

filters() {
	prog=$tmp/$mpi/prog_filter trace=$tmp/$mpi/trace.rondo
	ok "$mpi: prog_filter compiles" build_prog prog_filter
	ok "... and runs" trace_mpi "$tmp/$mpi/full.rondo" 3 "$prog"
	calls "$tmp/$mpi/full.rondo" >"$tmp/full"
	unlike "MPI_Pcontrol switches off" "$(cat "$tmp/full")" 'tag=99'
	like "... and on" "$(cat "$tmp/full")" 'tag=9,'

	filtered "a call by name" ' MPI_Bcast\(' --call MPI_Bcast
	filtered "patterns" ' MPI_(I[rs]|Waitall)' --call 'MPI_I*,MPI_Wait*,-MPI_Init*'
	filtered "all but some" ' MPI_([A-Z][a-z]*\(|Type|Init|Pc)' --call '-MPI_Comm_*'
	filtered "none" 'nothing' --call 'MPI_Alloc*'
	filtered "some ranks" '^[02] ' --rank 0,2
	filtered "a range, and calls" '^[12] MPI_(Comm_split|Bcast)' --rank 1-7 --call 'MPI_Comm_split,MPI_Bcast'
	is "... of as many ranks as there were" "$("$RONDO" info "$trace" | grep ^ranks:)" "ranks: 3"
}

each_mpi filters

finish
