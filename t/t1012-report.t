#!/bin/sh
# rondo report: the structure of a traced program.
. "$(dirname "$0")/lib.sh"

f=t/golden/2.0-stencil2d.rondo
ok "rondo report" "$RONDO" report "$f"
is "... what all do, and what some do with whom" "$(cat "$tmp/out")" "\
stencil2d: 132 calls on 9 ranks

          calls      bytes
            132     393 kB  ranks 0-8
              9               MPI_Init
            114     393 kB    loop 2 times
             12                 MPI_Irecv(1024 MPI_DOUBLE, source=rank-1, tag=1)  [ranks 1,2,4,5,7,8]
             12                 MPI_Irecv(1024 MPI_DOUBLE, source=rank+1, tag=0)  [ranks 0,1,3,4,6,7]
             12                 MPI_Irecv(1024 MPI_DOUBLE, source=rank-3, tag=3)  [ranks 3-8]
             12                 MPI_Irecv(1024 MPI_DOUBLE, source=rank+3, tag=2)  [ranks 0-5]
             12    98.3 kB      MPI_Isend(1024 MPI_DOUBLE, dest=rank-1, tag=0)  [ranks 1,2,4,5,7,8]
             12    98.3 kB      MPI_Isend(1024 MPI_DOUBLE, dest=rank+1, tag=1)  [ranks 0,1,3,4,6,7]
             12    98.3 kB      MPI_Isend(1024 MPI_DOUBLE, dest=rank-3, tag=2)  [ranks 3-8]
             12    98.3 kB      MPI_Isend(1024 MPI_DOUBLE, dest=rank+3, tag=3)  [ranks 0-5]
             18                 MPI_Waitall(count=8|4|6)
              9               MPI_Finalize"
is "... and nothing on standard error" "$(cat "$tmp/err")" ""

ok "... --depth 0" "$RONDO" report --depth 0 "$f"
is "... shows no loop from within" "$(sed 1,4d "$tmp/out" | cut -c 29-)" "  MPI_Init
  loop 2 times
  MPI_Finalize"

# A count that is another one each time: one loop, with a range.
f=$tmp/t.rondo
ok "a program whose loops are not all the same" \
	"$VIRTUAL" --pattern timestep --ranks 4096 --steps 200 -o "$f"
ok "... and its report" "$RONDO" report "$f"
is "... shows the loops" "$(sed 1,4d "$tmp/out" | cut -c 29- | sed 's/(mean .*)/(mean)/;s/(.*MPI.*)/()/')" \
	"  MPI_Init
  loop 200 times
    loop 8..32 times (mean)
      MPI_Sendrecv()
      MPI_Allreduce()
    MPI_Allreduce()
  MPI_Finalize"
is "... with all calls" "$(sed -n '4s/^ *\([0-9,]*\) .*/\1/p' "$tmp/out" | tr -d ,)" \
	"$("$RONDO" info "$f" | sed -n 's/^calls: //p')"

# Threads, times, and calls inside calls.
for f in t/golden/2.0-nested t/golden/2.0-rich; do
	ok "$f" "$RONDO" report --all "$f.rondo"
	like "... says which threads" "$(cat "$tmp/out")" 'ranks 0-3; ranks 0,2 thread 1$'
	like "... has times" "$(cat "$tmp/out")" '^ +calls +time/rank +bytes$'
	like "... and says which are not exact" "$(cat "$tmp/out")" '^~ '
	like "... and what has no size" "$(cat "$tmp/out")" '^\+ '
	unlike "... shows no markers" "$(cat "$tmp/out")" rondo_
	is "... and has all calls" "$(sed -n '4s/^ *\([0-9,]*\) .*/\1/p' "$tmp/out" | tr -d ,)" \
		"$(wc -l <$f.txt | tr -d ' ')"
done

status "no file" 2 "$RONDO" report
status "two files" 2 "$RONDO" report "$f.rondo" "$f.rondo"
status "an option that there is not" 2 "$RONDO" report --deep "$f.rondo"
status "a depth that is no number" 2 "$RONDO" report --depth x "$f.rondo"
status "a file that is not there" 3 "$RONDO" report "$tmp/none"
like "... is one line" "$(cat "$tmp/err")" '^rondo: '
status "a file that is no trace" 3 "$RONDO" report "$0"

bad=
for f in t/bad/*.rondo t/bad/*/*.rondo; do
	[ -e "$f" ] || continue
	t/limit 20 "$RONDO" report "$f" >"$tmp/out" 2>"$tmp/err"
	_rc=$?
	[ $_rc -eq 0 ] || [ $_rc -eq 3 ] || bad="$bad $f:$_rc"
done
is "bad files are reported on or refused" "$bad" ""

finish
