#!/bin/sh
# The unit and command tests once more, under AddressSanitizer and UndefinedBehaviorSanitizer.
. "$(dirname "$0")/lib.sh"

ok "make asan" "${MAKE:-make}" asan
tail -n 2 "$tmp/out" | sed 's/^/# /'

finish
