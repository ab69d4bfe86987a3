#!/bin/sh
# Call sites: the stack of every call, however the program was compiled, the same in every run and on
# every rank, with names where the program can be found.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# library NAME FLAGS...: $libs/libNAME.so, with the function NAME
library() {
	_lib=$1
	shift
	"mpicc.$mpi" $prog_flags "$@" -shared -fPIC -DNAME="$_lib" -Wl,-soname,"lib$_lib.so" \
		-o "$libs/lib$_lib.so" t/prog/site_lib.c
}

build_site() {
	library site_linked "$@" && library site_loaded "$@" &&
		build_prog prog_site "$@" -Wl,-rpath,"$libs" -L"$libs" -Wl,--no-as-needed -lsite_linked -ldl
}

# stacks FILE: of rank 0, "CALL: function < function"; of names in the C library nothing but that
stacks() {
	"$RONDO" dump "$1" --rank 0 | sed -E -e 's/^[^ ]+ [0-9]+ (MPI_[A-Za-z_]+)\(.* at /\1: /' \
		-e 's/\+0x[0-9a-f]+( \([^)]*\))?//g' -e 's/ < ([^ ]*[qm]sort[^ ]*|libc\.[^ ]*)//g'
}

expected() {
	cat <<'END'
MPI_Init_thread: main
MPI_Comm_rank: main
MPI_Comm_rank: two_lines < main
MPI_Comm_rank: two_lines < main
MPI_Barrier: recurse < recurse < recurse < main
MPI_Barrier: recurse < recurse < recurse < main
MPI_Barrier: recurse < recurse < recurse < main
MPI_Bcast: any_size < aligned < main
MPI_Bcast: any_size < aligned < main
MPI_Bcast: any_size < aligned < main
MPI_Bcast: any_size < aligned < main
MPI_Bcast: any_size < aligned < main
MPI_Comm_dup: by_mpi < main
MPI_Comm_create_keyval: by_mpi < main
MPI_Comm_set_attr: by_mpi < main
MPI_Comm_free: by_mpi < main
MPI_Comm_size: deleted < by_mpi < main
MPI_Comm_free_keyval: by_mpi < main
MPI_Initialized: compare < by_libc < main
MPI_Comm_size: site_linked < by_libraries < main
MPI_Comm_size: site_loaded < by_libraries < main
MPI_Initialized: on_context
MPI_Finalize: main
MPI_Finalized: on_thread
END
}

# hashes FILE: of the sections that have no times in them, by their types
hashes() {
	perl -e '
		local $/; my $f = <>; my $n = unpack("V", substr($f, -8, 4));
		my @b = unpack("C*", substr($f, -16 - $n, $n));
		sub v { my ($v, $s, $c) = (0, 0); do { $c = shift @b; $v |= ($c & 127) << $s; $s += 7 } while $c > 127; $v }
		for (1 .. v()) {
			my $tag = v(); v(); v() if $tag & 3;
			my $h = join "", map { sprintf "%02x", $_ } splice @b, 0, 8;
			print $tag >> 3, " $h\n" unless $tag >> 3 == 1 || $tag >> 3 == 11;
		}' "$1"
}

# site_trace FILE OPTION...: $prog on 4 ranks; what it prints to $tmp/out
site_trace() {
	_file=$1
	shift
	with_yield t/limit 120 "$RONDO" trace -o "$_file" "$@" "mpirun.$mpi" -n 4 "$prog" \
		"$libs/libsite_loaded.so" >"$tmp/out"
}

# compiled FLAGS...: all of it, with a program that is compiled so
compiled() {
	libs=$tmp/$mpi prog=$tmp/$mpi/prog_site trace=$tmp/$mpi/site.rondo
	ok "$mpi: prog_site compiles with $*" build_site "$@"
	ok "... and is traced" site_trace "$trace" --callsite
	ok "... soundly" "$RONDO" check "$trace"
	expected >"$tmp/want"
	stacks "$trace" >"$tmp/got"
	ok "... with the stack of every call" diff "$tmp/want" "$tmp/got"
	is "... the same on all ranks" "$("$RONDO" info "$trace" | grep ^groups:)" "groups: 2"
	mv "$tmp/out" "$tmp/out1"
	hashes "$trace" >"$tmp/hashes1"
	ok "... again" site_trace "$trace" --callsite
	if diff "$tmp/out1" "$tmp/out" >/dev/null; then
		skip "... at other addresses" "addresses are not random here"
	else
		hashes "$trace" >"$tmp/hashes"
		ok "... at other addresses gives the same trace" diff "$tmp/hashes1" "$tmp/hashes"
	fi
}

# With what the compilation before this one has left.
options() {
	ok "$mpi: two lines of one function are two places" test "$("$RONDO" dump "$trace" --json --rank 0 \
		--from 2 --to 4 | grep -o 'prog_site.c:[0-9]*' | sort -u | wc -l)" = 3
	like "... as JSON" "$("$RONDO" dump "$trace" --json --rank 0 --to 1)" \
		'"ret":0,"site":\["main\+0x[0-9a-f]+ \(prog_site.c:[0-9]+\)"\]\}$'

	ok "$mpi: one frame" site_trace "$trace" --callsite=1
	sed 's/ < .*//' "$tmp/want" >"$tmp/want1"
	stacks "$trace" >"$tmp/got"
	ok "... is the caller" diff "$tmp/want1" "$tmp/got"

	ok "$mpi: frames that are ignored" site_trace "$trace" --callsite --callsite-ignore='libc.so*,libsite_*.so'
	like "... are left out" "$("$RONDO" dump "$trace" --rank 0)" 'MPI_Comm_size\([^)]*\) = 0 at by_libraries'
	like "... and the others are not" "$("$RONDO" dump "$trace" --rank 0)" 'at compare[^<]*< by_libc'

	mv "$prog" "$prog.away"
	like "$mpi: without the program, modules and offsets" "$("$RONDO" dump "$trace" --rank 0 --to 1)" \
		' at prog_site\+0x[0-9a-f]+$'
	cp "$libs/libsite_linked.so" "$prog"
	like "... and with one that is not it" "$("$RONDO" dump "$trace" --rank 0 --to 1)" \
		' at prog_site\+0x[0-9a-f]+$'
	mv "$prog.away" "$prog"

	ok "$mpi: without --callsite" site_trace "$trace"
	unlike "... nothing is there" "$("$RONDO" dump "$trace")$("$RONDO" info --sections "$trace")" \
		' at [a-z]|section.sites|module\.'
}

# Killed in a call that is made inside another: both and the others have their stacks.
killed() {
	rm -rf "$trace" "$trace.part"
	with_yield t/limit 120 "$RONDO" trace --callsite -o "$trace" "$prog" "$libs/libsite_loaded.so" die \
		>"$tmp/out" 2>"$tmp/err"
	stacks "$trace" >"$tmp/got"
	sed '/Comm_free_keyval/,$d' "$tmp/want" >"$tmp/want2"
	ok "$mpi: killed, and still with the stack of every call" diff "$tmp/want2" "$tmp/got"
}

# Through the bindings, of which nothing is shown.
fortran() {
	if ! command -v "mpifort.$mpi" >/dev/null; then
		skip "$mpi: Fortran" "mpifort.$mpi is not installed"
		return
	fi
	cat >"$tmp/site.f90" <<'END'
subroutine meet()
  use mpi
  implicit none
  integer :: ierr
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
end subroutine
program sites
  use mpi
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
  call meet()
  call MPI_Finalize(ierr)
end program
END
	ok "$mpi: a Fortran program compiles" "mpifort.$mpi" -O0 -g -o "$tmp/$mpi/site_f" "$tmp/site.f90"
	ok "... and is traced" with_yield t/limit 120 "$RONDO" trace --callsite -o "$trace" "mpirun.$mpi" -n 2 \
		"$tmp/$mpi/site_f"
	stacks "$trace" | sed 's/MAIN__ < main/sites/' >"$tmp/got"
	is "... from its own lines" "$(cat "$tmp/got")" "MPI_Init: sites
MPI_Barrier: meet_ < sites
MPI_Finalize: sites"
}

# slack_trace OPTION...: prog_slack on 3 ranks to $trace
slack_trace() {
	with_yield t/limit 120 "$RONDO" trace -o "$trace" --callsite "$@" "mpirun.$mpi" -n 3 "$prog" $steps 2>"$tmp/err"
}

# size: bytes of all sections but times
size() {
	"$RONDO" info --sections "$trace" | awk '/^section/ && !/[.](time|times|container):/ { n += $2 } END { print n }'
}

# same_calls: $trace is sound, and shows what one without slack does
same_calls() {
	ok "... is sound" "$RONDO" check "$trace"
	"$RONDO" dump "$trace" >"$tmp/got"
	ok "... with the stack of every call of every rank" cmp "$tmp/want" "$tmp/got"
}

# Stacks that differ in some frames: the trace is smaller, and shows the same.
slack() {
	prog=$tmp/$mpi/prog_slack trace=$tmp/$mpi/slack.rondo steps=400
	ok "$mpi: prog_slack compiles" build_prog prog_slack -O2
	ok "... and is traced" slack_trace
	"$RONDO" dump "$trace" >"$tmp/want"
	_all=$(size)
	is "... by many ways" "$(grep -o 'Allreduce.*' "$tmp/want" | sort -u | wc -l)" 16
	for _frames in 1 4; do
		ok "$mpi: stacks that differ in $_frames frames" slack_trace --callsite-slack=$_frames
		same_calls
		_some=$(size)
		ok "... are much smaller ($_all, $_some bytes)" test $((3 * _some)) -lt $((2 * _all))
	done
	ok "... with numbers as they are" slack_trace --callsite-slack=4 --no-elastic
	same_calls
	ok "... with arguments that are not exact" slack_trace --callsite-slack=4 --lossy=params:20
	ok "... is sound" "$RONDO" check "$trace"
	"$RONDO" dump "$trace" 2>/dev/null | sed 's/count=[0-9]*/count/' >"$tmp/got"
	sed -i 's/count=[0-9]*/count/' "$tmp/want"
	ok "... but stacks are" cmp "$tmp/want" "$tmp/got"
}

# alone WORD OPTION...: on one rank, where it is killed at the same place each time
alone() {
	_word=$1
	shift
	rm -rf "$trace" "$trace.part"
	with_yield t/limit 120 "$RONDO" trace -o "$trace" --callsite "$@" "$prog" $steps $_word >"$tmp/out" 2>"$tmp/err"
}

# Killed between calls, and in one; and in segments.
slack_in_parts() {
	for _how in between inside; do
		alone $_how
		"$RONDO" dump "$trace" >"$tmp/want"
		alone $_how --callsite-slack=4
		like "$mpi: killed $_how calls" "$(cat "$tmp/err")" 'not complete: 0'
		same_calls
	done
	like "... of which the last one is shown, too" "$(tail -n 1 "$tmp/got")" ' = \? unfinished at work.* < way'
	steps=3000
	alone ''
	"$RONDO" dump "$trace" >"$tmp/want"
	alone '' --callsite-slack=4 --memory 1M
	like "$mpi: with little memory" "$(cat "$tmp/err")" 'is made from parts'
	same_calls
}

all() {
	compiled -O0
	compiled -O2 -fomit-frame-pointer
	options
	killed
	slack
	slack_in_parts
	fortran
}

each_mpi all

for bad in --callsite=0 --callsite=65 --callsite=x '--callsite --callsite-ignore=libc:1' --callsite-ignore=libc \
	--callsite-slack=1 '--callsite --callsite-slack=0' '--callsite --callsite-slack=65'; do
	$RONDO trace $bad true >/dev/null 2>"$tmp/err"
	is "$bad is refused" "$? $(wc -l <"$tmp/err")" "2 1"
done

# C++ names are demangled. One symbol expands to a name of 2^60 bytes.
demangled() {
	cat >"$tmp/names.c" <<'END'
#include <mpi.h>
__attribute__((noipa)) void step(int n) __asm__("_ZN6solver4stepEi");
void step(int n)
{
	int m;
	MPI_Sendrecv(&n, 1, MPI_INT, 0, 1, &m, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	__asm__("");
}
#ifdef HUGE
__attribute__((noipa)) void huge(void) __asm__(HUGE);
void huge(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__(""); }
#endif
int main(void)
{
	MPI_Init(0, 0);
	step(1);
#ifdef HUGE
	huge();
#endif
	return MPI_Finalize();
}
END
	prog=$tmp/$mpi/names trace=$tmp/$mpi/names.rondo
	"mpicc.$mpi" -o "$prog" "$tmp/names.c"
	run with_yield "$root/t/limit" 120 "$RONDO" trace --callsite -o "$trace" "mpirun.$mpi" -n 1 "$prog"
	if [ -e "$(cc -print-file-name=libstdc++.so.6)" ]; then
		ok "$mpi: dump reads the trace of a C++ program" "$RONDO" dump "$trace"
		like "... prints demangled names" \
			"$(cat "$tmp/out")" 'MPI_Sendrecv.* at solver::step\(int\)\+0x[0-9a-f]+ < main\+'
		like "... prints demangled names in JSON" \
			"$("$RONDO" dump --json "$trace")" '"site":\["solver::step\(int\)\+0x'
	else
		skip "$mpi: demangled names" "libstdc++.so.6 is not installed"
	fi
	rm "$prog"
	ok "$mpi: dump succeeds without the traced program" "$RONDO" dump "$trace"
	is "... prints one message about missing names" \
		"$(grep -c "names have no names: .*/names: No such file or directory" "$tmp/err")" 1
	cp /bin/sh "$prog"
	run "$RONDO" dump "$trace"
	like "... or a message that the file has another build id" \
		"$(cat "$tmp/err")" 'names have no names: .*/names has another build id'
	"mpicc.$mpi" -s -o "$prog" "$tmp/names.c"
	run with_yield "$root/t/limit" 120 "$RONDO" trace --callsite -o "$trace" "mpirun.$mpi" -n 1 "$prog"
	run "$RONDO" dump "$trace"
	like "... or a message that the file has no symbols" \
		"$(cat "$tmp/err")" 'some call sites in names have no names: .* no symbols'
	run with_yield "$root/t/limit" 120 "$RONDO" trace --only=order -o "$trace" "mpirun.$mpi" -n 1 "$prog"
	rm "$prog"
	ok "$mpi: report succeeds without the traced program" "$RONDO" report "$trace"
	is "... prints one message about missing names" \
		"$(grep -c "names have no names: .*/names: No such file or directory" "$tmp/err")" 1
}

# huge_name: prints the symbol of B<A, A>, B<B<A, A>, B<A, A>> and so on. Each type contains two
# references to the previous type.
huge_name() {
	awk 'BEGIN {
		s = "_Z1f1A1BIS_S_E"
		for (i = 1; i < 30; i++) {
			c = substr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", i + 1, 1)
			s = s "S0_IS" c "_S" c "_E"
		}
		print s
	}'
}

hostile_name() {
	prog=$tmp/$mpi/huge trace=$tmp/$mpi/huge.rondo
	"mpicc.$mpi" -DHUGE="\"$(huge_name)\"" -o "$prog" "$tmp/names.c"
	run with_yield "$root/t/limit" 120 "$RONDO" trace --callsite -o "$trace" "mpirun.$mpi" -n 1 "$prog"
	ok "$mpi: dump succeeds if a symbol expands to a huge name" \
		"$root/t/limit" 60 "$RONDO" dump "$trace"
	like "... prints the mangled name" "$(cat "$tmp/out")" ' at _Z1f1A1BIS_S_E'
	is "... and prints one message" "$(grep -c 'C++ names remain mangled' "$tmp/err")" 1
}

each_mpi demangled
each_mpi hostile_name

finish
