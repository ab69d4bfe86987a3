#!/bin/sh
# HPCC: Linpack, transposition, random access, Fourier transforms, latencies.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh
needs hpcc have hpcc
input t/apps/hpccinf.txt

results() {
	hpcc_results
}

traced_alike 4 hpcc
messages_arrive
like "... it succeeded" "$(cat "$tmp/got")" '^Success=1$'

finish
