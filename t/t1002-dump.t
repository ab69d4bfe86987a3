#!/bin/sh
# rondo dump: what is printed is what the generator did, which prints its own log independently.
. "$(dirname "$0")/lib.sh"

patterns=$("$VIRTUAL" --help | sed -n 's/^patterns: //p')
like "there are patterns" "$patterns" 'stencil2d'

# Two files that have to be equal; a difference is shown.
same() {
	ok "$1" diff "$2" "$3"
}

for p in $patterns; do
	f=$tmp/$p.rondo
	ok "$p: 13 ranks" "$VIRTUAL" --pattern "$p" --ranks 13 --steps 6 -o "$f"
	"$RONDO" dump "$f" >"$tmp/got"
	"$VIRTUAL" --pattern "$p" --ranks 13 --steps 6 --log >"$tmp/want"
	ok "... there are calls" test -s "$tmp/want"
	same "... as text" "$tmp/want" "$tmp/got"
	"$RONDO" dump --json "$f" >"$tmp/got"
	"$VIRTUAL" --pattern "$p" --ranks 13 --steps 6 --log --json >"$tmp/want"
	same "... as JSON" "$tmp/want" "$tmp/got"
	if command -v python3 >/dev/null; then
		ok "... every line is JSON" python3 -c '
import json, sys
for line in open(sys.argv[1]):
    call = json.loads(line)
    assert list(call) == ["rank", "seq", "call", "args", "ret"], line
' "$tmp/got"
	else
		skip "... every line is JSON" "python3 is not installed"
	fi
done

# Golden traces and their texts (t/golden/README.md).
for golden in t/golden/*.rondo; do
	ok "$golden is sound" "$RONDO" check "$golden"
	"$RONDO" dump "$golden" >"$tmp/got" 2>/dev/null
	same "... dump prints the recorded text" "${golden%.rondo}.txt" "$tmp/got"
done

# Threads, requests, communicators, statuses: a trace that has them all.
f=t/golden/2.0-rich.rondo
"$RONDO" dump "$f" >"$tmp/all"
like "threads are told apart" "$(cat "$tmp/all")" '^2\.1 0 MPI_Init'
unlike "... where there are several" "$(cat "$tmp/all")" '^1\.1 '
"$RONDO" dump "$f" --rank 2 >"$tmp/got"
grep '^2[. ]' "$tmp/all" >"$tmp/want"
same "--rank has all threads of a rank" "$tmp/want" "$tmp/got"
for from in 1 9 17 30; do
	"$RONDO" dump "$f" --from $from >"$tmp/got"
	awk -v from=$from '$2 >= from' "$tmp/all" >"$tmp/want"
	same "--from $from: requests keep their numbers" "$tmp/want" "$tmp/got"
done
if command -v python3 >/dev/null; then
	"$RONDO" dump --json "$f" >"$tmp/got"
	ok "as JSON" python3 -c '
import json, sys
lines, threads, matched, statuses = open(sys.argv[1]).readlines(), 0, 0, 0
for line in lines:
    call = json.loads(line)
    keys = list(call)
    if "thread" in keys:
        threads += 1
        assert keys[1] == "thread" and call["thread"] == 1 and call["rank"] % 2 == 0, line
        keys.remove("thread")
    if "matched" in keys:
        matched += 1
        keys.remove("matched")
        many = call["matched"] if isinstance(call["matched"], list) else [call["matched"]]
        assert all(m is None or list(m) == ["source", "tag"] for m in many), line
    status = call["args"].get("status")
    if isinstance(status, dict):
        statuses += 1
        assert list(status) == ["source", "tag", "error", "count", "cancelled"], line
    assert keys == ["rank", "seq", "call", "args", "ret"], line
assert threads and matched and statuses
' "$tmp/got"
else
	skip "as JSON" "python3 is not installed"
fi

# Calls inside calls, some of which never ended.
f=t/golden/2.0-nested.rondo
"$RONDO" dump "$f" >"$tmp/all"
like "calls inside calls" "$(cat "$tmp/all")" '^0 7 MPI_Waitall.* = 0 <6> matched='
for from in 1 6 7 8 40 60 90; do
	for to in 2 7 8 41 1000; do
		"$RONDO" dump "$f" --from $from --to $to >"$tmp/got"
		awk -v from=$from -v to=$to '$2 >= from && $2 < to' "$tmp/all" >"$tmp/want"
		same "... --from $from --to $to" "$tmp/want" "$tmp/got"
	done
done
if command -v python3 >/dev/null; then
	"$RONDO" dump --json "$f" >"$tmp/got"
	ok "... as JSON" python3 -c '
import json, sys
both = 0
for line in open(sys.argv[1]):
    call = json.loads(line)
    keys = [k for k in call if k not in ("thread", "parent", "matched")]
    assert keys == ["rank", "seq", "call", "args", "ret"], line
    if "parent" in call:
        assert list(call).index("parent") == list(call).index("ret") + 1, line
        assert 0 <= call["parent"] < call["seq"], line
        both += "matched" in call
assert both
' "$tmp/got"
else
	skip "... as JSON" "python3 is not installed"
fi
ok "where it is not clear what is inside what" "$RONDO" dump t/bad/unsound/leave-alone.rondo
unlike "... nothing is" "$(cat "$tmp/out")" '(<|rondo_)'

f=$tmp/stencil3d.rondo
"$RONDO" dump "$f" >"$tmp/all"
for rank in 0 7 12; do
	"$RONDO" dump "$f" --rank $rank >"$tmp/got"
	grep "^$rank " "$tmp/all" >"$tmp/want"
	same "--rank $rank" "$tmp/want" "$tmp/got"
done
"$RONDO" dump --rank=3-5 "$f" >"$tmp/got"
grep '^[345] ' "$tmp/all" >"$tmp/want"
same "--rank=3-5" "$tmp/want" "$tmp/got"

"$RONDO" dump "$f" --from 10 --to 14 >"$tmp/got"
awk '$2 >= 10 && $2 < 14' "$tmp/all" >"$tmp/want"
same "--from 10 --to 14 is half open" "$tmp/want" "$tmp/got"
"$RONDO" dump "$f" --from 30 >"$tmp/got"
awk '$2 >= 30' "$tmp/all" >"$tmp/want"
same "--from 30 goes on to the end, also on shorter ranks" "$tmp/want" "$tmp/got"
is "--to 0 prints nothing" "$("$RONDO" dump "$f" --to 0)" ""
is "--from behind the end prints nothing" "$("$RONDO" dump "$f" --from 99999999999)" ""

ok "a billion calls a rank" "$VIRTUAL" --pattern stencil2d --ranks 64 --steps 1000000000 --repeat \
	-o "$tmp/long.rondo"
is "seeking does not walk" \
	"$("$RONDO" dump "$tmp/long.rondo" --rank 63 --from 5000000001)" \
	'63 5000000001 MPI_Finalize() = 0'

{
	"$RONDO" dump "$tmp/long.rondo" 2>"$tmp/err"
	echo $? >"$tmp/rc"
} | head -n 1 >"$tmp/got"
is "a reader that goes away" "$(cut -d' ' -f1,2,3 "$tmp/got")" '0 0 MPI_Init(argc=NULL,'
is "... ends it without a word" "$(cat "$tmp/err" "$tmp/rc")" "0"
if [ -e /dev/full ]; then
	status "a full disk does not go unnoticed" 70 sh -c '"$RONDO" dump "$0" --to 5 >/dev/full' "$f"
	like "... and is named" "$(cat "$tmp/err")" '^rondo: standard output: No space left on device$'
fi

# A file whose rank 3 is in two groups, and 4 in none: nothing of it passes for a trace.
bad=t/bad/unsound/rank-twice.rondo
# cannot NAME PATTERN ARGUMENTS...
cannot() {
	_what=$1 _pattern=$2
	shift 2
	status "$_what" 3 "$RONDO" dump "$bad" "$@"
	is "... is said" "$(cat "$tmp/err")" "rondo: $bad: $_pattern"
}
cannot "a rank that is there twice" "rank 3 is there twice"
unlike "... is not printed" "$(cat "$tmp/out")" '^3 '
cannot "... also alone" "rank 3 is there twice" --rank 3
is "... is not printed" "$(cat "$tmp/out")" ""
cannot "a rank in no group" "rank 4 is in no group" --rank 4
cannot "... also where nothing is to be printed" "rank 4 is in no group" --rank 4 --to 0
cannot "... in a range" "rank 4 is in no group" --rank 4-6 --json
ok "the others can be read" "$RONDO" dump "$bad" --rank 5-19

ok "what is not known is shown as it is" "$RONDO" dump t/bad/unsound/comm-missing.rondo
like "... ranks" "$(cat "$tmp/out")" 'dest=rank[-+^][0-9]'
ok "... requests" "$RONDO" dump t/bad/unsound/request-missing.rondo
like "... by a question mark" "$(cat "$tmp/out")" 'MPI_Request_free\(request=request:\?\)'

status "a rank that does not exist" 2 "$RONDO" dump "$f" --rank 13
is "... and what there is" "$(cat "$tmp/err")" "rondo: dump: no rank 13: $f has ranks 0 to 12"

finish
