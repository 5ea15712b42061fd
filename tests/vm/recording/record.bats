#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# iotracer record and export with the real module: the rows are what the workload did.

bats_require_minimum_version 1.5.0

# bats file_tags=once

load ../../lib/recording

record_py() {
	run_functions record.py "$@"
}

@test "a workload's calls and the rows of the CSV match one to one" {
	iotracer record -o t -- env PYTHONDONTWRITEBYTECODE=1 python3 -S -s \
		-m record work /mnt/work /mnt/small/book 1
	iotracer export t --per-category >t.csv
	record_py join t.csv /mnt/small/book
	[ "$(meta t .state)" = COMPLETE ]
	[ "$(meta t '.categories[0].lost')" = 0 ]
	accounted t
	# Only the command and its children are traced, not the recorder.
	[ "$(column pid <t.csv | sort -u | wc -l)" -ge 4 ]
	[ "$(meta t '.categories[0].filter' | grep -c '^tree=')" = 1 ]
}

@test "a command's trace begins with its exec, without the recorder's child before it" {
	# A command by name, by path, and a script. Failed attempts to find it are not in the trace.
	printf '#!/bin/true\n' >/mnt/work/script
	chmod +x /mnt/work/script
	for command in true /bin/true /mnt/work/script; do
		rm -rf t
		PATH=/mnt/none:/mnt/work:$PATH iotracer record -o t -f kind=all -- "$command"
		iotracer export t --per-category >t.csv
		python3 -S -s - t.csv "${command##*/}" <<-'END'
		import csv, sys
		rows = sorted(csv.DictReader(open(sys.argv[1])), key=lambda r: r['timestamp'])
		assert rows[0]['op'] == 'PROCESS_EXEC', rows[0]
		assert rows[-1]['op'] in ('PROCESS_EXIT', 'RELEASE'), rows[-1]
		execs = [r['result'] for r in rows if r['op'] == 'PROCESS_EXEC']
		assert execs == ['0'], execs
		names = {r['comm'] for r in rows}
		assert names == {sys.argv[2]}, names
		END
	done
}

@test "record runs a command as execvp(3) does: by the shell without #!, exit 126 or 127 on errors" {
	printf 'exit 0\n' >/mnt/work/plain
	chmod +x /mnt/work/plain
	iotracer record -o a -c fault -- /mnt/work/plain
	run -127 iotracer record -o b -c fault -- /mnt/none/none
	[[ $output == *"cannot be run: No such file or directory"* ]]
	run -126 iotracer record -o c -c fault -- /mnt/work
	PATH=/mnt/none:$PATH run -127 iotracer record -o d -c fault -- no-such-command
}

@test "a system-wide trace has each call of the workload, and none of the recorder's" {
	iotracer record -o t &
	recorder=$!
	wait_for running
	record_py work /mnt/work /mnt/small/book 2
	kill -INT "$recorder"
	wait "$recorder"
	iotracer export t --per-category >t.csv
	record_py join t.csv /mnt/small/book
	run ! grep -qx "$recorder" <(column pid <t.csv)
	run ! grep -q '/mnt/traces/t/' t.csv
	accounted t
}

@test "several categories have one window: all that is in the trace ended in it" {
	flat_out 120 --rate_iops=300 >/dev/null &
	load=$!
	iotracer record -o t -c fs,block,cache,fault --buffer=64 --time=1
	end_load $load
	accounted t
	# the first category records while the others are started, and what it records then is left out
	[ "$(meta t '[.categories[].outside] | add')" -gt 0 ]
	[ "$(meta t '.duration_s >= 1 and (.end.monotonic_ns - .begin.monotonic_ns) / 1e9 - .duration_s < 1e-6')" = true ]
	iotracer export t -o rows
	python3 -S -s - <<-'END'
	import csv, glob, json
	window = json.load(open('t/metadata.json'))
	begin, end = (window[key]['monotonic_ns'] for key in ('begin', 'end'))
	for name in glob.glob('rows/*/*.csv'):
	    ends = [int(r['time_ns']) + int(r['latency_ns']) for r in csv.DictReader(open(name, newline=''))]
	    wrong = [t - begin for t in ends if not begin <= t <= end]
	    assert not wrong, (name, end - begin, len(ends), wrong)
	    print(name, len(ends))
	END
}

# compared TRACE: what its receipt compares, a line each
compared() {
	meta "$1" '.receipt.compared[] | "\(.verdict) \(.of) \(.what) \(.trace) \(.kernel)"'
}

# use_disk: read and write in /mnt/work by all ways, and wait until it is written
use_disk() {
	dd if=/dev/zero of=/mnt/work/a bs=64k count=20 conv=fsync
	dd if=/mnt/work/a of=/mnt/work/b bs=4k oflag=direct count=30
	forget /mnt/work/a
	cat /mnt/work/a >/mnt/work/c
	sync
	dd if=/mnt/work/b of=/dev/null bs=16k iflag=direct
	fstrim /mnt/work
	rm /mnt/work/[abc]
	sync
} 2>/dev/null

@test "the receipt of the machine: requests, sectors and pages are those that the kernel counts" {
	for disk in work traces small; do
		mount -o remount,noinit_itable /mnt/$disk
	done
	use_disk
	iotracer record -o t -c block,cache,fault -f cache:kind=all -f fault:kind=all --buffer=32 &
	recorder=$!
	for category in block cache fault; do
		wait_for running $category
	done
	use_disk
	kill -INT "$recorder"
	wait "$recorder"
	iotracer traces show ./t
	compared t >lines
	run ! grep -E '^(differs|lossy)' lines
	for what in 'requests read' 'sectors read' 'requests written' 'sectors written' flushes; do
		grep -E "^equal vda $what [1-9]" lines
	done
	grep -E '^(equal|own)  pages made dirty [1-9]' lines
	grep -E '^(equal|own)  pages written [1-9]' lines
	iotracer traces verify ./t | grep -x '  receipt     its sums are those of the events'
}

@test "the receipt of a command: calls, bytes and faults are those of /proc/PID/io and getrusage" {
	cat >load <<-'END'
		cd /mnt/work
		dd if=/dev/zero of=a bs=64k count=20 conv=fsync
		dd if=a of=b bs=4k oflag=direct count=30
		dd if=b of=/dev/null bs=4k iflag=direct
		dd if=a of=a oflag=nocache conv=notrunc,fdatasync count=0
		cat a | cat >c
		(cat b >d &)
		sh -c 'cat c >/dev/null; kill $$'
		rm a b c
	END
	sh load 2>/dev/null || true # brings the programs into memory: the guest's root is of a network
	iotracer record -o t -c fs,block,cache,fault -f kind=all --buffer=32 --wait -- sh load 2>err
	iotracer traces show ./t
	compared t >lines
	for what in 'calls that read' 'bytes read by calls' 'calls that write' 'bytes written by calls' \
		'bytes read from devices' 'bytes written to devices' 'major faults'; do
		grep -E "^equal  $what [0-9]" lines
	done
	run ! grep -E '^(differs|lossy)' lines
}

@test "the receipt of a control group: bytes are those of its io.stat" {
	group=/sys/fs/cgroup/receipt
	mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
	echo +io >/sys/fs/cgroup/cgroup.subtree_control
	mkdir $group
	dd if=/dev/zero of=/mnt/work/a bs=64k count=10 conv=fsync status=none
	iotracer record -o t -c block -f cgroup=/receipt &
	recorder=$!
	wait_for running block
	(
		echo $BASHPID >$group/cgroup.procs
		dd if=/mnt/work/a of=/dev/null bs=4k iflag=direct count=20 status=none
		dd if=/mnt/work/a of=/mnt/work/b bs=4k oflag=direct iflag=direct count=30 status=none
	)
	# another one's
	dd if=/mnt/work/a of=/dev/null bs=4k iflag=direct count=40 status=none
	kill -INT "$recorder"
	wait "$recorder"
	rmdir $group
	iotracer traces show ./t
	compared t | grep -x 'equal vda bytes read 204800 204800'
	compared t | grep -E '^equal vda bytes written [1-9]'
}

# sum_of CSV COLUMN [COLUMN=VALUE]...: sum of a column over the rows that have these values
sum_of() {
	python3 -S -s - "$@" <<-'END'
	import csv, sys
	wanted = dict(word.split('=', 1) for word in sys.argv[3:]).items()
	rows = csv.DictReader(open(sys.argv[1]))
	print(sum(int(r[sys.argv[2]]) for r in rows if wanted <= r.items()))
	END
}

@test "all categories in one trace agree about a file" {
	dd if=/dev/zero of=/mnt/work/data bs=64k count=4 conv=fsync status=none
	cp /bin/cat /mnt/work/cat
	sync
	iotracer record -c "$(categories | paste -sd ,)" -o t -- sh -c \
		'dd if=/dev/zero of=/mnt/work/data bs=64k count=4 conv=notrunc,fsync status=none
		/mnt/work/cat /mnt/work/data >/dev/null
		fio --name=ring --filename=/mnt/work/ring --rw=write --bs=16k --size=256k --ioengine=io_uring \
			--iodepth=4 --fallocate=none --end_fsync=1 --output=/dev/null'
	[ "$(meta t '.categories | map(.name) | join(",")')" = "$(categories | paste -sd ,)" ]
	[ "$(meta t '.categories | map(.lost) | add')" = 0 ]
	iotracer export -o rows t
	# all categories show the file with the same path and inode number
	data=(path=/mnt/work/data "inode=$(stat -c %i /mnt/work/data)")
	[ "$(sum_of rows/fs/*.csv result op=WRITE "${data[@]}")" = 262144 ]
	# the originator is the process that wrote, not the one that submitted the request
	[ "$(sum_of rows/block/*.csv result op=WRITE origin_comm=dd "${data[@]}")" = 262144 ]
	[ "$(sum_of rows/cache/*.csv pages op=DIRTY comm=dd "${data[@]}")" = 64 ]
	[ "$(sum_of rows/cache/*.csv pages op=WRITEBACK_START "${data[@]}")" = 64 ]
	# the same bytes are requested of io_uring, written by the filesystem and sent to the disk
	ring=(path=/mnt/work/ring "inode=$(stat -c %i /mnt/work/ring)")
	[ "$(sum_of rows/uring/*.csv requested_bytes op=SUBMIT opcode=WRITE "${ring[@]}")" = 262144 ]
	[ "$(sum_of rows/uring/*.csv result op=COMPLETE opcode=WRITE "${ring[@]}")" = 262144 ]
	[ "$(sum_of rows/fs/*.csv result op=WRITE "${ring[@]}")" = 262144 ]
	[ "$(sum_of rows/block/*.csv result op=WRITE "${ring[@]}")" = 262144 ]
	[ "$(sum_of rows/fault/*.csv pages op=EXEC path=/mnt/work/cat)" -gt 0 ]
}

# sectors DISK: print the sectors read and written, from /proc/diskstats
sectors() {
	grep " $1 " /proc/diskstats | tr -s ' ' | cut -d ' ' -f 7,11
}

@test "a database: calls, dirty pages and requests match, and the sums are the kernel's" {
	# the filesystem is mounted only while both the recorder and diskstats count
	disk=$(basename "$(findmnt -no SOURCE /mnt/work)")
	umount /mnt/work
	iotracer record -c fs,cache,block -o t &
	recorder=$!
	wait_for running block
	read -r -a before < <(sectors "$disk")
	mount "/dev/$disk" /mnt/work
	{
		echo 'create table t(a integer primary key, b blob);'
		for i in {1..30}; do
			echo 'insert into t(b) select randomblob(700) from generate_series(1, 200);'
			echo "delete from t where a % 7 = $((i % 7)); update t set b = randomblob(800) where a % 11 = 0;"
		done
	} | sqlite3 /mnt/work/data.db
	umount /mnt/work
	read -r -a after < <(sectors "$disk")
	kill -INT "$recorder"
	wait "$recorder"
	mount "/dev/$disk" /mnt/work
	[ "$(meta t '.categories | map(.lost) | add')" = 0 ]
	iotracer export -o rows t
	run_functions cross_category.py rows /mnt/work/data.db "$(stat -c %Hd:%Ld /mnt/work)" >sums
	echo "requests: $(cat sums), disk: $((after[0] - before[0])) $((after[1] - before[1]))"
	[ "$(cat sums)" = "$((after[0] - before[0])) $((after[1] - before[1]))" ]
}

@test "a second recording has only its own events" {
	iotracer record -o a -- dd if=/dev/zero of=/mnt/work/a bs=4k count=100 status=none
	iotracer record -o b -f op=WRITE -- dd if=/dev/zero of=/mnt/work/b bs=4k count=10 status=none
	[ "$(meta b '.categories[0] | .events == 10 and .lost == 0 and .seen == 10')" = true ]
	run --separate-stderr iotracer export b --per-category --columns=io-tracer
	[ -z "$stderr" ]
	[ "${#lines[@]}" = 11 ]
	[ "$(printf '%s\n' "${lines[@]:1}" | cut -d, -f2,5,6 | sort -u)" = WRITE,/mnt/work/b,4096 ]
}

@test "a filter on a path: relative, of several directories, only where paths are known" {
	local here
	mkdir -p '/mnt/work/d/a, b' /mnt/work/d/c /mnt/work/d/e
	cd '/mnt/work/d/a, b'
	here=$(pwd)
	run --separate-stderr iotracer record -o /mnt/work/t -c fs,block -f path=.,../c -f fs:op=CREATE,WRITE -- \
		sh -c 'echo 1 >f; echo 22 >../c/f; echo 333 >../e/f; echo 4444 >../../f'
	[[ $stderr == *"does not apply to block"* ]] || { echo "$stderr"; return 1; }
	cd /mnt/work
	iotracer export -f json --category fs t | jq -r '.op + " " + .path' >rows
	diff rows - <<-EOF
		CREATE $here/f
		WRITE $here/f
		CREATE /mnt/work/d/c/f
		WRITE /mnt/work/d/c/f
	EOF
	run -1 iotracer record -o u -f path=/mnt/work/none -- touch /mnt/work/ran
	[[ $output == *"path=/mnt/work/none: there is no such file or directory"* ]]
	[ ! -e /mnt/work/ran ]
	[ ! -e u ]
}

@test "filters apply by category; a refusal is reported with key, value and reason" {
	run --separate-stderr iotracer record -o t -c fs,cache -f fs:op=write -f cache:op=Dirty -f comm=dd -- \
		dd if=/dev/zero of=/mnt/work/f bs=4k count=10 status=none
	[[ $stderr != *"does not apply"* ]] || { echo "$stderr"; return 1; }
	meta t '.categories[].filter' | grep -x 'comm=dd tree=[0-9]* op=WRITE'
	meta t '.categories[].filter' | grep -x 'comm=dd tree=[0-9]* op=DIRTY'
	iotracer export -o rows t
	[ "$(tail -qn +2 rows/fs/*.csv | grep -c ',/mnt/work/f,')" = 10 ]
	[ "$(tail -qn +2 rows/fs/*.csv | grep -vc ',WRITE,')" = 0 ]
	[ "$(sum_of rows/cache/*.csv pages op=DIRTY path=/mnt/work/f)" = 10 ]
	[ "$(tail -qn +2 rows/cache/*.csv | grep -vc ',DIRTY,')" = 0 ]
	for filter in 'pid=me|pid=me: say a number' 'inode=|inode=: say a number of 64 bits' \
		'cgroup=/none|cgroup=/none: there is no such control group' 'kind=x|kind=x: fs has no such kind'; do
		run iotracer record -o u -f "${filter%|*}" -- touch /mnt/work/ran
		[ "$status" = 1 ]
		[[ $output == *"iotracer: fs: the module refuses filter ${filter%|*} tree="*": ${filter#*|}"* ]]
		[ ! -e /mnt/work/ran ]
	done
}

@test "--sample: one event in N is recorded, and has that N" {
	iotracer record -o n --sample 10 -f op=WRITE -- dd if=/dev/zero of=/mnt/work/n bs=1k count=1000 status=none
	[ "$(meta n '.categories[0].events >= 99 and .categories[0].events <= 100')" = true ]
	[ "$(iotracer export n -f json | jq -s 'all(.sample == 10)')" = true ]
}

@test "record exits with the command's status" {
	run -9 iotracer record -o x -- sh -c 'exit 9'
	run -143 iotracer record -o y -- sh -c 'kill -TERM $$'
}

@test "--anonymize: no name of the workload is in the trace" {
	iotracer record -o t --anonymize --compress=never -- dd if=/dev/zero of=/mnt/work/secret.db bs=4k count=10 status=none
	# the schema contains the word "workers", whatever was recorded
	run ! grep -raq --exclude=schema.json 'secret\|/mnt\|work' t
	iotracer export t --per-category --columns=io-tracer >t.csv
	grep -qE ',WRITE,[0-9]+,[a-z2-7]{12},/([a-z2-7]{12})/[a-z2-7]{12}/[a-z2-7]{12}\.db,4096,' t.csv
}

# devices_of TRACE CATEGORY: the devices of its rows with a path, each once
devices_of() {
	iotracer export "$1" --category="$2" -f json | jq -r 'select(.path and .path != "") | .device' | sort -u
}

@test "--device: what concerns disks, their partitions and filesystems, and nothing else" {
	local work traces small

	work=$(mountpoint -d /mnt/work) traces=$(mountpoint -d /mnt/traces) small=$(mountpoint -d /mnt/small)
	iotracer record -o t -c fs,block --device=vda --device=/dev/vdc -- xargs -I{} \
		dd if=/dev/zero of=/mnt/{}/written bs=4k count=2 conv=fsync <<<$'work\ntraces\nsmall'
	[ "$(devices_of t fs)" = "$(printf '%s\n' "$work" "$small" | sort)" ]
	[ "$(devices_of t block)" = "$(devices_of t fs)" ]
	[ "$(iotracer export t --category=fs -f json | jq -r 'select(.path == "/mnt/small/written") | .op' |
		grep -c '^WRITE$')" = 2 ]
	rm -r t
	iotracer record -o t --device="$traces" -- dd if=/dev/zero of=/mnt/traces/written bs=4k count=2
	[ "$(devices_of t fs)" = "$traces" ]
}

# disk FUNCTION: call a function of lib/disk.py, which work on /dev/vdd
disk() {
	python3 -c "from lib import disk; disk.$1()"
}

@test "--device: a partition, and a filesystem with a number of its own" {
	mkdir -p /mnt/part
	disk partition
	mkfs.ext4 -q -F /dev/vdd1
	mount /dev/vdd1 /mnt/part
	iotracer record -o t --device=vdd -- touch /mnt/part/a /mnt/work/a
	[ "$(devices_of t fs)" = "$(mountpoint -d /mnt/part)" ]
	rm -r t
	iotracer record -o t --device=/dev/vdd2 -- touch /mnt/part/b
	[ "$(devices_of t fs)" = "" ]
	umount /mnt/part
	disk unpartition
	modprobe btrfs
	mkfs.btrfs -q -f /dev/vdd
	mount /dev/vdd /mnt/part
	rm -r t
	iotracer record -o t --device=vdd -- touch /mnt/part/c /mnt/work/c
	[ "$(iotracer export t -f json | jq -r 'select(.op == "CREATE") | .path')" = /mnt/part/c ]
	umount /mnt/part
	wipefs -qa /dev/vdd
}

@test "--device: what is no block device is refused" {
	run -1 --separate-stderr iotracer record -o t --device=vda --device=/dev/null -- true
	[[ $stderr == "iotracer: --device=/dev/null: no such block device: "* ]]
	[ ! -e t ]
	for name in none 1:1000 '' vda/ 8; do
		run -1 iotracer record -o t --device="$name" -- true
		[ ! -e t ]
	done
}
