#!/bin/sh
# .ci/isolate runs a command that sees only the clone and the system's packages, so that no test
# depends on other files.
. "$(dirname "$0")/lib.sh"

# This unshare is found first and fails, as unshare does in a container without the privilege.
mkdir "$tmp/bin"
printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/unshare"
chmod +x "$tmp/bin/unshare"
status "a command runs if namespaces are not permitted" 7 \
	env PATH="$tmp/bin:$PATH" .ci/isolate sh -c 'ls "$0" && exit 7' "$tmp/bin/unshare"
is "... and a warning is printed" "$(cat "$tmp/err")" \
	"isolate: mount namespaces are not permitted; files outside the clone remain visible"

if unshare -m mount -t tmpfs none "$tmp/bin" 2>/dev/null; then
	status "isolate returns the exit status of the command" 7 .ci/isolate sh -c 'exit 7'
	ok "... runs the command in the clone" .ci/isolate test -e t/t0007-isolate.t
	nok "... hides a temporary file of the machine" .ci/isolate test -e "$tmp/bin/unshare"
	ok "... permits temporary files" .ci/isolate sh -c 'touch "$(mktemp -d)/file"'
	ok "... hides all temporary files of the machine" .ci/isolate sh -c \
		'test -z "$(find /tmp /var/tmp /dev/shm -mindepth 1 -path "$0" -prune -o -type f -print)"' "$root"
	ok "... hides locally installed programs" .ci/isolate sh -c 'test -z "$(ls -A /usr/local)"'
else
	skip "isolation" "this user cannot mount file systems"
fi

# Every scratch directory is removed.
mkdir "$tmp/scratch"
ok "isolate creates its scratch directory in TMPDIR" env TMPDIR="$tmp/scratch" .ci/isolate true
is "... and removes it" "$(ls -A "$tmp/scratch")" ""

finish
