#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer cache-sim`: hit ratios of traces whose accesses are known. The traces are recorded from a
# directory that looks like /proc/iotracer, so neither root nor the module is needed; cache_sim.py says
# what is in them, and simulates each cache in another way.
#
# bats file_tags=host

load ../lib/known

@test "cache-sim: each figure of a few accesses, worked out by hand, in each format" {
	known by_hand
}

@test "cache-sim -o: each point of a curve is a ratio of JSON" {
	known picture
}

@test "cache-sim: which calls access which pages" {
	known ranges
}

@test "cache-sim: LRU at every size, FIFO, ARC and MIN are those of simple simulators" {
	known policies
}

@test "cache-sim: the default sizes, and the smallest one for a wanted hit ratio" {
	known wanted
}

@test "cache-sim: a sample has the pages, hits and errors that its definition gives" {
	known sampled
}

@test "cache-sim: where memory is short, the result is that of a sample of the same rate" {
	known memory
}

@test "cache-sim: blocks of disks, whatever the partition, if there is no category fs" {
	known disks
}

@test "cache-sim: in a merged trace, hosts share files with nobody else" {
	known merged
}

@test "cache-sim: --filter, --from and --to leave out accesses" {
	known selected
}

@test "cache-sim: what is lost or stands for several events is said" {
	known missing
}

@test "cache-sim: what the page cache did, worked out by hand" {
	known page_cache
}

@test "cache-sim: what the page cache did is what its events say one by one" {
	known page_cache_sums
}

@test "cache-sim: text has at most 80 columns, and nothing in it controls a terminal" {
	known width
}

@test "cache-sim: a trace without accesses, and accesses that no file can have" {
	known extremes
}

@test "cache-sim: a mistake has one line" {
	known mistakes
}
