#!/bin/sh
# Point-to-point calls: what dump prints is what the program did.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# The launcher first: each rank starts its own `rondo trace`.
behind_launcher() {
	new_log
	ok "$mpi: rondo behind the launcher" run_mpi 4 "$RONDO" trace -o "$trace" "$tmp/$mpi/prog_p2p"
	sound_and_as_logged
}

each_mpi lossless prog_p2p 4
each_mpi behind_launcher
each_mpi lossless_large prog_p2p 4

finish
