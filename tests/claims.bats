#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Tests scripts/claims: what it takes for a promise, and that it notices a promise without a test,
# words that are not there any more, and tests and figures that do not exist. scripts/lint checks
# tests/claims itself.

# shellcheck disable=SC2016 # words of Markdown

bats_require_minimum_version 1.5.0

# bats file_tags=host

setup() {
	top=$BATS_TEST_TMPDIR/copy
	mkdir -p "$top/tests/bench"
	cd "$BATS_TEST_DIRNAME/.." || return
	cp -r --parents README.md scripts/claims scripts/check tools/*.[4578] tests/*.bats tests/claims{,.py} \
		tests/manual.py tests/bench "$top"
	cd "$top" || return
}

# noticed WORDS: only this is wrong
noticed() {
	run scripts/claims check
	echo "$output"
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"$1"* ]]
}

# after LINE TEXT: put text behind the first line of README.md or of a page that has these words
after() {
	grep -qF -- "$2" "$1"
	python3 -c 'import sys
name, words, text = sys.argv[1:]
lines = open(name).read().split("\n")
at = next(i for i, line in enumerate(lines) if words in line)
lines[at + 1:at + 1] = text.split("\n")
open(name, "w").write("\n".join(lines))' "$@"
}

@test "claims: nothing is wrong, and the table has a row for each quotation" {
	run -0 scripts/claims check
	[ -z "$output" ]
	scripts/claims >table
	[ "$(head -n 2 table)" = $'| where | claim | shown by |\n|---|---|---|' ]
	[ "$(wc -l <table)" = $(($(grep -cvE $'^(#|==|\t|$)' tests/claims) + 2)) ]
	[ "$(wc -l <table)" -gt 400 ]
}

@test "claims: a promise without a line is noticed: bullet, row and paragraph of README.md" {
	after README.md '- all: `missed` counts' '- all: it never fails.'
	noticed 'README.md, Limits: no line for: all: it never fails.'
	cp "$BATS_TEST_DIRNAME/../README.md" .
	after README.md '| `format [--columns]`' '| `add --fast` | traces at no cost |'
	noticed 'README.md, Commands of the tool: no line for: `add --fast` | traces at no cost'
	cp "$BATS_TEST_DIRNAME/../README.md" .
	after README.md '## Install' $'\nIt is installed in a second.'
	noticed 'README.md, Install: no line for: It is installed in a second.'
}

@test "claims: a promise without a line is noticed: option, item and command of iotracer(8)" {
	sed -i '/^\.SS list$/,/^\.PP$/s/^\.RB \[ .*/&\n.RB [ \\-q | \\-\\-quick ]/' tools/iotracer.8
	noticed 'iotracer(8), list: no line for: [-q|--quick]'
	cp "$BATS_TEST_DIRNAME/../tools/iotracer.8" tools
	sed -i '/^\.SS list$/,/^\.SS status$/s/^\.SS status$/.TP\n.BR \\-\\-quick\nIs quick.\n&/' tools/iotracer.8
	noticed 'iotracer(8), list: no line for: --quick Is quick.'
	cp "$BATS_TEST_DIRNAME/../tools/iotracer.8" tools
	sed -i 's/^\.SS help$/.SS forget\n.B iotracer forget\n.PP\nForgets all.\n&/' tools/iotracer.8
	noticed 'iotracer(8), forget: no line for: Forgets all.'
}

@test "claims: a promise without a line is noticed: an item of a list of iotracer(4)" {
	sed -i '/^\.\\" begin: keys$/,/^\.\\" end$/s/^\.\\" end$/.TP\n.BI size = N\nThe size is\n.IR N .\n&/' tools/iotracer.4
	noticed 'iotracer(4), Keys of filters: no line for: size=N The size is N.'
}

@test "claims: words that are not there any more, or twice, are noticed" {
	sed -i 's/ To miss nothing use `record/ To miss less use `record/' README.md
	run scripts/claims check
	[ "$status" = 1 ]
	[[ ${lines[0]} == 'tests/claims:'*': README.md, Limits does not say: To miss nothing use `record -- COMMAND`' ]]
	cp "$BATS_TEST_DIRNAME/../README.md" .
	sed -i 's/^Stop recording; what was recorded stays$/Stop recording/; s/^Too many symbolic links$/the/' tests/claims
	run scripts/claims check
	[ "$status" = 1 ]
	[[ $output == *'iotracer(4), ERRORS says that '*' times, quote more: the'* ]]
}

@test "claims: a test, suite, row, file or part that does not exist is noticed" {
	sed -i 's/^@test "fs: as deep as was asked"/@test "fs: as deep as that"/' tests/snapshot.bats
	run scripts/claims check
	[[ $output == *'tests/snapshot.bats has no test "fs: as deep as was asked"'* ]]
	cp "$BATS_TEST_DIRNAME/snapshot.bats" tests
	while IFS='|' read -r from to words; do
		cp "$BATS_TEST_DIRNAME/claims" tests
		sed -i "0,/^\t${from//\//\\/}/s//\t${to//\//\\/}/" tests/claims
		run ! cmp -s tests/claims "$BATS_TEST_DIRNAME/claims"
		noticed "$words"
	done <<-'END'
		names: |nothing: |there is no suite tests/nothing.bats
		make bench: 6.12: loaded, no target|make bench: 5.10: loaded, no target|tests/bench/expected has no row 5.10: loaded, no target
		by hand: tests/bench/reader|by hand: tests/bench/writer|there is no tests/bench/writer
		scripts/build-all|scripts/build-none|scripts/check does not run scripts/build-none
		workloads: \* the|workloads: \* no|tests/workloads.bats has no test "* no trace of its process tree
	END
}

@test "claims: a figure that the table of make bench does not have is noticed" {
	sed -i 's/^| one target, `attach=kprobe` | 777, /| one target, `attach=kprobe` | 977, /' README.md
	sed -i 's/^one target, `attach=kprobe` | 777, /one target, `attach=kprobe` | 977, /' tests/claims
	noticed 'tests/bench/expected has no figure near 977 in these rows'
}

@test "claims: a quotation without anything behind it is noticed" {
	sed -i '/^Completes commands, options and values$/,/^$/{/^\t/d}' tests/claims
	noticed ': nothing shows: Completes commands, options and values'
}
