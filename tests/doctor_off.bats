#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=slow
#
# What iotracer doctor says of a kernel whose ftrace is off is what the module sees there.
# ftrace loses count of its functions when it is turned on again (ftrace_shutdown() warns,
# and ftrace is gone for good), so no other suite can follow in this machine.

# Tests run in subshells, and "run" sets output.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	make -s -C "$BATS_TEST_DIRNAME/../tools"
	new_filesystem ext4 /dev/vda /mnt
}

teardown_file() {
	umount /mnt
}

# seen CATEGORY: its events of a command
seen() {
	echo start >/proc/iotracer/"$1"/control
	sh -c 'echo x >/mnt/f && rm /mnt/f'
	echo stop >/proc/iotracer/"$1"/control
	sed -n 's/^seen //p' "/proc/iotracer/$1/stats"
}

# Hooks of functions can be attached then, and see nothing.
@test "with ftrace off doctor says what is not seen, and so it is" {
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
	sysctl -qw kernel.ftrace_enabled=0
	load_module
	said=$BATS_TEST_TMPDIR/said
	run -1 --separate-stderr iotracer doctor --format=json
	printf '%s\n' "$output" >"$said"
	jq -e '.checks[] | select(.name == "ftrace").state == "missing"' "$said"
	jq -e '[.categories[] | select(.name == "fs" or .name == "fault").state] | all(. == "missing")' "$said"
	jq -e '.categories[] | select(.name == "cache") | .state == "partly" and
		(.missing | index("HIT: ftrace is off"))' "$said"
	[ "$(seen fs)" = 0 ]
	[ "$(seen fault)" = 0 ]
	[ "$(seen cache)" -gt 0 ]
	grep -q ' DIRTY ' /proc/iotracer/cache/log
	run ! grep -qE ' (HIT|MISS|READAHEAD) ' /proc/iotracer/cache/log
	unload_module
}
