#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Runs fuzz.c: random commands to /proc/iotracer, and random calls on its files.
#
# FUZZ_SECONDS=300 lasts five minutes instead of 20 seconds. A run prints its seed;
# FUZZ_SEED=SEED repeats it.

# bats file_tags=once

load ../../lib/helpers

FUZZ=$TOP/build/tests/fuzz

setup_file() {
	export BATS_TEST_TIMEOUT=$((${FUZZ_SECONDS:-20} * 2 + 600))
	modprobe ext4
	new_filesystem ext4 /dev/vda /mnt/ext4
}

teardown_file() {
	umount /mnt/ext4
}

teardown() {
	unload_module
}

@test "fuzz: commands and file operations" {
	load_module
	mkdir /mnt/ext4/fuzz
	"$FUZZ" -t "${FUZZ_SECONDS:-20}" ${FUZZ_SEED:+-s "$FUZZ_SEED"} /mnt/ext4/fuzz \
		>"$BATS_TEST_TMPDIR/fuzz" || { cat "$BATS_TEST_TMPDIR/fuzz"; false; }
	grep -v '^the law' "$BATS_TEST_TMPDIR/fuzz" | sed 's/^/# /' >&3
}
