#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# libiotracer: what it says of a trace is what iotracer export says, its examples run where it was
# installed, it never prints and never ends a program, and no lack of memory and no damage of a trace
# harms who uses it. The traces are recorded from a directory that looks like /proc/iotracer.

# Tests run in subshells, and "run --separate-stderr" sets stderr_lines. "json" is a format, too.
# shellcheck disable=SC2030,SC2031,SC2094,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
	make -s -C "$TOP/tools" install DESTDIR="$BATS_FILE_TMPDIR/root" PREFIX=/opt/iotracer
	cp -r "$TOP/tools/examples" "$BATS_FILE_TMPDIR/outside"
	cd "$BATS_FILE_TMPDIR/outside" || return
	for name in print files follow; do
		# shellcheck disable=SC2046 # several words
		cc -Wall -Wextra -Werror -O2 -o "$name" "$name.c" $(installed --cflags --libs)
	done
	# shellcheck disable=SC2046 # several words
	cc -Wall -Wextra -Werror -O2 -D_GNU_SOURCE -o library-laws "$TOP/tests/unit/library-laws.c" \
		$(installed --cflags --libs)
}

# installed OPTION...: what pkg-config says of the library that was installed
installed() {
	PKG_CONFIG_SYSROOT_DIR=$BATS_FILE_TMPDIR/root \
		PKG_CONFIG_PATH=$BATS_FILE_TMPDIR/root/opt/iotracer/lib/pkgconfig pkg-config "$@" libiotracer
}

setup() {
	use_tool
	PATH=$BATS_FILE_TMPDIR/outside:$PATH
	export LD_LIBRARY_PATH=$BATS_FILE_TMPDIR/root/opt/iotracer/lib
	export PYTHONDONTWRITEBYTECODE=1
	work=$(mktemp -d /tmp/iotracer-library.XXXXXX)
	cd "$work" || return
	export IOTRACER_PROC=$work/proc
	for name in $(categories); do
		idle_category "$name"
		tool-stream layout=1 event="$(event_id "$name")" </dev/null >"proc/$name/stream"
	done
	tool-stream layout=2 </dev/null >proc/paths
	touch proc/control
}

teardown() {
	cd /
	rm -rf "$work"
}

# every_category: give each category a stream with the events on standard input, each a little later
# than the one before, and paths
every_category() {
	local name late=0
	cat >fields
	for name in $(categories); do
		awk -v late=$((late += 7)) '{ sub(/time=[0-9]+/, "time=" (substr($3, 6) + late)); print }' fields |
			tool-stream layout=1 event="$(event_id "$name")" any=1 >"proc/$name/stream"
	done
	tool-stream layout=2 >proc/paths <<-'END'
		id=1 inode=11 device=0x0fd00001 text=/home/ann/a,b.txt
		id=2 inode=12 device=0x0fd00001 text=/home/ann/say\040"hi"
		id=4 text=/home/ann/new\012line.tar.gz
	END
}

a_few() {
	every_category <<-'END'
		cpu=0 seq=0 time=1000000000 latency=500 op=4 pid=7 comm=cat path=1 inode=11 device=0x0fd00001
		cpu=0 seq=1 time=1000001000 latency=10 op=0 pid=7 comm==cat path=1
		cpu=1 seq=5 time=1000000600 latency=20 op=1 pid=9 comm=m,"v path=2 inode=18446744073709551615
		cpu=1 seq=6 time=1000000100 latency=2000 op=99 pid=9 path=3
		cpu=2 seq=3 time=1000000101 latency=1999 op=1 pid=4294967295 comm=\033[1m path=4 gap=3
	END
}

# record TRACE [OPTION]...
record() {
	iotracer record -o "$@" -- true 2>"$work/summary" || { cat "$work/summary"; return 1; }
}

# --- what it gives ----------------------------------------------------------------------

@test "rows are those of export, byte for byte, in CSV and JSON" {
	a_few
	record t -c all
	for name in $(categories); do
		iotracer export t --category="$name" >csv 2>said
		print t "$name" >printed 2>told
		cmp csv printed
		sed 's/^iotracer: //' said | cmp - <(sed 's/^print: //' told)
		iotracer export t --category="$name" -f json >json 2>/dev/null
		python3 -m iotracer t "$name" | cmp json -
		[ "$(wc -l <json)" = 5 ]
	done
}

@test "the order over categories is that of the times at which events ended" {
	a_few
	record t -c all
	python3 - <<-'END'
		import iotracer
		with iotracer.Trace('t') as t:
		    rows = [(r.end, t.categories.index(r.category), r.text('comm')) for r in t.records()]
		    some = [(r.end, t.categories.index(r.category), r.text('comm')) for r in t.records('block', 'fs')]
		    assert len(rows) == 5 * len(t.categories), rows
		    # of one CPU records stay in order, so these are sorted but for what began later
		    assert [r[:2] for r in rows] == sorted(r[:2] for r in rows), rows
		    wanted = [t.categories.index(name) for name in ('block', 'fs')]
		    assert some == [r for r in rows if r[1] in wanted]
	END
}

@test "of a time with two ends there is what export has of it" {
	a_few
	record t
	begin=$(iotracer export t 2>/dev/null | head -n 3 | tail -n 1 | cut -d , -f 1)
	iotracer export t --from="$begin" >later 2>/dev/null
	python3 - <<-'END'
		import iotracer
		with iotracer.Trace('t') as t:
		    times = sorted(t.wall(r.time) for r in t.records())
		    assert len(times) == 5
		    for begin in times + [0]:
		        for end in times + [2**64 - 1]:
		            got = [t.wall(r.time) for r in t.records(begin=begin, end=end)]
		            assert sorted(got) == [x for x in times if begin <= x < end]
	END
}

@test "state, counts, host and clocks are those of metadata.json" {
	a_few
	sed -i '$a missed 0' proc/fs/stats
	record t -c fs,block
	python3 - <<-'END'
		import iotracer, json
		m = json.load(open('t/metadata.json'))
		with iotracer.Trace('t') as t:
		    assert t.state == m['state'] == 'LOSSY', t.state
		    assert (t.host, t.kernel) == (m['host'], m['kernel'])
		    assert t.begin == (m['begin']['monotonic_ns'], m['begin']['realtime_ns'])
		    assert t.end == (m['end']['monotonic_ns'], m['end']['realtime_ns'])
		    assert t.wall(t.begin.monotonic) == t.begin.wall
		    assert abs(t.wall(t.end.monotonic) - t.end.wall) < 1000
		    assert t.categories == [c['name'] for c in m['categories']] == ['fs', 'block']
		    assert [t.counts(c['name']) for c in m['categories']] == \
		        [(c['events'], c['lost'], c['missed']) for c in m['categories']]
		    records = t.records('fs')
		    assert sum(1 for _ in records) == t.counts('fs').events == 5
		    assert records.losses == (5, 3, 0, 0), records.losses
		    assert not t.is_damaged and not t.is_recorded and t.reason == ''
	END
	jq '.state = "ERROR" | .reason = "the disk is full"' t/metadata.json >changed
	mv changed t/metadata.json
	seal_metadata t
	python3 - <<-'END'
		import iotracer
		told = []
		with iotracer.Trace('t', report=told.append) as t:
		    assert (t.state, t.reason, t.is_damaged) == ('ERROR', 'the disk is full', True)
		assert told == ['t: recording ended with an error: the disk is full'], told
	END
}

@test "fields are those of the schema: by name, as numbers and as text" {
	a_few
	record t
	python3 - <<-'END'
		import iotracer, json
		events = json.load(open('t/schema.json'))
		for event in events['events']:
		    ours = iotracer.EVENTS[event['name']]
		    assert (ours.id, ours.size, ours.text) == (event['id'], event['size'], event['text'])
		    assert [f._asdict() for f in ours.fields.values()] == event['fields']
		for op in events['operations']:
		    assert iotracer.EVENTS[op['event']].op(op['id']) == (op['name'] or None)
		assert len(iotracer.EVENTS) == len(events['events'])
		with iotracer.Trace('t') as t:
		    for r in t.records():
		        shown = json.loads(r.json())
		        assert r['seq'] == shown['seq'] and r['pid'] == shown['pid']
		        assert r.text('comm') == shown['comm'] and r.text('path') == shown['path']
		        assert r.text('op') == shown['op'] and r.op == (shown['op'] if shown['op'] != '99' else '')
		        assert t.path(r['path']) == (None if shown['path'] == '?' else shown['path'])
		        assert len(r.data) == r.event.size
		        for field in r.event.fields:
		            assert r.event.unpack(r.data, field) == r[field], field
		            assert field not in ('comm', 'disk') or b'\0' not in r[field]
		            try:
		                r.text(field)
		            except iotracer.Error as e:
		                assert e.code == 'NOT_FOUND' and field == 'reserved'
		        try:
		            r.text('nonsense')
		            raise AssertionError
		        except iotracer.Error as e:
		            assert e.code == 'NOT_FOUND'
		    assert t.path(0) == '' and t.path(77) is None
	END
}

@test "a command line, and what a merged trace is of, are in the rows" {
	a_few
	record a --compress=never
	record b
	with_trace_file <<-'END'
		add_note("a/fs.iot", 0, 0, b"cat\0a b")
	END
	iotracer traces merge -o both a b
	for t in a both; do
		iotracer export $t >csv 2>/dev/null || true
		print $t 2>/dev/null | cmp csv -
	done
	python3 - <<-'END'
		import iotracer
		with iotracer.Trace('a') as t:
		    assert [r.command for r in t.records() if r['seq'] == 0] == [b'cat\0a b']
	END
}

# --- errors -----------------------------------------------------------------------------

@test "an error has a code and a text, and nothing is open then" {
	a_few
	record t
	cp -r t old
	sed -i 's/"stream_version": 3/"stream_version": 2/' t/metadata.json
	seal_metadata t
	printf '\001' | dd of=old/fs.iot bs=1 seek=8 conv=notrunc status=none
	seal_header old/fs.iot
	sed -i 's/"stream_version": 3/"stream_version": 1/' old/metadata.json
	seal_metadata old
	mkdir strange empty
	echo '[1]' >strange/metadata.json
	cp -r t secret
	chmod 0 secret/metadata.json
	chmod 777 .
	cat >code.py <<-'END'
		import iotracer, os, sys
		before = os.listdir('/proc/self/fd')
		try:
		    with iotracer.Trace(sys.argv[1], live=len(sys.argv) > 3) as t:
		        for _ in t.records(*sys.argv[2].split()):
		            pass
		except iotracer.Error as e:
		    print(e.code, e)
		assert os.listdir('/proc/self/fd') == before
	END
	chmod 644 code.py
	[[ $(python3 code.py nowhere '') == 'NOT_FOUND nowhere/metadata.json: cannot read: No such file'* ]]
	[[ $(python3 code.py empty '') == NOT_FOUND* ]]
	[[ $(python3 code.py t/fs.iot '') == NOT_FOUND* ]]
	[[ $(python3 code.py strange '') == 'UNREADABLE strange/metadata.json: is damaged: no object' ]]
	[[ $(python3 code.py t block) == 'NOT_FOUND t has no category block' ]]
	[[ $(python3 code.py old fs) == 'FOREIGN old/fs.iot: the trace has stream version 1'* ]]
	rm t/fs.iot
	[[ $(python3 code.py t fs) == 'UNREADABLE t/fs.iot: cannot read: No such file or directory' ]]
	[[ $(python3 code.py nothing '' live) == 'NOT_FOUND nothing: not traced: no such file'* ]]
	rm -r proc/cache
	[[ $(python3 code.py cache '' live) == 'UNREADABLE cache: the module that is loaded has no such category' ]]
	[[ $(IOTRACER_PROC=$work/none python3 code.py fs '' live) == 'NO_MODULE '*'the module is not loaded'* ]]
	tool-stream layout=1 event=2 version=7 </dev/null >proc/fs/stream
	[[ $(python3 code.py fs '' live) == 'FOREIGN fs: the module writes stream version 7'* ]]
	printf x >proc/fs/stream
	[[ $(python3 code.py fs '' live) == 'UNREADABLE fs: its stream ends within the header' ]]
	[ "$(id -u)" != 0 ] || cp -r "$TOP/tools/python/iotracer.py" "$TOP/tools/libiotracer.so.0" .
	if [ "$(id -u)" = 0 ]; then
		export PYTHONPATH=$work/python
		mkdir python
		mv iotracer.py python/
		chmod 755 . python
	fi
	[[ $(unprivileged python3 code.py secret '') == 'DENIED secret/metadata.json: cannot read: Permission denied'* ]]
}

@test "what is missing is told as the tool tells it, and counted" {
	small_trace t --compress=never
	printf X | dd of=t/fs.iot bs=1 seek=$((2 * 4096 + 500)) conv=notrunc status=none
	truncate -s $((4 * 4096 + 1000)) t/fs.iot
	run -1 --separate-stderr iotracer export t
	print t >csv 2>told
	[ "$(wc -l <csv)" = 25 ]
	printf '%s\n' "$output" | cmp - csv
	printf '%s\n' "$stderr" | sed 's/^iotracer: //; $d' | cmp - <(sed 's/^print: //' told)
	python3 - <<-'END'
		import iotracer
		with iotracer.Trace('t') as t:
		    records = t.records()
		    assert sum(1 for _ in records) == 24
		    assert records.losses == (24, 3, 24, 4), records.losses
		    assert t.is_damaged
	END
}

# --- streams ----------------------------------------------------------------------------

@test "a stream is read as far as it goes, and on when there is more" {
	a_few
	follow fs 5 >json
	[ "$(jq -r .seq json | sort -n | tr '\n' ' ')" = '0 1 3 5 6 ' ]
	[ "$(jq -r 'select(.path == "/home/ann/a,b.txt") | .seq' json | tr '\n' ' ')" = '0 1 ' ]
	jq -r '.time_ns + .latency_ns' json >ends
	sort -n ends | cmp ends -
	sed -i 's/^missed 0/missed 4/; $a overwritten 2\nlost 1' proc/fs/stats
	python3 - <<-'END'
		import iotracer, os, subprocess
		with iotracer.Trace('fs', live=True) as t:
		    records = t.records()
		    assert (t.state, t.categories, t.host) == ('LIVE', ['fs'], os.uname().nodename)
		    assert len(list(records)) == 5 and list(records) == []
		    assert t.counts('fs') == (0, 3, 4)
		    assert records.losses.events == 5
		    assert t.path(2) == '/home/ann/say "hi"', t.path(2)
		    more = 'cpu=1 seq=7 time=1000002000 latency=1 op=1 path=5\n'
		    with open('proc/fs/stream', 'ab') as f:
		        subprocess.run(['tool-stream', 'continue', 'layout=1', 'event=2'], input=more.encode(), stdout=f, check=True)
		    with open('proc/paths', 'ab') as f:
		        subprocess.run(['tool-stream', 'continue', 'layout=2'], input=b'id=5 text=/new\n', stdout=f, check=True)
		    assert [r.text('path') for r in records] == ['/new']
		    try:
		        t.records()
		        raise AssertionError
		    except iotracer.Error as e:
		        assert e.code == 'INVALID'
	END
}

@test "the stream of a target is found by its path, its name, and tells its counts" {
	printf x >file
	target sda1_1 "$work/file"
	tool-stream >proc/sda1_1/stream <<<"seq=3 time=1000 latency=5 op=1 level=0 pid=7 comm=dd offset=4096"
	for name in file "$work/file" sda1_1; do
		follow "$name" 1 >json
		[ "$(jq -c '[.seq, .op, .comm]' json)" = '[3,"W","dd"]' ]
	done
	python3 - <<-'END'
		import iotracer
		with iotracer.Trace('file', live=True) as t:
		    assert t.categories == ['io'] and t.counts('io') == (13, 10, 4), t.counts('io')
		    assert [r['seq'] for r in t.records()] == [3]
	END
	# the file exists: from now on the end of a stream is EIO
	export TOOL_GONE=$work/file
	for name in file fs; do
		run -1 preloaded follow "$name" 100
		[[ ${lines[-1]} == "follow: $name: "*(the target|the module)\ was\ * ]]
	done
	preloaded python3 - <<-'END'
		import iotracer
		with iotracer.Trace('fs', live=True) as t:
		    records = t.records()
		    for code in 'GONE', 'BROKEN', 'BROKEN':
		        try:
		            list(records)
		            raise AssertionError
		        except iotracer.Error as e:
		            assert e.code == code, e.code
	END
}

# --- the library and its files ----------------------------------------------------------

@test "it imports no function that prints, ends a program, or sets what is the program's own" {
	nm -D --undefined-only "$TOP/tools/libiotracer.so.0" | sed 's/.* //; s/@.*//' >imported
	grep -qx malloc imported
	run ! grep -xE '_?exit|_Exit|quick_exit|abort|__assert_fail|stdout|stderr|.*put(s|c|char|c_unlocked)|(__)?v?f?d?printf(_chk)?|perror|p?write(v|64)?|fwrite|send(to|msg)?|syslog|kill|raise|signal|sigaction|setlocale|setenv|putenv|umask|chdir|atexit|fork|.*_set_alloc_funcs' imported
}

@test "it exports what the header declares, in a version of its own, and nothing else" {
	nm -D --defined-only "$TOP/tools/libiotracer.so.0" | sed -n 's/.* T //p' | sort >exported
	{ cat "$TOP/tools/lib/iotracer.h"; } | gcc -fpreprocessed -dD -E - 2>/dev/null |
		grep -oE '\biotracer_[a-z0-9_]+\(' | tr -d '(' | sort -u | sed 's/$/@@LIBIOTRACER_0.1/' >declared
	[ "$(wc -l <declared)" -gt 50 ]
	diff declared exported
	[[ $(objdump -p "$TOP/tools/libiotracer.so.0") == *'SONAME               libiotracer.so.0'* ]]
}

@test "the header compiles by itself, in C of 1999 and as C++" {
	echo '#include <iotracer.h>' >a.c
	# shellcheck disable=SC2046 # several words
	gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -c -o a.o a.c $(installed --cflags)
	# shellcheck disable=SC2046 # several words
	[ -z "$(command -v g++)" ] || g++ -Wall -Wextra -Wpedantic -Werror -x c++ -c -o b.o a.c $(installed --cflags)
}

@test "pkg-config finds it wherever it was installed, and uninstall leaves nothing" {
	make -s -C "$TOP/tools" install DESTDIR="$work/d" PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu
	# shellcheck disable=SC2016 # of pkg-config
	grep -x 'libdir=${prefix}/lib/x86_64-linux-gnu' d/usr/lib/x86_64-linux-gnu/pkgconfig/libiotracer.pc
	[ -e d/usr/lib/python3/dist-packages/iotracer.py ]
	[ "$(readlink d/usr/lib/x86_64-linux-gnu/libiotracer.so)" = libiotracer.so.0 ]
	export PKG_CONFIG_PATH=$work/d/usr/lib/x86_64-linux-gnu/pkgconfig
	[ "$(pkg-config --define-variable=prefix="$work/d/usr" --cflags --libs libiotracer)" = \
		"-I$work/d/usr/include -L$work/d/usr/lib/x86_64-linux-gnu -liotracer " ]
	[ "$(pkg-config --modversion libiotracer)" = "$(iotracer --version | cut -d ' ' -f 2)" ]
	make -s -C "$TOP/tools" uninstall DESTDIR="$work/d" PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu
	[ -z "$(find d ! -type d)" ]
}

@test "files: the bytes of each path" {
	a_few
	tool-stream layout=1 event=2 >proc/fs/stream <<-'END'
		cpu=0 seq=0 time=10 op=0 path=1 result=100
		cpu=0 seq=1 time=20 op=1 path=2 result=7
		cpu=0 seq=2 time=30 op=1 path=1 result=5
		cpu=0 seq=3 time=40 op=1 path=1 result=-5
		cpu=0 seq=4 time=50 op=3 path=1 result=9
	END
	record t
	[ "$(files t)" = '105 /home/ann/a,b.txt
7 /home/ann/say "hi"' ]
}

@test "the examples of libiotracer(3) give the same, and its names are those of the header" {
	a_few
	record t
	page=$TOP/tools/man/libiotracer.3
	awk '/^\.EX$/ { n++; on = 1; next } /^\.EE$/ { on = 0 } on && n == 1' "$page" | sed 's/\\-/-/g; s/\\e/\\/g' >a.c
	awk '/^\.EX$/ { n++; on = 1; next } /^\.EE$/ { on = 0 } on && n == 2' "$page" >a.py
	# shellcheck disable=SC2046 # several words
	cc -Wall -Wextra -Werror -o a a.c $(installed --cflags --libs)
	./a t >by-c
	[ "$(wc -l <by-c)" = 5 ]
	python3 a.py t | cmp by-c -
	grep -oE 'iotracer_[a-z0-9_]+' "$page" | sort -u >names
	while read -r name; do
		grep -qE "\b$name" "$TOP/tools/lib/iotracer.h" || { echo "$name"; false; }
	done <names
}

# --- nothing harms its user -------------------------------------------------------------

# sanitized_laws: build ./laws, of the library's sources and with AddressSanitizer
sanitized_laws() {
	local sources libraries
	# shellcheck disable=SC2016 # of make
	read -ra sources < <(make -s -C "$TOP/tools" --eval 'sources: ; @echo $(LIBRARY:.lo=.c)' sources)
	sources=("${sources[@]/#/$TOP/tools/}")
	sources=("${sources[@]//tools\/core-/module/core/}")
	read -ra libraries < <(tool_libraries)
	gcc -O1 -g -std=gnu11 -D_GNU_SOURCE -DIOTRACER_VERSION='"0"' -DWRAPPED -fsanitize=address,undefined \
		-fno-sanitize-recover=all -ffunction-sections -fdata-sections -Wl,--gc-sections \
		-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,--wrap=free,--wrap=strdup,--wrap=vasprintf \
		-I"$TOP/tools" -I"$TOP/tools/lib" -I"$TOP/module" -pthread -o laws \
		"$TOP/tests/unit/library-laws.c" "${sources[@]}" "${libraries[@]}"
}

@test "each allocation may fail: that is an error, nothing is lost, and nothing is printed" {
	a_few
	record t -c all
	small_trace packed --compress=now
	library-laws memory t
	library-laws memory packed
	printf x >file
	target sda1_1 "$work/file"
	tool-stream >proc/sda1_1/stream <<<"seq=3 time=1000 latency=5 op=1 level=0 pid=7 comm=dd offset=4096"
	a_few
	for name in fs block file sda1_1; do
		library-laws memory "$name" live
	done
}

@test "a trace with any wrong bit, or any end, is not taken for a whole one, and its losses add up" {
	small_trace raw --compress=never
	small_trace packed --compress=now
	library-laws damage raw 37 fs.iot
	library-laws damage packed 37 fs.iot paths.iot
	library-laws damage packed 41 metadata.json schema.json
}

@test "the same with AddressSanitizer, LeakSanitizer and UBSan" {
	sanitized_laws
	a_few
	small_trace packed --compress=now
	./laws memory packed
	./laws memory fs live
	./laws damage packed 401 fs.iot paths.iot metadata.json
}
