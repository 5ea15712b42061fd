#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=storm
#
# Does everything to iotracer at once: storm.c has the details. This file makes the disks
# that storm.c needs, and proves that nothing is left behind. scripts/vm fails if the kernel
# complains.
#
# STORM_SECONDS=1800 lasts half an hour instead of two minutes. A run prints its seed;
# STORM_SEED=SEED repeats its decisions. With STORM_ATTACKERS=1 the attackers of hostile.py
# run beside it.

bats_require_minimum_version 1.5.0
load ../lib/helpers

STORM=$TOP/build/tests/storm

setup_file() {
	export BATS_TEST_TIMEOUT=$((${STORM_SECONDS:-120} * 4 + 600))
	# as on any machine (scripts/lib.sh, IOT_TEST_MACHINE)
	echo 500 >/proc/sys/vm/dirty_writeback_centisecs
	modprobe -a ext4 xfs btrfs
	new_filesystem ext4 /dev/vda /mnt/ext4
	new_filesystem xfs /dev/vdb /mnt/xfs
	new_filesystem btrfs /dev/vdc /mnt/btrfs
	mkfs.ext4 -q -F /dev/vdd
	mkdir -p /mnt/storm /mnt/files
	mount -t tmpfs -o mode=1777,size=512M files /mnt/files
	IOTRACER_KO=$(ko)
	export IOTRACER_KO
}

teardown_file() {
	unload_module
	umount /mnt/ext4 /mnt/xfs /mnt/btrfs /mnt/files
}

# attackers SECONDS: run the attackers if they are asked for, and wait until they end
attackers() {
	[ -z "${STORM_ATTACKERS:-}" ] || python3 -m hostile attack /mnt/files "$1"
}

# storm SECONDS: run the storm; fails also if an attacker succeeded
storm() {
	local failed=0 pid
	attackers "$1" >"$BATS_TEST_TMPDIR/attackers" 2>&1 3>&- &
	pid=$!
	"$STORM" -t "$1" ${STORM_SEED:+-s "$STORM_SEED"} "$IOTRACER_KO" /dev/vdd /mnt/storm \
		/mnt/ext4 /mnt/xfs /mnt/btrfs >"$BATS_TEST_TMPDIR/storm" 2>&1 || failed=1
	wait "$pid" || failed=1
	cat "$BATS_TEST_TMPDIR/attackers" >>"$BATS_TEST_TMPDIR/storm"
	rm -rf /mnt/files/*
	return "$failed"
}

@test "storm: no unexpected error, the counts add up, nothing is left behind" {
	# The first storm allocates what the kernel itself keeps.
	storm 5 || true
	unload_module
	remember_slabs
	storm "${STORM_SECONDS:-120}" || { cat "$BATS_TEST_TMPDIR/storm"; false; }
	sed 's/^/# /' "$BATS_TEST_TMPDIR/storm" >&3
	unload_module
	back_to_slabs 100
}
