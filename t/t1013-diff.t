#!/bin/sh
# rondo diff: whether two runs had the same order.
. "$(dirname "$0")/lib.sh"

maker=$BUILD/t/test_disorder
[ -x "$maker" ] || skip_all "$maker is not built"

for name in plain swapped patient short more-ranks; do
	"$maker" "$tmp/$name" $name || explain "no trace $name"
done

ok "a run and itself" "$RONDO" diff "$tmp/plain" "$tmp/plain"
like "... are the same" "$(cat "$tmp/out")" '^same: 4 outcomes on 3 ranks$'

status "another order" 1 "$RONDO" diff "$tmp/plain" "$tmp/swapped"
is "... is shown by its first difference" "$(grep -v compared "$tmp/out")" "\
different: 2 of 4 outcomes on rank 0 of 3 ranks

rank 0: 2 of 4 outcomes differ, the first:
  A 0 MPI_Recv(comm=MPI_COMM_WORLD) = 0 matched={source=1, tag=2}
  B 0 MPI_Recv(comm=MPI_COMM_WORLD) = 0 matched={source=2, tag=2}"
is "... and nothing on standard error" "$(cat "$tmp/err")" ""

status "a run that ended earlier" 1 "$RONDO" diff "$tmp/short" "$tmp/plain"
like "... has nothing more" "$(cat "$tmp/out")" '^  A  nothing more$'
like "... where the other goes on" "$(cat "$tmp/out")" '^  B 4 MPI_Recv'

ok "more failed tests" "$RONDO" diff "$tmp/plain" "$tmp/patient"
like "... are no difference" "$(cat "$tmp/out")" '^same: '
like "... but counted" "$(cat "$tmp/out")" '^failed tests: 1 in A, 3 in B, .* 1 call '
status "... unless --strict" 1 "$RONDO" diff "$tmp/plain" --strict "$tmp/patient"
like "... where the next outcome differs" "$(cat "$tmp/out")" '^  B 4 MPI_Iprobe\(source=2'

status "another number of ranks" 1 "$RONDO" diff "$tmp/plain" "$tmp/more-ranks"
is "... is said, and nothing more" "$(cat "$tmp/out")" "different: 3 ranks in A, 4 in B"

ok "a program that has no choice" \
	"$RONDO" diff t/golden/2.0-stencil2d.rondo t/golden/2.0-stencil2d.rondo
like "... has no outcomes" "$(cat "$tmp/out")" '^same: 0 outcomes on 9 ranks$'
f=$tmp/six.rondo
"$VIRTUAL" --pattern stencil2d --ranks 9 --steps 3 -o "$f" || explain "no trace"
ok "another program" "$RONDO" diff "$f" t/golden/2.0-stencil2d.rondo
"$VIRTUAL" --pattern wavefront --ranks 9 --steps 3 -o "$f" || explain "no trace"
ok "a program of another name" "$RONDO" diff "$f" t/golden/2.0-stencil2d.rondo
is "... is told apart" "$(cat "$tmp/err")" "rondo: these are traces of different programs"

status "no file" 2 "$RONDO" diff
status "one file" 2 "$RONDO" diff "$tmp/plain"
status "three files" 2 "$RONDO" diff "$tmp/plain" "$tmp/plain" "$tmp/plain"
like "... is one line" "$(cat "$tmp/err")" '^rondo: diff: two files, not '
status "an option that there is not" 2 "$RONDO" diff --stric "$tmp/plain" "$tmp/plain"
ok "help" "$RONDO" diff --help
status "a file that is not there" 3 "$RONDO" diff "$tmp/plain" "$tmp/none"
status "... in front" 3 "$RONDO" diff "$tmp/none" "$tmp/plain"
head -c 100 "$tmp/plain" >"$tmp/cut"
status "a file that is cut off" 3 "$RONDO" diff "$tmp/plain" "$tmp/cut"
like "... is one line" "$(cat "$tmp/err")" '^rondo: .*cut: cut off'

bad=
for f in t/bad/*.rondo t/bad/*/*.rondo t/golden/*.rondo; do
	t/limit 20 "$RONDO" diff "$f" "$f" >"$tmp/out" 2>"$tmp/err"
	_rc=$?
	[ $_rc -eq 0 ] || [ $_rc -eq 3 ] || bad="$bad $f:$_rc"
done
is "bad files are the same as themselves, or refused" "$bad" ""

# The same of the report.
ok "report of a run with wildcard receives" "$RONDO" report "$tmp/swapped"
like "... says how many were out of order" "$(cat "$tmp/out")" \
	'^order: 1 of 4 receives \(25\.0 %\) out of reference order, at 1 of 2 call sites; 1 test '
like "... and where" "$(cat "$tmp/out")" '^ +3 +0 +3 +3 +1 +0 +0 +2  MPI_Recv$'
ok "report of one without" "$RONDO" report t/golden/2.0-stencil2d.rondo
unlike "... says nothing of order" "$(cat "$tmp/out")" '^order'

finish
