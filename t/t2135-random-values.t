#!/bin/sh
# Random programs with arguments that change in random ways: with and without --no-elastic, the calls are
# the same. RONDO_PROGRAMS=N: so many of them; RONDO_SEED=N: others.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

first=${RONDO_SEED:-1}
last=$((first + ${RONDO_PROGRAMS:-4} - 1))

# traced FILE OPTION SEED
traced() {
	with_yield t/limit 120 "$RONDO" trace $2 -o "$1" "mpirun.$mpi" -n 3 "$at/prog_elastic" "$3" 2000
}

# alike SEED
alike() {
	traced "$at/elastic.rondo" '' "$1" &&
		traced "$at/plain.rondo" --no-elastic "$1" &&
		"$RONDO" check "$at/elastic.rondo" &&
		"$RONDO" dump "$at/elastic.rondo" >"$at/elastic" &&
		"$RONDO" dump "$at/plain.rondo" >"$at/plain" &&
		cmp "$at/elastic" "$at/plain"
}

programs() {
	at=$tmp/$mpi
	ok "$mpi: prog_elastic compiles" build_prog prog_elastic
	for seed in $(seq "$first" "$last"); do
		ok "$mpi: program $seed" alike "$seed"
	done
}

each_mpi programs
finish
