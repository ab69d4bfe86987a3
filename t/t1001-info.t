#!/bin/sh
# rondo info: what a trace holds.
. "$(dirname "$0")/lib.sh"

f=$tmp/a.rondo
ok "a trace to look at" "$VIRTUAL" --pattern stencil2d --grid 5x4 --steps 10 -o "$f"
like "... which says what it did" "$(cat "$tmp/out")" \
	'a\.rondo: 20 ranks, 1480 calls, [0-9]+ bytes, [0-9.]+ CPU s, [0-9.]+ MiB peak$'

ok "rondo info" "$RONDO" info "$f"
info=$(cat "$tmp/out")
is "nothing on standard error" "$(cat "$tmp/err")" ""
for line in 'format: 1\.0' 'program: stencil2d' 'mpi: none' 'ranks: 20' 'calls: 1480' 'groups: 9' \
	'signatures: [0-9]+' 'rules: [0-9]+' "bytes: $(wc -c <"$f")" 'complete: yes'; do
	like "has $line" "$info" "^$line\$"
done
is "nothing but key: value lines" "$(printf '%s\n' "$info" | grep -Ev '^[a-z_]+: .')" ""

ok "rondo info --sections" "$RONDO" info --sections "$f"
for section in meta functions strings signatures rules ranks container; do
	like "has section.$section" "$(cat "$tmp/out")" "^section\.$section: [0-9]+ bytes"
done
is "sections and container are the file" \
	"$(sed -n 's/^section\.[a-z]*: \([0-9]*\) .*/\1/p' "$tmp/out" |
		awk '{ n += $1 } END { print n }')" \
	"$(wc -c <"$f" | tr -d ' ')"

ok "the same run again" "$VIRTUAL" --pattern stencil2d --grid 5x4 --steps 10 -o "$tmp/b.rondo"
ok "... gives the same bytes" cmp "$f" "$tmp/b.rondo"
ok "one step repeated" "$VIRTUAL" --pattern stencil2d --grid 5x4 --steps 10 --repeat -o "$tmp/b.rondo"
ok "... gives the same bytes" cmp "$f" "$tmp/b.rondo"

mkdir "$tmp/dir"
nok "a folder is not replaced" "$VIRTUAL" --pattern stencil2d --ranks 4 -o "$tmp/dir"
ln -s nowhere "$tmp/link"
nok "nor is a symbolic link" "$VIRTUAL" --pattern stencil2d --ranks 4 -o "$tmp/link"

finish
