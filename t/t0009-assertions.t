#!/bin/sh
# A default build contains no assertions. Builds that test Rondo enable them.
. "$(dirname "$0")/lib.sh"

grep -q -e -DNDEBUG "$BUILD/flags" || skip_all "$BUILD was built with assertions"
libraries=$(find "$BUILD" -maxdepth 1 -name 'librondo-*.so' | sort)

for library in $libraries; do
	is "${library##*/} does not import __assert_fail" \
		"$(nm -D --undefined-only "$library" | grep __assert_fail)" ""
done
is "rondo does not import __assert_fail" "$(nm -D --undefined-only "$RONDO" | grep __assert_fail)" ""

finish
