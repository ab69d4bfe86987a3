#!/bin/sh
# HPCC: Linpack, transposition, random access, Fourier transforms, latencies.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh
needs hpcc have hpcc
input t/apps/hpccinf.txt

# Of the summary all that is not a time, a rate or a bound made of one.
results() {
	grep -E '^(Success|CommWorldProcs|HPL_(N|.norm.|nprow|npcol)|.*_(N|n|residual|maxErr|Errors))=' \
		hpccoutf.txt
	grep -c PASSED hpccoutf.txt
}

traced_alike 4 hpcc
messages_arrive
like "... it succeeded" "$(cat "$tmp/got")" '^Success=1$'

finish
