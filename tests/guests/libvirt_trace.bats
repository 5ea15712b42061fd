#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Runs scripts/libvirt-trace with two modes of a disk, and compares what it counts with what fio in
# the guest did, and what the disk below the image was asked for. libvirt itself is not tried here:
# the guests are started by QEMU.
#
# bats file_tags=slow,guest

# shellcheck disable=SC2154 # "run --separate-stderr" sets stderr

bats_require_minimum_version 1.5.0

load ../lib/helpers

setup_file() {
	new_filesystem ext4 /dev/vda /mnt/images 256M
}

teardown_file() {
	unload_module
	umount /mnt/images
}

libvirt_trace() {
	"$TOP/scripts/libvirt-trace" "$@"
}

# rows CONDITION: print the modes and loads of the rows for which it holds; it is Python, with the
# columns as variables.
rows() {
	python3 -S -s - "$out/shares.tsv" "$1" <<-'END'
		import sys
		names, *rows = (line.rstrip('\n').split('\t') for line in open(sys.argv[1], encoding='utf-8'))
		for row in rows:
		    row = {n: int(v) if v.isdigit() else v for n, v in zip(names, row, strict=True)}
		    if eval(sys.argv[2], row):
		        print(row['cache'], row['aio'], row['load'])
	END
}

# holds CONDITION ROW...: it holds for these rows, and no other ones.
holds() {
	diff <(rows "$1") <(printf '%s\n' "${@:2}") || { echo "$1"; cat "$out/shares.tsv"; return 1; }
}

# Nothing of a run is left.
nothing_is_left() {
	[ "$(ls /mnt/images)" = lost+found ]
	[ -z "$(find /var/tmp -name 'iotracer-trace*')" ]
	run ! pgrep -f iotracer-trace
}

@test "libvirt-trace: direct I/O goes to the disk as the guest asks for it; the module is loaded for the run" {
	out=$BATS_TEST_TMPDIR/out
	cd "$BATS_TEST_TMPDIR"
	run --separate-stderr libvirt_trace --with qemu --cache none --aio native --load write,randrw --size 256k --dir /mnt/images --out out
	[ "$status" = 0 ] || { echo "$output$stderr"; false; }
	[ "$(head -n 1 out/shares.tsv | tr '\t' ' ')" = "cache aio load guest_read_bytes guest_written_bytes guest_ms \
vfs_reads vfs_read_bytes vfs_writes vfs_written_bytes vfs_flushes blk_reads blk_read_bytes blk_writes blk_written_bytes \
disk_read_bytes disk_written_bytes vfs_event_share blk_event_share vfs_byte_share blk_byte_share" ]
	all=('none native write' 'none native randrw')
	# fio covers the image once; in randrw it reads a part of it, and writes the rest
	holds 'guest_read_bytes + guest_written_bytes == 262144' "${all[@]}"
	holds 'guest_read_bytes == 0' 'none native write'
	holds 'vfs_read_bytes == blk_read_bytes == guest_read_bytes == disk_read_bytes' "${all[@]}"
	holds 'vfs_written_bytes == blk_written_bytes == guest_written_bytes <= disk_written_bytes' "${all[@]}"
	holds 'vfs_reads + vfs_writes == blk_reads + blk_writes == 64' "${all[@]}"
	# that of fio when it has written
	holds 'vfs_flushes == 1' "${all[@]}"
	holds 'vfs_event_share == blk_event_share == vfs_byte_share == blk_byte_share == "50.0"' "${all[@]}"
	[ "${#lines[@]}" = 4 ]
	[[ ${lines[3]} == 'none         native   randrw      256k       64    256k       1      64    256k   50 : 50   50 : 50' ]]
	python3 -c 'import sys, xml.dom.minidom as m; sys.exit(m.parse("out/shares.svg").documentElement.tagName != "svg")'
	for title in write randrw; do
		grep -q "$title: shares of events" out/shares.svg
		grep -q "$title: shares of bytes" out/shares.svg
	done
	nothing_is_left
	[ ! -d /sys/module/iotracer ]
	# results are not overwritten
	run libvirt_trace --out out
	[ "$status $output" = "1 libvirt-trace: --out $out: has results already: name another directory" ]
}

@test "libvirt-trace: through the page cache requests become fewer, and unsafe has no flush; a module that is loaded stays" {
	out=$BATS_TEST_TMPDIR/out
	load_module
	touch /mnt/images/mine
	echo "add /mnt/images/mine" >/proc/iotracer/control
	libvirt_trace --with qemu --cache unsafe --aio threads --load randwrite,read --size 256k --dir /mnt/images --out "$out" >/dev/null
	all=('unsafe threads randwrite' 'unsafe threads read')
	holds 'vfs_read_bytes == guest_read_bytes and vfs_written_bytes == guest_written_bytes' "${all[@]}"
	holds 'guest_written_bytes == 262144' "${all[0]}"
	holds 'vfs_flushes == 0' "${all[@]}"
	# what was written is on the disk when it is counted, each page once
	holds 'blk_written_bytes == guest_written_bytes' "${all[@]}"
	# the page cache was empty, and has read all of the image
	holds 'blk_read_bytes == disk_read_bytes == 262144' "${all[1]}"
	holds 'blk_reads + blk_writes < vfs_reads + vfs_writes == 64' "${all[@]}"
	[ "$(cut -d ' ' -f 2 /proc/iotracer/control)" = /mnt/images/mine ]
	unload_module
	rm /mnt/images/mine
	nothing_is_left
}

@test "libvirt-trace: what is wrong is one line, and nothing is done" {
	cd "$BATS_TEST_TMPDIR"
	while IFS='|' read -r arguments words; do
		# shellcheck disable=SC2086
		run libvirt_trace $arguments
		[ "$status" = 1 ]
		[ "$output" = "libvirt-trace: $words" ]
	done <<-'END'
		--frob|--frob is no option (see --help)
		--load|--load needs a value (see --help)
		--cache none,fast|--cache none,fast: fast is none of none,writeback,writethrough,directsync,unsafe
		--load read,read|--load read,read: read is there twice
		--load ,|--load ,: the list is empty: say some of write,read,rw,randwrite,randread,randrw
		--aio native --cache unsafe,writeback|--aio native goes with --cache none and directsync only: QEMU refuses it else
		--size 16Q|--size 16Q: not a size such as 4k or 16M
		--size 10k|--size 10240: not a multiple of --bs, 4096
		--bs 1000|--bs 1000: not a multiple of 512 bytes
		--format vdi|--format vdi: say raw or qcow2
		--with xen|--with xen: say libvirt or qemu
		--with libvirt|libvirt does not answer: start libvirtd (virsh -c qemu:///system version), or use --with qemu
		--dir none|--dir none: there is no such directory
		--kernel 2.4|no kernel '2.4' in /boot for the guest: name an installed one with --kernel
	END
	[ -z "$(ls)" ]
	[ ! -d /sys/module/iotracer ]
}
