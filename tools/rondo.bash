# rondo.bash - completion for rondo in bash. Commands and options come from the program's own help.

_rondo_commands() {
	rondo --help 2>/dev/null | sed -En 's/^  ([a-z]+)  .*/\1/p'
}

# _rondo_options COMMAND PATTERN: prints the options whose help line has PATTERN after the name
_rondo_options() {
	rondo "$1" --help 2>/dev/null | sed -En "s/^  (--?[a-z-]+)$2.*/\1/p"
}

# Sets `operands` to the number of arguments before the cursor that are neither options nor option
# values; -1 if the cursor is at an option value. Bash splits --name=value into three words.
_rondo_count_operands() {
	local i=2 word valued
	valued=" $(_rondo_options "$1" ' [A-Z]' | tr '\n' ' ')"
	operands=0
	while ((i < COMP_CWORD)); do
		word=${COMP_WORDS[i++]}
		if [[ $word == -* && ${COMP_WORDS[i]} == '=' ]]; then
			((i += 2))
		elif [[ $word == -* && $valued == *" $word "* ]]; then
			((i++))
		elif [[ $word != -* ]]; then
			((operands++))
		fi
	done
	((i == COMP_CWORD)) || operands=-1
}

_rondo_complete() {
	mapfile -t COMPREPLY < <("$@")
}

_rondo_files() {
	compgen -f -X '!*.rondo' -- "$1"
	compgen -d -X '*.part' -- "$1"
}

# Other directories are offered only if no directory ends in .part.
_rondo_parts() {
	compgen -d -X '!*.part' -- "$1" || compgen -d -- "$1"
}

_rondo_programs() {
	compgen -f -- "$1"
	[[ $1 == */* ]] || compgen -c -- "$1"
}

_rondo() {
	local cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[1]} operands program=-1
	if ((COMP_CWORD == 1)); then
		_rondo_complete compgen -W "help --help --version $(_rondo_commands)" -- "$cur"
		return
	elif [[ $cmd == help ]]; then
		_rondo_complete compgen -W "$(_rondo_commands)" -- "$cur"
		return
	fi
	case $cmd in
	trace) program=0 ;;
	replay) program=1 ;;
	esac
	_rondo_count_operands "$cmd"
	if ((operands == -1 || (program >= 0 && operands > program))); then
		_rondo_complete compgen -f -- "$cur"
	elif [[ $cur == -* ]] && ((operands == 0 || program < 0)); then
		_rondo_complete compgen -W "$(_rondo_options "$cmd" '')" -- "$cur"
	elif ((operands == program)); then
		_rondo_complete _rondo_programs "$cur"
	elif [[ $cmd == recover ]]; then
		_rondo_complete _rondo_parts "$cur"
	else
		_rondo_complete _rondo_files "$cur"
	fi
}
complete -o filenames -F _rondo rondo
