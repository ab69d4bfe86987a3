#!/bin/sh
# compare-log finds what differs between a log and a dump, and nothing else.
. "$(dirname "$0")/lib.sh"

mkdir "$tmp/log"
log=$tmp/log/rank-0.jsonl

# call SEQ ARGS MORE: a line
call() {
	printf '{"rank":0,"seq":%d,"call":"MPI_X","args":{%s},"ret":0%s}\n' "$1" "$2" "${3:-}"
}

# equal NAME LOGGED DUMPED, differ NAME LOGGED DUMPED WHERE
equal() {
	printf '%s\n' "$2" >"$log"
	printf '%s\n' "$3" >"$tmp/dump"
	ok "$1" sh -c 't/compare-log "$1" <"$2"' - "$tmp/log" "$tmp/dump"
}

differ() {
	printf '%s\n' "$2" >"$log"
	printf '%s\n' "$3" >"$tmp/dump"
	status "$1" 1 sh -c 't/compare-log "$1" <"$2"' - "$tmp/log" "$tmp/dump"
	like "... and where" "$(cat "$tmp/out")" "call [0-9]+: $4: "
}

equal "the same" "$(call 0 '"a":1,"b":[1,{"c":"x"}]')" "$(call 0 '"a":1,"b":[1,{"c":"x"}]')"
differ "another number" "$(call 0 '"a":1')" "$(call 0 '"a":2')" 'args\.a'
differ "a number as text" "$(call 0 '"a":1')" "$(call 0 '"a":"1"')" 'args\.a'
differ "something in a list" "$(call 0 '"a":[1,2]')" "$(call 0 '"a":[1,3]')" 'args\.a\[1\]'
differ "a longer list" "$(call 0 '"a":[1,2]')" "$(call 0 '"a":[1,2,3]')" 'args\.a \(its length\)'
differ "a key too few" "$(call 0 '"a":1,"b":2')" "$(call 0 '"a":1')" 'args\.b'
differ "a key too many" "$(call 0 '"a":1')" "$(call 0 '"a":1,"b":2')" 'args\.b'
differ "a key beside the arguments" "$(call 0 '')" "$(call 0 '' ',"matched":{}')" 'matched'
equal "times are not compared" "$(call 0 '')" "$(call 0 '' ',"start":0.5,"end":0.6')"
equal "a key that may be missing is missing" "$(call 0 '' ',"matched?":{"tag":1}')" "$(call 0 '')"
equal "... or there" "$(call 0 '' ',"matched?":{"tag":1}')" "$(call 0 '' ',"matched":{"tag":1}')"
differ "... but not another" "$(call 0 '' ',"matched?":{"tag":1}')" \
	"$(call 0 '' ',"matched":{"tag":2}')" 'matched\.tag'
equal "bit sets in any order" "$(call 0 '"a":"X|Y"')" "$(call 0 '"a":"Y|X"')"
equal "anything" "$(call 0 '"a":{"any":true}')" "$(call 0 '"a":[1]')"
differ "... but nothing" "$(call 0 '"a":{"any":true}')" "$(call 0 '')" 'args\.a'
equal "a prefix" "$(call 0 '"a":{"prefix":"heap:"}')" "$(call 0 '"a":"heap:7+0"')"
differ "... of something else" "$(call 0 '"a":{"prefix":"heap:"}')" "$(call 0 '"a":"stack:7+0"')" \
	'args\.a'
x='"a":{"bind":"comm:$x"}'
equal "a name that is used again" "$(call 0 "$x"; call 1 "$x")" \
	"$(call 0 '"a":"comm:9"'; call 1 '"a":"comm:9"')"
differ "... for something else" "$(call 0 "$x"; call 1 "$x")" \
	"$(call 0 '"a":"comm:9"'; call 1 '"a":"comm:8"')" 'args\.a'
equal "logged when it ended, in the order of entry" "$(call 1 '"a":1'; call 0 '"a":0')" \
	"$(call 0 '"a":0'; call 1 '"a":1')"
differ "a call too few" "$(call 0 ''; call 1 '')" "$(call 0 '')" 'the call'
differ "a call too many" "$(call 0 '')" "$(call 0 ''; call 1 '')" 'the call'

printf '%s\n' "$(call 0 '')" >"$log"
status "what is not JSON" 3 sh -c 'echo "{]" | t/compare-log "$1"' - "$tmp/log"
rm "$log"
status "no log" 3 sh -c 'echo "" | t/compare-log "$1"' - "$tmp/log"
status "no arguments" 2 t/compare-log

finish
