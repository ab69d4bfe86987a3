#!/bin/sh
# Two runs at once that have the same name for their trace: each ends as it does alone, and the trace
# is that of one of them, whichever was later. RONDO_FAULTS=1: many times.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

times=1
[ -z "$RONDO_FAULTS" ] || times=20

# one RANKS HOW
one() {
	mkdir -p "$at/log$1"
	RONDO_TEST_LOG=$at/log$1 trace_mpi "$at/out/trace.rondo" "$1" "$prog" "$2" >"$at/out$1" 2>"$at/err$1"
	echo $? >"$at/code$1"
}

# judge RANKS HOW: what this run has said of itself
judge() {
	said=$(grep '^rondo: ' "$at/err$1")
	[ "$(printf '%s\n' "$said" | grep -c .)" = 1 ] || printf '%s\n' "$*: not one line:" "$said"
	case $2-$(cat "$at/code$1")-$said in
	well-0-* | well-70-*": File exists"*) ;;
	exit-0-* | kill-[1-9]*) ;; # of what ends without MPI_Finalize, launchers say this or that
	*) echo "$*: exit code $(cat "$at/code$1")" ;;
	esac
	case $2-$said in
	*": File exists"*) # the other one's came first: nothing is replaced, and nothing lost
		"$RONDO" recover "$at/out/trace.rondo.part" -o "$at/other" >/dev/null &&
			"$RONDO" check "$at/other" >/dev/null ;;
	well-*) printf '%s\n' "$said" | grep -q " calls on $1 ranks\{0,1\} " ;;
	*) printf '%s\n' "$said" | grep -q ": [1-9] of $1 ranks\{0,1\}, " ;;
	esac || echo "$*: $said"
}

# pair HOW HOW: on 2 and on 3 ranks
pair() {
	at=$tmp/$mpi/$1-$2
	rm -rf "$at"
	mkdir -p "$at/out"
	one 2 "$1" &
	one 3 "$2" &
	wait
	judge 2 "$1"
	judge 3 "$2"
	"$RONDO" check "$at/out/trace.rondo" >/dev/null || return
	_ranks=$("$RONDO" info "$at/out/trace.rondo" | sed -n 's/^ranks: //p')
	case $1-$2-$_ranks in
	kill-*-2 | *-kill-3 | exit-0-*) ;; # some ranks may have been killed
	*) compare "$at/out/trace.rondo" "$at/log$_ranks" >/dev/null || echo "not the calls that were made" ;;
	esac
	[ ! -e "$at/out/trace.rondo.part" ] || ls -AR "$at/out"
}

pairs() {
	prog=$tmp/$mpi/prog_ending
	ok "$mpi: prog_ending compiles" build_prog prog_ending
	with_yield : # makes what those that follow share
	_n=0
	while [ $_n -lt $times ]; do
		_n=$((_n + 1))
		is "$mpi: both end well" "$(pair well well)" ""
		is "$mpi: both without MPI_Finalize" "$(pair exit-0 exit-0)" ""
		is "$mpi: one is killed" "$(pair kill well)" ""
		is "$mpi: both are killed" "$(pair kill kill)" ""
	done
}

each_mpi pairs

finish
