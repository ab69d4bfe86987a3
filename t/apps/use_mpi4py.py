# The ways in which Python programs use MPI: objects and buffers, requests, files, windows.
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def say(*what):
    lines = comm.gather(repr(what), root=0)
    if rank == 0:
        print("\n".join(lines), flush=True)


say("bcast", comm.bcast({"a": [1, 2.5, "x"], "b": None} if rank == 1 else None, root=1))
say("scatter", comm.scatter([(i, "x" * i) for i in range(size)] if rank == 0 else None, root=0))
say("allgather", comm.allgather(rank ** 2))
say("alltoall", comm.alltoall([(rank, i) for i in range(size)]))
say("allreduce", comm.allreduce(rank + 1, op=MPI.PROD))

right, left = (rank + 1) % size, (rank - 1) % size
req = comm.isend({"from": rank}, dest=right, tag=7)
say("recv", comm.recv(source=left, tag=7))
req.wait()
say("sendrecv", comm.sendrecv(rank, dest=left, source=right))

a = np.arange(1000, dtype="d") * (rank + 1)
b = np.empty_like(a)
for step in range(50):
    reqs = [comm.Irecv(b, source=left), comm.Isend(a, dest=right)]
    MPI.Request.Waitall(reqs)
    a, b = b, a
    comm.Allreduce(MPI.IN_PLACE, a)
    a /= np.abs(a).max()
say("ring", float(a.sum()))

# who comes first is nobody's business, what came is
status = MPI.Status()
if rank == 0:
    got = {}
    for i in range(size - 1):
        obj = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        got[status.Get_source()] = (status.Get_tag(), obj)
    print("any", sorted(got.items()), flush=True)
else:
    comm.send("hello from %d" % rank, dest=0, tag=100 + rank)

vector = MPI.DOUBLE.Create_vector(10, 1, 10).Commit()
m = np.zeros((10, 10))
m[:] = rank
comm.Bcast([m, 1, vector], root=2)
say("vector", m.sum())
vector.Free()

half = comm.Split(color=rank % 2, key=-rank)
say("split", half.rank, half.allreduce(rank))
cart = comm.Create_cart([size], periods=[True])
say("cart", cart.Shift(0, 1), cart.coords)
half.Free()
cart.Free()

win = MPI.Win.Allocate(8 * size, 8, comm=comm)
mem = np.frombuffer(win, dtype="d")
mem[:] = 0
win.Fence()
win.Put(np.array([rank + 0.5]), right, target=rank)
win.Fence()
win.Lock(left, MPI.LOCK_SHARED)
r = np.zeros(1)
win.Get(r, left, target=(left - 1) % size)
win.Unlock(left)
comm.Barrier()
say("win", mem.tolist(), r[0])
win.Free()

fh = MPI.File.Open(comm, "mpi4py.bin", MPI.MODE_CREATE | MPI.MODE_RDWR)
fh.Write_at_all(rank * 80, np.full(10, rank, dtype="d"))
fh.Sync()
comm.Barrier()
r = np.zeros(10 * size)
fh.Read_at_all(0, r)
fh.Close()
say("file", r.sum())


def add(x, y, datatype):
    total = np.frombuffer(y, "i")
    total += np.frombuffer(x, "i")


op = MPI.Op.Create(add)
r = np.zeros(1, dtype="i")
comm.Allreduce(np.array([rank], dtype="i"), r, op=op)
say("op", int(r[0]))
op.Free()

try:
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    comm.Send(a, dest=size + 3)
except MPI.Exception as e:
    say("error", MPI.Get_error_class(e.Get_error_code()) == MPI.ERR_RANK)
