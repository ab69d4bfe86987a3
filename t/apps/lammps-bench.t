#!/bin/sh
# LAMMPS: its own Lennard-Jones benchmark, 32000 atoms for 500 steps, in at most 20 kB.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh
needs lammps have lmp
input t/apps/melt.lmp

results() {
	sed -e '/CPU =/d' -e '/^Loop time/,/^Other/d' -e '/wall time/d' out
}

traced_alike 4 lmp -in melt.lmp -var cells 20 -log none
messages_arrive
ok "... and it is small" test "$(wc -c <"$trace")" -le 20000

finish
