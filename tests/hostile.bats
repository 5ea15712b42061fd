#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# All attackers at once: nobody, and root of a container without capabilities, beside
# fio, whose totals stay exact. hostile.py says what they do; the single attacks are
# tested in hostile_*.bats.
#
# HOSTILE_SECONDS=600 lets them go on for ten minutes instead of fifteen seconds.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files /mnt/disk
	mount -t tmpfs files /mnt/files
	chmod 1777 /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/disk
}

@test "attackers beside fio: its totals are exact, the law holds, memory has its limit" {
	run_functions hostile.py beside_fio
}
