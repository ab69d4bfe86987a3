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
	with_yield timeout 120 "$RONDO" trace -o "$_file" "$@" "mpirun.$mpi" -n 4 "$prog" \
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
	with_yield timeout 120 "$RONDO" trace --callsite -o "$trace" "$prog" "$libs/libsite_loaded.so" die \
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
	ok "... and is traced" with_yield timeout 120 "$RONDO" trace --callsite -o "$trace" "mpirun.$mpi" -n 2 \
		"$tmp/$mpi/site_f"
	stacks "$trace" | sed 's/MAIN__ < main/sites/' >"$tmp/got"
	is "... from its own lines" "$(cat "$tmp/got")" "MPI_Init: sites
MPI_Barrier: meet_ < sites
MPI_Finalize: sites"
}

all() {
	compiled -O0
	compiled -O2 -fomit-frame-pointer
	options
	killed
	fortran
}

each_mpi all

for bad in --callsite=0 --callsite=65 --callsite=x '--callsite --callsite-ignore=libc:1' --callsite-ignore=libc; do
	$RONDO trace $bad true >/dev/null 2>"$tmp/err"
	is "$bad is refused" "$? $(wc -l <"$tmp/err")" "2 1"
done

finish
