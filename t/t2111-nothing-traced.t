#!/bin/sh
# Messages and exit codes of rondo trace if the command ends without a trace: the launcher failed,
# the program does not use MPI, or the program continues in the background.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# fails NAME CODE COMMAND...: only the failure of the launcher is reported, with its exit code.
# CODE is a pattern: with a program that does not exist, MPICH's launcher returns 255,
# or is ended by SIGPIPE. $without removes variables from the environment.
without=
fails() {
	_name=$1 _wanted=$2
	shift 2
	run t/limit 120 $without "$RONDO" trace -o "$trace" "$@"
	_code=$?
	like "$mpi: $_name: the exit code" $_code "^($_wanted)\$"
	is "... is reported as a failure of the launcher" \
		"$(grep '^rondo: ' "$tmp/err")" "rondo: the launcher \
mpirun.$mpi failed with exit code $_code and started no program that rondo could see; nothing was traced"
}

# code_of COMMAND...: prints the exit code of COMMAND without rondo
code_of() {
	t/limit 120 "$@" >/dev/null 2>&1
	_code=$?
	[ $_code != 141 ] && [ $_code != 255 ] && echo $_code || echo '141|255'
}

launcher_fails() {
	run=mpirun.$mpi
	"$run" --no-such-option >/dev/null 2>&1
	fails "an unknown launcher option" $? "$run" --no-such-option -n 2 "$prog"
	fails "a program that does not exist" "$(code_of "$run" -n 1 "$dir/nothing")" "$run" -n 1 "$dir/nothing"
	fails "a program that is not executable" "$(code_of "$run" -n 1 t/lib.sh)" "$run" -n 1 "$root/t/lib.sh"
	[ "$mpi" = openmpi ] || return 0
	if [ "$(id -u)" -eq 0 ]; then
		without="env -u OMPI_ALLOW_RUN_AS_ROOT -u OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"
		fails "root without permission" 1 "$run" -n 2 "$prog"
		without=
	else
		skip "$mpi: root without permission" "the user is not root"
	fi
	fails "too few slots" 1 "$run" --nooversubscribe --host localhost:1 -n 2 "$prog"
}

# The launcher is killed before it starts a program, while it waits for its agent for another node.
launcher_killed() {
	printf '#!/bin/sh\nkill -9 $PPID; sleep 5\n' >"$dir/agent"
	chmod +x "$dir/agent"
	case $mpi in
	openmpi) set -- --mca plm_rsh_agent "$dir/agent" --host other:2 ;;
	mpich) set -- -launcher ssh -launcher-exec "$dir/agent" -hosts other ;;
	esac
	fails "a launcher that is killed" 137 "mpirun.$mpi" "$@" -n 2 "$prog"
}

no_mpi() {
	status "$mpi: a program without MPI: its exit code is returned" 0 \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 /bin/ls t
	is "... a message says that it made no MPI call" "$(cat "$tmp/err")" \
		"rondo: no program started by mpirun.$mpi made an MPI call; nothing was traced"
	is "... and its output is complete" "$(grep -c '^lib-mpi.sh' "$tmp/out")" 2
	status "$mpi: a program that fails: its exit code is returned" 3 \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 1 sh -c 'exit 3'
	unlike "... is not reported as a failure of the launcher" \
		"$(cat "$tmp/err")" 'the launcher .* failed'
}

# in_background early|late MESSAGE: prints MESSAGE, and the trace is written later
in_background() {
	rm -f "$dir/go"
	trace=$dir/$1.rondo
	ok "$mpi: a program that continues in the background ($1) is traced" \
		"$RONDO" trace -o "$trace" "$dir/prog_daemon" "$1" "$dir/go"
	like "... is reported as running" "$(cat "$tmp/err")" "$2"
	unlike "... and not as untraced" "$(cat "$tmp/err")" 'nothing was traced|ended before'
	ok "... there is no trace yet" test ! -e "$trace"
	touch "$dir/go"
	complete_in_the_end
}

complete_in_the_end() {
	for _ in $(seq 300); do
		[ ! -e "$trace" ] || [ -e "$trace.part" ] || break
		sleep 0.1
	done
	like "... the trace is complete when it has ended" "$("$RONDO" info "$trace")" '^complete: yes$'
}

# ends_meanwhile early|late SECONDS: the program ends while rondo waits for it. On a loaded machine it
# may end after that, which is reported as in in_background.
ends_meanwhile() {
	rm -f "$dir/go"
	trace=$dir/$1-$2.rondo
	(
		sleep "$2"
		touch "$dir/go"
	) &
	ok "$mpi: a program that ends after $2 s in the background ($1)" \
		"$RONDO" trace -o "$trace" "$dir/prog_daemon" "$1" "$dir/go"
	wait
	unlike "... is not reported as untraced or incomplete" "$(cat "$tmp/err")" \
		'nothing was traced|ended before|No such file|is gone'
	complete_in_the_end
}

nothing_traced() {
	dir=$tmp/$mpi prog=$tmp/$mpi/row_col trace=$tmp/$mpi/x.rondo
	ok "$mpi: programs compile" "mpicc.$mpi" -w -o "$prog" t/prog/row_col.c
	"mpicc.$mpi" $prog_flags -o "$dir/prog_daemon" t/prog/prog_daemon.c
	launcher_fails
	launcher_killed
	no_mpi
	in_background late "^rondo: $dir/prog_daemon has made no MPI call so far; process [0-9]+ is still running in the \
background\$"
	in_background early "^rondo: $dir/prog_daemon is still running in the background and writes its trace when it \
ends; see: rondo recover --live $dir/early.rondo.part\$"
	ends_meanwhile late 0.2
	ends_meanwhile early 1
	is "... no files are left" "$(ls -A "$dir" | grep -e status -e part)" ""
}

each_mpi nothing_traced

finish
