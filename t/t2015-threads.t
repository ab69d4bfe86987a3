#!/bin/sh
# Threads: a stream each; when there have been many, that of one that has ended goes to the next.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# fact KEY: what `info` says of $trace
fact() {
	"$RONDO" info "$trace" | sed -n "s/^$1: //p"
}

# signatures ROUNDS: how many there are when requests go from thread to thread so often
signatures() {
	trace=$tmp/$mpi/rounds-$1.rondo
	RONDO_TEST_LOG='' trace_mpi "$trace" 2 "$tmp/$mpi/prog_thread" "$1" 2>/dev/null && fact signatures
}

handed_over() {
	is "... and no more different ones in 10 times as many rounds" "$(signatures 300)" "$(signatures 30)"
}

thread_end() {
	trace_mpi "$trace" 1 "$tmp/$mpi/prog_thread_end" "$@" >"$tmp/out" 2>"$tmp/err"
}

# It is recorded as it was made; its destructors' calls come behind it.
ends_inside() {
	ok "$mpi: a thread that ends inside a call" thread_end inside
	ok "... is a sound trace" "$RONDO" check "$trace"
	is "... of one thread after the other" "$("$RONDO" dump "$trace" | sed -n '/^0\.[12] /s/(.*=/ =/p')" \
		"0.1 0 MPI_Reduce_local = ? unfinished
0.1 1 MPI_Comm_rank = 0 <0>
0.1 2 MPI_Comm_size = 0
0.2 0 MPI_Initialized = 0"
}

# The first thread and 2045 others have a stream. What the rest does is lost, and that is said.
too_many() {
	ok "$mpi: more threads than streams" thread_end many 2050
	if grep -q '^only' "$tmp/out"; then
		skip "... what is lost" "$(cat "$tmp/out")"
		return
	fi
	like "... the last line says what is lost" "$(tail -n 1 "$tmp/err")" '^rondo: 2048 calls .* 5 lost;'
	is "... and so does info" "$(fact threads) $(fact calls) $(fact complete) $(fact lost)" "2046 2048 no 5"
}

# Whoever asks what they are must not be in the way of the other thread's errors.
no_communicators() {
	ok "$mpi: threads with handles that are none" build_prog prog_handler
	ok "... run" trace_mpi "$trace" 1 "$tmp/$mpi/prog_handler"
	is "... and are told of each" "$(cat "$tmp/out")" "told 4000 times, as before"
}

all_of_it() {
	lossless prog_thread 2
	handed_over
	lossless prog_lanes 2 40
	is "... without losing any" "$(fact threads) $(fact complete)" "64 yes"
	ok "$mpi: prog_thread_end compiles" build_prog prog_thread_end
	ends_inside
	too_many
	[ "$mpi" != mpich ] || no_communicators # Open MPI does not survive such handles
}

each_mpi all_of_it

finish
