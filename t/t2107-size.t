#!/bin/sh
# How large traces are: they grow neither with the ranks nor with the steps of a regular program.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

most=1536

# compile PROGRAM SOURCE
compile() {
	ok "$mpi: $1 compiles" "mpicc.$mpi" $prog_flags -O1 -o "$tmp/$mpi/$1" "$2" -lm
}

# size PROGRAM RANKS STEPS [WHICH]: traces it, and puts a line "BYTES PROGRAM RANKS ..." into $sizes
size() {
	_trace=$tmp/$mpi/$1-$2-$3$4.rondo
	ok "$mpi: $1 $4 on $2 ranks, $3 steps" trace_mpi "$_trace" "$2" "$tmp/$mpi/$1" "$3" $4
	ok "... is sound" "$RONDO" check "$_trace"
	echo "$(wc -c <"$_trace") $*" >>"$sizes"
}

new_sizes() {
	sizes=$tmp/sizes
	: >"$sizes"
}

# alike PERCENT: the largest is at most so much larger than the smallest, and all are small
alike() {
	sort -n "$sizes" >"$tmp/sorted"
	diag "$mpi: bytes, program, ranks, steps:
$(cat "$tmp/sorted")"
	_least=$(sed -n '1s/ .*//p' "$tmp/sorted") _largest=$(sed -n '$s/ .*//p' "$tmp/sorted")
	ok "... no larger than $most bytes" test "$_largest" -le $most
	ok "... within $1 %" test $((_largest * 100)) -le $((_least * (100 + $1)))
}

stencil() {
	new_sizes
	compile stencil5 t/prog/stencil5.c
	size stencil5 9 100
	size stencil5 9 1000
	# On few processors MPICH needs a quarter of a minute for this.
	[ $mpi = mpich ] || size stencil5 9 10000
	[ $mpi = mpich ] || size stencil5 64 1000
	size stencil5 16 100
	size stencil5 64 100
	alike 5
}

# More signatures: two tiles in turn, a type of its own, a grid communicator.
example() {
	new_sizes
	compile stencil examples/stencil.c
	size stencil 9 200
	case $mpi in
	openmpi) size stencil 64 100 ;;
	mpich) size stencil 16 100 ;;
	esac
	alike 5
}

rows_and_columns() {
	new_sizes
	compile row_col t/prog/row_col.c
	size row_col 16 100
	[ $mpi = mpich ] || size row_col 64 100
	alike 10
}

# Each on a small grid of ranks and on a larger one; the unit test test_patterns has much larger ones.
# MPICH would need too long.
patterns() {
	[ $mpi = mpich ] && return
	compile patterns t/prog/patterns.c
	for which in neighbour transpose butterfly wavefront; do
		new_sizes
		size patterns 16 10 $which
		size patterns 64 10 $which
		alike 20
	done
}

# What is made and freed in every step has the same names each time.
communicators() {
	new_sizes
	compile comm_loop t/prog/comm_loop.c
	size comm_loop 4 50
	size comm_loop 4 500
	alike 10
}

each_mpi communicators
each_mpi stencil
each_mpi example
each_mpi rows_and_columns
each_mpi patterns

finish
