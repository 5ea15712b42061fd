#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer sql` and `iotracer export --format=sqlite`: queries of traces whose events are known, as in
# stats.bats. sql.py says what is in them, and computes each answer in another way.
#
# bats file_tags=host

load ../lib/known

@test "sql: each column of each category has the value that export shows" {
	known columns
}

@test "sql: numbers are integers, also the largest, and all else is text" {
	known types
}

@test "sql: a condition selects the same rows whoever checks it" {
	known conditions
}

@test "sql: a list of values and two conditions of one are one scan" {
	known plans
}

@test "sql: sums are those of stats, and of sqlite over the exported rows" {
	known sums
}

@test "sql: the ten queries of examples/queries.sql, answered by hand" {
	known examples
}

@test "sql: --filter, --from, --to and --categories select as export does" {
	known selected
}

@test "sql: _trace has what is lost, missed, unreadable and sampled, and damage is a failure" {
	known missing
}

@test "sql: the traces and hosts of a merged trace" {
	known merged
}

@test "sql: a query only reads: no other statement, no file, no other database" {
	known refused
}

@test "sql: statements from standard input, up to the first that fails" {
	known input
}

@test "sql: text, CSV and JSON of all kinds of values" {
	known formats
}

@test "sql: a name that looks like a formula, or controls a terminal, does neither" {
	known names
}

@test "sql: at a prompt, ^C ends the query and not the program" {
	known prompt
}

@test "sql: a mistake has one line" {
	known mistakes
}

@test "export --format=sqlite: the tables of sql, whole and with indexes" {
	known database
}

@test "export --format=sqlite: names are hashed, and the options that select do" {
	known hidden
}

@test "export --format=sqlite: a killed one, and one that has no room, leave no file" {
	known killed
}
