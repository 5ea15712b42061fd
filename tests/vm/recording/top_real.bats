#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# iotracer top with the real module: its figures are fio's own, and it leaves the categories as they were.

bats_require_minimum_version 1.5.0

load ../../lib/recording

# intervals FILTER: the sum of what this filter of jq selects, over all intervals of top.json
intervals() {
	jq -s "[.[] | $1] | add // 0" top.json
}

# start_top OPTION...: begin to print intervals into top.json, and wait for the first one
start_top() {
	iotracer top --interval=0.2 --top=0 --format=json "$@" >top.json 2>top.err &
	top=$!
	wait_for test -s top.json
}

# end_top: the interval that is being read is printed, too
end_top() {
	kill -TERM "$top"
	ended 143
}

# ended STATUS: wait for the end of top, with that status
ended() {
	local status=0
	wait "$top" || status=$?
	[ "$status" = "$1" ] || { echo "status $status"; cat top.err; return 1; }
}

@test "top: bytes and operations of a file, a process and a device are fio's, over all intervals" {
	for by in file process device; do
		start_top --by=$by
		fio --name=top --filename=/mnt/work/data --rw=randrw --bs=4k --size=4M --direct=1 --ioengine=psync \
			--output-format=json --output=fio.json
		end_top
		[ "$(intervals '.categories[] | .lost + .missed + .sampled')" = 0 ]
		case $by in
		file) rows='.rows[] | select(.file == "/mnt/work/data")' ;;
		process) rows='.rows[] | select(.command == "fio")' ;;
		device) rows='.rows[] | select(.disk == "vda")' ;;
		esac
		cat top.err
		read=$(jq '.jobs[0].read.io_bytes' fio.json) write=$(jq '.jobs[0].write.io_bytes' fio.json)
		if [ $by = file ]; then
			[ "$(intervals "$rows | .read_bytes")" = "$read" ]
			[ "$(intervals "$rows | .device_time_ns")" -gt 0 ]
		else # other files and the filesystem's own blocks have bytes, too
			[ "$(intervals "$rows | .read_bytes")" -ge "$read" ]
		fi
		[ "$(intervals "$rows | .written_bytes")" -ge "$write" ]
		[ "$(intervals "$rows | .operations")" -ge \
			"$(jq '.jobs[0] | .read.total_ios + .write.total_ios' fio.json)" ]
		rm /mnt/work/data
	done
}

@test "top: pages that are not in memory are misses of the file that is read" {
	dd if=/dev/zero of=/mnt/work/cold bs=1M count=2 status=none
	sync
	echo 3 >/proc/sys/vm/drop_caches
	start_top
	cat /mnt/work/cold >/dev/null
	end_top
	[ "$(intervals '.rows[] | select(.file == "/mnt/work/cold") | .missed_pages')" -gt 0 ]
	[ "$(intervals '.rows[] | select(.file == "/mnt/work/cold") | .read_bytes')" = $((2 << 20)) ]
}

@test "top: categories are left as they were, also after a kill" {
	for category in fs block cache; do
		echo 'filter comm=nobody' >/proc/iotracer/$category/control
		grep -v '^#' /proc/iotracer/$category/control >$category.before
	done
	iotracer top --once --interval=0.2 >/dev/null
	for category in fs block cache; do
		grep -v '^#' /proc/iotracer/$category/control | diff $category.before -
	done
	start_top
	running
	kill -KILL "$top"
	ended 137
	for category in fs block cache; do
		wait_for stopped $category
		echo 'filter none' >/proc/iotracer/$category/control
		echo 'sample 1' >/proc/iotracer/$category/control
	done
}

@test "top: a category that somebody else traces is read as it is set, and runs on" {
	iotracer filter fs comm=dd
	iotracer start fs
	start_top
	dd if=/dev/zero of=/mnt/work/mine bs=4k count=3 status=none
	head -c 10 /mnt/work/mine >/dev/null
	end_top
	running
	grep -qx 'filter comm=dd' /proc/iotracer/fs/control
	[ "$(intervals '.rows[] | select(.file == "/mnt/work/mine") | .written_bytes')" = 12288 ]
	[ "$(intervals '.rows[] | select(.file == "/mnt/work/mine") | .read_bytes')" = 0 ]
	[ "$(jq -r .note top.json | head -n 1)" = 'traced already, read as it is set: fs (only comm=dd)' ]
	iotracer stop fs
	iotracer filter fs none
}

@test "top: connections, with who sent what" {
	start_top --by=connection
	python3 -S -s - <<-'END'
	import socket
	server = socket.create_server(('127.0.0.1', 0))
	client = socket.create_connection(server.getsockname())
	peer, _ = server.accept()
	client.sendall(bytes(1000))
	left = 1000
	while left:
	    left -= len(peer.recv(left))
	END
	end_top
	[ "$(intervals '.rows[] | select(.connection | startswith("TCP 127.0.0.1:")) | .written_bytes')" = 1000 ]
	[ "$(intervals '.rows[] | select(.connection | startswith("TCP 127.0.0.1:")) | .read_bytes')" = 1000 ]
	[ "$(grep -x start /proc/iotracer/net/control)" = '' ]
}

# reader: read /mnt/work/reads byte by byte from SIGUSR1 to SIGTERM, and write the number of reads to "reads"
reader() {
	exec python3 -S -c '
import os, signal
end = []
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.signal(signal.SIGTERM, lambda *_: end.append(1))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
f = os.open("/mnt/work/reads", os.O_RDONLY)
open("ready", "w").close()
signal.sigwait([signal.SIGUSR1])
n = 0
while not end:
    n += len(os.pread(f, 1, 0))
with open("reads", "w") as to:
    to.write(str(n))
'
}

sample_is() {
	test "$(sed -n 's/^sample //p' /proc/iotracer/fs/control)" "$@"
}

@test "top: above --cpu-limit it samples, with sums that agree; with few events all are recorded again" {
	echo x >/mnt/work/reads
	reader &
	reader=$!
	wait_for test -e ready
	start_top --cpu-limit=0.001 --filter=pid=$reader -c fs
	kill -USR1 $reader
	wait_for sample_is -ge 4
	kill $reader
	wait $reader
	most=$(sed -n 's/^sample //p' /proc/iotracer/fs/control)
	wait_for sample_is = 1
	end_top
	# a CPU records every N-th event, and up to N are left over whenever N changes; N was 2, 4 ... $most, and back
	slack=$(($(nproc) * 6 * most + 10))
	reads=$(cat reads)
	counted=$(intervals '.rows[] | select(.file == "/mnt/work/reads") | .read_bytes')
	lost=$(intervals '.categories[] | .lost')
	echo "reads $reads counted $counted lost $lost one in $most, $slack"
	[ "$counted" -le $((reads + slack)) ]
	[ $((counted + most * lost)) -ge $((reads - slack)) ]
	[ "$(intervals '.categories[] | .sampled')" -gt 0 ]
	[ "$(intervals '.categories[] | .records')" -lt $((reads - slack)) ]
}

@test "top: the terminal is closed: nothing stays behind" {
	tmux -L top -f /dev/null new-session -d -x 80 -y 24 -s top "iotracer top"
	wait_for running
	wait_for pgrep -x iotracer
	tmux -L top kill-session
	for category in fs block cache; do
		wait_for stopped $category
	done
	wait_for gone
}

gone() {
	! pgrep -x iotracer
}

@test "top: the screen shows what happens, and ends with the terminal and the categories as they were" {
	screen() { tmux -L top capture-pane -p -t top; }
	shows() { screen | grep -qF "$1"; }
	tmux -L top -f /dev/null new-session -d -x 80 -y 24 -s top "sh -c 'iotracer top; echo status \$?; exec sleep 1000'"
	flat_out 600 --rate_iops=500 >/dev/null &
	load=$!
	wait_for shows /mnt/work/load
	tmux -L top send-keys -t top 6
	wait_for shows 'connections of net'
	running net
	tmux -L top send-keys -t top q
	wait_for shows 'status 0'
	for category in fs block cache net; do
		stopped $category
	done
	tmux -L top kill-server
	end_load $load
}

@test "top: the module is unloaded meanwhile: one line, and exit status 1" {
	start_top
	rmmod iotracer
	ended 1
	[[ $(cat top.err) == *"the module was unloaded" ]]
	# shellcheck disable=SC2119 # no parameters
	load_module
}
all_are_written() {
	[ "$(grep -c 'wrote 65536/65536' wrote)" -eq 5 ]
}

@test "top: a virtual machine that writes has a row for its drive, with the bytes that it wrote" {
	truncate -s 1M /mnt/work/disk.img
	qemu-system-x86_64 -name guest=webserver -machine none -nodefaults -display none -S \
		-monitor unix:monitor,server,nowait \
		-drive if=none,id=disk0,file=/mnt/work/disk.img,format=raw,cache=none >wrote 2>&1 &
	qemu=$!
	wait_for test -S monitor
	start_top --by=vm
	for ((i = 0; i < 5; i++)); do
		echo "qemu-io disk0 \"write $((i * 65536)) 65536\""
	done | nc -N -U monitor >/dev/null
	wait_for all_are_written
	end_top
	kill $qemu
	wait $qemu || true
	[ "$(intervals '.rows[] | select(.vm == "webserver disk0" and .drive == "disk0") | .written_bytes')" = $((5 * 65536)) ]
}

@test "top: a process that renames itself ten thousand times a second, and many short-lived files" {
	python3 -S - <<-'END' &
	import ctypes, os, time
	libc = ctypes.CDLL(None)
	n = 0
	while not os.path.exists("stop"):
	    libc.prctl(15, b"n%d\x1b[2J\n" % n)
	    name = f"/mnt/work/short\u202e-{n}"
	    with open(name, "w") as f:
	        f.write("x")
	    os.unlink(name)
	    n += 1
	with open("made", "w") as f:
	    f.write(str(n))
	END
	attacker=$!
	start_top --by=process
	sleep 3
	: >stop
	wait $attacker
	end_top
	[ "$(jq -s "[.[].rows[] | select(.process == \"$attacker\")] | length" top.json)" -le \
		"$(jq -s length top.json)" ]
	made=$(cat made)
	# each has a write, which is in an interval but for those from before the start
	[ "$(intervals ".rows[] | select(.process == \"$attacker\") | .written_bytes")" -gt 0 ]
	[ "$(intervals ".rows[] | select(.process == \"$attacker\") | .written_bytes")" -le $((made + 10)) ]
	# no byte of a name reaches a terminal as a control character
	if LC_ALL=C grep -n "$(printf '\033')" top.json >found; then
		cut -c1-300 found | cat -v
		return 1
	fi
}

