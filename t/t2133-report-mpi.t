#!/bin/sh
# rondo report of programs that were traced: their loops are those of the source.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# report TRACE: its lines without numbers, below those about everything
report() {
	"$RONDO" report "$1" | sed '1,4d;/^order:/,$d' | cut -c 40- | sed 's/  *$//' | sed '${/^$/d}'
}

calls() {
	"$RONDO" report "$1" | sed -n '4s/^ *\([0-9,]*\) .*/\1/p' | tr -d ,
}

fact() {
	"$RONDO" info "$2" | sed -n "s/^$1: //p"
}

stencil() {
	at=$tmp/$mpi
	ok "$mpi: stencil5 compiles" "mpicc.$mpi" $prog_flags -O1 -o "$at/stencil5" t/prog/stencil5.c
	ok "... is traced" trace_mpi "$at/s.rondo" 4 "$at/stencil5" 50
	is "... and is one loop" "$(report "$at/s.rondo")" "\
  MPI_Init
  MPI_Comm_rank
  MPI_Comm_size
  MPI_Dims_create
  loop 50 times
    MPI_Irecv(64 MPI_DOUBLE, source=MPI_PROC_NULL|rank-2, tag=0)
    MPI_Irecv(64 MPI_DOUBLE, source=rank+2|MPI_PROC_NULL, tag=0)
    MPI_Irecv(64 MPI_DOUBLE, source=MPI_PROC_NULL|rank-1, tag=0)
    MPI_Irecv(64 MPI_DOUBLE, source=rank+1|MPI_PROC_NULL, tag=0)
    MPI_Isend(64 MPI_DOUBLE, dest=MPI_PROC_NULL|rank-2, tag=0)
    MPI_Isend(64 MPI_DOUBLE, dest=rank+2|MPI_PROC_NULL, tag=0)
    MPI_Isend(64 MPI_DOUBLE, dest=MPI_PROC_NULL|rank-1, tag=0)
    MPI_Isend(64 MPI_DOUBLE, dest=rank+1|MPI_PROC_NULL, tag=0)
    MPI_Waitall(count=8)
  MPI_Allreduce(1 MPI_DOUBLE, op=MPI_SUM)
  MPI_Finalize"
	is "... with all calls" "$(calls "$at/s.rondo")" "$(fact calls "$at/s.rondo")"
	# 8 messages of 64 doubles a step, and a double of each rank.
	like "... and all bytes" "$("$RONDO" report "$at/s.rondo")" '^ +1,8[0-9]+ .* 205 kB  ranks 0-3$'
}

solver() {
	at=$tmp/$mpi
	ok "$mpi: solver compiles" "mpicc.$mpi" $prog_flags -O1 -o "$at/solver" t/prog/solver.c
	ok "... is traced" trace_mpi "$at/v.rondo" 3 "$at/solver" 100 own
	report "$at/v.rondo" >"$tmp/report"
	is "... loops, and what is in them" \
		"$(sed 's/ (mean.*)//;s/(.*MPI_.*)/()/;s/in .* rounds/in N rounds/' "$tmp/report")" "\
  MPI_Init
  MPI_Comm_rank
  MPI_Comm_size
  loop 100 times
    loop 8..32 times
      MPI_Irecv()
      MPI_Irecv()
      MPI_Isend()
      MPI_Isend()
      MPI_Waitall(count=4)
      MPI_Allreduce()
    MPI_Reduce()  in N rounds
    MPI_Iprobe()  0..8 times
    MPI_Bcast()
  MPI_Finalize"
	is "... with all calls" "$(calls "$at/v.rondo")" "$(fact calls "$at/v.rondo")"
}

# Each message is 2 x 2 x 3 x 2 doubles; each rank puts 4 x 3 ints into an Alltoall.
branches() {
	at=$tmp/$mpi
	ok "$mpi: branches compiles" "mpicc.$mpi" $prog_flags -O1 -o "$at/branches" t/prog/branches.c
	ok "... is traced" trace_mpi "$at/b.rondo" 4 "$at/branches"
	"$RONDO" report "$at/b.rondo" >"$tmp/report"
	like "... one rank sends, with the bytes of its datatype" "$(cat "$tmp/report")" \
		'^ +20 .* 3\.84 kB      MPI_Send\(2 type:[0-9]+, dest=1, tag=5\)  \[rank 0\]$'
	like "... another one receives" "$(cat "$tmp/report")" \
		'      MPI_Recv\(2 type:[0-9]+, source=0, tag=5\)  \[rank 1\]$'
	like "... and the others take part in the rest" "$(cat "$tmp/report")" \
		'^ +80 .* 3\.84 kB      MPI_Alltoall\(3 MPI_INT, 3 MPI_INT\)$'

	nok "$mpi: one that dies" trace_mpi "$at/d.rondo" 4 "$at/branches" die
	ok "... has a report" "$RONDO" report "$at/d.rondo"
	like "... that says who is not complete" "$(cat "$tmp/out")" '^incomplete: ranks [0-9]'
	# Others may not have come to the barrier when they are killed.
	like "... and where ranks stopped" "$(cat "$tmp/out")" \
		'^stopped outside of MPI: ranks ([0-9,]*2|0-2|[01]-3)'
	like "... what was done" "$(cat "$tmp/out")" '  loop (19\.\.)?20 times'
}

each_mpi stencil
each_mpi solver
each_mpi branches
finish
