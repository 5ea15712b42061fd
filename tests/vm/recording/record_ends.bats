#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# iotracer record with the real module: every lost event is counted, and a trace can be read, whatever
# ends the recording; who records what, and what happens to the others.

bats_require_minimum_version 1.5.0

# bats file_tags=once

load ../../lib/recording

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
