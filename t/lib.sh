# lib.sh - TAP for the shell tests. A test begins with
#
#	#!/bin/sh
#	. "$(dirname "$0")/lib.sh"
#
# and ends with `finish`. Its working directory is the root of the tree, so `doc/man` is a path.
# Where it is called from does not matter. $RONDO is the program of the build (BUILD=DIR selects
# another build). $tmp is an empty directory that is removed when the test ends.
#
#	ok NAME COMMAND...         COMMAND succeeds (otherwise its output is printed)
#	nok NAME COMMAND...        COMMAND fails, but not by a signal
#	status NAME CODE COMMAND.. COMMAND exits with CODE
#	is NAME GOT WANTED         two strings are equal
#	like NAME GOT PATTERN      a line of GOT matches the extended regular expression
#	unlike NAME GOT PATTERN    no line of GOT matches it
#	skip NAME REASON           skips one test
#	skip_all REASON            skips all tests of the file
#	todo=REASON                until todo=, tests may fail: the feature is not implemented yet
#	diag TEXT                  prints a remark (prove shows it with -v)
#	explain TEXT               prints the reason of a failure (prove always shows it)
#
# status, ok and nok store the output of the command in $tmp/out and $tmp/err.

# The root is the parent of t/. A test may be in t/ or in a subdirectory of it.
cd "$(dirname "$0")/.." && { [ -e t/lib.sh ] || cd ..; } || exit 1
root=$(pwd)
BUILD=${BUILD:-build}
case $BUILD in
/*) RONDO=$BUILD/rondo VIRTUAL=$BUILD/virtual ;;
*) RONDO=$root/$BUILD/rondo VIRTUAL=$root/$BUILD/virtual ;;
esac
export BUILD RONDO VIRTUAL
LC_ALL=C
export LC_ALL
# A make that a test starts must not inherit the state of the make that started the test.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

tests=0
failed=0
finished=
todo=
tmp=$(mktemp -d "${TMPDIR:-/tmp}/rondo-test.XXXXXX") || exit 1

# A test that ends before `finish` must be reported as failed.
at_exit() {
	rc=$?
	trap - EXIT
	chmod -R u+rwx "$tmp" 2>/dev/null
	rm -rf "$tmp"
	if [ -z "$finished" ]; then
		echo "# $0: ended before finish" >&2
		[ $rc -ne 0 ] || rc=1
	fi
	exit $rc
}
trap at_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

explain() {
	if [ -n "$todo" ]; then
		diag "$@"
	else
		diag "$@" >&2
	fi
}

pass() {
	tests=$((tests + 1))
	echo "ok $tests - $1${todo:+ # TODO }$todo"
}

fail() {
	tests=$((tests + 1))
	[ -n "$todo" ] || failed=$((failed + 1))
	echo "not ok $tests - $1${todo:+ # TODO }$todo"
	explain "$0: not ok $tests - $1"
}

run() {
	"$@" >"$tmp/out" 2>"$tmp/err"
}

show_output() {
	explain "$(head -n 40 "$tmp/out" "$tmp/err")"
}

status() {
	_name=$1 _want=$2
	shift 2
	run "$@"
	_got=$?
	if [ $_got -eq "$_want" ]; then
		pass "$_name"
	else
		fail "$_name"
		explain "exit status $_got instead of $_want: $*"
		show_output
	fi
}

ok() {
	_name=$1
	shift
	status "$_name" 0 "$@"
}

nok() {
	_name=$1
	shift
	run "$@"
	_got=$?
	if [ $_got -ne 0 ] && [ $_got -lt 126 ]; then
		pass "$_name"
	else
		fail "$_name"
		explain "exit status $_got instead of an ordinary failure: $*"
		show_output
	fi
}

is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1"
		explain "got:"
		explain "$2"
		explain "wanted:"
		explain "$3"
	fi
}

like() {
	if printf '%s\n' "$2" | grep -Eq -e "$3"; then
		pass "$1"
	else
		fail "$1"
		explain "nothing matches /$3/ in:"
		explain "$2"
	fi
}

unlike() {
	if printf '%s\n' "$2" | grep -Eq -e "$3"; then
		fail "$1"
		explain "/$3/ matches:"
		explain "$(printf '%s\n' "$2" | grep -E -e "$3")"
	else
		pass "$1"
	fi
}

skip() {
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

skip_all() {
	finished=1
	echo "1..0 # SKIP $*"
	exit 0
}

finish() {
	finished=1
	echo "1..$tests"
	[ $failed -eq 0 ]
	exit
}
