#!/bin/sh
# rondo trace: what is preloaded into whom, what is refused, and whose exit code it is. The MPI
# libraries and the tracers are stand-ins here; a tracer says that it is there, and nothing else.
. "$(dirname "$0")/lib.sh"

cc=${CC:-cc}
command -v ${cc%% *} >/dev/null || skip_all "there is no compiler"
[ -f "$BUILD/librondo-stub.so" ] || skip_all "$BUILD/librondo-stub.so is not built"
# An instrumented rondo does not like to have a library preloaded in front of its runtime.
ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0
export ASAN_OPTIONS
# This test may itself be run by a launcher, or under a tracer.
for name in $(env | sed -n 's/^\(\(OMPI\|PMIX\|PMI\|SLURM\|RONDO\)_[A-Za-z0-9_]*\)=.*/\1/p'); do
	unset "$name"
done
unset LD_PRELOAD

bin=$tmp/bin
mkdir "$bin" "$tmp/work" "$tmp/mpi"
cp "$RONDO" "$BUILD/librondo-stub.so" "$bin"
trace="$bin/rondo trace"

# --- stand-ins -----------------------------------------------------------------------------

cat >"$tmp/tracer.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static void show(const char *name)
{
	if (getenv(name))
		fprintf(stderr, "%s=%s\n", name, getenv(name));
}

__attribute__((constructor)) static void start(void)
{
	const char *status = getenv("RONDO_STATUS"), *tell = getenv("TELL");
	FILE *f = status ? fopen(status, "a") : NULL;

	fprintf(stderr, "tracer=%s\n", TRACER);
	show("LD_PRELOAD");
	show("RONDO_PRELOAD");
	show("RONDO_OUTPUT");
	show("RONDO_CWD");
	show("RONDO_TIME");
	show("RONDO_CALL");
	show("RONDO_RANK");
	show("RONDO_MEMORY");
	show("RONDO_MPI");
	if (f) {
		fprintf(f, "%s\n", tell ? tell : "traced 0000000000000001 here.rondo");
		fclose(f);
	}
}
END
echo 'int MPI_Init(void) { return 0; }' >"$tmp/mpi.c"
cat >"$tmp/app.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#ifdef WITH_MPI
int MPI_Init(void);
#else
static int MPI_Init(void) { return 0; }
#endif
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("[%s]", argv[i]);
	puts(".");
	return MPI_Init() + (argc > 1 ? atoi(argv[1]) : 0);
}
END
echo 'int MPI_Init(void); int far(void) { return MPI_Init(); }' >"$tmp/far.c"
echo 'int far(void); int main(void) { return far(); }' >"$tmp/app2.c"
echo 'int system(const char *); int main(void) { return system("./app.mpich"); }' >"$tmp/wrapper.c"
cat >"$tmp/user.c" <<'END'
#include <stdio.h>
__attribute__((constructor)) static void start(void) { fputs("user\n", stderr); }
END

build() {
	(
		cd "$tmp" &&
			for m in ompi mpich; do
				$cc -shared -fPIC -DTRACER="\"$m\"" -o bin/librondo-$m.so tracer.c || exit 1
			done &&
			$cc -shared -fPIC -Wl,-soname,libmpi.so.40 -o mpi/libmpi.so.40 mpi.c &&
			$cc -shared -fPIC -Wl,-soname,libmpich.so.12 -o mpi/libmpich.so.12 mpi.c &&
			rpath="-Wl,-rpath,$tmp/mpi" &&
			$cc -DWITH_MPI -o work/app.ompi app.c mpi/libmpi.so.40 "$rpath" &&
			$cc -DWITH_MPI -o work/app.mpich app.c mpi/libmpich.so.12 "$rpath" &&
			$cc -shared -fPIC -Wl,-soname,libfar.so -o mpi/libfar.so far.c mpi/libmpi.so.40 "$rpath" &&
			$cc -o work/app.far app2.c mpi/libfar.so "$rpath" -Wl,--allow-shlib-undefined &&
			$cc -o work/app.none app.c && $cc -w -o work/wrapper wrapper.c && cp work/app.none work/python3 &&
			$cc -shared -fPIC -o user.so user.c
	)
}
ok "stand-ins" build
cd "$tmp/work" || exit 1

# traced NAME WHO COMMAND...: exit code 0, and that tracer was there (or none)
traced() {
	_what=$1 _who=$2
	shift 2
	ok "$_what" "$@"
	is "... the tracer" "$(sed -n 's/^tracer=//p' "$tmp/err")" "$_who"
}

# refused NAME SENTENCE COMMAND...: exit code 70, that one line, and nothing was run
refused() {
	_what=$1 _line=$2
	shift 2
	status "$_what" 70 "$@"
	is "... is said" "$(cat "$tmp/err")" "rondo: $_line"
	is "... and nothing was run" "$(cat "$tmp/out")" ""
}

# untraced NAME SENTENCE COMMAND...: exit code 70, that last line
untraced() {
	_what=$1 _line=$2
	shift 2
	status "$_what" 70 "$@"
	is "... is said" "$(tail -n 1 "$tmp/err")" "rondo: $_line"
}

wrong() {
	_what=$1 _line=$2
	shift 2
	status "$_what" 2 $trace "$@"
	is "... is said" "$(cat "$tmp/err")" "rondo: trace: $_line"
}

# --- how it is called ----------------------------------------------------------------------

ok "--help" $trace --help
like "... has an example" "$(cat "$tmp/out")" '^  rondo trace .*mpirun'
like "... and the short option" "$(cat "$tmp/out")" '^  -o FILE '
wrong "no program" 'which program? (see: rondo trace --help)'
wrong "an unknown option" 'no option --wobble (see: rondo trace --help)' --wobble true
wrong "a slip" 'no option --tim; did you mean --time?' --tim none true
wrong "no value" '-o needs a value: FILE' -o
wrong "an empty value" '-o : empty' -o '' true
wrong "a wrong time" '--time all: none of summary, none, exact and bins:B' --time=all true
wrong "a wrong base" '--time bins:3: 3: not a base such as 1.2 (1 to 1.9, 3 decimals)' --time=bins:3 true
wrong "a base for no function" '--time exact,MPI_No=1.2: MPI_No: no such function' --time=exact,MPI_No=1.2 true
wrong "something else to record" '--only all: not one of: mpi order' --only=all true
wrong "a codec for nothing" '--order-codec is for --only=order' --order-codec=clock true
wrong "a wrong codec" '--order-codec gzip: not one of: model clock' --only=order --order-codec=gzip true
wrong "times of events" '--time is not for --only=order' --only=order --time=exact true
wrong "a wrong MPI" '--mpi lam: not one of: ompi mpich auto' --mpi lam true
for list in 1- , -3 1,,2 1-2-3 x; do
	wrong "ranks $list" "--rank $list: not a list such as 0,4-7" --rank $list true
done
for list in MPI_X, - ,MPI_X 'MPI X'; do
	wrong "calls $list" "--call $list: not a list such as MPI_I*,-MPI_Test*" --call "$list" true
done
for list in MPI_Sned 'MPI_Send,-MPI_Sned' '-MPI_Sned,MPI_Send' 'MPI_I*,MPI_Sned,MPI_Send'; do
	wrong "calls $list" '--call MPI_Sned: no function of MPI is called so' --call "$list" true
done
wrong "a pattern that nothing matches" '--call MPI_Z*: no function of MPI is called so' --call 'MPI_Z*' true
for size in x 1Mx M -1 1T 99999999999999G; do
	wrong "memory $size" "--memory $size: not a size such as 64M or 1G" --memory=$size true
done
wrong "too little memory" '--memory: less than 1M' --memory 1023K true

# --- who gets which tracer -----------------------------------------------------------------

for mpi in ompi mpich; do
	traced "$mpi: the program alone" $mpi $trace ./app.$mpi
	traced "$mpi: through a shell" $mpi $trace sh -c "cd . && ./app.$mpi"
	for var in OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK; do
		traced "$mpi: behind a launcher ($var)" $mpi env $var=0 $trace ./app.$mpi
	done
	traced "$mpi: behind a launcher, through a shell" $mpi \
		env PMI_RANK=0 $trace sh -c "cd . && ./app.$mpi"
done
traced "MPI behind another library" ompi $trace ./app.far
traced "... behind a launcher" ompi env PMI_RANK=0 $trace ./app.far
mv "$tmp/mpi/libfar.so" "$tmp/mpi/far"
status "a library that is not there" 127 env PMI_RANK=0 $trace ./app.far
like "... is the loader's to tell" "$(cat "$tmp/err")" '^./app.far: error while loading.* libfar.so'
mv "$tmp/mpi/far" "$tmp/mpi/libfar.so"
printf '#!/bin/sh\nexec ./app.mpich "$@"\n' >script
chmod +x script
traced "a script" mpich $trace ./script
traced "a script behind a launcher" mpich env PMI_RANK=0 $trace ./script
PATH=$tmp/work:$PATH traced "found in PATH" ompi $trace app.ompi
traced "two rondos" mpich $trace sh -c "$trace ./app.mpich"
traced "two rondos and a launcher" mpich $trace env PMI_RANK=0 $bin/rondo trace ./app.mpich
traced "rondo in front of a launcher, itself in a rank" mpich \
	env PMI_RANK=0 $trace sh -c 'cd . && ./app.mpich'

for launcher in mpirun mpiexec.hydra srun; do
	printf '#!/bin/sh\n[ "$1" = -n ] && shift 2\nexport PMI_RANK=0\nexec "$@"\n' >$launcher
	chmod +x $launcher
	traced "front of $launcher" mpich $trace ./$launcher -n 1 ./app.mpich
	traced "... an interpreter" mpich $trace ./$launcher -n 1 ./python3
	traced "... while in a rank" mpich env PMIX_RANK=3 $trace ./$launcher -n 1 ./app.mpich
done
traced "an interpreter, Open MPI's rank" ompi env OMPI_COMM_WORLD_RANK=0 PMI_RANK=0 $trace ./python3
traced "an interpreter, MPICH's rank" mpich env PMI_RANK=0 $trace ./python3
traced "an interpreter, told" ompi env PMI_RANK=0 $trace --mpi ompi ./python3
traced "an interpreter without a launcher, told" ompi $trace --mpi ompi ./python3
traced "a program that loads MPI later, told" mpich env PMI_RANK=0 $trace --mpi mpich ./app.none
printf '#!%s\n' "$tmp/work/python3" >script.py
chmod +x script.py
traced "an interpreter's script" mpich env PMI_RANK=0 $trace ./script.py

ok "arguments" $trace ./app.ompi 0 'a b' '' '*'
is "... stay as they are" "$(cat "$tmp/out")" '[0][a b][][*].'
ok "arguments behind a launcher" env PMI_RANK=0 $trace ./app.ompi 0 'a b' '' '*'
is "... stay as they are" "$(cat "$tmp/out")" '[0][a b][][*].'
ok "input" sh -c "echo hello | $trace sh -c 'cat; ./app.ompi >/dev/null'"
is "... comes through" "$(cat "$tmp/out")" hello

# --- what the tracer is told ---------------------------------------------------------------

told() {
	sed -n '/^[LR][A-Z_]*=/p' "$tmp/err"
}
here=$(pwd)
mkdir out
for how in "" "env PMI_RANK=0"; do
	ok "told nothing${how:+ ($how)}" env $how $trace ./app.ompi
	is "... but where" "$(told)" "LD_PRELOAD=$bin/librondo-ompi.so
RONDO_CWD=$here"
	ok "told all${how:+ ($how)}" env LD_PRELOAD="$tmp/user.so" $how $trace -o ./out/x.rondo \
		--time none --call='MPI_*,-MPI_T*' --rank 0,2-3 --memory 3M --mpi=ompi -- ./app.ompi
	is "... passes it on" "$(told)" "LD_PRELOAD=$bin/librondo-ompi.so:$tmp/user.so
RONDO_PRELOAD=$tmp/user.so
RONDO_OUTPUT=$here/out/x.rondo
RONDO_CWD=$here
RONDO_TIME=none
RONDO_CALL=MPI_*,-MPI_T*
RONDO_RANK=0,2-3
RONDO_MEMORY=3145728
RONDO_MPI=ompi"
done
ok "what the user preloads" env LD_PRELOAD="$tmp/user.so" $bin/rondo trace ./app.ompi
is "... is started once per program: rondo and the traced one" "$(grep -c '^user' "$tmp/err")" 2

# --- what is refused -----------------------------------------------------------------------

refused "nothing in PATH" "there is no program no-such-program in PATH" $trace no-such-program
refused "nothing there" "./nothing cannot be run: No such file or directory" $trace ./nothing
refused "a folder" "./out cannot be run: Is a directory" $trace ./out
echo text >text
refused "no program" "./text cannot be run: Permission denied" $trace ./text
chmod +x text
refused "no program, but executable" "./text cannot be run: Exec format error" $trace ./text
refused "... behind a launcher" "./text cannot be run: Exec format error" env PMI_RANK=0 $trace ./text
for how in "" "env PMI_RANK=0"; do
	refused "the wrong MPI${how:+ ($how)}" "./app.mpich uses MPICH, but --mpi=ompi was given" \
		env $how $trace --mpi=ompi ./app.mpich
done
refused "the wrong MPI behind mpirun" "./app.mpich uses MPICH, but --mpi=ompi was given" \
	$trace --mpi=ompi ./mpirun -n 1 ./app.mpich
not_mpi="rondo: ./app.none does not use MPI (needs: libc.so.6); \
if it loads MPI while it runs, name that with --mpi="
status "after a launcher, a program without MPI is run, and its exit code is returned" 3 \
	env PMI_RANK=0 $trace ./app.none 3
is "... its output is unchanged" "$(cat "$tmp/out")" "[3]."
is "... rank 0 reports that it does not use MPI" "$(cat "$tmp/err")" "$not_mpi"
ok "... rank 1 succeeds" env PMI_RANK=1 $trace ./app.none
is "... and prints nothing" "$(cat "$tmp/err")" ""
traced "... and an MPI program that it starts is traced" mpich env PMI_RANK=1 $trace ./wrapper
refused "an interpreter of any MPI" \
	"which MPI will ./python3 use? Say --mpi=ompi or --mpi=mpich" env PMIX_RANK=0 $trace ./python3

reach="a preloaded library cannot reach it"
if $cc -static -o static "$tmp/app.c" 2>/dev/null; then
	for how in "" "env PMI_RANK=0"; do
		refused "a static program${how:+ ($how)}" "./static is statically linked; $reach" \
			env $how $trace ./static
	done
	untraced "a static program behind mpirun" \
		"nothing was traced: ./static is statically linked; $reach" $trace ./mpirun -n 1 ./static
	ok "a static program that is only an argument" $trace /bin/ls ./static
	is "... does not explain why nothing was traced" "$(cat "$tmp/err")" \
		"rondo: /bin/ls made no MPI call; nothing was traced"
else
	skip "a static program" "cannot be linked here"
fi
if [ "$(id -u)" -eq 0 ]; then
	for bit in u g; do
		cp app.none special
		chown 65534:65534 special
		chmod $bit+s special
		refused "a program with set${bit}id" "./special has more rights than its user (setuid, \
setgid or capabilities); $reach" $trace ./special
	done
else
	skip "a setuid program" "only root can make one"
fi
cp app.none foreign
printf '\377\177' | dd of=foreign bs=1 seek=18 conv=notrunc 2>/dev/null
for how in "" "env PMI_RANK=0"; do
	refused "another machine's program${how:+ ($how)}" "./foreign is for another kind of machine" \
		env $how $trace ./foreign
done

mkfifo pipe
long=$(printf "%0300d" 0)
for how in "" "env PMI_RANK=0"; do
	refused "no folder${how:+ ($how)}" \
		"$here/no, the folder for the trace: No such file or directory" \
		env $how $trace -o no/x.rondo ./app.ompi
	refused "a folder as output${how:+ ($how)}" "$here/out, the file for the trace, is a folder" \
		env $how $trace -o out ./app.ompi
	refused "a pipe as output${how:+ ($how)}" \
		"$here/pipe, the file for the trace, is not a regular file" \
		env $how $trace -o pipe ./app.ompi
	refused "a file that is no trace${how:+ ($how)}" \
		"$here/app.none is there already, and not replaced: not a Rondo trace" \
		env $how $trace -o app.none ./app.ompi
	refused "a name that cannot be${how:+ ($how)}" \
		"$here/$long, the file for the trace: File name too long" \
		env $how $trace -o "$long" ./app.ompi
done
mkdir closed
chmod 555 closed
if [ -w closed ]; then
	skip "a folder that cannot be written to" "root can write everywhere"
else
	refused "a folder that cannot be written to" \
		"$here/closed, the folder for the trace: Permission denied" \
		$trace -o closed/x ./app.ompi
	refused "... the current one" \
		"$here/closed, the folder for the trace: Permission denied (-o FILE puts it elsewhere)" \
		sh -c "cd closed && $trace ../app.ompi"
fi

rm "$bin/librondo-mpich.so"
without="uses MPICH, but this Rondo was built without it"
for how in "" "env PMI_RANK=0"; do
	refused "no tracer for this MPI${how:+ ($how)}" \
		"./app.mpich $without (there is no librondo-mpich.so)" env $how $trace ./app.mpich
done
refused "... behind mpirun" "./app.mpich $without (there is no librondo-mpich.so)" \
	$trace ./mpirun -n 1 ./app.mpich
untraced "... in a script" "not traced: $here/app.mpich $without" $trace ./script
is "... which ran all the same" "$(cat "$tmp/out")" "."
traced "an interpreter of the only MPI" ompi env PMIX_RANK=0 $trace ./python3

# An installation whose path LD_PRELOAD cannot contain is reached through a link.
# no_link DIRECTORY: waits until the watcher has removed the link from the directory
no_link() {
	for _ in $(seq 50); do
		[ -n "$(ls -A "$1" | grep rondo-lib)" ] || return 0
		sleep 0.1
	done
	return 1
}
for odd in 'a b' 'a:b' '$ORIGIN' "it's; \"x\""; do
	mkdir -p "$tmp/$odd" "$tmp/tmp"
	cp "$bin"/* "$tmp/$odd"
	export TMPDIR="$tmp/tmp"
	traced "an installation in '$odd' traces a program" ompi "$tmp/$odd/rondo" trace ./app.ompi
	like "... the link was next to the trace" \
		"$(cat "$tmp/err")" "^LD_PRELOAD=$here/\.rondo-lib"
	is "... and is removed" "$(ls -A | grep rondo-lib)" ""
	traced "... traces after a launcher" ompi env PMI_RANK=0 "$tmp/$odd/rondo" trace ./app.ompi
	like "... the link was in TMPDIR" "$(cat "$tmp/err")" "^LD_PRELOAD=$TMPDIR/\.rondo-lib"
	ok "... and is removed" no_link "$TMPDIR"
	traced "... traces through a shell, after a launcher" \
		ompi env PMI_RANK=0 "$tmp/$odd/rondo" trace \
		sh -c 'cd . && ./app.ompi'
	mkdir -p "$tmp/odd $odd"
	traced "... writes the trace to such a directory" \
		ompi "$tmp/$odd/rondo" trace -o "$tmp/odd $odd/x" ./app.ompi
	ok "... no link is left" no_link "$TMPDIR"
	"$tmp/$odd/rondo" trace sh -c 'ls -ld .rondo-lib* >mode; ls .rondo-lib* >name; sleep 0.5; kill -9 $PPID; sleep 0.2;
		./app.ompi >late 2>&1' 2>/dev/null
	like "... if rondo is killed, the directory of the link is private" \
		"$(cat mode)" '^drwx------'
	like "... the name of the link is random" "$(cat name)" '^[0-9a-f]{16}$'
	ok "... the link is removed when the program has ended" no_link .
	like "... the program was traced" "$(cat late)" '^tracer=ompi$'
	rm -rf .rondo-run.*
	unset TMPDIR
done
mkdir -p "$tmp/to/bin" "$tmp/to/lib/rondo"
cp "$bin/rondo" "$tmp/to/bin"
refused "no stub" "librondo-stub.so is neither beside rondo nor in ../lib/rondo" \
	"$tmp/to/bin/rondo" trace true
cp "$bin"/*.so "$tmp/to/lib/rondo"
traced "installed" ompi "$tmp/to/bin/rondo" trace ./app.ompi

# --- afterwards ----------------------------------------------------------------------------

# no_call NAME SENTENCE CODE COMMAND...: the exit code is that of the program, and the last line is
# SENTENCE
no_call() {
	_what=$1 _line=$2
	shift 2
	status "$_what" "$@"
	is "... is reported" "$(tail -n 1 "$tmp/err")" "rondo: $_line; nothing was traced"
}
no_call "a program without MPI is run, and its exit code is returned" "/bin/ls made no MPI call" 0 \
	$trace /bin/ls
like "... its output is unchanged" "$(cat "$tmp/out")" '^app\.none$'
no_call "... with --mpi" "$here/app.none made no MPI call" 0 env TELL= $trace --mpi=ompi ./app.none
no_call "... a shell" "no program started by sh made an MPI call" 0 $trace sh -c 'true; true'
no_call "... an interpreter" "./python3 made no MPI call" 0 $trace ./python3
status "... and a nonzero exit code is returned" 3 $trace ./app.none 3
is "... is reported with a hint at --mpi" \
	"$(cat "$tmp/err")" "rondo: ./app.none made no MPI call; nothing was traced \
(one that loads MPI while it runs needs --mpi=ompi or --mpi=mpich)"
no_call "a program with MPI that makes no call" "$here/app.ompi made no MPI call" 0 \
	env TELL= $trace ./app.ompi
no_call "... and fails" "$here/app.ompi made no MPI call, or was killed before MPI_Init" 3 \
	env TELL= $trace ./app.ompi 3

# An argument of a program that runs no others says nothing about what ran.
no_call "an MPI program as an argument of another program" "ls made no MPI call" 0 $trace ls ./app.ompi
no_call "... that copies it" "cp made no MPI call" 0 $trace cp ./app.ompi ./app.copy
rm app.copy
no_call "... that a launcher starts" "no program started by ./mpirun made an MPI call" 0 \
	$trace ./mpirun -n 1 ls ./app.ompi
if command -v ldd >/dev/null; then
	no_call "... that is a script" "no program started by ldd made an MPI call" 0 $trace ldd ./app.ompi
else
	skip "... that is a script" "there is no ldd"
fi
no_call "the word LD_PRELOAD as an argument" "echo made no MPI call" 0 $trace echo LD_PRELOAD
is "... is printed" "$(cat "$tmp/out")" LD_PRELOAD

ok "a program in the background that was given no tracer" $trace sh -c 'sleep 2 >/dev/null 2>&1 &'
like "... is said to be traced if it calls MPI" "$(cat "$tmp/err")" "^rondo: sh has made no MPI call so far; \
process [0-9]+ is still running in the background and writes a trace if it calls MPI\$"

# Programs that load MPI while they run are reported when they exit.
loader='#include <dlfcn.h>
int main(int argc, char **argv) { return !dlopen(argv[1], RTLD_NOW); }'
echo "$loader" >"$tmp/loader.c"
$cc -w -o loader "$tmp/loader.c" -ldl
untraced "a program that loads Open MPI" "not traced: $here/loader loaded Open MPI while it ran; \
try --mpi=ompi" $trace ./loader "$tmp/mpi/libmpi.so.40"
untraced "... that a launcher starts" "not traced: $here/loader loaded Open MPI while it ran; \
try --mpi=ompi" $trace ./mpirun -n 1 ./loader "$tmp/mpi/libmpi.so.40"
untraced "... with --mpi, in a shell" "not traced: $here/loader loaded MPI while it ran; \
try rondo trace right before it" $trace --mpi=ompi sh -c ':; ./loader "$1"; :' sh "$tmp/mpi/libmpi.so.40"

# A launcher that fails is not confused with a program that fails.
printf '#!/bin/sh\nexit 9\n' >mpiexec
cp app.none orterun
chmod +x mpiexec
# fails NAME SENTENCE CODE COMMAND...
fails() {
	_what=$1 _line=$2
	shift 2
	status "$_what" "$@"
	is "... is reported" "$(tail -n 1 "$tmp/err")" "rondo: $_line"
}
unseen="started no program that rondo could see"
fails "a launcher that fails" "the launcher ./mpiexec failed with exit code 9 and $unseen; \
nothing was traced" 9 $trace ./mpiexec -n 1 ./app.ompi
fails "... in a script" "the launcher orterun $unseen, and sh failed with exit code 7; nothing was traced" 7 \
	$trace sh -c './orterun; exit 7'
fails "a launcher that fails when it has started a program gets no hint to use --mpi" \
	"no program started by sh made an MPI call; nothing was traced" 7 \
	$trace sh -c './orterun; PMI_RANK=0 ./app.none; exit 7'
fails "a program that fails, started by a launcher" "no program started by ./mpirun made an MPI call; \
nothing was traced (one that loads MPI while it runs needs --mpi=ompi or --mpi=mpich)" 3 \
	$trace ./mpirun -n 1 ./app.none 3
fails "a launcher whose program finds no environment and fails" "nothing was traced: ./mpirun failed with \
exit code 3, and rondo did not see ./app.ompi start" 3 $trace ./mpirun -n 1 env -i ./app.ompi 3
rm mpiexec orterun
status "the program's exit code" 3 $trace ./app.ompi 3
status "... behind a launcher" 3 env PMI_RANK=0 $trace ./app.ompi 3
status "killed" 137 $trace sh -c './app.ompi; kill -9 $$'
untraced "another LD_PRELOAD" "nothing was traced: the command sets LD_PRELOAD, which rondo needs; \
try rondo trace after the launcher" $trace env LD_PRELOAD="$tmp/user.so" ./app.ompi
untraced "... in a script" "nothing was traced: the command sets LD_PRELOAD, which rondo needs; \
try rondo trace after the launcher" $trace sh -c 'unset LD_PRELOAD; ./app.ompi'
untraced "no environment" "nothing was traced: ./app.ompi found no LD_PRELOAD, which rondo needs, in its \
environment; try rondo trace right before it" $trace env -i ./app.ompi
mkdir -m 700 "x y.part"
: >"x y.part/0000000000000001-host"
untraced "a trace that could not be written" "no disk; what every rank did is kept; put together by: \
rondo recover '$here/x y.part'" env TELL="spool 0000000000000001 $here/x y.part
unmerged 0000000000000001 no disk" $trace ./app.ompi
ok "a tracer that reports part files" env TELL="parts 0000000000000001 y.rondo.part" $trace ./app.ompi
status "a tracer that failed" 70 env TELL="failed 0000000000000001 because" $trace ./app.ompi
status "... in a program that also failed" 3 env TELL="failed 0000000000000001 because" $trace ./app.ompi 3
is "no private directory is left" "$(ls -A | grep rondo-run)" ""

cat >waits <<'END'
#!/bin/sh
trap 'echo got it; exit 5' TERM
trap '' INT
echo $$ >pid
i=0
while [ $i -lt 100 ]; do
	sleep 0.1
	i=$((i + 1))
done
END
chmod +x waits
"$bin/rondo" trace ./waits >"$tmp/out" 2>"$tmp/err" &
rondo=$!
tries=0
while ! [ -s pid ] && [ $tries -lt 200 ]; do
	sleep 0.05
	tries=$((tries + 1))
done
kill -TERM $rondo
wait $rondo
is "a signal is passed on" "$? $(cat "$tmp/out")" "5 got it"

{
	$trace sh -c 'yes; echo $? >code' 2>/dev/null
} | head -n 1 >/dev/null
is "SIGPIPE is as it was" "$(cat code)" 141

# --- real launchers ------------------------------------------------------------------------

# The programs are no MPI programs, so that each launcher will run each of them.
(cd "$tmp" && $cc -shared -fPIC -DTRACER='"mpich"' -o bin/librondo-mpich.so tracer.c)
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
if command -v mpirun.openmpi >/dev/null; then
	traced "Open MPI's launcher" "ompi
ompi" $trace mpirun.openmpi -n 2 sh -c 'cd . && ./app.ompi'
	traced "... behind it" "ompi
ompi" mpirun.openmpi -n 2 $bin/rondo trace ./app.ompi

	# Another node: a shell that has, like that of ssh, an environment of its own.
	cat >agent <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
shift
exec env -i PATH="$PATH" HOME="$HOME" sh -c "$*"
END
	chmod +x agent
	cat >say <<'END'
#!/bin/sh
./app.ompi >/dev/null 2>&1 && echo "A=$A B=$B ${LD_PRELOAD##*/} ${RONDO_OUTPUT##*/}"
END
	chmod +x say
	# other NAME WANTED ARGUMENTS...: what ranks of another node see
	other() {
		_what=$1 _line=$2
		shift 2
		ok "another node: $_what" env A=1 B=2 HOME="$HOME" $trace -o z.rondo mpirun.openmpi \
			--mca plm_rsh_agent "$here/agent" --host other:2 "$@"
		is "... sees" "$(sort "$tmp/out")" "$_line"
	}
	ours="librondo-stub.so z.rondo"
	HOME=$tmp/home
	export HOME
	mkdir -p "$HOME/.openmpi"
	other "nothing but ours" "A= B= $ours" -n 1 ./say
	other "options of the user's" "A= B=2 $ours
A=1 B= $ours" -x A -n 1 ./say : -x B -n 1 ./say
	other "a parameter of the user's" "A=1 B=7 $ours" --mca mca_base_env_list 'A;B=7' -n 1 ./say
	trace="env -- $tmp/a:b/rondo trace" other "an installation with a colon in its path" "A= B= $ours" -n 1 ./say
	OMPI_MCA_mca_base_env_list='A;B=8' other "... in the environment" "A=1 B=8 $ours" -n 1 ./say
	echo 'mca_base_env_list = A' >"$HOME/.openmpi/mca-params.conf"
	other "... in a file" "A=1 B= $ours" -n 1 ./say
else
	skip "Open MPI's launcher" "not installed"
fi
if command -v mpirun.mpich >/dev/null; then
	traced "MPICH's launcher" "mpich
mpich" $trace mpirun.mpich -n 2 sh -c 'cd . && ./app.mpich'
	traced "... behind it" "mpich
mpich" mpirun.mpich -n 2 $bin/rondo trace ./app.mpich
else
	skip "MPICH's launcher" "not installed"
fi

cd "$root" || exit 1
finish
