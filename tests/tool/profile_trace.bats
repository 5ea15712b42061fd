#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer profile` of traces whose accesses are known. The traces are recorded from a directory that
# looks like /proc/iotracer, so neither root nor the module is needed; profile_trace.py says what is in
# them, and computes each answer in another way.
#
# bats file_tags=host

load ../lib/known

@test "profile of a trace: each figure of a few accesses, worked out by hand, in each format" {
	known by_hand
}

@test "profile of a trace: sequential, strided, the same and random, by their rules" {
	known by_rules
}

@test "profile of a trace: a stream is a thread's accesses of one kind to a file" {
	known streams
}

@test "profile of a trace: requests follow each other in the order in which they began" {
	known began
}

@test "profile of a trace: the shares of random accesses are those of a second program" {
	known brute_force
}

@test "profile of a trace: what fails, moves nothing or has no positions is in no share" {
	known left_out
}

@test "profile --map: where the accesses of two files are, worked out by hand" {
	known map_by_hand
}

@test "profile --map: each cell is that of a list, and in the picture" {
	known map_of_many
}

@test "profile of a trace: writeback is its originator's" {
	known charged
}

@test "profile of a trace: a sampled trace is scaled, and says so" {
	known sampled
}

@test "profile of a trace: with any --top, sums stay whole, and the first keys are the largest" {
	known top
}

@test "profile of a trace: the same file of two hosts is two streams" {
	known merged
}

@test "profile of a trace: --filter, --from and --to select, lost events are counted, damage is a failure" {
	known selected
}

@test "profile of a trace: text has at most 80 columns, and controls no terminal" {
	known width
}

@test "profile of a trace: any numbers in a record" {
	known hostile
}

@test "profile of a trace: a trace that is kept is known by its name" {
	known kept
}

@test "profile of a trace: a mistake has one line" {
	known mistakes
}

@test "profile --reuse: distances of a few accesses, worked out by hand, in each format" {
	known reuse_by_hand
}

@test "profile --reuse: each key's distances are those of a list, and of cache-sim" {
	known reuse_listed
}

@test "profile --reuse: with little memory blocks are sampled, and scaled" {
	known reuse_sampled
}

@test "profile --reuse: any numbers in a record" {
	known reuse_hostile
}
