#!/bin/sh
# NWChem: Global Arrays on one-sided communication.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh
needs nwchem-openmpi have nwchem.openmpi
input t/apps/water.nw

# Work goes to whoever asks first, so the last digits differ from run to run.
results() {
	sed -n 's/^ *\(Total [A-Z0-9]* energy[ =]*-[0-9]*\.[0-9]\{7\}\).*/\1/p' out
}

traced_alike 4 nwchem.openmpi water.nw
is "... all energies" "$(wc -l <"$tmp/got")" 3
like "... by one-sided communication" "$("$RONDO" info --calls "$trace")" 'MPI_Get_accumulate$'

finish
