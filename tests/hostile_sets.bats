#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Sets of hooks beside other modules: modules whose functions a set hooks are loaded and
# unloaded, and other modules redirect the same functions. Each test runs functions of
# hostile_sets.py, which load the modules of tests/ghost.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files /mnt/btrfs
	mount -t tmpfs files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk
	mkfs.btrfs -q -f /dev/vdb
	modprobe -r btrfs
	GHOSTS=$BATS_TEST_DIRNAME/../build/$(uname -r)/ghost
	export GHOSTS
}

teardown_file() {
	umount /mnt/disk /mnt/files
}

teardown() {
	unload_module
	cd /
	! mountpoint -q /mnt/btrfs || umount /mnt/btrfs
	for module in ghost foreign btrfs; do
		[ ! -d /sys/module/$module ] || rmmod $module
	done
}

check() {
	run_functions hostile_sets.py "$@"
}

@test "sets: a function at the old address of a hooked function is not taken for it" {
	check ghosts
}

@test "sets: files of a module at the old address of another one's are a new kind of file" {
	check ghost_files
}

@test "sets: the functions of a module are hooked each time it is loaded, also the first time" {
	check comes_and_goes
}

@test "sets: modules are loaded and unloaded while sets are started and stopped" {
	check churn
}

@test "sets: a function that another module redirects is followed, all others are redirected" {
	check foreign_first
}

@test "sets: with attach=entry other modules may redirect any function" {
	check foreign_later
}

@test "sets: a livepatch that was there before us" {
	[ -e "$GHOSTS/patch.ko" ] || skip "this kernel has no livepatches"
	check livepatch_first
}

@test "sets: a livepatch that is loaded later" {
	[ -e "$GHOSTS/patch.ko" ] || skip "this kernel has no livepatches"
	check livepatch_later
}
