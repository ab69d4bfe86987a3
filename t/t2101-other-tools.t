#!/bin/sh
# Beside another tool that uses MPI's profiling interface, however it comes into the program: the
# tool counts what it counts without us, and the trace has every call once.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# tool NAME FLAGS...: a library libNAME.so that goes on in some way; $prog.NAME.linked, a program
# that it is a library of; $prog.NAME.inside, one that has it in itself
tool() {
	_name=$1
	shift
	"mpicc.$mpi" $prog_flags -shared -fPIC "$@" -o "$tmp/$mpi/lib$_name.so" \
		t/prog/count_tool.c -ldl &&
		"mpicc.$mpi" $prog_flags -o "$prog.$_name.linked" t/prog/prog_p2p.c "$log_o" \
			-Wl,-rpath,"$tmp/$mpi" -L"$tmp/$mpi" -Wl,--no-as-needed "-l$_name" &&
		"mpicc.$mpi" $prog_flags "$@" -o "$prog.$_name.inside" t/prog/prog_p2p.c "$log_o" \
			t/prog/count_tool.c -ldl
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
	ok "$mpi: $_what" env ${_preload:+"LD_PRELOAD=$_preload"} t/limit 120 "$@"
	is "... counts the same" "$(counts)" "$want"
	sound_and_as_logged
}

# Wherever it stands, before us or behind.
everywhere() {
	_how="a tool that goes on $2" so=$tmp/$mpi/lib$1.so linked=$prog.$1.linked inside=$prog.$1.inside
	beside "$_how, preloaded" "$so" \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 "$prog"
	beside "... by its name alone" "${so##*/}" env LD_LIBRARY_PATH="$tmp/$mpi" \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 "$prog"
	beside "... behind us" "" "$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 \
		sh -c 'LD_PRELOAD=$LD_PRELOAD:$1 "$0"; :' "$prog" "$so"
	beside "... as a library of the program" "" \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 "$linked"
	beside "... in the program itself" "" \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 "$inside"
}

# A program that has nothing for others, and its tables in another order than linkers have them, as
# patchelf makes it.
rearranged() {
	ld --verbose | sed -n '/^=====/,/^=====/{/^=====/!p;}' |
		sed -e '/^ *\.dynstr /d' -e 's/^ *\.dynsym .*/.dynstr : { *(.dynstr) } &/' >"$tmp/script"
	"mpicc.$mpi" $prog_flags -fPIC -no-pie -Wl,-T,"$tmp/script" -o "$prog.rearranged" \
		t/prog/prog_p2p.c t/prog/log.c 2>/dev/null || {
		skip "$mpi: a program with its names first" "the linker cannot make one"
		return
	}
	beside "a program with its names first" "" "$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 \
		sh -c 'LD_PRELOAD=$LD_PRELOAD:$1 "$0"; :' "$prog.rearranged" "$so"
}

tools() {
	new_log
	prog=$tmp/$mpi/prog_p2p
	ok "$mpi: the program compiles" build_prog prog_p2p
	ok "... and the tools" tool count
	ok "... that use dlsym" tool next -DBY=RTLD_NEXT
	ok "... for the next tool" tool after -DBY=RTLD_NEXT '-DTO="MPI_"'
	ok "... and by default" tool default -DBY=RTLD_DEFAULT

	so=$tmp/$mpi/libcount.so
	ok "$mpi: untraced" env LD_PRELOAD="$so" t/limit 120 "mpirun.$mpi" -n 2 "$prog"
	want=$(counts)
	like "... there is something to count" "$want" '^rank 1: [1-9][0-9]* MPI_Send$'

	beside "a tool that is preloaded behind the launcher" "$so" \
		"mpirun.$mpi" -n 2 "$RONDO" trace -o "$trace" "$prog"
	beside "... and a shell" "$so" \
		"$RONDO" trace -o "$trace" "mpirun.$mpi" -n 2 sh -c '"$0"; :' "$prog"
	rearranged
	everywhere count "by PMPI_X"
	everywhere next 'by dlsym(RTLD_NEXT, "PMPI_X")'
	everywhere after 'by dlsym(RTLD_NEXT, "MPI_X")'
	everywhere default 'by dlsym(RTLD_DEFAULT, "PMPI_X")'
}

each_mpi tools

finish
