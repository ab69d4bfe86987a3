#!/bin/sh
# Beside another tool that uses MPI's profiling interface, however it comes into the program: the
# tool counts what it counts without us, and the trace has every call once.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# tool OUTPUT FLAGS...: a shared library
tool() {
	_out=$1
	shift
	"mpicc.$mpi" $prog_flags -shared -fPIC -o "$_out" "$@" t/prog/count_tool.c -ldl
}

tool_inside() {
	"mpicc.$mpi" $prog_flags -c -o "$tmp/$mpi/count_tool.o" t/prog/count_tool.c &&
		"mpicc.$mpi" $prog_flags -o "$prog.static" t/prog/prog_p2p.c "$log_o" \
			"$tmp/$mpi/count_tool.o"
}

# What the tool said, in an order of our own.
counts() {
	sed -n 's/^tool: //p' "$tmp/err" | sort
}

# beside WHAT PRELOAD COMMAND...: traced, like untraced
beside() {
	_what=$1 _preload=$2
	shift 2
	new_log
	ok "$mpi: $_what" env ${_preload:+"LD_PRELOAD=$_preload"} timeout 120 "$@"
	is "... counts the same" "$(counts)" "$want"
	sound_and_as_logged
}

tools() {
	new_log
	prog=$tmp/$mpi/prog_p2p so=$tmp/$mpi/libcount.so next=$tmp/$mpi/libcount_next.so
	ok "$mpi: the tools compile" tool "$so"
	ok "... and for preloading" tool "$next" -DNEXT
	ok "... and the program" build_prog prog_p2p
	ok "... with a tool linked" build_prog prog_p2p -Wl,-rpath,"$tmp/$mpi" -L"$tmp/$mpi" \
		-Wl,--no-as-needed -lcount
	mv "$prog" "$prog.shared"
	ok "... and inside" tool_inside
	build_prog prog_p2p

	ok "$mpi: untraced" env LD_PRELOAD="$so" timeout 120 "mpirun.$mpi" -n 2 "$prog"
	want=$(counts)
	like "... there is something to count" "$want" '^rank 1: [1-9][0-9]* MPI_Send$'

	beside "a tool that is preloaded" "$so" \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 "$prog"
	beside "... behind the launcher" "$so" \
		"mpirun.$mpi" -n 2 "$RONDO" trace -o "$trace" "$prog"
	beside "... and a shell" "$so" \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 sh -c '"$0"; :' "$prog"
	beside "... and goes on by dlsym" "$next" \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 "$prog"
	beside "a tool that is a library of the program" "" \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 "$prog.shared"
	beside "a tool in the program itself" "" \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 "$prog.static"
}

each_mpi tools

finish
