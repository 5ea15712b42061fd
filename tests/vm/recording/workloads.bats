#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Records a day's work and compares the trace with what strace, /proc/<pid>/io, getrusage,
# diskstats and blktrace count.
# Each test runs a function of workloads.py.
#
# It takes minutes, so it runs on 6.1 and on debug kernels only if it is named.
#
# bats file_tags=recent

bats_require_minimum_version 1.5.0

load ../../lib/helpers

setup_file() {
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 /dev/vda
	mkdir -p /mnt/disk
	# Nothing is written back unless something asks for it, and ext4lazyinit reads nothing.
	mount -o noatime,commit=3600,no_prefetch_block_bitmaps /dev/vda /mnt/disk
	mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/disk
}

setup() {
	PATH=$TOP/tools:$PATH
}

# check machine|command WORKLOAD
check() {
	run_functions workloads.py "$@"
}

@test "sqlite: the trace of the whole machine agrees with other counts" {
	check machine sqlite
}

# bats test_tags=once
@test "sqlite: the trace of its process tree agrees with other counts" {
	check command sqlite
}

@test "PostgreSQL: the trace of the whole machine agrees with other counts" {
	check machine postgresql
}

# bats test_tags=once
@test "PostgreSQL: the trace of its process tree agrees with other counts" {
	check command postgresql
}

# bats test_tags=once
@test "git: the trace of the whole machine agrees with other counts" {
	check machine git
}

# bats test_tags=once
@test "git: the trace of its process tree agrees with other counts" {
	check command git
}

@test "fio: the trace of the whole machine agrees with other counts" {
	check machine fio
}

# bats test_tags=once
@test "fio: the trace of its process tree agrees with other counts" {
	check command fio
}

# bats test_tags=once
@test "rsync: the trace of the whole machine agrees with other counts" {
	check machine rsync
}

# bats test_tags=once
@test "rsync: the trace of its process tree agrees with other counts" {
	check command rsync
}

# bats test_tags=once
@test "stress-ng: the trace of the whole machine agrees with other counts" {
	check machine stress_ng
}

# bats test_tags=once
@test "stress-ng: the trace of its process tree agrees with other counts" {
	check command stress_ng_rejected
}
