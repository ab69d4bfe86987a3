#!/bin/sh
# rondo replay of a program that was changed after it was recorded, with a full trace and with an
# order trace: the change is located, or the program replays. No replay hangs, and no receive gets
# a message that the program did not ask for.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

limit=60 # seconds until a replay that hangs is ended
stall=3  # seconds

timed() {
	with_yield run t/limit $limit "$@"
}

said() {
	grep '^rondo: ' "$tmp/err"
}

# record TYPE CALL: records the program to $trace, once
record() {
	trace=$at/$1-$2.rondo
	[ -e "$trace" ] || status "$mpi: the program is recorded with $2, --only=$1" 0 \
		timed "$RONDO" trace --only="$1" -o "$trace" "mpirun.$mpi" -n 4 "$at/order_rebuilt" "$2"
}

# replay CHANGE CALL [OPTION...]: replays $trace with the changed program
replay() {
	_change=$1 _call=$2
	shift 2
	CHANGE=$_change timed "$RONDO" replay "$@" "$trace" "mpirun.$mpi" -n 4 "$at/order_rebuilt" "$_call"
	code=$?
	unlike "$mpi: $_change: no receive gets a message that it did not ask for" \
		"$(cat "$tmp/out")" '^unasked'
}

# diverges TYPE CALL CHANGE PATTERN: one line locates the change
diverges() {
	record "$1" "$2"
	replay "$3" "$2" --stall=$stall
	is "... --only=$1, $2: the exit code reports the divergence" $code 71
	is "... one line locates it" "$(said | grep -Ec "does not do what was recorded: $4")" 1
	[ "$(said | grep -Ec "does not do what was recorded: $4")" = 1 ] || show_output
}

# replays TYPE CALL CHANGE: the changed program replays to its end
replays() {
	record "$1" "$2"
	replay "$3" "$2"
	is "... --only=$1, $2: the program ends normally" "$code $(cat "$tmp/out")" '0 done: 0 unasked'
	like "... and the messages came as recorded" "$(said)" '36 messages came, and .* as recorded$'
}

# stalls TYPE CALL CHANGE PATTERN: the summary locates the event
stalls() {
	record "$1" "$2"
	replay "$3" "$2" --stall=$stall
	is "... --only=$1, $2: the exit code reports the stall" $code 71
	like "... a message reports the stall" "$(said)" \
		"the replay is stalled: all ranks wait, and no MPI call other than tests and probes has returned for \
$stall seconds\$"
	like "... the summary contains the awaited event" "$(said)" "$4"
	like "... the summary contains the other ranks" \
		"$(said)" 'rank 1: MPI_Barrier\(comm:world.0\) \(and 2 more ranks\)$'
}

changed='rank 0, call [0-9]+: now'
sender='rank 1, call [0-9]+: now'
affected='rank 0, event [0-9]+: now'

# With a full trace, every change of a call is located at the first changed call.
from_full_trace() {
	diverges mpi recv tag "$changed MPI_Recv\(peer any, tag 2,.*, recorded was MPI_Recv\(peer any, tag 1,"
	diverges mpi recv source "$changed MPI_Recv\(peer 3, tag any,.*, recorded was MPI_Recv\(peer any, tag 1,"
	diverges mpi recv communicator "rank [0-3], call [0-9]+: now .*, comm:world.1\), recorded was .*, comm:world.0\)"
	diverges mpi recv receive-more "($sender MPI_Send|$changed MPI_Recv)\(.*, recorded was MPI_"
	diverges mpi recv receive-fewer "$changed MPI_Irecv\(.*, recorded was MPI_Recv\("
	diverges mpi recv send-more "$sender MPI_Send\(peer 0, tag 5,.*, recorded was MPI_Send\(peer 2, tag 6,"
	diverges mpi recv send-fewer "$sender MPI_Send\(peer 0, tag 4,.*, recorded was MPI_Send\(peer 0, tag 3,"
	diverges mpi recv send-other "$sender MPI_Send\(peer 2, tag 3,.*, recorded was MPI_Send\(peer 0, tag 3,"
	diverges mpi recv probe-more "$changed MPI_Probe\(.*, recorded was MPI_Irecv\("
	diverges mpi recv probe-fewer "$changed MPI_Irecv\(.*, recorded was MPI_Probe\("
	stalls mpi recv test-more 'rank 0, call [0-9]+: MPI_Test waits for MPI_'
	diverges mpi recv test-fewer "$changed MPI_Wait\(.*, recorded was MPI_Irecv\("
	diverges mpi recv collective-more "rank [0-3], call [0-9]+: now MPI_Barrier\(.*, recorded was MPI_"
	diverges mpi recv collective-fewer "rank [0-3], call [0-9]+: now MPI_.*, recorded was MPI_Barrier\("
	diverges mpi recv posts "$changed MPI_Irecv\(peer any, tag 3,.*, recorded was MPI_Irecv\(peer any, tag 2,"
	diverges mpi recv count "rank [1-3], call [0-9]+: now MPI_Send\(.* count 8,.*, recorded was MPI_Send\(.* count 4,"
	diverges mpi recv branch "rank [123], call [0-9]+: now MPI_.*, recorded was MPI_"
	replays_more mpi recv
	diverges mpi recv steps-fewer "rank [0-3], call [0-9]+: now MPI_Finalize, recorded was MPI_"
	diverges mpi sendrecv tag "$changed MPI_Sendrecv\(.*, recvtag 2,.*, recorded was MPI_Sendrecv\(.*, recvtag 1,"
}

# An order trace contains only outcomes, so a change that does not affect them replays.
from_order_record() {
	diverges order recv tag "$affected MPI_Recv\(source any, tag 2, .*, which received a message from rank [1-3] with tag 1"
	diverges order recv source "$affected MPI_Recv\(source 3, tag any, .*, which received a message from rank 1 with tag 1"
	diverges order recv communicator "$affected MPI_Recv\(.*, comm:world.1\), recorded was MPI_Recv .* on comm:world.0"
	diverges order recv receive-more "$affected MPI_Recv\(.*, recorded was MPI_Waitany .* with tag [23]"
	diverges order recv receive-fewer "$affected MPI_Irecv\(.*, recorded was MPI_Recv .* with tag 1"
	replays order recv send-more
	stalls order recv send-fewer 'rank 0, event [0-9]+: MPI_Waitany waits for a message from rank 1 with tag 3,'
	stalls order recv send-other 'rank 0, event [0-9]+: MPI_Waitany waits for a message from rank 1 with tag 3,'
	diverges order recv probe-more "$affected MPI_Probe\(.*, recorded was MPI_Test"
	stalls order recv probe-fewer 'rank 0, event [0-9]+: MPI_Test waits for MPI_Probe, the next call in the recording'
	stalls order recv test-more 'rank 0, event [0-9]+: MPI_Test waits for MPI_Wait, the next call in the recording'
	diverges order recv test-fewer "$affected MPI_Waitany, recorded was MPI_Test"
	replays order recv collective-more
	replays order recv collective-fewer
	diverges order recv posts "$affected MPI_Irecv\(source any, tag 3, .* with tag 2"
	replays order recv count
	replays order recv branch
	replays_more order recv
	diverges order recv steps-fewer "$affected MPI_Finalize, recorded was MPI_Recv"
}

replays_more() {
	replays "$1" "$2" steps-more
	like "... and the end of the recording is reported" "$(said)" 'rank 0: the record ends here, in MPI_Recv'
}

# Each way to receive. A program may poll more often than recorded, so a poll fails until the replay
# stalls.
ways_to_receive() {
	for call in wait test waitany testsome start sendrecv probe mprobe; do
		diverges order $call tag "$affected MPI_[A-Z][a-z]+\(source any, tag 2, .* message from rank [1-3] with tag 1"
	done
	for call in iprobe improbe; do
		stalls order $call tag "rank 0, event [0-9]+: MPI_I[a-z]+\(peer any, tag 2, .* waits for MPI_I[a-z]+, the next call"
	done
}

# Without --stall, a rank whose polls fail for RONDO_STALL seconds has diverged.
polls() {
	record order iprobe
	RONDO_STALL=1 replay tag iprobe
	is "... iprobe: a repeated poll for another message is a divergence" $code 71
	like "... the divergence is located" \
		"$(said)" "$affected MPI_Iprobe\(source any, tag 2, .* recorded was MPI_Iprobe .* with tag 1"
}

# After a launcher, each rank has its own rondo process, which ends the rank.
launched() {
	record order recv
	CHANGE=send-other timed "mpirun.$mpi" -n 4 "$RONDO" replay --stall=$stall "$trace" "$at/order_rebuilt" recv
	is "$mpi: after a launcher, the exit code reports the stall" $? 71
	is "... and one rank prints the summary" "$(said | grep -c 'the replay is stalled')" 1
}

# order_rebuilt computes for DELAY seconds while the other ranks wait.
computing() {
	record order recv
	DELAY=$((3 * stall)) replay none recv --stall=$stall
	is "... a rank that computes is not stalled" "$code $(cat "$tmp/out")" '0 done: 0 unasked'
}

unlimited() {
	record order recv
	limit=$((2 * stall)) CHANGE=send-other
	export CHANGE
	timed "$RONDO" replay --stall=0 "$trace" "mpirun.$mpi" -n 4 "$at/order_rebuilt" recv
	is "$mpi: --stall=0 sets no limit" $? 124
	unset CHANGE
	limit=60
	rm -rf "$at"/*.replay-*
	DELAY=2 replay none recv --stall=9223372036854775808 # 2^63
	is "... nor does a very large number" "$code $(cat "$tmp/out")" '0 done: 0 unasked'
}

test_rebuilt() {
	at=$tmp/$mpi
	ok "$mpi: order_rebuilt compiles" build_prog order_rebuilt
	if [ $mpi = openmpi ]; then
		from_full_trace
		from_order_record
		ways_to_receive
		polls
		computing
		unlimited
	else
		diverges mpi recv send-other "$sender MPI_Send\(peer 2,.*, recorded was MPI_Send\(peer 0,"
		diverges order recv tag "$affected MPI_Recv\(source any, tag 2, .* with tag 1"
		diverges order start tag "$affected MPI_Start\(source any, tag 2, .* with tag 1"
		diverges order probe tag "$affected MPI_Probe\(source any, tag 2, .* with tag 1"
		stalls order recv send-other 'rank 0, event [0-9]+: MPI_Waitany waits for a message from rank 1 with tag 3,'
		diverges order recv steps-fewer "$affected MPI_Finalize, recorded was MPI_Recv"
	fi
	launched
	is "$mpi: no replay directory is left" "$(ls -d "$at"/*.replay-* 2>/dev/null)" ""
}

each_mpi test_rebuilt

finish
