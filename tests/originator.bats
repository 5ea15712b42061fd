#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Pages and requests that another task writes back or drops: filters on tasks match them by
# their originator, the task that dirtied or read the data. Each test runs functions of
# originator.py; the last ones run the tool.

bats_require_minimum_version 1.5.0

load lib/helpers

setup_file() {
	mkdir -p /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk
	mount -o remount,noauto_da_alloc /mnt/disk
	make -s -C "$BATS_TEST_DIRNAME/../tools"
	# Without merges a request has the data of one file only.
	echo 2 >/sys/block/vda/queue/nomerges
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/disk
}

setup() {
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	cd /
	echo stop >/proc/iotracer/block/control
	echo stop >/proc/iotracer/cache/control
	echo filter none >/proc/iotracer/block/control
	echo filter none >/proc/iotracer/cache/control
	find /mnt/disk -type f -delete
}

# meta TRACE: print the bytes still to be written that the metadata of a trace reports
meta() {
	python3 -S -s -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1]))["unwritten_bytes"]))' \
		"$1/metadata.json"
}

# check FUNCTION [ARGUMENT]...
check() {
	run_functions originator.py "$@"
}

@test "block: filters on tree, pid, tid, comm, uid and cgroup match requests by their originator" {
	check requests
}

@test "block: the next process with the number of an originator is another one" {
	check next_process
}

@test "block: the same on a device that has bios and no requests" {
	umount /mnt/disk
	map over "0 $(blockdev --getsz /dev/vda) linear /dev/vda 0"
	# shellcheck disable=SC2154 # map sets it
	mount -o noauto_da_alloc "/dev/$device" /mnt/disk
	check requests
	umount /mnt/disk
	unmap over
	mount -o noauto_da_alloc /dev/vda /mnt/disk
}

@test "cache: the same filters match writeback and invalidation of pages" {
	check pages
}

# bats test_tags=once
@test "cache: the filter may be set after start" {
	check filter_later
}

@test "cache: pages that another task reads again do not match" {
	check read_again
}

@test "dirty: the bytes still to be written, of all tasks or of those that the filter matches" {
	check dirty
}

# bats test_tags=once
@test "dirty: cannot be read without privileges" {
	run ! setpriv --reuid=65534 --regid=65534 --clear-groups cat /proc/iotracer/block/dirty
	[[ $output == *"ermission denied"* ]]
}

# bats test_tags=once
@test "record -c block -- dd: its data is in the trace when another process writes it back" {
	(until [ -e /mnt/disk/wb ] && [ "$(stat -c %s /mnt/disk/wb)" = 2097152 ]; do sleep 0.1; done
	 sleep 0.5; sync) 3>&- &
	iotracer record -o trace -c block,cache --drain 600 -- dd if=/dev/zero of=/mnt/disk/wb bs=1M count=2
	run_functions originator.py recorded "$PWD/trace" /mnt/disk/wb 2097152 0
}

# bats test_tags=once
@test "record: bytes that are still dirty at the end are reported, in metadata.json too" {
	run --separate-stderr iotracer record -o trace -c block --drain 0 -- \
		dd if=/dev/zero of=/mnt/disk/wb bs=1M count=2
	[ "$status" = 0 ]
	# shellcheck disable=SC2154 # run sets it
	[[ $stderr == *"2097152 bytes that the command wrote to files were not on their device"* ]]
	run_functions originator.py recorded "$PWD/trace" /mnt/disk/wb 0 2097152
	run --separate-stderr iotracer record -o again -c fs -- true
	[ "$status" = 0 ]
	[[ $stderr != *"were not on"* ]]
	[ "$(meta again)" = null ]
}

# bats test_tags=once
@test "record: processes that the command leaves running are named, or with --wait recorded" {
	# the process has this name from its exec on
	run --separate-stderr iotracer record -o trace -- sh -c 'sleep 300 >/dev/null 2>&1 3>&- &
		until grep -qx sleep "/proc/$!/comm"; do :; done; exit 3'
	[ "$status" = 3 ]
	[[ $stderr =~ "still running, but no longer recorded: sleep ("([0-9]+)")" ]]
	kill "${BASH_REMATCH[1]}"
	mkfifo go
	(sleep 1; echo >go) 3>&- &
	run --separate-stderr iotracer record -o waited --wait -- \
		sh -c '(read -r x <go; echo late >/mnt/disk/late) 3>&- & exit 3'
	[ "$status" = 3 ]
	[[ $stderr != *"still running"* ]]
	iotracer export -o csv waited
	grep -r -q /mnt/disk/late csv
}
