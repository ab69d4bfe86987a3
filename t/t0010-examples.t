#!/bin/sh
# The examples of CONTRIBUTING.md: the command builds and runs, the function gets a wrapper, and the
# files that are named exist.
. "$(dirname "$0")/lib.sh"

[ -x "$RONDO" ] || skip_all "$BUILD/rondo is not built"

# example FIRST LAST: the lines of the block that begins with FIRST and ends before LAST
example() {
	awk -v first="$1" -v last="$2" '
		index($0, first) { on = 1 }
		on && $0 == last { exit }
		on { sub(/^   /, ""); print }' CONTRIBUTING.md
}

# --- a command ---

mkdir -p "$tmp/src/cmd"
example '/* cmd_tally.c - ' '   ```' >"$tmp/src/cmd/cmd_tally.c"
row=$(example '{ "tally", cmd_tally,' '   ```')
sed 's/^int cmd_check(.*/int cmd_tally(int argc, char **argv);\n&/' src/cmd/cmd.h >"$tmp/src/cmd/cmd.h"
awk -v row="$row" '{ print } /^} commands\[\] = \{/ { print row }' src/cmd/rondo.c >"$tmp/src/cmd/rondo.c"

# $BUILD/flags: the compiler, possibly of several words, and the flags of the build
flags=$(cat "$BUILD/flags")
cc=${flags%% -*} flags=-${flags#* -}
objects=$(for c in src/cmd/*.c src/launch/*.c src/report/*.c; do
	[ "$c" = src/cmd/rondo.c ] || echo "$BUILD/obj/${c%.c}.o"
done)
for f in cmd_tally rondo; do
	ok "$f.c of the example compiles" $cc -std=c11 -Wall -Wextra -Werror -I"$tmp/src" $flags \
		-c -o "$tmp/$f.o" "$tmp/src/cmd/$f.c"
done
ok "rondo links with the example" $cc $flags -o "$tmp/rondo" "$tmp/rondo.o" "$tmp/cmd_tally.o" \
	$objects "$BUILD/librondo.a" -lzstd -lm -ldw -lelf -ldl

f=$tmp/a.rondo
ok "virtual writes a trace" "$VIRTUAL" --pattern butterfly --ranks 8 -o "$f"
ok "rondo tally prints a trace" "$tmp/rondo" tally "$f"
is "... with as many calls as rondo dump" \
	"$(awk '{ n += $2 } END { print n }' "$tmp/out")" "$("$RONDO" dump "$f" | wc -l | tr -d ' ')"
ok "rondo --help lists the command" "$tmp/rondo" --help
like "... with its summary" "$(cat "$tmp/out")" '^  tally +print the number of calls'
ok "rondo tally --help lists the option" "$tmp/rondo" tally --help
like "... with its text" "$(cat "$tmp/out")" '^  --least N +omit functions'

# --- a traced function ---

row=$(example 'MPI_Isend_twice	int' '   ```')
{ cat api/mpi.api && printf '%s\n' "$row"; } >"$tmp/mpi.api"
echo MPI_Isend_twice >"$tmp/functions"
is "the example function is in the generated table" \
	"$(awk -v part=table -f api/gen.awk "$tmp/mpi.api" | grep -c '"MPI_Isend_twice"')" 1
like "... and has a generated wrapper" \
	"$(awk -v part=calls -v have="$tmp/functions" -f api/gen.awk "$tmp/mpi.api")" 'MPI_Isend_twice'

# --- files ---

# Names with NAME, NNNN, * and those of the examples stand for files to be written.
is "every file that CONTRIBUTING.md names exists" \
	"$(grep -oE '`[A-Za-z0-9_./]+/[A-Za-z0-9_.*-]+`' CONTRIBUTING.md | tr -d '\140' | sort -u |
		grep -vE 'NAME|NNNN|\*|tally|csv|export|power|^build/|^include/rondo$' | while read -r name; do
		[ -e "$name" ] || echo "$name"
	done)" ""

finish
