# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Images of disks, and QEMUs that are started stopped, in the directory $work.

# work is set by the suites.
# shellcheck disable=SC2154

is_gone() {
	[ ! -e "/proc/$1" ]
}

images() {
	PYTHONDONTWRITEBYTECODE=1 python3 -m vm_images "$@"
}

# io FORMAT FILE COMMAND...: run commands of qemu-io
io() {
	local format=$1 file=$2 command arguments=()
	shift 2
	for command in "$@"; do arguments+=(-c "$command"); done
	qemu-io -f "$format" "${arguments[@]}" "$file" >io.log 2>&1 || { cat io.log; return 1; }
}

# qcow2 FILE SIZE [OPTION...]
qcow2() {
	qemu-img create -q -f qcow2 "${@:3}" "$1" "$2"
}

# start_qemu NAME ARGUMENT...: a QEMU that is stopped from the start, with NAME.pid and NAME.qmp
start_qemu() {
	local name=$1
	shift
	qemu-system-x86_64 -accel tcg -S -nodefaults -display none -name "guest=$name-$$,debug-threads=on" \
		-qmp "unix:$work/$name.qmp,server=on,wait=off" -daemonize -pidfile "$work/$name.pid" "$@" \
		2>qemu.log 3>&- || { cat qemu.log; return 1; }
	# It forks twice to become a daemon, and the process between, which leads the daemon's session,
	# may end later than the first.
	wait_for is_alone_in_session "$(cat "$work/$name.pid")"
}

is_alone_in_session() {
	[ "$(pgrep -fc -s "$(ps -o sid= -p "$1" | tr -d ' ')" -- guest=)" = 1 ]
}

# stop_qemu NAME: let it end by itself; it deletes its PID file
stop_qemu() {
	local pid
	pid=$(cat "$1.pid")
	images ask "$1.qmp" quit
	wait_for is_gone "$pid"
}

# kill_qemus: end those that start_qemu started
kill_qemus() {
	local file pid
	for file in "$work"/*.pid; do
		[ -s "$file" ] || continue
		pid=$(cat "$file")
		kill -KILL "$pid" 2>/dev/null || continue
		wait_for is_gone "$pid"
	done
}

# fake_fs: make the files of category fs, without events
fake_fs() {
	idle_category fs
	tool-stream layout=1 event=2 </dev/null >proc/fs/stream
	tool-stream layout=2 </dev/null >proc/paths
}

# processes PID: a target of this process, with the records on standard input
processes() {
	local dir=$IOTRACER_PROC/machine
	mkdir "$dir"
	echo "1 0.5 16384 3" >"$dir/control"
	printf '%s\n' 'target machine' "tasks pid=$1" 'max_events 16384' 'memory_bytes 65536' \
		'level seen stored overwritten lost missed' 'vfs 9 9 0 0 0' 'blk 0 0 0 0 0' 'total 9 9 0 0 0' >"$dir/stats"
	tool-stream layout=1 event=2 t0=500000000 >"$dir/stream"
	echo "machine pid=$1" >>"$IOTRACER_PROC/control"
}

# of FILE: the fields of a record that say which file it is
of() {
	stat -c '%Hd %Ld %i' "$1" | { read -r major minor inode && echo "device=$((major << 20 | minor)) inode=$inode kind=1"; }
}

now() {
	python3 -c 'import time; print(time.monotonic_ns())'
}
