#!/bin/sh
# rondo recover: parts become the trace, what is missing is named, what is damaged is said.
. "$(dirname "$0")/lib.sh"

d=$tmp/a.rondo.part
f=$tmp/a.rondo

# parts RANKS THREADS: a fresh folder of parts, made by the unit test
parts() {
	rm -rf "$d" "$f"
	"$BUILD/t/test_part" "$d" stencil2d "$1" "$2" 10 || explain "no parts"
}
[ -x "$BUILD/t/test_part" ] || skip_all "$BUILD/t/test_part is not built"

"$VIRTUAL" --pattern stencil2d --ranks 12 --steps 10 -o "$tmp/want.rondo" >/dev/null
"$RONDO" dump "$tmp/want.rondo" >"$tmp/want"

parts 12 1
ok "all parts" "$RONDO" recover "$d"
like "... one line" "$(cat "$tmp/out")" '^[^ ]*/a\.rondo: 12 of 12 ranks, [0-9]+ calls, [0-9]+ bytes$'
is "... nothing else is said" "$(cat "$tmp/err")" ""
ok "... the folder is gone" test ! -e "$d"
ok "... the trace is sound" "$RONDO" check "$f"
"$RONDO" dump "$f" >"$tmp/got"
ok "... and has every call" cmp "$tmp/want" "$tmp/got"
like "... and is complete" "$("$RONDO" info "$f")" '^complete: yes$'

parts 12 1
ok "another name, and a slash" "$RONDO" recover -o "$tmp/b.rondo" "$d/"
ok "... is taken" test -f "$tmp/b.rondo" -a ! -e "$f"

parts 12 1
rm "$d/rank-000002.part" "$d/rank-000003.part" "$d/rank-000007.part"
ok "parts that are missing" "$RONDO" recover "$d"
like "... are named" "$(cat "$tmp/out")" ': 9 of 12 ranks, .*; missing: 2-3,7; .*/a\.rondo\.part is kept$'
ok "... and the folder stays" test -f "$d/rank-000000.part"
like "... the trace says so" "$("$RONDO" info "$f")" '^complete: no: calls of ranks 2-3,7 are missing$'
like "... twice" "$("$RONDO" info "$f")" 'incomplete: 2-3,7$'
ok "... and is sound" "$RONDO" check "$f"
is "... a missing rank has no calls" "$("$RONDO" dump --rank 2-3 "$f")" ""
"$RONDO" dump --rank 8-11 "$f" >"$tmp/got"
"$RONDO" dump --rank 8-11 "$tmp/want.rondo" >"$tmp/some"
ok "... others have all" cmp "$tmp/some" "$tmp/got"
ok "once more" "$RONDO" recover "$d"

parts 6 2
rm "$d/rank-000005.part"
ok "threads" "$RONDO" recover "$d"
like "... are in the trace" "$("$RONDO" info "$f")" 'threads: '
ok "... which is sound" "$RONDO" check "$f"

parts 12 1
printf 'x' | dd of="$d/rank-000001.part" bs=1 seek=40 conv=notrunc 2>/dev/null
: >"$d/rank-000002.part"
mv "$d/rank-000003.part" "$d/rank-000099.part"
echo "not ours" >"$d/notes"
status "damaged parts" 3 "$RONDO" recover "$d"
is "... one line each" "$(wc -l <"$tmp/err" | tr -d ' ')" 3
like "... that name the file" "$(cat "$tmp/err")" '^rondo: .*/rank-000001\.part: .*damaged'
like "... and what is wrong" "$(cat "$tmp/err")" '^rondo: .*/rank-000099\.part: is the part of rank 3$'
like "... the rest is in the trace" "$(cat "$tmp/out")" ': 9 of 12 ranks, .*; missing: 1-3;'
ok "... which is sound" "$RONDO" check "$f"

parts 12 1
mkdir "$tmp/five" && "$BUILD/t/test_part" "$tmp/five/x" stencil2d 5 1 10
cp "$tmp/five/x/rank-000003.part" "$d/"
status "a part of another run" 3 "$RONDO" recover "$d"
like "... is left out" "$(cat "$tmp/err")" 'rank-000003\.part: is of another run \(5 ranks\)$'

rm -rf "$d" && mkdir "$d"
status "an empty folder" 3 "$RONDO" recover "$d"
like "... is said to be" "$(cat "$tmp/err")" '^rondo: .*: there are no parts in it$'
status "no folder" 3 "$RONDO" recover "$tmp/no.part"
status "a file" 3 "$RONDO" recover "$tmp/want.rondo" -o "$tmp/x"
status "nowhere to write" 2 "$RONDO" recover "$tmp"
like "... is asked for" "$(cat "$tmp/err")" 'does not end in \.part; where to\? \(-o FILE\)$'
parts 4 1
status "no such folder for the trace" 70 "$RONDO" recover "$d" -o "$tmp/no/x.rondo"
ok "... the parts stay" test -f "$d/rank-000003.part"

finish
