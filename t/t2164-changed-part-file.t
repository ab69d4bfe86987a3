#!/bin/sh
# Another process overwrites the part file of a running program. The program is not affected, and its
# trace is made from its memory.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# write_over DIRECTORY: overwrites all files in the directory repeatedly, until it is removed
write_over() {
	python3 - "$1" <<'PY'
import os, sys, time
folder, end = sys.argv[1], time.time() + 60
seen = False
while time.time() < end:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        if seen:
            break
        time.sleep(0.01)
        continue
    for name in names:
        try:
            fd = os.open(os.path.join(folder, name), os.O_WRONLY)
        except OSError:
            continue
        size = os.fstat(fd).st_size
        seen = seen or size > 8192
        for at in range(0, size if size > 8192 else 0, 4096):
            os.pwrite(fd, b"\xff" * 4096, at)
        os.close(fd)
PY
}

written_over() {
	build_prog prog_signals
	trace=$tmp/$mpi/over.rondo
	run_mpi 2 "$tmp/$mpi/prog_signals" 4000 1 2>/dev/null | sort >"$tmp/want"
	write_over "$trace.part" &
	trace_mpi "$trace" 2 "$tmp/$mpi/prog_signals" 4000 1 2>"$tmp/err.traced" |
		sort >"$tmp/got"
	wait
	is "$mpi: the output of the program is unchanged" "$(cat "$tmp/got")" "$(cat "$tmp/want")"
	ok "... its trace is valid" "$RONDO" check "$trace"
	is "... no call is lost" "$(sed -n 's/^rondo: .*, \([0-9]*\) lost;.*/\1/p' \
		"$tmp/err.traced")" 0
}

each_mpi written_over

finish
