# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the suites of iotracer record have in common: filesystems for the workload and for traces, loads,
# and what a trace says of itself. Loaded by suites.

# shellcheck source=tests/lib/helpers.bash
. "${BASH_SOURCE[0]%/*}/helpers.bash"

setup_file() {
	new_filesystem ext4 /dev/vda /mnt/work
	new_filesystem ext4 /dev/vdb /mnt/traces
	new_filesystem ext4 /dev/vdc /mnt/small 12M
	# shellcheck disable=SC2119 # no parameters
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/work /mnt/traces /mnt/small
}

setup() {
	PATH=$TOP/tools:$PATH
	cd /mnt/traces || return
	rm -rf /mnt/traces/* /mnt/small/* /mnt/work/*
}

teardown() {
	# bats waits for what a test that failed has left
	[ -n "${BATS_TEST_COMPLETED:-}" ] || pkill -KILL -x 'fio|iotracer' || true
	grep -qx stop /proc/iotracer/fs/control
}

# meta TRACE FILTER: print a value of its metadata; FILTER is for jq
meta() {
	jq -r "$2" "$1/metadata.json"
}

# accounted TRACE: every event that was seen is stored, counted as lost, or ended outside of the window
accounted() {
	[ "$(meta "$1" '[.categories[] | .events + .lost + .outside == .seen] | all')" = true ] ||
		{ meta "$1" '.categories'; return 1; }
}

# load_all [OPTION]...: read and write as fast as possible on every CPU, and print the number
# of calls; the options are fio's
load_all() {
	fio --name=load --directory=/mnt/work --size=1M --bs=512 --rw=randrw --ioengine=psync \
		--numjobs="$(nproc)" --group_reporting --thread --output-format=json \
		--fallocate=none "$@" | jq '.jobs[0] | .read.total_ios + .write.total_ios'
}

# flat_out SECONDS [OPTION]...: load_all for that time
flat_out() {
	load_all --time_based --runtime="$1" "${@:2}"
}

# end_load PID: end a flat_out that runs in the background
end_load() {
	pkill -INT -P "$1" fio
	wait "$1" || true
}

# running [CATEGORY]: whether it is started; of several, name the one that is started last
running() {
	grep -qx start "/proc/iotracer/${1:-fs}/control"
}

stopped() {
	! running "$@"
}

# column NAME: print a column of the CSV on standard input, without the header
column() {
	python3 -S -s -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row[sys.argv[1]])' "$1"
}
