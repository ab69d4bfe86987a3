#!/bin/sh
# A traced program with resource limits has the results that it has without tracing.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# Lines of the program. MPI prints others, with times and process ids.
results() {
	grep -E '^(rank|signal)' "$tmp/out" | sort
}

# same ARGUMENT...: the program's results are those of an untraced run
same() {
	run run_mpi 2 "$program" "$@"
	want_code=$? want=$(results)
	if [ $want_code -ne 7 ]; then
		skip "$mpi: limited $*" "the program fails without tracing, too"
		return
	fi
	rm -rf "$tmp/trace.rondo" "$tmp/trace.rondo.part"
	run trace_mpi "$tmp/trace.rondo" 2 "$program" "$@"
	is "$mpi: limited $*: exit code and output do not change" "$? $(results)" \
		"$want_code $want"
	is "... and the tracer prints one message" "$(grep -c '^rondo: ' "$tmp/err")" 1
}

limits() {
	program=$tmp/$mpi/limited
	ok "$mpi: limited compiles" "mpicc.$mpi" $prog_flags -o "$program" t/prog/limited.c -lpthread
	same nofile after 8
	same fsize after 0
	same fsize after 4096
	same stack
	ok "... with a trace" "$RONDO" check "$tmp/trace.rondo"
}

# The largest address space of a rank, in KiB.
peak() {
	sed -n 's/^peak //p' "$tmp/out" | sort -n | tail -n 1
}

# Which components Open MPI can load, and so what it needs, depends on the limit.
address_space() {
	run run_mpi 2 "$program" peak
	untraced=$(peak)
	same as before $(((untraced + 16000) * 1024))
	ok "... with a trace" "$RONDO" check "$tmp/trace.rondo"
	run trace_mpi "$tmp/trace.rondo" 2 "$program" peak
	traced=$(peak)
	ok "$mpi: the tracer needs at most 12 MB of address space, and keeps 16 MB for the end" \
		test $((traced - untraced)) -lt 28000
	diag "KiB of address space: $traced with tracing, $untraced without"
}

each_mpi limits
mpi=mpich program=$tmp/mpich/limited
if [ -n "$(mpi_missing mpich)" ]; then
	skip "mpich: limited address space" "$(mpi_missing mpich)"
else
	address_space
fi

finish
