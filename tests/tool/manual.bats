#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Runs the examples of the manual pages, of README.md and of the tutorials that need the module: each
# command must exit with the status and print the output that the page shows. manual.py describes how
# an example is marked. manual_host.bats runs the examples that need no module.

# bats file_tags=once,plain

bats_require_minimum_version 1.5.0

load ../lib/helpers

setup_file() {
	new_filesystem ext4 /dev/vda /srv
}

teardown_file() {
	umount /srv
}

# The machine that the examples assume: a file of 512 KiB on a disk, with the inode number 12,
# and the module loaded; "modprobe iotracer" finds it.
setup() {
	local bin=$BATS_TEST_TMPDIR/bin
	mkdir "$bin"
	printf '#!/bin/sh\nshift\nexec insmod "%s" "$@"\n' "$(ko)" >"$bin/modprobe"
	chmod 755 "$bin/modprobe"
	PATH=$bin:$TOP/tools:$PATH
	export LC_ALL=C.UTF-8
	rm -rf /srv/*
	touch /srv/first
	dd if=/dev/zero of=/srv/data bs=512k count=1 conv=fsync status=none
	cd /srv || return
	load_module
}

teardown() {
	[ -z "${writer:-}" ] || { kill "$writer"; wait "$writer" || true; }
	cd /
	unload_module
}

examples() {
	PYTHONPYCACHEPREFIX=/tmp/pycache python3 -S -s -m manual run vm "$@"
}

@test "the examples of iotracer(8)" {
	examples tools/man/iotracer.8
}

@test "the examples of iotracer(4)" {
	examples tools/man/iotracer.4
}

@test "the examples of iotracer-trace(5)" {
	examples tools/man/iotracer-trace.5
}

# Here is who writes to the disk, and something to build.
@test "the examples of README.md" {
	echo 'int main(void) { return 0; }' >hello.c
	(cd / && while sleep 1; do
		dd if=/dev/zero of=/srv/data bs=1M count=1 conv=notrunc,fsync status=none
	done) 3>&- &
	writer=$!
	examples README.md
}

@test "the examples of the tutorial on a database" {
	examples doc/tutorial-database.md
}

@test "the examples of the tutorial on a build" {
	examples doc/tutorial-build.md
}
