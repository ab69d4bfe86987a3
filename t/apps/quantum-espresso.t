#!/bin/sh
# Quantum ESPRESSO: silicon.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh
needs quantum-espresso have pw.x
needs quantum-espresso-data test -e /usr/share/espresso/pseudo/Si.pz-vbc.UPF
input t/apps/silicon.in

results() {
	sed -e '/CPU/d' -e '/WALL/d' -e '/cpu time/d' -e '/ starts on /d' -e '/run was terminated/d' out
}

traced_alike 4 pw.x -in silicon.in
like "... it converged" "$(cat "$tmp/got")" '^!  *total energy'

finish
