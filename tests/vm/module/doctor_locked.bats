#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=slow
#
# Of a kernel that takes no unsigned module, iotracer doctor reports what insmod finds. None
# of these settings can be undone, so no other suite can follow in this machine. Each test
# sets what the kernel checks before the settings of the tests above it.

# Tests run in subshells, and "run --separate-stderr" sets stderr_lines.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

load ../../lib/helpers

setup_file() {
	mountpoint -q /sys/kernel/security || mount -t securityfs securityfs /sys/kernel/security
}

setup() {
	PATH=$TOP/tools:$PATH
}

# refused CHECK WORDS ERROR: doctor reports that nothing works because of CHECK, and says
# WORDS; insmod fails with ERROR
refused() {
	run -3 --separate-stderr iotracer doctor --format=json
	jq -e --arg name "$1" --arg words "$2" '.checks[] | select(.name == $name)
		| .state == "missing" and .blocks and (.found | contains($words))' <<<"$output"
	[ "$(jq -r '[.categories[].state] | unique | join(" ")' <<<"$output")" = missing ]
	run -1 insmod "$(ko)"
	[[ $output == *"$3"* ]]
}

@test "under lockdown a loaded module goes on recording, but cannot be loaded again" {
	load_module
	echo confidentiality >/sys/kernel/security/lockdown
	echo start >/proc/iotracer/fault/control
	run -0 iotracer doctor
	[[ $output == *'confidentiality; the module is loaded'* ]]
	echo stop >/proc/iotracer/fault/control
	[ "$(sed -n 's/^seen //p' /proc/iotracer/fault/stats)" -gt 0 ]
	unload_module
	refused lockdown 'confidentiality: only signed modules' 'Operation not permitted'
}

@test "with enforced signatures the module cannot be loaded" {
	echo Y >/sys/module/module/parameters/sig_enforce
	refused signatures 'module.sig_enforce' 'Key was rejected by service'
}

@test "with module loading disabled the module cannot be loaded" {
	echo 1 >/proc/sys/kernel/modules_disabled
	refused modules 'kernel.modules_disabled=1' 'Operation not permitted'
}
