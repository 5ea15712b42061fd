#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Block devices as targets: disks and partitions. Each test runs functions of device.py.

# Tests run in subshells.
# shellcheck disable=SC2030,SC2031

load lib/three_filesystems

@test "devices: reads and writes of programs are recorded at both levels" {
	check reads_and_writes
}

@test "devices: a partition records its own requests, the disk all" {
	check parts
}

@test "devices: the sectors of a filesystem are those of /proc/diskstats" {
	check sums
}

@test "devices: a traced device is removed, and traced again when it comes back" {
	check gone
}

@test "devices: who may trace them, and the names of their targets" {
	check refused
}

# bats test_tags=once
@test "devices: the rows of both levels carry the number of the device" {
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
	iotracer add /dev/vdd
	dd if=/dev/vdd of=/dev/null bs=4k count=1 iflag=direct status=none
	run sh -c "iotracer log --format=csv /dev/vdd | python3 -c 'import csv, sys; [print(r[\"level\"], r[\"device\"]) for r in csv.DictReader(sys.stdin)]'"
	[ "$(sort -u <<<"$output")" = "blk $(stat -c %Hr:%Lr /dev/vdd)
vfs $(stat -c %Hr:%Lr /dev/vdd)" ]
	iotracer remove vdd
}

# bats test_tags=once
@test "devices: the tool adds, shows and removes them" {
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
	iotracer add -n 50 /dev/vdd
	dd if=/dev/vdd of=/dev/null bs=4k count=3 iflag=direct status=none
	[ "$(iotracer log --format=csv /dev/vdd | grep -c ',blk,')" = 3 ]
	[ "$(iotracer status --format=json /dev/vdd | jq -r '.[0].levels.blk.seen')" = 3 ]
	[ "$(iotracer list | tr -s ' ')" = "vdd /dev/vdd" ]
	iotracer remove vdd
	[ -z "$(iotracer list)" ]
}
