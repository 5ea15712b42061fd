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

# law FS ENGINE: what totals.py has found about its eight jobs
law() {
	cat "$BATS_FILE_TMPDIR/$1-$2"
	[ "$(grep -c '^[^ ]*: fio ' "$BATS_FILE_TMPDIR/$1-$2")" = 8 ]
	run ! grep '^wrong: ' "$BATS_FILE_TMPDIR/$1-$2"
}

@test "law: seen = stored + overwritten + lost, at each level of each target" {
	for fs in ext4 xfs btrfs; do
		[ "$(wc -l <"$BATS_FILE_TMPDIR/$fs-stats")" = $((3 * 64)) ]
		run ! grep '^wrong: ' "$BATS_FILE_TMPDIR/$fs-stats"
	done
}

# bats takes test names from the text, so the combinations stand here one by one.

@test "law: ext4 psync, buffered and direct" { law ext4 psync; }
@test "law: ext4 sync, buffered and direct" { law ext4 sync; }
@test "law: ext4 vsync, buffered and direct" { law ext4 vsync; }
@test "law: ext4 pvsync, buffered and direct" { law ext4 pvsync; }
@test "law: ext4 pvsync2, buffered and direct" { law ext4 pvsync2; }
@test "law: ext4 libaio, buffered and direct" { law ext4 libaio; }
@test "law: ext4 posixaio, buffered and direct" { law ext4 posixaio; }
@test "law: ext4 io_uring, buffered and direct" { law ext4 io_uring; }
@test "law: xfs psync, buffered and direct" { law xfs psync; }
@test "law: xfs sync, buffered and direct" { law xfs sync; }
@test "law: xfs vsync, buffered and direct" { law xfs vsync; }
@test "law: xfs pvsync, buffered and direct" { law xfs pvsync; }
@test "law: xfs pvsync2, buffered and direct" { law xfs pvsync2; }
@test "law: xfs libaio, buffered and direct" { law xfs libaio; }
@test "law: xfs posixaio, buffered and direct" { law xfs posixaio; }
@test "law: xfs io_uring, buffered and direct" { law xfs io_uring; }
@test "law: btrfs psync, buffered and direct" { law btrfs psync; }
@test "law: btrfs sync, buffered and direct" { law btrfs sync; }
@test "law: btrfs vsync, buffered and direct" { law btrfs vsync; }
@test "law: btrfs pvsync, buffered and direct" { law btrfs pvsync; }
@test "law: btrfs pvsync2, buffered and direct" { law btrfs pvsync2; }
@test "law: btrfs libaio, buffered and direct" { law btrfs libaio; }
@test "law: btrfs posixaio, buffered and direct" { law btrfs posixaio; }
@test "law: btrfs io_uring, buffered and direct" { law btrfs io_uring; }
