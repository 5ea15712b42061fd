#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The receipt of a trace: its sums beside what the kernel counts. The events are of a directory that
# looks like /proc/iotracer, and the kernel's counts of one that looks like /proc, so what both say
# is known. record.bats has those of a real kernel.

# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	work=$(mktemp -d /tmp/iotracer-receipt.XXXXXX)
	cd "$work" || return
	export IOTRACER_PROC=$work/proc IOTRACER_ROOT=$work/root
	mkdir -p root/proc/sys/vm root/sys/block/{sda,sdb,sdaa,zero}
	tool-stream layout=2 </dev/null >"$work/none"
	for name in fs block cache fault uring drop; do
		idle_category $name
		tool-stream layout=1 event="$(event_id $name)" </dev/null >proc/$name/stream
	done
	mv none proc/paths
	echo >root/proc/sys/vm/stat_refresh
	mkfifo root/proc/vmstat
	disks 100
}

teardown() {
	[ -z "${recorder:-}" ] || kill -9 "$recorder" 2>/dev/null || true
	cd /
	rm -rf "$work"
}

# disks N [N]...: what the kernel has counted of sda, sda1, sdb, sdaa: N times 1 read of 8 sectors,
# 2 writes of 16, 3 discards of 24, and 4 flushes each
disks() {
	local name minor=0
	for name in sda sda1 sdb sdaa; do
		echo "   8 $((minor++)) $name $1 0 $((8 * $1)) 7 $((2 * $1)) 5 $((16 * $1)) 7 0 9 9 $((3 * $1)) 0 $((24 * $1)) 7 $((4 * $1)) 7"
		shift $(($# > 1))
	done >root/proc/diskstats
	echo "   8 9 zero 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" >>root/proc/diskstats
}

# vm DIRTIED WRITTEN FAULTS MAJOR IN OUT: what the recorder reads next of /proc/vmstat
vm() {
	printf '%s %s\n' nr_dirtied "$1" nr_written "$2" pgfault "$3" pgmajfault "$4" pswpin "$5" pswpout "$6" other 7 >root/proc/vmstat
}

now_ns() {
	python3 -S -s -c 'import time; print(time.monotonic_ns())'
}

# in_call NUMBER...: whether the recorder waits in one of these system calls, and not for a disk, as
# it may in each open
in_call() {
	local call rest
	[[ $(<"/proc/$recorder/stat") == *') S '* ]] || return 1
	read -r call rest <"/proc/$recorder/syscall"
	[[ " $* " == *" $call "* ]]
}

# begin OPTION...: record in the background; returns when the kernel's counts have been read. Puts
# the time while they were read into $edge, and one after it into $now.
begin() {
	iotracer record -o t "$@" 2>err &
	recorder=$!
	wait_for in_call 257 # it opens the pipe, after it has read what is before it
	edge=$(now_ns)
	vm 1000 1000 1000 1000 1000 1000
	wait_for in_call 7 # it polls for events
	now=$(($(now_ns) + 20000000))
}

# append CATEGORY: events on standard input
append() {
	tool-stream continue layout=1 event="$(event_id "$1")" >>"proc/$1/stream"
}

# finish CATEGORY [VM]...: end it when the events of the category are on the disk
finish() {
	until [ "$(stat -c %s "t/$1.iot")" -gt 4096 ]; do sleep 0.1; done
	shift
	kill -INT "$recorder"
	wait_for in_call 257
	vm "$@"
	wait "$recorder"
	recorder=
}

# lines: what is compared: its category, of what, the trace's number, that at the edges, the kernel's, verdict
lines() {
	jq -r '.receipt.compared[] | "\(.category) \(.of)\(if .of == "" then "" else " " end)\(.what) \(.trace) \(.edge) \(.kernel) \(.verdict)"' t/metadata.json
}

# requests TIME DEVICE DISK OP CODE COUNT [FIELD=VALUE]: requests of 4 KiB that end at this time
requests() {
	local i
	for ((i = 0; i < $6; i++)); do
		echo "cpu=0 seq=$((seq++)) time=$(($1 - 100)) latency=100 device=$2 disk=$3 op=$4 op_code=$5 requested=4096 result=4096 ${*:7}"
	done
}

sda=0x800000 sda1=0x800001 sdb=0x800002 sdaa=0x800003 zero=0x800009 none=0x900000

@test "requests and sectors of each disk, in each direction, are compared with /proc/diskstats" {
	begin -c block
	{
		requests "$now" $sda sda 0 0 1
		requests "$now" $sda1 sda 0 0 1
		requests "$now" $sda1 sda 1 1 3
		requests "$now" $sda sda 5 9 1 # zeroes are written
		requests "$now" $sda sda 3 3 3
		requests "$now" $sda sda 2 2 4 result=0
		requests "$now" $sda sda 12 34 5 # a driver's own do not count
		requests "$now" $sdb sdb 0 0 2
		requests "$now" $zero zero 0 0 1
		requests "$now" $none gone 0 0 1
	} | append block
	disks 102 101 100 100
	finish block 1000 1000 1000 1000 1000 1000
	diff <(lines) - <<-'END'
		block sda requests read 2 0 2 equal
		block sda sectors read 16 0 16 equal
		block sda requests written 4 0 4 equal
		block sda sectors written 32 0 32 equal
		block sda requests discarded 3 0 6 differs
		block sda sectors discarded 24 0 48 differs
		block sda flushes 4 0 8 differs
		block sdb requests read 2 0 0 differs
		block sdb sectors read 16 0 0 differs
	END
	[ "$(jq -c '[.receipt.not_compared[] | .reason]' t/metadata.json)" = \
		'["the kernel counts no I/O of zero","the kernel counts no I/O of gone"]' ]
	# a difference does not make a trace worse, and is told
	[ "$(jq -r .state t/metadata.json)" = COMPLETE ]
	grep -qx '  receipt   5 of the kernel.s counts differ (iotracer traces show)' err
	[ "$(iotracer traces show ./t | sed -n '/receipt/,$p')" = "  receipt     lost 0, missed 0; beside the kernel's counts: 4 equal, 5 differs
              equal   block: sda requests read: 2, /proc/diskstats 2
              equal   block: sda sectors read: 16, /proc/diskstats 16
              equal   block: sda requests written: 4, /proc/diskstats 4
              equal   block: sda sectors written: 32, /proc/diskstats 32
              differs block: sda requests discarded: 3, /proc/diskstats 6
              differs block: sda sectors discarded: 24, /proc/diskstats 48
              differs block: sda flushes: 4, /proc/diskstats 8
              differs block: sdb requests read: 2, /proc/diskstats 0
              differs block: sdb sectors read: 16, /proc/diskstats 0
              -       block: /proc/diskstats: the kernel counts no I/O of zero
              -       block: /proc/diskstats: the kernel counts no I/O of gone" ]
	[ "$(iotracer traces show --json ./t | jq '.[0].receipt.compared | length')" = 9 ]
	iotracer traces verify ./t | grep -qx '  receipt     its sums are those of the events'
}

@test "the device mapper counts the parts of a bio, and data with a flush before it once more" {
	begin -c block
	# BIO is 1 << 26, PREFLUSH 1 << 10
	{
		requests "$now" $sda sda 1 1 1 flags=0x4000000 parts=3
		requests "$now" $sda sda 1 1 1 flags=0x4000400 parts=1
		requests "$now" $sda sda 1 1 1 flags=0x4000400 parts=1 requested=0 result=0
		requests "$now" $sda sda 1 1 1 flags=0x400 parts=3
	} | append block
	finish block 1000 1000 1000 1000 1000 1000
	lines | grep -qx 'block sda requests written 7 0 0 differs'
}

@test "what ended while the kernel's counts were read may be in them or not" {
	for kernel in 101 102 103 104; do
		begin -c block
		{
			requests "$edge" $sdb sdb 0 0 2
			requests "$now" $sdb sdb 0 0 1
			# one that is under way may have been counted in part; one is from before
			echo "cpu=0 seq=$((seq++)) time=$((edge - 1000000000)) latency=$((now - edge + 1000000000)) device=$sdaa disk=sdaa op=0 requested=4096 result=4096"
			requests $((edge / 2)) $sdb sdb 0 0 1
		} | append block
		disks 100 100 $kernel 101
		finish block 1000 1000 1000 1000 1000 1000
		lines | grep 'sdb .*read'
		verdict=equal
		[ $kernel != 104 ] || verdict=differs
		lines | grep -qx "block sdb requests read 1 2 $((kernel - 100)) $verdict"
		lines | grep -qx "block sdaa requests read 0 1 1 equal"
		lines | grep -qx "block sdb sectors read 8 16 $((8 * (kernel - 100))) $verdict"
		[ $kernel = 104 ] || iotracer traces show ./t | grep -qF 'block: sdb requests read: 1 (and up to 2), '
		iotracer traces verify ./t
		rm -r t
		tool-stream layout=1 event=4 </dev/null >proc/block/stream
		disks 100
	done
}

@test "pages, faults and swap are compared with /proc/vmstat" {
	begin -c block,cache,fault -f cache:kind=all
	echo "cpu=0 seq=0 time=$now op=2 pages=10
cpu=0 seq=1 time=$now op=4 pages=7
cpu=0 seq=2 time=$now op=3 pages=100" | append cache
	echo "cpu=0 seq=0 time=$((now - 100)) latency=100 severity=1
cpu=0 seq=1 time=$((now - 100)) latency=100 severity=0
cpu=0 seq=2 time=$((edge / 2)) latency=$((2 * edge)) severity=1" | append fault
	requests "$now" $none swap 1 1 2 flags=0x10000 | append block
	finish block 1010 1006 1500 1001 1000 1002
	sed -i 's/filter none/filter kind=all/' proc/cache/control
	diff <(lines) - <<-'END'
		block pages written to swap 2 0 2 equal
		cache pages made dirty 10 0 10 equal
		cache pages written 7 0 6 differs
		fault faults 2 1 500 part
		fault major faults 1 1 1 equal
	END
}

@test "what a category has only a part of, by its filter, is less or equal" {
	sed -i 's/filter none/filter kind=file/' proc/cache/control
	begin -c cache
	echo "cpu=0 seq=0 time=$now op=2 pages=10
cpu=0 seq=1 time=$now op=4 pages=7" | append cache
	finish cache 1900 1006 1000 1000 1000 1000
	diff <(lines) - <<-'END'
		cache pages made dirty 10 0 900 part
		cache pages written 7 0 6 differs
	END
}

@test "what was lost or missed is on the receipt, and explains what is not there" {
	begin -c block
	{
		requests "$now" $sdb sdb 0 0 1
		echo "cpu=0 gap=5 seq=9 time=$now device=$sdb disk=sdb op=0 requested=4096 result=4096"
	} | append block
	disks 100 100 107 100
	sed -i 's/^missed 0/missed 3/' proc/block/stats
	finish block 1000 1000 1000 1000 1000 1000
	lines | grep -qx 'block sdb requests read 2 0 7 lossy'
	lines | grep -qx 'block sdb sectors read 16 0 56 lossy'
	jq -e '.receipt.lost == 5 and .receipt.missed == 3 and .state == "LOSSY"' t/metadata.json
	[[ $(iotracer traces show ./t) == *"receipt     lost 5, missed 3; "* ]]
}

# reason: the only reason for which nothing is compared
reason() {
	jq -e '.receipt.compared == []' t/metadata.json >/dev/null
	jq -r '[.receipt.not_compared[].reason] | unique | join("|")' t/metadata.json
}

@test "a filter or sampling that leaves events out is named, and nothing is compared" {
	mkfifo unused
	mv unused root/proc/vmstat.fifo
	rm root/proc/vmstat
	printf 'nr_dirtied 1\nnr_written 1\n' >root/proc/vmstat
	while IFS='|' read -r category filter options expected; do
		sed -i "s/^filter .*/filter $filter/" "proc/$category/control"
		rm -rf t
		# shellcheck disable=SC2086 # several words, or none
		iotracer record -o t -c "$category" --time=0.1 $options 2>/dev/null
		echo "$category $filter $options: $(reason)"
		[ "$(reason)" = "$expected" ]
		iotracer traces show ./t | grep -F -- "-       $category: " | grep -F "$expected"
		idle_category "$category"
	done <<-'END'
		block|pid=1||the filter pid= leaves events out
		block|min_size=5||the filter min_size= leaves events out
		block|tree=5||the filter tree= leaves events out
		block|op=WRITE||the filter op= has none of READ, DISCARD and FLUSH
		block|none|--sample=2|only one event in N is recorded (sample)
		cache|comm=a,b kind=all||the filter comm= leaves events out
		cache|dev=8:0||the filter dev= leaves events out
		fault|op=READ||the filter op= leaves events out
		fs|none||the kernel counts calls only per process: record a command
		uring|none||the kernel has no such counts
		drop|none||the kernel has no such counts
		block|cgroup=4||the control group has none: the controller io is not enabled for it, or it is gone
	END
	rm root/proc/sys/vm/stat_refresh
	rm -rf t
	iotracer record -o t -c cache --time=0.1 2>/dev/null
	[[ $(reason) == "it is not exact: only root may"* ]]
}

@test "with a filter on devices, the disks that are in it as a whole, and partitions, are compared" {
	for devices in 8:0,8:1 8:1 8:2,8:3; do
		sed -i "s/^filter .*/filter dev=$devices/" proc/block/control
		begin -c block
		{
			requests "$now" $sda1 sda 0 0 1
			requests "$now" $sdb sdb 0 0 1
		} | append block
		disks 101
		finish block 1000 1000 1000 1000 1000 1000
		lines | grep 'requests read' >"lines-$devices"
		rm -r t
		idle_category block
		tool-stream layout=1 event=4 </dev/null >proc/block/stream
		disks 100
	done
	[ "$(cat lines-8:0,8:1)" = "block sda requests read 1 0 1 equal
block sda1 requests read 1 0 1 equal" ]
	[ "$(cat lines-8:1)" = "block sda1 requests read 1 0 1 equal" ]
	[ "$(cat lines-8:2,8:3)" = "block sdb requests read 1 0 1 equal
block sdaa requests read 0 0 1 differs" ]
}

@test "of operations that the filter names, those are compared that the kernel counts for themselves" {
	sed -i "s/^filter .*/filter op=READ,WRITE,FLUSH/" proc/block/control
	begin -c block
	requests "$now" $sdb sdb 0 0 1 | append block
	disks 100 100 101 100
	finish block 1000 1000 1000 1000 1000 1000
	[ "$(lines)" = "block sdb requests read 1 0 1 equal
block sdb sectors read 8 0 8 equal
block sdb flushes 0 0 4 differs" ]
}

# calls: events of a command, of which /proc/PID/io counts 3 that read 9 bytes and 4 that write 30
calls() {
	local op flags result seq=0
	# READ 0, WRITE 1, DIO_READ 2, DIO_WRITE 3, SENDFILE 37, COPY_FILE_RANGE 41, OPEN 4
	while read -r op flags result; do
		echo "cpu=0 seq=$((seq++)) time=$1 op=$op flags=$flags result=$result kind=1"
	done <<-'END'
		0 0 5
		2 1 3
		1 0 10
		3 1 19
		1 0 -9
		37 0 1
		41 0 0
		41 0 -5
		37 0 -22
		0 0x220 100
		0 0x1200 100
		0 0x4000 100
		1 0x2200 100
		1 0xa00 100
		4 0 3
	END
}

@test "the calls of a command are compared with /proc/PID/io" {
	sed -i "s/^filter .*/filter tree=1 kind=all/" proc/fs/control
	calls 5 | append fs
	iotracer record -o t -c fs -- sh -c 'cat /proc/$$/io >io; exit 3' 2>/dev/null || [ $? = 3 ]
	lines >compared
	sed 's/ 0 [0-9]* [a-z]*$//' compared | diff - <(cat <<-'END'
		fs calls that read 3
		fs bytes read by calls 9
		fs calls that write 4
		fs bytes written by calls 30
	END
	)
	# sh and cat read more than that: what is sure is that more were made than there are events
	grep -qE '^fs calls that read 3 0 [0-9]+ differs$' compared
	sed -i "s/^filter .*/filter tree=1/" proc/fs/control
	rm -r t
	iotracer record -o t -c fs -- sh -c 'cat /proc/$$/io >io' 2>/dev/null
	lines | grep -qE '^fs calls that read 3 0 [0-9]+ part$'
}

@test "the kernel's counts of a command are those of all that it started, and it waited for or not" {
	sed -i "s/^filter .*/filter tree=1 kind=all/" proc/fs/control
	head -c 1000000 /dev/zero >data
	# a child that is waited for, one whose parent ends before it, one that is killed
	cat >load <<-'END'
		cat data data >/dev/null
		(cat data >/dev/null &)
		sh -c 'cat data >/dev/null; kill -9 $$'
		until [ -e gone ]; do sleep 0.1; done
	END
	touch gone
	iotracer record -o t -c fs --wait -- sh load 2>/dev/null
	[ "$(jq '.receipt.compared[] | select(.what == "bytes written by calls").kernel' t/metadata.json)" -ge 4000000 ]
	[ "$(jq '.receipt.compared[] | select(.what == "bytes written by calls").kernel' t/metadata.json)" -lt 4100000 ]
	# what still runs is not in the kernel's count
	iotracer record -o u -c fs -- sh -c 'sleep 100 3>&- & echo $! >pid' 2>/dev/null
	kill "$(cat pid)"
	[ "$(jq -r '.receipt.not_compared[0].reason' u/metadata.json)" = "the command, or a process that it started, was still running" ]
}

@test "what a command wrote to devices needs fs beside cache" {
	sed -i "s/^filter .*/filter tree=1 kind=all/" proc/{fs,cache}/control
	calls 5 | append fs
	echo "cpu=0 seq=0 time=5 op=2 pages=2" | append cache
	iotracer record -o t -c fs,cache -- true 2>/dev/null
	[ "$(jq '.receipt.compared[] | select(.what == "bytes written to devices").trace' t/metadata.json)" = $((2 * 4096 + 19)) ]
	iotracer record -o u -c cache -- true 2>/dev/null
	[ "$(jq -r '.receipt.not_compared[0].reason' u/metadata.json)" = "it counts direct writes, too: record category fs with it" ]
}

@test "verify: a receipt whose sums are not those of the events is found" {
	begin -c block
	requests "$now" $sdb sdb 0 0 2 | append block
	disks 100 100 102 100
	finish block 1000 1000 1000 1000 1000 1000
	jq '.receipt.compared[0].trace = 3' t/metadata.json >changed
	cat changed >t/metadata.json
	seal_metadata t
	run --separate-stderr iotracer traces verify ./t
	[ "$status" = 1 ]
	[[ $stderr == *"./t: its receipt has 3 requests read, but its events have 2"* ]]
	[[ $output == *"verdict     not whole"* ]]
}

@test "of --rotate the last trace has the receipt, for all together" {
	begin -c block --rotate=1s
	requests "$now" $sdb sdb 0 0 2 | append block
	disks 100 100 102 100
	wait_for grep -q '^iotracer: t.000001: COMPLETE, ' err
	kill -INT "$recorder"
	wait_for in_call 257
	vm 1000 1000 1000 1000 1000 1000
	wait "$recorder"
	recorder=
	last=$(printf '%s\n' t.0* | tail -n 1)
	[ "$(jq .receipt t.000001/metadata.json)" = null ]
	jq -e '.receipt.compared[0] | .what == "requests read" and .trace == 2 and .kernel == 2' "$last/metadata.json"
	for trace in t.0*; do
		iotracer traces verify "./$trace"
	done
}

@test "what ended with an error, or at the limit of --size, is not compared" {
	run -1 iotracer record -o t -c block -- sh -c 'head -c 64 /dev/urandom >>proc/block/stream; sleep 2'
	[ "$(reason)" = "recording ended with an error" ]
	idle_category block
	requests 5 $sdb sdb 0 0 9000 | sed 'n; s/^cpu=0/cpu=1/' | tool-stream layout=1 event=4 >proc/block/stream
	rm -r t
	iotracer record -o t -c block --size=1 --compress=never -- sleep 5 2>/dev/null
	[ "$(reason)" = "recording ended at the limit of --size" ]
}

@test "show: what a receipt of another host says cannot control the terminal" {
	begin -c block
	requests "$now" $sdb sdb 0 0 2 | append block
	finish block 1000 1000 1000 1000 1000 1000
	jq '.receipt.compared[0] |= with_entries(if (.value | type) == "string" then .value = "a\u001b[2J" else . end)
		| .receipt.not_compared = [{category: "b\u001b[2J", reason: "c\u001b[2J"}, {}, 5]
		| .receipt.compared += [{}, null]' t/metadata.json >changed
	cat changed >t/metadata.json
	run -0 iotracer traces show ./t
	run ! grep -q $'\x1b' <<<"$output"
	jq '.receipt = [1]' t/metadata.json >changed
	cat changed >t/metadata.json
	run -0 iotracer traces show ./t
}
