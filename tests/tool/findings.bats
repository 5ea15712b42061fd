#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer findings`: traces in which each rule has to find something, and traces that just fail to
# meet it. The traces are recorded from a directory that looks like /proc/iotracer; findings.py says what
# is in them.
#
# bats file_tags=host

load ../lib/known

@test "findings: each rule is tested here" {
	known all_rules
}

@test "findings: files: each rule finds its fault alone, and nothing in what almost has it" {
	known files
}

@test "findings: reads that wait for the disk are found, and those from memory are not" {
	known read_waits
}

@test "findings: fsync: each rule finds its fault alone, and nothing in what almost has it" {
	known syncs
}

@test "findings: processes: each rule finds its fault alone, and nothing in what almost has it" {
	known processes
}

@test "findings: disks: each rule finds its fault alone, and nothing in what almost has it" {
	known disks
}

@test "findings: the page cache: each rule finds its fault alone, and nothing in what almost has it" {
	known cache
}

@test "findings: sockets: each rule finds its fault alone, and nothing in what almost has it" {
	known sockets
}

@test "findings: calls of epoll and io_uring: each rule finds its fault alone" {
	known calls
}

@test "findings: an idle or tiny trace has none" {
	known idle
}

@test "findings: the least that was read again is never more than what was" {
	known again
}

@test "findings: rows have their own figures, the first ones those that cost most" {
	known rows_of
}

@test "findings: the most severe are first, then those that took most time" {
	known order
}

@test "findings: a missing write makes no fsync idle" {
	known missing
}

@test "findings: subjects beyond the limit are dropped, not the busy ones" {
	known many
}

@test "findings: a sampled trace is scaled" {
	known sampled
}

@test "findings: any values do no harm" {
	known hostile
}

@test "findings: text has at most 80 columns, and no name controls the terminal" {
	known width
}

@test "findings: a mistake has one line" {
	known mistakes
}
