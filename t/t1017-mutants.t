#!/bin/sh
# The commands on some mutants of traces and part files (t/fuzz/mutate.c); `make fuzz-long` has more.
. "$(dirname "$0")/lib.sh"

[ -x "$BUILD/bin/mutate" ] || skip_all "$BUILD/bin/mutate is not built"

# A run with sanitizers needs more memory and time.
memory=256 mutants=400 seconds=10
case $BUILD in
*asan*) memory=1024 mutants=40 seconds=100 ;;
esac

ok "no command fails on a mutant" "$BUILD/bin/mutate" --rondo "$RONDO" --mutants $mutants \
	--seconds $seconds --memory $memory --save "$tmp" t/golden/*.rondo
cat "$tmp/out" | sed 's/^/# /'
like "mutants were run" "$(cat "$tmp/out")" '^mutate: [1-9][0-9]* mutants '

finish
