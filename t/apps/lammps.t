#!/bin/sh
# LAMMPS: a Lennard-Jones melt.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh
needs lammps have lmp
input t/apps/melt.lmp

results() {
	sed -e '/CPU =/d' -e '/^Loop time/,/^Other/d' -e '/wall time/d' out
}

traced_alike 4 lmp -in melt.lmp -log none
messages_arrive
ok "... and it is small" test "$(wc -c <"$trace")" -le 60000

finish
