#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Runs what make demo runs, from loading the module on. It has to succeed, and to print the
# samples of README.md.
#
# bats file_tags=once

bats_require_minimum_version 1.5.0

load ../lib/helpers

teardown_file() {
	unload_module
}

# events FILE: level, direction, size and thread name of the events in its samples
events() {
	awk -F ';' '/^    [0-9.]+;[RW];/ { print $5, $2, $4, $6 }' "$1"
}

@test "the demo succeeds, and prints each sample of README.md" {
	"$TOP/scripts/demo-inside" "$(ko)" /dev/vda >"$BATS_TEST_TMPDIR/out" || { cat "$BATS_TEST_TMPDIR/out"; false; }
	cd "$BATS_TEST_TMPDIR"
	mkdir scripts
	cp "$TOP/scripts/demo-readme" scripts
	cp "$TOP/README.md" .
	scripts/demo-readme out
	# Times, sectors, names of targets and process ids differ; the commands and their events do not.
	diff <(scripts/demo-readme --commands) <("$TOP/scripts/demo-readme" --commands)
	[ ! -d /sys/module/iotracer ]
	[ ! -d /mnt/demo ]
	diff <(events README.md) <(events "$TOP/README.md")
}
