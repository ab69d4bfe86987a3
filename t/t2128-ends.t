#!/bin/sh
# A rank that ends in another way than the others expect: the launcher's exit code is what it is
# without tracing, and of each rank there is what it did until then, to the call.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

ranks=2

plain() {
	mkdir -p "$at/plain.log"
	run_mpi $ranks "$prog" "$at/plain.log" 3 "$1" >/dev/null 2>&1
	echo $? >"$at/plain"
}

traced() {
	mkdir -p "$at/log"
	trace_mpi "$at/trace.rondo" $ranks "$prog" "$at/log" 3 "$1" >"$at/out" 2>"$at/err"
	echo $? >"$at/code"
}

# start HOW...: all at the same time, because launchers take their time
start() {
	for _how in "$@"; do
		at=$tmp/$mpi/$_how
		rm -rf "$at"
		mkdir -p "$at"
		plain "$_how" &
		traced "$_how" &
	done
	wait
}

# same_code HOW: a launcher that has to kill ranks crashes itself now and then, traced or not
same_code() {
	for _ in 1 2 3; do
		! cmp -s "$at/code" "$at/plain" || break
		start "$1"
	done
	is "$mpi: $1: the exit code is the same" "$(cat "$at/code")" "$(cat "$at/plain")"
}

prefix() {
	"$RONDO" dump "$at/trace.rondo" | t/compare-prefix "$at/log"
}

ending() {
	at=$tmp/$mpi/$1
	same_code "$1"
	is "... one line" "$(grep -c '^rondo: ' "$at/err")" 1
	ok "... a sound trace" "$RONDO" check "$at/trace.rondo"
	ok "... of what each rank did" prefix
	is "... and nothing else is left" "$(cd "$at" && ls -d trace* .rondo* 2>/dev/null)" trace.rondo
}

endings() {
	prog=$tmp/$mpi/prog_killed
	ok "$mpi: prog_killed compiles" build_prog prog_killed
	with_yield : # makes what those that follow share
	start abort segv term overflow return
	start quick-exit exit callback mpi-abort mpi-error
	for _end in abort segv term overflow return quick-exit exit callback mpi-abort mpi-error; do
		ending $_end
	done
}

each_mpi endings

finish
