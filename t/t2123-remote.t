#!/bin/sh
# The trace goes to a network's file system: while the program runs, parts are in the node's memory, and
# copies of them beside the trace, which outlive the node.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

ranks=3
name=remote-$$.rondo
trap 'rm -rf /dev/shm/$name-*.part; at_exit' EXIT

# remotely COMMAND...: the folder $far is another machine's
remotely() {
	LD_PRELOAD="$tmp/remote.so${yield:+:$yield}" REMOTE_FOLDER="$far" t/limit 120 "$@"
}

# unwatched N PROGRAM...: runs the program with the tracer and without watchers, as if the node had failed
unwatched() {
	_n=$1
	shift
	case $mpi in
	openmpi) _tracer=${RONDO%/*}/librondo-ompi.so ;;
	mpich) _tracer=${RONDO%/*}/librondo-mpich.so ;;
	esac
	remotely "mpirun.$mpi" -n "$_n" sh -c 'LD_PRELOAD=$0:$LD_PRELOAD RONDO_OUTPUT=$1 && shift &&
		export LD_PRELOAD RONDO_OUTPUT && exec "$@"' "$_tracer" "$trace" "$@"
}

in_memory() {
	ls -d /dev/shm/"$name"-*.part/* 2>/dev/null
}

nothing_left() {
	! in_memory && [ ! -e "$far/$name.part" ]
}

new_run() {
	far=$tmp/$mpi/far log=$tmp/$mpi/log trace=$far/$name
	rm -rf "$far" "$log" /dev/shm/"$name"-*.part
	mkdir "$far" "$log"
}

# copied: waits until the copy has grown some times
copied() {
	_tries=0 _grown=0 _size=0
	while [ $_grown -lt 3 ]; do
		_tries=$((_tries + 1))
		[ $_tries -lt 500 ] || return 1
		sleep 0.02
		_now=$(du -k "$trace.part" 2>/dev/null | cut -f 1)
		[ "${_now:-0}" -le $_size ] || _grown=$((_grown + 1)) _size=$_now
	done
}

# Ends when all have been killed.
kill_all() {
	copied
	_rc=$?
	kill -KILL $(head -q -n 1 "$log"/[0-9]*)
	wait
	return $_rc
}

# killed COMMAND...: runs it, and kills the ranks when there are copies
killed() {
	remotely "$@" >"$tmp/out" 2>"$tmp/said" &
	kill_all
}

# prefix MISSING: the trace has what was logged, but for so many calls of a rank at the end
prefix() {
	"$RONDO" check "$trace" && "$RONDO" dump "$trace" | t/compare-prefix "$log" "$1"
}

# from_copy N ARGUMENT...: runs it on N ranks, and makes the trace of the copy alone
from_copy() {
	new_run
	unwatched "$1" $2 >"$tmp/out" 2>&1
	rm -rf /dev/shm/"$name"-*.part
	"$RONDO" recover "$trace.part" >>"$tmp/out" 2>&1
}

# all_calls CALLS: also when much was sealed that was not copied
all_calls() {
	from_copy 1 "$tmp/$mpi/prog_leaving $1"
	is "$mpi: a rank leaves after $1 more calls, and all are in the copy" \
		"$("$RONDO" info "$trace" | sed -n 's/^calls: //p')" $(($1 + 40001))
}

# With little memory a stream is in segments, of which none is sealed again.
segments() {
	build_prog prog_many
	with_yield t/limit 120 "$RONDO" trace -o "$tmp/$mpi/full" "mpirun.$mpi" -n 2 "$tmp/$mpi/prog_many" 200 \
		>"$tmp/out" 2>&1
	from_copy 2 "env RONDO_MEMORY=1048576 $tmp/$mpi/prog_many 200"
	dump_calls "$tmp/$mpi/full" >"$tmp/$mpi/wanted"
	dump_calls "$trace" >"$tmp/$mpi/got"
	ok "$mpi: streams in segments are in the copy" cmp "$tmp/$mpi/wanted" "$tmp/$mpi/got"
}

remote() {
	launch="mpirun.$mpi -n $ranks"
	yield=
	with_yield :
	[ "$mpi" = openmpi ] || yield=$tmp/yield.so
	ok "$mpi: programs compile" build_prog prog_killed
	build_prog prog_ending
	"mpicc.$mpi" -w -o "$tmp/$mpi/row_col" t/prog/row_col.c

	new_run
	ok "$mpi: a run that ends well" remotely "$RONDO" trace -o "$trace" $launch "$tmp/$mpi/row_col"
	like "... is complete" "$("$RONDO" info "$trace")" '^complete: yes$'
	ok "... and leaves nothing else" nothing_left

	new_run
	ok "$mpi: all ranks are killed" killed "$RONDO" trace -o "$trace" $launch \
		"$tmp/$mpi/prog_killed" "$log" 1
	ok "... and what they did is in the trace" prefix 1
	ok "... and nowhere else" nothing_left

	new_run
	unwatched $ranks "$tmp/$mpi/prog_killed" "$log" 2 >"$tmp/out" 2>"$tmp/said" &
	ok "$mpi: ranks without a watcher are killed" kill_all
	ok "... the parts are in memory" in_memory
	cp -r "$trace.part" "$far/copy.part"
	ok "... and found by the name of the trace" "$RONDO" recover "$trace.part"
	ok "... with all calls" prefix 1
	ok "... and nothing is left" nothing_left

	rm "$trace"
	mv "$far/copy.part" "$trace.part"
	ok "$mpi: when the node is gone, there is a copy" "$RONDO" recover "$trace.part"
	ok "... which has the beginning of the calls" prefix 100000000
	like "... is not complete" "$("$RONDO" info "$trace")" '^incomplete: 0-2$'
	calls=$("$RONDO" dump "$trace" | wc -l)
	ok "... of some thousands ($calls)" test "$calls" -gt 1000
	ok "... and the copy stays" test -e "$trace.part"

	new_run
	RONDO_TEST_LOG=$log
	export RONDO_TEST_LOG
	unwatched 1 "$tmp/$mpi/prog_ending" exit >"$tmp/out" 2>&1
	ok "$mpi: a rank that ends without MPI_Finalize leaves a part" in_memory
	rm -rf /dev/shm/"$name"-*.part
	ok "... and a copy of it" "$RONDO" recover "$trace.part"
	sound_and_as_logged
	ok "... which is not needed any more" nothing_left
	unset RONDO_TEST_LOG

	new_run
	REMOTE_FULL=1
	export REMOTE_FULL
	ok "$mpi: no room in memory" remotely "$RONDO" trace -o "$trace" $launch "$tmp/$mpi/row_col"
	unset REMOTE_FULL
	like "... the trace is complete" "$("$RONDO" info "$trace")" '^complete: yes$'
	ok "... and nothing else is left" nothing_left

	"mpicc.$mpi" -w -o "$tmp/$mpi/prog_leaving" t/prog/prog_leaving.c
	all_calls 1500000
	all_calls 1516384
	all_calls 1532768
	segments
}

ok "the preload compiles" cc -D_GNU_SOURCE -shared -fPIC -o "$tmp/remote.so" t/prog/remote_preload.c
each_mpi remote

finish
