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
	with_yield t/limit 120 "$RONDO" trace --no-elastic -o "$_file" "mpirun.$mpi" -n "$_n" "$@"
}

# MPICH is slow where there are few processors.
many_steps() {
	[ $mpi = mpich ] && echo 300 || echo 1000
}

solver() {
	at=$tmp/$mpi
	ok "$mpi: solver compiles" "mpicc.$mpi" $prog_flags -O1 -o "$at/solver" t/prog/solver.c
	many=$(many_steps)
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

# trace_lossy TRACE STEPS
trace_lossy() {
	with_yield t/limit 120 "$RONDO" trace --lossy=counts -o "$1" "mpirun.$mpi" -n 3 "$at/solver" "$2"
}

# within A B PERCENT: B is not more than PERCENT above A
within() {
	test $(($2 * 100)) -le $(($1 * (100 + $3)))
}

lossy() {
	at=$tmp/$mpi many=$(many_steps)
	for steps in 100 $many; do
		ok "$mpi: $steps steps, lossy" trace_lossy "$at/lossy-$steps.rondo" $steps
		ok "... are sound" "$RONDO" check "$at/lossy-$steps.rondo"
		is "... and have all calls" "$(fact calls "$at/lossy-$steps.rondo")" "$(fact calls "$at/$steps.rondo")"
	done
	_few=$(fact bytes "$at/lossy-100.rondo") _many=$(fact bytes "$at/lossy-$many.rondo")
	diag "bytes: $_few, $_many"
	ok "... more of them take no more" within "$_few" "$_many" 10
	is "... info says so" "$(fact lossy "$at/lossy-100.rondo")" counts
	ok "... report, too" sh -c '"$1" report "$2" | grep -q "^lossy: counts"' - "$RONDO" "$at/lossy-100.rondo"
	"$RONDO" dump "$at/lossy-$many.rondo" 2>"$at/said" >"$at/lossy.dump"
	is "... dump says so in a line" "$(grep -c '^rondo: .*: lossy: ' "$at/said")" 1
	ok "... which is about the order alone" same_calls "$at/$many.rondo" "$at/lossy.dump"
	"$RONDO" dump "$at/$many.rondo" 2>"$at/said" >/dev/null
	is "... and says nothing otherwise" "$(cat "$at/said")" ""
}

# same_calls TRACE DUMP: the same number of each function on each rank
same_calls() {
	"$RONDO" dump "$1" | sed 's/ [0-9]* \([A-Za-z_]*\).*/ \1/' | sort | uniq -c >"$at/a"
	sed 's/ [0-9]* \([A-Za-z_]*\).*/ \1/' "$2" | sort | uniq -c >"$at/b"
	cmp "$at/a" "$at/b"
}

each_mpi solver
each_mpi own
each_mpi lossy
for bad in --lossy=all '--lossy=counts --no-elastic' '--lossy=counts --time=exact' '--lossy=counts --time=bins:1.2'; do
	"$RONDO" trace $bad true >/dev/null 2>"$tmp/said"
	is "$bad is refused" "$? $(grep -c '^rondo: trace: --lossy' "$tmp/said")" "2 1"
done
finish
