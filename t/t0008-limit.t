#!/bin/sh
# t/limit ends a command that hangs, but not a command that is slow because the machine is loaded.
. "$(dirname "$0")/lib.sh"

status "limit returns the exit status of the command" 3 t/limit 60 sh -c 'exit 3'
status "limit returns 128 + N for a command that signal N ended" 137 \
	t/limit 60 sh -c 'kill -KILL $$'
status "limit returns 127 for a command that does not exist" 127 t/limit 60 "$tmp/none"

# The reference run needs no time, as on an idle machine.
RONDO_TEST_REFERENCE=true
export RONDO_TEST_REFERENCE
status "limit ends a command at the limit" 124 t/limit 0.2 sleep 600
status "... ends a command that ignores TERM" 124 \
	t/limit 0.2 sh -c 'trap "" TERM; sleep 600; sleep 600'
status "... ends a command with children" 124 t/limit 0.2 sh -c 'sleep 600 & echo $!; wait'
ended() {
	for _ in $(seq 100); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}
ok "... the children have also ended" ended "$(cat "$tmp/out")"

# The reference run is ten times slower than on an idle machine.
RONDO_TEST_REFERENCE='sleep 1'
ok "a loaded machine extends the limit" t/limit 0.5 sleep 2
RONDO_TEST_REFERENCE='sleep 0.2'
status "... in proportion to the load" 124 t/limit 0.5 sleep 600

finish
