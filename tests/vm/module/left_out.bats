#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The module without any of the parts that can be left out if they do not compile: targets
# work, and the categories report why they do not. scripts/build-all 6.12-without builds it.
#
# bats file_tags=slow

# Tests run in subshells, and "run" sets output.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

load ../../lib/helpers

setup_file() {
	new_filesystem ext4 /dev/vda /mnt
	IOTRACER_KO=$TOP/build/$(uname -r)-without/iotracer.ko
	export IOTRACER_KO
	load_module
}

teardown_file() {
	unload_module
	umount /mnt
}

setup() {
	PATH=$TOP/tools:$PATH
}

@test "targets work without all parts that can be left out" {
	# allocate all blocks at once, so that one read is one request
	dd if=/dev/zero of=/mnt/f bs=12k count=1 conv=fsync status=none
	echo "add /mnt/f" >/proc/iotracer/control
	dd if=/dev/zero of=/mnt/f bs=4k count=3 oflag=direct conv=notrunc status=none
	dd if=/mnt/f of=/dev/null bs=12k iflag=direct status=none
	run -0 sed -E 's/^[^;]*;//; s/;[0-9]+$//; s/;[0-9]+(;[0-9]+;BLK)/;sector\1/' /proc/iotracer/*_*/log
	[ "$(sort <<<"$output" | uniq -c | tr -s ' ')" = " 1 R;0;12288;VFS;dd
 1 R;12288;0;VFS;dd
 1 R;sector;12288;BLK;dd
 1 W;0;4096;VFS;dd
 1 W;4096;4096;VFS;dd
 1 W;8192;4096;VFS;dd
 3 W;sector;4096;BLK;dd" ]
	echo "remove /mnt/f" >/proc/iotracer/control
}

@test "a category that is left out cannot be started, and reports what did not compile" {
	for category in $(categories fs); do
		run strace -e trace=write -o "$BATS_TEST_TMPDIR/strace" \
			sh -c "echo start >/proc/iotracer/$category/control"
		[ "$status" -ne 0 ]
		grep -q EOPNOTSUPP "$BATS_TEST_TMPDIR/strace"
		run -0 cat "/proc/iotracer/$category/error"
		[[ $output == *"the module was built without it"*"module/probe/"*.c:* ]]
		run -0 grep -E "^- $category left_out 0 0 module/probe/[a-z_]*\.c:[^ ]* -95$" /proc/iotracer/hooks
		run -0 sh -c "dmesg | grep 'iotracer: $category is left out, as it does not compile for this kernel: module/probe/'"
		run -0 cat "/proc/iotracer/$category/stats" "/proc/iotracer/$category/log"
		echo stop >"/proc/iotracer/$category/control"
	done
	run ! iotracer start cache
	[[ $output == *"the module was built without it"* ]]
}

@test "fs records reads and writes, and does not start with a filter whose part is missing" {
	echo start >/proc/iotracer/fs/control
	sh -c 'echo x >/mnt/g && rm /mnt/g'
	echo stop >/proc/iotracer/fs/control
	grep -q ' WRITE sh-.* path=/mnt/g ' /proc/iotracer/fs/log
	run ! grep -E ' (OPEN|CREATE|UNLINK|CLOSE) ' /proc/iotracer/fs/log
	echo 'filter rejected=1' >/proc/iotracer/fs/control
	run ! bash -c 'echo start >/proc/iotracer/fs/control'
	[[ $output == *"ot supported"* ]]
	echo 'filter none' >/proc/iotracer/fs/control
	run -0 grep -cE '^- fs_(calls|rejected) left_out ' /proc/iotracer/hooks
	[ "$output" = 2 ]
}

@test "doctor reports what is left out, and why" {
	said=$BATS_TEST_TMPDIR/said
	run -1 --separate-stderr iotracer doctor --format=json
	printf '%s\n' "$output" >"$said"
	jq -e --argjson n "$(categories fs | wc -l)" '[.categories[] | select(.name != "fs")] | length == $n and
		all(.state == "missing" and (.missing[0] | contains("module/probe/")))' "$said"
	jq -e '.categories[] | select(.name == "fs") | .state == "partly" and
		(.missing | map(select(contains(" is left out of the module"))) | length == 2)' "$said"
}
