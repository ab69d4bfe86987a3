#!/bin/sh
# t/limit ends a command that hangs, and leaves one alone that a loaded machine slows down.
. "$(dirname "$0")/lib.sh"

status "a command keeps its exit status" 3 t/limit 60 sh -c 'exit 3'
status "a signal ends a command as in a shell" 137 t/limit 60 sh -c 'kill -KILL $$'
status "a command that does not exist" 127 t/limit 60 "$tmp/none"

# The reference run takes no time: the machine is idle.
RONDO_TEST_REFERENCE=true
export RONDO_TEST_REFERENCE
status "a command ends at the limit" 124 t/limit 0.2 sleep 600
status "... also one that ignores TERM" 124 t/limit 0.2 sh -c 'trap "" TERM; sleep 600; sleep 600'
status "... with its children" 124 t/limit 0.2 sh -c 'sleep 600 & echo $!; wait'
ended() {
	for _ in $(seq 100); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}
ok "... which have ended, too" ended "$(cat "$tmp/out")"

# It takes ten times as long as on an idle machine.
RONDO_TEST_REFERENCE='sleep 1'
ok "a loaded machine extends the limit" t/limit 0.5 sleep 2
RONDO_TEST_REFERENCE='sleep 0.2'
status "... in proportion" 124 t/limit 0.5 sleep 600

finish
