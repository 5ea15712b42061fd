#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer export` to the formats of other programs, each read by the program that it is for: fio
# replays, blkparse, btt and iowatcher read. The traces are recorded from a directory that looks like
# /proc/iotracer, so neither root nor the module is needed; export_formats.py says what is in them.
#
# bats file_tags=host

load ../lib/known

@test "export fio: a log of files, worked out by hand" {
	known fio_by_hand
}

@test "export fio: fio moves the same bytes of the same files in the same order" {
	known fio_replays
}

@test "export fio: names that fio could not read, and those of other files" {
	known fio_names
}

@test "export fio: fio replays the requests of a disk in the same order" {
	known fio_block
}

@test "export blktrace: blkparse shows each step, and counts as we do" {
	known blkparse_steps
}

@test "export blktrace: blkparse has the sums of many requests, of several disks and CPUs" {
	known blkparse_sums
}

@test "export blktrace: btt has the latencies of the records, and iowatcher draws" {
	known btt_latencies
}

@test "export blktrace: numbers of disks, names of files, errors, and sizes that do not fit" {
	known blktrace_odd
}

@test "export msr: lines, worked out by hand" {
	known msr_by_hand
}

@test "export msr: a merged trace has the host of each" {
	known msr_merged
}

@test "export folded: lines, worked out by hand" {
	known folded_by_hand
}

@test "export folded: sums are those of sqlite3 over the exported rows" {
	known folded_sums
}

@test "export: other formats select and anonymize as rows do" {
	known selected
}

@test "export: what other formats leave out is counted" {
	known left_out
}

@test "export: events are sorted also if they do not fit in memory" {
	local objects
	mapfile -t objects < <(printf '%s\n' "$TOP"/tools/base/*.o)
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$TOP/module" -I"$TOP/tools" -pthread -o sorter-laws \
		"$TOP/tests/unit/sorter-laws.c" "$TOP/tools/trace/sorter.o" "${objects[@]}" \
		"$TOP"/tools/core-*.o -ljansson
	./sorter-laws
	# nothing is left of the temporary files
	[ -z "$(find . -name 'iotracer-sort*')" ]
}

@test "export: mistakes with other formats have one line" {
	known mistakes
}

@test "export: hostile records end no other format" {
	known hostile
}
