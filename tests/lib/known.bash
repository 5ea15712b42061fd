# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For suites about traces whose events are known. They are recorded from a directory that looks like
# /proc/iotracer, so neither root nor the module is needed. A Python module of the suite's name says what is in
# them, and computes each answer in another way; each test is a function of it.

# shellcheck source=tests/lib/tool.bash
. "${BASH_SOURCE[0]%/*}/tool.bash"

setup_file() {
	build_tool
}

setup() {
	local category
	use_tool
	work=$(mktemp -d /tmp/iotracer-known.XXXXXX)
	cd "$work" || return
	export IOTRACER_PROC=$work/proc IOTRACER_TRACES=$work/kept TMPDIR=$work PYTHONDONTWRITEBYTECODE=1
	# shellcheck disable=SC2119 # all of them
	for category in $(categories); do
		idle_category "$category"
	done
}

teardown() {
	cd /
	rm -rf "$work"
}

# known FUNCTION [ARGUMENT]...
known() {
	python3 -m "$(basename "$BATS_TEST_FILENAME" .bats)" "$@"
}
