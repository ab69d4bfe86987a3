#!/bin/sh
# Python: mpi4py, which loads MPI late and uses threads.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh

# Not every python3 is the one that Debian's modules are for.
for python in python3 /usr/bin/python3; do
	"$python" -c 'import mpi4py, numpy' 2>/dev/null && break
done
needs python3-mpi4py "$python" -c 'import mpi4py, numpy'

results() {
	cat out
	[ ! -e mpi4py.bin ] || cksum mpi4py.bin
}

input t/apps/use_mpi4py.py
traced_alike 4 "$python" use_mpi4py.py
messages_arrive
like "... its calls are Python's" "$("$RONDO" dump --rank 1 "$trace")" \
	'MPI_Comm_create_keyval.*static:MPI[.]'

input t/apps/use_futures.py
traced_alike 4 "$python" -m mpi4py.futures use_futures.py
like "... with a thread in one process" "$("$RONDO" info "$trace")" '^threads: 5$'

finish
