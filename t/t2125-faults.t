#!/bin/sh
# System calls and allocations of the tracer that fail, one after the other: the program's output and
# exit code are what they are without, one line says what happened, and what is there can be read.
# RONDO_FAULTS=1 tries each of them, with each MPI and on each rank, which is what `make soak` does;
# otherwise, every so many.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# UCX, below MPICH, would otherwise put functions of its own in front of what the tracer calls.
export UCX_MEM_EVENTS=no UCX_MEM_MMAP_HOOK_MODE=none

# Behind a launcher nobody waits to tell it all in one line: what fails while the program runs is said
# at once, by one process that has the file and one that has none, and how it ended in another line.
behind=

at_once=${RONDO_FAULTS_AT_ONCE:-5}
ENOMEM=12 EROFS=30 ENOSPC=28 EDQUOT=122 EIO=5

results() {
	grep '^rank' "$1" | sort
}

# faulty KIND HOW N ERRNO RANK: runs the program with this fault; what comes of it is in $at, which
# is named after it
faulty() {
	at=$tmp/$mpi/$(echo "$*" | tr ' ' _)
	mkdir -p "$at/log" "$at/fired" "$at/out"
	RONDO_FAULT="$*" RONDO_FAULT_FIRED=$at/fired
	export RONDO_FAULT RONDO_FAULT_FIRED
	if [ -n "$behind" ]; then
		run_mpi 2 "$RONDO" trace -o "$at/out/trace.rondo" "$prog" "$at/log" 7
	else
		trace_mpi "$at/out/trace.rondo" 2 "$prog" "$at/log" 7
	fi >"$at/stdout" 2>"$at/stderr"
	echo $? >"$at/code"
	judge >"$at/judged" 2>&1
}

# readable FILE: it is sound, and has the program's calls but for those that it says are lost
readable() {
	"$RONDO" check "$1" >/dev/null && "$RONDO" dump "$1" | t/compare-lost "$at/log" "$("$RONDO" info "$1")"
}

# judge: prints what is wrong
judge() {
	[ "$(cat "$at/code")" = 7 ] || echo "exit code $(cat "$at/code")"
	[ "$(results "$at/stdout")" = "$want" ] || cat "$at/stdout"
	said=$(grep '^rondo: ' "$at/stderr")
	[ "$(printf '%s\n' "$said" | grep -c .)" -le $((1 + 2 * ${behind:-0})) ] && [ -n "$said" ] ||
		printf '%s\n' "not one line:" "$said"
	if [ -e "$at/out/trace.rondo.part" ]; then
		"$RONDO" recover "$at/out/trace.rondo.part" -o "$at/recovered" >"$at/line" || cat "$at/line"
		readable "$at/recovered"
	elif ! [ -e "$at/out/trace.rondo" ]; then
		printf '%s\n' "$said" | grep -q 'nothing was traced' || echo "no trace, and none said: $said"
	fi
	[ ! -e "$at/out/trace.rondo" ] || readable "$at/out/trace.rondo"
	for _file in "$at/out"/* "$at/out"/.[!.]*; do
		case $_file in
		*/trace.rondo | */trace.rondo.part | *'*' | *'*]'*) ;;
		*) echo "left: $_file" ;;
		esac
	done
}

# batch KIND HOW ERRNO RANK N...: all at the same time
batch() {
	_kind=$1 _how=$2 _errno=$3 _rank=$4
	shift 4
	for _i in "$@"; do
		faulty "$_kind" "$_how" "$_i" "$_errno" "$_rank" &
	done
	wait
	_more=
	for _i in "$@"; do
		at=$tmp/$mpi/${_kind}_${_how}_${_i}_${_errno}_${_rank}
		[ -z "$(ls -A "$at/fired")" ] || _more=1
		[ ! -s "$at/judged" ] || {
			_bad="$_bad $_i"
			explain "$mpi: $_kind $_how $_i $_errno $_rank: $(ls "$at/fired" | tr '\n' ' ')"
			explain "$(cat "$at/judged")"
		}
		rm -rf "$at"
		_tried=$_i
	done
}

# sweep KIND HOW ERRNO RANK FIRST STEP: until nothing fails any more
sweep() {
	_bad= _more=1 _n=$5
	while [ -n "$_more" ]; do
		_list=
		while [ "$(echo $_list | wc -w)" -lt "$at_once" ]; do
			_list="$_list $_n"
			_n=$((_n + $6))
		done
		batch "$1" "$2" "$3" "$4" $_list
	done
	is "$mpi: $1, $2, errno $3, rank $4, from $5 by $6 to $_tried${behind:+, behind the launcher}" \
		"$_bad" ""
}

prepare() {
	prog=$tmp/$mpi/prog_fault
	ok "$mpi: prog_fault compiles" "mpicc.$mpi" $prog_flags -rdynamic -o "$prog" t/prog/prog_fault.c \
		t/prog/faults.c -ldl
	mkdir -p "$tmp/$mpi/log"
	status "... and runs" 7 run_mpi 2 "$prog" "$tmp/$mpi/log" 7
	want=$(results "$tmp/out")
}

every() {
	prepare
	for _who in -1 0 1; do
		for _way in on one; do
			sweep disk $_way $ENOSPC $_who 1 1
			sweep memory $_way $ENOMEM $_who 1 1
		done
	done
	for _error in $EDQUOT $EROFS $EIO; do
		sweep disk on $_error -1 1 1
	done
	behind=1
	sweep disk on $ENOSPC -1 1 1
	sweep memory on $ENOMEM -1 1 1
	behind=
}

# Open MPI's launcher takes more than a second for each.
some() {
	prepare
	sweep disk on $ENOSPC -1 1 7
	sweep memory on $ENOMEM -1 2 37
	[ $mpi = mpich ] || return 0
	sweep disk one $EDQUOT 1 2 7
	sweep memory one $ENOMEM 0 5 37
}

if [ -n "$RONDO_FAULTS" ]; then
	each_mpi every
else
	each_mpi some
fi

finish
