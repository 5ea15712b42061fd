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

@test "the demo succeeds, and prints each sample of README.md" {
	"$TOP/scripts/demo-inside" "$(ko)" /dev/vda >"$BATS_TEST_TMPDIR/out" || { cat "$BATS_TEST_TMPDIR/out"; false; }
	cd "$BATS_TEST_TMPDIR"
	mkdir scripts
	cp "$TOP/scripts/demo-readme" scripts
	cp "$TOP/README.md" .
	scripts/demo-readme out
	# Times and places differ, the commands and the number of their events do not.
	diff <(scripts/demo-readme --commands) <("$TOP/scripts/demo-readme" --commands)
	[ ! -d /sys/module/iotracer ]
	[ ! -d /mnt/demo ]
	for op in MKDIR CREATE WRITE RENAME UNLINK READ; do
		[ "$(grep -cP "^    \d{4}-.*\t?$op" README.md)" = "$(grep -cP "^    \d{4}-.*\t?$op" "$TOP/README.md")" ]
	done
}
