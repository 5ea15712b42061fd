#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# All attackers run at once, as nobody and as root of a container without capabilities,
# beside fio, whose totals must stay exact. Every call of every process is recorded, those of the
# attackers, too. hostile.py describes the attacks; hostile_*.bats
# test them one by one.
#
# HOSTILE_SECONDS=600 runs them for ten minutes instead of fifteen seconds.

load ../lib/helpers

setup_file() {
	export BATS_TEST_TIMEOUT=$((${HOSTILE_SECONDS:-15} * 4 + 600))
	mkdir -p /mnt/files /mnt/disk
	mount -t tmpfs files /mnt/files
	chmod 1777 /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/disk
}

@test "under attack fio's totals are exact, no event is unaccounted for, memory has its limit" {
	run_functions hostile.py beside_fio
}
