# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# bash(1) completes the command line of iotracer, by what `iotracer complete` prints (tools/cmd/complete.c).

# _iotracer_files -f|-d BEGINNING: add files or directories, whose names are behind BEGINNING in the word
_iotracer_files() {
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "$1" -P "$2" -- "${whole#"$2"}")
}

_iotracer() {
	local words=() whole word i glue='' LC_ALL=C

	# Bash splits at = and : what is one word: put it together again.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word =~ ^[=:]+$ && ${#words[@]} -gt 0 ]]; then
			words[-1]+=$word
			glue=1
		elif [ -n "$glue" ]; then
			words[-1]+=$word
			glue=''
		else
			words+=("$word")
		fi
	done
	whole=${words[-1]}
	COMPREPLY=()
	while IFS= read -r word; do
		case $word in
		$'\tcommand\t'*) mapfile -t COMPREPLY < <(compgen -c -f -- "$whole") ;;
		$'\tdirectories\t'*) _iotracer_files -d "${word##*$'\t'}" ;;
		$'\tfiles\t'*) _iotracer_files -f "${word##*$'\t'}" ;;
		*) COMPREPLY+=("${word%%$'\t'*}") ;;
		esac
	done < <("$1" complete -- "${words[@]}" 2>/dev/null)
	# Bash replaces only what is behind the last = or :.
	[[ ! $whole =~ ^(.*[=:]) ]] || COMPREPLY=("${COMPREPLY[@]#"${BASH_REMATCH[1]}"}")
	# A condition goes on behind its =.
	[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}

complete -o filenames -F _iotracer iotracer
