#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Tests the manual pages, README.md, doc/ and CONTRIBUTING.md: the examples that need no module give
# the output shown, all that exists is in its page, and all that a page names exists. Needs
# neither root nor the module; manual.bats runs the other examples.

# Tests run in subshells.
# shellcheck disable=SC2030,SC2031

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/categories

setup_file() {
	make -s -C "$TOP/tools"
}

setup() {
	PATH=$TOP/tools:$PATH
	export LC_ALL=C.UTF-8
	pages=("$TOP"/tools/man/{iotracer.8,iotracer.4,iotracer-trace.5,iotracer-vm.7})
	cd "$BATS_TEST_TMPDIR" || return
}

manual() {
	PYTHONDONTWRITEBYTECODE=1 python3 -m manual "$@"
}

@test "examples: those that need no module give the output shown" {
	manual run host tools/man/iotracer.8 tools/man/iotracer-trace.5 tools/man/iotracer-vm.7
}

@test "examples: other output and another exit status are noticed" {
	page() {
		printf '%s\n' '.SH EXAMPLES' '.\" run: host' '.\" vary: 12' .EX "$@" .EE >page
	}
	page '# echo a 13 0.123 2026\-11\-23T14:04:58Z' 'a 12 4.5678 2027\-01\-01T00:00:00Z' \
		'# false' '# echo $?' 1 '# printf \(aq1\en2\en\(aq' ...
	manual run host "$PWD/page"
	page '# echo a b' 'a  c'
	run ! manual run host "$PWD/page"
	[[ $output == *'page:4: echo a b: "a b" instead of "a  c"' ]]
	page '# echo 11' 13
	run ! manual run host "$PWD/page"
	page '# printf \(aq1\en2\en3\en\(aq' 1 ... 3
	manual run host "$PWD/page"
	page '# printf \(aq1\en2\en3\en\(aq' 1 ... 4
	run ! manual run host "$PWD/page"
	page '# printf \(aq1\en2\en\(aq' 1
	run ! manual run host "$PWD/page"
	[[ $output == *': "2" too much' ]]
	page '# true' 1
	run ! manual run host "$PWD/page"
	[[ $output == *': nothing instead of "1"' ]]
	page '# false'
	run ! manual run host "$PWD/page"
	[[ $output == *': false: exit status 1' ]]
	page '# ls -l'
	run ! manual run host "$PWD/page"
	[[ $output == *': what is typed has to be escaped: # ls -l' ]]
	page '# true'
	sed -i '/run:/d' page
	run ! manual run host "$PWD/page"
	[[ $output == *': a comment before it says where it is run: '* ]]
}

@test "each command in README.md and doc/ is run by these or other tests" {
	manual elsewhere
}

@test "iotracer(8) has each command and option, and no other" {
	manual commands
	manual environment
}

@test "iotracer(4) has each file of /proc/iotracer and each command to it, and no other" {
	manual files
	manual control
}

@test "iotracer(4) has each key, kind and operation, and no other" {
	manual filters
}

@test "iotracer(4) has each parameter with its default, and no other" {
	manual parameters
}

@test "everything that the pages refer to exists" {
	manual places
}

@test "the tables of columns are made from the schema" {
	sed -n '/^\.\\" begin: made/,/^\.\\" end$/p' "${pages[2]}" | sed '1d;$d' >manual
	iotracer format --manual | cmp - manual
	[ "$(grep -c '^\.TS' manual)" = $(($(categories | wc -l) + 1)) ] # and that of targets
}

# with_options PAGE: print the page as "make manual" writes it
with_options() {
	iotracer format --options | awk -f "$TOP/tools/man/options.awk" - "$1"
}

@test "the lists of options are made from the tool's table" {
	with_options "${pages[0]}" | cmp - "${pages[0]}"
	[ "$(grep -c '^\.\\" begin: options of' "${pages[0]}")" -ge 15 ]
}

@test "the lists of options: what differs from the table is replaced, other text stays" {
	sed '/^\.\\" begin: options of/,/^\.\\" end$/ { s/^Write /Print /; /gzip/d; s/=\\fIN\\fR/=\\fIM\\fR/ }' "${pages[0]}" >page
	run ! cmp -s page "${pages[0]}"
	with_options page | cmp - "${pages[0]}"
	printf '%s\n' '.\" begin: options of log' .TP '\fB\-\-frob\fR' '.\" more' Text. '.\" end' >page
	run ! with_options page
	[[ $output == *'log has no option --frob, but text behind .\" more'* ]]
	printf '%s\n' '.\" begin: options of log format frob' '.\" end' >page
	run ! with_options page
	[[ $output == *'no such command or option: '* ]]
}

@test "the pages are formatted without warnings" {
	local page
	for page in "${pages[@]}"; do
		[ -z "$(groff -t -man -Tutf8 -ww -z "$page" 2>&1)" ]
		[ -z "$(MANWIDTH=80 man --warnings=w -l "$page" 2>&1 >/dev/null)" ]
		! command -v mandoc >/dev/null || mandoc -T lint "$page"
	done
}
