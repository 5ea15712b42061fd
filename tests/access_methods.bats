#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Every way to read and write a file, on every kind of filesystem: tests/access_methods.c
# uses each once and compares the log with it. This file also tests what must not be in a log.

load lib/helpers

WAYS=$BATS_TEST_DIRNAME/../build/tests/access_methods

setup_file() {
	load_module MAX_EVENTS=1000
	export MNT=$BATS_FILE_TMPDIR/mnt
	mkdir -p "$MNT/tmpfs"
	new_filesystem ext4 /dev/vda "$MNT/ext4"
	new_filesystem xfs /dev/vdb "$MNT/xfs"
	new_filesystem btrfs /dev/vdc "$MNT/btrfs"
	mount -t tmpfs none "$MNT/tmpfs"
	mkdir "$MNT"/ext4/{lower,upper,work,overlay}
	mount -t overlay none "$MNT/ext4/overlay" -o \
		"lowerdir=$MNT/ext4/lower,upperdir=$MNT/ext4/upper,workdir=$MNT/ext4/work"
	btrfs subvolume create "$MNT/btrfs/sub"
}

teardown_file() {
	umount "$MNT/ext4/overlay"
	umount "$MNT"/{ext4,xfs,btrfs,tmpfs}
	unload_module
}

each_way() { # DIRECTORY
	echo data >"$1/file"
	echo "add $1/file" >/proc/iotracer/control
	"$WAYS" "$(target_dir "$1/file")" "$1/file" "$1/other"
	echo "remove $1/file" >/proc/iotracer/control
}

missed() { # DIRECTORY
	sed -n 's/^total.* //p' "$(target_dir "$1/file")/stats"
}

# As each_way(). The kernel calls no handler of a kprobe inside another one. An interrupt that comes
# there completes a request unseen, which is counted; then all is done again.
each_way_by_kprobes() { # DIRECTORY
	local before

	echo data >"$1/file"
	while
		echo "add $1/file" >/proc/iotracer/control
		before=$(missed "$1")
		! "$WAYS" "$(target_dir "$1/file")" "$1/file" "$1/other"
	do
		[ "$(missed "$1")" -gt "$before" ]
		echo "remove $1/file" >/proc/iotracer/control
	done
	echo "remove $1/file" >/proc/iotracer/control
}

@test "ext4: each way to read and write a file leaves its records" { each_way "$MNT/ext4"; }
@test "xfs: each way to read and write a file leaves its records" { each_way "$MNT/xfs"; }
@test "btrfs: each way to read and write a file leaves its records" { each_way "$MNT/btrfs"; }
@test "btrfs subvolume: each way to read and write a file leaves its records" { each_way "$MNT/btrfs/sub"; }
@test "tmpfs: each way to read and write a file leaves its records" { each_way "$MNT/tmpfs"; }
@test "overlayfs: each way to read and write a file leaves its records" { each_way "$MNT/ext4/overlay"; }

@test "files of subvolumes and a snapshot with one inode number have logs of their own" {
	local dir name

	for name in one two; do
		btrfs subvolume create "$MNT/btrfs/$name"
		head -c 65536 /dev/zero >"$MNT/btrfs/$name/same"
	done
	btrfs subvolume snapshot "$MNT/btrfs/one" "$MNT/btrfs/three"
	[ "$(stat -c %i "$MNT"/btrfs/{one,two,three}/same | sort -u | wc -l)" -eq 1 ]
	for name in one two three; do
		echo "add $MNT/btrfs/$name/same" >/proc/iotracer/control
	done
	head -c 4096 "$MNT/btrfs/one/same" >"$BATS_TEST_TMPDIR/out"
	head -c 8192 "$MNT/btrfs/three/same" >"$BATS_TEST_TMPDIR/out"
	for name in one:1 two:0 three:1; do
		dir=$(target_dir "$MNT/btrfs/${name%:*}/same")
		[ "$(grep -c ';R;0;' "$dir/log")" -eq "${name#*:}" ]
		echo "remove $MNT/btrfs/${name%:*}/same" >/proc/iotracer/control
	done
}

@test "a file on overlayfs and the file below it are two targets" {
	local upper overlay

	echo data >"$MNT/ext4/overlay/stacked"
	echo "add $MNT/ext4/overlay/stacked" >/proc/iotracer/control
	echo "add $MNT/ext4/upper/stacked" >/proc/iotracer/control
	overlay=$(target_dir "$MNT/ext4/overlay/stacked")
	upper=$(target_dir "$MNT/ext4/upper/stacked")
	[ "$overlay" != "$upper" ]
	dd if="$MNT/ext4/overlay/stacked" of="$BATS_TEST_TMPDIR/out" bs=4096 count=1
	[ "$(grep -c 'R;0;5;VFS;dd' "$overlay/log")" -eq 1 ]
	[ "$(grep -c 'R;0;5;VFS;dd' "$upper/log")" -eq 1 ]
	dd if="$MNT/ext4/upper/stacked" of="$BATS_TEST_TMPDIR/out" bs=4096 count=1
	[ "$(grep -c 'R;0;5;VFS;dd' "$overlay/log")" -eq 1 ]
	[ "$(grep -c 'R;0;5;VFS;dd' "$upper/log")" -eq 2 ]
	# what is done to the disk is in the log of the lower one only
	dd if=/dev/zero of="$MNT/ext4/overlay/stacked" bs=4096 count=1 conv=notrunc,fsync
	[ "$(grep -c 'W;0;4096;VFS;dd' "$overlay/log")" -eq 1 ]
	[ "$(grep -c ';BLK;' "$overlay/log")" -eq 0 ]
	[ "$(grep -c ';W;[0-9]*;4096;BLK;' "$upper/log")" -eq 1 ]
	echo "remove $MNT/ext4/overlay/stacked" >/proc/iotracer/control
	echo "remove $MNT/ext4/upper/stacked" >/proc/iotracer/control
}

@test "what is read and written through a mapping is seen at the block layer only" {
	local dir file=$MNT/ext4/mapped

	dd if=/dev/zero of="$file" bs=4k count=4 conv=fsync
	forget "$file"
	echo "add $file" >/proc/iotracer/control
	dir=$(target_dir "$file")
	python3 -c 'import mmap, os, sys
m = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 16384)
m[9000] += 1
m.flush()' "$file"
	[ "$(grep -c VFS "$dir/log")" -eq 0 ]
	[ "$(grep -c ';R;[0-9]*;[0-9]*;BLK;python3;' "$dir/log")" -ge 1 ]
	[ "$(grep -c ';W;[0-9]*;4096;BLK;' "$dir/log")" -eq 1 ]
	echo "remove $file" >/proc/iotracer/control
}

@test "btrfs: data that is compressed, or inline in metadata, is in no block event" {
	local bytes dir name

	mkdir "$MNT/btrfs/packed"
	btrfs property set "$MNT/btrfs/packed" compression zlib
	for name in plain packed/file inline; do
		bytes=65536
		[ $name != inline ] || bytes=100
		: >"$MNT/btrfs/$name"
		echo "add $MNT/btrfs/$name" >/proc/iotracer/control
		dir=$(target_dir "$MNT/btrfs/$name")
		dd if=/dev/zero of="$MNT/btrfs/$name" bs=$bytes count=1 conv=notrunc,fsync
		[ "$(grep -c ";W;0;$bytes;VFS;dd" "$dir/log")" -eq 1 ]
		if [ $name = plain ]; then
			grep ';W;[0-9]*;65536;BLK;' "$dir/log"
		else
			[ "$(grep -c BLK "$dir/log")" -eq 0 ]
		fi
		echo "remove $MNT/btrfs/$name" >/proc/iotracer/control
	done
}

# encrypt DIRECTORY: encrypt what is made there, an empty directory of ext4, with a key of zeroes
encrypt() {
	python3 -c 'import fcntl, os, struct, sys
ADD_KEY, SET_POLICY = 0xc0506617, 0x800c6613
fd = os.open(sys.argv[1], os.O_RDONLY)
key = bytearray(struct.pack("<II32xII32x64x", 2, 0, 64, 0))
fcntl.ioctl(fd, ADD_KEY, key)
fcntl.ioctl(fd, SET_POLICY, bytearray(struct.pack("<BBBBB3x16s", 2, 1, 4, 3, 0, bytes(key[8:24]))))' "$1"
}

# bats test_tags=once
@test "ext4: data that fscrypt encrypts is in no block event when it is written" {
	local dir name

	[ -e /sys/fs/ext4/features/encryption ] || skip "this kernel has no fscrypt"
	new_filesystem ext4 /dev/vdd "$MNT/secret"
	tune2fs -O encrypt /dev/vdd
	umount "$MNT/secret"
	mount /dev/vdd "$MNT/secret"
	mkdir "$MNT/secret"/{plain,encrypted}
	encrypt "$MNT/secret/encrypted"
	for name in plain encrypted; do
		: >"$MNT/secret/$name/file"
		echo "add $MNT/secret/$name/file" >/proc/iotracer/control
		dir=$(target_dir "$MNT/secret/$name/file")
		dd if=/dev/zero of="$MNT/secret/$name/file" bs=16k count=1 conv=notrunc,fsync
		[ "$(grep -c ';W;0;16384;VFS;dd' "$dir/log")" -eq 1 ]
		if [ $name = plain ]; then
			grep ';W;[0-9]*;16384;BLK;' "$dir/log"
		else
			[ "$(grep -c BLK "$dir/log")" -eq 0 ]
		fi
		echo "remove $MNT/secret/$name/file" >/proc/iotracer/control
	done
	umount "$MNT/secret"
}

@test "no block event shows I/O of other files, of directories or of the journal" {
	local dir

	echo data >"$MNT/ext4/quiet"
	sync
	echo "add $MNT/ext4/quiet" >/proc/iotracer/control
	dir=$(target_dir "$MNT/ext4/quiet")
	dd if=/dev/zero of="$MNT/ext4/noise" bs=64k count=16 conv=fsync
	dd if=/dev/zero of="$MNT/ext4/noise" bs=64k count=16 oflag=direct conv=notrunc
	mkdir "$MNT/ext4/directory"
	chmod 600 "$MNT/ext4/quiet"	# writes the inode, by the journal
	sync
	[ -z "$(cat "$dir/log")" ]
	echo "remove $MNT/ext4/quiet" >/proc/iotracer/control
}

@test "block events have the sectors of the device, as filefrag shows them" {
	local dir physical

	dd if=/dev/urandom of="$MNT/ext4/placed" bs=64k count=1 conv=fsync
	forget "$MNT/ext4/placed"
	echo "add $MNT/ext4/placed" >/proc/iotracer/control
	dir=$(target_dir "$MNT/ext4/placed")
	dd if="$MNT/ext4/placed" of="$BATS_TEST_TMPDIR/out" bs=64k
	# "  0:   0..  15:   34816..  34831:  16:"
	physical=$(filefrag -b4096 -v "$MNT/ext4/placed" | sed -n 's/^ *0: *0\.\. *15: *\([0-9]*\)\.\..*/\1/p')
	[ "$(sed -n 's/^[^;]*;R;\([0-9]*;[0-9]*\);BLK;.*/\1/p' "$dir/log")" = "$((physical * 8));65536" ]
	echo "remove $MNT/ext4/placed" >/proc/iotracer/control
}

@test "kretprobes see the same as redirection" {
	umount "$MNT/ext4/overlay"
	rmmod iotracer
	load_module MAX_EVENTS=1000 attach=kprobe
	each_way_by_kprobes "$MNT/ext4"
	each_way_by_kprobes "$MNT/tmpfs"
	echo "add $MNT/ext4/file" >/proc/iotracer/control
	[ "$(grep -c redirect /proc/iotracer/hooks)" -eq 0 ]
	grep -q "read_iter kretprobe 1" /proc/iotracer/hooks
	rmmod iotracer
	load_module MAX_EVENTS=1000
	mount -t overlay none "$MNT/ext4/overlay" -o \
		"lowerdir=$MNT/ext4/lower,upperdir=$MNT/ext4/upper,workdir=$MNT/ext4/work"
}
