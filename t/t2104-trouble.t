#!/bin/sh
# When there is nowhere to write, no space, no memory, nobody who listens: the program's output and
# exit code are what they are without tracing, one line says what happened, and nothing is left.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# Ends with code 7, so that a code of ours would show; Open MPI's launcher then takes its time.
code=7

# What the program prints; MPI may complain beside it.
results() {
	grep '^rank' "$tmp/out" | sort
}

# untraced: what the program prints and returns by itself, in $want and $want_code
untraced() {
	run run_mpi 2 "$prog" none x "$code"
	want_code=$? want=$(results)
}

# prepare TROUBLE...: the program makes each for itself once it runs. All at the same time, because
# launchers take a while to end a program that has not exited with 0.
prepare() {
	for _trouble in "$@"; do
		out=$tmp/$mpi/$_trouble
		mkdir "$out"
		make_trouble "$_trouble" &
	done
	wait
}

# All calls differ, and each has to be remembered.
make_trouble() {
	with_yield t/limit 120 "$RONDO" trace --no-elastic -o "$out/trace.rondo" "mpirun.$mpi" -n 2 \
		"$prog" "$1" "$out" "$code" >"$out.out" 2>"$out.err"
	echo $? >"$out.code"
}

# troubled TROUBLE: what came of it; what we said is in $said
troubled() {
	out=$tmp/$mpi/$1
	cp "$out.out" "$tmp/out"
	said=$(grep '^rondo: ' "$out.err")
	is "$mpi: $1: the exit code is the program's" "$(cat "$out.code")" "$want_code"
	is "... and so is the output" "$(results)" "$want"
}

one_line() {
	is "... one line" "$(printf '%s\n' "$said" | grep -c .)" 1
	like "... says why" "$said" "$1"
}

# What the part file has of it can be had, elsewhere.
recovered_elsewhere() {
	ok "... which does it" "$RONDO" recover "$out/trace.rondo.part" -o "$out/other.rondo"
	ok "... to a sound trace" "$RONDO" check "$out/other.rondo"
}

traced() {
	ok "... and there is a trace" "$RONDO" check "$out/trace.rondo"
	is "... and nothing else" "$(ls -A "$out")" trace.rondo
}

at_run_time() {
	prepare none no-listener no-space no-memory no-folder
	troubled none
	one_line '[0-9]+ calls on 2 ranks in [0-9]+ bytes'
	traced

	troubled no-listener
	traced
	troubled no-space
	one_line 'File too large.*; put together by: rondo recover '
	recovered_elsewhere
	troubled no-memory
	one_line ', [1-9][0-9]* lost;'
	traced
	like "... which says so" "$("$RONDO" info "$out/trace.rondo")" '^complete: no'
	troubled no-folder
	one_line 'No such file or directory'
}

# UCX below MPICH does not compute exactly itself.
floating_point() {
	prepare only-exact
	troubled only-exact
	traced
}

# The same for both, so it is enough to try with the one that is quick to end.
more_at_run_time() {
	prepare elsewhere no-descriptors no-files another-file a-folder-instead
	troubled elsewhere
	traced
	troubled no-descriptors
	is "... nothing can be said" "$said" ""
	traced
	troubled another-file
	is "... nothing can be said" "$said" ""
	ok "... there is a trace" "$RONDO" check "$out/trace.rondo"
	is "... and the program's files are its own" "$(cat "$out/own-0" "$out/own-1")" "mine
mine"
	troubled a-folder-instead
	one_line 'rondo info [^ ]*/trace\.2\.rondo$'
	unlike "... without loss" "$("$RONDO" info "$out/trace.2.rondo")" '^lost: '
	is "... and a call has lasted as long as it did" "$("$RONDO" info --calls "$out/trace.2.rondo" |
		awk '/MPI_Comm_call_errhandler/ && $2 >= 0.55 { print "yes" }')" yes
	troubled no-files
	one_line 'Too many open files.*; put together by: rondo recover '
	recovered_elsewhere
}

# A real full disk, if we may make one: a file system of 8 KiB, seen by our processes alone.
full_disk() {
	out=$tmp/$mpi/full
	mkdir "$out"
	unshare -m sh -c 'mount -t tmpfs -o size=8k none "$1" && head -c 6000 /dev/zero >"$1/full" || exit
		shift
		"$@"
		code=$?
		ls -A "$0" | sed "s/^/left: /"
		exit $code' "$out" "$out" "$@"
}

on_a_full_disk() {
	if ! unshare -m mount -t tmpfs none "$tmp" 2>/dev/null; then
		skip "$mpi: a full disk" "no file system can be mounted here"
		return
	fi
	run full_disk t/limit 120 "$RONDO" trace -o "$tmp/$mpi/full/trace.rondo" "mpirun.$mpi" -n 2 \
		"$prog" none x $code
	is "$mpi: a full disk: the exit code is the program's" $? "$want_code"
	said=$(grep '^rondo: ' "$tmp/err")
	is "... and so is the output" "$(results)" "$want"
	one_line 'No space left on device'
	is "... nothing is left" "$(sed -n 's/^left: //p' "$tmp/out")" full
}

# refused WHAT PATTERN OPTION...: known before the program is started, which so is not
refused() {
	_what=$1 _pattern=$2
	shift 2
	status "$mpi: $_what" 70 "$RONDO" trace "$@" "mpirun.$mpi" -n 2 "$prog" none x 0
	is "... the program is not started" "$(cat "$tmp/out")" ""
	said=$(cat "$tmp/err")
	one_line "$_pattern"
}

beforehand() {
	out=$tmp/$mpi/beforehand
	mkdir -p "$out/folder"
	: >"$out/file"
	refused "no folder for the trace" 'missing, the folder for the trace: No such file' \
		-o "$out/missing/trace.rondo"
	refused "a file instead of it" 'file, the folder for the trace: Not a directory' \
		-o "$out/file/trace.rondo"
	refused "a folder instead of the file" 'folder, the file for the trace, is a folder' \
		-o "$out/folder"
	refused "a device" '/dev/full, the file for the trace, is not a regular file' -o /dev/full
	if [ "$(id -u)" -ne 0 ]; then
		chmod 555 "$out/folder"
		refused "a folder that is not ours" 'Permission denied' -o "$out/folder/trace.rondo"
	else
		skip "a folder that is not ours" "root may write everywhere"
	fi
	is "... nothing is left" "$(ls -A "$out")" "file
folder"
}

wrong_usage() {
	for _options in "--time=later" "--rank=one" "--rank=3-" "--call=MPI Send" "--mpi=mvapich" "--frequency=1"; do
		status "$mpi: $_options" 2 "$RONDO" trace "$_options" "mpirun.$mpi" -n 2 "$prog" none x 0
		is "... one line" "$(grep -c '^rondo: ' "$tmp/err")" 1
		is "... the program is not started" "$(cat "$tmp/out")" ""
	done
}

trouble() {
	prog=$tmp/$mpi/prog_trouble
	ok "$mpi: prog_trouble compiles" build_prog prog_trouble
	with_yield : # makes what those that follow share
	untraced
	is "... and runs" "$want_code" $code
	at_run_time
	on_a_full_disk
	beforehand
	[ $mpi = mpich ] || floating_point
	[ $mpi = openmpi ] || more_at_run_time
	[ $mpi = openmpi ] || wrong_usage
}

each_mpi trouble

finish
