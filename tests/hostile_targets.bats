#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=slow
#
# What very many targets cost, in instructions, which only a virtual machine with -icount counts:
#
#	scripts/check-vm --icount 6.12 tests/hostile_targets.bats
#
# TARGETS=1000000 takes a million instead of 20,000, and IOTRACER_VM_MEMORY has to have room for
# their files. Each test runs functions of hostile_targets.py.

load lib/helpers

setup_file() {
	export BATS_TEST_TIMEOUT=7200
	mkdir -p /mnt/files /mnt/disk
	mount -t tmpfs -o nr_inodes=0 files /mnt/files
}

teardown_file() {
	unload_module
	umount /mnt/files
}

# check FUNCTION...
check() {
	run_functions hostile_targets.py "$@"
}

@test "ten times as many targets make no read, remove or add cost more, and no chain is long" {
	check ten_times
}
