#!/bin/sh
# Parallel HDF5 from Python: MPI-IO below two libraries.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh

with_mpio="import mpi4py.MPI, h5py; assert h5py.get_config().mpi"
for python in python3 /usr/bin/python3; do
	run_mpi 1 "$python" -c "$with_mpio" >/dev/null 2>&1 && break
done
needs python3-h5py-mpi run_mpi 1 "$python" -c "$with_mpio"
input t/apps/use_h5py.py

results() {
	cat out
	cksum h5py.h5
}

traced_alike 4 "$python" use_h5py.py
like "... its file operations are in it" "$("$RONDO" info --calls "$trace")" \
	'MPI_File_write_at_all$'

finish
