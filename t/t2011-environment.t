#!/bin/sh
# Infos, errors, memory, and what MPI tells about itself; what is old.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_env 2

# The time of a clock is not recorded. Its resolution does not change and is recorded.
clock() {
	cat >"$tmp/clock.c" <<-'EOF'
	#include <mpi.h>
	#include <stdio.h>
	int main(void)
	{
		double tick, time;
		MPI_Init(NULL, NULL);
		tick = MPI_Wtick();
		time = PMPI_Wtime() + MPI_Wtime();
		printf("%.17g\n", time > 0 ? tick : 0);
		MPI_Finalize();
		return 0;
	}
	EOF
	"mpicc.$mpi" -o "$tmp/$mpi/clock" "$tmp/clock.c" &&
		trace_mpi "$tmp/$mpi/clock.rondo" 1 "$tmp/$mpi/clock" >"$tmp/tick" 2>/dev/null
	"$RONDO" dump "$tmp/$mpi/clock.rondo" >"$tmp/text"
	"$RONDO" dump --json "$tmp/$mpi/clock.rondo" >"$tmp/json"
	is "$mpi: dump prints no value for MPI_Wtime" "$(grep -c '^0 [23] MPI_Wtime()$' "$tmp/text")" 2
	is "... and no ret in JSON" \
		"$(grep -c '"call":"MPI_Wtime","args":{}}$' "$tmp/json")" 2
	tick=$(sed -n 's/^0 1 MPI_Wtick() = //p' "$tmp/text")
	ok "... and the value of MPI_Wtick, to the last bit" \
		awk -v got="$tick" -v want="$(cat "$tmp/tick")" 'BEGIN { exit !(got > 0 && got + 0 == want + 0) }'
	is "... as a number in JSON" "$(sed -n 's/.*"MPI_Wtick","args":{},"ret":\(.*\)}$/\1/p' "$tmp/json")" "$tick"
	ok "... check accepts the trace" "$RONDO" check "$tmp/$mpi/clock.rondo"
}
each_mpi clock
each_mpi lossless prog_old 2

each_mpi lossless prog_env 2 after

# The trace is written inside MPI_Finalize, and made again with them; that is told.
late() {
	new_log
	ok "$mpi: calls after MPI_Finalize" trace_mpi "$trace" 2 "$tmp/$mpi/prog_env" after
	like "... are told of" "$(cat "$tmp/err")" '^rondo: with 2 calls after MPI_Finalize: .*trace.rondo: 2 of 2 ranks'
	ok "$mpi: behind the launcher" run_mpi 2 "$RONDO" trace -o "$trace" "$tmp/$mpi/prog_env" after
	like "... the calls are also added" "$(cat "$tmp/err")" '^rondo: with calls after MPI_Finalize: .*trace.rondo: 2 of 2 ranks'
	is "... and no part files are left" "$(ls -d "$trace.part" 2>/dev/null)" ""
	ok "$mpi: one that completes many requests" build_prog prog_late
	ok "... runs" trace_mpi "$trace" 1 "$tmp/$mpi/prog_late"
	like "... is one" "$(cat "$tmp/err")" '^rondo: with 1 call after MPI_Finalize: '
}
each_mpi late

# The trace of a run that continues after MPI_Finalize on any rank contains all facts about the run.
late_facts() {
	new_log
	"mpicc.$mpi" $prog_flags -o "$tmp/$mpi/slow_start" t/prog/slow_start.c
	ok "$mpi: rank 0 of 2 makes a call after MPI_Finalize" trace_mpi "$trace" 2 "$tmp/$mpi/slow_start" late
	"$RONDO" info "$trace" >"$tmp/info"
	like "... it is in the trace" "$("$RONDO" dump "$trace" --rank 0)" 'MPI_Finalized\(flag=1\)'
	like "... the trace is complete" "$(cat "$tmp/info")" '^complete: yes$'
	like "... and has wall_s" "$(cat "$tmp/info")" '^wall_s: [0-9]+\.[0-9]{3}$'
	ok "... to the end of the process" awk '$1 == "wall_s:" { wall = $2 } END { exit wall < 0.5 }' "$tmp/info"
	like "... and has tracer_s" "$(cat "$tmp/info")" '^tracer_s: [0-9]+\.[0-9]{4}$'
	like "... and has memory" "$(cat "$tmp/info")" '^memory: [1-9][0-9]+$'
	like "... and the times of all calls" "$("$RONDO" info --calls "$trace")" \
		'^ +2 +[0-9]+\.[0-9]*[1-9][0-9]* .* MPI_Init$'
}
each_mpi late_facts

finish
