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
for line in 'format: 2\.0' 'program: stencil2d' 'mpi: none' 'ranks: 20' 'calls: 1480' 'groups: 9' \
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

ok "a trace with threads" "$RONDO" info t/golden/2.0-rich.rondo
is "... ranks are not streams, and only threads with calls count" \
	"$(grep -E '^(format|ranks|threads)' "$tmp/out" | tr '\n' '|')" "format: 2.0|ranks: 4|threads: 6|"

ok "rondo info --calls" "$RONDO" info --calls "$f"
is "... a line for each function, most calls first" \
	"$(awk '{ print $1, $2 }' "$tmp/out" | tr '\n' '|')" \
	"calls function|620 MPI_Irecv|620 MPI_Isend|200 MPI_Waitall|20 MPI_Finalize|20 MPI_Init|"
ok "... with times" "$RONDO" info --calls t/golden/2.0-rich.rondo
like "... has more columns" "$(cat "$tmp/out")" '^ +calls +total_s +min_us +mean_us +max_us +function$'
is "... of which those that took longest come first" \
	"$(awk 'NR > 1 { print $2 }' "$tmp/out")" "$(awk 'NR > 1 { print $2 }' "$tmp/out" | sort -rn)"
is "... and calls add up" "$(awk 'NR > 1 { n += $1 } END { print n }' "$tmp/out")" \
	"$(wc -l <t/golden/2.0-rich.txt | tr -d ' ')"

# Where calls inside calls begin and end is not counted as calls.
f=t/golden/2.0-nested
ok "calls inside calls" "$RONDO" info "$f.rondo"
is "... are counted once" "$(sed -n 's/^calls: //p' "$tmp/out")" "$(wc -l <"$f.txt" | tr -d ' ')"
ok "... with --calls" "$RONDO" info --calls "$f.rondo"
is "... too" "$(awk 'NR > 1 { n += $1 } END { print n }' "$tmp/out")" \
	"$(wc -l <"$f.txt" | tr -d ' ')"
unlike "... by functions of MPI alone" "$(cat "$tmp/out")" 'rondo_'

# What others noted cannot pass for a fact, and cannot drive a terminal.
ok "odd metadata" "$RONDO" info t/bad/odd/meta.rondo
is "... keys that the format does not know are marked" \
	"$(grep -E '^(bytes|ranks|section|meta|created_by)' "$tmp/out" | grep -v bytes_per | tr '\n' '|')" \
	"ranks: 20|bytes: 723|meta.bytes: 1|created_by: forge|meta.ranks: 1000000|\
meta.section.rules: 0 bytes|"
is "... control characters, C1 too, and bytes that are not UTF-8 are escaped" \
	"$(grep '^program' "$tmp/out")" \
	"$(printf 'program: a\\nb\\033[31m\\302\\233c\\233\\377 \\\\ \303\251')"

# The hint is for people, so it needs a terminal; script(1) makes one.
hint() {
	(cd "$tmp" && cp a.rondo "./$1" &&
		script -qec "$RONDO info \"./$1\"" /dev/null </dev/null | tr -d '\r' | sed -n 's/^try: //p')
}
if command -v script >/dev/null && [ -n "$(hint b.rondo)" ]; then
	is "a hint" "$(hint b.rondo)" "rondo dump ./b.rondo --rank 0 --to 20"
	is "... can be pasted: a blank" "$(hint 'b c.rondo')" "rondo dump './b c.rondo' --rank 0 --to 20"
	is "... quotes" "$(hint "it's;.rondo")" "rondo dump './it'\\''s;.rondo' --rank 0 --to 20"
	is "... a line end" "$(hint 'a
b')" "rondo dump \$'./a\\nb' --rank 0 --to 20"
else
	skip "a hint" "script does not work here"
fi

mkdir "$tmp/dir"
nok "a folder is not replaced" "$VIRTUAL" --pattern stencil2d --ranks 4 -o "$tmp/dir"
ln -s nowhere "$tmp/link"
nok "nor is a symbolic link" "$VIRTUAL" --pattern stencil2d --ranks 4 -o "$tmp/link"

finish
