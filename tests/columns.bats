#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Each field of each category, as export shows it: records that are known, and columns.table,
# which says what is made of them. Needs neither root nor the module.
#
# bats file_tags=host

load lib/tool

setup_file() {
	build_tool
}

setup() {
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$BATS_FILE_TMPDIR:$PATH
	export LC_ALL=C.UTF-8 IOTRACER_PROC=$BATS_TEST_TMPDIR/proc PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
	for category in fs fault block cache uring; do
		idle_category "$category"
	done
}

@test "the table has all fields, and all columns, of all categories" {
	python3 "$BATS_TEST_DIRNAME/columns.py" complete
}

@test "CSV, JSON and IO Tracer's layout show each field as the table says" {
	python3 "$BATS_TEST_DIRNAME/columns.py" export
}
