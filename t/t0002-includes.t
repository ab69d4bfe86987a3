#!/bin/sh
# Includes point one way, names are unique, and the tree speaks of nothing outside itself.
. "$(dirname "$0")/lib.sh"

# A directory may include itself and the directories before it. What runs inside the traced program
# is a second list that begins like the first one. The public headers (include/rondo) belong to read:
# a directory that may include read may include them.
common="base column grammar rules series identity track encode order model file journal merge read recover"
command="$common analysis report export launch cmd"
in_process="$common runtime preload trace record replay tracer"

files() {
	{ git ls-files -co --exclude-standard 2>/dev/null ||
		find * -path build -prune -o -type f -print; } |
		while read -r f; do
			[ -f "$f" ] && printf '%s\n' "$f"
		done
}

files >"$tmp/files"
grep '\.[ch]$' "$tmp/files" >"$tmp/c_files"

# "src/rules/rule_walk.c:12:#include "series/units.h"" for each include that points the wrong way.
wrong_includes() {
	grep '^src/' "$tmp/c_files" | xargs grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
		awk -v command="$command" -v in_process="$in_process" '
		function number(list, place,   name, n, i) {
			n = split(list, name, " ")
			for (i = 1; i <= n; i++)
				place[name[i]] = i
			place["rondo"] = place["read"]
			place["gen"] = 0 # made from api/
		}
		function permits(place, from, to) {
			return from in place && to in place && place[to] <= place[from]
		}
		BEGIN {
			number(command, in_command)
			number(in_process, in_tracer)
		}
		{
			split($0, part, "\"")
			split($0, file, "/")
			own = file[2]
			to = part[2]
			if (sub(/\/.*/, "", to) == 0)
				to = own
			if (!permits(in_command, own, to) && !permits(in_tracer, own, to))
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
		case " $command $in_process " in *" ${d%/} "*) ;; *) echo "$d" ;; esac
	done)" ""

is "only what runs inside a traced program knows MPI" \
	"$(grep '^src/' "$tmp/c_files" | grep -v -E -e '^src/(runtime|preload|trace|record|replay|tracer)/' \
		-e '^src/merge/merge_tree_mpi\.' |
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
