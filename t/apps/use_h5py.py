# Parallel HDF5: one file, written together and one by one, and read again.
import numpy as np
from mpi4py import MPI
import h5py

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
path = "h5py.h5"

with h5py.File(path, "w", driver="mpio", comm=comm) as f:
    f.attrs["ranks"] = size
    rows = f.create_dataset("rows", (size * 4, 100), dtype="d")
    for step in range(4):
        rows[rank * 4 + step] = np.sin(np.arange(100) + rank + step)
    cols = f.create_dataset("group/cols", (100, size), dtype="i")
    with cols.collective:
        cols[:, rank] = np.arange(100) * rank
    chunked = f.create_dataset("chunked", (64, 64), chunks=(16, 16), dtype="f")
    with chunked.collective:
        chunked[rank::size, :] = rank

with h5py.File(path, "r", driver="mpio", comm=comm) as f:
    mine = f["rows"][(rank + 1) % size :: size].sum(), f["group/cols"][:].sum()
    with f["chunked"].collective:
        mine += (float(f["chunked"][:, rank].sum()), int(f.attrs["ranks"]))

everyone = comm.gather(mine, root=0)
if rank == 0:
    for who, what in enumerate(everyone):
        print(who, ["%.12g" % x for x in what])
