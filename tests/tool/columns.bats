#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# export and log show each field of each category and of targets, of records that are known, as
# columns.table says.
# Needs neither root nor the module.
#
# bats file_tags=host

load ../lib/tool

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
	: >proc/control
	touch f
	target sda1_1 f
	no_losses sda1_1
}

@test "columns.table has all fields and all columns of all categories" {
	python3 -m columns complete
}

@test "CSV, JSON, IO Tracer's layout and log show each field as columns.table says" {
	python3 -m columns export
}

# tool_with_wrong_columns: build ./wrong-tool, of which WRONG_COLUMN makes a column wrong
tool_with_wrong_columns() {
	local objects libraries
	sed 's/^\treturn c->put(p, c, out, record);$/\treturn wrong_column(p, c, out, c->put(p, c, out, record));/
		/^static char \*put_column(/i #include "tests/lib/wrong_column.h"' "$TOP/tools/trace/row.c" >row.c
	[ "$(grep -c wrong_column row.c)" = 2 ]
	mapfile -t objects < <(find "$TOP/tools" -name '*.o' ! -path '*/trace/row.o')
	read -ra libraries < <(tool_libraries)
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$TOP" -I"$TOP/module" -I"$TOP/tools" -pthread -o wrong-tool \
		row.c "${objects[@]}" "${libraries[@]}"
}

@test "each column that is wrong, in any format, is noticed" {
	tool_with_wrong_columns
	python3 -m columns wrong "$PWD/wrong-tool"
}
