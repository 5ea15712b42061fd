#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer join`: block requests of a guest and the calls and requests of its host. The traces are
# recorded from a directory that looks like /proc/iotracer, so neither root nor the module is
# needed; join.py says what is in them, and which row each request has to have.
#
# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	work=$(mktemp -d /tmp/iotracer-join.XXXXXX)
	cd "$work" || return
	export IOTRACER_PROC=$work/proc IOTRACER_TRACES=$work/kept PYTHONDONTWRITEBYTECODE=1
	idle_category fs
	idle_category block
}

teardown() {
	cd /
	rm -rf "$work"
}

joined() {
	python3 -m join "$@"
}

@test "join: each part of a write and of a flush, in each format" {
	joined parts
}

@test "join: the clocks' offset is within its span while it drifts, and each request has its call" {
	joined clocks
}

@test "join: a clock that is set, or stands while the guest is paused, is followed on both sides" {
	joined steps
}

@test "join: what a step leaves without a call says so" {
	joined steps_unknown
}

@test "join: what is before a step is before it by both clocks" {
	joined steps_order
}

@test "join: calls that are split, joined, short, or larger than the request" {
	joined pieces
}

@test "join: the same sector again and again, also at the same time" {
	joined repeated
}

@test "join: what has no call is listed with its reason" {
	joined unmatched
}

@test "join: flushes by order, and further calls that only one request can have" {
	joined flushes
}

@test "join: asynchronous calls, those that are asked for again, and those that failed" {
	joined asynchronous
}

@test "join: a part of a raw image, discards and zeroes" {
	joined shift
}

@test "join: a qcow2 image with a backing file" {
	joined chain
}

@test "join: images that are gone" {
	joined gone
}

@test "join: mistakes are one clear line" {
	joined mistakes
}

@test "join: clocks that cannot be told are not guessed" {
	joined misfits
}

@test "join: traces that are cut off" {
	joined cut
}

@test "join: a raw image that QEMU's block layer serves" {
	joined qemu_raw
}

@test "join: a qcow2 image with a backing file that QEMU's block layer serves" {
	joined qemu_qcow2
}
