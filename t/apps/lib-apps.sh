# lib-apps.sh - for tests that trace programs as they are installed. A test sources it behind
# lib-mpi.sh, says what it needs, which files the program reads and what of its output counts, and
# runs it:
#
#	needs PACKAGE COMMAND...     none of the file's tests can run unless COMMAND succeeds
#	input FILE...                copied to where the program runs
#	stdin=FILE                   its standard input (default: nothing)
#	results() { ... }            prints what must be the same, in the folder where it ran; its
#	                             standard output is in the file out there (default: all of it)
#	traced_alike N PROGRAM...    on N ranks with $mpi, untraced and traced: the same exit status,
#	                             the same results, a sound and complete trace ($trace)
#	messages_arrive              what was sent on the world and its copies was received
#
# shellcheck shell=sh disable=SC2154

mpi=openmpi
stdin=/dev/null
inputs=
# The ranks are many enough for the processors.
export OMP_NUM_THREADS=1

needs() {
	_package=$1
	shift
	"$@" >/dev/null 2>&1 || skip_all "the package $_package is not installed"
	_why=$(mpi_missing $mpi)
	[ -z "$_why" ] || skip_all "$_why"
}

have() {
	command -v "$1"
}

input() {
	inputs=$*
}

results() {
	cat out
}

# What counts of programs that several tests run.
form_results() {
	sed -e '/^ParFORM/d' -e '/ sec /d' out
}

# Of the summary all that is not a time, a rate or a bound made of one.
hpcc_results() {
	grep -E '^(Success|CommWorldProcs|HPL_(N|.norm.|nprow|npcol)|.*_(N|n|residual|maxErr|Errors))=' \
		hpccoutf.txt
	grep -c PASSED hpccoutf.txt
}

# run_in DIR COMMAND...: leaves its output and exit status in DIR
run_in() {
	_dir=$tmp/$1
	shift
	rm -rf "$_dir"
	mkdir -p "$_dir"
	[ -z "$inputs" ] || cp $inputs "$_dir"
	(cd "$_dir" && "$@" <"$stdin" >out 2>err)
	echo $? >"$_dir/status"
}

# as_many_calls FILE: info and dump agree on how many there are
as_many_calls() {
	_calls=$("$RONDO" info "$1" | sed -n 's/^calls: //p')
	_lines=$("$RONDO" dump "$1" | wc -l)
	echo "info: $_calls, dump: $_lines"
	[ "$_calls" -gt 0 ] && [ "$_calls" -eq "$_lines" ]
}

traced_alike() {
	_ranks=$1
	shift
	_name="$mpi: ${1##*/} on $_ranks ranks"
	trace=$tmp/trace.rondo
	rm -rf "$trace" "$trace.part"
	with_yield true # is made here, before we go elsewhere
	run_in untraced run_mpi "$_ranks" "$@"
	run_in traced trace_mpi "$trace" "$_ranks" "$@"
	is "$_name ends as without a tracer" "$(cat "$tmp/traced/status")" \
		"$(cat "$tmp/untraced/status")"
	(cd "$tmp/untraced" && results) >"$tmp/wanted"
	(cd "$tmp/traced" && results) >"$tmp/got"
	ok "... something came out" test -s "$tmp/wanted"
	ok "... and the same with it" diff "$tmp/wanted" "$tmp/got"
	ok "... the trace is sound" "$RONDO" check "$trace"
	ok "... and can be read to its end" as_many_calls "$trace"
	_info=$("$RONDO" info "$trace")
	like "... all ranks are in it" "$_info" "^ranks: $_ranks\$"
	like "... with all their calls" "$_info" '^complete: yes$'
	diag "$(grep '^rondo:' "$tmp/traced/err" | sed 's/; see:.*//')"
}

messages_arrive() {
	ok "... what was sent was received" sh -c '"$1" dump --json "$2" | t/apps/messages' - \
		"$RONDO" "$trace"
}
