#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Tests the tool against a directory that looks like /proc/iotracer: formats, figures
# that are known in advance, messages and exit codes. Needs neither root nor the module.
# tool-real.bats tests the tool with the real module.

# Tests run in subshells, and "run --separate-stderr" sets stderr_lines.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	unset NO_COLOR
	# Not in bats' own directory, which other users cannot enter.
	work=$(mktemp -d /tmp/iotracer-tool.XXXXXX)
	chmod 755 "$work"
	export IOTRACER_PROC=$work/proc
	mkdir "$IOTRACER_PROC"
	: >"$IOTRACER_PROC/control"
}

teardown() {
	rm -rf "$work"
}

# columns_of CATEGORY|log: print the names of the columns that format describes
columns_of() {
	iotracer format --columns | sed -n "s/^$1\t\([^\t]*\).*/\1/p"
}

# --- the command line ---------------------------------------------------------

@test "--help describes every command" {
	run iotracer --help
	[ "$status" = 0 ]
	for command in add remove list status start stop reset timereset filter log profile record export format help; do
		[[ $output == *"  $command "* ]]
	done
	[[ $output == *"3  the module is not loaded"* ]]
}

@test "COMMAND --help describes that command" {
	for command in add remove list status start stop reset timereset filter log profile record export format help; do
		run --separate-stderr iotracer "$command" --help
		[ "$status" = 0 ]
		[[ ${lines[0]} == "Usage: iotracer $command [OPTION...]"* ]]
		[ -z "$stderr" ]
	done
}

@test "-h, help and help COMMAND print the same as --help" {
	cd "$work"
	iotracer --help >help
	for way in -h help; do
		iotracer "$way" | cmp - help
	done
	mapfile -t commands < <(sed -n '/^Commands/,/^$/s/^  \([a-z-]*\) .*/\1/p' help)
	for command in "${commands[@]}"; do
		iotracer "$command" --help >"help-$command"
		iotracer "$command" -h | cmp - "help-$command"
		iotracer help "$command" | cmp - "help-$command"
	done
	[ "$(find . -name 'help-*' | wc -l)" -ge 14 ]
}

@test "help: what is no command, or two commands, are usage errors" {
	run iotracer help frobnicate
	[ "$status" = 2 ]
	[[ $output == "iotracer: frobnicate: no such command"* ]]
	run iotracer help add remove
	[ "$status" = 2 ]
}

@test "options may stand before the command, before the files and after them" {
	cd "$work"
	touch "$work/f"
	sample_stream "$work/f"
	iotracer log --format=json --color=never "$work/f" >expected 2>&1
	[ -s expected ]
	for arguments in "log f -f json --color=never" "-f json log f --color=never" "--color=never log -fjson f" \
		"--format json --color=never log f" "--color=never --format=json log -- f"; do
		# shellcheck disable=SC2086
		iotracer $arguments 2>&1 | sed "s|: f: |: $work/f: |" | cmp - expected
	done
}

@test "options: one that is not known is a usage error" {
	run iotracer --frob log f
	[ "$status" = 2 ]
}

@test "options: -- ends those before the command" {
	cd "$work"
	touch "$work/f"
	sample_stream "$work/f"
	run iotracer -- log f -f csv
	[ "$status" = 0 ]
}

@test "version names the schema that the tool reads" {
	run iotracer --version
	[ "$status" = 0 ]
	[[ $output =~ ^iotracer\ [0-9.]+\ \(stream\ version\ 3,\ schema\ [0-9a-f]{16}\)$ ]]
}

@test "a command that is missing, or unknown, is a usage error" {
	run iotracer
	[ "$status" = 2 ]
	run iotracer frobnicate
	[ "$status" = 2 ]
	[ "$output" = "iotracer: frobnicate: no such command (iotracer --help lists them)" ]
	run -2 iotracer recrod -o t -- true
	[ "$output" = "iotracer: recrod: no such command; did you mean record? (iotracer --help lists all)" ]
	run -2 iotracer help ad
	[[ $output == "iotracer: ad: no such command; did you mean add?"* ]]
}

@test "options and arguments that a command does not take are usage errors" {
	for arguments in "add" "remove" "start" "log" "profile" "list x" "format x" \
		"log a b" "profile a b" "remove --all x" "add --frob x" \
		"add -n 0 x" "add -n 00 x" "add -n -1 x" "add -n 1x x" "add -n= x" \
		"list --format=csv" "log --format=xml x" "list --color=blue"; do
		# shellcheck disable=SC2086
		run iotracer $arguments
		echo "$arguments: $status: $output"
		[ "$status" = 2 ]
	done
}

@test "an empty name of a file is a usage error" {
	run iotracer add ""
	[ "$status" = 2 ]
	[[ $output == *"name of a file is empty"* ]]
}

@test "no module: exit 3, and one line that says what to do" {
	export IOTRACER_PROC=$work/none
	for arguments in "add x" "remove x" "list" "status" "status x" "stop x" \
		"start --all" "log x" "profile x"; do
		# shellcheck disable=SC2086
		run --separate-stderr iotracer $arguments
		[ "$status" = 3 ]
		[ -z "$output" ]
		[ "$stderr" = "iotracer: $work/none is not there: the module is not loaded (try: modprobe iotracer)" ]
	done
}

@test "no module: format works all the same" {
	export IOTRACER_PROC=$work/none
	run iotracer format
	[ "$status" = 0 ]
}

@test "without permission: exit 4 and a message that says who has it" {
	target t_1 "$work/proc"
	chmod 000 "$IOTRACER_PROC/control"
	run --separate-stderr unprivileged iotracer add x
	[ "$status" = 4 ]
	[[ $stderr == *"$IOTRACER_PROC/control: permission denied: needs CAP_PERFMON or CAP_SYS_ADMIN "* ]]
	[ "${#stderr_lines[@]}" = 1 ]
	run unprivileged iotracer list
	[ "$status" = 4 ]
}

@test "without permission: the message names the group of proc_gid" {
	[ "$(id -u)" = 0 ] || skip "takes root to give the file to a group"
	chown 0:"$(getent group disk | cut -d: -f3)" "$IOTRACER_PROC/control"
	chmod 660 "$IOTRACER_PROC/control"
	run unprivileged iotracer add x
	[ "$status" = 4 ]
	[[ $output == *"membership of the group that proc_gid names: disk" ]]
	chmod 600 "$IOTRACER_PROC/control"
	run unprivileged iotracer add x
	[[ $output == *"membership of the group that proc_gid names" ]]
}

# --- add, remove, start, stop -------------------------------------------------

@test "add: one write per command, names escaped, then the number of events" {
	export TOOL_WRITES=$work/writes
	run preloaded iotracer add /tmp/plain rel/x
	[ "$status" = 0 ]
	[ -z "$output" ]
	run preloaded iotracer add -n 42 "/a b 7" -- -dash
	[ "$status" = 0 ]
	run preloaded iotracer add --max-events=9 $'/t\t\n\\\x01\x7f"é'
	[ "$status" = 0 ]
	diff - "$work/writes" <<-'END'
		20:add /tmp/plain 4096
		15:add rel/x 4096
		20:add /a\040b\0407 42
		13:add -dash 42
		32:add /t\011\012\134\001\177"é 9
	END
}

@test "add: --inode, and a name that begins as an option" {
	export TOOL_WRITES=$work/writes
	run preloaded iotracer add -i -n 5 /f -- '-i f'
	[ "$status" = 0 ]
	run preloaded iotracer add -n 5 -- '-i f'
	[ "$status" = 0 ]
	diff - "$work/writes" <<-'END'
		12:add -i /f 5
		17:add -i -i\040f 5
		14:add -i\040f 5
	END
}

@test "add: --all-operations, and with --inode" {
	export TOOL_WRITES=$work/writes
	run preloaded iotracer add -a -n 5 /f -- '-a f'
	[ "$status" = 0 ]
	run preloaded iotracer add --all-operations -i -n 5 /f
	[ "$status" = 0 ]
	diff - "$work/writes" <<-'END'
		12:add -a /f 5
		17:add -a -a\040f 5
		15:add -i -a /f 5
	END
}

@test "add: a file that is already traced keeps the size of its log unless one is given" {
	cd "$work"
	touch old other
	ln old link
	target sda1_1 "$work/old"
	export TOOL_WRITES=$work/writes
	run preloaded iotracer add old new link "$work/other"
	[ "$status" = 0 ]
	run preloaded iotracer add -n 7 old
	[ "$status" = 0 ]
	diff - "$work/writes" <<-END
		8:add old
		13:add new 4096
		9:add link
		$((16 + ${#work})):add $work/other 4096
		10:add old 7
	END
}

@test "add: of several files those that can be added are, exit 1" {
	export TOOL_WRITES=$work/writes TOOL_WRITE_ERROR=2:"add /missing"
	run --separate-stderr preloaded iotracer add /one /missing /two
	[ "$status" = 1 ]
	[ "$stderr" = "iotracer: /missing: no such file" ]
	[ "$(cat "$work/writes")" = $'14:add /one 4096\n14:add /two 4096' ]
}

@test "add: each error of the module is explained in one line" {
	while read -r errno expected words; do
		TOOL_WRITE_ERROR="$errno:add" run --separate-stderr preloaded iotracer add /x
		echo "$errno: $status $stderr"
		[ "$status" = "$expected" ]
		[[ $stderr == "iotracer: /x: "*"$words"* ]]
		[ "${#stderr_lines[@]}" = 1 ]
	done <<-END
		12 1 max_events_limit
		12 1 ring_memory_limit
		13 4 you may not read
		21 1 directory
		22 1 number of events
		36 1 too long
		95 1 filesystem
		28 1 No space left
		5 1 unloaded
	END
}

@test "list: prints a path a line, unescaped where it is readable" {
	target sda1_1 "$work/proc" '/a\040b /c\134d\012e'
	target dm-0_22 "$work/proc" $'/\xc3\xa9 /\xff'
	run iotracer list
	[ "$status" = 0 ]
	[ "$output" = 'sda1_1   /a b
sda1_1   /c\134d\012e
dm-0_22  /é
dm-0_22  /\377' ]
}

@test "list: JSON has each target with its paths" {
	target sda1_1 "$work/proc" '/a\040b /c\134d\012e'
	target dm-0_22 "$work/proc" $'/\xc3\xa9 /\xff'
	run iotracer list --format=json
	[ "$status" = 0 ]
	[ "$(python3 -c 'import json,sys; print(json.load(sys.stdin))' <<<"$output")" = \
		"[{'target': 'sda1_1', 'paths': ['/a b', '/c\\\\134d\\\\012e'], 'deleted': [], 'tasks': None, 'network': False, 'ended': False}, {'target': 'dm-0_22', 'paths': ['/é', '/\\\\377'], 'deleted': [], 'tasks': None, 'network': False, 'ended': False}]" ]
}

@test "list: what it shows of a name, as text or JSON, means that target in other commands" {
	cd "$work"
	local names=($'/x\ty' $'/x\\134y' $'/x\xff' '/x y' '/x (deleted)' $'/x\n' '/x"y') line n=0
	for name in "${names[@]}"; do
		target "sda1_$((++n))" proc "$(printf '%s' "$name" | sed 's/\\/\\134/g; s/ /\\040/g' | tr '\n\t' '\1\2' | sed 's/\x1/\\012/g; s/\x2/\\011/g')"
	done
	iotracer list >text
	iotracer list --format=json | jq -r '.[].paths[]' >json
	sed 's/^[^ ]* *//' text >shown
	[ "$(wc -l <shown)" = "$n" ]
	n=0
	export TOOL_WRITES=$work/writes
	paste -d '\n' shown json | while IFS= read -r line; do
		name=sda1_$((n++ / 2 + 1))
		[ "$(iotracer status --format=json "$line" | jq -r '.[].target')" = $name ]
		iotracer log "$line" >/dev/null
		preloaded iotracer remove "$line"
		[ "$(wc -l <writes)" = $n ]
	done
	[ "$(sort -u writes | wc -l)" = "${#names[@]}" ]
}

@test "list: a file whose name ends in (deleted) is not shown as deleted" {
	target sda1_1 "$work/proc" '/x\040(deleted)'
	target sda1_2 "$work/proc" '/x (deleted)'
	target sda1_3 "$work/proc" '/y\040(ended) /z'
	[ "$(iotracer list)" = 'sda1_1  /x\040(deleted)
sda1_2  /x (deleted)
sda1_3  /y\040(ended)
sda1_3  /z' ]
	[[ $(iotracer status sda1_1) == *'path        /x\040(deleted)'* ]]
	[ "$(iotracer list --format=json | jq -c '.[].deleted')" = '[]
["/x"]
[]' ]
}

@test "list: of several paths the one that leads to no file is deleted" {
	target sda1_1 "$work/proc" '/a /b (deleted) /c'
	target sda1_2 "$work/proc" '/d (deleted) /e'
	[ "$(iotracer list)" = 'sda1_1  /a
sda1_1  /b (deleted)
sda1_1  /c
sda1_2  /d (deleted)
sda1_2  /e' ]
	[ "$(iotracer list --format=json | jq -c '.[] | .paths, .deleted')" = '["/a","/b","/c"]
["/b"]
["/d","/e"]
["/d"]' ]
}

@test "list: nothing is traced" {
	: >"$IOTRACER_PROC/control"
	run iotracer list
	[ "$status" = 0 ]
	[ -z "$output" ]
	run iotracer list --format=json
	[ "$output" = "[]" ]
}

@test "list: has no colors in a pipe, unless they are asked for" {
	target t_1 "$work/proc"
	run iotracer list
	[[ $output != *$'\033'* ]]
	run iotracer list --color
	[[ $output == *$'\033[1mt_1'* ]]
	run iotracer --color=always list
	[[ $output == *$'\033'* ]]
}

@test "list: has colors on a terminal, unless NO_COLOR or --color=never" {
	target t_1 "$work/proc"
	run script -qec "TERM=xterm iotracer list" /dev/null
	[[ $output == *$'\033'* ]]
	run script -qec "TERM=xterm NO_COLOR=1 iotracer list" /dev/null
	[[ $output != *$'\033'* ]]
	run script -qec "TERM=xterm iotracer list --color=never" /dev/null
	[[ $output != *$'\033'* ]]
}

@test "remove: a path is removed alone" {
	touch "$work/f"
	ln "$work/f" "$work/link"
	target sda1_1 "$work/f" "$work/f $work/link"
	export TOOL_WRITES=$work/writes
	run preloaded iotracer remove "$work/f"
	[ "$status" = 0 ]
	[ "$(cut -d: -f2 "$work/writes")" = "remove $work/f" ]
}

@test "remove: a target is removed with all its paths" {
	touch "$work/f"
	ln "$work/f" "$work/link"
	target sda1_1 "$work/f" "$work/f $work/link"
	export TOOL_WRITES=$work/writes
	for name in sda1_1 --all; do
		rm -f "$work/writes"
		run preloaded iotracer remove "$name"
		[ "$status" = 0 ]
		[ "$(cut -d: -f2 "$work/writes")" = "remove $work/f"$'\n'"remove $work/link" ]
	done
}

@test "remove: the path of a deleted file is passed on as given: the module resolves it" {
	touch "$work/f"
	target sda1_1 "$work/f"
	export TOOL_WRITES=$work/writes
	rm "$work/f"
	cd "$work"
	run preloaded iotracer remove f
	[ "$(cut -d: -f2 "$work/writes")" = "remove f" ]
}

@test "remove: refused for a target whose path leads to another target now" {
	touch "$work/f"
	target sda1_1 "$work/f"
	mv "$work/f" "$work/old"
	touch "$work/f"
	target sda1_2 "$work/f"
	export TOOL_WRITES=$work/writes
	run preloaded iotracer remove sda1_1
	[ "$status" = 1 ]
	[ "$output" = "iotracer: sda1_1: not removed: its path $work/f leads to another target now, sda1_2; remove that first" ]
	[ ! -e "$work/writes" ]
	run preloaded iotracer remove sda1_2
	[ "$status" = 0 ]
	run preloaded iotracer remove --all
	[ "$status" = 0 ]
	lines_are "$work/writes" 3
}

@test "remove: a hard link that was not added removes the whole target" {
	touch "$work/f"
	ln "$work/f" "$work/link"
	target sda1_1 "$work/f"
	export TOOL_WRITES=$work/writes TOOL_WRITE_ERROR="2:remove $work/link"
	run preloaded iotracer remove "$work/link"
	[ "$status" = 0 ]
	[ "$(cut -d: -f2 "$work/writes")" = "remove $work/f" ]
}

@test "remove: of several files those that are traced are removed, the others reported, exit 1" {
	touch "$work/f" "$work/other"
	target sda1_1 "$work/f"
	export TOOL_WRITES=$work/writes
	run --separate-stderr preloaded iotracer remove "$work/none" "$work/f" "$work/other"
	[ "$status" = 1 ]
	[ "${stderr_lines[0]}" = "iotracer: $work/none: not traced: no such file and no target of that name" ]
	[ "${stderr_lines[1]}" = "iotracer: $work/other: not traced (to trace it: iotracer add FILE)" ]
	[ "$(cut -d: -f2 "$work/writes")" = "remove $work/f" ]
}

@test "remove: a file that was removed meanwhile is reported" {
	touch "$work/f"
	target sda1_1 "$work/f"
	export TOOL_WRITES=$work/writes
	TOOL_WRITE_ERROR=2:remove run preloaded iotracer remove "$work/f"
	[ "$status" = 1 ]
	[ "$output" = "iotracer: $work/f: not traced any more" ]
}

@test "start, stop, reset, timereset: written to the control file of that target" {
	touch "$work/f" "$work/g"
	target sda1_1 "$work/f"
	target sda1_2 "$work/g"
	export TOOL_WRITES=$work/writes
	for command in start stop reset timereset; do
		rm -f "$work/writes"
		run preloaded iotracer "$command" "$work/f"
		[ "$status" = 0 ]
		[ "$(cat "$work/writes")" = "$((${#command} + 1)):$command" ]
	done
}

@test "stop --all: written to the control files of all targets" {
	touch "$work/f" "$work/g"
	target sda1_1 "$work/f"
	target sda1_2 "$work/g"
	export TOOL_WRITES=$work/writes
	run preloaded iotracer stop --all
	[ "$(cat "$work/writes")" = $'5:stop\n5:stop' ]
}

@test "stop: other targets are left alone" {
	touch "$work/f" "$work/g"
	target sda1_1 "$work/f"
	target sda1_2 "$work/g"
	run iotracer stop sda1_2
	[ "$status" = 0 ]
	[ "$(head -n 1 "$IOTRACER_PROC/sda1_2/control")" = stop ]
	[ "$(head -c 2 "$IOTRACER_PROC/sda1_1/control")" = "1 " ]
}

@test "stop: a target that was removed meanwhile is reported" {
	touch "$work/g"
	target sda1_2 "$work/g"
	rm -r "$IOTRACER_PROC/sda1_2"
	run iotracer stop sda1_2
	[ "$status" = 1 ]
	[ "$output" = "iotracer: sda1_2: the target was removed" ]
}

# --- which target belongs to a file -------------------------------------------

@test "a renamed file, a hard link and a symbolic link are found by inode" {
	touch "$work/f" "$work/other"
	target sda1_7 "$work/other"
	target sda1_8 "$work/f"
	mv "$work/f" "$work/renamed"
	ln "$work/renamed" "$work/hard"
	ln -s renamed "$work/soft"
	for name in f renamed hard soft ./soft; do
		cd "$work"
		run --separate-stderr iotracer status "$name"
		[ "$status" = 0 ]
		[[ $output == sda1_8* ]]
		[ -z "$stderr" ]
	done
}

@test "a file with a reused inode number is another file" {
	touch "$work/f"
	generation=$(generation "$work/f")
	[ "$generation" != 0 ] || skip "this filesystem has no generation numbers"
	target sda1_8 "$work/f" "$work/f" $((generation + 1))
	run --separate-stderr iotracer status "$work/f"
	[[ $stderr == *": is another file now; this is about sda1_8, which"* ]]
	target sda1_8_2 "$work/f" "$work/f" "$generation"
	run --separate-stderr iotracer status "$work/f"
	[[ $output == sda1_8_2* ]]
	[ -z "$stderr" ]
}

@test "a name that another file has taken means the traced file, with a warning" {
	touch "$work/f"
	target sda1_8 "$work/f"
	mv "$work/f" "$work/old"
	touch "$work/f"
	run --separate-stderr iotracer status "$work/f"
	[ "$status" = 0 ]
	[[ $output == sda1_8* ]]
	[ "$stderr" = "iotracer: $work/f: is another file now; this is about sda1_8, which was added under this name" ]
	target sda1_9 "$work/f" "$work/elsewhere"
	run --separate-stderr iotracer status "$work/f"
	[[ $output == sda1_9* ]]
	[ -z "$stderr" ]
}

# --- status -------------------------------------------------------------------

@test "status: the text for all targets" {
	touch "$work/f" "$work/g"
	target sda1_1 "$work/f"
	target sda1_2 "$work/g"
	echo "0 0.000000000 5 0" >"$IOTRACER_PROC/sda1_2/control"
	run iotracer status --all
	[ "$status" = 0 ]
	[ "$output" = "sda1_1  running
  path        $work/f
  T0          364.358689497 s
  events      3 of at most 100
  memory      16384 bytes
  level               seen      stored overwritten        lost      missed
  vfs                   10           3           7           0           0
  blk                    3           0           2           1           4
  total                 13           3           9           1           4

sda1_2  stopped
  path        $work/g
  T0          0.000000000 s
  events      0 of at most 5
  memory      16384 bytes
  level               seen      stored overwritten        lost      missed
  vfs                   10           3           7           0           0
  blk                    3           0           2           1           4
  total                 13           3           9           1           4" ]
}

@test "status: the start, memory and counts of a category" {
	category fs
	sed -i 's/^lost 0/lost 4/; s/^missed 0/missed 5/' "$IOTRACER_PROC/fs/stats"
	echo 't0_ns 36410074910' >>"$IOTRACER_PROC/fs/stats"
	[ "$(iotracer status fs)" = 'fs  stopped
  filter      op=READ
  sample      1
  mode        overwrite
  T0          36.410074910 s
  size        16384 events a CPU
  memory      65536 bytes
  seen        3
  stored      2
  overwritten 1
  lost        4
  missed      5' ]
	[ "$(iotracer status --format=json fs | jq -c '.[0]')" = '{"category":"fs","running":false,"filter":"op=READ","t0_ns":36410074910,"cpus":4,"size":16384,"memory_bytes":65536,"seen":3,"stored":2,"overwritten":1,"lost":4,"missed":5}' ]
}

@test "status: of named files, those that are not traced are errors" {
	touch "$work/g"
	target sda1_2 "$work/g"
	run iotracer status "$work/none" "$work/g"
	[ "$status" = 1 ]
	[[ ${lines[1]} == sda1_2* ]]
}

@test "status: JSON has a target's identity and counts" {
	touch "$work/f"
	target sda1_1 "$work/f"
	run iotracer status --format json
	[ "$status" = 0 ]
	python3 - "$work/f" <<-END
		import json, os, sys
		t, = json.loads('''$output''')
		st = os.stat(sys.argv[1])
		assert t['target'] == 'sda1_1' and t['paths'] == [sys.argv[1]], t
		assert t['device'] == f'{os.major(st.st_dev)}:{os.minor(st.st_dev)}', t
		assert t['inode'] == st.st_ino and t['running'] is True, t
		assert t['t0_ns'] == 364358689497 and t['max_events'] == 100, t
		assert t['events'] == 3 and t['memory_bytes'] == 16384, t
		assert t['levels']['blk'] == dict(seen=3, stored=0, overwritten=2, lost=1, missed=4), t
		assert t['levels']['total']['seen'] == 13, t
	END
}

@test "status and list: a path that leads to no file is marked" {
	touch "$work/f" "$work/g"
	target sda1_1 "$work/f" "$work/f (deleted) $work/g"
	run iotracer status
	[ "$status" = 0 ]
	[[ $output == *"path        $work/f (deleted)"$'\n'* ]]
	[[ $output == *"path        $work/g"$'\n'* ]]
	[ "$(iotracer list)" = "sda1_1  $work/f (deleted)"$'\n'"sda1_1  $work/g" ]
	for command in status list; do
		iotracer $command --format json | python3 -c "import json, sys
t, = json.load(sys.stdin)
assert t['paths'] == ['$work/f', '$work/g'] and t['deleted'] == ['$work/f'], t"
	done
}

@test "status: of a target with several files each is found" {
	touch "$work/f" "$work/g"
	target sda1_1 "$work/f"
	stat -c $'device %Hd:%Ld\ninode %i' "$work/g" >>"$IOTRACER_PROC/sda1_1/stats"
	echo "generation $(generation "$work/g")" >>"$IOTRACER_PROC/sda1_1/stats"
	iotracer status "$work/f" | grep -q sda1_1
	iotracer status "$work/g" | grep -q sda1_1
}

@test "status: a target that is removed meanwhile is left out of the list of all" {
	touch "$work/f" "$work/g"
	target sda1_1 "$work/f"
	target sda1_2 "$work/g"
	rm -r "$IOTRACER_PROC/sda1_1"
	run iotracer status
	[ "$status" = 0 ]
	[[ $output == sda1_2* ]]
}

@test "status: a target that was named and is removed meanwhile is an error" {
	touch "$work/f"
	target sda1_1 "$work/f"
	rm -r "$IOTRACER_PROC/sda1_1"
	run iotracer status "$work/f"
	[ "$status" = 1 ]
	[ "$output" = "iotracer: $work/f: the target was removed" ]
}

# --- log ----------------------------------------------------------------------

# sample_stream FILE: a stream with records of both levels and of an unknown one, times out of
# order, and a gap
sample_stream() {
	target sda1_1 "$1"
	no_losses sda1_1
	tool-stream t0=1000000000 <<-'END' >"$IOTRACER_PROC/sda1_1/stream"
		seq=0 time=3000000007 latency=12 offset=4096 requested=4096 result=4096 pid=10 tid=11 cpu=1 device=0x800001 level=0 op=1 flags=3 comm=dd
		seq=1 time=2000000001 offset=8192 sector=2048 requested=512 result=-5 pid=10 tid=10 origin_pid=12 device=0x0fd00001 level=1 op=0 flags=0x8080 comm=kworker/u4:1 origin_comm=a,"b
		seq=5 time=999999999 level=9 op=29 comm=x\012\134\377\303\251
	END
}

# The records of sample_stream, sorted by time: their fields that are neither 0 nor empty.
sample_rows=(
	'since_t0_s=-0.000000001 seq=5 time_ns=999999999 device=0:0 level=9 op=29 comm=x\012\134\377é'
	'since_t0_s=1.000000001 seq=1 time_ns=2000000001 offset_bytes=8192 sector=2048 requested_bytes=512 result=-5 pid=10 tid=10 origin_pid=12 device=253:1 level=blk op=R flags=READAHEAD|COMPLETED comm=kworker/u4:1 origin_comm=a,"b'
	'since_t0_s=2.000000007 seq=0 time_ns=3000000007 latency_ns=12 offset_bytes=4096 requested_bytes=4096 result=4096 pid=10 tid=11 cpu=1 device=8:1 level=vfs op=W flags=DIRECT|ASYNC comm=dd'
)

# rows_are csv|json TEXT ROW...: check the rows of TEXT; their fields may come in any order
rows_are() {
	python3 - "$@" <<-'END'
		import csv, io, json, sys
		kind, text, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
		if kind == "csv":
		    rows = list(csv.DictReader(io.StringIO(text, newline="")))
		else:
		    rows = [json.loads(line, parse_float=str) for line in text.splitlines()]
		    for row in rows:
		        for key, value in row.items():
		            number = key in ("since_t0_s", "seq", "time_ns", "latency_ns", "offset_bytes", "sector",
		                             "requested_bytes", "result", "pid", "tid", "origin_pid", "cpu")
		            assert isinstance(value, int) or (key == "since_t0_s") or not number, (key, value)
		assert len(rows) == len(wanted), rows
		for row, words in zip(rows, wanted):
		    words = dict(word.split("=", 1) for word in words.split(" "))
		    assert row.keys() >= words.keys(), row
		    for key, value in row.items():
		        assert str(value) == words.get(key, str(value) if str(value) in ("0", "") else None), (key, row)
	END
}

@test "log: text is the module's log, byte for byte" {
	touch "$work/f"
	target sda1_1 "$work/f"
	head -c 300000 /dev/urandom >"$IOTRACER_PROC/sda1_1/log"
	iotracer log "$work/f" | cmp - "$IOTRACER_PROC/sda1_1/log"
	iotracer log --format=text sda1_1 | cmp - "$IOTRACER_PROC/sda1_1/log"
}

@test "log: CSV is sorted by time and quoted, with every kind of field" {
	touch "$work/f"
	sample_stream "$work/f"
	run --separate-stderr iotracer log --format=csv "$work/f"
	[ "$status" = 0 ]
	[[ ${lines[0]} == since_t0_s,seq,time_ns,* ]]
	[[ ${lines[1]} == -0.000000001,5,999999999,0,* ]]
	[[ ${lines[2]} == *',"a,""b"' || ${lines[2]} == *',"a,""b",'* ]]
	rows_are csv "$output" "${sample_rows[@]}"
	[ "$stderr" = "iotracer: $work/f: 3 events were overwritten or lost before they were read" ]
	run --separate-stderr iotracer log --format=csv --no-header "$work/f"
	[[ ${lines[0]} == -0.000000001,5,* ]]
	[ "${#lines[@]}" = 3 ]
}

@test "log: JSON has one object per line and the fields of the schema in order" {
	touch "$work/f"
	sample_stream "$work/f"
	run --separate-stderr iotracer log --format=json "$work/f"
	[ "$status" = 0 ]
	[[ ${lines[1]} == '{"since_t0_s":1.000000001,"seq":1,"time_ns":2000000001,"latency_ns":0,'* ]]
	[[ ${lines[1]} == *'"result":-5,'*'"device":"253:1"'* ]]
	rows_are json "$output" "${sample_rows[@]}"
	[ "$(python3 -c 'import json, sys; print(",".join(json.loads(sys.argv[1])))' "${lines[0]}")" = \
		"$(iotracer log --format=csv "$work/f" 2>/dev/null | head -n 1)" ]
}

@test "log: numbers beyond JSON's integers are not changed" {
	touch "$work/f"
	target sda1_1 "$work/f"
	no_losses sda1_1
	echo "offset=18446744073709551615 sector=9223372036854775807 result=-9223372036854775808" |
		tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	run iotracer log --format=json "$work/f"
	[[ $output == *'"offset_bytes":"18446744073709551615","sector":9223372036854775807,'* ]]
	[[ $output == *'"result":-9223372036854775808,'* ]]
}

@test "log: events overwritten before the first are counted" {
	touch "$work/f"
	target sda1_1 "$work/f"
	seq 900 999 | sed 's/.*/seq=& time=&/' | tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	sed -i 's/^total .*/total 1000 98 900 2 0/' "$IOTRACER_PROC/sda1_1/stats"
	run --separate-stderr iotracer log --format=csv "$work/f"
	[[ $stderr == *": 900 events were overwritten"* ]]
}

@test "log: events that reset dropped are not counted" {
	touch "$work/f"
	target sda1_1 "$work/f"
	seq 900 999 | sed 's/.*/seq=& time=&/' | tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	sed -i 's/^total .*/total 100 100 0 0 0/' "$IOTRACER_PROC/sda1_1/stats"
	run --separate-stderr iotracer log --format=csv "$work/f"
	[ -z "$stderr" ]
}

@test "log: events that are missing between others are counted once" {
	touch "$work/f"
	target sda1_1 "$work/f"
	{ seq 900 949; seq 960 999; } | sed 's/.*/seq=& time=&/' | tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	sed -i 's/^total .*/total 1000 90 900 10 0/' "$IOTRACER_PROC/sda1_1/stats"
	run --separate-stderr iotracer log --format=csv "$work/f"
	[[ $stderr == *": 910 events were overwritten"* ]]
}

@test "log: of records of the same time those that were stored before come first" {
	touch "$work/f"
	target sda1_1 "$work/f"
	no_losses sda1_1
	printf 'seq=%d time=5\n' 3 2 0 1 | tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	[ "$(iotracer log --format=csv --no-header sda1_1 2>/dev/null | cut -d, -f 2 | tr '\n' ' ')" = "0 1 2 3 " ]
}

@test "log: 50,000 records after a longer header are all printed" {
	touch "$work/f"
	target sda1_1 "$work/f"
	no_losses sda1_1
	seq 0 49999 | sed 's/.*/seq=& time=& offset=&/' |
		tool-stream header_size=700 >"$IOTRACER_PROC/sda1_1/stream"
	run --separate-stderr iotracer log --format=csv --no-header "$work/f"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 50000 ]
	cmp <(cut -d, -f2 <<<"$output") <(seq 0 49999)
	[ -z "$stderr" ]
}

@test "log, profile: a stream of another schema is refused with both named" {
	touch "$work/f"
	target sda1_1 "$work/f"
	stream=$IOTRACER_PROC/sda1_1/stream
	ours=$(iotracer --version | sed 's/.*schema \(.*\))/\1/')
	for command in "log --format=csv" "log --format=json --follow" profile; do
		tool-stream schema=0x123 </dev/null >"$stream"
		# shellcheck disable=SC2086
		run --separate-stderr iotracer $command "$work/f"
		[ "$status" = 1 ]
		[ -z "$output" ]
		[ "$stderr" = "iotracer: $work/f: the module writes stream version 3 schema 0000000000000123, this tool reads version 3 schema $ours: install the tool that belongs to the module" ]
	done
}

@test "log: a stream of another version is refused with both named" {
	touch "$work/f"
	target sda1_1 "$work/f"
	stream=$IOTRACER_PROC/sda1_1/stream
	ours=$(iotracer --version | sed 's/.*schema \(.*\))/\1/')
	tool-stream version=7 </dev/null >"$stream"
	run iotracer log --format=csv "$work/f"
	[ "$status" = 1 ]
	[[ $output == *"stream version 7 schema $ours, this tool reads version 3"* ]]
}

@test "log: what is no stream is refused" {
	touch "$work/f"
	target sda1_1 "$work/f"
	stream=$IOTRACER_PROC/sda1_1/stream
	tool-stream magic=7 </dev/null >"$stream"
	run iotracer log --format=csv "$work/f"
	[ "$status" = 1 ]
	[[ $output == *"magic"* ]]
}

@test "log: a damaged header is refused" {
	touch "$work/f"
	target sda1_1 "$work/f"
	stream=$IOTRACER_PROC/sda1_1/stream
	for damage in record_size=8 record_size=0 event=99 header_size=8 header_size=4000000000; do
		tool-stream </dev/null "$damage" >"$stream"
		run iotracer log --format=csv "$work/f"
		[ "$status" = 1 ]
		[[ $output == *"damaged"* ]]
	done
}

@test "log: a stream that ends within its header is refused" {
	touch "$work/f"
	target sda1_1 "$work/f"
	stream=$IOTRACER_PROC/sda1_1/stream
	tool-stream </dev/null | head -c 20 >"$stream"
	run iotracer log --format=csv "$work/f"
	[ "$status" = 1 ]
	[[ $output == *"ends within the header"* ]]
}

@test "log: a block that is cut off, or is none of the stream's, is an error" {
	touch "$work/f"
	target sda1_1 "$work/f"
	no_losses sda1_1
	stream=$IOTRACER_PROC/sda1_1/stream
	tool-stream <<<"seq=0 time=1" >"$work/whole"
	for at in 48 56; do	# its magic number, and its event
		cp "$work/whole" "$stream"
		printf '\007' | dd of="$stream" bs=1 seek=$at conv=notrunc status=none
		run -1 --separate-stderr iotracer log --format=csv --no-header "$work/f"
		[ -z "$output" ]
		[ "$stderr" = "iotracer: $work/f: its stream is damaged" ]
	done
	for less in 1 100; do
		head -c "-$less" "$work/whole" >"$stream"
		run -1 --separate-stderr iotracer log --format=csv --no-header "$work/f"
		[ -z "$output" ]
		[ "$stderr" = "iotracer: $work/f: its stream is damaged" ]
	done
}

@test "log: output that cannot be written is an error" {
	touch "$work/f"
	sample_stream "$work/f"
	for arguments in "log --format=csv $work/f" "log $work/f" "list" "status" \
		"format" "--help" "profile $work/f"; do
		run bash -c "iotracer $arguments 2>&1 >/dev/full"
		echo "$arguments: $status: $output"
		[ "$status" = 1 ]
		[[ $output == *"the output could not be written: No space left on device"* ]]
	done
}

# --- log --follow -------------------------------------------------------------

lines_are() {
	[ -e "$1" ] && [ "$(wc -l <"$1")" = "$2" ]
}

@test "log --follow: new events are printed; SIGINT and SIGTERM end it with 0" {
	touch "$work/f"
	sample_stream "$work/f"
	for signal in INT TERM; do
		for format in text csv json; do
			events=3
			header=0
			[ "$format" = csv ] && header=1
			[ "$format" = text ] && printf 'a\nb\nc\n' >"$IOTRACER_PROC/sda1_1/log"
			rm -f "$work/out"
			# Not through "run". Background jobs ignore SIGINT without --default-signal.
			env --default-signal=INT iotracer log -F -f "$format" "$work/f" \
				>"$work/out" 2>"$work/err" &
			pid=$!
			wait_for lines_are "$work/out" $((events + header))
			if [ "$format" = text ]; then
				echo d >>"$IOTRACER_PROC/sda1_1/log"
			else
				echo "seq=6 time=4000000000" | tool-stream continue >>"$IOTRACER_PROC/sda1_1/stream"
			fi
			wait_for lines_are "$work/out" $((events + header + 1))
			kill -"$signal" "$pid"
			wait "$pid"
			rm -r "$IOTRACER_PROC/sda1_1"
			: >"$IOTRACER_PROC/control"
			sample_stream "$work/f"
		done
	done
}

@test "log --follow: an event from before SIGINT is printed, though no read was due" {
	touch "$work/f"
	for format in text csv json; do
		rm -rf "$IOTRACER_PROC/sda1_1" "$work/out"
		: >"$IOTRACER_PROC/control"
		sample_stream "$work/f"
		iotracer log -F -f "$format" "$work/f" >"$work/out" 2>"$work/err" &
		pid=$!
		wait_for test -s "$work/out"
		kill -STOP "$pid"
		wait_for grep -q '^State:.*stopped' "/proc/$pid/status"
		wc -l <"$work/out" >"$work/before"
		if [ "$format" = text ]; then
			echo d >>"$IOTRACER_PROC/sda1_1/log"
		else
			echo "seq=6 time=4000000000" | tool-stream continue >>"$IOTRACER_PROC/sda1_1/stream"
		fi
		kill -INT "$pid"
		kill -CONT "$pid"
		wait "$pid"
		[ "$(wc -l <"$work/out")" = $(($(<"$work/before") + 1)) ]
	done
}

@test "log --follow: ends with 0 when the reader of its output ends, before any new event" {
	touch "$work/f"
	sample_stream "$work/f"
	for format in text csv json; do
		run --separate-stderr timeout 60 bash -c "
			set -o pipefail
			iotracer log --follow --format=$format $work/f | head -n 1"
		[ "$status" = 0 ]
		[ "${#lines[@]}" = 1 ]
	done
}

# follow_gone FORMAT: follow the log of $work/f, whose target is removed after the first output
follow_gone() {
	rm -f "$work/gone" "$work/out"
	preloaded TOOL_GONE="$work/gone" iotracer log --follow --format="$1" \
		"$work/f" >"$work/out" 2>"$work/err" &
	pid=$!
	wait_for test -s "$work/out"
	touch "$work/gone"
	wait "$pid"
}

@test "log --follow: ends with 0 when the target is removed" {
	touch "$work/f"
	sample_stream "$work/f"
	for format in text csv json; do
		follow_gone $format
		[ "$(head -n 1 "$work/err")" = "iotracer: $work/f: target was removed" ]
	done
}

@test "log --follow: without stats no event before the first is reported as missing" {
	touch "$work/f"
	sample_stream "$work/f"
	# Without stats the tool cannot know whether the events before seq 1000 are missing or were
	# dropped by reset, so it reports none.
	rm "$IOTRACER_PROC/sda1_1/stats"
	tool-stream <<<"seq=1000 time=1 comm=x" >"$IOTRACER_PROC/sda1_1/stream"
	follow_gone csv
	[ "$(cat "$work/err")" = "iotracer: $work/f: target was removed" ]
}

@test "log: without --follow a target that is removed is an error, as the output is incomplete" {
	touch "$work/f"
	sample_stream "$work/f"
	touch "$work/gone"
	for format in text csv json; do
		TOOL_GONE=$work/gone run --separate-stderr preloaded iotracer log --format=$format sda1_1
		[ "$status" = 1 ]
		[[ ${stderr_lines[0]} == "iotracer: sda1_1: the target was removed"* ]]
	done
}

# --- profile ------------------------------------------------------------------

# field JSON KEY...: print a value of a JSON document
field() {
	python3 -c 'import json, sys
v = json.loads(sys.argv[1])
for key in sys.argv[2:]:
    v = v[key]
print(json.dumps(v))' "$@"
}

# known_patterns: VFS: 101 sequential reads; 5 writes, 1 of which is sequential; a failed and an
# empty read. BLK: 3 sequential reads and 2 random writes.
known_patterns() {
	touch "$work/f"
	target sda1_1 "$work/f"
	no_losses sda1_1
	{
		for ((i = 0; i <= 100; i++)); do
			echo "seq=$i time=$((1000000000 + i * 10000000)) latency=$((i < 100 ? i * 1000 + 1000 : 1000)) level=0 op=0 offset=$((i * 4096)) requested=4096 result=4096"
		done
		i=101
		for offset in 0 8192 12288 0 65536; do
			echo "seq=$i time=$((2000000000 + i)) latency=7 level=0 op=1 offset=$offset requested=4096 result=4096"
			i=$((i + 1))
		done
		echo "seq=106 time=2000000200 level=0 op=0 offset=99 requested=10 result=-5"
		echo "seq=107 time=3000000000 level=0 op=0 offset=98 requested=10 result=0"
		for sector in 2048 2056 2064; do
			echo "seq=$((i + 2)) time=$((1000000000 + sector)) level=1 op=0 sector=$sector offset=7 requested=4096 result=4096"
			i=$((i + 1))
		done
		echo "seq=111 time=1500000000 level=1 op=1 sector=2072 requested=512 result=512"
		echo "seq=112 time=1500000001 level=1 op=1 sector=2072 requested=1024 result=1024"
	} | tool-stream >"$IOTRACER_PROC/sda1_1/stream"
}

@test "profile: known access patterns give the expected figures" {
	known_patterns
	run --separate-stderr iotracer profile "$work/f"
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	echo "$output"
	[ "$output" = "$work/f (sda1_1)

                                 VFS                 BLK
events                           108                   5
duration                  2.000000 s          0.499998 s
failed                             1                   0
empty                              1                   0
reads                            101                   3
  bytes                       413696               12288
  mean size                 4096.0 B            4096.0 B
  sequential                 100.0 %             100.0 %
    by bytes                 100.0 %             100.0 %
  random                       0.0 %               0.0 %
  seq in window              100.0 %             100.0 %
    by bytes                 100.0 %             100.0 %
  latency mean             50.010 us                   -
  latency p50              50.000 us                   -
  latency p99              99.000 us                   -
  latency max             100.000 us                   -
writes                             5                   2
  bytes                        20480                1536
  mean size                 4096.0 B             768.0 B
  sequential                  25.0 %               0.0 %
    by bytes                  25.0 %               0.0 %
  random                      75.0 %             100.0 %
  seq in window               25.0 %               0.0 %
    by bytes                  25.0 %               0.0 %
  latency mean              0.007 us                   -
  latency p50               0.007 us                   -
  latency p99               0.007 us                   -
  latency max               0.007 us                   -" ]
}

@test "profile: JSON has the same figures" {
	known_patterns
	run iotracer profile --format=json "$work/f"
	[ "$status" = 0 ]
	[ "$(field "$output" events)" = 113 ]
	[ "$(field "$output" events_missing)" = 0 ]
	[ "$(field "$output" vfs duration_s)" = 2.0 ]
	[ "$(field "$output" vfs reads sequential_percent)" = 100.0 ]
	[ "$(field "$output" vfs reads latency_ns p99)" = 99000 ]
	[ "$(field "$output" vfs writes random_percent)" = 75.0 ]
	[ "$(field "$output" blk writes bytes)" = 1536 ]
	[ "$(field "$output" blk reads sequential)" = 2 ]
}

@test "profile: orders events by time, not by seq" {
	touch "$work/f"
	target sda1_1 "$work/f"
	no_losses sda1_1
	tool-stream <<-END >"$IOTRACER_PROC/sda1_1/stream"
		seq=0 time=30 offset=8192 result=4096
		seq=1 time=10 offset=0 result=4096
		seq=2 time=20 offset=4096 result=4096
	END
	run iotracer profile --format=json "$work/f"
	[ "$(field "$output" vfs reads sequential)" = 2 ]
	[ "$(field "$output" vfs reads random)" = 0 ]
}

@test "profile: a single event has no shares" {
	touch "$work/f"
	target sda1_1 "$work/f"
	no_losses sda1_1
	tool-stream <<<"seq=0 time=40 op=1 offset=4096 result=1" >"$IOTRACER_PROC/sda1_1/stream"
	run iotracer profile --format=json "$work/f"
	[ "$(field "$output" vfs writes sequential_percent)" = null ]
	[ "$(field "$output" vfs writes count)" = 1 ]
	[ "$(field "$output" blk duration_s)" = null ]
}

@test "profile: reports which part of the events it covers" {
	touch "$work/f"
	target sda1_1 "$work/f"
	sed -i 's/^total .*/total 1000 10 990 0 0/' "$IOTRACER_PROC/sda1_1/stats"
	seq 990 999 | sed 's/.*/seq=& time=& result=1 offset=&/' |
		tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	run iotracer profile "$work/f"
	[ "$status" = 0 ]
	[[ ${lines[0]} == "only the last 10 of 1000 events: 990 were overwritten or lost "* ]]
}

@test "profile: JSON has the number of events that are missing" {
	touch "$work/f"
	target sda1_1 "$work/f"
	sed -i 's/^total .*/total 1000 10 990 0 0/' "$IOTRACER_PROC/sda1_1/stats"
	seq 990 999 | sed 's/.*/seq=& time=& result=1 offset=&/' |
		tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	run iotracer profile --format=json "$work/f"
	[ "$(field "$output" events)" = 10 ]
	[ "$(field "$output" events_missing)" = 990 ]
	[[ ${lines[1]} == *'"events_missing": 990,' ]]
}

# --- categories ---------------------------------------------------------------

# category NAME [start]: make a category as the module would show it, with three events, one of
# which was overwritten
category() {
	local dir=$IOTRACER_PROC/$1
	mkdir "$dir"
	printf '%s\n' "${2:-stop}" 'size 16384' 'sample 1' 'mode overwrite' 'filter op=READ' >"$dir/control"
	printf '%s\n' 'seen 3' 'stored 2' 'overwritten 1' 'lost 0' 'missed 0' 'cpus 4' 'size 16384' \
		'memory_bytes 65536' >"$dir/stats"
	printf '0.1 READ cat-7/7 path=/x\n' >"$dir/log"
	tool-stream layout=1 event=2 >"$dir/stream" <<-'END'
		cpu=0 seq=1 time=2000000000 latency=500 op=0 pid=7 tid=7 comm=cat path=4 result=3 kind=1
		cpu=1 seq=5 time=1000000000 latency=20 op=30 pid=9 tid=9 comm=mv path=5 path2=6
	END
	tool-stream layout=2 >"$IOTRACER_PROC/paths" <<-'END'
		id=4 text=/a
		id=5 text=/old,name
		id=6 text=/new
	END
}

@test "start, stop, reset, timereset: take categories and files in one command" {
	touch "$work/f"
	target sda1_1 "$work/f"
	export TOOL_WRITES=$work/writes
	category fs
	category block
	run preloaded iotracer start fs
	[ "$status" = 0 ]
	run preloaded iotracer stop fs "$work/f" block
	[ "$status" = 0 ]
	run preloaded iotracer reset fs
	run preloaded iotracer timereset block
	run preloaded iotracer stop --all
	diff - "$work/writes" <<-'END'
		6:start
		5:stop
		5:stop
		5:stop
		6:reset
		6:reset
		5:stop
	END
}

@test "start: a category that the module lacks is an error" {
	category fs
	run --separate-stderr iotracer start cache
	[ "$status" = 1 ]
	[ "$stderr" = "iotracer: cache: the module that is loaded has no such category" ]
}

@test "stop: a file that is named like a category is given with a directory" {
	category fs
	cd "$work"
	touch fs
	run iotracer stop ./fs
	[ "$status" = 1 ]
	[[ $output == "iotracer: ./fs: not traced"* ]]
}

@test "a category that is being recorded cannot be changed by other commands" {
	category fs
	flock -F "$IOTRACER_PROC/fs/control" sleep 300 &
	pid=$!
	wait_for grep -qx sleep "/proc/$pid/comm" # what flock becomes when it has the lock
	for command in "start fs" "stop fs" "reset fs" "filter fs none"; do
		# shellcheck disable=SC2086
		run --separate-stderr iotracer $command
		[ "$status" = 1 ]
		[ "$stderr" = "iotracer: fs is being recorded by process $pid (sleep 300): wait for it, or end it (kill -INT $pid)" ]
	done
	kill "$pid"
}

@test "a category whose recorder has ended can be changed" {
	category fs
	exec 4<"$IOTRACER_PROC/fs/control"
	flock -x 4
	exec 4<&-
	run iotracer stop fs
	[ "$status" = 0 ]
	[ "$(tail -n 1 "$IOTRACER_PROC/fs/control")" = stop ]
}

@test "filter: shows a filter as it can be given" {
	category fs
	[ "$(iotracer filter fs)" = op=READ ]
}

@test "filter: sets a filter" {
	category fs
	iotracer filter fs pid=7 op=READ,WRITE
	iotracer filter fs "uid=1 dev=8:1" none
	[ "$(tail -n 2 "$IOTRACER_PROC/fs/control")" = $'filter pid=7 op=READ,WRITE\nfilter uid=1 dev=8:1 none' ]
}

@test "filter: names of users and devices become numbers, and one that is none is refused" {
	category fs
	export IOTRACER_ROOT=$work/root
	mkdir -p "$IOTRACER_ROOT/sys/class/block/sda1"
	echo 8:1 >"$IOTRACER_ROOT/sys/class/block/sda1/dev"
	iotracer filter fs "uid=root,7 dev=sda1,9:3" "uid=$(id -nu 1)"
	[ "$(tail -n 1 "$IOTRACER_PROC/fs/control")" = 'filter uid=0,7 dev=8:1,9:3 uid=1' ]
	while IFS='|' read -r condition words; do
		run iotracer filter fs op=READ "$condition"
		[ "$status" = 2 ]
		[[ ${lines[0]} == "iotracer filter: $words" ]]
	done <<-'END'
		uid=no-such-user|uid=no-such-user: there is no such user here; say a name or a number
		uid=root,|uid=: there is no such user here; say a name or a number
		dev=sda1,sdz|dev=sdz: there is no such block device; say MAJOR:MINOR, a name as sda1, or the path of a node
		dev=/dev/null|dev=/dev/null: there is no such block device; say MAJOR:MINOR, a name as sda1, or the path of a node
		netns=no-such|netns=no-such: there is no such network namespace; say its number, its name in /run/netns, or a path
		netns=7,/dev/null|netns=/dev/null: there is no such network namespace; say its number, its name in /run/netns, or a path
	END
	category net
	iotracer filter net port=80 netns=4026531840,/proc/self/ns/net
	[ "$(tail -n 1 "$IOTRACER_PROC/net/control")" = "filter port=80 netns=4026531840,$(stat -Lc %i /proc/self/ns/net)" ]
	[ "$(tail -n 1 "$IOTRACER_PROC/fs/control")" = 'filter uid=0,7 dev=8:1,9:3 uid=1' ]
}

@test "filter: without a category, or with a file, is a usage error" {
	category fs
	run iotracer filter
	[ "$status" = 2 ]
	run iotracer filter "$work"
	[ "$status" = 2 ]
	[[ $output == *"there is no category"*"there are: $(categories | paste -sd , | sed 's/,/, /g')"* ]]
}

@test "filter: a refusal of the module is reported" {
	category fs
	TOOL_WRITES=$work/writes TOOL_WRITE_ERROR="22:filter" run preloaded iotracer filter fs pid=x
	[ "$status" = 1 ]
	[[ $output == *'fs: the module refuses "filter pid=x"'* ]]
}

@test "log of a category: the text is the module's log" {
	category fs
	iotracer log fs | cmp - "$IOTRACER_PROC/fs/log"
}

@test "log of a category: CSV has export's columns, sorted by the end of events" {
	category fs
	run --separate-stderr iotracer log --format=csv fs
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 3 ]
	[ "$(tr , '\n' <<<"${lines[0]}")" = "$(columns_of fs)" ]
	[[ ${lines[1]} == *',"/old,name",/new,'*,RENAME,*,mv, ]]
	[[ ${lines[2]} == *,500,0,0,3,*,/a,,*,READ,*,cat, ]]
	[ "$stderr" = "iotracer: fs: 1 events were overwritten or lost before they were read" ]
}

@test "log of a category: JSON has the same events" {
	category fs
	iotracer log --format=json fs 2>/dev/null | jq -s -e '[.[].op] == ["RENAME", "READ"] and .[1].path == "/a" and
		.[0].latency_ns == 20'
}

@test "log of a category: by the end of events, then by seq; each with its path, however many there are" {
	category fs
	# more paths than one read returns
	for ((i = 1; i <= 3000; i++)); do
		echo "id=$i text=/a/directory/with/a/long/name/$i"
	done | tool-stream layout=2 >"$IOTRACER_PROC/paths"
	{
		for ((i = 0; i < 3000; i++)); do
			echo "cpu=0 seq=$i time=$((1000000 - i)) latency=$((2 * i)) op=1 path=$((i + 1))"
		done
		echo "cpu=1 seq=7 time=5 latency=999999 op=1 path=2"
		echo "cpu=2 seq=3 time=1000004 op=1 path=1"
	} | tool-stream layout=1 event=2 >"$IOTRACER_PROC/fs/stream"
	for ((i = 0; i < 3000; i++)); do
		[ "$i" != 4 ] || echo "2 3 /a/directory/with/a/long/name/1"
		echo "0 $i /a/directory/with/a/long/name/$((i + 1))"
		[ "$i" != 4 ] || echo "1 7 /a/directory/with/a/long/name/2"
	done >"$work/expected"
	iotracer log --format=json fs 2>/dev/null | jq -r '"\(.cpu) \(.seq) \(.path)"' | diff - "$work/expected"
}

@test "log --follow of a category: events that were lost meanwhile are counted" {
	category fs
	env --default-signal=INT iotracer log -F -f csv fs >"$work/out" 2>"$work/err" &
	pid=$!
	wait_for lines_are "$work/out" 3
	tool-stream continue layout=1 event=2 >>"$IOTRACER_PROC/fs/stream" <<-'END'
		cpu=0 seq=6 time=3000000000 gap=4
		cpu=2 seq=9 time=4000000000 gap=9
	END
	wait_for lines_are "$work/out" 5
	kill -INT "$pid"
	wait "$pid"
	[ "$(cat "$work/err")" = "iotracer: fs: 14 events were overwritten or lost before they were read" ]
}

@test "log of a category: --no-header leaves out the header" {
	category fs
	[ "$(iotracer log --format=csv --no-header fs 2>/dev/null | wc -l)" = 2 ]
}

@test "log of a category: a stream that the tool cannot read is refused" {
	category fs
	for damage in magic=7 version=7 schema=5 layout=0 event=99 record_size=8; do
		tool-stream layout=1 event=2 "$damage" </dev/null >"$IOTRACER_PROC/fs/stream"
		run --separate-stderr iotracer log --format=csv fs
		[ "$status" = 1 ]
		[ -z "$output" ]
		[[ $stderr == "iotracer: fs: "* ]]
	done
}

@test "log of a category that the module lacks is an error" {
	category fs
	run iotracer log block
	[ "$status" = 1 ]
	[ "$output" = "iotracer: block: the module that is loaded has no such category" ]
}

@test "status: nothing is traced" {
	run iotracer status
	[ "$status" = 0 ]
	[ "$output" = "nothing is traced now (iotracer status --all shows what is stopped, too)" ]
	[ "$(iotracer status --format=json)" = "[]" ]
}

@test "status: shows what runs; what is stopped only with --all or by name" {
	touch "$work/f" "$work/g"
	target sda1_1 "$work/f"
	target sda1_2 "$work/g"
	sed -i 's/^1/0/' "$IOTRACER_PROC/sda1_2/control"
	category fs
	category block start
	shown() {
		iotracer status "$@" | sed -n 's/^\([a-z].*\)  \(running\|stopped\)$/\1 \2/p' | sort | tr '\n' ' '
	}
	[ "$(shown)" = "block running sda1_1 running " ]
	[ "$(shown --all)" = "block running fs stopped sda1_1 running sda1_2 stopped " ]
	[ "$(shown fs)" = "fs stopped " ]
	[ "$(shown fs sda1_2)" = "fs stopped sda1_2 stopped " ]
	[ "$(iotracer status --format=json | jq -c '[.[] | .target // .category]')" = '["sda1_1","block"]' ]
	[ "$(iotracer status --all --format=json | jq length)" = 4 ]
}

@test "status: a category that the module lacks is an error" {
	category fs
	run iotracer status cache
	[ "$status" = 1 ]
}

# --- format, install ----------------------------------------------------------

@test "format: --columns describes every column of the CSV" {
	touch "$work/f"
	sample_stream "$work/f"
	columns=$(iotracer log --format=csv "$work/f" 2>/dev/null | head -n 1 | tr , '\n')
	[ "$(columns_of log)" = "$columns" ]
}

# fields_of_log: print the fields of a target's records: the columns of its CSV but the first
fields_of_log() {
	columns_of log | sed -n '2,$ { s/_ns$//; s/_bytes$//; p }'
}

@test "format: the text has the fields of the CSV in their order" {
	[ "$(iotracer format | sed -n '/^event io /,/^event fs /s/^field \([^ ]*\).*/\1/p')" = "$(fields_of_log)" ]
}

# hash_of [EXPRESSION]: print the hash of the schema whose events.def was changed by sed
hash_of() {
	rm -rf "$work/module"
	mkdir "$work/module"
	cp -r "$TOP"/module/{core,uapi} "$work/module"
	sed -i "${1:-}" "$work/module/uapi/events.def"
	[ -z "${1:-}" ] || ! cmp -s "$work/module/uapi/events.def" "$TOP/module/uapi/events.def"
	gcc -I"$work/module" -o "$work/hash" -x c - "$work/module/core/schema.c" <<-'END'
		#include <stdio.h>
		#include "core/schema.h"
		int main(void) { return printf("%016llx\n", (unsigned long long)iot_schema_hash()) < 0; }
	END
	"$work/hash"
}

@test "the hash of the schema changes with each property of a field or record, and with no text" {
	ours=$(iotracer --version | sed 's/.*schema \(.*\))/\1/')
	[ "$(hash_of)" = "$ours" ]
	[ "$(hash_of 's/"bytes asked for"/"wanted"/; s/position in the target/place in the target/')" = "$ours" ]
	{
		echo "$ours"
		# name, id and size of a record; name, type and kind of a field; the offset of one
		hash_of 's/^IOT_EVENT(io, IO, 1,/IOT_EVENT(io, IO, 91,/'
		hash_of 's/(io, u64, sector,/(io, u64, place,/'
		hash_of 's/(io, s64, result, signed,/(io, u64, result, signed,/'
		hash_of 's/(io, u64, sector, decimal,/(io, u64, sector, hex,/'
		hash_of 's/(block, disk, 32,/(block, disk, 40,/'
		hash_of 's/(io, comm, 16,/(io, comm, 24,/; s/(io, origin_comm, 16,/(io, origin_comm, 8,/'
		hash_of 's/(uring\b/(ring/'
	} >"$work/hashes"
	[ "$(wc -l <"$work/hashes")" = 8 ]
	[ -z "$(sort "$work/hashes" | uniq -d)" ]
}

@test "format: the first line has the schema" {
	[ "$(iotracer format | head -n 1)" = "iotracer stream 3 schema $(iotracer --version | sed 's/.*schema \(.*\))/\1/')" ]
}

@test "make install copies all files" {
	make -s -C "$TOP/tools" install DESTDIR="$work/dest" PREFIX=/usr
	[ -x "$work/dest/usr/bin/iotracer" ]
	for page in man8/iotracer.8 man4/iotracer.4 man5/iotracer-trace.5 man7/iotracer-vm.7 man3/libiotracer.3; do
		[ -f "$work/dest/usr/share/man/$page" ]
	done
	for file in bash-completion/completions/iotracer zsh/vendor-completions/_iotracer \
		fish/vendor_completions.d/iotracer.fish; do
		[ -f "$work/dest/usr/share/$file" ]
	done
}

@test "make uninstall removes all files" {
	make -s -C "$TOP/tools" install DESTDIR="$work/dest" PREFIX=/usr
	make -s -C "$TOP/tools" uninstall DESTDIR="$work/dest" PREFIX=/usr
	[ -z "$(find "$work/dest" -type f)" ]
}

@test "status: shows system-wide categories after the targets, unless a file is named" {
	touch "$work/f"
	target sda1_1 "$work/f"
	mkdir "$IOTRACER_PROC/fs"
	printf '%s\n' start 'size 16384' 'sample 3' 'mode overwrite' 'filter op=READ' >"$IOTRACER_PROC/fs/control"
	printf '%s\n' 't0_ns 1000000002' 'seen 30' 'stored 20' 'overwritten 7' 'lost 3' 'missed 1' 'cpus 2' 'size 16384' 'memory_bytes 99' >"$IOTRACER_PROC/fs/stats"
	run iotracer status
	[ "$status" = 0 ]
	[[ $output == sda1_1*$'\n\nfs  running\n  filter      op=READ\n  sample      3\n'*$'T0          1.000000002 s\n  size        16384 events a CPU\n  memory      99 bytes\n'*$'seen        30\n'*$'lost        3\n  missed      1' ]]
	run iotracer status --format=json
	jq -e '.[1] | .category == "fs" and .running and .filter == "op=READ" and .t0_ns == 1000000002 and .seen == 30 and .lost == 3 and .cpus == 2' <<<"$output"
	run iotracer status "$work/f"
	[[ $output != *"fs  running"* ]]
}
