#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Block devices as targets: disks and partitions. Each test runs functions of device.py.

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

@test "devices: the tool adds, shows and removes them" {
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
	iotracer add -n 50 /dev/vdd
	dd if=/dev/vdd of=/dev/null bs=4k count=3 iflag=direct status=none
	[ "$(iotracer log --format=csv /dev/vdd | grep -c ',blk,')" = 3 ]
	[ "$(iotracer status --format=json /dev/vdd | jq -r '.[0].levels.blk.seen')" = 3 ]
	[ "$(awk '{ print $1, $2 }' <(iotracer list))" = "vdd /dev/vdd" ]
	iotracer remove vdd
	[ -z "$(iotracer list)" ]
}
