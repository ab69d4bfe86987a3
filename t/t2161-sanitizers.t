#!/bin/sh
# Programs built with sanitizers run and are traced as without Rondo, whether the sanitizer's
# runtime is a shared library or part of the program.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

ls "${RONDO%/*}"/librondo-[om]*.so >/dev/null 2>&1 || skip_all "no tracer was built"
command -v clang >/dev/null || skip_all "clang is not installed"
# clang's shared runtimes are not in the loader's path.
clang_runtimes=$(dirname "$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")")
# The MPI libraries are not instrumented.
export TSAN_OPTIONS=ignore_noninstrumented_modules=1 ASAN_OPTIONS=detect_leaks=0

# build COMPILER FLAGS...: compiles t/prog/sanitized.c to $program
build() {
	program=$tmp/$mpi/sanitized
	OMPI_CC=$1 MPICH_CC=$1
	export OMPI_CC MPICH_CC
	shift
	"mpicc.$mpi" -g "$@" -o "$program" t/prog/sanitized.c -lpthread
}

# results: prints the output, and the lines of a sanitizer's reports that are equal in each run
results() {
	sort "$tmp/out"
	sed -n 's/^==[0-9]*==ERROR/ERROR/; s/ on address .*//; s/^SUMMARY: //p; /^ERROR/p' \
		"$tmp/err" | sort -u
}

# run_both RANKS ARGUMENT...: runs $program untraced and traced; sets $want, $got and their codes. The
# option verify_asan_link_order=0 is needed because with_yield preloads a library.
run_both() {
	_ranks=$1
	shift
	ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 run run_mpi "$_ranks" "$program" "$@"
	want_code=$? want=$(results)
	rm -f "$tmp/trace.rondo"
	run trace_mpi "$tmp/trace.rondo" "$_ranks" "$program" "$@"
	got_code=$? got=$(results)
}

# same NAME COMPILER FLAGS...: the program's results are the same, and there is a trace
same() {
	name="$mpi: $1"
	shift
	ok "$name: the program compiles" build "$@"
	run_both 2
	case $want_code in
	11 | 134 | 139)
		skip "$name: tracing changes nothing" "the program does not run untraced"
		return
		;;
	esac
	is "$name: output, reports and exit code are as without tracing" "$got_code $got" \
		"$want_code $want"
	ok "$name: the trace is sound" "$RONDO" check "$tmp/trace.rondo"
}

# knows_heap: the trace names heap blocks
knows_heap() {
	like "... and names blocks of the sanitizer's allocator" \
		"$("$RONDO" dump --rank 0 "$tmp/trace.rondo" | head -n 5)" \
		'MPI_Sendrecv_replace\(buf=heap:0\+0'
}

# reports ARGUMENT PATTERN: a program with an error. It has one rank: with several ranks, the launcher
# kills the others when the first one fails, and its exit code depends on the timing.
reports() {
	run_both 1 "$1"
	is "$mpi: a program with an error ($1) has the same result" "$got_code $got" \
		"$want_code $want"
	like "... which is the sanitizer's report" "$got" "$2"
}

# A launcher starts `rondo trace`, which starts the program.
after_launcher() {
	rm -f "$tmp/trace.rondo"
	ok "$mpi: mpirun rondo trace has the exit code of the program" \
		run_mpi 2 "$RONDO" trace -o "$tmp/trace.rondo" "$program"
	ok "... and leaves a trace" "$RONDO" check "$tmp/trace.rondo"
}

# The MPI library has leaks in calls that a wrapper passes on. The tracer's own calls have no leaks.
leaks() {
	ASAN_OPTIONS=fast_unwind_on_malloc=0 run trace_mpi "$tmp/trace.rondo" 1 "$program"
	unlike "$mpi: the tracer has no leaks" "$(cat "$tmp/err")" 'src/tracer/(tracer|finish)'
}

# traced NAME COMPILER FLAGS...: UBSan's runtime does not change a program without errors
traced() {
	name="$mpi: $1"
	shift
	ok "$name: the program compiles" build "$@"
	ok "$name: the program runs" trace_mpi "$tmp/trace.rondo" 2 "$program"
	is "... its output is as without tracing" "$(results)" "$(printf 'rank %d: 1000\n' 0 1)"
	ok "... and the trace is sound" "$RONDO" check "$tmp/trace.rondo"
}

gcc_programs() {
	same "gcc, shared ASan" gcc -fsanitize=address
	knows_heap
	reports overflow 'heap-buffer-overflow'
	after_launcher
	leaks
	same "gcc, static ASan" gcc -fsanitize=address -static-libasan
	same "gcc, shared TSan" gcc -fsanitize=thread
	same "gcc, static TSan" gcc -fsanitize=thread -static-libtsan
	traced "gcc, shared UBSan" gcc -fsanitize=undefined
	traced "gcc, static UBSan" gcc -fsanitize=undefined -static-libubsan
}

clang_programs() {
	same "clang, shared ASan" clang -fsanitize=address -shared-libsan \
		"-Wl,-rpath,$clang_runtimes"
	same "clang, static ASan" clang -fsanitize=address
	knows_heap
	same "clang, static TSan" clang -fsanitize=thread
	traced "clang, static UBSan" clang -fsanitize=undefined -fno-sanitize-recover=all
	run_both 1 shift
	is "$mpi: a program with an error (shift) has the same exit code" $got_code $want_code
	like "... and the report of UBSan" "$(cat "$tmp/err")" 'runtime error: shift exponent 100'
}

each_mpi gcc_programs
each_mpi clang_programs

# A program that does not use MPI, and the programs that it starts.
cat >"$tmp/plain.c" <<'C'
#include <stdlib.h>
int main(void) { return system("grep -c asan /proc/self/maps; echo \"<$LD_PRELOAD>\"") != 0; }
C
ok "a program without MPI compiles with ASan" gcc -fsanitize=address -o "$tmp/plain" "$tmp/plain.c"
printf '#!/bin/sh\nASAN_OPTIONS=verbosity=0 %s/plain\necho "exit code $?"\n' "$tmp" >"$tmp/script"
chmod +x "$tmp/script"
run "$RONDO" trace -o "$tmp/none.rondo" "$tmp/script"
like "rondo trace runs the program in a script" "$(cat "$tmp/out")" '^exit code 0$'
like "... programs that it starts do not load ASan" "$(cat "$tmp/out")" '^0$'
unlike "... their environment does not name ASan" "$(cat "$tmp/out")" 'libasan'
unlike "... and no library failed to load" "$(cat "$tmp/err")" 'ERROR|ASan'

finish
