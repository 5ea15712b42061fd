#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# probe.sh OUT TEST.c… [--part NAME FILE.c…]… -- COMPILER FLAGS…
# Writes OUT, for the kernel that the flags belong to:
#   #define IOT_HAVE_<TEST> 1           for each test that compiles. must-compile.c has to compile
#       and must-fail.c must not. Otherwise the probes prove nothing and the build ends. It also
#       ends if must-be-new.c does not compile.
#   #define IOT_WITHOUT_<NAME> "why"    for each part with a file that does not compile. The
#       module is built without the part, and a message reports that. why is the first error of
#       the compiler.
#   #define IOT_LEFT_OUT                all of the latter, for a table: { "name", "why" }, …
set -u
export LC_ALL=C

out=$1
shift
tests='' files='' part=''
while [ "$1" != -- ]; do
	case $1 in
	--part) shift; part=$1 ;;
	*) [ -n "$part" ] && files="$files $part:$1" || tests="$tests $1" ;;
	esac
	shift
done
shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

macro() {
	printf '%s' "$2_$1" | tr 'a-z-' 'A-Z_'
}

# check NAME COMPILER FLAGS…: the compiler's output goes to $work/NAME, or NAME.ok if it succeeds
check() {
	checked=$1
	shift
	"$@" -fsyntax-only >"$work/$checked" 2>&1 && mv "$work/$checked" "$work/$checked.ok"
}

for test in $tests; do
	check "$(basename "$test" .c)" "$@" -Wno-missing-prototypes -Wno-missing-declarations \
		-Werror "$test" &
done
wait
printf '/* Made by module/compat/probe.sh: what this kernel has. */\n' >"$out.new"
for test in $tests; do
	name=$(basename "$test" .c)
	if [ -e "$work/$name.ok" ]; then verdict=yes; else verdict=no; fi
	case $name/$verdict in
	must-be-new/no)
		echo "iotracer: this kernel is too old: 6.1 is the first that iotracer works with" >&2
		exit 1 ;;
	must-compile/no)
		cat "$work/$name" >&2
		echo "iotracer: the compile probes do not work with this kernel's headers: $test does not compile (the compiler's words stand above)" >&2
		exit 1 ;;
	must-fail/yes)
		echo "iotracer: the compile probes do not work with this compiler: $test compiles, but must not" >&2
		exit 1 ;;
	must-*) ;;
	*/yes) echo "#define $(macro "$name" IOT_HAVE) 1" >>"$out.new" ;;
	esac
done

# The parts include the results of the tests.
cp "$out.new" "$out"
for file in $files; do
	check "${file%%:*}:$(basename "$file")" "$@" "${file#*:}" &
done
wait
for file in $files; do
	part=${file%%:*} words=$work/${file%%:*}:$(basename "$file")
	[ -e "$words" ] || continue
	! grep -q "^#define $(macro "$part" IOT_WITHOUT) " "$out.new" || continue
	why=$(sed -n "s/^.*\/\(module\/[^ ]*: \)/\1/; / error: /{s/ error: / /; s/[\\\\\"]/'/g; s/[^ -~]/?/g; p; q;}" \
		"$words" | cut -c 1-160)
	echo "#define $(macro "$part" IOT_WITHOUT) \"${why:-the compiler failed}\"" >>"$out.new"
	echo "iotracer: $part is left out, as it does not compile for this kernel: ${why:-the compiler failed}" >&2
done
list=$(awk '/^#define IOT_WITHOUT_/ {
	printf " { \"%s\", %s },", tolower(substr($2, length("IOT_WITHOUT_") + 1)), $2
}' "$out.new")
printf '#define IOT_LEFT_OUT%s\n' "$list" >>"$out.new"
mv "$out.new" "$out"
