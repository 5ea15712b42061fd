#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# probe.sh OUT TEST.c… -- COMPILER FLAGS…
# Writes OUT: "#define IOT_HAVE_<TEST> 1" for each test that compiles against
# the kernel that the flags belong to. must-compile.c has to compile and
# must-fail.c has not to; otherwise the probes prove nothing and the build ends.
set -u

out=$1
shift
tests=
while [ "$1" != -- ]; do
	tests="$tests $1"
	shift
done
shift

compiles() {
	"$@" -Wno-missing-prototypes -Wno-missing-declarations \
		-Werror -fsyntax-only "$test" >"$out.log" 2>&1
}

printf '/* Made by module/compat/probe.sh: what this kernel has. */\n' >"$out.new"
for test in $tests; do
	name=$(basename "$test" .c)
	if compiles "$@"; then verdict=yes; else verdict=no; fi
	case $name/$verdict in
	must-compile/no)
		cat "$out.log" >&2
		echo "iotracer: the compile probes do not work with this kernel's headers: $test does not compile (the compiler's words stand above)" >&2
		exit 1 ;;
	must-fail/yes)
		echo "iotracer: the compile probes do not work with this compiler: $test compiles, but must not" >&2
		exit 1 ;;
	must-*) ;;
	*/yes)
		macro=$(printf '%s' "$name" | tr 'a-z-' 'A-Z_')
		echo "#define IOT_HAVE_$macro 1" >>"$out.new" ;;
	esac
done
rm -f "$out.log"
mv "$out.new" "$out"
