#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What bash, zsh and fish offer for a command line of iotracer, and the table of commands and options that
# it is made of.

# shellcheck disable=SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	work=$BATS_TEST_TMPDIR
	export IOTRACER_PROC=$work/proc IOTRACER_TRACES=$work/traces
	mkdir "$IOTRACER_PROC"
	cd "$work" || return
}

# offered WORD...: print the words that the tool itself offers, which shells choose from
offered() {
	iotracer complete -- "$@" | cut -f 1 | tr '\n' ' '
}

# zsh_completed LINE: what zsh makes of the line at the tab key
zsh_completed() {
	"$TOP/tests/tool/zsh_completed" "$TOP/tools/completion" "$1"
}

# fish_completed LINE: print what fish offers
fish_completed() {
	# shellcheck disable=SC2016
	fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$TOP/tools/completion/iotracer.fish" "$1" |
		cut -f 1 | sort | tr '\n' ' '
}

@test "bash completes commands" {
	[ "$(completed iotracer re)" = "record remove report reset " ]
	[ "$(completed iotracer help st)" = "start stats status stop " ]
	[ "$(completed iotracer "" | wc -w)" = "$(iotracer --help | sed -n '/^Commands/,/^$/p' | grep -c '^  ')" ]
}

@test "bash completes the options of each command" {
	for command in $(completed iotracer ""); do
		options=$(iotracer "$command" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -o -- '--.*' | sort -u | tr '\n' ' ')
		[ -n "$options" ]
		[ "$(completed iotracer "$command" --)" = "$options" ]
	done
	[ "$(completed iotracer record --ti)" = "--time " ]
}

@test "bash completes values of options" {
	[ "$(completed iotracer log --format = js)" = "json " ]
	[ "$(completed iotracer export -f "")" = "blktrace csv ctf fio folded fuse json msr perfetto sqlite " ]
	[ "$(completed iotracer record -c "")" = "$({ echo all; categories; } | sort | tr '\n' ' ')" ]
	[ "$(completed iotracer record --label "")" = " " ]
}

@test "bash completes files and categories" {
	cd "$work"
	touch file-a file-b
	[ "$(completed iotracer log --follow f)" = "$({ ls; categories; } | grep '^f' | sort | tr '\n' ' ')" ]
	[ "$(completed iotracer add f)" = "file-a file-b " ]
}

@test "bash completes the command to record" {
	[[ " $(completed iotracer record -o t -- bas)" == *" bash "* ]]
}

@test "bash completes what is behind = and :, which it takes for words of their own" {
	touch file:a file:b
	[ "$(completed iotracer record -f op = REN)" = "RENAME " ]
	[ "$(completed iotracer record -f fs : op = RENAME,REN)" = " " ]
	[ "$(completed iotracer record -f fs : op = RENAME,READL)" = "RENAME,READLINK " ]
	[ "$(completed iotracer record --output = pr)" = "proc " ]
	[ "$(completed iotracer add file :)" = "a b " ]
}

@test "zsh completes commands, options, values, files and the command to record" {
	touch file-a
	[ "$(zsh_completed 'iotracer rec')" = "iotracer record " ]
	[ "$(zsh_completed 'iotracer record --ti')" = "iotracer record --time " ]
	[ "$(zsh_completed 'iotracer log --format=js')" = "iotracer log --format=json " ]
	[ "$(zsh_completed 'iotracer record -f fs:op=RENA')" = "iotracer record -f fs:op=RENAME " ]
	[ "$(zsh_completed 'iotracer record -f min_s')" = "iotracer record -f min_size=" ]
	[ "$(zsh_completed 'iotracer record -c fs,bl')" = "iotracer record -c fs,block " ]
	[ "$(zsh_completed 'iotracer add fil')" = "iotracer add file-a " ]
	[ "$(zsh_completed 'iotracer record --output=pro')" = "iotracer record --output=proc/" ]
	[ "$(zsh_completed 'iotracer record -o t -- basenam')" = "iotracer record -o t -- basename " ]
}

@test "fish completes commands, options, values, files and the command to record" {
	touch file-a
	[ "$(fish_completed 'iotracer re')" = "record remove report reset " ]
	[ "$(fish_completed 'iotracer record --ti')" = "--time " ]
	[ "$(fish_completed 'iotracer log --format=js')" = "--format=json " ]
	[ "$(fish_completed 'iotracer record -f fs:op=RENA')" = "fs:op=RENAME " ]
	[ "$(fish_completed 'iotracer add fil')" = "file-a " ]
	[ "$(fish_completed 'iotracer record --output=pro')" = "--output=proc/ " ]
	[[ " $(fish_completed 'iotracer record -o t -- basenam') " == *" basename "* ]]
}

@test "what is offered: targets, traces, actions, conditions, and only what fits" {
	touch file
	target sda1_1 "$work/file"
	mkdir -p "$IOTRACER_TRACES/20260101-120000"
	echo '{}' >"$IOTRACER_TRACES/20260101-120000/metadata.json"
	[[ $(offered log sda) == "sda1_1 "* ]]
	[ "$(offered traces show 2026 | cut -d ' ' -f 1)" = "20260101-120000" ]
	[ "$(offered snapshot "")" = "fs process system " ]
	[[ " $(offered snapshot fs --)" == *" --depth "* ]]
	[[ " $(offered snapshot process --)" != *" --depth "* ]]
	[ "$(offered record -c fs,f)" = "fs,fault " ]
	[ "$(offered filter fs min_l)" = "min_latency= " ]
	[ -z "$(offered filter cache min_l)" ]
	[ "$(offered filter fs op=READ,READD)" = "op=READ,READDIR " ]
	[ -z "$(offered filter fs op=HI)" ]
	[ "$(offered export --filter pat)" = "path= " ]
	[ "$(offered stats --filter pat)" = "path= " ]
	[ "$(offered stats --by op,proc)" = "op,process " ]
	[ "$(offered record --filter fs:pat)" = "fs:path= " ]
	[ -z "$(offered record --filter cache:pat)" ]
	[ "$(offered record --filter rej)" = "rejected= " ]
	[ "$(offered record --filter net:por)" = "net:port= " ]
	[ -z "$(offered record --filter sockopt:por)" ]
	[ "$(offered filter sockopt fam)" = "family= " ]
	[ "$(offered filter net family=unix,inet)" = "family=unix,inet family=unix,inet6 " ]
	[ "$(offered export --filter proto=udpl)" = "proto=udplite " ]
	[ "$(offered record --po)" = "--port " ]
	[[ " $(offered record --netns "")" == *" $$ "* ]]
	[ -z "$(offered export --filter rej)" ]
	[ "$(offered add --comm bats-no-such-name)" = "" ]
	[[ " $(offered add --pid "")" == *" $$ "* ]]
	[ "$(offered help recor)" = "record " ]
}

@test "a name with a line feed or a tab cannot pass for another value" {
	mkdir "$IOTRACER_TRACES"
	for name in $'20260101-120000\n20270101' $'20260102\tfiles'; do
		mkdir "$IOTRACER_TRACES/$name"
		touch "$IOTRACER_TRACES/$name/metadata.json"
	done
	[[ $(offered traces show 202) != *202* ]]
}

@test "the table: no command has an option or a letter twice, and each has a sentence" {
	iotracer format --options >options
	[ -z "$(cut -f 1,2 options | sort | uniq -d)" ]
	[ -z "$(awk -F '\t' '$3 != "-" { print $1, $3 }' options | sort | uniq -d)" ]
	[ -z "$(awk -F '\t' 'NF != 6 || $6 !~ /^[^ ].*[^. ]$/' options)" ]
	[ "$(cut -f 1 options | uniq | wc -l)" -ge 15 ]
}
