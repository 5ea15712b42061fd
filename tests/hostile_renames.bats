#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=slow
#
# What an attack with names costs, in instructions, which only a virtual machine with -icount
# counts:
#
#	scripts/check-vm --icount 6.12 tests/hostile_renames.bats
#
# RENAMES=1000000 makes a million instead of 20,000. Each test runs functions of
# hostile_renames.py.

load lib/helpers

setup_file() {
	export BATS_TEST_TIMEOUT=3600
	mkdir -p /mnt/files
	mount -t tmpfs -o nr_inodes=0 files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk 256M
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/disk
}

# check FUNCTION...
check() {
	run_functions hostile_renames.py "$@"
}

@test "names of one file: many renames do not make a read or the next rename cost more" {
	check renames
}

@test "names of nothing: many lookups do not make a read or the next lookup cost more" {
	check names
}

@test "names: what the filter rejects costs a rename or lookup less than 2,000 instructions" {
	check rejected
}
