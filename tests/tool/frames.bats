#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The index that each frame of a trace has, and readers that skip frames by it. frames.py makes the traces, and
# reads them in another way.
#
# bats file_tags=host

load ../lib/known

@test "frames: each says what its records have" {
	known says_what_it_has
}

@test "frames: answers are the same whether frames can be skipped or not" {
	known answers_are_the_same
}

@test "frames: what is not wanted is not read" {
	known what_is_not_wanted_is_not_read
}

@test "frames: losses before a frame that is skipped are counted" {
	known losses_are_counted
}

@test "frames: blocks of any length are compressed, and are what they were" {
	known blocks_of_any_length
}

@test "rows: numbers of any length, which repeat or do not" {
	known numbers_of_digits
}
