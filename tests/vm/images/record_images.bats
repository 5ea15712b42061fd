#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# iotracer record and log of disk images, with the real module: what QEMU does with them, and what that is to
# the guest.

bats_require_minimum_version 1.5.0

# bats file_tags=once

load ../../lib/recording

# ask COMMAND: have the QEMU of the next test do it
ask() {
	PYTHONDONTWRITEBYTECODE=1 python3 -m vm_images ask qmp "$1"
}

@test "record --vm: what the machine's QEMU does with its image, down to the requests of its flush" {
	local image=/mnt/work/disk.qcow2 pid
	qemu-img create -q -f qcow2 $image 64M
	qemu-system-x86_64 -accel tcg -S -nodefaults -display none -name guest=traced -qmp unix:qmp,server=on,wait=off \
		-daemonize -pidfile pid -drive file=$image,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0 3>&-
	pid=$(cat pid)
	iotracer record -o t --vm traced -c fs,block --compress=never --drain=600 2>err 3>&- &
	wait_for running block
	ask 'human-monitor-command {"command-line": "qemu-io d0 \"write -P 7 1M 1M\""}'
	ask 'human-monitor-command {"command-line": "qemu-io d0 flush"}'
	dd if=/dev/zero of=/mnt/work/other bs=4k count=10 conv=fsync 2>/dev/null
	# this is still in the page cache when the machine ends
	ask 'human-monitor-command {"command-line": "qemu-io d0 \"write -P 8 2M 1M\""}'
	kill -KILL "$pid"
	sleep 0.5
	sync
	wait $!
	[ "$(meta t .state)" = COMPLETE ]
	[ "$(meta t '.vm | .pid, .drives[0].layers[0].file' | xargs)" = "$pid $image" ]
	# the guest's megabyte in one write, and tables
	iotracer export t --category=fs -f json | jq -r '[.op, .path, .result, .pid] | join(",")' >calls
	grep -qx "[A-Z_]*WRITE,$image,1048576,$pid" calls
	[ "$(cut -d, -f4 calls | sort -u)" = "$pid" ]
	grep -qE "^(FSYNC|FDATASYNC),$image," calls
	# the first one, whose tables are on the disk since the flush, in the guest's terms
	iotracer export t --guest -f json | jq -c 'select(.guest_offset_bytes and .guest_offset_bytes < 2097152)' >guest
	[ "$(terms covered guest WRITE DIO_WRITE)" = "1048576+1048576 1048576" ]
	[ "$(jq -r 'select(.guest_kind == "data").drive' guest | sort -u)" = disk0 ]
	# both went to the disk, caused by the machine
	iotracer export t --category=block -f json | jq -r '[.op, .path, .result] | join(",")' >requests
	run ! grep -q /mnt/work/other requests
	awk -F, -v "image=$image" '$1 == "WRITE" && $2 == image { n += $3 } END { exit !(n >= 2 * 1048576) }' requests
}

# hmp COMMAND...: have the QEMU do these commands of qemu-io on d0
hmp() {
	local command asked=()
	for command; do
		asked+=("human-monitor-command {\"command-line\": \"qemu-io d0 \\\"$command\\\"\"}")
	done
	PYTHONDONTWRITEBYTECODE=1 python3 -m vm_images ask qmp "${asked[@]}"
}

@test "profile --vm: the reads, writes and flushes of a drive are those that QEMU was told, where the guest has them" {
	local format pid
	for format in raw qcow2; do
		rm -rf t /mnt/work/disk
		qemu-img create -q -f $format /mnt/work/disk 64M
		# clusters of a qcow2 file are in this order
		qemu-io -f $format -c 'write 2M 2M' -c 'write 0 2M' /mnt/work/disk >io
		qemu-system-x86_64 -accel tcg -S -nodefaults -display none -name guest=told -qmp unix:qmp,server=on,wait=off -daemonize \
			-pidfile pid -drive file=/mnt/work/disk,format=$format,if=none,id=d0,cache=none -device virtio-blk-pci,drive=d0,id=disk0 3>&-
		pid=$(cat pid)
		iotracer record -o t --vm told --compress=never 2>err 3>&- &
		wait_for running fs
		# in turn sequential, back to the same place, and over the end of the first part of the file
		hmp 'write 0 64k' flush 'write 64k 4k' flush 'write 64k 4k' flush 'write 2044k 8k' \
			'read 1M 4k' 'read 1032k 4k' 'read 1040k 4k'
		kill -KILL "$pid"
		wait $!
		iotracer profile --vm told -f json t >figures
		[ "$(jq -c '.drives[] | .drive, .images, (.read, .write, .flush | .calls)' figures | xargs)" = "disk0 [/mnt/work/disk] 3 4 3" ] ||
			[ "$format $(jq -c '.drives[] | .drive, .images, (.read, .write, .flush | .calls)' figures | xargs)" = "qcow2 disk0 [/mnt/work/disk] 3 5 3" ]
		# 2044K to 2052K is in two places of the qcow2 file; it is written by one call or by two, in either order
		jq -e '.drives[0] | .write.accesses.same.count == 1 and .write.accesses.sequential.count >= 1 and .write.accesses.bytes == 81920 and
			.read.accesses.strided.count == 1 and .read.accesses.bytes == 12288 and .tables == 0 and .unknown == 0 and
			.flush.latency_p50_ns > 0 and .flush.latency_p50_ns <= .flush.latency_max_ns' figures
	done
}

terms() {
	PYTHONDONTWRITEBYTECODE=1 python3 -m guest_terms "$@"
}

@test "log --guest, export --guest-image: the guest's ranges are exactly those that qemu-io was given" {
	local image=/mnt/work/disk.qcow2 cache
	for cache in none writeback; do
		rm -rf t
		qemu-img create -q -f qcow2 $image 64M
		qemu-io -c 'write 0 4M' -c 'discard 3M 512k' -c 'write 50M 1M' $image >io
		iotracer add -n 10000 $image
		# in place, in places that were freed, at the end of the file
		iotracer record -o t --compress=never -- qemu-io -t $cache -c 'write 4k 8k' -c 'write 1M 1M' -c 'write 40M 1M' \
			-c 'write 53000k 4k' -c 'read 2560k 300k' -c 'read 50M 4k' $image >io 2>&1
		iotracer log --guest -f json $image >events
		iotracer export --guest-image=$image -f json t >rows
		[ "$(terms covered events W)" = "4096+8192 1048576+1048576 41943040+1048576 54272000+4096 $((8192 + 2097152 + 4096))" ]
		[ "$(terms covered rows WRITE DIO_WRITE)" = "$(terms covered events W)" ]
		[ "$(terms covered events R)" = "2621440+307200 52428800+4096 311296" ]
		[ "$(terms covered rows READ DIO_READ)" = "$(terms covered events R)" ]
		# tables are written, too, and are no data
		jq -r 'select(.op == "W" and .level == "vfs").guest_kind' events | grep -x l2
		iotracer remove $image
	done
	# a cluster is copied for 4 KiB of the guest
	qemu-img create -q -f qcow2 -b $image -F qcow2 /mnt/work/top.qcow2
	iotracer add /mnt/work/top.qcow2
	qemu-io -c 'write 1028k 4k' /mnt/work/top.qcow2 >io
	iotracer log --guest -f json /mnt/work/top.qcow2 >events
	[ "$(terms covered events W)" = "1048576+65536 65536" ]
	iotracer remove /mnt/work/top.qcow2
}
