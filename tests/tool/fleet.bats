#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer export --partition` and `iotracer format --sql`: a tree of many traces, which DuckDB (scripts/duckdb-get)
# and ClickHouse (a server of the test's own) read. The traces are recorded from a directory that looks like
# /proc/iotracer, so neither root nor the module is needed; fleet.py says what is in them.
#
# bats file_tags=host

load ../lib/known

setup_file() {
	build_tool
	DUCKDB=$("$TOP/scripts/duckdb-get")
	export PATH=$DUCKDB:$PATH
}

# shellcheck disable=SC2154 # work is known's
teardown() {
	if [ -e "$work/clickhouse.pid" ]; then
		kill "$(cat "$work/clickhouse.pid")"
		wait_for is_gone "$(cat "$work/clickhouse.pid")"
	fi
	cd /
	rm -rf "$work"
}

is_gone() {
	! kill -0 "$1" 2>/dev/null
}

@test "fleet: DuckDB and ClickHouse read each value of each category as export shows it" {
	known columns
}

@test "fleet: an event is at the date on which it began" {
	known days
}

@test "fleet: more days than files are open, and more than there can be" {
	known many_days
}

@test "fleet: a host can be called anything" {
	known hosts
}

@test "fleet: a trace is in a tree once" {
	known again
}

@test "fleet: several exports of a trace at once" {
	known together
}

@test "fleet: what a killed export has left is replaced" {
	known left
}

@test "fleet: links, directories of others, a full disk" {
	known unwritable
}

@test "fleet: an export that is ended leaves nothing" {
	known stopped
}

@test "fleet: _trace says what figures rest on, as stats does" {
	known counts
}

@test "fleet: metadata can be anything" {
	known hostile
}

@test "fleet: a mistake has one line" {
	known mistakes
}

@test "fleet: the statements for Spark are in its language" {
	known spark
}

@test "fleet: a tree can be anywhere" {
	known quoted
}

@test "fleet: the tutorial, of fifty hosts; sums are those of stats, to the unit" {
	known fifty
	known clickhouse_start
	PYTHONDONTWRITEBYTECODE=1 python3 -m manual run host "$TOP/doc/tutorial-fleet.md"
	known sums
}
