#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What iotracer doctor reports about this kernel agrees with what the module does on it.

# Tests run in subshells, and "run" sets output.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

load ../../lib/helpers

setup_file() {
	modprobe btrfs || true
	new_filesystem ext4 /dev/vda /mnt
}

teardown_file() {
	umount /mnt
}

setup() {
	PATH=$TOP/tools:$PATH
	load_module
}

teardown() {
	unload_module
}

# doctor STATUS: run doctor, which must exit with STATUS, and put the name of a file with its
# JSON into $said. doctor reads the names of all functions, which takes long on an emulated
# machine, so few tests run it.
doctor() {
	said=$BATS_FILE_TMPDIR/said
	run "-$1" --separate-stderr iotracer doctor --format=json
	printf '%s\n' "$output" >"$said"
}

# hooked CATEGORY: start it, and print the functions and tracepoints that it hooks, as doctor
# names them; not those of filesystems, which are not known in advance, and of delete_module
hooked() {
	echo start >/proc/iotracer/"$1"/control
	cat /proc/iotracer/hooks >"$BATS_TEST_TMPDIR/hooks"
	echo stop >/proc/iotracer/"$1"/control
	sed 1d "$BATS_TEST_TMPDIR/hooks" |
		grep -vE '^[^ ]+ ((unload|fsync|(copy_file|remap_file)_range|(splice_)?(read|write)(_iter)?)|[^ ]+ detached) ' |
		cut -d ' ' -f 1 | sed -E 's/^__(x64|ia32|ia32_compat)_sys_//' | sort -u
}

@test "doctor names what each category hooks, and all that doctor names is hooked" {
	doctor 0
	for category in $(categories); do
		hooked "$category" >"$BATS_TEST_TMPDIR/hooked"
		[ -s "$BATS_TEST_TMPDIR/hooked" ]
		jq -r ".categories[] | select(.name == \"$category\").needs[].names[]" "$said" | sort -u >"$BATS_TEST_TMPDIR/known"
		comm -23 "$BATS_TEST_TMPDIR/hooked" "$BATS_TEST_TMPDIR/known" >"$BATS_TEST_TMPDIR/unknown"
		echo "$category hooks what doctor does not name: $(paste -sd ' ' "$BATS_TEST_TMPDIR/unknown")"
		[ ! -s "$BATS_TEST_TMPDIR/unknown" ]
		jq -r --rawfile hooked "$BATS_TEST_TMPDIR/hooked" ".categories[] | select(.name == \"$category\").needs[]
			| select(.hooked and .state == \"ok\").names
			| select(any(IN(\$hooked | split(\"\n\")[])) | not) | join(\" or \")" "$said" >"$BATS_TEST_TMPDIR/idle"
		echo "doctor names what $category does not hook: $(paste -sd , "$BATS_TEST_TMPDIR/idle")"
		[ ! -s "$BATS_TEST_TMPDIR/idle" ]
	done
}

# bats test_tags=once
@test "each category that doctor reports as ok starts, and hooks all it needs" {
	for category in $(categories); do
		echo start >/proc/iotracer/"$category"/control
	done
	# doctor also reads from the module what could not be hooked
	doctor 0
	sed -nE 's/^([^ ]+)( [^ ]+){5} -.*/\1/p' /proc/iotracer/hooks | sed -E 's/^__(x64|ia32|ia32_compat)_sys_//' >"$BATS_TEST_TMPDIR/failed"
	jq -r '.categories[].needs[] | select(.hooked and .state != "none").names[]' "$said" >"$BATS_TEST_TMPDIR/needed"
	run ! grep -xFf "$BATS_TEST_TMPDIR/failed" "$BATS_TEST_TMPDIR/needed"
	[ "$(jq -r '[.categories[].state] | unique | join(" ")' "$said")" = ok ]
}

# bats test_tags=once
@test "the operations of a category that doctor reports as ok are recorded" {
	echo start >/proc/iotracer/fs/control
	cd "$BATS_TEST_TMPDIR"
	mkdir d
	echo x >d/a
	mv d/a d/b
	ln d/b d/c
	ln -s b d/s
	chmod 600 d/b
	rm d/b d/c d/s
	rmdir d
	for op in MKDIR CREATE WRITE CLOSE RENAME LINK SYMLINK CHMOD UNLINK RMDIR PROCESS_EXEC PROCESS_EXIT; do
		echo "$op"
		grep -q " $op " /proc/iotracer/fs/log
	done
	echo stop >/proc/iotracer/fs/control
}

# bats test_tags=once
@test "without root doctor reports the same, except for what only root may read" {
	doctor 0
	[ "$(jq -r '[.categories[].state] | unique | join(" ")' "$said")" = ok ]
	cp "$(command -v iotracer)" /tmp/iotracer-doctor
	chmod 755 /tmp/iotracer-doctor
	run -0 --separate-stderr su nobody -s /bin/sh -c '/tmp/iotracer-doctor doctor --format=json'
	rm /tmp/iotracer-doctor
	diff <(jq '.categories' <<<"$output") <(jq '.categories' "$said")
	[ "$(jq -r '.checks[] | select(.name == "kprobes").state' <<<"$output")" = ok ] ||
		skip "nobody may not read the configuration of this kernel"
	[[ $(jq -r '.checks[] | select(.name == "kprobes").found' <<<"$output") == *'needs root'* ]]
}
