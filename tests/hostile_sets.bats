#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Sets of hooks beside other modules: those whose functions a set hooks come and go, and
# others redirect the same functions. Each test runs functions of hostile_sets.py; the
# modules that they load are tests/ghost.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files /mnt/btrfs
	mount -t tmpfs files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk
	mkfs.btrfs -q -f /dev/vdb
	modprobe -r btrfs
	GHOSTS=$(dirname "$(ko)")/ghost
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

@test "sets: what is loaded where a hooked function was is not called as if it were that" {
	check ghosts
}

@test "sets: the functions of a module are attached when it comes, also the first time" {
	check comes_and_goes
}

@test "sets: modules come and go while sets are started and stopped" {
	check churn
}

@test "sets: where others redirect a function, that one is followed and the rest stays" {
	check foreign_first
}

@test "sets: with attach=entry others may redirect any function" {
	check foreign_later
}

@test "sets: a livepatch, there before us and loaded later" {
	[ -e "$GHOSTS/patch.ko" ] || skip "this kernel has no livepatches"
	check livepatch_first livepatch_later
}
