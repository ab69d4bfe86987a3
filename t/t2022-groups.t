#!/bin/sh
# A reader finds the members of every communicator, of whatever origin and by whatever names.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# as_told FILE PREFIX: the trace and the ranks' accounts agree
as_told() {
	"$RONDO" info --comms "$1" >"$tmp/comms" && "$RONDO" dump --json "$1" >"$tmp/dump" &&
		t/compare-groups "$tmp/comms" "$log/$2" <"$tmp/dump"
}

# rebuilt WHAT [RANKS]: the communicators that the program makes by it
rebuilt() {
	new_log
	ok "$mpi: communicators by $1" trace_mpi "$trace" "${2:-5}" "$tmp/$mpi/prog_groups" "$1"
	ok "... are sound" "$RONDO" check "$trace"
	ok "... and their members known" as_told "$trace" groups
}

# can WHAT: does MPI have it? The program says nothing of what it cannot make.
can() {
	new_log
	run_mpi 5 "$tmp/$mpi/prog_groups" "$1" >/dev/null 2>&1 && test -s "$log/groups-0"
}

if_it_can() {
	if can "$1"; then
		rebuilt "$1"
	else
		skip "$mpi: communicators by $1" "it cannot make any"
	fi
}

spawned() {
	can spawn || {
		skip "$mpi: communicators by spawn" "it cannot make any"
		return
	}
	rebuilt spawn
	_child=$(echo "${trace%.rondo}".spawn-*.rondo)
	ok "... and to the children" as_told "$_child" child-groups
}

sessions_only() {
	has_mpi4 || return 0
	new_log
	ok "$mpi: communicators without a world" trace_mpi "$trace" 5 "$tmp/$mpi/prog_groups" only
	ok "... their members are known" as_told "$trace" groups
}

all_of_them() {
	ok "$mpi: prog_groups compiles" "mpicc.$mpi" $prog_flags -o "$tmp/$mpi/prog_groups" \
		t/prog/prog_groups.c
	for _kind in split create dup topo group inter; do
		rebuilt $_kind
	done
	rebuilt split 36
	rebuilt bent 36
	for _kind in join port session; do
		if_it_can $_kind
	done
	spawned
	sessions_only
}

each_mpi all_of_them

finish
