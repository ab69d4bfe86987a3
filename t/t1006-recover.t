#!/bin/sh
# rondo recover: part files become the trace, what is missing is named, what is damaged is said.
. "$(dirname "$0")/lib.sh"

d=$tmp/a.rondo.part
f=$tmp/a.rondo

# parts RANKS THREADS HOSTS [invalid]: creates a new part directory with one part file per host
parts() {
	rm -rf "$d" "$f"
	"$BUILD/t/test_salvage" "$d" "$1" "$2" "$3" 100 ${4:+"$4"} || explain "no parts"
}
[ -x "$BUILD/t/test_salvage" ] || skip_all "$BUILD/t/test_salvage is not built"

part() {
	echo "$d/0000000000001234-host$1"
}

parts 12 1 4
ok "all parts" "$RONDO" recover "$d"
like "... one line" "$(cat "$tmp/out")" '^[^ ]*/a\.rondo: 12 of 12 ranks, 1200 calls, [0-9]+ bytes$'
is "... nothing else is said" "$(cat "$tmp/err")" ""
ok "... the folder is gone" test ! -e "$d"
ok "... the trace is sound" "$RONDO" check "$f"
is "... and has every call" "$("$RONDO" dump "$f" | sort | uniq | wc -l | tr -d ' ')" 1200
like "... and is complete" "$("$RONDO" info "$f")" '^complete: yes$'
like "... and says of what" "$("$RONDO" info "$f")" '^program: prog$'
"$RONDO" dump --rank 9-11 "$f" >"$tmp/want"

parts 12 1 4
ok "another name, and a slash" "$RONDO" recover -o "$tmp/b.rondo" "$d/"
ok "... is taken" test -f "$tmp/b.rondo" -a ! -e "$f"

parts 12 1 4
rm "$(part 1)"
ok "parts that are missing" "$RONDO" recover "$d"
like "... are named" "$(cat "$tmp/out")" ': 9 of 12 ranks, .*; missing: 3-5; .*/a\.rondo\.part is kept$'
ok "... and the folder stays" test -f "$(part 0)"
like "... the trace says so" "$("$RONDO" info "$f")" '^complete: no$'
like "... and of whom" "$("$RONDO" info "$f")" '^incomplete: 3-5$'
ok "... and is sound" "$RONDO" check "$f"
is "... a missing rank has no calls" "$("$RONDO" dump --rank 3-5 "$f")" ""
"$RONDO" dump --rank 9-11 "$f" >"$tmp/got"
ok "... others have all" cmp "$tmp/want" "$tmp/got"
cp "$f" "$tmp/first"
ok "once more" "$RONDO" recover "$d"
like "... the trace gets the next number" "$(cat "$tmp/out")" '/a\.2\.rondo: 9 of 12 ranks'
ok "... the trace is valid" "$RONDO" check "$tmp/a.2.rondo"
ok "... the existing trace is unchanged" cmp "$f" "$tmp/first"
mkdir "$tmp/disk"
if unshare -m mount -t tmpfs none "$tmp/disk" 2>/dev/null; then
	status "... and is not moved when a disk is full" 70 unshare -m sh -c '
		mount -t tmpfs -o size=64k none "$1" && cp "$2" "$1/a.rondo" || exit
		dd if=/dev/zero of="$1/rest" bs=4k 2>/dev/null
		"$3" recover -o "$1/a.rondo" "$4"
		code=$?
		cmp "$2" "$1/a.rondo" && exit $code' sh "$tmp/disk" "$f" "$RONDO" "$d"
else
	skip "... and is not moved when a disk is full" "no file system can be mounted here"
fi

parts 6 2 2
rm "$(part 1)"
ok "threads" "$RONDO" recover "$d"
like "... are in the trace" "$("$RONDO" info "$f")" 'threads: '
ok "... which is sound" "$RONDO" check "$f"

parts 12 1 4
printf 'xx' | dd of="$(part 1)" bs=1 conv=notrunc 2>/dev/null
: >"$(part 2)"
echo "not ours" >"$d/notes"
status "damaged parts" 3 "$RONDO" recover "$d"
is "... one line each" "$(wc -l <"$tmp/err" | tr -d ' ')" 2
like "... that name the file" "$(cat "$tmp/err")" '^rondo: .*-host1: is not a part of a trace$'
like "... the rest is in the trace" "$(cat "$tmp/out")" ': 6 of 12 ranks, .*; missing: 3-8;'
ok "... which is sound" "$RONDO" check "$f"

parts 12 1 2
head -c 100000 "$(part 1)" >"$tmp/cut" && mv "$tmp/cut" "$(part 1)"
status "a part that is cut" 3 "$RONDO" recover "$d"
like "... is said to be" "$(cat "$tmp/err")" '^rondo: .*: [0-9]+ process(es)? left something damaged$'
like "... what is there is in the trace" "$(cat "$tmp/out")" '; not complete: .*[-,]11; .* is kept$'
ok "... which is sound" "$RONDO" check "$f"

parts 12 1 2
printf '\1' | dd of="$(part 0)" bs=1 seek=8 conv=notrunc 2>/dev/null
mv "$(part 0)" "$d/0000000000000001-host0"
ok "parts of two runs" "$RONDO" recover "$d"
like "... one is used, the other mentioned" "$(cat "$tmp/out")" \
	': 6 of 12 ranks, .*; the directory also contains part files of another run; .* is kept$'

parts 4 1 1
exec 9<"$(part 0)"
flock -s 9
ok "a program that still runs" "$RONDO" recover "$d"
like "... is said to" "$(cat "$tmp/out")" ': 4 of 4 ranks, .*; the program is still running; .* is kept$'
ok "... and keeps its parts" test -f "$(part 0)"
exec 9<&-

parts 4 1 2
ok "--live where nothing runs" "$RONDO" recover --live "$d/"
like "... says so" "$(cat "$tmp/out")" \
	': prog, 4 ranks, 2 hosts, MPI; none of it runs any more, so this is where it stopped$'
like "... and where that was" "$(cat "$tmp/out")" \
	'^  ranks 0-3: in no MPI call; the last was MPI_Barrier\(comm=MPI_COMM_WORLD\)$'
like "... and what to do" "$(cat "$tmp/out")" '^try: rondo recover [^ ]*/a\.rondo\.part$'
is "... and no more" "$(wc -l <"$tmp/out" | tr -d ' ')" 4
cp -r "$d" "$tmp/it's odd.part"
ok "recover --live reads a directory with a quote and a space in its name" \
	"$RONDO" recover --live "$tmp/it's odd.part"
is "... suggests a command that a shell can read" "$(sed -n 's/^try: //p' "$tmp/out")" \
	"rondo recover '$tmp/it'\\''s odd.part'"
ok "... writes nothing" test ! -e "$f"
ok "... keeps everything" test -f "$(part 0)" -a -f "$(part 1)"
rm "$(part 1)"
ok "... without a node" "$RONDO" recover --live "$d"
like "... says who is missing" "$(cat "$tmp/out")" '^  ranks 2-3: not here; '
exec 9<"$(part 0)"
flock -s 9
ok "... whose program runs elsewhere" "$RONDO" recover --live --json "$d"
like "... is taken to run" "$(cat "$tmp/out")" '^\{"ranks":4,"running":true,'
exec 9<&-
printf 'x' | dd of="$(part 0)" bs=1 conv=notrunc 2>/dev/null
status "... that is damaged" 3 "$RONDO" recover --live "$d"
status "... no folder" 3 "$RONDO" recover --live "$tmp/no.part"
like "... is said" "$(cat "$tmp/err")" '^rondo: .*/no\.part: there is no such folder; '
status "--live writes no trace" 2 "$RONDO" recover --live -o "$tmp/x" "$d"
status "--json is for --live" 2 "$RONDO" recover --json "$d"

# A FIFO, a device and links in place of part files: recover reports them and does not wait.
parts 4 1 2
mkfifo "$d/0000000000001234-fifo"
ln -s "$(part 1)" "$d/0000000000001234-link"
others=2
mknod "$d/0000000000001234-zero" c 1 5 2>/dev/null && others=3
for option in --live --max-memory=1G; do
	code=3
	[ $option = --live ] && code=0
	status "recover $option with a FIFO in the directory" $code "$root/t/limit" 10 "$RONDO" recover $option "$d"
	is "... prints one line for each file that is not regular" "$(wc -l <"$tmp/err" | tr -d ' ')" $others
	like "... names the FIFO" "$(cat "$tmp/err")" '^rondo: .*-fifo: a trace cannot be read from a pipe$'
	like "... does not follow the link" "$(cat "$tmp/err")" '-link: Too many levels of symbolic links$'
done
ok "... the trace has all ranks" "$RONDO" check "$f"
ok "... the part files are kept" test -p "$d/0000000000001234-fifo" -a -f "$(part 0)"

# One byte of a part file is wrong: in the magic number, in the head of an extent or in a log record.
# The byte is corrected.
for at in 3 4120 4200 8200; do
	parts 2 1 1
	printf '\125' | dd of="$(part 0)" bs=1 seek=$at conv=notrunc 2>/dev/null
	ok "recover corrects byte $at" "$RONDO" recover "$d"
	like "... no call is missing" "$(cat "$tmp/out")" ': 2 of 2 ranks, 200 calls, [0-9]+ bytes$'
	ok "... the trace is valid" "$RONDO" check "$f"
done

# A file that ends before the streams of its processes, as after a lost connection to a file server.
parts 2 1 1
head -c 8192 "$(part 0)" >"$tmp/cut" && cat "$tmp/cut" >"$(part 0)"
status "recover reports a file without any stream" 3 "$RONDO" recover "$d"
ok "... the part file is kept" test -f "$(part 0)"

parts 4 1 2
status "recover --max-memory 1K is too little" 3 "$RONDO" recover --max-memory 1K "$d"
like "... the message states the limit" "$(cat "$tmp/err")" 'more than the limit of .*--max-memory'
ok "... the part files are kept" test -f "$(part 0)"

# A trace takes over the mode of a file of this user that it replaces, but not of other users' files.
if [ "$(id -u)" = 0 ]; then
	: >"$tmp/other.rondo"
	chown 65534 "$tmp/other.rondo"
	chmod 0666 "$tmp/other.rondo"
	parts 2 1 1
	(umask 077 && exec "$RONDO" recover -o "$tmp/other.rondo" "$d") >/dev/null
	is "a trace has not the mode of another user's file" "$(stat -c %a "$tmp/other.rondo")" 600
else
	skip "a trace has not the mode of another user's file" "only root can create such a file"
fi
parts 2 1 1
"$RONDO" recover -o "$tmp/own.rondo" "$d" >/dev/null
chmod 0640 "$tmp/own.rondo"
parts 2 1 1
"$RONDO" recover -o "$tmp/own.rondo" "$d" >/dev/null
is "a trace has the mode of the user's file that it replaces" "$(stat -c %a "$tmp/own.rondo")" 640

# The part files contain calls that no valid trace has.
parts 2 1 1 invalid
status "recover makes no trace that check rejects" 3 "$RONDO" recover "$d"
is "... prints one line" "$(wc -l <"$tmp/err" | tr -d ' ')" 1
like "... states the reason" "$(cat "$tmp/err")" \
	'^rondo: .*/a\.rondo\.part: no valid trace can be made: rank 0, thread 0: .*; the part files are kept$'
ok "... no trace is written" test ! -e "$f"
ok "... the part files are kept" test -f "$(part 0)"
is "... no other file is left" "$(ls -A "$tmp" | grep '^\.rondo')" ""

# A part file becomes shorter while it is read.
if grep -q __asan_init "$RONDO"; then
	skip "recover of a truncated part file" "a library cannot be preloaded into a sanitized rondo"
else
	parts 2 1 1
	cc -shared -fPIC -o "$tmp/truncate.so" t/prog/truncate_preload.c
	status "recover reports a part file that becomes shorter" 3 \
		env LD_PRELOAD="$tmp/truncate.so" "$RONDO" recover "$d"
	like "... the message names the file" "$(cat "$tmp/err")" \
		'^rondo: .*a\.rondo\.part: 0000000000001234-host0 became shorter while it was read'
	ok "... no trace is written" test ! -e "$f"
	ok "... the part file is kept" test -f "$(part 0)"
	parts 2 1 1
	status "recover --live reports a part file that becomes shorter" 3 \
		env LD_PRELOAD="$tmp/truncate.so" "$RONDO" recover --live "$d"
	like "... the message names the file" "$(cat "$tmp/err")" 'host0 became shorter while it was read'
fi

rm -rf "$d" && mkdir "$d"
status "an empty folder, live" 3 "$RONDO" recover --live "$d"
status "an empty folder" 3 "$RONDO" recover "$d"
like "... is said to be" "$(cat "$tmp/err")" '^rondo: .*: there are no parts in it$'
status "no folder" 3 "$RONDO" recover "$tmp/no.part"
status "a file" 3 "$RONDO" recover "$f" -o "$tmp/x"
status "nowhere to write" 2 "$RONDO" recover "$tmp"
like "... is asked for" "$(cat "$tmp/err")" 'does not end in \.part; name the trace with -o FILE$'
parts 4 1 1
status "no such folder for the trace" 70 "$RONDO" recover "$d" -o "$tmp/no/x.rondo"
ok "... the parts stay" test -f "$(part 0)"

finish
