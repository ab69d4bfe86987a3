#!/bin/sh
# ParFORM: a master, workers, and Open MPI's C++ bindings, which call MPI before main.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh
needs form have parform
input t/apps/power.frm

results() {
	form_results
}

traced_alike 4 parform power.frm
messages_arrive

finish
