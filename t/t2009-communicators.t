#!/bin/sh
# Groups and communicators, by name of their creation.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# Names that two of the communicators of rank 0 have.
same_names() {
	"$RONDO" dump --rank 0 "$trace" | sed -n 's/.*newcomm=\(comm:[^,)]*\).*/\1/p' | sort |
		uniq -d
}

with_names_of_their_own() {
	lossless prog_comm 4
	is "... each communicator has a name of its own" "$(same_names)" ""
}

each_mpi with_names_of_their_own

finish
