#!/bin/sh
# The table of commands and the man pages agree, the pages are sound, the design notes listed.
. "$(dirname "$0")/lib.sh"

[ -x "$RONDO" ] || skip_all "$BUILD/rondo is not built"

# `rondo --help` lists a command per line: indented, its name, what it does.
commands=$("$RONDO" --help | sed -En 's/^[[:space:]]+([a-z]+)[[:space:]]{2,}.*/\1/p' | sort)
pages=$(for page in doc/man/rondo-*.1; do
	page=${page#doc/man/rondo-}
	echo "${page%.1}"
done | sort)

like "rondo --help lists commands" "$commands" '^info$'
is "each command has a page, and each page a command" "$pages" "$commands"
ok "the program itself has a page" test -f doc/man/rondo.1

for command in $commands; do
	ok "rondo $command --help" "$RONDO" "$command" --help
	like "... says how it is called" "$(cat "$tmp/out")" "rondo $command"
	sed -En 's/^  (--?[a-z-]+).*/\1/p' "$tmp/out" | grep -v '^--help$' | sort >"$tmp/options"
	is "... has the options of the man page" "$(cat "$tmp/options")" \
		"$(sed -En 's/^\.It Fl ([a-z-]+).*/\1/p' "doc/man/rondo-$command.1" |
			sed -E 's/^([a-z])$/-\1/; t; s/^-*/--/' | grep -v -e '^--help$' -e '^-h$' | sort)"
done

for page in doc/man/*.1; do
	if command -v mandoc >/dev/null; then
		ok "$page has no errors" mandoc -T lint -W warning "$page"
	else
		skip "$page has no errors" "mandoc is not installed"
	fi
done

is "every design note is listed" \
	"$(for note in doc/design/[0-9]*.md; do
		[ -f "$note" ] || continue
		grep -qF "(${note##*/})" doc/design/README.md || echo "$note"
	done)" ""

is "doc/security.md names the variables that run_env.c stores" \
	"$(sed -n 's/.*such\[\] = { \(.*\) };/\1/p' src/trace/run_env.c | tr -d '",' |
		tr ' ' '\n' | while read -r prefix; do
		grep -qF "\`$prefix\`" doc/security.md || echo "$prefix"
	done)" ""
ok "README.md links doc/security.md" grep -q '(doc/security.md)' README.md

finish
