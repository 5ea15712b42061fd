#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What the parser of Open-CAS iotrace says about a trace: each row of its output is a test here, with the command
# of ours that has the figure. One trace of nine requests and six calls, worked out by hand, is in open_cas.py.
# Each figure has a suite of its own that tests it in depth.
#
# bats file_tags=host

load ../lib/known

@test "Open-CAS, list of I/O: sector, length, operation, error, latency, queue depth, hint, class, flags, device, partition" {
	known list_io
}

@test "Open-CAS, list of I/O: file, its offset, its size and path" {
	known list_file
}

@test "Open-CAS, list of I/O: create, delete, move and access of files" {
	known list_events
}

@test "Open-CAS, list of I/O: raw" {
	known list_raw
}

@test "Open-CAS, statistics: a row for each device and each of read, write, discard, flush; a total" {
	known statistics_rows
}

@test "Open-CAS, statistics: size: average, min, max, count, total and percentiles" {
	known statistics_size
}

@test "Open-CAS, statistics: latency: average, min, max, count, total and percentiles" {
	known statistics_latency
}

@test "Open-CAS, statistics: errors, duration, IOPS and MiB/s" {
	known statistics_rates
}

@test "Open-CAS, statistics: working set" {
	known statistics_workset
}

@test "Open-CAS, statistics of filesystems: by directory, extension and prefix of the name, write invalidation factor" {
	known statistics_fs
}

@test "Open-CAS, histogram of latency: bucket size and subrange, by device and operation" {
	known histogram_latency
}

@test "Open-CAS, histogram of I/O size" {
	known histogram_size
}

@test "Open-CAS, histogram of queue depth" {
	known histogram_depth
}

@test "Open-CAS, histogram of LBA: bucket size and subrange" {
	known histogram_lba
}

@test "Open-CAS, LRU: hit ratio by size of the cache" {
	known lru
}

@test "Open-CAS, LRU: how far back the block was accessed" {
	known distance
}

@test "Open-CAS, devices of the trace" {
	known devices
}

@test "Open-CAS, I/O classes" {
	known classes
}

@test "Open-CAS, JSON and CSV have the same figures" {
	known formats
}
