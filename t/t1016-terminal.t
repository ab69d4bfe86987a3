#!/bin/sh
# Names, paths and texts of a trace cannot control a terminal, and JSON is valid UTF-8.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# A directory name with an escape sequence, a newline, a C1 character and a byte that is not UTF-8.
bad=$tmp/$(printf 'a\033]0;x\007b\nc\302\233d\377e')
mkdir "$bad" || skip_all "the file system has no such names"
shown='a\\033\]0;x\\007b\\nc\\302\\233d\\377e'

# clean NAME FILE: the file is UTF-8 and has no control characters except newlines
clean() {
	cp "$2" "$tmp/copy" # `ok` writes to $tmp/out
	ok "$1" python3 - "$tmp/copy" <<'P'
import sys
text = open(sys.argv[1], 'rb').read().decode('utf-8')
bad = [c for c in text if (ord(c) < 32 and c != '\n') or 127 <= ord(c) < 160]
sys.exit(bool(bad))
P
}

# message NAME CODE COMMAND...: the command prints one line, with the escaped name
message() {
	_what=$1 _code=$2
	shift 2
	status "$_what" "$_code" "$@"
	cat "$tmp/out" "$tmp/err" >"$tmp/both"
	is "... prints one line" "$(grep -c . "$tmp/both")" 1
	like "... the line contains the escaped name" "$(cat "$tmp/both")" "$shown"
	clean "... the line has no control character" "$tmp/both"
}

message "info of a missing file" 3 "$RONDO" info "$bad/none.rondo"
message "trace of a missing program" 70 "$RONDO" trace "$bad/none"
message "recover of a missing directory" 3 "$RONDO" recover "$bad/none.part"
cp t/golden/"$(ls t/golden | grep -m1 '\.rondo$')" "$bad/good.rondo"
message "check of a sound trace" 0 "$RONDO" check "$bad/good.rondo"
status "an unknown command" 2 "$RONDO" "$(printf 'a\033[31m\nb')"
clean "... prints no control character" "$tmp/err"

traced() {
	cat >"$tmp/texts.c" <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_set_name(MPI_COMM_SELF, "\033[31m\n\xff\xef\x9f\xbf\xc2\x9b\xc3\xa9");
	MPI_Finalize();
	return 0;
}
C
	program=$bad/$(printf 'p\033[1m\nq')
	ok "$mpi: a program with an odd name compiles" "mpicc.$mpi" -o "$program" "$tmp/texts.c"
	ok "... and is traced" trace_mpi "$bad/out.rondo" 1 "$program" "$(printf 'x\033y\377\nz')"
	clean "... the tracer's message has no control character" "$tmp/err"
	for command in info report dump check; do
		ok "$mpi: $command" "$RONDO" $command "$bad/out.rondo"
		clean "... its output has no control character" "$tmp/out"
	done
	ok "$mpi: dump --json" "$RONDO" dump --json "$bad/out.rondo"
	cp "$tmp/out" "$tmp/copy"
	ok "... is valid UTF-8 and JSON, and every string can be restored" python3 - "$tmp/copy" <<'P'
import json, re, sys
name = None
for line in open(sys.argv[1], 'rb').read().decode('utf-8').splitlines():
    line.encode('utf-8')
    call = json.loads(line)
    json.dumps(call, ensure_ascii=False).encode('utf-8')
    found = re.search(r'"comm_name": ("(?:[^"\\]|\\.)*")', json.dumps(call))
    if found:
        name = json.loads(found.group(1))
data = b''.join(bytes([ord(c) - 0xf700]) if 0xf780 <= ord(c) <= 0xf7ff else c.encode() for c in name)
sys.exit(data != b'\033[31m\n\xff\xef\x9f\xbf\xc2\x9b\xc3\xa9')
P
}

each_mpi traced
finish
