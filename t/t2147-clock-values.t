#!/bin/sh
# Results of clocks in order records: which are recorded, what they cost, and what a record without
# them says.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# record NAME OPTIONS... : order_clock on 2 ranks, $steps readings each, to $at/NAME.rondo
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
	is "... the record has all readings" "$(readings mpi)" $((2 * steps))
	ok "... fewer than 2 bytes for each" [ "$(fact bytes mpi)" -lt $((2 * 2 * steps)) ]
	is "... in format 1.3" "$(fact format mpi)" 1.3
	is "... and only the results of MPI, which is the default" "$(fact values mpi)" ""
	ok "... it is replayed" with_yield "$root/t/limit" 120 "$RONDO" replay "$at/mpi.rondo" "mpirun.$mpi" -n 2 \
		"$at/order_clock" $steps 0
	like "... with all readings" "$(cat "$tmp/err")" " $((2 * steps)) calls came out, as recorded"
	for _codec in clock zstd raw; do
		ok "... recorded with $_codec" record $_codec --order-codec=$_codec
		is "... has all readings" "$(readings $_codec)" $((2 * steps))
		ok "... fewer than 2 bytes for each" [ "$(fact bytes $_codec)" -lt $((2 * 2 * steps)) ]
	done

	ok "$mpi: recorded with --values=none" record none --values=none
	like "... the summary line says what cannot be replayed exactly" "$(cat "$tmp/err")" \
		"not exactly replayable: $((2 * steps)) calls of MPI_Wtime;"
	is "... info says that there are no values" "$(fact values none)" none
	is "... and how many calls that concerns" "$(fact not_replayable none)" $((2 * steps))
	like "... and report does" "$("$RONDO" report "$at/none.rondo")" '^not exactly replayable: 4,000 calls'
	ok "... it takes next to nothing" [ "$(fact bytes none)" -lt 600 ]
	ok "... it is replayed" with_yield "$root/t/limit" 120 "$RONDO" replay "$at/none.rondo" "mpirun.$mpi" -n 2 \
		"$at/order_clock" $steps 0

	ok "$mpi: recorded with --values" record all --values
	is "... is recorded with all values" "$(fact values all)" all
	status "$mpi: other values do not exist" 2 record bad --values=some
	like "... which is said" "$(cat "$tmp/err")" "^rondo: trace: --values: unknown value 'some' \\(expected none, mpi or all\\)\$"
}

# More readings than one chunk holds, of a program that is killed.
killed() {
	at=$tmp/$mpi steps=40000 kill=kill
	rm -rf "$at"/killed.rondo*
	record killed >/dev/null 2>&1
	[ ! -e "$at/killed.rondo.part" ] || "$RONDO" recover "$at/killed.rondo.part" >/dev/null 2>&1
	ok "$mpi: the record of a killed program that reads the clock is sound" "$RONDO" check "$at/killed.rondo"
	is "... and has all readings" "$(readings killed)" $((2 * steps))
}

each_mpi clocks
each_mpi killed

finish
