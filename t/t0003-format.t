#!/bin/sh
# The C files are as clang-format would write them.
. "$(dirname "$0")/lib.sh"

command -v clang-format >/dev/null || skip_all "clang-format is not installed"

ok "clang-format has nothing to change" "${MAKE:-make}" check-format

finish
