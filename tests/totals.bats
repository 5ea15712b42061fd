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

# fio_totals FS: of each job, what fio counted: operations and bytes of reads,
# then of writes
fio_totals() {
	jq -r '.jobs[] | [.jobname, .read.total_ios, .read.io_bytes,
		.write.total_ios, .write.io_bytes] | join(" ")' \
		"$BATS_FILE_TMPDIR/$1.json"
}

# log_totals FS: the same of each target from its log, at the VFS and then at the
# block layer, then the percentage of VFS accesses that begin where the one before
# ended, how many offsets they have, and how many bytes of the disk were read at least once
log_totals() {
	awk -v prefix="$MNT/$1/" '
		function flush(  share) {
			if (job == "") return
			share = n > 1 ? int(100 * follows / (n - 1)) : -1
			print job, ops["VFSR"] + 0, bytes["VFSR"] + 0, ops["VFSW"] + 0,
				bytes["VFSW"] + 0, ops["BLKR"] + 0, bytes["BLKR"] + 0,
				ops["BLKW"] + 0, bytes["BLKW"] + 0, share, blocks + 0, once + 0
			split("", ops); split("", bytes); split("", offsets); split("", pages)
			n = follows = blocks = once = 0; job = ""
		}
		FILENAME == "/proc/iotracer/control" { name[$1] = $2; next }
		FNR == 1 {
			flush()
			split(FILENAME, part, "/")
			job = name[part[4]]
			job = index(job, prefix) == 1 ? substr(job, length(prefix) + 1) : ""
		}
		job != "" {
			split($0, f, ";")
			ops[f[5] f[2]]++; bytes[f[5] f[2]] += f[4]
			if (f[5] == "BLK" && f[2] == "R")
				for (at = f[3] * 512; at < f[3] * 512 + f[4]; at += 4096)
					once += pages[at]++ ? 0 : 4096
			if (f[5] == "VFS" && f[4] > 0) {
				if (n++) follows += (f[3] == end)
				end = f[3] + f[4]
				blocks += !offsets[f[3]]++
			}
		}
		END { flush() }
	' /proc/iotracer/control /proc/iotracer/*_*/log
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
	fio_totals "$1" | sort >"$BATS_FILE_TMPDIR/$1.fio"
	log_totals "$1" | sort >"$BATS_FILE_TMPDIR/$1.log"
	cat /proc/iotracer/*_*/stats >"$BATS_FILE_TMPDIR/$1.stats"
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

# law FS ENGINE: its jobs in fio's words and in the log's. One process for all eight:
# here each command of the shell is slow, for bats looks at it.
law() {
	awk -v fs="$1" -v engine="$2" -v size="$SIZE" '
		function check(what, good) {
			if (good) return
			print job ": " what
			bad = 1
		}
		index($1, engine "-") != 1 { next }
		FNR == NR { reads[$1] = $2; read_bytes[$1] = $3; writes[$1] = $4; write_bytes[$1] = $5; next }
		{
			job = $1
			jobs++
			share = $10
			print fs, job ": fio", reads[job], read_bytes[job], writes[job], write_bytes[job] \
				"; log " $0
			check("VFS reads", $2 == reads[job] && $3 == read_bytes[job])
			check("VFS writes", $4 == writes[job] && $5 == write_bytes[job])
			# Every byte of the file moved once, so as many at the block layer. Since
			# 7.x a direct read of btrfs into memory that is not there yet goes by the
			# page cache, which reads ahead (diskstats says so, too, without us).
			ahead = fs == "btrfs" && job ~ /-direct-read$/ ? $7 - read_bytes[job] : 0
			check("BLK reads", $7 == read_bytes[job] || ahead > 0)
			check("BLK reads of each byte", $12 == read_bytes[job])
			check("BLK writes", $9 == write_bytes[job])
			check("all of the file", read_bytes[job] + write_bytes[job] == size)
			check("each block", $11 == reads[job] + writes[job])
			# io_uring chooses the order itself where a call would have to wait.
			if (job ~ /-rand/) check("order", share <= 30)
			else if (job !~ /^io_uring-/) check("order", share >= 70)
		}
		END { exit bad || jobs != 8 }
	' "$BATS_FILE_TMPDIR/$1.fio" "$BATS_FILE_TMPDIR/$1.log"
}

@test "law: seen = stored + overwritten + lost, at each level of each target" {
	for fs in ext4 xfs btrfs; do
		awk '$1 == "vfs" || $1 == "blk" || $1 == "total" {
			lines++
			if ($2 != $3 + $4 + $5 || $6 != 0) { print; bad = 1 }
		} END { exit bad || lines != 3 * 64 }' "$BATS_FILE_TMPDIR/$fs.stats"
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
