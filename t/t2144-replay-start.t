#!/bin/sh
# rondo replay: what is compared with the record when the program starts. Another program, other
# arguments, other settings of MPI and other places are warnings, each one line, in front of a launcher and behind it. And
# other communicators, when they are made, are not what was recorded.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

run_rondo() {
	run t/limit 60 "$@"
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

# Each rank has its rondo, and the program does not use MPI.
without_mpi() {
	behind replay "$trace" ls t
	is "$mpi: a program that does not use MPI is refused, each with its rondo" $? 70
	like "... the line says why" "$(warnings)" '^rondo: nothing is replayed: ls does not use MPI'
	is "... and is not run" "$(cat "$tmp/out")" ""
	is "... no folder is left" "$(ls -d "$trace".replay-* 2>/dev/null)" ""
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

# settings VARIABLE=VALUE...: the program is replayed with these
settings() {
	for _s in "$@"; do
		export "${_s?}"
	done
	rondo replay "$trace" "mpirun.$mpi" -n 3 "$app" 5 1
	for _s in "$@"; do
		unset "${_s%%=*}"
	done
}

mpi_settings() {
	case $mpi in
	openmpi)
		_limit=OMPI_MCA_btl_vader_eager_limit _is='vader was [0-9]+, is 5555'
		_set=OMPI_MCA_coll_tuned_use_dynamic_rules
		;;
	mpich)
		_limit=MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE
		_is="$_limit was not set, is 5555" _set=MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE
		;;
	esac
	settings $_limit=5555
	warned "another eager limit" "eager limits are not those .*\($_is\): sends may"
	settings $_set=1
	warned "another setting" "settings are not those .*\($_set was not set, is 1\):"
	export $_set=2
	rondo trace --only=order -o "$trace" "mpirun.$mpi" -n 3 "$app" 5 1
	like "$mpi: the trace has the setting" "$("$RONDO" info "$trace")" "^environment: .*$_set=2"
	settings $_set=2
	warned "the same setting"
	unset $_set
	settings X=1
	warned "no setting" "\($_set was 2, is not set\)"
	[ $mpi = openmpi ] || return
	settings OMPI_MCA_pml=ob1 $_set=2
	warned "another choice" "choices are not those .*pml was .*, is ob1"
}

# Launchers tell ranks where they are. PLACE=block: 0 1 | 2, cycle: 0 2 | 1; else all on one node.
cat >"$tmp/place" <<'END'
#!/bin/sh
case $PLACE${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in
block2 | cycle1) set -- 0 1 "$@" ;;
block* | cycle0) set -- $((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} % 2)) 2 "$@" ;;
cycle2) set -- 1 2 "$@" ;;
*) set -- ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} 3 "$@" ;;
esac
export OMPI_COMM_WORLD_LOCAL_RANK=$1 MPI_LOCALRANKID=$1
export OMPI_COMM_WORLD_LOCAL_SIZE=$2 MPI_LOCALNRANKS=$2
shift 2
exec "$@"
END
chmod +x "$tmp/place"

# placed HOW COMMAND...: the command, with its ranks there
placed() {
	PLACE=$1
	export PLACE
	shift
	"$@"
	unset PLACE
}

places() {
	_command="mpirun.$mpi -n 3 $tmp/place $app 5 1"
	placed block rondo trace --only=order -o "$trace" $_command
	ok "$mpi: the trace of two nodes is sound" "$RONDO" check "$trace"
	is "... and tells of them" "$("$RONDO" info "$trace" | grep ^nodes)" \
		"nodes: 2 (of 1 to 2 ranks)"
	placed block rondo replay "$trace" $_command
	warned "the same places"
	placed cycle rondo replay "$trace" $_command
	warned "other places" 'not on the nodes .*rank [12] was number [01] of [12], is [01] of [12]\)'
	placed one rondo replay "$trace" $_command
	warned "one node instead of two" 'not on the nodes where they were recorded'
	with_yield run_rondo env PLACE=cycle "mpirun.$mpi" -n 3 "$tmp/place" "$RONDO" replay \
		"$trace" "$app" 5 1
	warned "other places, each with its rondo" 'rank 1 was number 1 of 2, is 0 of 1\)'
	placed one rondo trace -o "$trace" $_command
	is "$mpi: one node" "$("$RONDO" info "$trace" | grep ^nodes)" "nodes: 1"
	placed block rondo replay "$trace" $_command
	warned "two nodes instead of one" 'not on the nodes where they were recorded'
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

# What is put together from parts knows as much.
aborted() {
	rm -f "$trace"
	CHANGE=abort placed one rondo trace --only=order -o "$trace" "mpirun.$mpi" -n 3 \
		"$tmp/place" "$tmp/$mpi/replay_comms" x
	"$RONDO" info "$trace" >"$tmp/one"
	rm -f "$trace"
	CHANGE=abort placed block rondo trace --only=order -o "$trace" "mpirun.$mpi" -n 3 \
		"$tmp/place" "$tmp/$mpi/replay_comms" x
	is "$mpi: an aborted run's trace tells how it was started" \
		"$("$RONDO" info "$trace" | grep -Ec '^(arguments: x|library: .*|nodes: 2 .*)$')" 3
	like "... also on one node" "$(cat "$tmp/one")" '^nodes: 1$'
	ok "... and is sound" "$RONDO" check "$trace"
	CHANGE=abort placed block rondo replay "$trace" "mpirun.$mpi" -n 3 "$tmp/place" \
		"$tmp/$mpi/replay_comms" x
	warned "the same, aborted"
	CHANGE=size placed cycle rondo replay --on-divergence=continue "$trace" "mpirun.$mpi" -n 3 \
		"$tmp/place" "$tmp/$mpi/replay_comms" x
	like "$mpi: other places than those of an aborted run" "$(warnings)" 'not on the nodes'
	like "... and other communicators" "$(warnings)" "$made"
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
	aborted
}

test_start() {
	trace=$tmp/$mpi/run.rondo app=$tmp/$mpi/app
	ok "$mpi: the programs compile" programs
	status "$mpi: one is recorded" 0 rondo trace --only=order -o "$trace" "mpirun.$mpi" -n 3 \
		"$app" 5 1
	in_front
	launched_by
	without_mpi
	mpi_settings
	places
	quoted
	communicators
}

each_mpi test_start

finish
