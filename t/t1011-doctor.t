#!/bin/sh
# rondo doctor: what is here, and what will work. The tracers are stand-ins.
. "$(dirname "$0")/lib.sh"

cc=${CC:-cc}
command -v ${cc%% *} >/dev/null || skip_all "there is no compiler"

bin=$tmp/bin
mkdir "$bin" "$tmp/empty"
cp "$RONDO" "$bin"
echo 'int nothing;' >"$tmp/lib.c"
echo 'int missing(void); int use(void) { return missing(); }' >"$tmp/broken.c"
library() { # NAME FROM
	$cc -shared -fPIC -o "$bin/librondo-$1.so" "$tmp/$2.c"
}
value() { # KEY
	sed -n "s/^$1: //p" "$tmp/out"
}

status "no tracer" 1 "$bin/rondo" doctor
is "nothing on standard error" "$(cat "$tmp/err")" ""
is "nothing but key: value lines" "$(grep -Ev '^[a-z.]+: .' "$tmp/out")" ""
for key in rondo openmpi.mpirun openmpi.mpicc openmpi.tracer mpich.mpirun mpich.mpicc mpich.tracer \
	stub clock shm zstd fuse ptrace tracing; do
	is "one line for $key" "$(value $key | wc -l | tr -d ' ')" 1
done
is "what there is not" "$(value openmpi.tracer)" "not built (there is no librondo-ompi.so)"
like "the conclusion" "$(tail -n 1 "$tmp/out")" '^tracing: will not work; '

library ompi lib
ok "one tracer" "$bin/rondo" doctor
is "... is found" "$(value openmpi.tracer)" "$bin/librondo-ompi.so"
is "... will do, without a stub" "$(value tracing)" \
	"will work with Open MPI, but only behind the launcher: mpirun ... rondo trace PROGRAM"
library stub lib
ok "a stub" "$bin/rondo" doctor
is "... completes it" "$(value tracing)" "will work with Open MPI"
library mpich lib
ok "two tracers" "$bin/rondo" doctor
is "... are better" "$(value tracing)" "will work with Open MPI and MPICH"
mkdir "$tmp/a b" "$tmp/tmp"
cp "$bin"/* "$tmp/a b"
ok "doctor runs with a space in the installation path" env TMPDIR="$tmp/tmp" "$tmp/a b/rondo" doctor
is "... finds the tracer" "$(value openmpi.tracer)" "$tmp/a b/librondo-ompi.so"
is "... reports that tracing works" "$(value tracing)" "will work with Open MPI and MPICH"
is "... leaves no link" "$(ls -A "$tmp/tmp")" ""
library mpich broken
ok "a tracer that cannot be loaded" "$bin/rondo" doctor
like "... is reported" "$(value mpich.tracer)" 'librondo-mpich.so cannot be loaded: .*missing'
is "... does not count" "$(value tracing)" "will work with Open MPI"
echo '#include <stdlib.h>
__attribute__((constructor)) static void start(void) { abort(); }' >"$tmp/crash.c"
library ompi crash
status "a tracer that crashes" 1 "$bin/rondo" doctor
like "... is reported" "$(value openmpi.tracer)" 'cannot be loaded: its start ends the process'

# MPIs are who they say they are, whatever their name.
says() { # NAME TEXT
	printf '#!/bin/sh\necho "%s"\n' "$2" >"$tmp/empty/$1"
	chmod +x "$tmp/empty/$1"
}
doctor() {
	PATH=$tmp/empty "$bin/rondo" doctor
}
says mpirun 'HYDRA build details: Version: 9.8.7'
says mpicc 'mpicc: Open MPI 5.0.1rc2 (Language: C)'
says mpirun.openmpi 'mpirun.openmpi (OpenRTE) 4.1.4'
status "other MPIs" 1 doctor
is "MPICH's launcher" "$(value mpich.mpirun)" "$tmp/empty/mpirun (9.8.7)"
is "Open MPI's compiler" "$(value openmpi.mpicc)" "$tmp/empty/mpicc (5.0.1)"
is "Open MPI's launcher" "$(value openmpi.mpirun)" "$tmp/empty/mpirun.openmpi (4.1.4)"

ok "--help" "$RONDO" doctor --help
status "an argument" 2 "$RONDO" doctor ill
is "... is said" "$(cat "$tmp/err")" "rondo: doctor: takes no ill (usage: rondo doctor)"
status "an option" 2 "$RONDO" doctor --ill
if [ -e /dev/full ]; then
	status "a full disk" 70 sh -c '"$0" doctor >/dev/full' "$RONDO"
fi

finish
