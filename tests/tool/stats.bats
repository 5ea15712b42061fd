#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer stats`: totals of traces whose events are known. The traces are recorded from a directory
# that looks like /proc/iotracer, so neither root nor the module is needed; stats.py says what is in
# them, and computes each answer in another way.
#
# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	work=$(mktemp -d /tmp/iotracer-stats.XXXXXX)
	cd "$work" || return
	export IOTRACER_PROC=$work/proc IOTRACER_TRACES=$work/kept PYTHONDONTWRITEBYTECODE=1
	local category
	for category in fs block net cache uring drop conn; do
		idle_category "$category"
	done
}

teardown() {
	cd /
	rm -rf "$work"
}

known() {
	python3 -m stats "$@"
}

@test "stats: each figure of a few events, worked out by hand, in each format" {
	known by_hand
}

@test "stats: the parts of a path, and what has none" {
	known paths
}

@test "stats --live: events that are recorded for it, which are not kept" {
	known live
}

@test "stats: what moves bytes, in each category" {
	known moved
}

@test "stats: connections, by addresses or by cookie" {
	known connections
}

@test "stats: the traces and hosts of a merged trace" {
	known merged
}

@test "stats: sums by each key are those of sqlite3 over the exported rows" {
	known sums
}

@test "stats: percentiles are the values that sorting picks, also of rows that are folded" {
	known percentiles
}

@test "stats: a sampled trace is scaled, and says so" {
	known sampled
}

@test "stats: many events with one latency, more than 32 bits can count" {
	known heavy
}

@test "stats: with any --top, sums stay whole, and the first rows are the largest" {
	known top
}

@test "stats: --interval has the sums of each interval" {
	known intervals
}

@test "stats: --filter, --from and --to select as export does, and rates are of that time" {
	known selected
}

@test "stats: lost, missed and unreadable events are counted, and damage is a failure" {
	known missing
}

@test "stats: text has at most 80 columns, whatever the names are" {
	known width
}

@test "stats: a name that looks like a formula, or controls a terminal, does neither" {
	known names
}

@test "stats: a mistake has one line" {
	known mistakes
}
