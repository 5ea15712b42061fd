# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Of a suite that has the module and three filesystems to the end, and whose tests are
# functions of a Python file of its own name. CATEGORY is what they may
# leave started, if anything.

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
