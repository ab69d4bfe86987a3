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

each_mpi with_names_of_their_own

finish
