#!/bin/sh
# rondo replay: a program whose result depends on the order of messages does again what it did when
# it was recorded. `make soak-replay` does this more often, and on more ranks.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

replays=3
limit=60 # seconds, for one that hangs

# The program's lines go into a file, for a launcher may lose some in a crash.
cat >"$tmp/rank" <<'END'
#!/bin/sh
echo $$ >>"$RANKS_TO"
exec "$@" >>"$LINES_TO"
END
chmod +x "$tmp/rank"

# run_rondo ARGUMENTS...: with random delays, of at most so many microseconds
run_rondo() {
	rm -f "$lines" "$ranks"
	run env DELAY=300 LINES_TO="$lines" RANKS_TO="$ranks" \
		t/limit "$limit" "$RONDO" "$@"
}

rondo() {
	with_yield run_rondo "$@"
}

# on N PROGRAM ARGUMENTS...: sets $command
on() {
	command="mpirun.$mpi -n $1 $tmp/rank $tmp/$mpi/order_$2"
	shift 2
	command="$command $*"
}

# What rondo said of the last run.
said() {
	grep '^rondo: ' "$tmp/err"
}

# one_line NAME PATTERN: of rondo's lines exactly one is so
one_line() {
	is "$1" "$(said | grep -Ec "$2")" 1
	[ "$(said | grep -Ec "$2")" = 1 ] || show_output
}

# runs PID: and is not just waiting to be buried
runs() {
	case $(ps -o stat= -p "$1") in
	'' | Z*) return 1 ;;
	esac
}

# What there is of folders with plans and of ranks that go on running.
left_behind() {
	ls -d "$tmp/$mpi"/*.replay-* 2>/dev/null
	for _pid in $(cat "$ranks" 2>/dev/null); do
		! runs "$_pid" || echo "process $_pid"
	done
}

# record OPTION FILE: the command
record() {
	rm -rf "$2" "$2.part"
	rondo trace "$1" -o "$2" $command
}

# same_again FILE: the command prints what is in $lines now, time and again
same_again() {
	_wanted=$(cat "$lines") _same=0
	for _ in $(seq $replays); do
		rondo replay "$1" $command
		_got=$(cat "$lines" 2>/dev/null)
		[ "$_got" != "$_wanted" ] || _same=$((_same + 1))
	done
	is "... is replayed" "$_same of $replays" "$replays of $replays"
	if [ $_same -lt $replays ]; then
		explain "recorded: $_wanted" "last: $_got"
		show_output
	fi
}

# reproduced WHAT N PROGRAM ARGUMENTS...: with --only=WHAT
reproduced() {
	_only=--only=$1
	shift
	on "$@"
	status "$mpi: $2 on $1 ranks is recorded, $_only" 0 record "$_only" "$trace"
	same_again "$trace"
	one_line "... as one line says" 'messages came, and [0-9]+ calls came out, as recorded$'
	nothing_left
}

# not_enforced: the replay of a full trace reports that the posting order is not enforced
not_enforced() {
	one_line "... one line says that the posting order of threads is not enforced" \
		'^rondo: the order in which threads post on one communicator is not enforced: '
}

programs() {
	for p in cancel collectives crash jacobi mprobe particles persistent races sendrecv shared \
		threads time workers; do
		build_prog order_$p || return
	done
}

reproduces() {
	reproduced order 4 collectives 20
	reproduced order 4 jacobi 50
	reproduced order 8 mprobe 15
	reproduced order 8 particles 15
	reproduced order 4 persistent 20
	reproduced order 4 races 20
	reproduced order 4 sendrecv 20
	reproduced order 4 time 20
	reproduced order 4 workers 100
	reproduced mpi 4 races 20
	reproduced mpi 4 persistent 20
	reproduced order 4 cancel 20
	reproduced order 4 threads 5
	reproduced mpi 4 threads 5
	not_enforced
	reproduced mpi 2 threads 1 1 12 # from the 33rd thread on, streams are reused
	reproduced order 4 shared 5
}

# --- crashes -------------------------------------------------------------------------------

# crashes WHAT ARGUMENTS...: order_crash, recorded when it crashes: in one of three orders
crashes() {
	_only=--only=$1
	shift
	on 4 crash 10 1 "$@"
	for _ in $(seq 40); do
		record "$_only" "$trace"
		! grep -q '^crash ' "$lines" || break
	done
	like "$mpi: a crash is recorded: $*, $_only" "$(cat "$lines")" '^crash '
	same_again "$trace"
	rm -rf "$trace".replay-* # mpirun may hang behind a crash, and is killed then, with rondo
}

crash_again() {
	if [ $mpi = openmpi ]; then
		crashes order segv
		crashes mpi abort open
		crashes order mpi_abort
		crashes order segv open
	else
		crashes mpi segv open
		crashes order abort
		crashes mpi mpi_abort open
	fi
}

# killed WHAT PROGRAM ARGUMENTS...: all ranks in the middle; a replay does what is known, and then the rest.
killed() {
	_only=--only=$1
	shift
	on 4 "$@"
	record "$_only" "$trace" &
	_rondo=$!
	for _ in $(seq 100); do
		[ "$(cat "$ranks" 2>/dev/null | wc -l)" = 4 ] && [ -e "$trace.part" ] && break
		sleep 0.1
	done
	sleep 0.5
	kill -KILL $(cat "$ranks") 2>/dev/null
	wait $_rondo
	is "$mpi: $1 was killed before it could end, $_only" "$(cat "$lines")" ""
	ok "... and leaves a record" test -e "$trace"
	[ "$_only" = --only=mpi ] || unlike "... which does not know who was in MPI" "$("$RONDO" report "$trace")" 'outside of MPI'
	rondo replay "$trace" $command
	is "... of which a replay does what there is" "$?" 0
	like "... and then the rest" "$(cat "$lines")" '^hash='
	like "... as it says" "$(said)" 'the record ends here, in MPI_[A-Za-z_]+, after'
	nothing_left
}

# --- other ways to start it ----------------------------------------------------------------

has_gdb() {
	command -v gdb >/dev/null && ! ldd "$RONDO" | grep -q 'lib[a-z]*san\.'
}

launched() {
	on 4 races 20
	record --only=order "$trace"
	_wanted=$(cat "$lines")
	rondo replay "$trace" "mpirun.$mpi" -n 4 "$tmp/$mpi/order_races" 20
	is "$mpi: what the program prints is all there is" "$(cat "$tmp/out")" "$_wanted"
	rm -f "$lines"
	with_yield run t/limit $limit "mpirun.$mpi" -n 4 "$RONDO" replay "$trace" \
		"$tmp/$mpi/order_races" 20
	is "... and when each rank has its own rondo" "$(cat "$tmp/out")" "$_wanted"
	rondo replay "$trace" "mpirun.$mpi" -n 4 sh -c '"$0" 20; exit 7' "$tmp/$mpi/order_races"
	is "... its exit code too" $? 7
	if has_gdb; then
		with_yield run t/limit $limit "mpirun.$mpi" -n 4 "$RONDO" replay "$trace" \
			gdb -q -batch -ex run --args "$tmp/$mpi/order_races" 20 </dev/null
		is "... under a debugger too" "$(grep hash= "$tmp/out")" "$_wanted"
	else
		skip "... under a debugger too" "there is none"
	fi
	nothing_left
}

# --- programs that do something else -------------------------------------------------------

divergence='the program does not do what was recorded: rank [0-9]+, (call|event) [0-9]+: now MPI_.*'
divergence="$divergence, recorded was MPI_"

# diverges WHAT: the command, from what is in $trace
diverges() {
	rondo replay "$trace" $command
	is "$mpi: $1" $? 71
	one_line "... is told once: where, what it is, what it was" "$divergence"
	is "... and nothing else but warnings" "$(said | grep -vc '; when it was recorded:\|was recorded of ')" 1
	nothing_left
}

different() {
	on 4 races 10
	record --only=mpi "$trace"
	on 4 races 9
	diverges "less than was recorded"
	rondo replay --on-divergence=continue "$trace" $command
	one_line "$mpi: it is told when it goes on, too" "$divergence"
	like "... and it comes to its end" "$(cat "$lines")" '^hash='
	nothing_left
	on 4 workers 10
	diverges "another program"
	on 4 mprobe 10
	record --only=order "$trace"
	on 4 races 10
	diverges "another program, where there are only events"
	on 5 mprobe 10
	limit=10
	rondo replay "$trace" $command
	one_line "$mpi: on another number of ranks there is a warning" 'has 5 ranks.*recorded with 4'
	limit=60
	nothing_left
}

# --- what cannot be done -------------------------------------------------------------------

# refused CODE PATTERN ARGUMENTS...
refused() {
	_code=$1 _pattern=$2
	shift 2
	rondo replay "$@"
	is "replay $(echo "$*" | sed "s,$tmp/[a-z]*/,,g"): $_code" $? "$_code"
	is "... and one line" "$(wc -l <"$tmp/err")" 1
	like "... that tells why" "$(said)" "$_pattern"
}

# Once will do: MPI has no part in it.
refuses() {
	[ -z "$refused" ] || return
	refused=1
	on 4 races 10
	record --only=order "$trace"
	refused 2 'which trace, and which program'
	refused 2 'which program' "$trace"
	refused 2 'no option --bad' --bad "$trace" $command
	refused 2 'not one of: stop continue' --on-divergence=maybe "$trace" $command
	refused 2 'not one of: ompi mpich auto' --mpi=other "$trace" $command
	refused 3 'No such file' "$tmp/$mpi/none.rondo" $command
	refused 3 'not a regular file' "$tmp/$mpi" $command
	: >"$tmp/$mpi/empty.rondo"
	refused 3 'not a Rondo trace' "$tmp/$mpi/empty.rondo" $command
	head -c 300 "$trace" >"$tmp/$mpi/cut.rondo"
	refused 3 'cut off' "$tmp/$mpi/cut.rondo" $command
	refused 70 'cannot be run' "$trace" "$tmp/$mpi/none"
	refused 70 'nothing was replayed' "$trace" true
	rondo trace --lossy=counts -o "$tmp/$mpi/lossy.rondo" $command
	refused 3 'lossy has no order' "$tmp/$mpi/lossy.rondo" $command
	is "... the program is not started" "$(cat "$ranks" 2>/dev/null)" ""
	nothing_left
}
refused=

test_replay() {
	trace=$tmp/$mpi/run.rondo lines=$tmp/$mpi/lines ranks=$tmp/$mpi/ranks
	ok "$mpi: the programs compile" programs
	refuses
	reproduces
	crash_again
	killed order sendrecv 20000
	killed order shared 400
	killed mpi threads 200
	launched
	different
}

each_mpi test_replay

finish
