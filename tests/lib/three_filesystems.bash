# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For a suite that has the module loaded and three filesystems mounted throughout, and whose
# tests are functions of a Python file of the same name. CATEGORY names the category, if any,
# that a test may leave started.

load lib/helpers

setup_file() {
	three_filesystems
	load_module
}

teardown_file() {
	unload_module
	umount_three_filesystems
}

teardown() {
	[ ! -e "/proc/iotracer/${CATEGORY:=none}/control" ] ||
		echo stop >"/proc/iotracer/$CATEGORY/control"
}

# check FUNCTION...
check() {
	run_functions "$(basename "$BATS_TEST_FILENAME" .bats).py" "$@"
}
