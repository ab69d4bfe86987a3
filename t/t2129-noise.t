#!/bin/sh
# A program whose calls do not compress is killed at random moments of its CPU time, many of which are
# in the tracer's snapshots: all calls but the one under way are recovered. RONDO_KILLS=N: so often.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

kills=${RONDO_KILLS:-3}
seed=${RONDO_SEED:-1}

# same_calls N: standard input has a dump of N calls, or one more, with the tags of t/prog/prog_noise.c
same_calls() {
	awk -v n="$1" 'BEGIN { state = 1 }
		/MPI_Iprobe/ {
			state = state * 16807 % 2147483647
			if ($4 != "tag=" state % 1000 ",") { print NR ": " $0; bad = 1; exit }
			seen++
		}
		END {
			print seen " calls of " n
			exit bad || seen < n || seen > n + 1
		}'
}

# killed MICROSECONDS: every other time in segments
killed() {
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	with_yield t/limit 120 "$RONDO" trace --memory $((seed % 2 ? 256 : 1))M -o "$tmp/run/t.rondo" \
		"mpirun.$mpi" -n 1 "$tmp/$mpi/prog_noise" "$tmp/run/calls" "$1" >"$tmp/run/out" 2>&1
	[ ! -e "$tmp/run/t.rondo.part" ] || "$RONDO" recover "$tmp/run/t.rondo.part" || return
	"$RONDO" check "$tmp/run/t.rondo" &&
		"$RONDO" dump "$tmp/run/t.rondo" | same_calls "$(od -An -tu4 "$tmp/run/calls")"
}

noise() {
	ok "$mpi: prog_noise compiles" "mpicc.$mpi" $prog_flags -o "$tmp/$mpi/prog_noise" t/prog/prog_noise.c
	_n=0
	while [ $_n -lt "$kills" ]; do
		_n=$((_n + 1))
		seed=$((seed + 1))
		_moment=$(awk "BEGIN { srand($seed); print int(1000 + 150000 * rand()) }")
		ok "$mpi: killed after $_moment us (RONDO_SEED=$((seed - 1)))" killed "$_moment"
	done
}

each_mpi noise

finish
