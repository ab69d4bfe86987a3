#!/bin/sh
# A default build contains no assertions. Builds that test Rondo enable them.
. "$(dirname "$0")/lib.sh"

# A sanitizer build enables assertions and has no tracer.
libraries=$(find "$BUILD" -maxdepth 1 -name 'librondo-*.so' | sort)
if ldd $libraries "$RONDO" 2>/dev/null | grep -q 'lib[a-z]*san\.'; then
	skip_all "$BUILD is a sanitizer build"
fi

for library in $libraries; do
	is "${library##*/} does not import __assert_fail" \
		"$(nm -D --undefined-only "$library" | grep __assert_fail)" ""
done
is "rondo does not import __assert_fail" "$(nm -D --undefined-only "$RONDO" | grep __assert_fail)" ""

finish
