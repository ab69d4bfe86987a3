#!/bin/sh
# The unit and command tests once more, under AddressSanitizer and UndefinedBehaviorSanitizer.
. "$(dirname "$0")/lib.sh"

if "${MAKE:-make}" asan >"$tmp/out" 2>&1; then
	pass "make asan"
else
	fail "make asan"
	explain "$(tail -n 60 "$tmp/out")"
fi
tail -n 2 "$tmp/out" | sed 's/^/# /'

finish
