#!/bin/sh
# Files through MPI; the path is a text of the program's.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# MPI does not set all fields of a status, so the program initializes each field with a wrong value.
defined_fields() {
	lossless prog_io 2 "$tmp/a file"
	"$RONDO" dump "$trace" | grep -o '^[^(]*MPI_File_[a-z_]*\|status={.*}' >"$tmp/statuses"
	like "$mpi: the status of a file operation has a count" "$(cat "$tmp/statuses")" '^status=\{count=16\}$'
	unlike "... and no other field" "$(cat "$tmp/statuses")" 'cancelled|source|tag|error'
}

each_mpi defined_fields
each_mpi lossless_large prog_io 2 "$tmp/a file"

finish
