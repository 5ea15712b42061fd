#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=slow
#
# A kernel whose ftrace was turned off by sysctl: nothing can be traced, and errors and
# doctor report it. ftrace loses count of its functions when it is turned on again
# (ftrace_shutdown() warns, and ftrace is gone for good), so no other suite can follow in
# this machine.

# Tests run in subshells, and "run" sets output.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

load ../../lib/helpers

setup_file() {
	new_filesystem ext4 /dev/vda /mnt
}

teardown_file() {
	umount /mnt
}

# refused FILE COMMAND [ERROR]: the command fails with EOPNOTSUPP, and the file ERROR says why
refused() {
	# shellcheck disable=SC2016 # it is for the inner shell
	run ! bash -c 'echo "$2" >"$1"' bash "$1" "$2"
	[[ $output == *"Operation not supported" ]]
	[ -z "${3:-}" ] || grep -q 'ftrace is off, and without it no call is seen; sysctl -w' "$3"
}

# Without ftrace, hooks of functions could be attached but would see nothing.
@test "with ftrace off nothing can be started, and doctor reports it" {
	PATH=$TOP/tools:$PATH
	: >/mnt/f
	load_module
	echo "add /mnt/f" >/proc/iotracer/control
	target=$(echo /proc/iotracer/*_*)
	sysctl -qw kernel.ftrace_enabled=0 && return 1 # it is refused while something is hooked
	echo stop >"$target/control"
	unload_module

	sysctl -qw kernel.ftrace_enabled=0
	load_module
	for category in $(categories); do
		refused "/proc/iotracer/$category/control" start "/proc/iotracer/$category/error"
	done
	refused /proc/iotracer/control "add /mnt/f" /proc/iotracer/error
	run ! compgen -G '/proc/iotracer/*_*'
	run -3 --separate-stderr iotracer doctor --format=json
	printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/said"
	jq -e '.checks[] | select(.name == "ftrace") | .state == "missing" and .blocks' "$BATS_TEST_TMPDIR/said"
	jq -e --argjson n "$(categories | wc -l)" '[.categories[].state] | length == $n and all(. == "missing")' "$BATS_TEST_TMPDIR/said"
	unload_module
}
