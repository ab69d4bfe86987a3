#!/bin/sh
# Completion in bash: the words that tools/rondo.bash offers at each position of the command line.
. "$(dirname "$0")/lib.sh"

command -v bash >/dev/null || skip_all "bash is not installed"
cd "$tmp" || exit 1
touch run.rondo program
mkdir run.rondo.part dir dir/other.rondo.part
PATH=${RONDO%/*}:$PATH

# offered WORD...: prints the words that are offered for the last WORD, in one line
offered() {
	bash -c '. "$0"/tools/rondo.bash
		COMP_WORDS=(rondo "$@") COMP_CWORD=$#
		_rondo
		((${#COMPREPLY[@]} == 0)) || printf "%s\n" "${COMPREPLY[@]}"' "$root" "$@" | LC_ALL=C sort -u | tr '\n' ' '
}

is "rondo r: commands" "$(offered r)" "recover replay report "
is "dump: traces, and directories except journal directories" "$(offered dump '')" "dir run.rondo "
is "recover: directories *.part, and no *.rondo" "$(offered recover '')" "run.rondo.part "
is "... completes the name of another directory first" "$(offered recover d)" "dir "
is "... and then offers *.part directories in it" "$(offered recover dir/)" "dir/other.rondo.part "
is "replay: traces" "$(offered replay '')" "dir run.rondo "
like "replay FILE: files" "$(offered replay run.rondo '')" "(^| )program "
like "replay FILE: commands" "$(offered replay run.rondo en)" "(^| )env "
like "replay: options" "$(offered replay --)" "(^| )--mpi "
is "replay FILE: no options, because rondo does not read options there" \
	"$(offered replay run.rondo --)" ""
like "trace: options" "$(offered trace --)" "(^| )--time "
is "trace PROGRAM: no options" "$(offered trace mpirun --)" ""
is "... after options with values" "$(offered trace -o x.rondo --time none --values mpirun -)" ""
is "... with values after an equals sign" "$(offered trace --time = none mpirun -)" ""
is "... after replay FILE PROGRAM" "$(offered replay --mpi ompi run.rondo mpirun -n)" ""
is "trace PROGRAM: files" "$(offered trace mpirun p)" "program "
like "trace -o FILE: options" "$(offered trace -o x.rondo --t)" "(^| )--time "
like "trace -o FILE: commands" "$(offered trace -o x.rondo en)" "(^| )env "
is "trace -o: files" "$(offered trace -o run.r)" "run.rondo run.rondo.part "
like "dump FILE: options" "$(offered dump run.rondo --)" "(^| )--rank "

cd "$root" || exit 1
finish
