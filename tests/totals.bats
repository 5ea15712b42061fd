#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The law: what fio says it did is what the log holds, at the VFS exactly, and at
# the block layer wherever every byte of the file has to move once.
#
# On each filesystem one fio runs 64 jobs at the same time: 8 engines, buffered
# and direct, read, write, randread and randwrite, each on a file and so a target
# of its own. Files are on disk and out of the cache before, and written files
# are synced at the end.
#
# btrfs: no compression and no inline files here; compressed extents are written
# from pages of no file, so no block event can name one.

bats_require_minimum_version 1.5.0
load lib/helpers

SIZE=1048576
JOBS="read write randread randwrite"
ENGINES="psync sync vsync pvsync pvsync2 libaio posixaio io_uring"
FIO_OPTIONS=(--output-format=json --thread --clocksource=clock_gettime
	--disk_util=0 "--size=$SIZE" --bs=16k --fallocate=none --end_fsync=1
	--randrepeat=1 --invalidate=0)

# each_job COMMAND...: call it with ENGINE, buffered or direct, and JOB
each_job() {
	local engine mode job

	for engine in $ENGINES; do
		for mode in buffered direct; do
			for job in $JOBS; do
				"$@" "$engine" "$mode" "$job"
			done
		done
	done
}

file_of() { # FS ENGINE MODE JOB
	echo "$MNT/$1/$2-$3-$4"
}

# make_files: SIZE bytes that do not compress into each file that standard input
# names
make_files() {
	SIZE=$SIZE perl -ne '
		BEGIN { open(R, "<", "/dev/urandom"); read(R, $data, $ENV{SIZE}) }
		chomp;
		open(F, ">", $_) && syswrite(F, $data) == length($data) or die "$_: $!";
		close(F);'
}

fio_job() { # FS ENGINE MODE JOB
	local direct=0 depth=1

	[ "$3" = buffered ] || direct=1
	case $2 in
	libaio | posixaio | io_uring) depth=4 ;;
	esac
	args+=(--name="$2-$3-$4" --filename="$MNT/$1/$2-$3-$4" --rw="$4"
		--ioengine="$2" "--direct=$direct" "--iodepth=$depth")
}

commands() { # add or remove, for all files
	sed "s/^/$1 /" "$BATS_FILE_TMPDIR/files" >"$BATS_FILE_TMPDIR/commands"
	cat "$BATS_FILE_TMPDIR/commands" >/proc/iotracer/control
}

run_fio() { # FS
	local args=() control

	each_job file_of "$1" >"$BATS_FILE_TMPDIR/files"
	make_files <"$BATS_FILE_TMPDIR/files"
	commands add
	sync
	echo 3 >/proc/sys/vm/drop_caches
	for control in /proc/iotracer/*_*/control; do
		echo reset >"$control"
	done
	each_job fio_job "$1"
	fio "${FIO_OPTIONS[@]}" "${args[@]}" >"$BATS_FILE_TMPDIR/$1.json"
	run_functions totals.py "$1" "$MNT/$1" "$BATS_FILE_TMPDIR" "$SIZE"
	commands remove
}

setup_file() {
	load_module MAX_EVENTS=10000
	export MNT=$BATS_FILE_TMPDIR/mnt
	new_filesystem ext4 /dev/vda "$MNT/ext4"
	new_filesystem xfs /dev/vdb "$MNT/xfs"
	new_filesystem btrfs /dev/vdc "$MNT/btrfs"
	run_fio ext4
	run_fio xfs
	run_fio btrfs
}

teardown_file() {
	umount "$MNT"/{ext4,xfs,btrfs}
	unload_module
}

# has_totals FS ENGINE: what totals.py has found about its eight jobs
has_totals() {
	cat "$BATS_FILE_TMPDIR/$1-$2"
	[ "$(grep -c '^[^ ]*: fio ' "$BATS_FILE_TMPDIR/$1-$2")" = 8 ]
	run ! grep '^wrong: ' "$BATS_FILE_TMPDIR/$1-$2"
}

@test "seen = stored + overwritten + lost, at each level of each target" {
	for fs in ext4 xfs btrfs; do
		[ "$(wc -l <"$BATS_FILE_TMPDIR/$fs-stats")" = $((3 * 64)) ]
		run ! grep '^wrong: ' "$BATS_FILE_TMPDIR/$fs-stats"
	done
}

# bats takes test names from the text, so the combinations stand here one by one.

@test "ext4, psync: the log has fio's totals, buffered and direct" { has_totals ext4 psync; }
@test "ext4, sync: the log has fio's totals, buffered and direct" { has_totals ext4 sync; }
@test "ext4, vsync: the log has fio's totals, buffered and direct" { has_totals ext4 vsync; }
@test "ext4, pvsync: the log has fio's totals, buffered and direct" { has_totals ext4 pvsync; }
@test "ext4, pvsync2: the log has fio's totals, buffered and direct" { has_totals ext4 pvsync2; }
@test "ext4, libaio: the log has fio's totals, buffered and direct" { has_totals ext4 libaio; }
@test "ext4, posixaio: the log has fio's totals, buffered and direct" { has_totals ext4 posixaio; }
@test "ext4, io_uring: the log has fio's totals, buffered and direct" { has_totals ext4 io_uring; }
@test "xfs, psync: the log has fio's totals, buffered and direct" { has_totals xfs psync; }
# bats test_tags=once
@test "xfs, sync: the log has fio's totals, buffered and direct" { has_totals xfs sync; }
# bats test_tags=once
@test "xfs, vsync: the log has fio's totals, buffered and direct" { has_totals xfs vsync; }
# bats test_tags=once
@test "xfs, pvsync: the log has fio's totals, buffered and direct" { has_totals xfs pvsync; }
@test "xfs, pvsync2: the log has fio's totals, buffered and direct" { has_totals xfs pvsync2; }
@test "xfs, libaio: the log has fio's totals, buffered and direct" { has_totals xfs libaio; }
# bats test_tags=once
@test "xfs, posixaio: the log has fio's totals, buffered and direct" { has_totals xfs posixaio; }
@test "xfs, io_uring: the log has fio's totals, buffered and direct" { has_totals xfs io_uring; }
@test "btrfs, psync: the log has fio's totals, buffered and direct" { has_totals btrfs psync; }
# bats test_tags=once
@test "btrfs, sync: the log has fio's totals, buffered and direct" { has_totals btrfs sync; }
# bats test_tags=once
@test "btrfs, vsync: the log has fio's totals, buffered and direct" { has_totals btrfs vsync; }
# bats test_tags=once
@test "btrfs, pvsync: the log has fio's totals, buffered and direct" { has_totals btrfs pvsync; }
@test "btrfs, pvsync2: the log has fio's totals, buffered and direct" { has_totals btrfs pvsync2; }
@test "btrfs, libaio: the log has fio's totals, buffered and direct" { has_totals btrfs libaio; }
# bats test_tags=once
@test "btrfs, posixaio: the log has fio's totals, buffered and direct" { has_totals btrfs posixaio; }
@test "btrfs, io_uring: the log has fio's totals, buffered and direct" { has_totals btrfs io_uring; }
