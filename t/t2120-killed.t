#!/bin/sh
# Programs that are killed at random moments: what they did until then is recovered, to the call.
# RONDO_KILLS=200 is what `make soak` does; RONDO_SEED=N begins with other moments.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

kills=${RONDO_KILLS:-5}
seed=${RONDO_SEED:-1}
ranks=3

# runs PID: a process that nobody has waited for is over all the same
runs() {
	_state=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) || return 1
	case $_state in
	'' | [ZX]*) return 1 ;;
	esac
}

# gone PID...: waits for the processes to be gone, and helps
gone() {
	for _pid in "$@"; do
		while runs "$_pid"; do
			kill -KILL "$_pid" 2>/dev/null
			sleep 0.02
		done
	done
}

# pids: of all ranks that have said theirs
pids() {
	for _file in "$log"/[0-9]*; do
		head -n 1 "$_file"
	done
}

# started: waits until all ranks have made some calls
started() {
	_tries=0
	until [ "$(cat "$log"/[0-9]* 2>/dev/null | grep -c MPI_Op_create)" -eq $ranks ]; do
		_tries=$((_tries + 1))
		[ $_tries -lt 1000 ] || return 1
		sleep 0.02
	done
}

# moment: in milliseconds, for this seed
moment() {
	awk "BEGIN { srand($seed); print int(400 * rand()) }"
}

# victim WHO: its process ids
victim() {
	case $1 in
	one) head -n 1 "$log/1" ;;
	all) pids ;;
	launcher) cat "$at/launcher" ;;
	esac
}

# killed WHO MILLISECONDS: runs the program, and kills WHO so long after it has begun; every other
# time its streams are in segments. Some ranks go on without their launcher, which is not to last.
killed() {
	rm -rf "$at"
	mkdir -p "$log"
	with_yield t/limit 120 "$RONDO" trace --memory $((seed % 2 ? 1 : 256))M -o "$trace" sh -c 'echo $$ >"$0"; exec "$@"' "$at/launcher" \
		"mpirun.$mpi" -n $ranks "$tmp/$mpi/prog_killed" "$log" "$seed" >"$at/out" 2>"$at/err" &
	started || return
	sleep "$(awk "BEGIN { print $2 / 1000 }")"
	kill -KILL $(victim "$1")
	[ "$1" != launcher ] || {
		sleep 0.1
		gone $(pids)
	}
	wait
	gone $(pids)
}

recovered() {
	[ ! -e "$trace.part" ] || "$RONDO" recover "$trace.part" &&
		"$RONDO" check "$trace" &&
		"$RONDO" dump "$trace" | t/compare-prefix "$log"
}

# place WHO: where its run is
place() {
	at=$tmp/$mpi/$1
	log=$at/log trace=$at/trace.rondo
}

# one_kill WHO MILLISECONDS: leaves how it went in WHO.code and WHO.said
one_kill() {
	place "$1"
	{ killed "$1" "$2" && recovered; } >"$at.said" 2>&1
	echo $? >"$at.code"
}

# outcome WHO
outcome() {
	cat "$tmp/$mpi/$1.said"
	return "$(cat "$tmp/$mpi/$1.code")"
}

# fifo_planted: runs the program, creates a FIFO beside the part file of the run, and kills all
# ranks. Returns the exit status of `rondo trace`; 124 if it waited for the FIFO.
fifo_planted() {
	mkdir -p "$log"
	with_yield t/limit 20 "$RONDO" trace -o "$trace" \
		"mpirun.$mpi" -n $ranks "$tmp/$mpi/prog_killed" "$log" "$seed" >"$at/out" 2>"$at/err" &
	_trace=$!
	started || return
	for _part in "$trace.part"/*-*; do
		_name=${_part##*/}
		mkfifo "$trace.part/${_name%%-*}-fifo"
		break
	done
	kill -KILL $(pids)
	wait $_trace
}

# Those of one round run at the same time.
kill_them() {
	ok "$mpi: prog_killed compiles" build_prog prog_killed
	with_yield : # makes what those that follow share
	_n=0
	while [ $_n -lt "$kills" ]; do
		_round=$seed
		for _who in one all launcher; do
			seed=$((seed + 1))
			one_kill $_who "$(moment)" &
		done
		wait
		seed=$_round
		for _who in one all launcher; do
			_n=$((_n + 1))
			seed=$((seed + 1))
			ok "$mpi: $_who killed after $(moment) ms (RONDO_SEED=$_round)" outcome $_who
		done
	done
	place launcher
	like "$mpi: the trace says so" "$("$RONDO" info "$trace")" '^complete: no$'
	like "... and of whom" "$("$RONDO" info "$trace")" '^incomplete: 0-2$'
	place fifo
	fifo_planted
	unlike "$mpi: rondo trace does not wait for a FIFO in the part directory" $? '^124$'
	ok "... the trace is valid" "$RONDO" check "$trace"
}

each_mpi kill_them

finish
