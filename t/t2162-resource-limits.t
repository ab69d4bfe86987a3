#!/bin/sh
# A traced program with resource limits has the results that it has without tracing.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# Lines of the program. MPI prints others, with times and process ids.
results() {
	grep -E '^(rank|signal)' "$tmp/out" | sort
}

# same_results WHAT RANKS COMMAND...: the command has the results of an untraced run. Returns 1 if that
# run fails.
same_results() {
	what=$1
	shift
	run run_mpi "$@"
	want_code=$? want=$(results)
	if [ $want_code -ne 7 ]; then
		skip "$mpi: $what" "the program fails without tracing, too"
		return 1
	fi
	rm -rf "$tmp/trace.rondo" "$tmp/trace.rondo.part"
	run trace_mpi "$tmp/trace.rondo" "$@"
	is "$mpi: $what: exit code and output do not change" "$? $(results)" "$want_code $want"
	is "... and the tracer prints one message" "$(grep -c '^rondo: ' "$tmp/err")" 1
}

# same ARGUMENT...: the program has the results of an untraced run
same() {
	same_results "limited $*" 2 "$program" "$@"
}

# same_below RANKS KIB: the same with a limit that exists before the program starts
same_below() {
	same_results "ulimit -v $2, ranks: $1" "$1" \
		sh -c 'ulimit -v "$0" && exec "$@"' "$2" "$program" calls
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

# Open MPI loads as many components as the limit permits, and fails at some limits below the peak.
address_space() {
	program=$tmp/$mpi/limited
	run run_mpi 2 "$program" peak
	untraced=$(peak)
	same as before $(((untraced + 16000) * 1024)) &&
		ok "... with a trace" "$RONDO" check "$tmp/trace.rondo"
	same_below 2 $((untraced + 16000 > 196608 ? untraced + 16000 : 196608)) &&
		ok "... with a trace" "$RONDO" check "$tmp/trace.rondo"
	run trace_mpi "$tmp/trace.rondo" 2 "$program" peak
	traced=$(peak)
	ok "$mpi: the tracer needs at most 12 MB of address space, and keeps 16 MB for the end" \
		test $((traced - untraced)) -lt 28000
	diag "KiB of address space: $traced with tracing, $untraced without"
}

# The tracer is not loaded below these limits. With two ranks, Open MPI sometimes fails at such limits.
small_address_space() {
	program=$tmp/$mpi/limited
	same_below 1 110000
	[ "$mpi" = openmpi ] || same_below 2 120000
	same_below 1 150000 &&
		is "... with the reason" "$(grep -c 'not traced: .*limit on address space' "$tmp/err")" 1
}

each_mpi limits
each_mpi address_space
each_mpi small_address_space

finish
