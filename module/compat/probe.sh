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

# The tests in one file, but for those that have failed. Each has functions of its own.
all_tests() {
	number=0
	for test in $tests; do
		number=$((number + 1))
		[ ! -e "$work/$(basename "$test" .c)" ] || continue
		printf '#line 1 "%s"\n' "$test"
		sed "s/\<\(iot_test\|probe\)\>/&_$number/g" "$test"
	done
}

# The tests in which the compiler has found an error.
failed_tests() {
	sed -nE 's|.*/compat/tests/([^/:]+)\.c:[0-9:]+ (fatal )?error: .*|\1|p' "$work/words" | sort -u
}

# The other tests that it has named: an error may be in a header, of which it says who was the first to
# include it, and in a macro of one, of which it says who uses it.
suspected_tests() {
	sed -nE 's|.*/compat/tests/([^/:]+)\.c:.*|\1|p' "$work/words" | sort -u | while read -r name; do
		[ -e "$work/$name" ] || echo "$name"
	done
}

# compile_tests COMPILER FLAGS…: compile the tests. For each that fails there is $work/NAME with the
# compiler's words. All are compiled at once, as most of the time goes into the kernel's headers,
# which they share; alone are compiled those of which the words leave doubt. Fails if an error is in none
# of them.
compile_tests() {
	# Clang gives up after 20 errors unless it is told not to.
	! "$@" --version | grep -q clang || set -- "$@" -ferror-limit=0
	set -- "$@" -Wno-missing-prototypes -Wno-missing-declarations -Werror
	while all_tests >"$work/tests.c" && ! "$@" -fsyntax-only "$work/tests.c" >"$work/words" 2>&1; do
		grep -q /compat/tests/ "$work/words" || return 1
		blamed=''
		for name in $(failed_tests); do
			cp "$work/words" "$work/$name"
			blamed=1
		done
		suspects=" $(suspected_tests | tr '\n' ' ') "
		for test in $tests; do
			name=$(basename "$test" .c)
			case $suspects in
			*" $name "*) check "$name" "$@" "$test" || blamed=1 ;;
			esac
		done
		# It ends at a header that is not there, and says nothing of the tests behind.
		grep -q ': fatal error: ' "$work/words" || return 0
		[ -n "$blamed" ] || return 1
	done
}

if ! compile_tests "$@"; then
	cat "$work/words" >&2
	echo "iotracer: the compile probes do not work with this kernel's headers (the compiler's words stand above)" >&2
	exit 1
fi
printf '/* Made by module/compat/probe.sh: what this kernel has. */\n' >"$out.new"
for test in $tests; do
	name=$(basename "$test" .c)
	if [ -e "$work/$name" ]; then verdict=no; else verdict=yes; fi
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

# The parts include the results of the tests. As many compilers run at a time as there are processors, as
# each takes 200 MB.
cp "$out.new" "$out"
running=0
for file in $files; do
	check "${file%%:*}:$(basename "$file")" "$@" "${file#*:}" &
	running=$((running + 1))
	[ $((running % $(nproc))) -ne 0 ] || wait
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
