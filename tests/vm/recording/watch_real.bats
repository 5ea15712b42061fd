#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# iotracer watch with the real module: each event of a workload is one line, and the machine is left as it
# was, however the watch ends.

# bats file_tags=once

# Tests run in subshells, and "run --separate-stderr" sets stderr.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

load ../../lib/recording

# start_watch ARGUMENT...: begin to watch, and wait until the module traces it
start_watch() {
	env --default-signal=INT iotracer watch "$@" >out 2>err 3>&- &
	watch=$!
	wait_for reads "$watch"
}

# reads PID: it has a stream open
reads() {
	find "/proc/$1/fd" -lname '/proc/iotracer/*/stream' 2>/dev/null | grep -q .
}

# end_watch [SIGNAL]: end the watch, which is no error and leaves no target
end_watch() {
	kill -"${1:-INT}" "$watch"
	ended
}

ended() {
	local status=0
	wait "$watch" || status=$?
	[ "$status" = 0 ] || { echo "status $status"; cat err; return 1; }
	[ -z "$(iotracer list)" ]
}

is_listed() {
	[ -n "$(iotracer list)" ]
}

# has_lines N
has_lines() {
	[ "$(wc -l <out)" -ge "$1" ]
}

# events: who, level, operation and place of each line
events() {
	tail -n +2 out | awk '{ print $2, $3, $4, $5 }' | sort
}

# logged FILE: the same of the log
logged() {
	iotracer log --format=json "$1" | jq -r '[.comm + "/" + (.pid | tostring), (.level | ascii_upcase),
		({ R: "READ", W: "WRITE" }[.op] // .op),
		(if .requested_bytes == 0 and .offset_bytes == 0 and .sector == 0 then "-"
		 elif .level == "blk" then "s" + (.sector | tostring)
		 else .offset_bytes | tostring end)] | join(" ")' | sort
}

@test "watch: each event of dd and fio on a file is a line, as the log has it" {
	touch /mnt/work/f
	start_watch --all-operations /mnt/work/f
	dd if=/dev/zero of=/mnt/work/f bs=64k count=20 oflag=direct conv=notrunc,fsync status=none
	fio --name=x --filename=/mnt/work/f --rw=randrw --bs=4k --size=1M --io_size=256k --ioengine=psync --fsync=8 \
		--output=/dev/null
	sync
	logged /mnt/work/f >expected
	[ "$(wc -l <expected)" -gt 100 ]
	wait_for has_lines $(($(wc -l <expected) + 1))
	end_watch
	events | diff expected -
	[ ! -s err ]
	# with the exact figures of one of them
	[ "$(grep -c ' WRITE  *[0-9]*  *64.0KiB  *ok ' out)" = 20 ]
}

@test "watch: each signal, a closed pipe, --count and --time end it, and the target is gone" {
	touch /mnt/work/f
	for signal in INT TERM HUP; do
		start_watch /mnt/work/f
		[ -n "$(iotracer list)" ]
		echo x >>/mnt/work/f
		wait_for has_lines 2
		end_watch $signal
	done
	iotracer watch --time=1 /mnt/work/f
	[ -z "$(iotracer list)" ]
	start_watch --count=3 /mnt/work/f
	for i in {1..5}; do echo "$i" >>/mnt/work/f; done
	ended
	[ "$(wc -l <out)" = 4 ]
	iotracer watch /mnt/work/f 2>err 3>&- | head -n 2 >out &
	watch=$!
	wait_for is_listed
	while [ "$(wc -l <out)" -lt 2 ]; do echo x >>/mnt/work/f; done
	ended
}

@test "watch: what is traced already stays, and shows what happens from now on" {
	touch /mnt/work/f
	iotracer add /mnt/work/f
	echo old >>/mnt/work/f
	iotracer list >before
	start_watch --all-operations /mnt/work/f
	echo new and more >>/mnt/work/f
	wait_for has_lines 2
	kill -INT "$watch"
	wait "$watch"
	[ "$(wc -l <out)" = 2 ]
	grep -q ' WRITE  *4  *13B ' out
	iotracer list | diff before -
	# the target is removed meanwhile, and added again by somebody: that one is not ours
	iotracer remove /mnt/work/f
	start_watch /mnt/work/f
	kill -STOP "$watch"
	iotracer remove /mnt/work/f
	iotracer add /mnt/work/f
	kill -CONT "$watch"
	wait "$watch"
	[ "$(cat err)" = "iotracer: /mnt/work/f: target was removed" ]
	[ -n "$(iotracer list)" ]
	iotracer remove /mnt/work/f
}

@test "watch: a file that takes over the path is said, and watched from there on; so is one that is gone" {
	echo 1 >/mnt/work/f
	start_watch /mnt/work/f
	echo 2 >/mnt/work/other
	mv /mnt/work/other /mnt/work/f
	wait_for grep -q -- '-- another file has its path now, which is watched from here on' out
	echo 3 >>/mnt/work/f
	wait_for grep -q ' WRITE ' out
	mv /mnt/work/f /mnt/work/g
	wait_for grep -q -- '-- its path leads to no file now: it was renamed or deleted' out
	mv /mnt/work/g /mnt/work/f
	wait_for grep -q -- '-- its path leads to it again' out
	end_watch
	rm out
	start_watch --inode /mnt/work/f
	echo 2 >/mnt/work/other
	mv /mnt/work/other /mnt/work/f
	wait_for grep -q -- '-- another file has its path now, which is not watched' out
	kill -INT "$watch"
	wait "$watch"
	cat err
	# the module takes a path for the file that it leads to now
	iotracer list
	[ -z "$(iotracer list)" ]
}

@test "watch: a process, until it ends; a name; a directory; a control group" {
	sh -c 'read go; exec dd if=/dev/zero of=/mnt/work/p bs=4k count=7 conv=fsync status=none' < <(
		wait_for test -e go; echo) &
	pid=$!
	rm -f go
	start_watch --pid $pid --filter op=WRITE,FSYNC
	touch go
	wait "$pid"
	ended
	[ "$(cat err)" = "iotracer: pid=$pid: the process has ended" ]
	[ "$(grep -c " dd/$pid .* WRITE .* 4.00KiB .* /mnt/work/p\$" out)" = 7 ]
	[ "$(grep -c " dd/$pid .* FSYNC .* /mnt/work/p\$" out)" = 1 ]
	mkdir /mnt/work/d
	start_watch --filter op=WRITE /mnt/work/d
	dd if=/dev/zero of=/mnt/work/d/x bs=5000 count=1 status=none
	wait_for grep -q ' WRITE .* 4.88KiB .* /mnt/work/d/x$' out
	end_watch
	start_watch --comm=dd --filter op=RENAME,WRITE
	dd if=/dev/zero of=/mnt/work/c bs=3k count=2 status=none
	wait_for grep -q ' WRITE  *3072  *3.00KiB .* /mnt/work/c$' out
	end_watch
}

@test "watch: a category is started for as long as it is watched, and left as it was" {
	echo 'filter comm=nobody' >/proc/iotracer/fs/control
	grep -v '^#' /proc/iotracer/fs/control >before
	start_watch fs --filter comm=dd --filter op=WRITE
	wait_for running fs
	dd if=/dev/zero of=/mnt/work/c bs=2k count=9 status=none
	wait_for grep -q ' WRITE  *16384 ' out
	end_watch
	[ "$(grep -c ' WRITE .* 2.00KiB .* /mnt/work/c$' out)" = 9 ]
	grep -v '^#' /proc/iotracer/fs/control | diff before -
	echo 'filter none' >/proc/iotracer/fs/control
}

@test "watch: a reader that is too slow: what is lost is said, and all is accounted for" {
	truncate -s 16M /mnt/work/f
	mkfifo fifo
	# nothing is taken from the pipe until the load is over
	{ wait_for test -e go; cat >out; } <fifo 3>&- &
	reader=$!
	iotracer watch --max-events=500 /mnt/work/f >fifo 2>err 3>&- &
	watch=$!
	wait_for reads "$watch"
	fio --name=x --filename=/mnt/work/f --rw=write --bs=512 --size=16M --ioengine=psync --output=/dev/null
	seen=$(iotracer status --format=json /mnt/work/f | jq '.[0].levels.total.seen')
	touch go
	wait_for all_there "$seen"
	end_watch
	wait "$reader"
	grep -q 'events were lost: overwritten' out
}

# all_there N: lines of events and those that were lost are N
all_there() {
	[ "$(awk '/ events were lost/ { n += $2; next } /^-- / || /^TIME/ { next } { n++ } END { print n + 0 }' out)" = "$1" ]
}

@test "watch: on a terminal each line fits it, whatever its size, in colours; NO_COLOR has none" {
	screen() { tmux -L watch capture-pane -p -t watch "$@"; }
	shows() { screen | grep -q -- "$1"; }
	long=/mnt/work/a-directory-with-a-long-name/another-one/$(printf 'é%.0s' {1..60})
	mkdir -p "$(dirname "$long")"
	for width in 80 140 50; do
		tmux -L watch -f /dev/null new-session -d -x $width -y 24 -s watch \
			"env LC_ALL=C.UTF-8 sh -c 'trap : INT; iotracer watch --filter comm=dd /mnt/work; echo status \$?; exec sleep 1000'"
		wait_for shows 'C ends'
		dd if=/dev/zero of="$long" bs=4k count=10 status=none
		wait_for shows 'WRITE .*é'
		# a line is one line of the screen
		[ "$(screen -J | grep -E 'dd/| OP ' | LC_ALL=C.UTF-8 wc -L)" -le $width ]
		screen -e | grep -q "$(printf '\033\\[33mWRITE')"
		tmux -L watch send-keys -t watch C-c
		wait_for shows 'status 0'
		tmux -L watch kill-server
		[ -z "$(iotracer list)" ]
	done
	tmux -L watch -f /dev/null new-session -d -x 80 -y 24 -s watch \
		"env NO_COLOR=1 sh -c 'iotracer watch --count=1 /mnt/work; echo status \$?; exec sleep 1000'"
	wait_for shows 'C ends'
	echo x >/mnt/work/y
	wait_for shows 'status 0'
	[ "$(screen -e | grep -c "$(printf '\033')")" = 0 ]
	tmux -L watch kill-server
}

@test "watch: a mistake, a user without rights, no module: one line each" {
	run --separate-stderr iotracer watch /mnt/work/none
	[ "$status" = 1 ]
	[ "$stderr" = "iotracer: /mnt/work/none: no such file" ]
	run --separate-stderr iotracer watch --pid=4194000
	[ "$status" = 1 ]
	echo "$stderr"
	[ "${#stderr_lines[@]}" = 1 ]
	run --separate-stderr setpriv --reuid=65533 --regid=65533 --clear-groups "$TOP/tools/iotracer" watch /mnt/work
	[ "$status" = 4 ]
	[ "${#stderr_lines[@]}" = 1 ]
	touch /mnt/work/f
	start_watch /mnt/work/f
	rmmod iotracer
	wait "$watch"
	[ "$(cat err)" = "iotracer: /mnt/work/f: target was removed" ]
	run --separate-stderr iotracer watch /mnt/work/f
	[ "$status" = 3 ]
	[ "${#stderr_lines[@]}" = 1 ]
	# shellcheck disable=SC2119 # no parameters
	load_module
}
