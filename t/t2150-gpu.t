#!/bin/sh
# GPU memory in traces, with a fake driver: the location of a buffer does not depend on the way in
# which the program calls the driver, and lookups of the driver's functions have the same results
# as without the tracer.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# libraries: builds the fake drivers, and the fake runtime as a shared library
libraries() {
	cc $prog_flags -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$lib/libcuda.so.1" t/prog/fake_gpu.c &&
		cc $prog_flags -DHIP -shared -fPIC -Wl,-soname,libamdhip64.so \
			-o "$lib/libamdhip64.so" t/prog/fake_gpu.c &&
		cc $prog_flags -DBY_VERSION -shared -fPIC -Wl,-soname,libcudart.so \
			-o "$lib/libcudart.so" t/prog/fake_runtime.c -ldl &&
		cc $prog_flags -DBY_LINKER -shared -fPIC -o "$lib/libplugin.so" t/prog/fake_runtime.c \
			-L"$lib" -Wl,-rpath,"$lib" -l:libcuda.so.1 &&
		cc $prog_flags -shared -fPIC -o "$lib/tool.so" t/prog/gpu_tool.c -ldl
}

# program NAME SOURCE... FLAGS...: builds $tmp/$mpi/NAME
program() {
	_program=$tmp/$mpi/$1
	shift
	"mpicc.$mpi" $prog_flags -o "$_program" "$@" -L"$lib" -Wl,-rpath,"$lib" -ldl
}

programs() {
	_memory=t/prog/gpu_memory.c _runtime=t/prog/fake_runtime.c
	program static $_memory $_runtime -DBY_VERSION &&
		program shared $_memory -lcudart &&
		program per-thread $_memory $_runtime -DBY_VERSION -DSTREAM=2 &&
		program old $_memory $_runtime -DBY_NAME &&
		program linked $_memory $_runtime -DBY_LINKER -l:libcuda.so.1 &&
		program hip-linked $_memory $_runtime -DBY_LINKER -DHIP -lamdhip64 &&
		program hip $_memory $_runtime -DBY_VERSION -DHIP &&
		program lookup t/prog/gpu_lookup.c &&
		program lookup-linked t/prog/gpu_lookup.c -Wl,--no-as-needed -l:libcuda.so.1 &&
		program lookup-hip t/prog/gpu_lookup.c -DHIP
}

# traced NAME: traces the program to $tmp/$mpi/NAME.rondo
traced() {
	rm -f "$tmp/$mpi/$1.rondo"
	LD_LIBRARY_PATH=$lib trace_mpi "$tmp/$mpi/$1.rondo" 1 "$tmp/$mpi/$1"
}

# locations NAME: prints the tag and the buffer of each message
locations() {
	"$RONDO" dump "$tmp/$mpi/$1.rondo" | sed -n 's/.*MPI_Send(buf=\([^,]*\),.* tag=\([0-9]*\),.*/\2 \1/p'
}

want="10 gpu0:0+0
11 gpu0:0+512
12 gpu0:1+0
13 gpu0:0+0
14 gpu0:1+0
15 gpu0:2+1024
20 managed:0+0
21 pinned:0+0
30 gpu0:0+0
31 gpu1:0+8
40 gpu1:0+0
41 gpu0:0+0
50 gpu0:0+16
51 gpu0:1+4096
52 gpu0:1+8
53 gpu0:0+0
60 heap:0+4
61 mmap:0+8"

# same NAME WHAT: the program has the same trace as the program with the static runtime
same() {
	ok "$mpi: a program $2 is traced" traced "$1"
	is "... and has the same dump" "$("$RONDO" dump "$tmp/$mpi/$1.rondo")" \
		"$("$RONDO" dump "$tmp/$mpi/static.rondo")"
}

memory() {
	ok "$mpi: the programs compile" programs
	ok "$mpi: a program with the static CUDA runtime is traced" traced static
	is "... GPU memory has its device, allocation and displacement" "$(locations static)" "$want"
	same shared "with the shared CUDA runtime"
	same per-thread "with per-thread default streams"
	same old "with a runtime that calls dlsym for each function"
	same linked "that is linked with the driver"
	same hip-linked "that is linked with HIP"
	same hip "that looks up the functions of HIP"
}

# unchanged WHAT NAME ARGUMENTS...: the program prints the same text with and without the tracer
unchanged() {
	_what=$1 _program=$tmp/$mpi/$2
	shift 2
	_plain=$(run_mpi 1 "$_program" "$@")
	is "$mpi: lookups have the same results $_what" \
		"$(trace_mpi "$tmp/$mpi/lookup.rondo" 1 "$_program" "$@" 2>/dev/null)" "$_plain"
	like "... and the program runs to its end" \
		"$_plain" "${driver_line:-^last error: 1|^too much: 2}"
}

lookups() {
	driver_line='^a driver: 0' unchanged "without a driver" lookup
	unchanged "with a driver that the program loads" lookup "$lib/libcuda.so.1"
	unchanged "with a driver that is unloaded" lookup "$lib/libcuda.so.1" "$lib/libplugin.so"
	like "... and the driver is loaded again" "$_plain" '^loaded 2: 0'
	unchanged "with a driver that is linked" lookup-linked "$lib/libcuda.so.1"
	unchanged "with HIP" lookup-hip "$lib/libamdhip64.so"
}

# counted WHERE PRELOAD...: a tool that wraps cuMemAlloc_v2 counts all allocations
counted() {
	ok "$mpi: a program with a tool $1 is traced" env LD_PRELOAD="$2" LD_LIBRARY_PATH="$lib" \
		t/limit 120 "$RONDO" trace -o "$tmp/$mpi/tool.rondo" "mpirun.$mpi" -n 1 \
		sh -c 'LD_PRELOAD=$LD_PRELOAD$1 "$0"; :' "$tmp/$mpi/linked" "$3"
	like "... the tool counts each allocation once" "$(cat "$tmp/err")" '^tool: 5 allocations$'
	is "... and the dump is the same" "$("$RONDO" dump "$tmp/$mpi/tool.rondo")" \
		"$("$RONDO" dump "$tmp/$mpi/linked.rondo")"
}

tools() {
	counted "before the tracer" "$lib/tool.so" ""
	counted "after the tracer" "" ":$lib/tool.so"
}

lib=$tmp/lib
mkdir "$lib"
ok "the fake libraries compile" libraries
each_mpi memory
each_mpi lookups
each_mpi tools
finish
