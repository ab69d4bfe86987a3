#!/bin/sh
# CI sees only the clone and the system's packages, so that no test depends on anything else.
. "$(dirname "$0")/lib.sh"

# A program found before the real unshare refuses, as in a container without the privilege.
mkdir "$tmp/bin"
printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/unshare"
chmod +x "$tmp/bin/unshare"
status "a command runs where namespaces are not permitted" 7 \
	env PATH="$tmp/bin:$PATH" .ci/isolate sh -c 'ls "$0" && exit 7' "$tmp/bin/unshare"
is "... and one line says so" "$(cat "$tmp/err")" \
	"isolate: mount namespaces are not permitted; files outside the clone stay visible"

if unshare -m mount -t tmpfs none "$tmp/bin" 2>/dev/null; then
	status "an isolated command keeps its exit status" 7 .ci/isolate sh -c 'exit 7'
	ok "... runs in the clone" .ci/isolate test -e t/t0007-isolate.t
	nok "... does not see a temporary file of the machine" .ci/isolate test -e "$tmp/bin/unshare"
	ok "... can make temporary files" .ci/isolate sh -c 'touch "$(mktemp -d)/file"'
	ok "... sees none of the machine's" .ci/isolate sh -c \
		'test -z "$(find /tmp /var/tmp /dev/shm -mindepth 1 -path "$0" -prune -o -type f -print)"' "$root"
	ok "... does not see locally installed programs" .ci/isolate sh -c 'test -z "$(ls -A /usr/local)"'
else
	skip "isolation" "no file system can be mounted here"
fi

# Every scratch directory is removed.
mkdir "$tmp/scratch"
ok "a scratch directory is made in TMPDIR" env TMPDIR="$tmp/scratch" .ci/isolate true
is "... and removed" "$(ls -A "$tmp/scratch")" ""

finish
