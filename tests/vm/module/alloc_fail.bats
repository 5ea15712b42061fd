#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=debug:kasan
#
# The module without memory: alloc_fail.c makes the allocations of each command fail,
# one after the other. scripts/vm asks the kernel's leak detector what was leaked.

load ../../lib/helpers

FAULT=$TOP/build/tests/alloc_fail

setup_file() {
	modprobe ext4
	new_filesystem ext4 /dev/vda /mnt/ext4
}

teardown_file() {
	umount /mnt/ext4
}

setup() {
	[ -e /sys/kernel/debug/failslab ] || skip "this kernel cannot make allocations fail"
	load_module
}

teardown() {
	unload_module
}

@test "faults: add" { "$FAULT" /mnt/ext4 add >&3; }
@test "faults: resize" { "$FAULT" /mnt/ext4 resize >&3; }
@test "faults: remove" { "$FAULT" /mnt/ext4 remove >&3; }
@test "faults: stop, start, reset, timereset" { "$FAULT" /mnt/ext4 switch >&3; }
@test "faults: reading" { "$FAULT" /mnt/ext4 read >&3; }
@test "faults: the category fs" { "$FAULT" /mnt/ext4 category >&3; }
