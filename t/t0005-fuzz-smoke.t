#!/bin/sh
# A short run of each fuzzing target; `make fuzz` is the long one.
. "$(dirname "$0")/lib.sh"

ls t/fuzz/fuzz_*.c >/dev/null 2>&1 || skip_all "there are no fuzzing targets"
command -v clang >/dev/null || skip_all "clang is not installed"
[ -f "$(clang -print-file-name="libclang_rt.fuzzer-$(uname -m).a")" ] ||
	skip_all "clang's libFuzzer runtime is not installed"

ok "make fuzz-smoke" "${MAKE:-make}" fuzz-smoke
grep '^fuzz_' "$tmp/out" | sed 's/^/# /'

finish
