#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer report`: the page of a trace. The traces are recorded from a directory that looks like /proc/iotracer,
# so neither root nor the module is needed; report.py says what is in them. The first tests look at the data of
# the page, the others at the page itself in chromium, with tests/browser/report.cjs.
#
# bats file_tags=host

load ../lib/known

# browser FUNCTION: as known, with what drives a browser
browser() {
	NODE_PATH=$("$TOP/scripts/browser-deps") || return
	export NODE_PATH TOP
	known "$1"
}

@test "report: each figure is that of stats, and findings are those of findings" {
	known equal
}

@test "report: what is over time is that of stats --interval, and sums up to the whole" {
	known over_time
}

@test "report: latencies of many rows are as coarse as they must be" {
	known packed
}

@test "report: the curves of caches are those of cache-sim" {
	known caches
}

@test "report: durability is that of durability, and at each time that of --at" {
	known durable
}

@test "report: drives of a virtual machine are those of profile --vm, at the guest's offsets" {
	known drives
}

@test "report: buckets, depth and positions of a few requests, worked out by hand" {
	known by_hand
}

@test "report: names that are attacks are data only, and come back as they were" {
	known attacks
}

@test "report: the file is new, its owner's, and whole, or there is none" {
	known file
}

@test "report: lost events are counted where they are missing, and damage is reported once" {
	known missing
}

@test "report: many keys and times that cannot be make a page of bounded size" {
	known hostile
}

@test "report: in a browser, the page names the file, the process and the reason" {
	browser cause
}

@test "report: in a browser, the curve of caches and what was at risk when" {
	browser sections
}

@test "report: in a browser, drives of a machine, and a process that waits for another one" {
	browser machine
}

@test "report: in a browser, selecting, sorting and searching, by pointer and by keyboard" {
	browser used
}

@test "report: in a browser, nothing breaks a rule of accessibility" {
	browser accessible
}

@test "report: in a browser, no name of the trace runs, and nothing is asked of a network" {
	browser harmless
}

@test "report: in a browser, the page says what is lost, sampled or not there" {
	browser absent
}
