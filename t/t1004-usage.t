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
like "... and the exit codes" "$(cat "$tmp/out")" '70 rondo itself'
help=$(cat "$tmp/out")
for same in -h help; do
	ok "rondo $same" "$RONDO" $same
	is "... is the same" "$(cat "$tmp/out")" "$help"
done
for version in --version -V; do
	ok "rondo $version" "$RONDO" $version
	like "... is a version" "$(cat "$tmp/out")" \
		'^rondo [0-9]+\.[0-9]+\.[0-9]+ \(format 2\.0\)$'
done

for command in info dump check; do
	ok "rondo $command --help" "$RONDO" $command --help
	like "... has an example" "$(cat "$tmp/out")" "^  rondo $command .*\.rondo"
	help=$(cat "$tmp/out")
	for how in "$command -h" "help $command" "--help $command"; do
		ok "rondo $how" "$RONDO" $how
		is "... is the same" "$(cat "$tmp/out")" "$help"
	done
	ok "--help wins over a file" "$RONDO" $command nothere --help
	wrong "$command of nothing" "$command: the name of the file is empty" $command ''
	wrong "$command of standard input" "$command: a trace cannot be read from a pipe" $command -
	wrong "$command without a file" "$command: which file\?" $command
	wrong "$command with two files" "$command: one file at a time" $command "$f" "$f"
	wrong "$command with an unknown option" "$command: no option --wobble" $command --wobble "$f"
done

status "rondo alone" 2 "$RONDO"
like "... says how it is called" "$(cat "$tmp/err")" '^usage: rondo '
wrong "help for a slip" 'no command dmup; did you mean dump\?' help dmup
wrong "an unknown command" 'no command frobnicate \(see: rondo --help\)' frobnicate
wrong "a slip" 'no command dmup; did you mean dump\?' dmup
wrong "another" 'no command chek; did you mean check\?' chek "$f"
wrong "a slip in an option" 'dump: no option --form; did you mean --from\?' dump --form 3 "$f"

wrong "an unknown one-letter option gets no suggestion" \
	'recover: no option -n \(see: rondo recover --help\)' recover -n "$f"
wrong "a misspelled option with =VALUE gets a suggestion" \
	'trace: no option --tiem; did you mean --time\?' \
	trace --tiem=none true
wrong "a misspelled option with a separate value gets a suggestion" \
	'trace: no option --tiem; did you mean --time\?' \
	trace --tiem none true
wrong "a misspelling of the last option gets a suggestion" \
	'trace: no option --callsite-slcak; did you mean --callsite-slack\?' \
	trace --callsite-slcak=1 true
wrong "an option with one dash instead of two gets a suggestion" \
	'dump: no option -rank; did you mean --rank\?' dump -rank 1 "$f"

wrong "a value that is missing" 'dump: --rank needs a value' dump "$f" --rank
wrong "a value that is no number" 'dump: --from x: not a number' dump --from x "$f"
wrong "a negative number" 'dump: --to -1: not a number' dump --to -1 "$f"
wrong "a number with a tail" 'dump: --to 3k: not a number' dump --to=3k "$f"
wrong "a number that is too large" 'dump: --from 99999999999999999999: too large$' \
	dump --from 99999999999999999999 "$f"
wrong "a range that is too large" 'dump: --rank 1-99999999999999999999: too large$' \
	dump --rank 1-99999999999999999999 "$f"
wrong "a range backwards" 'dump: --rank 3-1: not a number or a range' dump --rank 3-1 "$f"
wrong "a flag with a value" 'dump: --json takes no value' dump --json=yes "$f"

status "a pipe" 3 sh -c 'cat "$0" | "$RONDO" dump /dev/stdin' "$f"
is "... is called one" "$(cat "$tmp/err")" "rondo: /dev/stdin: a trace cannot be read from a pipe"

cp "$f" "$tmp/--odd"
ok "-- ends the options" sh -c 'cd "$0" && "$RONDO" check -- --odd' "$tmp"

# The generator: the same manners. no_trace NAME CODE MESSAGE ARGUMENTS...
no_trace() {
	_what=$1 _code=$2 _message=$3
	shift 3
	status "virtual: $_what" "$_code" "$VIRTUAL" "$@"
	is "... is said" "$(cat "$tmp/err")" "virtual: $_message"
}
x=$tmp/x.rondo
no_trace "an unknown option" 2 'no option --wobble (see: virtual --help)' --wobble
no_trace "a value that is missing" 2 '--ranks needs a value' --pattern rowcol -o "$x" --ranks
no_trace "a value that is no number" 2 '--ranks 4k: not a number, or too large' --ranks 4k
no_trace "no pattern" 2 'which pattern? (--pattern P; see: virtual --help)' --ranks 4 -o "$x"
no_trace "an unknown pattern" 2 'no pattern mesh (see: virtual --help)' --pattern mesh --ranks 4 -o "$x"
no_trace "no ranks" 2 'how many ranks? (--ranks N or --grid XxY[xZ])' --pattern rowcol -o "$x"
no_trace "0 ranks" 2 '--ranks 0: not a possible number of ranks' --pattern rowcol --ranks 0 -o "$x"
no_trace "a wrong grid" 2 '--grid: rowcol cannot run on this grid' --pattern rowcol --grid 2x2x2 -o "$x"
no_trace "ranks and a grid" 2 '--ranks and --grid exclude each other' \
	--pattern rowcol --ranks 4 --grid 2x2 -o "$x"
no_trace "a part of a trace" 2 '--from is for --log' --pattern rowcol --ranks 4 --from 3 -o "$x"
no_trace "steps that differ" 1 'the steps of this pattern differ, so --repeat cannot be used' \
	--pattern timestep --ranks 4 --repeat -o "$x"
no_trace "more than can be counted" 1 'more calls a rank than can be counted' \
	--pattern rowcol --ranks 4 --steps 9000000000000000000 --repeat -o "$x"
no_trace "nowhere to write" 1 "create a file beside $tmp/no/x: No such file or directory" \
	--pattern rowcol --ranks 4 -o "$tmp/no/x"
ok "virtual: --name=value" "$VIRTUAL" --pattern=rowcol --ranks=4 -o "$x"
if [ -e /dev/full ]; then
	for out in '--log' "-o $x"; do
		status "virtual: $out on a full disk" 1 \
			sh -c '"$VIRTUAL" --pattern rowcol --ranks 4 $0 >/dev/full' "$out"
		is "... is said" "$(cat "$tmp/err")" "virtual: standard output: No space left on device"
	done
fi

finish
