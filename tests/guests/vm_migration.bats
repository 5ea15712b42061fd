#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# A machine (scripts/guest.sh) that writes to its disk while it moves to another QEMU of this host: each
# write is in the log of the image, and in that of the QEMU in which the machine was then.

bats_require_minimum_version 1.5.0

# bats file_tags=slow,guest

load ../lib/helpers
load ../lib/images

setup_file() {
	new_filesystem ext4 /dev/vda /mnt/images
	truncate -s 64M /mnt/images/disk.img
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/images
}

setup() {
	PATH=$TOP/tools:$PATH
	cd "$TOP" || return
	# shellcheck source=scripts/lib.sh
	. scripts/lib.sh
	# shellcheck source=scripts/guest.sh
	. scripts/guest.sh
}

teardown() {
	local name
	for name in here there; do
		[ ! -s "$guests/$name/pid" ] || kill -KILL "$(cat "$guests/$name/pid")"
	done
}

drive='file=/mnt/images/disk.img,format=raw,cache=none,aio=threads'

# written CONDITION COMMAND...: PID, offset and length of the rows of COMMAND for which it holds
written() {
	"${@:2}" -f json | jq -r "select($1) | [.pid, .offset_bytes, .result] | @tsv"
}

of_image() {
	written '.op == "W" and .level == "vfs"' iotracer log /mnt/images/disk.img
}

of_machine() {
	written '.op == "DIO_WRITE"' iotracer log --vm "$1"
}

# has_written PID NUMBER
has_written() {
	[ "$(of_image | grep -c "^$1	")" -ge "$2" ]
}

# is_in NAME: whether the machine runs in this QEMU
is_in() {
	images ask "$guests/$1/qmp" query-status | grep -qE '"running": *true'
}

# move: the machine goes to a new QEMU, which is called there
move() {
	local dir=$guests/there
	mkdir -p "$dir"
	truncate -s "$GUEST_OUT" "$dir/out"
	guest_launch there "$(uname -r)" -drive "$drive,if=none,id=drive0" \
		-drive "file=$dir/out,if=none,id=out,format=raw,cache=unsafe" \
		-qmp "unix:$dir/qmp,server=on,wait=off" -incoming "unix:$dir/incoming"
	wait_for test -S "$dir/incoming"
	there=$guest_pid
	iotracer add --vm "$there"
	echo "migrate unix:$dir/incoming" >"$guests/here/monitor.in"
	wait_for is_in there
	run ! is_in here
}

@test "a machine that moves to another QEMU while it writes: no write is missing, each is of the QEMU that it was in" {
	guest_start here "$(uname -r)" "$drive"
	here=$guest_pid
	iotracer add --max-events 65536 /mnt/images/disk.img
	iotracer add --vm "$here"
	# shellcheck disable=SC2016 # the guest's
	guest_run here 'dd if=/dev/zero bs=4k count=1 2>/dev/null | tr "\0" m >/tmp/m; n=0; while [ ! -e /tmp/end ]; do
		dd if=/tmp/m of=/dev/vda bs=4k count=1 seek=$n oflag=direct 2>/dev/null && n=$((n + 1)) && echo $n >/tmp/n;
		done >/dev/null 2>&1 &'
	wait_for has_written "$here" 3
	move
	wait_for has_written "$there" 3
	n=$(guest_run there 'touch /tmp/end; wait; while pidof dd >/dev/null; do sleep 0.1; done; sleep 1; cat /tmp/n')
	# in the order of time: all of one QEMU, and then all of the other
	of_image >"$BATS_TEST_TMPDIR/all"
	diff <(cut -f 2,3 "$BATS_TEST_TMPDIR/all") <(seq 0 4096 $((4096 * (n - 1))) | sed 's/$/\t4096/')
	[ "$(cut -f 1 "$BATS_TEST_TMPDIR/all" | uniq | tr '\n' ' ')" = "$here $there " ]
	for pid in "$here" "$there"; do
		diff <(of_machine "$pid") <(grep "^$pid	" "$BATS_TEST_TMPDIR/all")
	done
	# what is there is what the machine has written
	[ "$(head -c $((4096 * n)) /mnt/images/disk.img | tr -d m | wc -c)" = 0 ]
	guest_stop here
	guest_stop there
}
