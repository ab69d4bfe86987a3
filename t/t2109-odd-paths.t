#!/bin/sh
# Spaces and colons in the paths of the installation and of the trace. Commands that Rondo suggests
# can be pasted into a shell.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# paste_command TEXT: runs the rondo command at the end of TEXT
paste_command() {
	(
		rondo() {
			"$RONDO" "$@"
		}
		eval "$(printf '%s\n' "$1" | sed -n 's/.*: \(rondo [a-z]* .*\)/\1/p' | tail -n 1)"
	)
}

# pasted_path TEXT: prints the last argument of the command that TEXT suggests, as a shell reads it
pasted_path() {
	(
		rondo() {
			shift $(($# - 1))
			printf '%s\n' "$1"
		}
		eval "$(printf '%s\n' "$1" | sed -n 's/.*: \(rondo [a-z]* .*\)/\1/p' | tail -n 1)"
	)
}

# made TRACE: waits a short time for the trace, and checks it
made() {
	for _ in $(seq 100); do
		[ -e "$1" ] && [ ! -e "$1.part" ] && break
		sleep 0.1
	done
	"$RONDO" check "$1"
}

# left DIRECTORY: prints the links in DIRECTORY, after a short wait for their removal
left() {
	for _ in $(seq 50); do
		_left=$(ls -A "$1" | grep rondo-lib) || return 0
		sleep 0.1
	done
	echo "$_left"
}

# install_in DIRECTORY: installs rondo in DIRECTORY and sets $odd to its path
install_in() {
	mkdir -p "$1/runs"
	cp "$RONDO" "${RONDO%/*}"/librondo-*.so "$1"
	odd=$1/rondo
}

# traced_by_odd DIRECTORY NAME: traces to DIRECTORY, before and after the launcher. NAME is for
# titles.
traced_by_odd() {
	new_log
	trace=$1/x.rondo
	ok "$mpi: an installation in '$2' traces mpirun" with_yield "$odd" trace -o "$trace" "mpirun.$mpi" -n 2 "$prog"
	ok "... the summary suggests a command that works" paste_command "$(cat "$tmp/err")"
	like "... for this trace" "$(cat "$tmp/out")" '^ranks: 2$'
	sound_and_as_logged
	is "... no link is left" "$(left "$1")$(left "$TMPDIR")" ""
	new_log
	trace=$1/y.rondo
	ok "$mpi: an installation in '$2' traces after mpirun" \
		run_mpi 2 "$odd" trace -o "$trace" "$prog"
	sound_and_as_logged
	is "... no link is left" "$(left "$1")$(left "$TMPDIR")" ""
	unset RONDO_TEST_LOG
}

odd_paths() {
	prog=$tmp/$mpi/prog_p2p
	ok "$mpi: programs compile" build_prog prog_p2p
	build_prog prog_ending
	mkdir "$tmp/$mpi/runs"
	install_in "$tmp/$mpi/a:b \$c"
	traced_by_odd "$tmp/$mpi/runs" 'a:b $c'
	install_in "$tmp/$mpi/it's odd"
	traced_by_odd "${odd%/*}/runs" "it's odd"
	ok "... replays mpirun" with_yield "$odd" replay "$trace" "mpirun.$mpi" -n 2 "$prog"
	ok "... replays after mpirun" run_mpi 2 "$odd" replay "$trace" "$prog"
	is "... no link is left" "$(left "${trace%/*}")$(left "$TMPDIR")" ""

	trace=${odd%/*}/runs/z.rondo
	run run_mpi 2 "$odd" trace -o "$trace" "$tmp/$mpi/prog_ending" exit
	like "$mpi: a run without MPI_Finalize suggests rondo recover" "$(cat "$tmp/err")" ': rondo recover '
	is "... with the path quoted for a shell" "$(pasted_path "$(cat "$tmp/err")")" "$trace.part"
	ok "... the trace is made when all ranks have ended" made "$trace"
	ok "... and writes a valid trace" "$RONDO" check "$trace"
	is "... no link is left" "$(left "$TMPDIR")" ""
}

TMPDIR=$tmp/tmp
export TMPDIR
mkdir "$TMPDIR"
each_mpi odd_paths

finish
