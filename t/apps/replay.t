#!/bin/sh
# Programs whose receives come in another order in each run are replayed in the recorded one:
# RONDO_REPLAYS times each (default 10).
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh

replays=${RONDO_REPLAYS:-10}
trace=$tmp/run.rondo

record_order() {
	_n=$1
	shift
	"$root/t/limit" 120 "$RONDO" trace --only=order --values -o "$trace" "mpirun.$mpi" -n "$_n" "$@"
}

replay() {
	_n=$1
	shift
	"$root/t/limit" 60 "$RONDO" replay "$trace" "mpirun.$mpi" -n "$_n" "$@"
}

# How rondo says that all went as recorded, and that nothing is left.
as_recorded='^rondo: [1-9][0-9]* messages came, and [0-9]+ calls came out, as recorded$'

# Why the last replay was not right; nothing when it was.
what_is_wrong() {
	[ "$(cat "$tmp/replay/status")" = "$(cat "$tmp/record/status")" ] ||
		echo "exit status $(cat "$tmp/replay/status")"
	grep '^rondo: ' "$tmp/replay/err" | grep -Ev "$as_recorded"
	grep -Eq "$as_recorded" "$tmp/replay/err" || echo "it does not say: as recorded"
	(cd "$tmp/replay" && results) >"$tmp/got"
	diff "$tmp/wanted" "$tmp/got"
}

# replayed_alike PROGRAM...: on 4 ranks
replayed_alike() {
	rm -rf "$trace" "$trace.part"
	run_in record record_order 4 "$@"
	(cd "$tmp/record" && results) >"$tmp/wanted"
	is "$mpi: ${1##*/} on 4 ranks is recorded" "$(cat "$tmp/record/status")" 0
	diag "$(grep '^rondo:' "$tmp/record/err" | sed 's/; see:.*//')"
	ok "... something came out" test -s "$tmp/wanted"
	_right=0
	for _i in $(seq "$replays"); do
		run_in replay replay 4 "$@"
		_wrong=$(what_is_wrong)
		[ -z "$_wrong" ] && _right=$((_right + 1)) || explain "replay $_i: $_wrong"
	done
	is "... and replayed" "$_right of $replays" "$replays of $replays"
}

installed() {
	[ -z "$(mpi_missing $mpi)" ] && "$@" >/dev/null 2>&1
}

# --- ParFORM: a master and workers ---------------------------------------------------------

if installed have parform; then
	input t/apps/power.frm
	results() {
		form_results
	}
	replayed_alike parform power.frm
else
	skip "parform" "the package form is not installed"
fi

# --- HPCC: random access takes updates from anybody ----------------------------------------

if installed have hpcc; then
	input t/apps/hpccinf.txt
	results() {
		hpcc_results
	}
	replayed_alike hpcc
else
	skip "hpcc" "the package hpcc is not installed"
fi

# --- MUMPS: with the recorded order sums are rounded as they were --------------------------

if installed test -x /usr/lib/mumps/dsimpletest; then
	input
	t/apps/matrix >"$tmp/matrix"
	stdin=$tmp/matrix
	results() {
		grep 'Solution is' out
	}
	replayed_alike /usr/lib/mumps/dsimpletest
else
	skip "dsimpletest" "the package mumps-test is not installed"
fi

finish
