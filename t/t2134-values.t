#!/bin/sh
# Arguments that change with every call: what follows a pattern does not make the trace grow, and what
# does not is smaller than a signature each time. The calls are the same as with --no-elastic.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# size TRACE: bytes of all sections but times
size() {
	"$RONDO" info --sections "$1" | awk '/^section/ && !/[.](time|times|container):/ { n += $2 } END { print n }'
}

# traced FILE OPTION WHAT STEPS: `changing` on $ranks ranks
ranks=4
traced() {
	_file=$1 _option=$2
	shift 2
	with_yield t/limit 120 "$RONDO" trace $_option -o "$_file" "mpirun.$mpi" -n "$ranks" "$at/changing" "$@" "$at/data"
}

# alike WHAT STEPS: elastic and plain traces have the same calls
alike() {
	ok "$mpi: $1, $2 steps" traced "$at/elastic.rondo" '' "$1" "$2"
	ok "... are sound" "$RONDO" check "$at/elastic.rondo"
	ok "... and plain" traced "$at/plain.rondo" --no-elastic "$1" "$2"
	"$RONDO" dump "$at/elastic.rondo" >"$at/elastic"
	"$RONDO" dump "$at/plain.rondo" >"$at/plain"
	ok "... the same calls" cmp "$at/elastic" "$at/plain"
}

# A dump that begins in the middle knows which numbers come next.
middle() {
	"$RONDO" dump "$at/elastic.rondo" --rank 1 --from 150 --to 160 >"$at/some"
	"$RONDO" dump "$at/elastic.rondo" --rank 1 | sed -n 151,160p >"$at/same"
	ok "... also from the middle on" cmp "$at/some" "$at/same"
}

patterns() {
	at=$tmp/$mpi
	ok "$mpi: changing compiles" "mpicc.$mpi" $prog_flags -O1 -o "$at/changing" t/prog/changing.c
	for what in tags counts buffers offsets; do
		alike $what 200
		middle
		_few=$(size "$at/elastic.rondo")
		ok "... 2000 steps" traced "$at/elastic.rondo" '' $what 2000
		_many=$(size "$at/elastic.rondo")
		ok "... are not larger ($_few, $_many bytes)" test "$_many" -le $((_few + 40))
	done
	alike amr 300
	middle
	ok "... and smaller" test "$(size "$at/elastic.rondo")" -lt "$(size "$at/plain.rondo")"
}

# smaller WHAT STEPS: in at most a third of the bytes
smaller() {
	alike "$1" "$2"
	_elastic=$(size "$at/elastic.rondo") _plain=$(size "$at/plain.rondo")
	ok "... 3 times smaller on $ranks ranks ($_elastic, $_plain bytes)" test $((3 * _elastic)) -le "$_plain"
}

# New partners every 10 steps, out of few: what waits for them is the same call all the same.
partners() {
	at=$tmp/$mpi
	for ranks in 4 8; do
		smaller amr 2000
	done
	ranks=4
	smaller crowd 500
}

# Only how numbers are distributed, if asked to; and then it is said.
lossy() {
	at=$tmp/$mpi
	ok "$mpi: lossy" traced "$at/lossy.rondo" --lossy=params:200 amr 300
	ok "... is sound" "$RONDO" check "$at/lossy.rondo"
	ok "... and smaller" test "$(size "$at/lossy.rondo")" -lt "$(size "$at/elastic.rondo")"
	like "... info says so" "$("$RONDO" info "$at/lossy.rondo")" '^lossy: params:200$'
	like "... report, too" "$("$RONDO" report "$at/lossy.rondo")" '^lossy: bytes are estimated'
	"$RONDO" dump "$at/lossy.rondo" >"$at/lossy" 2>"$tmp/err"
	like "... and dump" "$(cat "$tmp/err")" 'lossy: numbers that changed more than 200 times'
	is "... which has all calls" "$(sed 's/(.*//' "$at/lossy" | cksum)" "$(sed 's/(.*//' "$at/elastic" | cksum)"
}

each_mpi patterns
each_mpi lossy
each_mpi partners
status "what cannot be lossy is refused" 2 "$RONDO" trace --lossy=params:0 true
finish
