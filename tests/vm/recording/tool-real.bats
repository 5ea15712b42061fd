#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Tests the tool with the real module, as root in a virtual machine:
#
#	scripts/check-vm 6.12 tool-real.bats
#
# The files are on an ext4 that no other program uses, so that no other I/O is traced. What the
# tool makes of the module's files is the same on every kernel; what is in them other suites test.
#
# bats file_tags=once

# Tests run in subshells, and "run --separate-stderr" sets stderr_lines.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

load ../../lib/top
load ../../lib/wait

setup_file() {
	[ -n "$IOTRACER_KO" ] || { echo "IOTRACER_KO does not name the module" >&2; return 1; }
	mkdir -p /mnt/store /mnt/files
	mount -t tmpfs store /mnt/store
	truncate -s 256M /mnt/store/image
	mkfs.ext4 -q /mnt/store/image
	modprobe loop
	# Nothing is written back unless a test asks for it.
	mount -o loop,noauto_da_alloc,commit=3600 /mnt/store/image /mnt/files
}

teardown_file() {
	umount /mnt/files
	umount /mnt/store
}

setup() {
	PATH=$TOP/tools:$PATH
	export LC_ALL=C.UTF-8
	insmod "$IOTRACER_KO" MAX_EVENTS=10000
	cd /mnt/files || return
}

teardown() {
	cd /
	rmmod iotracer
	find /mnt/files -mindepth 1 -not -name lost+found -delete
}

# state FILE KEY: print a value of its status; vfs, blk and total are the events seen
state() {
	case $2 in
	vfs | blk | total) set -- "$1" "levels.$2.seen" ;;
	esac
	iotracer status --format=json "$1" | jq -r ".[0].$2"
}

# is_open PID NAME: the process has a file of this name open
is_open() {
	find "/proc/$1/fd" -lname "*/$2" | grep -q .
}

# has_row FILE SEQ: the CSV has the row of that event
has_row() {
	grep -q "^[^,]*,$2," "$1"
}

has_lines() {
	[ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}

as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

@test "add, list: the target is named by device and inode number" {
	touch f
	run -0 iotracer add f
	[ -z "$output" ]
	run -0 iotracer list
	[[ $output =~ ^loop[0-9]+_$(stat -c %i f)\ \ /mnt/files/f$ ]]
}

@test "status: one write is seen" {
	touch f
	iotracer add f
	printf hello >f
	[ "$(state f events)" = 1 ]
	[ "$(state f vfs)" = 1 ]
	[ "$(state f running)" = true ]
	[ "$(state f max_events)" = 10000 ]
	[[ $(iotracer status --format=json f) == *"\"inode\": $(stat -c %i f),"* ]]
}

@test "log: one write is a line" {
	touch f
	iotracer add f
	printf hello >f
	run --separate-stderr iotracer log f
	[ "$status" = 0 ]
	[[ $output =~ ^[0-9]+\.[0-9]{9}\;W\;0\;5\;VFS\;bash\;$$ ]]
	[ "${#lines[@]}" = 1 ]
}

@test "remove: the file is not traced any more" {
	touch f
	iotracer add f
	run iotracer remove f
	[ "$status" = 0 ]
	run iotracer list
	[ -z "$output" ]
	run iotracer log f
	[ "$status" = 1 ]
	[ "$output" = "iotracer: f: not traced (to trace it: iotracer add FILE)" ]
}

@test "CSV and JSON have the same events, in the same order, as the text" {
	truncate -s 4M f
	iotracer add f
	fio --name=mix --filename=f --rw=randrw --bs=512-16k --size=4M --ioengine=psync \
		--numjobs=4 --output=/dev/null
	sync f
	[ "$(state f blk)" -gt 0 ]
	iotracer log f >/tmp/log.text
	iotracer log --format=csv f >/tmp/log.csv
	iotracer log --format=json f >/tmp/log.json
	python3 - <<-'END'
		import csv, json
		def line(r):
		    blk = r["level"] == "blk"
		    return ";".join(map(str, (r["since_t0_s"], r["op"], r["sector" if blk else "offset_bytes"],
		        max(int(r["result"]), 0), r["level"].upper(), r["comm"], r["pid"])))
		text = open("/tmp/log.text").read().splitlines()
		rows = list(csv.DictReader(open("/tmp/log.csv", newline="")))
		docs = [json.loads(l, parse_float=str) for l in open("/tmp/log.json")]
		assert len(text) > 1000, len(text)
		assert [line(r) for r in rows] == text
		assert [line(r) for r in docs] == text
		for r, d in zip(rows, docs):
		    assert {k: str(v) for k, v in d.items()} == r, (d, r)
	END
}

# filter_files: only reads and writes of /mnt/files are events of fs
filter_files() {
	iotracer filter fs op=READ,WRITE dev="$(stat -c %Hd:%Ld .)"
}

@test "filter: the module shows what the tool set" {
	filter_files
	[ "$(iotracer filter fs)" = "dev=$(stat -c %Hd:%Ld .) op=READ,WRITE" ]
}

@test "start, stop, status: a category runs in between" {
	filter_files
	[ "$(iotracer status)" = "nothing is traced now (iotracer status --all shows what is stopped, too)" ]
	iotracer start fs
	[ "$(iotracer status --format=json | jq -c '[.[] | [.category, .running]]')" = '[["fs",true]]' ]
	iotracer stop fs
	[ "$(iotracer status --all --format=json | jq '[.[] | select(.running)] | length')" = 0 ]
}

# runs CATEGORY: whether it records
runs() {
	grep -qx start "/proc/iotracer/$1/control"
}

@test "stats --live: what happens between its start and its end, and no trace is left" {
	local pid
	mkdir tmp
	TMPDIR=$PWD/tmp iotracer stats --live -c fs --filter op=WRITE --filter path=/mnt/files/f -f csv >sums 2>said &
	pid=$!
	wait_for runs fs
	dd if=/dev/zero of=f bs=4096 count=10 conv=fsync status=none
	kill -TERM "$pid"
	wait "$pid"
	[ "$(cut -d, -f 1,2,4,6 sums)" = "category,op,count,bytes
fs,WRITE,10,40960" ] || { cat sums said; false; }
	[ -z "$(ls tmp)" ]
	run ! runs fs
}

@test "log of a category: followed, and as text, CSV and JSON, it has the same events" {
	filter_files
	iotracer start fs
	iotracer log --follow --format=csv fs >/tmp/follow.csv 2>/tmp/follow.err &
	follower=$!
	for i in {1..300}; do
		echo "$i" >"f $((i % 7))"
	done
	cat f* >/dev/null
	wait_for has_lines /tmp/follow.csv 315
	kill "$follower"
	wait "$follower"
	[ ! -s /tmp/follow.err ]
	iotracer stop fs
	# The same events, in the same order, as the module's own log.
	iotracer log fs | cut -d ' ' -f 2 >/tmp/ops
	for format in csv json; do
		run --separate-stderr iotracer log --format=$format fs
		[ "$status" = 0 ]
		[ -z "$stderr" ]
		printf '%s\n' "$output" >/tmp/rows.$format
	done
	python3 - /tmp/ops <<-'END'
		import csv, json, sys
		ops = open(sys.argv[1]).read().split()
		rows = list(csv.DictReader(open("/tmp/rows.csv", newline="")))
		docs = [json.loads(line) for line in open("/tmp/rows.json")]
		followed = list(csv.DictReader(open("/tmp/follow.csv", newline="")))
		assert len(ops) >= 307 and [r["op"] for r in rows] == ops, (len(ops), len(rows))
		assert [{k: str(v) for k, v in d.items() if k != "timestamp"} for d in docs] == \
		    [{k: v for k, v in r.items() if k != "timestamp"} for r in rows]
		writes = [r["path"] for r in rows if r["op"] == "WRITE"]
		assert writes == [f"/mnt/files/f {i % 7}" for i in range(1, 301)], writes
		key = lambda r: (r["cpu"], int(r["seq"]))
		assert sorted(map(key, followed)) == sorted(map(key, rows))
	END
}

@test "reset of a category: its log is empty" {
	filter_files
	iotracer start fs
	echo x >f
	iotracer stop fs
	[ "$(iotracer log --format=csv --no-header fs | wc -l)" = 1 ]
	iotracer reset fs
	[ "$(iotracer log --format=csv --no-header fs | wc -l)" = 0 ]
}

@test "profile: shares and sums match fio's access patterns" {
	for engine in psync libaio; do
		for rw in read write randread randwrite; do
			dd if=/dev/zero of=f bs=1M count=2 conv=fsync status=none
			iotracer add f
			fio --name=p --filename=f --rw=$rw --bs=4k --size=2M --direct=1 \
				--ioengine=$engine --output-format=json --output=/tmp/fio.json
			p=$(iotracer profile --format=json f)
			echo "$engine $rw: $p"
			python3 - $rw "$p" <<-'END'
				import json, sys
				rw, p = sys.argv[1], json.loads(sys.argv[2])
				kind, other = ("reads", "writes") if "read" in rw else ("writes", "reads")
				job = json.load(open("/tmp/fio.json"))["jobs"][0][kind[:-1]]
				for level in "vfs", "blk":
				    k = p[level][kind]
				    assert p[level][other]["count"] == 0, p
				    assert k["bytes"] == job["io_bytes"], (k, job["io_bytes"])
				    if rw.startswith("rand"):
				        assert k["random_percent"] > 98, k
				    else:
				        assert level == "blk" or k["sequential_percent"] == 100, k
				        assert k["sequential_percent"] > 98, k
				k = p["vfs"][kind]
				assert k["count"] == job["total_ios"], (k, job["total_ios"])
				assert k["mean_size"] == 4096, k
				assert k["sequential"] + k["random"] == k["count"] - 1, k
				l = k["latency_ns"]
				assert 0 < l["p50"] <= l["p99"] <= l["max"], l
				assert p["vfs"]["failed"] == 0 and p["events_missing"] == 0, p
			END
			iotracer remove f
		done
	done
}

@test "log and profile count overwritten events" {
	touch f
	iotracer add -n 10 f
	for i in {1..100}; do
		echo "$i" >>f
	done
	run --separate-stderr iotracer log --format=csv --no-header f
	[ "${#lines[@]}" = 10 ]
	[ "$stderr" = "iotracer: f: 90 events were overwritten or lost before they were read" ]
	run iotracer profile f
	[[ ${lines[0]} == "only the last 10 of 100 events: 90 were overwritten or lost "* ]]
}

@test "log: events that reset dropped are not missing" {
	touch f
	iotracer add -n 10 f
	for i in {1..100}; do
		echo "$i" >>f
	done
	iotracer reset f
	echo x >>f
	run --separate-stderr iotracer log --format=csv --no-header f
	[ "${#lines[@]}" = 1 ]
	[ -z "$stderr" ]
}

@test "add: a target that is resized keeps its events and counts" {
	touch f
	iotracer add -n 10 f
	echo x >>f
	iotracer add -n 5 f
	[ "$(state f max_events)" = 5 ]
	[ "$(state f events)" = 1 ]
}

@test "add: 4096 events by default, by control as many as MAX_EVENTS" {
	rmmod iotracer
	insmod "$IOTRACER_KO"
	touch f g
	iotracer add f
	echo "add $PWD/g" >/proc/iotracer/control
	[ "$(state f max_events)" = 4096 ]
	[ "$(state g max_events)" = 10 ]
}

@test "add: a file that is already traced keeps its size unless another is given" {
	touch f g
	iotracer add f
	iotracer add -n 10 g
	iotracer add g
	[ "$(state g max_events)" = 10 ]
	iotracer add -n 20 g
	[ "$(state g max_events)" = 20 ]
	iotracer add f g
	[ "$(state f max_events) $(state g max_events)" = "10000 20" ]
}

@test "add: MAX_EVENTS above 4096 is the default" {
	touch f
	echo 5000 >/sys/module/iotracer/parameters/MAX_EVENTS
	iotracer add f
	[ "$(state f max_events)" = 5000 ]
}

@test "stop, start: events of the time between are not seen" {
	touch f g
	iotracer add f g
	echo x >>f
	iotracer stop f
	[ "$(state f running)" = false ]
	[ "$(state g running)" = true ]
	echo x >>f
	[ "$(state f events)" = 1 ]
	iotracer start f
	echo x >>f
	[ "$(state f events)" = 2 ]
}

@test "reset: the events are gone, the clock goes on" {
	touch f
	iotracer add f
	echo x >>f
	t0=$(state f t0_ns)
	iotracer reset f
	[ "$(state f events)" = 0 ]
	[ "$(state f t0_ns)" = "$t0" ]
}

@test "timereset --all: the clock starts anew" {
	touch f
	iotracer add f
	t0=$(state f t0_ns)
	iotracer timereset --all
	[ "$(state f t0_ns)" -gt "$t0" ]
}

@test "stop --all: nothing runs" {
	touch f g
	iotracer add f g
	iotracer stop --all
	[ "$(state g running)" = false ]
}

@test "files whose names have any bytes are traced, listed and removed" {
	names=('with space' 'ends in 7' $'new\nline' $'tab\t' 'back\slash' '\040' "quo'te\"" 'é' $'\xff\xfe' '-dash' '*')
	for name in "${names[@]}"; do
		echo x >"./$name"
		iotracer add -n 7 -- "$name"
		echo y >"./$name"
		[ "$(state "./$name" max_events)" = 7 ]
		run iotracer log -- "$name"
		[ "${#lines[@]}" = 1 ]
	done
	run iotracer list
	[ "${#lines[@]}" = "${#names[@]}" ]
	[[ $output == *'/mnt/files/new\012line'* ]]
	[[ $output == *'/mnt/files/with space'* ]]
	[[ $output == *'/mnt/files/\377\376'* ]]
	for name in "${names[@]}"; do
		iotracer remove -- "$name"
	done
	[ -z "$(iotracer list)" ]
}

@test "a file is found by hard and symbolic links, and after a rename or unlink" {
	touch f
	iotracer add --inode f
	ln f hard
	ln -s f soft
	echo x >hard
	for name in f /mnt/files/f ./f hard soft "$(iotracer list | cut -d' ' -f1)"; do
		[ "$(state "$name" events)" = 1 ]
	done
	mv f renamed
	[ "$(state renamed events)" = 1 ]
	rm hard renamed
	[ "$(state f events)" = 1 ]
	# A new file of that name is another file, even with the same inode number.
	echo new >f
	[ "$(state f events 2>/dev/null)" = 1 ]
	run --separate-stderr iotracer status f
	[[ $stderr == "iotracer: f: is another file now; this is about "*", which was added under this name" ]]
	iotracer add --inode f
	echo x >f
	echo x >>f
	[ "$(state f events)" = 2 ]
	run iotracer list
	[ "${#lines[@]}" = 2 ]
	iotracer remove f
	[ "$(state f events 2>/dev/null)" = 1 ]
	iotracer remove f
	[ -z "$(iotracer list)" ]
}

@test "remove: removes one link, a renamed file, or a target with all its links" {
	touch f
	ln f g
	iotracer add f g
	iotracer remove f
	run iotracer list
	[[ $output == *"  /mnt/files/g" ]]
	mv g h
	iotracer remove h
	[ -z "$(iotracer list)" ]
	iotracer add f h
	ln f third
	iotracer remove third
	[ -z "$(iotracer list)" ]
	iotracer add f h
	iotracer remove "$(iotracer list | head -n 1 | cut -d' ' -f1)"
	[ -z "$(iotracer list)" ]
}

@test "errors: add explains what cannot be traced, and traces the rest" {
	touch f
	mkfifo fifo
	run --separate-stderr iotracer add none fifo f
	[ "$status" = 1 ]
	[ "${stderr_lines[0]}" = "iotracer: none: no such file" ]
	[[ ${stderr_lines[1]} == "iotracer: fifo: cannot be traced: neither a regular file, a directory nor a block device"* ]]
	[ "${#stderr_lines[@]}" = 2 ]
	[ -n "$(iotracer list)" ]
	run iotracer add -n 99999999 f
	[ "$status" = 1 ]
	[[ $output == *"max_events_limit"* ]]
	run iotracer add -n 99999999999999999999 f
	[ "$status" = 1 ]
	run iotracer add "$(printf 'x%.0s' {1..300})"
	[ "$status" = 1 ]
	[[ $output == *"the name is too long" ]]
	dmesg --clear # the module's message about the limit is expected
}

@test "permissions: root only by default" {
	echo x >f
	for arguments in "add f" list status "log f" "stop --all"; do
		# shellcheck disable=SC2086
		run as_nobody iotracer $arguments
		[ "$status" = 4 ]
		[[ $output == *"permission denied: needs CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace, or "* ]]
	done
}

@test "permissions: also the group of proc_gid, for files that it may read" {
	echo x >f
	echo x >secret
	chmod 644 f
	chmod 600 secret
	rmmod iotracer
	insmod "$IOTRACER_KO" proc_gid=65534 proc_mode=0660
	run as_nobody iotracer add f
	[ "$status" = 0 ]
	cat f >/dev/null
	run as_nobody iotracer log --format=csv f
	[ "$status" = 0 ]
	[ "${#lines[@]}" -ge 2 ]
	run --separate-stderr as_nobody iotracer add secret
	[ "$status" = 4 ]
	[ "$stderr" = "iotracer: secret: you may not read this file, so you may not trace it" ]
	run as_nobody iotracer remove f
	[ "$status" = 0 ]
	run setpriv --reuid=65533 --regid=65533 --clear-groups iotracer list
	[ "$status" = 4 ]
	[[ $output == *"membership of the group that proc_gid names: "* ]]
}

@test "log --follow: prints events as they come, ends with 0 when the target is removed" {
	touch f
	for format in text csv json; do
		rm -f /tmp/out
		iotracer add f
		iotracer log --follow --format=$format f >/tmp/out 2>/tmp/err &
		pid=$!
		header=0
		[ $format = csv ] && header=1
		for i in {1..5}; do
			echo "$i" >>f
			wait_for has_lines /tmp/out $((i + header))
		done
		iotracer remove f
		wait "$pid"
		[ "$(cat /tmp/err)" = "iotracer: f: target was removed" ]
		[ "$(wc -l </tmp/out)" = $((5 + header)) ]
	done
}

@test "log --follow: under load each event is printed once or counted as missing" {
	truncate -s 16M f
	iotracer add -n 2000 f
	# Tracing and following begin before the first event, so seq begins at 0.
	env --default-signal=INT iotracer log -F -f csv -H f >/tmp/out 2>/tmp/err &
	pid=$!
	wait_for is_open "$pid" stream
	fio --name=load --filename=f --rw=randwrite --bs=4k --size=16M --ioengine=psync \
		--loops=$((5 / ${LOAD_DIVISOR:-1})) --output=/dev/null
	seen=$(state f total)
	wait_for has_row /tmp/out $((seen - 1))
	kill -INT "$pid"
	wait "$pid"
	cat /tmp/err
	printed=$(wc -l </tmp/out)
	[ -z "$(cut -d, -f2 /tmp/out | sort | uniq -d)" ]
	last=$(cut -d, -f2 /tmp/out | sort -n | tail -n 1)
	[ "$((last + 1))" = "$seen" ]
	if [ "$printed" = "$seen" ]; then
		[ ! -s /tmp/err ]
	else
		missing=$(sed 's/iotracer: f: \([0-9]*\) events.*/\1/' /tmp/err)
		[ "$((printed + missing))" = "$seen" ]
	fi
}

@test "format prints the same as the module's own format file" {
	iotracer format | diff - /proc/iotracer/format
}

@test "a thousand targets are found by path and by link, and all removed" {
	mkdir many
	touch many/{1..1000}
	iotracer add -n 10 many/*
	run iotracer list
	[ "${#lines[@]}" = 1000 ]
	ln many/500 other
	echo x >other
	[ "$(state many/500 events)" = 1 ]
	[ "$(state other events)" = 1 ]
	[ "$(iotracer status | grep -c 'running$')" = 1000 ]
	iotracer status --format=json | python3 -c 'import json, sys; assert sum("target" in t for t in json.load(sys.stdin)) == 1000'
	iotracer remove --all
	[ -z "$(iotracer list)" ]
}

@test "with the module unloaded: exit 3" {
	rmmod iotracer
	run iotracer list
	[ "$status" = 3 ]
	insmod "$IOTRACER_KO"
}
