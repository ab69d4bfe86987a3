#!/bin/sh
# rondo replay: what few programs do. Cancelled sends and receives that name their partner,
# generalized requests, MPI_Win_test, MPI_Parrived, MPI_Isendrecv, one-sided operations, long calls of
# MPI_Startall; and a send that is not buffered any more.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

replays=3

# preloaded LIBRARIES... -- COMMAND...
preloaded() {
	_list=
	while [ "$1" != -- ]; do
		_list="$_list $1"
		shift
	done
	shift
	with_yield run_preloaded "$@"
}

run_preloaded() {
	run env DELAY=300 LD_PRELOAD="$LD_PRELOAD$_list" t/limit 60 "$@"
}

# preload NAME: builds t/prog/NAME_preload.c to $so
preload() {
	so=$tmp/$mpi/$1.so
	"mpicc.$mpi" -shared -fPIC -o "$so" "t/prog/$1_preload.c"
}

last_line() {
	grep '^rondo: ' "$tmp/err" | tail -n 1
}

# reproduced PATTERN WHAT PROGRAM ARGUMENTS...: with --only=WHAT; the last line is like PATTERN.
# $recording and $always are preloaded while it is recorded, and in both.
reproduced() {
	_pattern=$1 _only=$2
	shift 2
	rm -rf "$trace" "$trace.part"
	ok "$mpi: $*${recording:+ with ${recording##*/}} is recorded, --only=$_only" \
		preloaded $recording $always -- "$RONDO" trace --only="$_only" -o "$trace" \
		"mpirun.$mpi" -n 4 "$tmp/$mpi/order_$@"
	_wanted=$(cat "$tmp/out") _same=0
	for _ in $(seq $replays); do
		preloaded $always -- "$RONDO" replay "$trace" "mpirun.$mpi" -n 4 \
			"$tmp/$mpi/order_$@"
		[ "$(cat "$tmp/out")" != "$_wanted" ] || _same=$((_same + 1))
	done
	is "... is replayed" "$_same of $replays" "$replays of $replays"
	like "... as one line says" "$(last_line)" "$_pattern"
}
recording='' always=''

all_came='calls? came out, as recorded$'

# --- corner cases --------------------------------------------------------------------------

corners() {
	for _mode in null sources late error; do
		for _what in order mpi; do
			reproduced "$all_came" $_what corner $_mode
		done
	done
}

# --- cancelled -----------------------------------------------------------------------------

cancelled() {
	reproduced "$all_came" order directed 20 1 ignore
	reproduced "$all_came" mpi directed 20
	preload cancel
	recording=$so
	reproduced "$all_came" order directed 20
	_with=$_wanted
	recording=
	reproduced "$all_came" order directed 20
	ok "... what was cancelled is seen to be missing" test "${_wanted#* }" != "${_with#* }"
}

# --- generalised requests ------------------------------------------------------------------

general() {
	reproduced '; [0-9]+ tests of generalised requests failed that did not' order general 20
}

# --- callbacks -----------------------------------------------------------------------------

# A call of many requests inside a callback of another one does not use the memory of that call.
callback() {
	if [ "$mpi" = mpich ]; then
		skip "$mpi: order_callback" "it does not permit MPI calls in a query function"
		return
	fi
	ok "$mpi: order_callback compiles" build_prog order_callback
	reproduced "$all_came" order callback
}

# --- MPI_Isendrecv -------------------------------------------------------------------------

# Where its status says nothing, neither does the record.
isendrecv() {
	if ! has_mpi4; then
		skip "$mpi: MPI_Isendrecv" "it has none"
		return
	fi
	build_prog order_isendrecv
	preloaded -- "$RONDO" trace --only=order -o "$trace" "mpirun.$mpi" -n 4 \
		"$tmp/$mpi/order_isendrecv" 20
	if grep -q 'not exactly replayable' "$tmp/err"; then
		like "$mpi: that MPI_Isendrecv tells nothing is told" "$(last_line)" \
			'not exactly replayable: .*MPI_Isendrecv'
		preload isendrecv
		always=$so
	fi
	reproduced "$all_came" order isendrecv 20
	reproduced "$all_came" mpi isendrecv 20
	always=
}

# --- one-sided operations ------------------------------------------------------------------

# The outcome of one-sided operations is not enforced, and the summary lists them.
one_sided() {
	_all='not enforced: 20 MPI_Compare_and_swap, 20 MPI_Fetch_and_op, 20 MPI_Get, 20 MPI_Get_accumulate$'
	reproduced "calls came out, as recorded; $_all" order rma 5
	reproduced "calls came out, as recorded; $_all" mpi rma 5
}

# --- buffers -------------------------------------------------------------------------------

# What is sent is 8000 bytes.
buffers() {
	rm -rf "$trace"
	ok "$mpi: a program that relies on buffers is recorded" with_eager 65536 30 "$RONDO" trace \
		--only=order -o "$trace" "mpirun.$mpi" -n 2 "$tmp/$mpi/order_eager"
	RONDO_STALL=1 with_eager 1024 10 "$RONDO" replay "$trace" "mpirun.$mpi" -n 2 \
		"$tmp/$mpi/order_eager"
	like "... when they are smaller, a line tells why it waits" "$(cat "$tmp/err")" \
		'in MPI_Test for a send to complete: buffering differs from the record'
}

# with_eager BYTES SECONDS COMMAND...
with_eager() {
	_bytes=$1 _seconds=$2
	shift 2
	run env OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_eager_limit="$_bytes" \
		t/limit "$_seconds" "$@"
}

test_rare() {
	trace=$tmp/$mpi/run.rondo
	for p in asks corner directed eager general rma startall; do
		ok "$mpi: order_$p compiles" build_prog order_$p
	done
	reproduced "$all_came" order asks 10
	reproduced "$all_came" mpi asks 10
	reproduced "$all_came" order startall 2
	reproduced "$all_came" mpi startall 2
	corners
	cancelled
	general
	callback
	isendrecv
	one_sided
	# MPICH has no such limit that could be set without knowing how it was built.
	[ "$mpi" = mpich ] || buffers
}

each_mpi test_rare

finish
