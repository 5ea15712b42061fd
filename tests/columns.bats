#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# export shows each field of each category, of records that are known, as columns.table says.
# Needs neither root nor the module.
#
# bats file_tags=host

load lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	export IOTRACER_PROC=$BATS_TEST_TMPDIR/proc PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
	for category in $(categories); do
		idle_category "$category"
	done
}

@test "columns.table has all fields and all columns of all categories" {
	python3 "$BATS_TEST_DIRNAME/columns.py" complete
}

@test "CSV, JSON and IO Tracer's layout show each field as columns.table says" {
	python3 "$BATS_TEST_DIRNAME/columns.py" export
}
