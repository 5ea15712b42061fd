#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Tests iotracer record and export with the real module: the rows are what the workload
# did, and every lost event is counted, whatever ends the recording.

bats_require_minimum_version 1.5.0

# bats file_tags=once

load ../../lib/helpers

setup_file() {
	new_filesystem ext4 /dev/vda /mnt/work
	new_filesystem ext4 /dev/vdb /mnt/traces
	new_filesystem ext4 /dev/vdc /mnt/small 12M
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/work /mnt/traces /mnt/small
}

setup() {
	PATH=$TOP/tools:$PATH
	cd /mnt/traces || return
	rm -rf /mnt/traces/* /mnt/small/* /mnt/work/*
}

teardown() {
	# bats waits for what a test that failed has left
	[ -n "${BATS_TEST_COMPLETED:-}" ] || pkill -KILL -x 'fio|iotracer' || true
	grep -qx stop /proc/iotracer/fs/control
}

record_py() {
	run_functions record.py "$@"
}

# meta TRACE FILTER: print a value of its metadata; FILTER is for jq
meta() {
	jq -r "$2" "$1/metadata.json"
}

# accounted TRACE: every event that was seen is stored, counted as lost, or ended outside of the window
accounted() {
	[ "$(meta "$1" '[.categories[] | .events + .lost + .outside == .seen] | all')" = true ] ||
		{ meta "$1" '.categories'; return 1; }
}

# load_all [OPTION]...: read and write as fast as possible on every CPU, and print the number
# of calls; the options are fio's
load_all() {
	fio --name=load --directory=/mnt/work --size=1M --bs=512 --rw=randrw --ioengine=psync \
		--numjobs="$(nproc)" --group_reporting --thread --output-format=json \
		--fallocate=none "$@" | jq '.jobs[0] | .read.total_ios + .write.total_ios'
}

# flat_out SECONDS [OPTION]...: load_all for that time
flat_out() {
	load_all --time_based --runtime="$1" "${@:2}"
}

# end_load PID: end a flat_out that runs in the background
end_load() {
	pkill -INT -P "$1" fio
	wait "$1" || true
}

# running [CATEGORY]: whether it is started; of several, name the one that is started last
running() {
	grep -qx start "/proc/iotracer/${1:-fs}/control"
}

stopped() {
	! running "$@"
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

# column NAME: print a column of the CSV on standard input, without the header
column() {
	python3 -S -s -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row[sys.argv[1]])' "$1"
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

# rows_of_load TRACE: the number of its rows for calls of load_all
rows_of_load() {
	iotracer export "$1" --per-category --columns=io-tracer |
		grep -cE ',(READ|WRITE),[0-9]+,fio,/mnt/work/load[^,]*,512,'
}

@test "at full load on every CPU each call of fio is a row or is counted as lost" {
	load_all --create_only=1
	iotracer record -o t -f op=READ,WRITE -f dev="$(stat -c %Hd:%Ld /mnt/work)" &
	recorder=$!
	wait_for running
	calls=$(load_all --number_ios=$((15000 / $(nproc))) --io_size=1G)
	kill -INT "$recorder"
	wait "$recorder"
	accounted t
	rows=$(rows_of_load t)
	lost=$(meta t '.categories[0].lost')
	echo "$calls calls, $rows rows, $lost lost"
	[ $((rows + lost)) = "$calls" ]
	[ "$rows" -gt 0 ]
}

# The recorder stands still during the load, however long this takes, so that the rings hold
# all of its calls.
@test "the rings' default size is enough for 15000 calls that wait for the recorder" {
	load_all --create_only=1
	iotracer record -o t -f op=READ,WRITE -f dev="$(stat -c %Hd:%Ld /mnt/work)" &
	recorder=$!
	wait_for running
	kill -STOP "$recorder"
	calls=$(load_all --number_ios=$((15000 / $(nproc))) --io_size=1G)
	kill -CONT "$recorder"
	kill -INT "$recorder"
	wait "$recorder"
	[ "$(meta t '.categories[0].lost')" = 0 ]
	accounted t
	[ "$calls" = 15000 ]
	[ "$(rows_of_load t)" = 15000 ]
}

@test "a ring that is too small loses events, and each is counted" {
	iotracer record -o t --buffer=8K -f op=READ,WRITE -f dev="$(stat -c %Hd:%Ld /mnt/work)" &
	recorder=$!
	wait_for running
	load_all --number_ios=$((15000 / $(nproc))) --io_size=1G
	kill -INT "$recorder"
	wait "$recorder"
	accounted t
	[ "$(meta t '.categories[0].lost')" -gt 0 ]
	[ "$(meta t '.categories[0] | ([.lost_by_cpu[]] | add) == .lost')" = true ]
	run --separate-stderr iotracer export t --per-category
	# shellcheck disable=SC2154 # set by run
	[[ $stderr == *"fs: $(meta t '.categories[0].lost') events ("*" %) are missing"* ]]
	[ "$(meta t .state)" = LOSSY ]
	[ "$(meta t '.lost_share - (.categories[0] | (.lost + .missed) / (.events + .lost + .missed)) | fabs < 1e-9')" = true ]
	[ $((${#lines[@]} - 1)) = "$(meta t '.categories[0].events')" ]
	grep -qx 'size 16384' /proc/iotracer/fs/control
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
	for filter in 'uid=me|uid=me: say a number' 'inode=|inode=: say a number of 64 bits' \
		'cgroup=/none|cgroup=/none: there is no such control group' 'kind=x|kind=x: fs has no such kind'; do
		run iotracer record -o u -f "${filter%|*}" -- touch /mnt/work/ran
		[ "$status" = 1 ]
		[[ $output == *"iotracer: fs: the module refuses filter ${filter%|*} tree="*": ${filter#*|}"* ]]
		[ ! -e /mnt/work/ran ]
	done
}

@test "a killed recorder: its trace can be read, unread events stay in the ring, nothing runs" {
	iotracer record -o t -f op=WRITE -f dev="$(stat -c %Hd:%Ld /mnt/work)" &
	recorder=$!
	wait_for running
	dd if=/dev/zero of=/mnt/work/a bs=4k count=500 status=none
	for _ in $(seq 60); do
		[ "$(iotracer export t --per-category 2>/dev/null | grep -c ',/mnt/work/a,')" -lt 500 ] || break
		sleep 0.5
	done
	kill -STOP "$recorder"
	dd if=/dev/zero of=/mnt/work/b bs=4k count=500 status=none
	kill -9 "$recorder"
	wait "$recorder" || true
	[ "$(head -n 1 /proc/iotracer/fs/control)" = stop ]
	[ "$(grep -c path=/mnt/work/b /proc/iotracer/fs/log)" = 500 ]
	dd if=/dev/zero of=/mnt/work/c bs=4k count=500 status=none
	run ! grep -q path=/mnt/work/c /proc/iotracer/fs/log
	run --separate-stderr iotracer export t --per-category
	[[ $stderr == *"has no end"* ]]
	[ "$(printf '%s\n' "${lines[@]}" | grep -c ',/mnt/work/a,')" = 500 ]
	iotracer record -o u --time 1
}

# A reader of the stream of fs that is no recorder: it has the category started for itself.
read_fs() {
	exec bash -c 'exec 3</proc/iotracer/fs/stream; echo start while-read >/proc/iotracer/fs/control
		exec sleep 600'
}

@test "a category that is taken: who has it, and what to do" {
	iotracer record -o t -f op=WRITE -f dev="$(stat -c %Hd:%Ld /mnt/work)" &
	recorder=$!
	wait_for running
	[ "$(tail -n 1 /proc/iotracer/fs/control)" = "# while-read $recorder" ]
	run iotracer record -c block,fs -o u -- true
	[ "$status" = 1 ]
	[[ $output == "iotracer: fs is being recorded by process $recorder (iotracer record -o t -f "*"): wait for it, or end it (kill -INT $recorder); other categories can be recorded meanwhile (-c)" ]]
	[ ! -e u ]
	run bash -c 'exec 3</proc/iotracer/fs/stream; echo start while-read >/proc/iotracer/fs/control'
	[ "$status" = 1 ]
	[[ $(cat /proc/iotracer/fs/error) == *"it is traced already, for process $recorder: wait until that closes the stream, or say stop first" ]]
	dd if=/dev/zero of=/mnt/work/a bs=4k count=20 status=none
	kill -INT "$recorder"
	wait "$recorder"
	[ "$(iotracer export t --per-category | grep -c ',/mnt/work/a,')" = 20 ]
	run ! grep -q while-read /proc/iotracer/fs/control
	read_fs &
	reader=$!
	wait_for running
	run iotracer record -o u -- true
	[ "$status" = 1 ]
	[[ $output == "iotracer: fs is being traced already, for process $reader ("*"); to end that: iotracer stop fs" ]]
	kill "$reader"
	wait_for stopped
}

# Functions that the module has hooked for a category.
hooked() {
	awk 'NR > 1 && $2 != "unload" && $2 != "name" && $4 > 0' /proc/iotracer/hooks
}

@test "two recorders at once: each has its filter, its rings and its counts, and ends alone" {
	iotracer record -c fs -o t -f op=WRITE -f dev="$(stat -c %Hd:%Ld /mnt/work)" --buffer 4 &
	first=$!
	wait_for running fs
	iotracer record -c cache,block -o u -f dev="$(stat -c %Hd:%Ld /mnt/work)" --sample 2 &
	second=$!
	wait_for running cache
	wait_for running block
	grep -q '^filter .*op=WRITE' /proc/iotracer/fs/control
	grep -qx 'sample 1' /proc/iotracer/fs/control
	grep -qx 'sample 2' /proc/iotracer/block/control
	dd if=/dev/zero of=/mnt/work/a bs=4k count=64 conv=fsync status=none
	kill -9 "$second"
	wait "$second" || true
	[ "$(head -n 1 /proc/iotracer/cache/control)" = stop ]
	[ "$(head -n 1 /proc/iotracer/block/control)" = stop ]
	running fs
	[ -n "$(hooked)" ]
	dd if=/dev/zero of=/mnt/work/b bs=4k count=64 status=none
	kill -INT "$first"
	wait "$first"
	[ "$(iotracer export t --per-category | grep -c ',/mnt/work/[ab],')" = 128 ]
	[ "$(jq .categories[0].lost t/metadata.json)" = 0 ]
	[ -z "$(hooked)" ]
}

# fio verifies what it has written, and ends with 0 if no I/O has failed. STARTS=50 is more often.
@test "starts, stops and recordings one after the other while fio runs: no I/O fails" {
	fio --name=load --filename=/mnt/work/load --size=2M --bs=4k --rw=randwrite --direct=1 \
		--ioengine=libaio --iodepth=4 --rate_iops=100 --verify=crc32c --verify_backlog=64 \
		--verify_fatal=1 --time_based --runtime=3600 --trigger-file=/mnt/work/end --trigger=true >fio.out 2>&1 &
	load=$!
	wait_for test -e /mnt/work/load
	for i in $(seq "${STARTS:-5}"); do
		echo start >/proc/iotracer/block/control
		running block
		echo stop >/proc/iotracer/block/control
		[ "$i" -gt 2 ] || iotracer record -c block -o "t$i" --device /dev/vda --time 0.1
	done
	kill -0 "$load"
	touch /mnt/work/end
	wait "$load" || { cat fio.out; false; }
	[ "$(meta t1 .state) $(meta t2 .state)" = "COMPLETE COMPLETE" ]
	[ -z "$(hooked)" ]
}

@test "killed while recording all categories: none runs, and the next command can be recorded" {
	iotracer record -c all -o t -- sleep 600 &
	recorder=$!
	wait_for running "$(categories | tail -n 1)"
	child=$(pgrep -P "$recorder")
	wait_for test "/proc/$child/exe" -ef "$(command -v sleep)" # until its exec it dies, too
	kill -9 "$recorder"
	wait "$recorder" || true
	kill "$child"
	for category in $(categories); do
		[ "$(head -n 1 /proc/iotracer/"$category"/control)" = stop ]
		# The filter for its process tree is gone, too.
		grep -qx 'filter none' /proc/iotracer/"$category"/control
	done
	iotracer record -c block -o u -- dd if=/dev/zero of=/mnt/work/u bs=4k count=1 conv=fsync status=none
	# A category started by hand goes on when a reader ends, and record does not take it over.
	echo start >/proc/iotracer/fs/control
	cat /proc/iotracer/fs/stream >/dev/null
	running
	run iotracer record -o v -- true
	[ "$status" = 1 ]
	[ "$output" = "iotracer: fs is being traced already; to end that: iotracer stop fs" ]
	running
	run bash -c 'exec 3</proc/iotracer/fs/stream; echo start while-read >/proc/iotracer/fs/control'
	[[ $output == *"Device or resource busy"* ]]
	[[ $(cat /proc/iotracer/fs/error) == *"it is traced already, by a start: say stop first" ]]
	echo stop >/proc/iotracer/fs/control
	# "start while-read" lasts until its caller closes the stream; a start by hand ends that.
	bash -c 'exec 3</proc/iotracer/fs/stream; echo start while-read >/proc/iotracer/fs/control
		cat /proc/iotracer/fs/stream >/dev/null
		head -n 1 /proc/iotracer/fs/control' >state
	[ "$(cat state)" = start ]
	wait_for stopped
	bash -c 'exec 3</proc/iotracer/fs/stream; echo start while-read >/proc/iotracer/fs/control
		echo start >/proc/iotracer/fs/control'
	running
	echo stop >/proc/iotracer/fs/control
}

# fills_up TRACE REASON EVENTS [COMMAND...]: the recorder, run by the command if one is given,
# ends with that error, and the trace can be read and has more than this number of events
fills_up() {
	"${@:4}" iotracer record -o "$1" -f op=READ,WRITE 2>err &
	recorder=$!
	wait_for running
	flat_out 3600 --bs=16 >/dev/null &
	load=$!
	status=0
	wait "$recorder" || status=$?
	end_load "$load"
	cat err
	[ "$status" = 1 ]
	[ "$(meta "$1" '.state + " " + .reason')" = "ERROR fs.iot: $2" ]
	grep -q "recording ended with an error: fs.iot: $2" err
	[ $(($(iotracer export "$1" --per-category | wc -l) - 1)) = "$(meta "$1" '.categories[0].events')" ]
	[ "$(meta "$1" '.categories[0].events')" -gt "$3" ]
}

@test "a full disk ends the recording with an error, and the trace can be read" {
	fills_up /mnt/small/t "No space left on device" 10000
}

# set_quota DEVICE UID KIB: set a hard limit
set_quota() {
	python3 -S -s - "$@" <<'END'
import ctypes, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
Q_SETQUOTA, QIF_BLIMITS = 0x800008, 1
device, uid, kib = sys.argv[1:]
limits = struct.pack('<8QI4x', int(kib), 0, 0, 0, 0, 0, 0, 0, QIF_BLIMITS)
if libc.quotactl(Q_SETQUOTA << 8, device.encode(), int(uid), limits):
    sys.exit(f'quotactl: error {ctypes.get_errno()}')
END
}

@test "a full quota ends the recording with an error, and the trace can be read" {
	[ -e /proc/sys/fs/quota ] || skip "this kernel has no quotas"
	mkdir -p /mnt/quota
	mkfs.ext4 -q -F -O quota -E quotatype=usrquota /dev/vdd 64M
	mount -o usrquota /dev/vdd /mnt/quota
	set_quota /dev/vdd 0 3000
	# Without CAP_SYS_RESOURCE a quota applies to root, too.
	fills_up /mnt/quota/t "Disk quota exceeded" 5000 \
		setpriv --bounding-set -sys_resource --inh-caps -sys_resource
	umount /mnt/quota
}

@test "--time: the recording ends after that time" {
	# a busy machine ends it late, but not after the command
	began=$(date +%s)
	iotracer record -o t --time 1
	elapsed=$(($(date +%s) - began + 1))
	[ "$(meta t ".duration_s >= 0.9 and .duration_s <= $elapsed")" = true ]
}

@test "--size: the trace has at most that size, and nearly as much" {
	iotracer record -o s --size 2 -f op=READ,WRITE &
	recorder=$!
	wait_for running
	flat_out 3600 >/dev/null &
	load=$!
	wait "$recorder"
	end_load "$load"
	bytes=$(cat s/*.iot | wc -c)
	[ "$bytes" -le 2097152 ]
	[ "$bytes" -ge 1887436 ]
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

# ask COMMAND: have the QEMU of the next test do it
ask() {
	PYTHONDONTWRITEBYTECODE=1 python3 -m vm_images ask qmp "$1"
}

@test "record --vm: what the machine's QEMU does with its image, down to the requests of its flush" {
	local image=/mnt/work/disk.qcow2 pid
	qemu-img create -q -f qcow2 $image 64M
	qemu-system-x86_64 -accel tcg -S -nodefaults -display none -name guest=traced -qmp unix:qmp,server=on,wait=off \
		-daemonize -pidfile pid -drive file=$image,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0 3>&-
	pid=$(cat pid)
	iotracer record -o t --vm traced -c fs,block --compress=never --drain=600 2>err 3>&- &
	wait_for running block
	ask 'human-monitor-command {"command-line": "qemu-io d0 \"write -P 7 1M 1M\""}'
	ask 'human-monitor-command {"command-line": "qemu-io d0 flush"}'
	dd if=/dev/zero of=/mnt/work/other bs=4k count=10 conv=fsync 2>/dev/null
	# this is still in the page cache when the machine ends
	ask 'human-monitor-command {"command-line": "qemu-io d0 \"write -P 8 2M 1M\""}'
	kill -KILL "$pid"
	sleep 0.5
	sync
	wait $!
	[ "$(meta t .state)" = COMPLETE ]
	[ "$(meta t '.vm | .pid, .drives[0].layers[0].file' | xargs)" = "$pid $image" ]
	# the guest's megabyte in one write, and tables
	iotracer export t --category=fs -f json | jq -r '[.op, .path, .result, .pid] | join(",")' >calls
	grep -qx "[A-Z_]*WRITE,$image,1048576,$pid" calls
	[ "$(cut -d, -f4 calls | sort -u)" = "$pid" ]
	grep -qE "^(FSYNC|FDATASYNC),$image," calls
	# the first one, whose tables are on the disk since the flush, in the guest's terms
	iotracer export t --guest -f json | jq -c 'select(.guest_offset_bytes and .guest_offset_bytes < 2097152)' >guest
	[ "$(terms covered guest WRITE DIO_WRITE)" = "1048576+1048576 1048576" ]
	[ "$(jq -r 'select(.guest_kind == "data").drive' guest | sort -u)" = disk0 ]
	# both went to the disk, caused by the machine
	iotracer export t --category=block -f json | jq -r '[.op, .path, .result] | join(",")' >requests
	run ! grep -q /mnt/work/other requests
	awk -F, -v "image=$image" '$1 == "WRITE" && $2 == image { n += $3 } END { exit !(n >= 2 * 1048576) }' requests
}

terms() {
	PYTHONDONTWRITEBYTECODE=1 python3 -m guest_terms "$@"
}

@test "log --guest, export --guest-image: the guest's ranges are exactly those that qemu-io was given" {
	local image=/mnt/work/disk.qcow2 cache
	for cache in none writeback; do
		rm -rf t
		qemu-img create -q -f qcow2 $image 64M
		qemu-io -c 'write 0 4M' -c 'discard 3M 512k' -c 'write 50M 1M' $image >io
		iotracer add -n 10000 $image
		# in place, in places that were freed, at the end of the file
		iotracer record -o t --compress=never -- qemu-io -t $cache -c 'write 4k 8k' -c 'write 1M 1M' -c 'write 40M 1M' \
			-c 'write 53000k 4k' -c 'read 2560k 300k' -c 'read 50M 4k' $image >io 2>&1
		iotracer log --guest -f json $image >events
		iotracer export --guest-image=$image -f json t >rows
		[ "$(terms covered events W)" = "4096+8192 1048576+1048576 41943040+1048576 54272000+4096 $((8192 + 2097152 + 4096))" ]
		[ "$(terms covered rows WRITE DIO_WRITE)" = "$(terms covered events W)" ]
		[ "$(terms covered events R)" = "2621440+307200 52428800+4096 311296" ]
		[ "$(terms covered rows READ DIO_READ)" = "$(terms covered events R)" ]
		# tables are written, too, and are no data
		jq -r 'select(.op == "W" and .level == "vfs").guest_kind' events | grep -x l2
		iotracer remove $image
	done
	# a cluster is copied for 4 KiB of the guest
	qemu-img create -q -f qcow2 -b $image -F qcow2 /mnt/work/top.qcow2
	iotracer add /mnt/work/top.qcow2
	qemu-io -c 'write 1028k 4k' /mnt/work/top.qcow2 >io
	iotracer log --guest -f json /mnt/work/top.qcow2 >events
	[ "$(terms covered events W)" = "1048576+65536 65536" ]
	iotracer remove /mnt/work/top.qcow2
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
	[ "$stderr" = "iotracer: --device=/dev/null: there is no such block device; say the path of its node, its name or MAJOR:MINOR" ]
	[ ! -e t ]
	for name in none 1:1000 '' vda/ 8; do
		run -1 iotracer record -o t --device="$name" -- true
		[ ! -e t ]
	done
}
