#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=slow
#
# Very many processors are possible, and few are online:
#
#	scripts/check-vm --cpus 4 --append maxcpus=2 --append possible_cpus=256 6.1 tests/hostile_cpus.bats
#
# Kernels from 6.9 on have no more processors than the firmware names: four here. Each test runs
# functions of hostile_cpus.py.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files /mnt/disk
	mount -t tmpfs files /mnt/files
}

teardown_file() {
	unload_module
	umount /mnt/files
}

# check FUNCTION...
check() {
	run_functions hostile_cpus.py "$@"
}

@test "start takes memory for the CPUs that are online, of 256 that are possible" {
	check online_only
}

@test "a CPU that comes online for the first time has its ring, and its events are recorded" {
	check hotplug
}
