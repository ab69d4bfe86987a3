# A pool of workers, with a thread in the process that hands out the work.
from mpi4py.futures import MPIPoolExecutor


def square(x):
    return x * x


if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        print(sum(pool.map(square, range(200))))
        print(pool.submit(pow, 3, 5).result())
