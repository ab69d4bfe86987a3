#!/bin/sh
# The call table against the MPIs that are here: no function is missing, in the table or among the
# wrappers, and every parameter has the type that mpi.h gives it. The head of
# the table defines every trait that the table uses.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

export LC_ALL=C
table=api/mpi.api

# table_names TABLE: the functions in it; those of our own have small letters
table_names() {
	awk -F '\t' '/^MPI/ { print $1 }' "$1" | sort
}

# The C library of $mpi. Fortran's names have small or capital letters only.
library_names() {
	printf 'void probe(void);\nvoid probe(void) {}\n' >"$tmp/probe.c"
	"mpicc.$mpi" -shared -fPIC -Wl,--no-as-needed -o "$tmp/probe.so" "$tmp/probe.c"
	ldd "$tmp/probe.so" | awk '$1 ~ /^libmpi/ { print $3 }' | while read -r _lib; do
		nm -D --defined-only "$_lib"
	done | awk '$3 ~ /^PMPIX?_[A-Z].*[a-z]/ { print substr($3, 2) }' | sort -u
}

mpi_h='#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif'

# Open MPI hides what MPI-3 has removed, though the library still has it.
mpicc_all() {
	"mpicc.$mpi" -std=c11 -w -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -DOMPI_SKIP_MPICXX \
		-DMPICH_SKIP_MPICXX "$@"
}

# What mpi.h declares, MPI_X and PMPI_X, each a statement without ( before the name.
header_names() {
	printf '%s\n' "$mpi_h" | mpicc_all -E -P -x c - | tr '\n\t' '  ' | tr ';' '\n' |
		sed -E -e 's/__attribute__ *\(\([^()]*(\([^()]*\))*[^()]*\)\)//g' \
			-e '/^ *typedef/d' -n \
			-e 's/^[A-Za-z_ *]*[ *](P?MPIX?_[A-Za-z0-9_]+) *\(.*/\1/p' | sort -u
}

# redeclare TABLE FUNCTIONS: does mpi.h agree that they are MPI_X and PMPI_X of these types?
redeclare() {
	mkdir -p "$tmp/gen"
	awk -v part=next -v have="$2" -f api/gen.awk "$1" >"$tmp/gen/next_mpi_calls.h"
	cat >"$tmp/redeclare.c" <<'END'
#include "preload/next_mpi.h"
#define NEXT(name, ret, n, decl) \
	ret name decl;           \
	ret P##name decl;
#include "next_mpi_calls.h"
END
	mpicc_all -Isrc -I"$tmp/gen" -fsyntax-only "$tmp/redeclare.c"
}

# doctored NAME SED-SCRIPT: a copy of the table with a mistake
doctored() {
	sed -e "$2" $table >"$tmp/$1"
	! cmp -s $table "$tmp/$1" || explain "$1: nothing to doctor"
	echo "$tmp/$1"
}

# missing FILE TABLE: the functions listed in FILE that the table does not have
missing() {
	table_names "$2" | comm -23 "$1" -
}

# How many there are in the versions of Debian 12.
count_of_version() {
	case $mpi in
	openmpi) _macros="OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION" _want=4.1.4:437 ;;
	mpich) _macros=MPICH_VERSION _want=4.0.2:634 ;;
	esac
	_version=$(printf '#include <mpi.h>\nversion = %s\n' "$_macros" | mpicc_all -E -P -x c - |
		sed -n 's/^version = //p' | tr -d ' "')
	if [ "$_version" = "${_want%:*}" ]; then
		is "$mpi: as many functions as $_version has" "$(wc -l <"$have")" "${_want#*:}"
	else
		skip "$mpi: as many functions as it has" "known for ${_want%:*}, this is $_version"
	fi
}

# Declared, but without a PMPI_X in the C library there is nothing to interpose.
not_interposable() {
	case $mpi in
	openmpi) echo MPIX_Query_cuda_support ;;
	mpich) printf 'MPI_Status_%s\n' c2f08 f082c f082f f2f08 ;; # in the Fortran library
	esac
}

# exported PATTERN: prints the exported functions of the tracer whose names match PATTERN
exported() {
	case $mpi in
	openmpi) _so=${RONDO%/*}/librondo-ompi.so ;;
	mpich) _so=${RONDO%/*}/librondo-mpich.so ;;
	esac
	nm -D --defined-only "$_so" | awk '$2 == "T" { print $3 }' | grep -E "$1" | sort
}

api() {
	have=$tmp/$mpi/functions
	library_names >"$have"
	header_names >"$tmp/$mpi/header"
	count_of_version
	is "$mpi: every function of the library is in the table" "$(missing "$have" $table)" ""
	is "... and wrapped, as MPI_X and as PMPI_X" "$(exported '^P?MPI')" \
		"$({ cat "$have" && sed 's/^/P/' "$have"; } | sort)"
	is "... and every one that the header declares, too" \
		"$(sed 's/^P//' "$tmp/$mpi/header" | sort -u | comm -23 - "$have")" "$(not_interposable)"
	is "... which declares all of them, also as PMPI_X" \
		"$({ cat "$have" && sed 's/^/P/' "$have"; } | sort | comm -23 - "$tmp/$mpi/header")" ""
	ok "... with the parameters that the table has" redeclare $table "$have"
	is "$mpi: the exported functions of the C library are those of posix.api" \
		"$(exported '^([abd-gi-z]|c[^u])')" "$(sed -n 's/^\([a-z].*\)\t.*/\1/p' api/posix.api | sort)"
}

# A test that finds nothing must be able to find something.
finds_mistakes() {
	have=$tmp/$mpi/functions
	is "$mpi: a function that is not in the table is missed" \
		"$(missing "$have" "$(doctored gone '/^MPI_Scan\t/,/^\t.*MPI_Comm/d')")" MPI_Scan
	nok "... and a parameter too few" \
		redeclare "$(doctored few '/^MPI_Scan\t/,/^MPI_Scatter\t/{/\tcount\t/d;}')" "$have"
	like "... by name" "$(cat "$tmp/err")" "conflicting types for .MPI_Scan"
	nok "... and one of another type" \
		redeclare "$(doctored type '/^MPI_Scan\t/,/^MPI_Scatter\t/s/count\tint/count\tlong/')" "$have"
	nok "... and another result" redeclare "$(doctored ret 's/^MPI_Wtime\tdouble/MPI_Wtime\tint/')" "$have"
}

each_mpi api
each_mpi finds_mistakes

is "no function is in the table twice" "$(table_names $table | uniq -d)" ""

# These functions print the traits that the head of the table defines, the traits that rows use, and
# the traits that src/encode/call_traits.h has flags for.
defined_traits() {
	sed -n '/^# A trait/,/^# Parameters/s/^#\t\([a-z][a-z]*\)[= ].*/\1/p' $table | sort
}

used_traits() {
	awk -F '\t' '/^[A-Za-z]/ { print $3 }' $table | tr ' ' '\n' | sed '/^$/d; s/=.*//' | sort -u
}

flags() {
	sed -n 's/^\tRN_IS_\([a-z]*\) =.*/\1/p' src/encode/call_traits.h | sort
}

defined_traits >"$tmp/traits"
is "every trait that a function has is defined at the head of the table" \
	"$(used_traits | comm -23 - "$tmp/traits")" ""
is "call_traits.h has a flag for each trait without a value" "$(flags)" \
	"$(grep -vx -e as -e collective -e bytes "$tmp/traits")"

# refused NAME SED-SCRIPT TEXT: gen.awk refuses the table with this mistake, and prints TEXT
refused() {
	nok "gen.awk refuses $1" awk -v part=table -f api/gen.awk "$(doctored traits "$2")"
	like "... and reports the name" "$(cat "$tmp/err")" "$3"
}

refused "a variant of a function that is not in the table" 's/as=MPI_Put/as=MPI_Puts/' 'no function MPI_Puts'
refused "a number of bytes from a parameter that does not exist" 's/bytes=oldtype/bytes=old/' \
	'MPI_Type_create_resized: no parameter old'

finish
