#!/bin/sh
# Programs that end without MPI_Finalize: exit code and output are the program's, what can be kept is
# kept and one line says how to get it, and otherwise nothing is left.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# place RANKS HOW [WHO]: where what comes of this ending goes, in $at
place() {
	at=$tmp/$mpi/$(echo "$@" | tr ' ' -)
	log=$at/log out=$at/out
	trace=$out/trace.rondo
}

untraced() {
	place "$@"
	_ranks=$1
	shift
	run_mpi "$_ranks" "$prog" "$@" >"$at/plain" 2>/dev/null
	echo $? >"$at/plain.code"
}

traced() {
	place "$@"
	_ranks=$1
	shift
	RONDO_TEST_LOG=$log trace_mpi "$trace" "$_ranks" "$prog" "$@" >"$at/traced" 2>"$at/err"
	echo $? >"$at/traced.code"
}

# prepare "RANKS HOW [WHO]"...: all at the same time, because launchers wait for a second before
# they kill
prepare() {
	for _case in "$@"; do
		place $_case
		mkdir -p "$log" "$out"
		untraced $_case &
		traced $_case &
	done
	wait
}

# same_code RANKS HOW [WHO]: a launcher that has to kill ranks crashes itself now and then (139,
# traced or not): then both are run again
same_code() {
	for _ in 1 2 3; do
		! cmp -s "$at/traced.code" "$at/plain.code" && [ "$1" -gt 1 ] || break
		rm -rf "$out" "$log"
		prepare "$*"
	done
	is "$mpi: $*: the exit code is the program's" "$(cat "$at/traced.code")" "$(cat "$at/plain.code")"
}

# ending RANKS HOW [WHO]. Of several ranks, a launcher kills the others at once, and what they could
# still print is luck.
ending() {
	place "$@"
	ranks=$1
	same_code "$@"
	said=$(grep '^rondo: ' "$at/err")
	is "... one line of ours" "$(printf '%s\n' "$said" | grep -c .)" 1
	[ "$ranks" -gt 1 ] || is "... and the output is the program's" \
		"$(grep '^rank' "$at/traced")" "$(grep '^rank' "$at/plain")"
}

# The launcher has put together what was left, and said so in the one line.
recovered() {
	like "... which says what came of it" "$said" "; $trace: [1-9][0-9]* of $ranks ranks?, "
	is "... and leaves nothing else" "$(ls -A "$out")" trace.rondo
}

# same_counts CALLS: what was said, what info says and what dump prints
same_counts() {
	is "... calls are counted" "$1" "$("$RONDO" info "$trace" | sed -n 's/^calls: //p')"
	is "... as dump has them" "$1" "$("$RONDO" dump "$trace" | wc -l | tr -d ' ')"
}

all_recovered() {
	recovered
	like "... for all ranks" "$said" ": $ranks of $ranks ranks?, "
	same_counts "$(printf '%s\n' "$said" | sed -n 's/.* ranks\{0,1\}, \([0-9]*\) calls, .*/\1/p')"
	like "... with times" "$("$RONDO" info --calls "$trace")" ' total_s '
	like "... and communicators" "$("$RONDO" info --sections "$trace")" '^section.comms: '
	sound_and_as_logged
}

# Those that were killed are not complete, and neither is their log.
some_recovered() {
	recovered
	ok "... to a sound trace" "$RONDO" check "$trace"
}

endings() {
	prog=$tmp/$mpi/prog_ending
	ok "$mpi: prog_ending compiles" build_prog prog_ending
	with_yield : # makes what those that follow share
	prepare "1 exit" "1 exit-0" "1 return" "1 mpi-abort" "1 quick-exit" "1 kill"
	prepare "1 abort" "1 mpi-error" "1 finalize" "2 exit 1" "2 mpi-abort 0" "2 kill 1"
	for _end in exit exit-0 return mpi-abort; do
		ending 1 $_end
		all_recovered
	done
	for _end in quick-exit kill abort mpi-error; do
		ending 1 $_end
		some_recovered
	done

	ending 1 finalize
	is "... there is nothing but the trace" "$(ls -A "$out")" trace.rondo
	same_counts "$(printf '%s\n' "$said" | sed -n 's/^rondo: \([0-9]*\) calls on .*/\1/p')"
	sound_and_as_logged

	ending 2 exit 1
	some_recovered
	ending 2 mpi-abort 0
	some_recovered
	ending 2 kill 1
	some_recovered
}

# parts_gone: waits until the watchers of the ranks have made the trace
parts_gone() {
	for _ in $(seq 150); do
		[ -e "$trace.part" ] || return 0
		sleep 0.1
	done
	return 1
}

# If a launcher starts rondo, the watchers of the ranks make the trace after exit without
# MPI_Finalize, a crash, MPI_Abort and a fatal MPI error. After a fatal MPI error, a launcher may close
# standard error before the line is printed.
behind() {
	prog=$tmp/$mpi/prog_ending
	for _end in exit kill abort mpi-abort mpi-error; do
		place behind $_end
		mkdir -p "$out" "$log"
		RONDO_TEST_LOG=$log run run_mpi 3 "$RONDO" trace -o "$trace" "$prog" $_end 1
		_code=$?
		for _ in 1 2 3 4 5 6; do # MPICH's launcher may combine the exit code with those of ranks that it kills
			run_mpi 3 "$prog" $_end 1 >/dev/null 2>&1
			_want=$?
			[ $_want -ne $_code ] || break
		done
		# ... or return only the code of the ranks that it kills.
		[ "$mpi $_code" != "mpich 9" ] || _want=9
		is "$mpi: after the launcher, $_end: the exit code is the program's" $_code $_want
		_lines=$(grep -c '^rondo: ' "$tmp/err")
		if [ $_end = mpi-error ]; then
			ok "... at most one line is printed" test "$_lines" -le 1
		else
			is "... one line is printed" "$_lines" 1
			like "... the line names the trace or the command" "$(cat "$tmp/err")" \
				"^rondo: .*(rondo recover $trace.part|$trace: 3 of 3 ranks,)"
		fi
		ok "... the trace is made" parts_gone
		like "... the trace has all ranks" "$("$RONDO" info "$trace")" '^ranks: 3$'
		ok "... the trace is valid" "$RONDO" check "$trace"
		is "... no other file is left" "$(ls -A "$out")" trace.rondo
	done
}

# An incomplete trace does not replace a complete one.
twice() {
	prog=$tmp/$mpi/prog_ending
	place twice
	mkdir -p "$out"
	ok "$mpi: a run that ends well" trace_mpi "$trace" 1 "$tmp/$mpi/prog_ending" well
	cp "$trace" "$at/first"
	run trace_mpi "$trace" 2 "$prog" kill 1
	like "... the trace of a killed run with the same name gets the next number" "$(cat "$tmp/err")" \
		"; $out/trace\.2\.rondo: [12] of 2 ranks, "
	ok "... and the complete trace is unchanged" cmp "$trace" "$at/first"
}

# after ACTION...: runs prog_after behind the launcher; $command runs on rank 0 before MPI_Finalize
after() {
	run run_mpi 2 "$RONDO" trace -o "$trace" "$tmp/$mpi/prog_after" "$command" "$@"
	ok "... the part files are removed" parts_gone
}

calls_of() {
	"$RONDO" info "$1" | sed -n 's/^calls: //p'
}

# What ranks do after MPI_Finalize, behind the launcher.
later() {
	ok "$mpi: prog_after compiles" "mpicc.$mpi" $prog_flags -o "$tmp/$mpi/prog_after" t/prog/prog_after.c
	place later
	mkdir -p "$out"
	run trace_mpi "$at/other" 1 "$tmp/$mpi/prog_after" true
	command="cp '$at/other' '$trace'"
	after none calls
	ok "$mpi: a trace that appears during the run is not replaced by late calls" cmp "$at/other" "$trace"
	is "... the trace with the next number has the calls" "$(calls_of "$out/trace.2.rondo")" 17
	is "... and nothing else is left" "$(ls -A "$out")" "trace.2.rondo
trace.rondo"
	rm -f "$out"/*
	command=true
	for _end in exit; do
		after later $_end
		is "$mpi: a rank ends by $_end, and late calls of another are in the trace" \
			"$(calls_of "$trace")" 17
		is "... and nothing else is left" "$(ls -A "$out")" trace.rondo
	done
	cp "$trace" "$at/first"
	run run_mpi 2 "$RONDO" trace --rank 7 -o "$trace" "$tmp/$mpi/prog_after" true none kill
	is "$mpi: no rank is selected, and one is killed: one line" "$(grep -c '^rondo: ' "$tmp/err")" 1
	ok "... no part files are left" parts_gone
	is "... no trace is made" "$(ls -A "$out")" trace.rondo
	ok "... the trace that exists is unchanged" cmp "$trace" "$at/first"
}

# No part file can be created, because mkdir fails in /sys.
no_file() {
	place no-file
	mkdir -p "$out"
	_reason="no part file could be written: /sys/trace.rondo.part: "
	run run_mpi 2 "$RONDO" trace --spill=/sys -o "$trace" "$tmp/$mpi/prog_ending" kill
	like "$mpi: a run without part files is killed behind the launcher: the reason is printed" \
		"$(cat "$tmp/err")" "^rondo: .*$_reason"
	is "... in one line" "$(grep -c '^rondo: ' "$tmp/err")" 1
	run "$RONDO" trace --spill=/sys -o "$trace" "mpirun.$mpi" -n 2 "$tmp/$mpi/prog_ending" kill
	like "... and in front of it" "$(cat "$tmp/err")" "^rondo: .*$_reason"
	is "... in one line" "$(grep -c '^rondo: ' "$tmp/err")" 1
	run run_mpi 2 "$RONDO" trace --spill=/sys -o "$trace" "$tmp/$mpi/prog_after" true calls calls
	is "$mpi: a run without part files has the name that was asked for" "$(ls -A "$out")" trace.rondo
	is "... one line reports that late calls are not recorded" \
		"$(grep -c '^rondo: calls came when the trace had been written' "$tmp/err")" 1
	run "$RONDO" trace --spill=/sys -o "$trace" "mpirun.$mpi" -n 2 "$tmp/$mpi/prog_after" true calls calls
	like "... and in front of the launcher, how many" "$(cat "$tmp/err")" '^rondo: 14 calls on 2 ranks came when'
}

# The tracer of another MPI is asked for: one line for all ranks.
other_mpi() {
	[ "$mpi" = mpich ] || return 0
	[ -z "$(mpi_missing openmpi)" ] || return 0
	run run_mpi 3 "$RONDO" trace --mpi=ompi -o "$tmp/$mpi/other.rondo" sh -c "$tmp/$mpi/prog_after true; :"
	is "$mpi: ranks that are not traced are reported in one line" "$(grep -c '^rondo: not traced: ' "$tmp/err")" 1
}

# linger N FOLDER PROGRAM...: and waits until N have ended, because launchers kill the other ranks as
# soon as one is gone
cat >"$tmp/linger" <<'EOF'
#!/bin/sh
n=$1 folder=$2 tries=0
shift 2
"$@"
: >"$folder.ended.$$"
while [ "$(ls "$folder".ended.* | grep -c .)" -lt "$n" ] && [ $tries -lt 200 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
EOF
chmod +x "$tmp/linger"

together() {
	place together
	mkdir -p "$log" "$out"
	ranks=4
	RONDO_TEST_LOG=$log run trace_mpi "$trace" $ranks "$tmp/linger" $ranks "$at/linger" \
		"$tmp/$mpi/prog_ending" exit-0
	said=$(grep '^rondo: ' "$tmp/err")
	all_recovered
}

# Where exit is called inside of malloc, there is no memory to be had from it.
locked() {
	place locked
	mkdir -p "$log" "$out"
	ok "$mpi: prog_locked compiles" build_prog prog_locked
	RONDO_TEST_LOG=$log
	export RONDO_TEST_LOG
	ranks=1
	status "$mpi: exit inside of malloc" 7 trace_mpi "$trace" 1 "$tmp/$mpi/prog_locked" \
		"$trace.part"
	said=$(grep '^rondo: ' "$tmp/err")
	recovered
	sound_and_as_logged
}

# The tracer reserves more than it needs, of which nothing is to be there.
locked_memory() {
	trace=$tmp/$mpi/all_locked.rondo
	ok "$mpi: prog_all_locked compiles" "mpicc.$mpi" $prog_flags -o "$tmp/$mpi/prog_all_locked" \
		t/prog/prog_all_locked.c
	ok "... and peak_memory" cc -o "$tmp/peak_memory" t/prog/peak_memory.c
	ok "... exit with locked memory" "$tmp/peak_memory" "$RONDO" trace -o "$trace" \
		"$tmp/$mpi/prog_all_locked"
	if grep -q '^cannot' "$tmp/out"; then
		skip "... which does not take much" "no memory may be locked"
	else
		is "... which does not take much" "$(cat "$tmp/out")" "little memory"
	fi
	ok "... and there is a trace" "$RONDO" check "$trace"
}

each_mpi locked_memory

each_mpi endings
each_mpi together
each_mpi locked
each_mpi behind
each_mpi later
if [ -w /sys ] && ! mkdir /sys/rondo-test 2>/dev/null; then
	each_mpi no_file
else
	skip "runs without part files" "there is no directory in which mkdir fails"
fi
each_mpi other_mpi
each_mpi twice

finish
