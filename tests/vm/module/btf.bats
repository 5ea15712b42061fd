#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=plain
#
# A function is hooked only if it has, by the kernel's BTF, the prototype that the probe
# expects. To expect another one, the tests change its text in a copy of the module. In the same
# way, the module does not find the text of close(2), which it reads (module/probe/fs_flush.c).

bats_require_minimum_version 1.5.0
load ../../lib/helpers

setup_file() {
	# without debug symbols, so that the text is only where the probes have it
	strip -g -o "$BATS_FILE_TMPDIR/iotracer.ko" "$(ko)"
	export IOTRACER_KO=$BATS_FILE_TMPDIR/iotracer.ko
	modprobe btrfs
	new_filesystem ext4 /dev/vda /mnt/disk 256M
}

teardown_file() {
	umount /mnt/disk
}

setup() {
	dmesg --clear
}

teardown() {
	unload_module
	dmesg --clear # the messages of the module are expected
}

# start CATEGORY [FILTER]
start() {
	printf '%s\n' ${2:+"filter $2"} start >"/proc/iotracer/$1/control"
}

# missed CATEGORY
missed() {
	sed -n 's/^missed //p' "/proc/iotracer/$1/stats"
}

needs_btf() {
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
}

# load_changed FROM TO: load the module with each text FROM replaced by TO, of equal length
load_changed() {
	local changed=$BATS_TEST_TMPDIR/iotracer.ko
	[ ${#1} = ${#2} ]
	LC_ALL=C sed "s/$1/$2/g" "$IOTRACER_KO" >"$changed"
	run ! cmp -s "$changed" "$IOTRACER_KO"
	insmod "$changed"
}

# hooks PROTOTYPE: functions with this word in the column "prototype"
hooks() {
	sed -nE "2,\$ s/^([^ ]+)( [^ ]+){4} $1 .*/\1/p" /proc/iotracer/hooks
}

@test "each function of the kernel itself has the prototype that its probe expects" {
	local symbol

	needs_btf
	load_module
	start fs rejected=1
	start fault
	start cache
	start uring
	cat /proc/iotracer/hooks
	[ "$(hooks fits | wc -l)" -gt 150 ]
	[ -z "$(hooks differs)" ]
	# absent are only system calls without arguments
	[ "$(hooks absent | grep -cv '^__[a-z0-9]*_sys_sync$')" = 0 ]
	# unchecked are only functions that do not exist, and those of modules
	for symbol in $(hooks unchecked); do
		grep -qE "^$symbol (.* -2|HIT,MISS entry .* 0|HIT,MISS kretprobe.* 0)$" \
			/proc/iotracer/hooks
		run ! grep -qE " [tT] $symbol$" /proc/kallsyms
	done
	[ "$(missed cache)" = 0 ]
	[ "$(dmesg | grep -c 'iotracer: .*BTF')" = 0 ]
}

@test "a function whose prototype differs is not hooked, but named and missed; others are hooked" {
	needs_btf
	load_changed '_ (struct readahead_control \*, ...)' '_ (struct readahead_contro1 \*, ...)'
	start cache
	grep -x 'read_pages READAHEAD detached 0 1 differs -91' /proc/iotracer/hooks
	[ "$(hooks differs)" = read_pages ]
	[ "$(missed cache)" = 1 ]
	dmesg | grep 'iotracer: read_pages is not hooked, so READAHEAD is not traced there: "_ (struct readahead_contro1 \*, ...)" is expected, the BTF of this kernel has "void (struct readahead_control \*)"$'
	head -c 40960 /dev/urandom >/mnt/disk/read
	forget /mnt/disk/read
	cat /mnt/disk/read >/dev/null
	grep -q ' MISS .* path=/mnt/disk/read ' /proc/iotracer/cache/log
	run ! grep -q ' READAHEAD ' /proc/iotracer/cache/log
	# nor is it hooked at the next start, which does not report it again
	echo stop >/proc/iotracer/cache/control
	start cache
	grep -x 'read_pages READAHEAD detached 0 1 differs -91' /proc/iotracer/hooks
	[ "$(dmesg | grep -c 'read_pages is not hooked')" = 1 ]
}

@test "a category does not start if the prototype of its only function differs" {
	needs_btf
	load_changed 'int (struct vm_area_struct \*, long, int, ' \
		'int (struct vm_area_struct \*, long, long,'
	run start fault
	[ "$status" -ne 0 ]
	dmesg | grep 'iotracer: handle_mm_fault is not hooked, so FAULT is not traced'
	run ! grep handle_mm_fault /proc/iotracer/hooks
	start cache
	[ "$(missed cache)" = 0 ]
}

@test "if the prototypes of all system calls differ, none is hooked and nothing is redirected" {
	needs_btf
	load_changed 'long (struct pt_regs \*)' 'char (struct pt_regs \*)'
	start fs op=OPEN,UNLINK
	cat /proc/iotracer/hooks
	[ "$(hooks differs | grep -cv _sys_)" = 0 ]
	[ "$(hooks differs | wc -l)" -gt 100 ]
	run ! grep redirect /proc/iotracer/hooks
	grep -E '^(do|filename)_unlinkat UNLINK kretprobe-names-as-given 1 0 fits 0$' \
		/proc/iotracer/hooks
	touch /mnt/disk/file
	rm /mnt/disk/file
	grep -q ' UNLINK .* path=/mnt/disk/file ' /proc/iotracer/fs/log
}

@test "without BTF all is hooked unchecked, and a message says so" {
	load_changed __start_BTF __start_BTX
	dmesg | grep 'iotracer: this kernel has no BTF: functions that are hooked are not checked$'
	start cache
	[ "$(hooks unchecked | wc -l)" -ge 10 ]
	[ -z "$(hooks fits)" ]
	grep -E '^read_pages READAHEAD entry 1 0 unchecked 0$' /proc/iotracer/hooks
}

@test "whether close(2) itself does what FLUSH is, is known; where it is not, FLUSH is named and missed" {
	load_module
	start fs op=CLOSE,FLUSH
	[ "$(missed fs)" = 0 ]
	grep -E '^filp_(flush|close) FLUSH redirect 1 0 ' /proc/iotracer/hooks
	run ! grep ' FLUSH detached ' /proc/iotracer/hooks
	unload_module
	load_changed sys_close sys_clos_
	start fs op=CLOSE,FLUSH
	[ "$(missed fs)" = 1 ]
	grep -x 'filp_flush FLUSH detached 0 1 unchecked -2' /proc/iotracer/hooks
	dmesg | grep -q 'iotracer: close(2) of this kernel is not understood: FLUSH may not be traced there$'
}
