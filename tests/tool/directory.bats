#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What the commands of the tool do with a directory that is traced, of a directory that looks like
# /proc/iotracer. Needs neither root nor the module.

# Tests run in subshells, and "run --separate-stderr" sets stderr.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	work=$(mktemp -d /tmp/iotracer-directory.XXXXXX)
	export IOTRACER_PROC=$work/proc
	mkdir "$IOTRACER_PROC" "$work/d"
	: >"$IOTRACER_PROC/control"
	touch "$work/f"
	target sda1_9 "$work/f"
	cd "$work" || return
	directory sda1_1 "$work/d"
}

teardown() {
	cd /
	rm -rf "$work"
}

# directory NAME DIRECTORY [LISTED_PATH]: make a target as the module would show a directory, with
# six events, two of which were lost
directory() {
	target "$@"
	sed -i 's/^blk .*/blk 0 0 0 0 0/; s/^total .*/total 6 4 1 1 0/' "$IOTRACER_PROC/$1/stats"
	cat >"$IOTRACER_PROC/$1/log" <<-'END'
		0.000000500;-;0;0;VFS;sh;7;MKDIR;sub;;0
		0.000000900;W;0;6;VFS;a\073b;8;WRITE;sub/a;;6
		0.000001000;-;0;8192;VFS;sh;8;FALLOCATE;sub/a;;0
		0.000002000;-;0;0;VFS;mv;9;RENAME;sub/a;/elsewhere/b;0
	END
	events "$1" <<-'END'
		cpu=0 seq=1 time=2000000000 latency=500 op=1 pid=8 tid=8 comm=sh path=2 offset=5 requested=6 result=6 kind=1
		cpu=1 seq=5 time=1000000000 latency=20 op=33 pid=7 tid=7 comm=sh path=1 flags2=493 kind=2
	END
	paths <<-END
		id=1 text=$2/sub
		id=2 text=$2/sub/a
		id=3 text=/elsewhere/b
		id=4 text=$2
		id=5 text=$2er/c
		id=6 text=a\040target
	END
}

# events NAME: make the stream of that target, or category, of lines of FIELD=VALUE on standard input
events() {
	tool-stream layout=1 event=2 >"$IOTRACER_PROC/$1/stream"
}

paths() {
	tool-stream layout=2 >"$IOTRACER_PROC/paths"
}

# all_kept NAME: set the counters of a directory so that no event is missing
all_kept() {
	sed -i 's/^total .*/total 6 6 0 0 0/' "$IOTRACER_PROC/$1/stats"
}

# fuse_lines: print the FUSE lines of the directory, without their times
fuse_lines() {
	iotracer log --format=fuse d | sed 's/^[0-9]\{8\}-[0-9]\{6\}\.[0-9]\{6\}: //'
}

lines_are() {
	[ -e "$1" ] && [ "$(wc -l <"$1")" = "$2" ]
}

# --- add, remove, start, stop, status -----------------------------------------

@test "add: a directory is one as a file is; slashes behind its name are left out" {
	mkdir new
	export TOOL_WRITES=$work/writes
	run preloaded iotracer add new
	[ "$status" = 0 ]
	[ -z "$output" ]
	preloaded iotracer add -n 42 new//
	preloaded iotracer add -i -n 5 / "$work/new/"
	diff - writes <<-END
		13:add new 4096
		11:add new 42
		11:add -i / 5
		$((14 + ${#work})):add -i $work/new 5
	END
}

@test "add: a slash behind a file's name is not left out, so that the module refuses it" {
	export TOOL_WRITES=$work/writes
	preloaded iotracer add -n 1 f/
	[ "$(cat writes)" = "9:add f/ 1" ]
}

@test "add: a directory that is traced keeps the size of its log unless one is given" {
	export TOOL_WRITES=$work/writes
	preloaded iotracer add d/
	[ "$(cat writes)" = "6:add d" ]
}

@test "add: a module that traces no directories is the reason" {
	TOOL_WRITE_ERROR=21:add run preloaded iotracer add d
	[ "$status" = 1 ]
	[ "$output" = "iotracer: d: a directory, and the module that is loaded traces only files and block devices" ]
}

@test "remove: a directory, by its path, with a slash, by the name of the target" {
	export TOOL_WRITES=$work/writes
	for name in d d/ "$work/d/" sda1_1; do
		rm -f writes
		preloaded iotracer remove "$name"
		case $name in
		d | d/) [ "$(cat writes)" = "9:remove d" ] ;;
		*) [ "$(cut -d : -f 2 writes)" = "remove $work/d" ] ;;
		esac
	done
	rm writes
	cd d
	preloaded iotracer remove .
	[ "$(cat ../writes)" = "9:remove ." ]
}

@test "start, stop, reset, timereset: a directory is named as a file is" {
	export TOOL_WRITES=$work/writes
	for command in start stop reset timereset; do
		for name in d d/ "$work/d" "$work/d/" sda1_1; do
			rm -f writes
			preloaded iotracer "$command" "$name"
			[ "$(cat writes)" = "$((${#command} + 1)):$command" ]
		done
	done
}

@test "a directory that was deleted is found by its path, with a slash, too" {
	rmdir d
	for name in d d/ "$work/d/"; do
		iotracer status "$name" | grep -q '^sda1_1 '
	done
}

# without_identity NAME: let the target's stats not say which file it is
without_identity() {
	sed -i '/^device\|^inode\|^generation/d' "$IOTRACER_PROC/$1/stats"
}

@test "a directory whose stats do not identify it is known by its path" {
	without_identity sda1_1
	mkdir d/e
	ln -s d link
	for name in d d/ link "$work/d" sda1_1; do
		run iotracer status "$name"
		[ "$status" = 0 ]
		[[ ${lines[0]} == "sda1_1  running" ]]
	done
	for name in d/e . f/..; do
		run iotracer status $name
		[ "$status" = 1 ]
		[[ $output == "iotracer: $name: not traced"* ]]
	done
	[ "$(iotracer status --format=json d | jq -c '.[] | [.device, .inode]')" = '[null,null]' ]
	[[ $(iotracer log --format=fuse link 2>/dev/null) == *" MKDIR: path=/sub; mode=493"* ]]
	export TOOL_WRITES=$work/writes
	preloaded iotracer add d/ link d/e
	[ "$(cat writes)" = $'6:add d\n9:add link\n13:add d/e 4096' ]
}

@test "status, list: a directory's size is that of each CPU" {
	run iotracer status d f
	[ "$status" = 0 ]
	[ "$(grep '^sda\|  events' <<<"$output")" = "sda1_1  running
  events      3 of at most 100 a CPU
sda1_9  running
  events      3 of at most 100" ]
	[ "$(iotracer status --format=json d f | jq -c '[.[] | [.target, .directory, .max_events]]')" = \
		'[["sda1_1",true,100],["sda1_9",false,100]]' ]
	[ "$(iotracer list)" = "sda1_9  $work/f"$'\n'"sda1_1  $work/d" ]
}

# --- log ----------------------------------------------------------------------

@test "log of a directory: the text is the module's log" {
	iotracer log d | cmp - "$IOTRACER_PROC/sda1_1/log"
	iotracer log --format=text d/ | cmp - "$IOTRACER_PROC/sda1_1/log"
}

@test "log of a directory: CSV and JSON have export's columns of fs, sorted by the end of events" {
	run --separate-stderr iotracer log --format=csv d
	[ "$status" = 0 ]
	[ "$(tr , '\n' <<<"${lines[0]}")" = "$(iotracer format --columns | sed -n 's/^fs\t\([^\t]*\).*/\1/p')" ]
	[ "${#lines[@]}" = 3 ]
	[[ ${lines[1]} == *,"$work/d/sub",*,MKDIR,* ]]
	[[ ${lines[2]} == *,"$work/d/sub/a",*,WRITE,* ]]
	[ "$stderr" = "iotracer: d: 2 events were overwritten or lost before they were read" ]
	[ "$(iotracer log --format=csv --no-header d 2>/dev/null | wc -l)" = 2 ]
	iotracer log --format=json d 2>/dev/null |
		jq -s -e --arg d "$work/d" '[.[] | [.op, .path]] == [["MKDIR", $d + "/sub"], ["WRITE", $d + "/sub/a"]]'
}

# one_more FORMAT: another event for the directory, after four that were lost
one_more() {
	if [ "$1" = text ]; then
		echo '1;-;0;0;VFS;x;1;RMDIR;sub;;0' >>"$IOTRACER_PROC/sda1_1/log"
	else
		tool-stream continue layout=1 event=2 >>"$IOTRACER_PROC/sda1_1/stream" \
			<<<"cpu=0 seq=6 time=3000000000 op=34 path=1 gap=4"
	fi
}

@test "log --follow of a directory: new events are printed, those lost are counted, removal ends it" {
	for words in "text 4" "csv 3" "fuse 2"; do
		read -r format before <<<"$words"
		preloaded TOOL_GONE="$work/gone" iotracer log -F -f "$format" d >out 2>err 3>&- &
		pid=$!
		wait_for lines_are out "$before"
		one_more "$format"
		wait_for lines_are out $((before + 1))
		tail -n 1 out | grep -q RMDIR
		touch gone
		wait "$pid"
		[ "$(head -n 1 err)" = "iotracer: d: target was removed" ]
		[ "$format" = text ] || grep -qx 'iotracer: d: 6 events were overwritten or lost before they were read' err
		rm -r gone out "$IOTRACER_PROC/sda1_1"
		directory sda1_1 "$work/d"
	done
}

@test "log of a directory: a target that is removed is an error, as the output is incomplete" {
	touch gone
	for format in text csv json fuse; do
		TOOL_GONE=$work/gone run --separate-stderr preloaded iotracer log --format=$format d
		[ "$status" = 1 ]
		[[ $stderr == "iotracer: d: the target was removed"* ]]
	done
}

@test "log of a directory: a stream that the tool cannot read is refused" {
	for damage in version=7 schema=5 event=99 event=3 record_size=8; do
		for format in csv json fuse; do
			tool-stream layout=1 event=2 "$damage" </dev/null >"$IOTRACER_PROC/sda1_1/stream"
			run --separate-stderr iotracer log --format=$format d
			[ "$status" = 1 ]
			[ -z "$output" ]
			[[ $stderr == "iotracer: d: "* ]]
		done
	done
}

# --- the lines of FUSE --------------------------------------------------------

@test "log --format=fuse: each operation that FUSE has, with paths relative to the directory" {
	all_kept sda1_1
	events sda1_1 <<-'END'
		cpu=0 seq=0 time=1 op=33 path=1 flags2=493 kind=2
		cpu=0 seq=1 time=2 op=5 path=2 flags=0x241 flags2=420 result=3 kind=1
		cpu=0 seq=2 time=3 op=1 path=2 offset=7 requested=6 result=-28 kind=1
		cpu=0 seq=3 time=4 op=3 path=2 offset=512 requested=4096 result=4096 kind=1
		cpu=0 seq=4 time=5 op=6 path=2 kind=1
		cpu=0 seq=5 time=6 op=7 path=2 kind=1
		cpu=0 seq=6 time=7 op=4 path=2 flags=0x80000 result=3 kind=1
		cpu=0 seq=7 time=8 op=0 path=2 offset=7 requested=100 result=6 kind=1
		cpu=0 seq=8 time=9 op=2 path=2 offset=0 requested=4096 result=13 kind=1
		cpu=0 seq=9 time=10 op=9 path=2 kind=1
		cpu=0 seq=10 time=11 op=10 path=2 kind=1
		cpu=0 seq=11 time=12 op=20 path=4 kind=2
		cpu=0 seq=12 time=13 op=22 path=2 flags2=0 offset=12 requested=18446744073709551615 kind=1
		cpu=0 seq=13 time=14 op=21 path=2 flags2=384 kind=1
		cpu=0 seq=14 time=15 op=23 path=2 kind=1
		cpu=0 seq=15 time=16 op=24 path=2 requested=77 kind=1
		cpu=0 seq=16 time=17 op=25 path=2 flags2=4 kind=1
		cpu=0 seq=17 time=18 op=26 path=4 kind=2
		cpu=0 seq=18 time=19 op=27 path=2 kind=3
		cpu=0 seq=19 time=20 op=29 path=2 kind=1
		cpu=0 seq=20 time=21 op=30 path=2 path2=1 kind=1
		cpu=0 seq=21 time=22 op=31 path=2 path2=1 kind=1
		cpu=0 seq=22 time=23 op=32 path=2 path2=6 kind=3
		cpu=0 seq=23 time=24 op=34 path=1 kind=2
		cpu=0 seq=24 time=25 op=35 path=2 flags2=8624 device2=0x100003 kind=6
		cpu=0 seq=25 time=26 op=43 path=4 kind=2
	END
	diff <(fuse_lines) - <<-'END'
		   MKDIR: path=/sub; mode=493
		  CREATE: path=/sub/a; mode=33188; fi=None
		   WRITE: path=/sub/a; offset=7; length_buf=6
		   WRITE: path=/sub/a; offset=512; length_buf=4096
		   FLUSH: path=/sub/a
		 RELEASE: path=/sub/a
		    OPEN: path=/sub/a; flags=32768
		    READ: path=/sub/a; length=100; offset=7
		    READ: path=/sub/a; length=4096; offset=0
		   FSYNC: path=/sub/a
		   FSYNC: path=/sub/a
		 GETATTR: path=/
		   CHOWN: path=/sub/a; uid=12; gid=-1
		   CHMOD: path=/sub/a; mode=33152
		 UTIMENS: path=/sub/a
		TRUNCATE: path=/sub/a; length=77
		  ACCESS: path=/sub/a; mode=4
		 READDIR: path=/
		READLINK: path=/sub/a
		  UNLINK: path=/sub/a
		  RENAME: path=/sub/a; new=/sub
		    LINK: path=/sub/a; new=/sub
		 SYMLINK: path=/sub/a; target=a target
		   RMDIR: path=/sub
		   MKNOD: path=/sub/a; mode=8624; dev=259
		  STATFS: path=/
	END
}

@test "log --format=fuse: the time is when the operation began, in UTC; the order that of the ends" {
	local now
	now=$(python3 -c 'import time; print(time.monotonic_ns())')
	events sda1_1 <<-END
		cpu=0 seq=1 time=$((now - 5000000000)) latency=3000000000 op=1 path=2 kind=1
		cpu=0 seq=2 time=$((now - 3000000000)) latency=100 op=29 path=2 kind=1
	END
	run --separate-stderr iotracer log --format=fuse d
	[ "${#lines[@]}" = 2 ]
	[[ ${lines[0]} == *": "*"UNLINK: path=/sub/a" ]]
	python3 - "${lines[@]}" <<-'END'
		import datetime, sys, time
		def time_of(line):
		    began = datetime.datetime.strptime(line[:22], '%Y%m%d-%H%M%S.%f')
		    return began.replace(tzinfo=datetime.timezone.utc).timestamp()
		unlink, write = map(time_of, sys.argv[1:])
		assert 3 <= time.time() - unlink < 600, unlink
		assert abs(unlink - write - 2) < 0.001, (write, unlink)
	END
}

@test "log --format=fuse: what is not below the directory is shown so, and what is not known" {
	all_kept sda1_1
	events sda1_1 <<-'END'
		cpu=0 seq=0 time=1 op=30 path=2 path2=3 kind=1
		cpu=0 seq=1 time=2 op=30 path=3 path2=2 kind=1
		cpu=0 seq=2 time=3 op=29 path=5 kind=1
		cpu=0 seq=3 time=4 op=29 path=99 kind=1
		cpu=0 seq=4 time=5 op=31 path=2 path2=98 kind=1
	END
	diff <(fuse_lines) - <<-'END'
		  RENAME: path=/sub/a; new=(elsewhere)
		  RENAME: path=(elsewhere); new=/sub/a
		  UNLINK: path=(elsewhere)
		  UNLINK: path=?
		    LINK: path=/sub/a; new=?
	END
}

@test "log --format=fuse: a directory that was renamed has its old path and its new one" {
	all_kept sda1_1
	mv d moved
	printf '%s\n' "id=1 text=$work/d/old" "id=2 text=$work/moved/new" | paths
	events sda1_1 <<-'END'
		cpu=0 seq=0 time=1 op=29 path=1 kind=1
		cpu=0 seq=1 time=2 op=29 path=2 kind=1
	END
	run --separate-stderr iotracer log --format=fuse moved
	[ "${#lines[@]}" = 2 ]
	[[ ${lines[0]} == *" UNLINK: path=/old" ]]
	[[ ${lines[1]} == *" UNLINK: path=/new" ]]
}

@test "log --format=fuse: a directory that was added by a symbolic link" {
	rm -r "$IOTRACER_PROC/sda1_1"
	: >"$IOTRACER_PROC/control"
	ln -s d link
	directory sda1_1 "$work/d" "$work/link"
	for name in link link/ d sda1_1; do
		[ "$(iotracer log --format=fuse $name 2>/dev/null | sed 's/.*: path/path/')" = $'path=/sub; mode=493\npath=/sub/a; offset=5; length_buf=6' ]
	done
}

@test "log --format=fuse: the root directory, and a name with characters that are escaped" {
	rm -r "$IOTRACER_PROC/sda1_1"
	: >"$IOTRACER_PROC/control"
	directory sda1_1 / /
	paths <<<"id=1 text=/sub"
	events sda1_1 <<<"cpu=0 seq=1 time=1 op=34 path=1 kind=2"
	[[ $(iotracer log --format=fuse / 2>/dev/null) == *" RMDIR: path=/sub" ]]
	mkdir $'a b\nc'
	target sda1_2 $'a b\nc' "$work/"'a\040b\012c'
	paths <<<"id=1 text=$work/"'a\040b\012c/x\012y'
	events sda1_2 <<<"cpu=0 seq=1 time=1 op=34 path=1 kind=2"
	[[ $(iotracer log --format=fuse $'a b\nc' 2>/dev/null) == *' RMDIR: path=/x\012y' ]]
}

# operations: print the names of fs's operations, each after its id
operations() {
	sed -n 's/^IOT_OP(FS, \([A-Z_]*\), \([0-9]*\),.*/\2 \1/p' "$TOP/module/uapi/ops.def"
}

@test "log --format=fuse: operations without a line are counted, and are those that iotracer(8) names" {
	all_kept sda1_1
	operations >all
	[ "$(wc -l <all)" -gt 40 ]
	while read -r id _; do
		printf 'cpu=0 seq=%d time=%d op=%d path=2 kind=1\n' "$id" "$id" "$id"
	done <all | events sda1_1
	iotracer log --format=fuse d >out 2>err
	sed -n 's/^iotracer: d: 1 events \(.*\) have no line in this format$/\1/p' err | sort >without
	[ "$(wc -l <without)" = "$(wc -l <err)" ]
	# a line of CLOSE is called FLUSH; a filesystem does not get what the block layer and sockets get
	local others=' (BLOCK_.*|SEND|RECV|SOCKET|BIND|LISTEN|ACCEPT|CONNECT|SHUTDOWN)$'
	[ "$(($(wc -l <out) + $(wc -l <without) + 1 + $(grep -cE "$others" all)))" = "$(wc -l <all)" ]
	sed -n '/^\.\\" begin: operations without a line/,/^\.\\" end/p' "$TOP/tools/man/iotracer.8" |
		grep -o '[A-Z][A-Z_]\{2,\}' | sort | diff - without
}

@test "log --format=fuse: opening and closing a directory has no line, as in IOTraceCollector" {
	all_kept sda1_1
	events sda1_1 <<-'END'
		cpu=0 seq=0 time=1 op=4 path=1 kind=2
		cpu=0 seq=1 time=2 op=6 path=1 kind=2
		cpu=0 seq=2 time=3 op=7 path=1 kind=2
		cpu=0 seq=3 time=4 op=20 path=1 kind=2
	END
	[ "$(fuse_lines)" = " GETATTR: path=/sub" ]
}

@test "log --format=fuse --sync: each line is on disk before the next" {
	all_kept sda1_1
	TOOL_SYNCS=$work/syncs preloaded iotracer log --format=fuse --sync d >out
	lines_are out 2
	[ "$(cat syncs)" = "$(head -n 1 out | wc -c)"$'\n'"$(wc -c <out)" ]
	TOOL_SYNCS=$work/none preloaded iotracer log --format=fuse d >unsynced
	cmp <(sed 's/^[^:]*//' out) <(sed 's/^[^:]*//' unsynced)
	[ ! -e none ]
}

@test "log --sync: CSV and JSON, too; what is not on disk is an error" {
	all_kept sda1_1
	for format in csv json fuse; do
		rm -f syncs
		TOOL_SYNCS=$work/syncs preloaded iotracer log --format=$format --sync d >out
		[ "$(tail -n 1 syncs)" = "$(wc -c <out)" ]
		lines_are syncs 2
		TOOL_SYNC_ERROR=5 run --separate-stderr preloaded iotracer log --format=$format --sync d
		[ "$status" = 1 ]
		[ "$stderr" = "iotracer: the output could not be written: Input/output error" ]
	done
}

@test "log --sync: into a pipe each line is written by itself" {
	all_kept sda1_1
	run --separate-stderr bash -c 'set -o pipefail; iotracer log --format=fuse --sync d | cat'
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 2 ]
	[ -z "$stderr" ]
}

@test "log --format=fuse of category fs, and export: the same lines, with whole paths" {
	idle_category fs
	cp "$IOTRACER_PROC/sda1_1/stream" "$IOTRACER_PROC/fs/stream"
	iotracer log --format=fuse fs | sed 's/^[^:]*: *//' >of-log
	[ "$(cat of-log)" = "MKDIR: path=$work/d/sub; mode=493
WRITE: path=$work/d/sub/a; offset=5; length_buf=6" ]
	iotracer record -o trace -- true 2>/dev/null
	iotracer export --format=fuse trace 2>/dev/null | sed 's/^[^:]*: *//' | cmp - of-log
	iotracer export --format=fuse --below "$work/d//" trace 2>/dev/null | sed 's/^[^:]*: *//' |
		cmp - <(sed "s|$work/d||" of-log)
}

# --- what a directory has not -------------------------------------------------

@test "profile: of a directory it is refused in one line that says what to do" {
	for arguments in d d/ "--format=json d" sda1_1; do
		# shellcheck disable=SC2086 # several words
		run --separate-stderr iotracer profile $arguments
		[ "$status" = 1 ]
		[ -z "$output" ]
		[ "$stderr" = "iotracer: ${arguments##* }: is a directory: for the files below it use iotracer profile --live --filter=path=$work/d" ]
	done
}

@test "log --format=fuse: of a file and of other categories it is refused" {
	run --separate-stderr iotracer log --format=fuse f
	[ "$status" = 1 ]
	[ "$stderr" = "iotracer: f: is no directory, as --format=fuse needs: add the directory it is in (iotracer add DIRECTORY)" ]
	idle_category block
	run --separate-stderr iotracer log --format=fuse block
	[ "$status" = 2 ]
	[ "$stderr" = "iotracer: block: --format=fuse is for directories and processes, and of categories for fs" ]
}

@test "log --sync: with text it is a usage error" {
	for arguments in "--sync" "--sync --format=text"; do
		# shellcheck disable=SC2086 # several words
		run --separate-stderr iotracer log $arguments d
		[ "$status" = 2 ]
		[[ $stderr == "iotracer log: --sync goes with --format=csv, json or fuse"* ]]
	done
	run iotracer log --format=xml d
	[ "$status" = 2 ]
	[[ $output == *"--format=xml: say text, csv, json or fuse"* ]]
}
