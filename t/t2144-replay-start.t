#!/bin/sh
# rondo replay: what is compared with the record when the program starts. Another program, other
# arguments and another MPI are warnings, each one line, in front of a launcher and behind it. And
# other communicators, when they are made, are not what was recorded.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

run_rondo() {
	run timeout -k 5 60 "$@"
}

# rondo ARGUMENTS...; and behind a launcher: ranks RONDO ARGUMENTS...
rondo() {
	with_yield run_rondo "$RONDO" "$@"
}

behind() {
	with_yield run_rondo "mpirun.$mpi" -n 3 "$RONDO" "$@"
}

# What rondo said but for how it ended.
warnings() {
	grep '^rondo: ' "$tmp/err" | grep -v 'came out, as recorded'
}

# warned NAME [PATTERN]: of so much, and of nothing else
warned() {
	if [ -z "$2" ]; then
		is "$mpi: $1: no warning" "$(warnings)" ""
	else
		like "$mpi: $1: a warning" "$(warnings)" "$2"
		is "... in one line" "$(warnings | wc -l)" 1
	fi
	[ "$(warnings | wc -l)" = $((${#2} > 0)) ] || show_output
}

programs() {
	build_prog order_races && cp "$tmp/$mpi/order_races" "$app" &&
		cp "$app" "$tmp/$mpi/other" && build_prog order_races -O1 &&
		mkdir -p "$tmp/$mpi/new" && mv "$tmp/$mpi/order_races" "$tmp/$mpi/new/app"
}

has_gdb() {
	command -v gdb >/dev/null && ! ldd "$RONDO" | grep -q 'lib[a-z]*san\.'
}

arguments='arguments are: 6 2; when it was recorded: 5 1$'
program='the program is other, but what is replayed was recorded of app$'

# A script that starts the program in its own way: who looks at the command line cannot know.
cat >"$tmp/script" <<'END'
#!/bin/sh
exec "$1" "$2" ${3:-1}
END
chmod +x "$tmp/script"

in_front() {
	rondo replay "$trace" "mpirun.$mpi" -n 3 "$app" 5 1
	warned "the same"
	rondo replay "$trace" "mpirun.$mpi" -n 3 "$tmp/script" "$app" 5
	warned "the same, by a script"
	ln -sf app "$tmp/$mpi/link"
	rondo replay "$trace" "mpirun.$mpi" -n 3 "$tmp/$mpi/link" 5 1
	warned "the same, by another name"
	rondo replay "$trace" "mpirun.$mpi" -n 3 "$tmp/$mpi/other" 5 1
	warned "another program" "$program"
	rondo replay --on-divergence=continue "$trace" "mpirun.$mpi" -n 3 "$app" 6 2
	like "$mpi: other arguments: a warning" "$(warnings | sed 1q)" "$arguments"
	rondo replay --on-divergence=continue "$trace" "mpirun.$mpi" -n 3 "$tmp/script" "$app" 6 2
	like "... also when a script gives them" "$(warnings | sed 1q)" "$arguments"
	rondo replay "$trace" "mpirun.$mpi" -n 3 "$tmp/$mpi/new/app" 5 1
	warned "built anew" 'app is not the build of it that was recorded$'
}

launched_by() {
	behind replay "$trace" "$app" 5 1
	warned "the same, each with its rondo"
	behind replay "$trace" "$tmp/$mpi/other" 5 1
	warned "another program, each with its rondo" "$program"
	if has_gdb; then
		behind replay "$trace" gdb -q -batch -ex run --args "$app" 5 1 </dev/null
		warned "the same, in a debugger"
		rondo replay "$trace" "mpirun.$mpi" -n 3 gdb -q -batch -ex run \
			--args "$app" 5 1 </dev/null
		warned "the same, a debugger behind the launcher"
	else
		skip "the same, in a debugger" "there is none"
	fi
}

# Words that a shell would have taken apart.
quoted() {
	rondo trace --only=order -o "$trace" "mpirun.$mpi" -n 3 "$app" 5 1 '' "it's" 'a	b'
	like "$mpi: the trace has the arguments" "$("$RONDO" info "$trace")" \
		"^arguments: 5 1 '' 'it'.*''s' 'a.*x09b'\$"
	like "... and which MPI it was" "$("$RONDO" info "$trace")" '^library: .*[0-9]\.[0-9]'
	rondo replay "$trace" "mpirun.$mpi" -n 3 "$app" 5 1 '' "it's" 'a	b'
	warned "the same words"
	rondo replay "$trace" "mpirun.$mpi" -n 3 "$app" 5 1 '' "it's" a b
	warned "other words" 'arguments are: '
	_long=$(seq 300 | tr '\n' :)
	rondo trace --only=order -o "$trace" "mpirun.$mpi" -n 3 "$app" 5 1 "$_long"
	rondo replay "$trace" "mpirun.$mpi" -n 3 "$app" 5 1 "$_long"
	warned "the same long ones"
	rondo replay "$trace" "mpirun.$mpi" -n 3 "$app" 5 1 "$_long."
	warned "other long ones" 'arguments are: '
}

# other_comms WHAT: with CHANGE=WHAT
other_comms() {
	CHANGE=$1 rondo replay "$trace" "mpirun.$mpi" -n 4 "$tmp/$mpi/replay_comms"
	is "$mpi: communicators, $1 is different" $? 71
	is "... as one line says" "$(grep '^rondo: ' "$tmp/err" | grep -Ec "$made")" 1
	is "... and no other" "$(grep -c '^rondo: ' "$tmp/err")" 1
}

one="MPI_Comm_split\(comm:[a-z0-9.]+: size [0-9], rank [0-9], leader [0-9]\)"
like_before='MPI_Comm_split\(MPI_COMM_NULL, or one like before\)'
made="rank [0-9], (call|event) [0-9]+: now $one, recorded was ($one|$like_before)\$"

# record_comms WHAT: with --only=WHAT
record_comms() {
	rm -f "$trace"
	status "$mpi: communicators are recorded, --only=$1" 0 rondo trace --only="$1" -o "$trace" \
		"mpirun.$mpi" -n 4 "$tmp/$mpi/replay_comms"
	rondo replay "$trace" "mpirun.$mpi" -n 4 "$tmp/$mpi/replay_comms"
	is "... and replayed" $? 0
	warned "the same communicators"
}

# Where there are only events, nobody knows of what comes behind them.
communicators() {
	ok "$mpi: replay_comms compiles" build_prog replay_comms
	record_comms order
	for change in size rank leader none new inter; do
		other_comms $change
	done
	CHANGE=late rondo replay "$trace" "mpirun.$mpi" -n 4 "$tmp/$mpi/replay_comms"
	is "$mpi: what comes behind the last event is not compared" $? 0
	CHANGE=size rondo replay --on-divergence=continue "$trace" "mpirun.$mpi" -n 4 \
		"$tmp/$mpi/replay_comms"
	is "$mpi: it goes on if it is to" "$(cat "$tmp/out")" "done"
	record_comms mpi
	other_comms size
	other_comms new
	other_comms late
}

test_start() {
	trace=$tmp/$mpi/run.rondo app=$tmp/$mpi/app
	ok "$mpi: the programs compile" programs
	status "$mpi: one is recorded" 0 rondo trace --only=order -o "$trace" "mpirun.$mpi" -n 3 \
		"$app" 5 1
	in_front
	launched_by
	quoted
	communicators
}

each_mpi test_start

finish
