#!/bin/sh
# Traces that are much larger in memory than on disk are rejected before memory is allocated.
. "$(dirname "$0")/lib.sh"

! ldd "$RONDO" | grep -q 'lib[a-z]*san\.' || skip_all "a sanitizer needs more address space"
[ -x "$BUILD/t/test_budget" ] || skip_all "$BUILD/t/test_budget is not built"

# limited ARGUMENT...: runs rondo with 256 MiB of address space
limited() {
	(
		ulimit -v 262144
		"$RONDO" "$@"
	)
}

ok "test_budget writes traces with a section of 300 MiB, and one with 30 million stacks" "$BUILD/t/test_budget" "$tmp"
for section in strings rules values order stacks; do
	ok "$section: the file is smaller than 11 kB" test "$(wc -c <"$tmp/$section")" -lt 11000
	for command in info check dump report; do
		status "rondo $command rejects it" 3 limited $command "$tmp/$section"
		like "... the message states the limit and the option" "$(cat "$tmp/err")" \
			'section [a-z]+: needs at least [0-9]+ MiB of memory, more than the limit of 224 MiB; .*: --max-memory [0-9]+G$'
	done
done
ok "--max-memory 1G is sufficient for 30 million stacks" "$RONDO" info --max-memory=1G "$tmp/stacks"
status "--max-memory 500M is not sufficient" 3 "$RONDO" info --max-memory 500M "$tmp/stacks"
status "--max-memory 1X is wrong usage" 2 "$RONDO" info --max-memory 1X "$tmp/stacks"
like "... the message gives examples of sizes" "$(cat "$tmp/err")" "--max-memory 1X: not a size such as 64M or 1G"

ok "a trace of 1000 MPI ranks and 10 million steps" \
	"$VIRTUAL" --pattern stencil2d --grid 40x25 --steps 10000000 --repeat -o "$tmp/large"
for command in info check report; do
	ok "rondo $command reads it without the option" limited $command "$tmp/large"
done

finish
