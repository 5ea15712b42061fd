#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# A part that does not compile is left out of the module, and no other part is. Where the
# module cannot do without what fails, the build stops with one line. Needs the module built
# for 6.12.
#
# bats file_tags=host,slow

# Tests run in subshells, and "run" sets output.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

load ../lib/categories

# probe FLAG...: run probe.sh as the build does, with these flags added, into config.h of the test
probe() {
	local release
	cd "$TOP" || return
	# shellcheck source=scripts/lib.sh
	. scripts/lib.sh
	release=$(iot_headers_find 6.12)
	sed -nE "s|^[a-z]*cmd_[^ ]*config.h := sh ([^ ]*/probe.sh) [^ ]*|sh \\1 $BATS_TEST_TMPDIR/config.h|p" \
		"build/$release/module/compat/.config.h.cmd" | tr -d '\n' >"$BATS_TEST_TMPDIR/command"
	[ -s "$BATS_TEST_TMPDIR/command" ]
	printf ' %s' "$@" >>"$BATS_TEST_TMPDIR/command"
	cd "/lib/modules/$release/build" && sh "$BATS_TEST_TMPDIR/command"
}

@test "without added flags no part is left out" {
	run -0 probe
	[ -z "$output" ]
	run ! grep IOT_WITHOUT "$BATS_TEST_TMPDIR/config.h"
}

@test "a part that lacks one symbol is left out with one line, and no other part is" {
	for part in fs_calls fs_rejected $(categories fs); do
		run -0 probe "-DHIDE_${part^^}" -include "$TESTS/lib/hide.h"
		[ "${#lines[@]}" = 1 ]
		[[ $output == "iotracer: $part is left out, as it does not compile for this kernel: module/"*.c:* ]]
		run -0 grep -c '^#define IOT_WITHOUT_' "$BATS_TEST_TMPDIR/config.h"
		[ "$output" = 1 ]
		grep "IOT_WITHOUT_${part^^} \"module/" "$BATS_TEST_TMPDIR/config.h"
	done
}

@test "a kernel that is too old stops the build, with one line" {
	printf '#include <linux/version.h>\n#undef LINUX_VERSION_CODE\n#define LINUX_VERSION_CODE %s\n' \
		'KERNEL_VERSION(5, 10, 0)' >"$BATS_TEST_TMPDIR/old.h"
	run ! probe -include "$BATS_TEST_TMPDIR/old.h"
	[ "$output" = "iotracer: this kernel is too old: 6.1 is the first that iotracer works with" ]
}
