#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer join` of a guest and its host: a machine (scripts/guest.sh) writes and reads known
# patterns and traces itself, while its host traces it. One write is held by the host's disk, one by
# the machine. What the traces then say is looked at by vm_guest.py.

# map sets device; commands of the guest are expanded there.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=slow,guest

load ../lib/helpers
load ../lib/images

setup_file() {
	modprobe dm_mod
	map held "0 $(blockdev --getsz /dev/vda) linear /dev/vda 0"
	new_filesystem ext4 "/dev/$device" /mnt/images
	mount -o remount,commit=600,noinit_itable /mnt/images
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/images
	unmap held
}

setup() {
	work=$BATS_TEST_TMPDIR
	PATH=$TOP/tools:$PATH
	cd "$TOP" || return
	# shellcheck source=scripts/lib.sh
	. scripts/lib.sh
	# shellcheck source=scripts/guest.sh
	. scripts/guest.sh
	# the machine's disk is not made in the machine, where that takes long
	qemu-img create -q -f raw /mnt/images/base.img 64M
	mkfs.ext4 -q -F /mnt/images/base.img
	sync
}

teardown() {
	dmsetup resume --noudevsync held
	if [ -s "$guests/web/pid" ]; then
		kill -KILL "$(cat "$guests/web/pid")"
	fi
}

running() {
	grep -qx start "/proc/iotracer/$1/control"
}

# guest TEXT: run commands in the guest, which gets them as one line
guest() {
	guest_run web "$(tr '\n' ' ' <<<"$1")"
}

# begin_traces IMAGE FORMAT: start the machine, the host's trace, and that of the guest
begin_traces() {
	guest_start web "$(uname -r)" "file=$1,format=$2,cache=none,aio=threads" || return
	guest 'insmod /usr/local/iotracer.ko && mount -o commit=600,noinit_itable /dev/vda /mnt &&
		for letter in f d r h t; do dd if=/dev/zero bs=64k count=8 2>/dev/null | tr "\0" $letter >/tmp/$letter; done' || return
	iotracer record --vm web -c fs,block -o "$work/host" --compress=never 2>"$work/host.log" 3>&- &
	recorder=$!
	wait_for running block
	guest 'iotracer record -c block -o /tmp/guest >/tmp/log 2>&1 &
		until grep -qx start /proc/iotracer/block/control; do sleep 0.1; done; sync; sleep 1'
}

# load_disk: write files of one letter each, and read
load_disk() {
	guest 'cd /mnt; dd if=/tmp/f of=f bs=64k conv=fsync && dd if=/tmp/d of=d bs=4k count=64 oflag=direct &&
		for at in 9 2 7; do
			dd if=/tmp/r of=r bs=16k count=2 seek=$at conv=notrunc oflag=direct &
			dd if=d of=/dev/null bs=8k count=16 iflag=direct; wait $!; done &&
		dd if=/tmp/h of=h bs=4k count=1 oflag=direct && dd if=/tmp/t of=t bs=4k count=2 oflag=direct &&
		dd if=/tmp/r of=r bs=16k count=2 seek=5 conv=notrunc,fsync' >"$work/load" 2>&1 ||
		{ cat "$work/load"; return 1; }
}

# settle: write all that is left, in the machine and on its host. Then neither filesystem writes anything
# for minutes: they are mounted so that none commits its journal or fills its inode tables by itself. A
# write that finds its inode in a journal being written waits for that, and is no request until then.
settle() {
	guest sync && sync
}

is_held() {
	grep -q '^[0-9]* (.*) D ' "/proc/$guest_pid/task/"*/stat
}

now() {
	date +%s%N
}

# held_write: a write that the host's disk holds for two seconds
held_write() {
	local writer
	settle || return
	dmsetup suspend --noflush --nolockfs held
	guest 'dd if=/tmp/h of=/mnt/h bs=4k count=1 conv=notrunc oflag=direct' >/dev/null 2>&1 &
	writer=$!
	wait_for is_held
	sleep 2
	now >"$work/resumed"
	dmsetup resume --noudevsync held
	wait "$writer"
}

# throttled_write: two writes. QEMU takes one write and holds the next ones, until it is told to let them
# go: two seconds after the writer was seen to wait while no write was done.
throttled_write() {
	settle || return
	images ask "$guests/web/qmp" "$(throttle 1)" >/dev/null
	guest 'dd if=/tmp/t of=/mnt/t bs=4k count=2 conv=notrunc oflag=direct >/dev/null 2>&1 & writer=$!;
		until set -- $(cat /sys/block/vda/stat); written=$5; sleep 2; set -- $(cat /sys/block/vda/stat);
			read -r reads writes </sys/block/vda/inflight; read -r pid name state rest <"/proc/$writer/stat";
			[ "$5" = "$written" ] && [ "$writes" -gt 0 ] && [ "$state" = D ]; do :; done' || return
	sleep 2
	now >"$work/let_go"
	images ask "$guests/web/qmp" "$(throttle 0)" >/dev/null
	guest 'while pidof dd >/dev/null; do sleep 0.1; done'
}

# throttle BYTES: the command for so many bytes a second
throttle() {
	echo "block_set_io_throttle {\"device\": \"drive0\", \"bps\": 0, \"bps_rd\": 0, \"bps_wr\": $1,
		\"iops\": 0, \"iops_rd\": 0, \"iops_wr\": 0}"
}

# end_traces: end both, get that of the guest, and stop the machine
end_traces() {
	guest 'sleep 1; kill -TERM $(pidof iotracer); while pidof iotracer >/dev/null; do sleep 0.1; done; cat /tmp/log;
		cd /tmp && tar cf /dev/vdb guest && sync && umount /mnt' || return
	kill -INT "$recorder"
	wait "$recorder" || { cat "$work/host.log"; return 1; }
	tar -C "$work" -xf "$guests/web/out"
	guest_stop web
}

# joined IMAGE FORMAT: what join makes of a machine's work on the image
joined() {
	begin_traces "$@" && load_disk && held_write && throttled_write && end_traces || return
	cd "$work" || return
	iotracer join guest host --disk vda=disk0 -f csv >rows
	iotracer join guest host --disk vda=disk0 --json --summary >summary
	qemu-img convert -O raw "$1" content
	iotracer join guest host --disk vda=disk0 --slowest=1000 | tee text
	run_functions vm_guest.py "$2" slow
}

@test "join, a guest: each request of a raw disk has its calls, and a slow one was slow where it was held" {
	joined /mnt/images/base.img raw
}

@test "join, a guest: of a qcow2 disk with a backing file, too" {
	qemu-img create -q -f qcow2 -b base.img -F raw /mnt/images/disk.qcow2
	joined /mnt/images/disk.qcow2 qcow2
}
