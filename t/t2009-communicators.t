#!/bin/sh
# Groups and communicators, by name of their creation.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# Long names that two of the communicators of rank 0 have. (Short ones are used again when free.)
same_names() {
	"$RONDO" dump --rank 0 "$trace" | sed -n 's/.*newcomm=\(comm:[^,)]*\).*/\1/p' | sort |
		uniq -d | awk 'length > 100'
}

with_names_of_their_own() {
	lossless prog_comm 4
	is "... those with long names have names of their own" "$(same_names)" ""
}

# The tracer's communicator copies no attributes. With Open MPI it is created after the last call of
# the program.
without_one_more() {
	build_prog prog_first_comm
	_prog=$tmp/$mpi/prog_first_comm
	trace_mpi "$tmp/$mpi/first.rondo" 2 "$_prog" >"$tmp/$mpi/first" 2>/dev/null
	is "$mpi: no attribute is copied" "$(grep copies "$tmp/$mpi/first")" "copies 0"
	[ $mpi = mpich ] || is "$mpi: the first communicator is the same as untraced" \
		"$(cat "$tmp/$mpi/first")" "$(run_mpi 2 "$_prog")"
}

each_mpi with_names_of_their_own
each_mpi without_one_more

finish
