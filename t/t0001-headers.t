#!/bin/sh
# Each header compiles alone.
. "$(dirname "$0")/lib.sh"

ok "every header compiles alone, and twice" "${MAKE:-make}" check-headers

finish
