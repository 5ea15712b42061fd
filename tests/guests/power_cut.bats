#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer durability` is right: the power of a machine that writes and traces itself is cut (QEMU is
# killed), and its disk is compared with what the trace says, block by block. power_cut.c writes,
# power_cut.py compares.
#
# A machine is started once, with the module, a filesystem and a recorder, and its state is kept. Each cut
# goes on from there with another seed. Three of four are cut when the load has ended and nothing is written
# any more, so that the disk is known exactly; the others in the middle, with the trace as far as it had
# left the machine.
#
# POWER_CUTS=100 makes as many cuts, on POWER_KERNEL (6.12); SEED=N begins with that one, which a failure names.
#
# What is in single quotes is expanded in the guest.
# shellcheck disable=SC2016

# bats file_tags=host

load ../lib/tool

KERNEL=${POWER_KERNEL:-6.12}

setup_file() {
	cd "$TOP" || return
	make -s -C tools && make -s -C tests ../build/tests/power_cut && scripts/guest-build "$KERNEL" || return
	export work=$BATS_FILE_TMPDIR
	mkdir "$work/tree"
	cp build/tests/power_cut "$work/tree/"
	truncate -s 32M "$work/base.img"
	PATH=$PATH:/usr/sbin mkfs.ext4 -q -d "$work/tree" "$work/base.img"
	machine
	start_once
}

setup() {
	machine
	PATH=$TOP/tools:$PATH:/usr/sbin
}

# Of a test that failed, or that waits for its machine for ever: what the machine said last.
teardown() {
	[ "${BATS_TEST_COMPLETED:-}" = 1 ] || [ ! -e "$guests/cut/console" ] ||
		tail -qc 1500 "$guests/cut/console" "$guests/cut/log"
	[ ! -s "$guests/cut/pid" ] || kill -KILL "$(cat "$guests/cut/pid")"
}

machine() {
	cd "$TOP" || return
	guests=$work/guests
	# shellcheck source=scripts/lib.sh
	. scripts/lib.sh
	# shellcheck source=scripts/guest.sh
	. scripts/guest.sh
	release=$(iot_kernel_find "$KERNEL")
}

# launch DISK [STATE]: start or go on with the machine, on a copy of the disk
launch() {
	cp --sparse=always "$1" "$work/disk.img"
	truncate -s 0 "$work/disk.log" "$work/out"
	truncate -s "$GUEST_OUT" "$work/disk.log" "$work/out"
	local log="log.driver=file,log.filename=$work/disk.log"
	guest_launch cut "$release" \
		-drive "driver=blklogwrites,file.driver=file,file.filename=$work/disk.img,$log,if=none,id=drive0" \
		-drive "file=$work/out,if=none,id=out,format=raw,cache=unsafe" ${2:+-incoming "exec:cat $2"}
}

# guest TEXT: run commands in the guest, which gets them as one line
guest() {
	guest_run cut "$(tr '\n\t' '  ' <<<"$1")"
}

# What writes back by itself is off, so that the disk is quiet when the load is.
start_once() {
	local state
	state=$(guest_home "$release")/state
	[ -s "$state" ] || state=''
	launch "$work/base.img" "$state" && guest_wait cut && guest_begin cut &&
	guest 'insmod /usr/local/iotracer.ko && mount -o commit=600,noinit_itable /dev/vda /mnt &&
		echo 0 >/proc/sys/vm/dirty_writeback_centisecs && cp /mnt/power_cut /tmp && sync &&
		{ { iotracer record -c fs,block,cache -o /tmp/trace >/tmp/log 2>&1; : >/tmp/ended; } & } &&
		for c in fs block cache; do until grep -qx start /proc/iotracer/$c/control; do sleep 0.1; done; done' || return
	echo "migrate \"exec:cat >$work/state\"" >"$guests/cut/monitor.in"
	echo quit >"$guests/cut/monitor.in"
	wait "$guest_pid"
	rm -f "$guests/cut/pid"
	cp --sparse=always "$work/disk.img" "$work/started.img"
	[ -s "$work/state" ]
}

power_off() {
	kill -KILL "$guest_pid"
	wait "$guest_pid" 2>/dev/null || true
	rm -f "$guests/cut/pid"
}

# quiet SEED: cut when the load has ended and the trace has left the machine
quiet() {
	launch "$work/started.img" "$work/state"
	guest "/tmp/power_cut $1 200 /mnt >/tmp/stored && killall -INT iotracer &&
		until [ -e /tmp/ended ]; do sleep 0.05; done; cd /tmp && tar cf /dev/vdb trace stored"
	power_off
	tar xf "$work/out" -C "$work/cut"
}

# running SEED: cut at some time. The trace leaves the machine again and again, by turns to two places; a
# number tells which copy is the latest.
running() {
	local copy
	launch "$work/started.img" "$work/state"
	guest "/tmp/power_cut $1 1000000 /mnt running >/tmp/stored &
		{ n=0; while :; do n=\$((n + 1));
			tar cf - -C /tmp trace stored | dd of=/dev/vdb bs=64k seek=\$((n % 2 * 400)) conv=fsync,notrunc;
			echo \$n | dd of=/dev/vdb bs=64k seek=1000 conv=fsync,notrunc;
		done; } >/dev/null 2>&1 &"
	while
		copy=$(dd if="$work/out" bs=64k skip=1000 count=1 status=none | tr -d '\0')
		[ "${copy:-0}" -lt $((3 + $1 % 5)) ]
	do
		sleep 0.05
	done
	sleep "0.$(($1 * 37 % 100))"
	power_off
	copy=$(dd if="$work/out" bs=64k skip=1000 count=1 status=none | tr -d '\0')
	dd if="$work/out" bs=64k skip=$((copy % 2 * 400)) count=400 status=none | tar x -C "$work/cut"
}

# cut SEED: make a cut and compare
cut_power() {
	local mode=quiet
	[ $(($1 % 4)) != 3 ] || mode=running
	rm -rf "$work/cut"
	mkdir "$work/cut"
	"$mode" "$1"
	mv "$work/disk.img" "$work/disk.log" "$work/cut/"
	ln -s "$work/started.img" "$work/cut/started.img"
	(cd tests/guests && PYTHONDONTWRITEBYTECODE=1 python3 -m power_cut check "$work/cut" "$mode") >>"$work/counts" ||
		{ echo "SEED=$1 POWER_CUTS=1"; return 1; }
}

@test "power cut: what is called durable is on the disk, also on the worst one; what was in memory is not" {
	local first=${SEED:-1} seed
	: >"$work/counts"
	for ((seed = first; seed < first + ${POWER_CUTS:-5}; seed++)); do
		cut_power "$seed"
	done
}

@test "power cut: a prediction that ignores flushes fails, and all kinds of blocks were there" {
	[ ! -v SEED ] || skip "one seed may not have all kinds"
	(cd tests/guests && python3 -m power_cut judge "$work/counts" durable memory cache lies quiet running)
}
