# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# bash(1) completes the command line of iotracer. Commands and options are those that
# the tool that is about to run tells of.

# _iotracer_commands TOOL
_iotracer_commands() {
	"$1" --help 2>/dev/null | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# _iotracer_options TOOL COMMAND
_iotracer_options() {
	"$1" "$2" --help 2>/dev/null | sed -n 's/^ *\(-.,\)\{0,2\} *\(--[a-z-]*\).*/\2/p'
}

# _iotracer_categories TOOL
_iotracer_categories() {
	"$1" format --columns 2>/dev/null | cut -f 1 | uniq | grep -vx log
}

# _iotracer_kernels: those that are installed
_iotracer_kernels() {
	find /lib/modules -mindepth 1 -maxdepth 1 -printf '%f\n' 2>/dev/null
}

# _iotracer_traces TOOL traces [ACTION...]: what can follow
_iotracer_traces() {
	case " ${*:3} " in
	*" list "* | *" show "* | *" path "* | *" verify "* | *" merge "* | *" remove "*)
		"$1" traces list 2>/dev/null | sed -n '2,$s/ .*//p' ;;
	*) echo list show path verify merge remove ;;
	esac
}

# _iotracer_machines TOOL vm [ACTION...]: what can follow
_iotracer_machines() {
	case " ${*:3} " in
	*" show "*) "$1" vm list 2>/dev/null | sed -n '2,$s/ .*//p' | grep -vx - ;;
	*" list "*) ;;
	*) echo list show ;;
	esac
}

# _iotracer_units: services and scopes of systemd that run
_iotracer_units() {
	find /sys/fs/cgroup -type d \( -name '*.service' -o -name '*.scope' \) -printf '%f\n' 2>/dev/null | sort -u
}

# _iotracer_containers: names of those that run
_iotracer_containers() {
	podman ps --format '{{.Names}}' 2>/dev/null
	docker ps --format '{{.Names}}' 2>/dev/null
	return 0
}

# _iotracer_value TOOL COMMAND OPTION: what can follow it, or that it is none that we know
_iotracer_value() {
	case $2:$3 in
	*:--color) echo always auto never ;;
	log:-f | log:--format) echo text csv json fuse ;;
	export:-f | export:--format) echo csv json fuse ;;
	join:-f | join:--format) echo text csv json ;;
	*:--format | list:-f | status:-f | profile:-f | doctor:-f | traces:-f | vm:-f | map:-f) echo text json ;;
	*:--image-format) echo raw qcow2 ;;
	*:--columns) echo own io-tracer ;;
	record:-z | record:--compress) echo end now never ;;
	doctor:-k | doctor:--kernel) _iotracer_kernels ;;
	*:--pid) (cd /proc && printf '%s\n' [0-9]*) ;;
	*:--unit) _iotracer_units ;;
	*:--container) _iotracer_containers ;;
	*:--vm) _iotracer_machines "$1" vm show ;;
	record:--device) ls /sys/class/block ;;
	record:-c | record:--categories) _iotracer_categories "$1" && echo all ;;
	export:--category) _iotracer_categories "$1" ;;
	record:-f | record:--filter)
		printf '%s=\n' pid tid comm uid cgroup tree dev inode op kind min_latency min_size rejected ;;
	snapshot:--depth | record:--snapshot-depth) echo all ;;
	record:-o | record:--output | record:--snapshot-root | traces:-o | traces:--output | join:-o | join:--output | snapshot:-o | snapshot:--output | export:-o | export:--output | export:--below | export:--guest-image | *:--key-file | *:--cgroup) echo FILE ;;
	*:--time | *:--size | *:--buffer | *:--sample | record:-l | *:--label | *:--tag | *:--rotate | *:--keep | *:--window | *:--watch | *:--snapshot-*-interval | traces:--offset | join:-n | join:--slowest | join:--drift | join:--disk | \
		*:--comm | add:-n | add:--max-events) echo '' ;;
	*) return 1 ;;
	esac
}

_iotracer() {
	local tool=$1 current=${COMP_WORDS[COMP_CWORD]} previous='' command='' words i

	((COMP_CWORD < 1)) || previous=${COMP_WORDS[COMP_CWORD - 1]}
	# --format=json comes as three words.
	[ "$current" != = ] || current=''
	[ "$previous" != = ] || previous=${COMP_WORDS[COMP_CWORD - 2]}
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--)
			mapfile -t COMPREPLY < <(compgen -c -f -- "$current")
			return ;;
		-*) ;;
		*) [ -n "$command" ] || command=${COMP_WORDS[i]} ;;
		esac
	done
	if words=$(_iotracer_value "$tool" "$command" "$previous"); then
		[ "$words" != FILE ] || { mapfile -t COMPREPLY < <(compgen -f -- "$current"); return; }
	elif [[ $current == -* && -n $command ]]; then
		words=$(_iotracer_options "$tool" "$command")
	elif [ -z "$command" ] || [ "$command" = help ]; then
		words=$(_iotracer_commands "$tool")
	else
		words=''
		case $command in
		traces) words=$(_iotracer_traces "$tool" "${COMP_WORDS[@]:1:COMP_CWORD-1}") ;;
		vm) words=$(_iotracer_machines "$tool" "${COMP_WORDS[@]:1:COMP_CWORD-1}") ;;
		export | join) words=$(_iotracer_traces "$tool" traces path) ;;
		snapshot) [ "$previous" != snapshot ] || words='fs process system' ;;
		log | start | stop | reset | timereset | status | filter) words=$(_iotracer_categories "$tool") ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; compgen -f -- "$current")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -o filenames -F _iotracer iotracer
