#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer export --format=ctf`: traces whose events are known, read by babeltrace2 and its Python module. ctf.py
# says what is in the traces.
#
# bats file_tags=host

load ../lib/known

@test "ctf: each row of CSV is an event with its name, its time and the same fields, in every category" {
	known rows
}

@test "ctf: babeltrace2 prints a few events, worked out by hand" {
	known by_hand
}

@test "ctf: many packets" {
	known packets
}

@test "ctf: missing events are discarded events, and counted in the environment" {
	known missing
}

@test "ctf: --filter, --from, --to and --category select as they do for CSV" {
	known selected
}

@test "ctf: --anonymize hides what it hides in CSV" {
	known anonymized
}

@test "ctf: hostile names, operations and times" {
	known hostile
}

@test "ctf: a mistake has one line" {
	known mistakes
}
