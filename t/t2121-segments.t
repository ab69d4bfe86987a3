#!/bin/sh
# Programs that make more different calls than their memory for it holds: the trace is the same.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

steps=200

# many FILE OPTION...: prog_many on two ranks
many() {
	_file=$1
	shift
	with_yield t/limit 120 "$RONDO" trace -o "$_file" "$@" "mpirun.$mpi" -n 2 \
		"$tmp/$mpi/prog_many" "$steps" 2>"$tmp/err"
}

# peak: kilobytes that rank 0 had with little memory
peak() {
	many "$tmp/$mpi/peak.rondo" --memory 1M
}

in_segments() {
	full=$tmp/$mpi/full.rondo small=$tmp/$mpi/small.rondo
	ok "$mpi: prog_many compiles" build_prog prog_many
	ok "... and runs" many "$full"
	ok "... and with little memory" many "$small" --memory 1M
	like "... of which a line tells" "$(cat "$tmp/err")" 'the trace is made from parts; .* 2 of 2 ranks'
	is "... and which is all" "$(grep -c '' "$tmp/err")" 1
	ok "... is sound" "$RONDO" check "$small"
	like "... complete" "$("$RONDO" info "$small")" '^complete: yes$'
	is "... without parts" "$(ls -d "$small.part" 2>/dev/null)" ''
	dump_calls "$full" >"$tmp/$mpi/full"
	dump_calls "$small" >"$tmp/$mpi/small"
	ok "... and has the same calls" cmp "$tmp/$mpi/full" "$tmp/$mpi/small"
	_few=$(peak)
	_more=$(steps=1000 && peak)
	ok "... and five times as many steps need no more memory ($_few, $_more kB)" [ $((_more - _few)) -lt 8192 ]
	like "... some of them about requests of another thread" "$(grep -c 'request:other' "$tmp/$mpi/small")" '^[1-9]'
}

# If a launcher starts rondo, the watcher of rank 0 makes the trace when all ranks have ended.
alone() {
	small=$tmp/$mpi/small.rondo
	rm -rf "$small" "$small.part"
	ok "$mpi: behind the launcher" with_yield t/limit 120 "mpirun.$mpi" -n 2 "$RONDO" trace -o "$small" \
		--memory 1M "$tmp/$mpi/prog_many" "$steps" 2>"$tmp/err"
	like "... one line names the trace or the command" "$(cat "$tmp/err")" \
		"trace is made from parts; ($small: 2 of 2 ranks, |.*rondo recover $small.part)"
	for _ in $(seq 100); do
		[ -e "$small.part" ] || break
		sleep 0.1
	done
	dump_calls "$small" >"$tmp/$mpi/small"
	ok "... and gives the same calls" cmp "$tmp/$mpi/full" "$tmp/$mpi/small"
}

# Without a part file there is nowhere to go.
nowhere() {
	small=$tmp/$mpi/lost.rondo
	ok "$mpi: without room for parts it runs" many "$small" --memory 1M --spill /proc
	like "... and what is missing is told" "$(cat "$tmp/err")" '[1-9][0-9]* lost'
	like "... in the trace too" "$("$RONDO" info "$small")" '^complete: no$'
}


# random SEED: what the program says it did
random() {
	new_log
	ok "$mpi: prog_random $1 with little memory" with_yield t/limit 120 "$RONDO" trace -o "$trace" --memory 1M \
		"mpirun.$mpi" -n 3 "$tmp/$mpi/prog_random" "$1" 150
	like "... in segments" "$(cat "$tmp/err")" 'made from parts'
	sound_and_as_logged
}

randoms() {
	ok "$mpi: prog_random compiles" build_prog prog_random
	random 1
	random 2
}

each_mpi in_segments
each_mpi alone
each_mpi nowhere
each_mpi randoms

finish
