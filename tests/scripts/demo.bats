#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# make demo: which kernel it chooses, and the samples of README.md, which are its output.
# Needs neither root nor the module; demo_real.bats runs the demo itself.

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/top

setup() {
	work=$(mktemp -d /tmp/iotracer-demo.XXXXXX)
	mkdir -p "$work"/{scripts,tools,boot,modules}
	cp "$TOP"/scripts/{demo,demo-inside,demo-readme,lib.sh} "$work/scripts"
	cp "$TOP/README.md" "$work"
	export IOT_BOOT=$work/boot IOT_MODULES=$work/modules IOTRACER_DEMO_VM=1
	cd "$work" || return
}

teardown() {
	cd /
	rm -rf "$work"
}

# script NAME LINE...: make a stand-in for a script of the project
script() {
	printf '%s\n' '#!/bin/sh' "${@:2}" >"scripts/$1"
	chmod +x "scripts/$1"
}

# kernel RELEASE: make a kernel that can be booted, with complete headers
kernel() {
	local dir=modules/$1/build
	touch "boot/vmlinuz-$1"
	mkdir -p "$dir"/{include/generated,scripts/mod} common
	printf 'include %s\n' "$work/common/Makefile" >"$dir/Makefile"
	printf 'kernelrelease:\n\t@echo %s\n' "$1" >common/Makefile
	for file in Module.symvers include/generated/autoconf.h scripts/mod/modpost; do
		echo x >"$dir/$file"
	done
}

@test "the demo chooses the newest kernel that can be built for, and says why not others" {
	printf 'all:\n' >tools/Makefile
	script install-deps
	script vm "echo vm \"\$*\""
	# shellcheck disable=SC2016 # for the script
	script build-all '[ "$1 $2" != "--alone 6.12.8-amd64" ]'
	for release in 6.1.0-9-amd64 6.9.1-amd64 6.12.8-amd64 6.12.9-amd64 6.12.10-amd64 6.12.11-amd64 \
		6.9.1-rt-amd64 6.9.1-cloud-amd64; do
		kernel "$release"
	done
	rm -r modules/6.12.11-amd64
	rm modules/6.12.10-amd64/build/Module.symvers
	echo "include $work/none/Makefile" >modules/6.12.9-amd64/build/Makefile
	run scripts/demo
	[ "$status" = 0 ]
	next="has no complete headers: try the next kernel"
	[[ ${lines[0]} == "demo: [  "?" s] install "* ]]
	[[ ${lines[1]} == "demo: "*" s] 6.12.11-amd64 $next" ]]
	[[ ${lines[2]} == "demo: "*" s] 6.12.10-amd64 $next" ]]
	[[ ${lines[3]} == "demo: "*" s] 6.12.9-amd64 $next" ]]
	[[ ${lines[4]} == "demo: "*" s] build the module for 6.12.8-amd64" ]]
	[[ ${lines[5]} == "demo: "*" s] the module does not build for 6.12.8-amd64 "*": try the next kernel" ]]
	[[ ${lines[6]} == "demo: "*" s] build the module for 6.9.1-amd64" ]]
	[[ ${lines[-1]} == "demo: "*" s] done" ]]
	[[ ${lines[-2]} == "vm --kernel 6.9.1-amd64 "*"/build/6.9.1-amd64/iotracer.ko /dev/vda" ]]
	# Other flavours of a version come after its plain one and before older versions.
	rm -r modules/6.9.1-amd64
	run scripts/demo
	[[ ${lines[-2]} == "vm --kernel 6.9.1-cloud-amd64 "* ]]
	rm -r modules/*
	run scripts/demo
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "demo: no kernel in /boot can be built for: install linux-image-amd64 and linux-headers-amd64" ]
}

@test "the samples of README.md are commands of the demo, in its order" {
	sed -n 's/^try "\(.*\)"$/\1/p' scripts/demo-inside | sed 's/\\"/"/g' >tried
	# shellcheck disable=SC2016 # as in the demo
	scripts/demo-readme --commands | sed -E 's|/proc/iotracer/[a-z0-9]+_[0-9]+/|/proc/iotracer/$name/|' >shown
	[ -s shown ]
	# All samples are commands of the demo; without its other commands, the order is the same.
	grep -nFxf shown tried | cut -d: -f2- | cmp - shown
}

@test "demo-readme replaces the samples with a run's output, and changes nothing else" {
	printf '%s\n' '' 'First sample:' '# echo a' 'a' '' 'Second one, with more.' '# echo b' 'b' '' 'c' >out
	printf '%s\n' 'text' '<!-- demo: First -->' '' '    # old' '' '<!-- end -->' 'more' \
		'<!-- demo: Second -->' '<!-- end -->' 'last' >README.md
	scripts/demo-readme out
	diff - README.md <<-'EOF'
		text
		<!-- demo: First -->
		    # echo a
		    a
		<!-- end -->
		more
		<!-- demo: Second -->
		    # echo b
		    b
		    c
		<!-- end -->
		last
	EOF
	cp README.md before
	scripts/demo-readme out
	cmp README.md before
	[ "$(scripts/demo-readme --commands)" = $'echo a\necho b' ]
	# A long command is folded after a |, where a shell continues to read.
	long="echo $(printf '%050d' 1) | cat | sed 's/$(printf '%030d' 1)/2/' | cat"
	sed -i "s;^# echo b;# $long;" out
	scripts/demo-readme out
	[ "$(scripts/demo-readme --commands)" = $'echo a\n'"$long" ]
	grep -qx "    > sed 's/0*1/2/' | cat" README.md
	run ! grep -E '.{111}' README.md
	sed -i "s/^# echo .*0.*/# echo b/" out
	scripts/demo-readme out
	sed -i 's/demo: First/demo: Third/' README.md
	cp README.md before
	run scripts/demo-readme out
	[ "$status" = 1 ]
	[ "$output" = 'demo-readme: the demo has no "Third"' ]
	cmp README.md before
}
