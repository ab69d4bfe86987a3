#!/bin/sh
# Requests, by all that makes, completes and frees them.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_request 3
each_mpi lossless_large prog_request 3

finish
