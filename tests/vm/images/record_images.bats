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
