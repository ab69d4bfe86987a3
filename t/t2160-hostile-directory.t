#!/bin/sh
# Several users can write to the directory of a trace, and one of them plants links, directories, FIFOs,
# hard links and status files there. A run creates, changes, reads and removes only its own files, and
# no other user can open its part files.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

other=47110 # a user id and group id without an account

# as_other COMMAND...: runs the command as the other user
as_other() {
	setpriv --reuid=$other --regid=$other --clear-groups "$@"
}

for mpi in mpich openmpi none; do
	[ $mpi = none ] || [ -n "$(mpi_missing $mpi)" ] || break
done
[ $mpi != none ] || skip_all "there is no MPI"
mkdir "$tmp/$mpi"
prog=$tmp/$mpi/prog_system
case $mpi in
openmpi) tracer=${RONDO%/*}/librondo-ompi.so ;;
mpich) tracer=${RONDO%/*}/librondo-mpich.so ;;
esac
ok "prog_system compiles" "mpicc.$mpi" $prog_flags -o "$prog" t/prog/prog_system.c
ok "default_acl compiles" cc -o "$tmp/default_acl" t/prog/default_acl.c
chmod 755 "$tmp" "$tmp/$mpi"
with_yield : # builds the library that later calls of with_yield use

# kinds of directories: "NAME MODE"
kinds="sticky:1777 group-writable:0770 setgid:2775"
masks="000 002 022 077"

# new_place KIND MASK: creates the directory $place, and files of this user in $place/victim.part
new_place() {
	place=$tmp/$1-$2
	mkdir -p "$place/victim.part"
	echo precious >"$place/victim.part/keep"
	echo precious >"$place/victim.part/0000000000000001-host"
	echo precious >"$place/victim.part/0123456789abcdef-host"
	chmod 755 "$place/victim.part"
}

# open_place KIND:MODE: sets the mode of $place, so that the other user can write to it
open_place() {
	[ "$(id -u)" -ne 0 ] || chgrp $other "$place"
	chmod "${1#*:}" "$place"
}

# state: prints names, owners, modes, times and contents of all files that the run did not create
state() {
	(
		cd "$place" || exit
		find victim.part link.[2-6].rondo* link.rondo.part old.rondo.old.part \
			-printf '%p %U %G %m %n %T@ %l\n' 2>/dev/null | sort
		cat victim.part/*
	)
}

# traced NAME COMMAND [kill]: runs the program under `rondo trace`
traced() {
	_name=$1
	shift
	(
		umask "$mask"
		cd "$place" && with_yield "$root/t/limit" 60 "$RONDO" trace -o "$_name.rondo" "$prog" "$@"
	) >"$tmp/out" 2>"$tmp/err"
}

# plant: creates entries with the names that runs with the outputs link.rondo and old.rondo would use
plant() {
	as_planter ln -s victim.part "$place/link.rondo.part"
	as_planter mkdir -m 777 "$place/link.2.rondo.part"
	as_planter sh -c 'echo x >"$1/link.2.rondo.part/0123456789abcdef-host"' sh "$place"
	as_planter mkfifo "$place/link.3.rondo.part"
	ln "$place/victim.part/keep" "$place/link.4.rondo.part"
	as_planter ln -s victim.part/keep "$place/link.5.rondo"
	ln "$place/victim.part/keep" "$place/link.6.rondo"
	mkdir -m 700 "$place/old.rondo.part"
	as_planter ln -s victim.part "$place/old.rondo.old.part"
}

as_planter() {
	if [ "$(id -u)" -eq 0 ]; then
		as_other "$@"
	else
		"$@"
	fi
}

# A script of the other user: replaces status files with files that name part files and a trace of this
# user.
cat >"$tmp/replace" <<'END'
#!/bin/sh
cd "$1" || exit
mkdir .planted
for name in .rondo-run.* .rondo-status.*; do
	mv "$name" .planted/ 2>/dev/null || continue
	case $name in
	.rondo-run.*) mkdir "$name" && to=$name/status ;;
	*) to=$name ;;
	esac
	printf 'rondo-status 1\nspool 0000000000000001 %s/victim.part\n' "$1" >"$to"
	printf 'traced 0000000000000001 %s/victim.part/keep\nspool 1 %s/victim.part\n' "$1" "$1" >>"$to"
	printf 'traced %s/victim.part/keep\n' "$1" >>"$to"
	chmod 666 "$to"
done
END

# A script that runs during the program: prints the modes of the part files, and whether the other user
# can open them.
cat >"$tmp/look" <<'END'
cd "$1" || exit
stat -c '%a %U' modes.rondo.part modes.rondo.part/*
setpriv --reuid=$2 --regid=$2 --clear-groups sh -c 'cat modes.rondo.part/* || ls modes.rondo.part || cat .rondo-run.*/status' 2>/dev/null &&
	echo "the other user can open it"
:
END

# planted_runs KIND:MODE MASK
planted_runs() {
	mask=$2
	new_place "${1%:*}" "$mask"
	open_place "$1"
	plant
	_before=$(state)
	_bad=
	for _name in link old; do
		traced $_name : || _bad="$_bad $_name:$?"
	done
	is "${1%:*}, umask $mask: runs with planted names are traced" "$_bad" ""
	ok "... the trace gets the first number that was not planted" "$RONDO" check "$place/link.7.rondo"
	ok "... a name that was not planted is used without a number" "$RONDO" check "$place/old.rondo"
	is "... no planted file is changed" "$(state)" "$_before"
	is "... no other file is left" \
		"$(cd "$place" && ls -A | grep -v -e '^victim' -e '^link\.' -e '^old\.rondo$' -e '^old\.rondo\.old\.part$')" ""
}

# private_parts KIND:MODE MASK: tests that require root
private_parts() {
	traced modes "sh '$tmp/look' '$place' $other"
	is "${1%:*}, umask $2: part files are private" "$(sort -u "$tmp/out")" "600 root
700 root"
	_before=$(state)
	traced status "setpriv --reuid=$other --regid=$other --clear-groups sh '$tmp/replace' '$place'; :"
	is "... a planted status file changes nothing" "$(state)" "$_before"
	rm -rf "$place/.planted"
}

chmod 755 "$tmp/replace" "$tmp/look"
for _kind in $kinds; do
	for _mask in $masks; do
		planted_runs "$_kind" "$_mask"
		if [ "$(id -u)" -eq 0 ]; then
			private_parts "$_kind" "$_mask"
		else
			skip "${_kind%:*}, umask $_mask: part files are private" "only root can be another user"
		fi
	done
done

# --- other directories for part files --------------------------------------------------------

# spilled NAME OPTION...
spilled() {
	_name=$1
	shift
	(cd "$place" && with_yield "$root/t/limit" 60 "$RONDO" trace -o "$_name.rondo" "$@") >"$tmp/out" 2>"$tmp/err"
}

mask=022
new_place spill 022
mkdir -m 1777 "$place/spill"
as_planter ln -s ../victim.part "$place/spill/x.rondo.part"
_before=$(state)
ok "a run with a planted link in the directory of --spill" spilled x --spill "$place/spill" "$prog" :
ok "... the trace gets the next number" "$RONDO" check "$place/x.2.rondo"
is "... no planted file is changed" "$(state)" "$_before"
is "... no other file is left" "$(ls -A "$place/spill")" x.rondo.part

# The trace is on another machine, so the part directory is in memory. Then a link is planted there.
name=hostile-$$
trap 'rm -rf /dev/shm/$name.rondo-*.part /dev/shm/$name.2.rondo-*.part; at_exit' EXIT
ok "the preload for remote directories compiles" cc -D_GNU_SOURCE -shared -fPIC -o "$tmp/remote.so" t/prog/remote_preload.c
ok "a trace on another machine" env LD_PRELOAD="$tmp/remote.so" REMOTE_FOLDER="$place" \
	"$RONDO" trace -o "$place/$name.rondo" "$prog" "stat -c '%a %n' /dev/shm/$name.rondo-*.part"
like "... its directory in memory is private" "$(cat "$tmp/out")" '^700 /dev/shm/'
_memory=$(sed 's/^700 //' "$tmp/out")
as_planter ln -s "$place/victim.part" "$_memory"
ok "a run with a planted link in place of this directory" env LD_PRELOAD="$tmp/remote.so" REMOTE_FOLDER="$place" \
	"$RONDO" trace -o "$place/$name.rondo" "$prog" :
ok "... the trace gets the next number" "$RONDO" check "$place/$name.2.rondo"
is "... no planted file is changed" "$(state)" "$_before"
ok "... the link is not removed" test -L "$_memory"
rm "$_memory"

# --- ACLs ------------------------------------------------------------------------------------

mask=022
new_place acl 022
if [ "$(id -u)" -ne 0 ]; then
	skip "a default ACL does not open part files" "only root can be another user"
elif "$tmp/default_acl" "$place" $other; then
	open_place acl:0777
	traced modes "sh '$tmp/look' '$place' $other"
	is "a default ACL does not open part files" "$(sort -u "$tmp/out")" "600 root
700 root"
else
	skip "a default ACL does not open part files" "the file system has no ACLs"
fi

# --- variables -------------------------------------------------------------------------------

new_place variables 022
_before=$(state)
for _variable in RONDO_STATUS RONDO_OUTPUT; do
	(cd "$place" && env "$_variable=$place/victim.part/keep" LD_PRELOAD="$tracer" "$prog" :) >"$tmp/out" 2>&1
	rm -f "$place"/victim.part/keep.2 "$place"/*.rondo
	is "$_variable does not make the tracer change a file" "$(state | sed 1d)" "$(printf '%s\n' "$_before" | sed 1d)"
done
(cd "$place" && RONDO_STATUS=$place/victim.part/keep "$RONDO" trace "$prog" :) >"$tmp/out" 2>&1
is "RONDO_STATUS does not make rondo change a file" "$(state | grep keep)" "$(printf '%s\n' "$_before" | grep keep)"
ok "... and the trace is written" "$RONDO" check "$place/prog_system.rondo"

finish
