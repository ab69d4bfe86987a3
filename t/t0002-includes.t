#!/bin/sh
# Includes point one way, names are unique, and the tree speaks of nothing outside itself.
. "$(dirname "$0")/lib.sh"

# Each layer may include itself and what stands before it. The public headers (include/rondo) belong
# to read: whoever may include read may include them.
layers="base column grammar rules series track identity encode merge order file intercept read analyse export cmd"

files() {
	{ git ls-files -co --exclude-standard 2>/dev/null ||
		find * -path build -prune -o -type f -print; } |
		while read -r f; do
			[ -f "$f" ] && printf '%s\n' "$f"
		done
}

files >"$tmp/files"
grep '\.[ch]$' "$tmp/files" >"$tmp/c_files"

# "src/rules/walk.c:12:#include "series/units.h"" for each include that points the wrong way.
wrong_includes() {
	grep '^src/' "$tmp/c_files" | xargs grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
		awk -v layers="$layers" '
		BEGIN {
			n = split(layers, name, " ")
			for (i = 1; i <= n; i++)
				rank[name[i]] = i
			rank["rondo"] = rank["read"]
			rank["gen"] = 0 # made from api/
		}
		{
			split($0, part, "\"")
			split($0, file, "/")
			own = file[2]
			to = part[2]
			if (sub(/\/.*/, "", to) == 0)
				to = own
			if (!(own in rank) || !(to in rank) || rank[to] > rank[own])
				print
		}'
}

is "includes point from later layers to earlier ones" "$(wrong_includes)" ""

is "public headers include no private ones" \
	"$(grep '^include/' "$tmp/c_files" | xargs -r grep -Hn '#[[:space:]]*include[[:space:]]*"' |
		grep -v '"rondo/')" ""

is "every folder of src has a place in the order" \
	"$(for d in src/*/; do
		d=${d#src/}
		case " $layers " in *" ${d%/} "*) ;; *) echo "$d" ;; esac
	done)" ""

is "only what runs inside a traced program knows MPI" \
	"$(grep '^src/' "$tmp/c_files" | grep -v -e '^src/intercept/' -e '^src/merge/link_mpi\.' |
		xargs grep -Hn '#[[:space:]]*include[[:space:]]*[<"]mpi\.h')" ""

is "names of C files are unique" "$(sed 's|.*/||' "$tmp/c_files" | sort | uniq -d |
	while read -r name; do grep "/$name\$" "$tmp/c_files"; done)" ""

is "what the library exports has its prefix" \
	"$(nm -g --defined-only "$BUILD/librondo.a" 2>/dev/null |
		awk 'NF == 3 && $3 !~ /^(rn|rondo)_/ { print $3 }')" ""

# The brackets keep this file from naming what it looks for.
is "nothing mentions the place where it was written" \
	"$(xargs grep -HnI -e '[.][.]/[s]hared' -e '[.][l]ibrary' <"$tmp/files")" ""

finish
