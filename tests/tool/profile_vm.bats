#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer profile --vm`: the access patterns of a virtual machine's drives at the guest's own offsets. The
# traces are recorded from a directory that looks like /proc/iotracer, and their maps of images are made up,
# so neither root nor the module is needed; profile_vm.py says what is in them.
#
# bats file_tags=host

# work is set by setup().
# shellcheck disable=SC2154

load ../lib/known
load ../lib/images

@test "profile --vm: each figure of a few calls on two drives, worked out by hand, in each format" {
	known by_hand
}

@test "profile --vm: requests follow each other in the order in which they began, whatever thread makes them" {
	known began
}

@test "profile --vm: any calls on an image of many pieces are where a second program has them" {
	known scattered
}

@test "profile --vm: a backing file is its drive's, and an image of several drives has a row of its own" {
	known shared
}

@test "profile --vm: what is selected, lost and sampled" {
	known selected
}

@test "profile --vm: hostile maps, names and calls" {
	known hostile
}

@test "profile --vm: a mistake has one line" {
	known mistakes
}

@test "profile: a target that has no profile of its own has one line that says what to do" {
	known targets
}

@test "profile --live --vm: records the machine, whose drives have QEMU's names" {
	qemu-img create -q -f raw r 8M
	fake_fs
	start_qemu live -drive file=r,format=raw,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0
	echo "$(of r) time=2500 latency=70 op=1 offset=8192 requested=4096 result=4096" | tool-stream layout=1 event=2 >proc/fs/stream
	iotracer profile --live --time=0.1 --vm "live-$$" -f json >figures 2>said || { cat said; false; }
	[ "$(jq -c '.vm, (.drives[] | .drive, .images, .write.accesses.count, .write.latency_max_ns)' figures | xargs)" = \
		"live-$$ disk0 [$work/r] 1 70" ]
	stop_qemu live
}
