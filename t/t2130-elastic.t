#!/bin/sh
# Elastic traces: programs whose loops have other counts each time have rules that do not grow.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# fact KEY TRACE: what `rondo info` says of it
fact() {
	"$RONDO" info "$2" | sed -n "s/^$1: //p"
}

# plain TRACE RANKS PROGRAM...: with loops as they are
plain() {
	_file=$1 _n=$2
	shift 2
	with_yield timeout 120 "$RONDO" trace --no-elastic -o "$_file" "mpirun.$mpi" -n "$_n" "$@"
}

solver() {
	at=$tmp/$mpi
	ok "$mpi: solver compiles" "mpicc.$mpi" $prog_flags -O1 -o "$at/solver" t/prog/solver.c
	# MPICH is slow where there are few processors.
	[ $mpi = mpich ] && many=300 || many=1000
	for steps in 100 $many; do
		ok "$mpi: $steps steps" trace_mpi "$at/$steps.rondo" 3 "$at/solver" $steps
		ok "... are sound" "$RONDO" check "$at/$steps.rondo"
	done
	diag "bytes: $(fact bytes "$at/100.rondo"), $(fact bytes "$at/$many.rondo")"
	is "... their rules do not grow" "$(fact symbols "$at/$many.rondo")" "$(fact symbols "$at/100.rondo")"
	_more=$(($(fact bytes "$at/$many.rondo") - $(fact bytes "$at/100.rondo")))
	ok "... and what does is less than a byte a step" test $_more -lt $((many - 100))
	ok "... the same, plain" plain "$at/plain.rondo" 3 "$at/solver" 100
	is "... is said" "$(fact elastic "$at/plain.rondo")" no
	is "... has no loops" "$(fact loops "$at/plain.rondo")" 0
	"$RONDO" dump "$at/plain.rondo" >"$at/plain.dump"
	"$RONDO" dump "$at/100.rondo" >"$at/100.dump"
	ok "... and the same calls" cmp "$at/plain.dump" "$at/100.dump"
}

# Counts that each rank has its own of: rules are shared, series are not.
own() {
	at=$tmp/$mpi
	ok "$mpi: counts by rank" trace_mpi "$at/own.rondo" 3 "$at/solver" 100 own
	ok "... plain" plain "$at/own-plain.rondo" 3 "$at/solver" 100 own
	ok "... are smaller" test "$(fact bytes "$at/own.rondo")" -lt "$(fact bytes "$at/own-plain.rondo")"
	"$RONDO" dump "$at/own-plain.rondo" >"$at/plain.dump"
	"$RONDO" dump "$at/own.rondo" >"$at/own.dump"
	ok "... and the same calls" cmp "$at/plain.dump" "$at/own.dump"
}

each_mpi solver
each_mpi own
finish
