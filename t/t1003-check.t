#!/bin/sh
# rondo check, and what every command says about files that it cannot read: one line, exit 3.
. "$(dirname "$0")/lib.sh"

f=$tmp/good.rondo
ok "a trace" "$VIRTUAL" --pattern wavefront --ranks 30 --steps 10 -o "$f"
ok "rondo check" "$RONDO" check "$f"
like "... says that it is good" "$(cat "$tmp/out")" \
	'good\.rondo: ok, 30 ranks, 9 groups, [0-9]+ rules, [0-9]+ signatures$'

# refused NAME PATTERN FILE: by every command, with one line that matches, and nothing else
refused() {
	for command in check info dump; do
		status "$1: $command" 3 "$RONDO" $command "$3"
		is "... one line" "$(wc -l <"$tmp/err" | tr -d ' ')" 1
		like "... that says so" "$(cat "$tmp/err")" "^rondo: .*$2"
		is "... and no output" "$(cat "$tmp/out")" ""
	done
}

# byte OFFSET OCTAL FILE
byte() {
	printf "\\$2" | dd of="$3" bs=1 seek="$1" conv=notrunc 2>/dev/null
}

size=$(wc -c <"$f" | tr -d ' ')

refused "missing" 'nothere: No such file' "$tmp/nothere"
mkdir "$tmp/folder"
refused "a folder" 'folder: not a regular file' "$tmp/folder"
mkfifo "$tmp/fifo"
refused "a pipe without a writer" 'fifo: a trace cannot be read from a pipe' "$tmp/fifo"
: >"$tmp/empty"
refused "an empty file" 'empty: not a Rondo trace' "$tmp/empty"
printf 'hello, world\n' >"$tmp/text"
refused "a text" 'text: not a Rondo trace' "$tmp/text"
refused "a program" 'not a Rondo trace' "$RONDO"
# Reading all of these would take all memory, or for ever: the header is enough.
if truncate -s 200G "$tmp/huge" 2>/dev/null; then
	refused "a huge file" 'huge: not a Rondo trace$' "$tmp/huge"
	cp "$f" "$tmp/huge"
	truncate -s 200G "$tmp/huge"
	refused "a trace with a huge tail" "huge: goes on behind its end at byte $size" "$tmp/huge"
	rm "$tmp/huge"
else
	skip "a huge file" "there can be none here"
fi

head -c 20 "$f" >"$tmp/cut"
refused "cut off in the header" 'cut: cut off at byte 20' "$tmp/cut"
head -c $((size / 2)) "$f" >"$tmp/cut"
refused "cut off half way" "cut: cut off at byte $((size / 2)) of $size" "$tmp/cut"
head -c $((size - 1)) "$f" >"$tmp/cut"
refused "cut off at the end" "cut: cut off at byte $((size - 1)) of $size" "$tmp/cut"
{
	cat "$f"
	echo
} >"$tmp/more"
refused "something behind it" 'more: goes on behind its end' "$tmp/more"

cp "$f" "$tmp/flipped"
byte 100 377 "$tmp/flipped"
refused "a byte changed in a section" 'flipped: section [a-z]+ damaged: checksum' "$tmp/flipped"
cp "$f" "$tmp/flipped"
byte 9 377 "$tmp/flipped"
refused "a byte changed in the header" 'flipped: header damaged' "$tmp/flipped"
cp "$f" "$tmp/flipped"
byte $((size - 1)) 000 "$tmp/flipped"
refused "a byte changed in the trailer" 'flipped: trailer damaged' "$tmp/flipped"

while read -r name pattern; do
	refused "$name" "$name\.rondo: $pattern" "t/bad/$name.rondo"
done <<'END'
cut-off cut off at byte 300 of
flipped section functions damaged: checksum
line-ends not a Rondo trace: line ends changed
newer-version format 3\.0; this version of rondo reads format 2\.0; a newer version of rondo is required
older-version format 1\.0; this version of rondo reads format 2\.0; trace the program again
no-rules section rules is missing
param-twice section functions: function MPI_Irecv has two parameters count
odd-threads section meta: threads does not divide the 8 streams
rank-missing section ranks: groups hold 20 ranks of 21
too-long section rules: rule 18 expands to more than 2\^62 symbols
word-missing section signatures: signature [0-9]+ is malformed
END
is "... and that is all of t/bad" "$(ls t/bad/*.rondo | wc -l | tr -d ' ')" 11

while read -r name what; do
	bad=t/bad/unsound/$name.rondo
	status "what can be read but is not right: $name" 1 "$RONDO" check "$bad"
	is "... is named" "$(cat "$tmp/err")" "rondo: $bad: $what"
	ok "... and can be read" "$RONDO" info "$bad"
done <<'END'
comm-missing calls of rank 0 are relative to comm:world.1, which it is not in
function-twice two functions are called MPI_Isend
leave-alone rank 0, thread 0: a rondo_leave is there without its rondo_enter
leave-nothing rank 0, thread 0: a rondo_leave is not followed by the call that it is about
rank-twice rank 3 is there twice
request-missing rank 0, thread 0: signature 26 is about a request that is not there
table-missing calls of rank 0 have a value in slot:2, which it is not in
unused-words 5 unused words
word-twice two words are heap
END
is "... and that is all of t/bad/unsound" "$(ls t/bad/unsound/*.rondo | wc -l | tr -d ' ')" 9

for odd in t/bad/odd/*.rondo; do
	ok "$odd is sound" "$RONDO" check "$odd"
done
if ls "$BUILD"/librondo-ompi.so "$BUILD"/librondo-mpich.so 2>/dev/null | grep -q .; then
	status "replay refuses a trace with too many ranks quickly" 3 \
		t/limit 3 "$RONDO" replay t/bad/odd/many-ranks.rondo /bin/true
else
	skip "replay refuses a trace with too many ranks quickly" "there is no tracer"
fi

if [ "$(id -u)" -ne 0 ]; then
	cp "$f" "$tmp/secret"
	chmod 0 "$tmp/secret"
	refused "no permission" 'secret: Permission denied' "$tmp/secret"
fi

finish
