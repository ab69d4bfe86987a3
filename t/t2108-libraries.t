#!/bin/sh
# Calls made by libraries of the program: which are the program's, whatever they are called, and
# which are MPI's; and memory in libraries that come and go.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# talker NAME FLAGS...: a library
talker() {
	_name=$1
	shift
	"mpicc.$mpi" $prog_flags -shared -fPIC -Wl,-soname,"$_name" "$@" -o "$libs/$_name" \
		t/prog/lib_talk.c -ldl
}

# The names are such as MPI's own libraries have.
libraries() {
	libs=$tmp/$mpi
	for name in libmpi_mine.so libmpich_user.so mca_mine.so libmpifort.so; do
		ok "$mpi: $name compiles" talker $name
	done
	ok "... and one that is like a binding" talker libbinding.so -DBINDING
	ok "... and a program for them" build_prog prog_library -rdynamic -Wl,-rpath,"$libs" \
		-L"$libs" -Wl,--no-as-needed -lmpi_mine -ldl
	traced_as_logged "a library that is linked" 2 "$libs/prog_library"
	traced_as_logged "libraries that come and go" 2 "$libs/prog_library" "$libs/libmpich_user.so" \
		"$libs/libbinding.so" "$libs/mca_mine.so" "$libs/libbinding.so" "$libs/libmpifort.so"
}

# MPI's C++ bindings: through their tables of functions, a call comes from their library.
cxx() {
	if ! command -v "mpicxx.$mpi" >/dev/null; then
		skip "$mpi: C++" "mpicxx.$mpi is not installed"
		return
	fi
	cat >"$tmp/cxx.cc" <<'END'
#include <mpi.h>
__attribute__((noipa)) static void meet(MPI::Comm &all) { all.Barrier(); }
int main(int argc, char **argv)
{
	MPI::Init(argc, argv);
	meet(MPI::COMM_WORLD);
	MPI::Finalize();
}
END
	if ! "mpicxx.$mpi" -O2 -w -o "$tmp/$mpi/cxx" "$tmp/cxx.cc" 2>/dev/null; then
		skip "$mpi: C++" "it has no bindings for it"
		return
	fi
	trace=$tmp/$mpi/cxx.rondo
	ok "$mpi: C++" trace_mpi "$trace" 1 "$tmp/$mpi/cxx"
	# Open MPI's objects ask for themselves whether MPI is initialised.
	is "... every call" "$("$RONDO" dump "$trace" | sed -e 's/(.*//' -e 's/.* //' \
		-e '/Initialized/d' | tr '\n' ' ')" "MPI_Init MPI_Barrier MPI_Finalize "
}

# ROMIO makes many calls of its own: in Open MPI from a component that is loaded later, in MPICH
# from the library itself.
romio() {
	cat >"$tmp/io.c" <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_File file;
	int x[4] = { 0 };
	MPI_Init(&argc, &argv);
	MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	MPI_File_write_all(file, x, 4, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_write_ordered(file, x, 4, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	MPI_Finalize();
}
END
	trace=$tmp/$mpi/io.rondo
	ok "$mpi: a program that writes a file compiles" "mpicc.$mpi" -o "$tmp/$mpi/io" "$tmp/io.c"
	OMPI_MCA_io=^ompio
	export OMPI_MCA_io
	ok "... and runs with ROMIO" trace_mpi "$trace" 2 "$tmp/$mpi/io" "$tmp/$mpi/file"
	unset OMPI_MCA_io
	is "... whose calls are not recorded" \
		"$("$RONDO" dump --rank 1 "$trace" | sed -e 's/(.*//' -e 's/.* MPI_//' | tr '\n' ' ')" \
		"Init File_open File_write_all File_write_ordered File_close Finalize "
}

callers() {
	libraries
	cxx
	romio
}

each_mpi callers

finish
