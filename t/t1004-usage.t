#!/bin/sh
# How commands are called: help, version, options, and what is said about mistakes.
. "$(dirname "$0")/lib.sh"

f=$tmp/a.rondo
ok "a trace" "$VIRTUAL" --pattern butterfly --ranks 8 -o "$f"

# wrong NAME PATTERN ARGUMENTS...: exit 2, one line that matches, no output
wrong() {
	_what=$1 _pattern=$2
	shift 2
	status "$_what" 2 "$RONDO" "$@"
	is "... one line" "$(wc -l <"$tmp/err" | tr -d ' ')" 1
	like "... that says what is wrong" "$(cat "$tmp/err")" "^rondo: $_pattern"
	is "... and no output" "$(cat "$tmp/out")" ""
}

ok "rondo --help" "$RONDO" --help
like "... lists the commands" "$(cat "$tmp/out")" '^  dump +[a-z]'
ok "rondo --version" "$RONDO" --version
like "... is a version" "$(cat "$tmp/out")" '^rondo [0-9]+\.[0-9]+\.[0-9]+ \(format 1\.0\)$'

for command in info dump check; do
	ok "rondo $command --help" "$RONDO" $command --help
	like "... has an example" "$(cat "$tmp/out")" "^  rondo $command .*\.rondo"
	ok "--help wins over a file" "$RONDO" $command nothere --help
	wrong "$command without a file" "$command: which file\?" $command
	wrong "$command with two files" "$command: one file at a time" $command "$f" "$f"
	wrong "$command with an unknown option" "$command: no option --wobble" $command --wobble "$f"
done

status "rondo alone" 2 "$RONDO"
like "... says how it is called" "$(cat "$tmp/err")" '^usage: rondo '
wrong "an unknown command" 'no command frobnicate \(see: rondo --help\)' frobnicate
wrong "a slip" 'no command dmup; did you mean dump\?' dmup
wrong "another" 'no command chek; did you mean check\?' chek "$f"
wrong "a slip in an option" 'dump: no option --form; did you mean --from\?' dump --form 3 "$f"

wrong "a value that is missing" 'dump: --rank needs a value' dump "$f" --rank
wrong "a value that is no number" 'dump: --from x: not a number' dump --from x "$f"
wrong "a negative number" 'dump: --to -1: not a number' dump --to -1 "$f"
wrong "a number with a tail" 'dump: --to 3k: not a number' dump --to=3k "$f"
wrong "a number that is too large" 'dump: --from 99999999999999999999: not a number' \
	dump --from 99999999999999999999 "$f"
wrong "a range backwards" 'dump: --rank 3-1: not a number or a range' dump --rank 3-1 "$f"
wrong "a flag with a value" 'dump: --json takes no value' dump --json=yes "$f"

cp "$f" "$tmp/--odd"
ok "-- ends the options" sh -c 'cd "$0" && "$RONDO" check -- --odd' "$tmp"

finish
