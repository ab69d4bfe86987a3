# rondo.bash - completion for rondo in bash. Commands and options come from the program's own help.

_rondo() {
	local cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[1]} words
	if ((COMP_CWORD == 1)); then
		words="help --help --version $(rondo --help 2>/dev/null |
			sed -En 's/^  ([a-z]+)  .*/\1/p')"
	elif [[ $cmd == help ]]; then
		words=$(rondo --help 2>/dev/null | sed -En 's/^  ([a-z]+)  .*/\1/p')
	elif [[ $cur == -* ]]; then
		words=$(rondo "$cmd" --help 2>/dev/null | sed -En 's/^  (--?[a-z-]+).*/\1/p')
	elif [[ $cmd == trace ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur"; [[ $cur == */* ]] || compgen -c -- "$cur")
		return
	else
		mapfile -t COMPREPLY < <(compgen -f -X '!*.rondo' -- "$cur"; compgen -d -- "$cur")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o filenames -F _rondo rondo
