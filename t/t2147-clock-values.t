#!/bin/sh
# Clock results in order traces: the recorded results, their size, and the messages about a trace
# without them.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# record NAME OPTIONS... : records order_clock on 2 ranks, $steps readings each, to $at/NAME.rondo
record() {
	_record=$1
	shift
	with_yield "$root/t/limit" 120 "$RONDO" trace -o "$at/$_record.rondo" --only=order "$@" \
		"mpirun.$mpi" -n 2 "$at/order_clock" $steps 0 $kill
}

fact() {
	"$RONDO" info "$at/$2.rondo" | sed -n "s/^$1: //p"
}

readings() {
	"$RONDO" dump "$at/$1.rondo" | grep -c MPI_Wtime
}

clocks() {
	at=$tmp/$mpi steps=2000 kill=
	"mpicc.$mpi" $prog_flags -o "$at/order_clock" t/prog/order_clock.c -lm
	ok "$mpi: a program that reads the clock is recorded" record mpi
	is "... the trace contains all readings" "$(readings mpi)" $((2 * steps))
	ok "... with less than 2 bytes for each reading" \
		[ "$(fact bytes mpi)" -lt $((2 * 2 * steps)) ]
	is "... in format 2.0" "$(fact format mpi)" 2.0
	is "... and only the results of MPI (the default)" "$(fact values mpi)" ""
	ok "... it is replayed" with_yield "$root/t/limit" 120 "$RONDO" replay "$at/mpi.rondo" "mpirun.$mpi" -n 2 \
		"$at/order_clock" $steps 0
	like "... with all readings" "$(cat "$tmp/err")" " $((2 * steps)) calls came out, as recorded"
	ok "... recorded with clock" record clock --order-codec=clock
	is "... the trace contains all readings" "$(readings clock)" $((2 * steps))
	ok "... with less than 2 bytes for each reading" \
		[ "$(fact bytes clock)" -lt $((2 * 2 * steps)) ]

	ok "$mpi: the program is recorded with --values=none" record none --values=none
	like "... the summary line lists the calls that cannot be replayed exactly" \
		"$(cat "$tmp/err")" \
		"not exactly replayable: $((2 * steps)) calls of MPI_Wtime;"
	is "... info reports that no values are recorded" "$(fact values none)" none
	is "... and the number of unreplayable calls" "$(fact not_replayable none)" $((2 * steps))
	like "... report prints the number of unreplayable calls" \
		"$("$RONDO" report "$at/none.rondo")" '^not exactly replayable: 4,000 calls'
	ok "... the trace is smaller than 600 bytes" [ "$(fact bytes none)" -lt 600 ]
	ok "... it is replayed" with_yield "$root/t/limit" 120 "$RONDO" replay "$at/none.rondo" "mpirun.$mpi" -n 2 \
		"$at/order_clock" $steps 0

	ok "$mpi: the program is recorded with --values" record all --values
	is "... info reports that all values are recorded" "$(fact values all)" all
	status "$mpi: trace rejects an unknown value of --values" 2 record bad --values=some
	like "... and lists the valid values" \
		"$(cat "$tmp/err")" "^rondo: trace: --values some: not one of: none mpi all\$"
}

# A killed program with more readings than fit in one chunk.
killed() {
	at=$tmp/$mpi steps=40000 kill=kill
	rm -rf "$at"/killed.rondo*
	record killed >/dev/null 2>&1
	[ ! -e "$at/killed.rondo.part" ] || "$RONDO" recover "$at/killed.rondo.part" >/dev/null 2>&1
	ok "$mpi: check accepts the trace of a killed program that reads the clock" \
		"$RONDO" check "$at/killed.rondo"
	is "... the trace contains all readings" "$(readings killed)" $((2 * steps))
}

each_mpi clocks
each_mpi killed

finish
