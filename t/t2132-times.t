#!/bin/sh
# Times of single calls: they never go back, add up to the statistics, and what a killed program
# has of them is recovered; with little memory, with call sites, and in folded loops too.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# timed WHAT TOLERANCE HOW N PROGRAM...: all calls of the program have times; $options are those of
# rondo trace besides
options=
timed() {
	_what=$1 _tolerance=$2 _how=$3 _n=$4
	shift 4
	rm -f "$trace"
	ok "$mpi: $_what" with_yield t/limit 120 "$RONDO" trace -o "$trace" --time="$_how" \
		$options "mpirun.$mpi" -n "$_n" "$@"
	cp "$tmp/err" "$tmp/said"
	ok "... is sound" "$RONDO" check "$trace"
	is "... and says how exact it is" "$("$RONDO" info "$trace" | grep ^time:)" "time: $_how"
	"$RONDO" info --calls "$trace" >"$tmp/table"
	"$RONDO" dump --json "$trace" >"$tmp/dump"
	like "... all calls have times, which add up" \
		"$(t/check-times "$_tolerance" "$tmp/table" <"$tmp/dump")" '^[1-9][0-9]* with times, 0 without$'
}

# same_calls: a part of a dump is what the whole one has there, and text says what JSON does
same_calls() {
	"$RONDO" dump "$trace" --rank 1 >"$tmp/all"
	"$RONDO" dump "$trace" --rank 1 --from 17000 --to 17040 >"$tmp/some"
	sed -n '17001,17040p' "$tmp/all" | cmp - "$tmp/some" &&
		grep -qE '^1 17000 MPI_[A-Za-z]*\(.*\) = 0 \[[0-9]+\.[0-9]{9} [0-9]+\.[0-9]{9}\]$' "$tmp/some"
}

# killed: the program kills itself after many calls; what is left is put together
killed() {
	with_yield t/limit 120 "$RONDO" trace -o "$trace" --time=exact "mpirun.$mpi" -n 2 \
		"$tmp/$mpi/prog_sudden" 20000 >/dev/null 2>&1
	[ ! -e "$trace.part" ] || "$RONDO" recover "$trace.part"
}

all_times() {
	new_log
	for _prog in prog_attr prog_thread prog_sudden; do
		build_prog $_prog
	done
	"mpicc.$mpi" -O2 -w -o "$tmp/$mpi/stencil" examples/stencil.c -lm
	timed "exactly" 0.02 exact 2 "$tmp/$mpi/stencil" 2500
	ok "... from anywhere" same_calls
	timed "in bins" 0.2 bins:1.2 2 "$tmp/$mpi/stencil" 2500
	timed "each function its own" 0.5 'bins:1.2,MPI_Waitall=1,MPI_?[rs]*=1.5' 2 "$tmp/$mpi/stencil" 100
	timed "calls inside calls" 0.2 bins:1.2 2 "$tmp/$mpi/prog_attr"
	timed "threads" 0.02 exact 2 "$tmp/$mpi/prog_thread"

	rm -rf "$trace" "$trace".*
	killed
	ok "$mpi: what a killed program leaves is sound" "$RONDO" check "$trace"
	"$RONDO" info --calls "$trace" >"$tmp/table"
	like "... and has times, but not of the latest calls" \
		"$("$RONDO" dump --json "$trace" | t/check-times 0.02 "$tmp/table")" \
		'^65536 with times, [1-9][0-9]* without$'
}

# peak N: kilobytes that a rank had at most, which makes N pairs of calls
peak() {
	with_yield t/limit 120 "$RONDO" trace -o "$trace" --time=exact --memory 1M "mpirun.$mpi" -n 1 \
		"$tmp/$mpi/prog_sudden" "$1" peak 2>/dev/null
}

# Each segment of a stream begins anew, its times go on.
little_memory() {
	new_log
	build_prog prog_many
	options='--memory 1M'
	timed "with little memory" 0.02 exact 2 "$tmp/$mpi/prog_many" 200
	like "... in segments" "$(cat "$tmp/said")" 'made from parts'
	with_yield "$RONDO" trace -o "$tmp/plain.rondo" "mpirun.$mpi" -n 2 "$tmp/$mpi/prog_many" 200 >/dev/null 2>&1
	dump_calls "$tmp/plain.rondo" >"$tmp/plain"
	ok "... of the same calls" same_but_times "$tmp/plain"
	timed "of which times are most" 0.02 exact 2 "$tmp/$mpi/stencil" 24000
	like "... in segments" "$(cat "$tmp/said")" 'made from parts'
	options=
	_few=$(peak 1000)
	_more=$(peak 4000000)
	ok "... and more calls that are all expected need no more ($_few, $_more kB)" [ $((_more - _few)) -lt 4096 ]
}

# same_but_times FILE: what the dump of $trace is without times
same_but_times() {
	dump_calls "$trace" | sed 's/ \[[0-9]*\.[0-9]* [0-9]*\.[0-9]*\]//' | cmp - "$1"
}

together() {
	options=--callsite
	timed "with call sites" 0.02 exact 2 "$tmp/$mpi/stencil" 100
	like "... in one line" "$("$RONDO" dump "$trace" --rank 1)" \
		'^1 [0-9]+ MPI_Irecv\(.*\) = 0 \[[0-9.]+ [0-9.]+\] at main\+0x'
	"mpicc.$mpi" $prog_flags -O1 -o "$tmp/$mpi/solver" t/prog/solver.c
	options=--no-elastic
	timed "with loops as they are" 0.02 exact 2 "$tmp/$mpi/solver" 50
	dump_calls "$trace" | sed 's/ \[[0-9]*\.[0-9]* [0-9]*\.[0-9]*\]//' >"$tmp/plain"
	options=
	timed "with folded loops" 0.02 exact 2 "$tmp/$mpi/solver" 50
	ok "... of the same calls" same_but_times "$tmp/plain"
	like "... which are there" "$("$RONDO" info "$trace")" '^loops: [1-9]'
}

# number KEY: prints the value of KEY in $tmp/info
number() {
	sed -n "s/^$1: //p" "$tmp/info"
}

# total: prints the mean time of the ranks in calls, in seconds
total() {
	"$RONDO" info --calls "$trace" | awk 'NR > 1 { sum += $2 } END { print sum / 2 }'
}

# first_start, last_end: print the first start and the last end of all calls, in seconds
first_start() {
	sed -n 's/.* = 0 \[\([0-9.]*\) .*/\1/p' "$tmp/dump" | sort -n | head -n 1
}

last_end() {
	sed -n 's/.* = 0 \[\([0-9.]*\) \([0-9.]*\)\].*/\1 \2/p' "$tmp/dump" |
		awk '{ end = $1 + $2; if (end > last) last = end } END { print last }'
}

# at_most A B: A <= B, with the rounding error of sums of times, which is 1/64
at_most() {
	awk "BEGIN { exit !($1 <= $2 * 65 / 64) }"
}

# A run starts when the process starts.
whole_run() {
	new_log
	"mpicc.$mpi" $prog_flags -o "$tmp/$mpi/slow_start" t/prog/slow_start.c
	ok "$mpi: a program that waits before MPI_Init is traced" with_yield "$root/t/limit" 120 "$RONDO" trace \
		-o "$trace" --time=exact "mpirun.$mpi" -n 2 "$tmp/$mpi/slow_start"
	cp "$tmp/err" "$tmp/said"
	"$RONDO" info "$trace" >"$tmp/info"
	"$RONDO" dump "$trace" >"$tmp/dump"
	_wall=$(number wall_s)
	ok "... wall_s contains the time before MPI_Init ($_wall)" at_most 0.3 "$_wall"
	ok "... wall_s is not less than the time of all calls ($(total))" at_most "$(total)" "$_wall"
	ok "... dump shows the start of MPI_Init relative to that of the process ($(first_start))" \
		at_most 0.3 "$(first_start)"
	ok "... dump shows that the last call ends within wall_s ($(last_end))" at_most "$(last_end)" "$_wall"
	like "... the time to merge in the summary line is tracer_s" "$(cat "$tmp/said")" \
		"merged in $(number tracer_s) s, written in [0-9.]+ s, "
}

each_mpi whole_run
each_mpi all_times
each_mpi little_memory
each_mpi together

finish
