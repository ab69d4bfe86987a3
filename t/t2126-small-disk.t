#!/bin/sh
# A disk that is full at some moment: file systems of all sizes up to one on which everything fits, for
# the trace, and for what is kept while the program runs. RONDO_FAULTS=1: many more sizes.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

unshare -m mount -t tmpfs none "$tmp" 2>/dev/null || skip_all "no file system can be mounted here"

results() {
	grep '^rank' "$1" | sort
}

# small KIB SPILL: runs the program on such a disk, in a mount namespace of its own, and copies what is
# on it afterwards. With SPILL the trace goes elsewhere. What is wrong is in $at/judged.
small() {
	at=$tmp/$mpi/$1$2
	mkdir -p "$at/disk" "$at/log" "$at/else"
	place=$at/else _option=--spill=$at/disk
	[ -n "$2" ] || place=$at/disk _option=
	with_yield t/limit 120 unshare -m sh -c 'mount -t tmpfs -o size="$1"k none "$2" || exit
		at=$2
		shift 2
		"$@"
		code=$?
		cp -a "$at" "$at.left"
		exit $code' sh "$1" "$at/disk" "$RONDO" trace $_option -o "$place/trace.rondo" "mpirun.$mpi" -n 2 \
		"$prog" "$at/log" 7 >"$at/stdout" 2>"$at/stderr"
	echo $? >"$at/code"
	[ -n "$2" ] || place=$at/disk.left
	judge >"$at/judged" 2>&1
}

readable() {
	"$RONDO" check "$1" >/dev/null &&
		"$RONDO" dump "$1" | t/compare-lost "$at/log" "$("$RONDO" info "$1")"
}

judge() {
	[ "$(cat "$at/code")" = 7 ] || echo "exit code $(cat "$at/code")"
	[ "$(results "$at/stdout")" = "$want" ] || cat "$at/stdout"
	said=$(grep '^rondo: ' "$at/stderr")
	[ "$(printf '%s\n' "$said" | grep -c .)" = 1 ] || printf '%s\n' "not one line:" "$said"
	if [ -e "$at/disk.left/trace.rondo.part" ]; then
		"$RONDO" recover "$at/disk.left/trace.rondo.part" -o "$at/recovered" >/dev/null
		readable "$at/recovered"
	elif ! [ -e "$place/trace.rondo" ]; then
		printf '%s\n' "$said" | grep -q 'nothing was traced.*No space' ||
			echo "no trace, and none said: $said"
	fi
	[ ! -e "$place/trace.rondo" ] || readable "$place/trace.rondo"
	[ -z "$(find "$at/disk.left" "$place" -name '*.tmp' -o -name '*.late')" ] || ls -AR "$at"
}

# sizes NAME SPILL KIB...: a few at the same time
sizes() {
	_name=$1 _spill=$2 _bad=
	shift 2
	while [ $# -gt 0 ]; do
		_now=
		for _ in 1 2 3 4; do
			[ $# -eq 0 ] || { _now="$_now $1" && shift; }
		done
		for _size in $_now; do
			small "$_size" "$_spill" &
		done
		wait
		for _size in $_now; do
			at=$tmp/$mpi/$_size$_spill
			[ ! -s "$at/judged" ] || {
				_bad="$_bad $_size"
				explain "$mpi: $_name of $_size KiB: $(cat "$at/judged")"
			}
			_last=$(grep '^rondo: ' "$at/stderr")
			rm -rf "$at"
		done
	done
	is "$mpi: $_name: the program does not notice" "$_bad" ""
	like "... and on the largest there is room for all" "$_last" '^rondo: [0-9]+ calls on .* 0 lost; '
}

disks() {
	prog=$tmp/$mpi/prog_fault
	ok "$mpi: prog_fault compiles" "mpicc.$mpi" $prog_flags -o "$prog" t/prog/prog_fault.c
	mkdir -p "$tmp/$mpi/log"
	status "... and runs" 7 run_mpi 2 "$prog" "$tmp/$mpi/log" 7
	want=$(results "$tmp/out")
	if [ -n "$RONDO_FAULTS" ]; then
		sizes "a disk for the trace" "" $(seq 4 4 200) $(seq 220 20 3000) 8192
		sizes "a disk for what is kept" spill $(seq 4 4 200) $(seq 220 20 3000) 8192
	else
		sizes "a disk for the trace" "" 4 12 320 680 1000 1500 1900 2500 8192
		sizes "a disk for what is kept" spill 8 600 1200 8192
	fi
}

each_mpi disks

finish
