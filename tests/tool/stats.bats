#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer stats`: totals of traces whose events are known. stats.py says what is in the traces, and computes
# each answer in another way.
#
# bats file_tags=host

load ../lib/known

@test "stats: each figure of a few events, worked out by hand, in each format" {
	known by_hand
}

@test "stats: the parts of a path, and what has none" {
	known paths
}

@test "stats --live: events that are recorded for it, which are not kept" {
	known live
}

@test "stats --amplification: the bytes that each layer wrote" {
	known amplification
}

@test "stats: what moves bytes, in each category" {
	known moved
}

@test "stats: connections, by addresses or by cookie" {
	known connections
}

@test "stats: writeback is charged to its originator, and requests have a class" {
	known charged
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

@test "stats: working sets and write invalidation factors are those of sets in Python" {
	known working_sets
}

@test "stats: device time by key, and how long devices were busy" {
	known device_times
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

@test "stats --interval: a line for each value over time, worked out by hand" {
	known series_text
}

@test "stats --interval: each interval as a whole, in JSON and as a picture" {
	known series
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

@test "stats: bounds of counts and percentiles, worked out by hand" {
	known bounds
}

@test "stats: figures of all events are within the bounds, whichever are missing" {
	known bounds_hold
}
