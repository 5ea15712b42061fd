#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# A day's work, recorded, beside strace, /proc/<pid>/io, getrusage, diskstats and blktrace.
# Each test runs a function of workloads.py.
#
# It takes minutes, so 6.1 is left out where nobody asks for it by name.
#
# bats file_tags=recent

bats_require_minimum_version 1.5.0

load lib/helpers

setup_file() {
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 /dev/vda
	mkdir -p /mnt/disk
	# Nothing is written back but when something asks for it.
	mount -o noatime,commit=3600 /dev/vda /mnt/disk
	echo 0 >/proc/sys/vm/dirty_writeback_centisecs
	make -s -C "$BATS_TEST_DIRNAME/../tools"
	mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/disk
	echo 500 >/proc/sys/vm/dirty_writeback_centisecs
}

setup() {
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
}

# check machine|command WORKLOAD
check() {
	run_functions workloads.py "$@"
}

@test "sqlite, of the whole machine" {
	check machine sqlite
}

@test "sqlite, its process and what it starts" {
	check command sqlite
}

@test "PostgreSQL, of the whole machine" {
	check machine postgresql
}

@test "PostgreSQL, its process and what it starts" {
	check command postgresql
}

@test "git, of the whole machine" {
	check machine git
}

@test "git, its process and what it starts" {
	check command git
}

@test "fio, of the whole machine" {
	check machine fio
}

@test "fio, its process and what it starts" {
	check command fio
}

@test "rsync, of the whole machine" {
	check machine rsync
}

@test "rsync, its process and what it starts" {
	check command rsync
}

@test "stress-ng, of the whole machine" {
	check machine stress_ng
}

@test "stress-ng, its process and what it starts" {
	check command stress_ng_rejected
}
