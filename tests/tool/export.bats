#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What iotracer record stores and iotracer export prints: columns, order, gaps, damaged
# traces, options, hashed names. The traces are recorded from a directory that looks like
# /proc/iotracer, so neither root nor the module is needed. record.bats uses the real module.

# Tests run in subshells, and "run --separate-stderr" sets stderr_lines.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$TOP/module" \
		-o "$BATS_FILE_TMPDIR/many-events" \
		"$TOP/tests/cost/many-events.c" "$TOP/module/core/schema.c"
}

setup() {
	use_tool
	work=$(mktemp -d /tmp/iotracer-export.XXXXXX)
	cd "$work" || return
	export IOTRACER_PROC=$work/proc
	idle_category fs
	tool-stream layout=1 event=2 </dev/null >proc/fs/stream
	tool-stream layout=2 </dev/null >proc/paths
}

teardown() {
	cd /
	rm -rf "$work"
}

# events, paths: make the stream, or the table of paths, of lines of FIELD=VALUE on standard
# input.
events() {
	tool-stream layout=1 event=2 >proc/fs/stream
}

paths() {
	tool-stream layout=2 >proc/paths
}

# record TRACE [OPTION]...
record() {
	iotracer record -o "$@" -- true 2>"$work/summary" || { cat "$work/summary"; return 1; }
}

# column NAME: print that column of the CSV on standard input, without its header.
column() {
	python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row[sys.argv[1]])' "$1"
}

rows() {
	iotracer export "$@" --per-category
}

# is_recording: the recorder has made its trace, and started fs
is_recording() {
	grep -qx 'start while-read' proc/fs/control
}

# state_is TRACE STATE
state_is() {
	[ "$(jq -r .state "$1/metadata.json" 2>/dev/null)" = "$2" ]
}

# has_bytes FILE N: it has more than N bytes
has_bytes() {
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]
}

a_few() {
	paths <<-'END'
		id=1 inode=11 device=0x0fd00001 text=/home/ann/a,b.txt
		id=2 inode=12 device=0x0fd00001 text=/home/ann/say\040"hi"
		id=4 text=/home/ann/new\012line.tar.gz
	END
	events <<-'END'
		cpu=0 seq=0 time=1000000000 latency=500 op=4 pid=7 tid=8 ppid=1 uid=1000 comm=cat path=1 inode=11 device=0x0fd00001 fd=3 result=3 kind=1 flags=0x8000 sample=1 cgroup=77
		cpu=0 seq=1 time=1000001000 latency=10 op=0 pid=7 tid=8 comm=cat path=1 offset=4096 requested=512 result=100 fd=3 kind=1
		cpu=1 seq=5 time=1000000600 latency=20 op=30 pid=9 tid=9 comm=m,"v path=2 path2=4 result=-2 fd=4294967295
		cpu=1 seq=6 time=1000000100 latency=2000 op=14 pid=9 tid=9 path=3 address=0x7f00 requested=8192 flags=0x2 flags2=0x3 result=32512 fd=5
	END
}

# --- columns ------------------------------------------------------------------

# every_category: give each category a stream with the event on standard input
every_category() {
	local name
	cat >fields
	for name in $(categories); do
		idle_category "$name"
		tool-stream layout=1 event="$(event_id "$name")" any=1 <fields >"proc/$name/stream"
	done
	paths <<<"id=1 text=/home/ann/db"
}

@test "export has the columns of format --columns, and each name once" {
	every_category <<<"cpu=0 seq=0 time=1000000000 latency=5 path=1 op=1 pid=7 comm=cat"
	record t -c all
	for name in $(categories); do
		rows t --category="$name" | head -n 1 | tr , '\n' >header
		cmp header <(iotracer format --columns | sed -n "s/^$name\t\([^\t]*\).*/\1/p")
		iotracer export t -f json --category="$name" | jq -r 'keys_unsorted[]' | cmp - header
		# sqlite and SQL ignore the case of names
		[ -z "$(tr '[:upper:]' '[:lower:]' <header | sort | uniq -d)" ]
	done
}

@test "what all categories have has the same name in each" {
	every_category <<<"cpu=0 seq=0 time=1000000000 latency=5 path=1 op=1 pid=7 comm=cat"
	record t -c all
	for name in $(categories); do
		rows t --category="$name" | head -n 1 | tr , '\n' >header
		[ "$(head -n 1 header)" = timestamp ]
		for column in time_ns latency_ns op comm pid cpu sample; do
			grep -qx $column header
		done
		# what is not of a file has none of these; a socket has an inode
		if has_path "$name"; then
			[ "$(grep -cxE 'path|device|inode' header)" = 3 ]
		else
			run ! grep -qxE 'path|device' header
		fi
		run ! grep -qE '^(filename|operation|event_type|fault_type|dev|dev_id|command|latency|latency_ms)$' header
	done
}

@test "a column has the same unit in all categories" {
	[ -z "$(iotracer format --columns | cut -f 2,3 | sort -u | cut -f 1 | uniq -d)" ]
}

@test "the name of a column shows its unit" {
	while IFS=$'\t' read -r _ column unit _; do
		case $unit in
		ns) [[ $column == *_ns ]] ;;
		s) [[ $column == *_s ]] ;;
		byte) [[ $column == *_bytes ]] ;;
		page) [[ $column == *pages ]] ;;
		"512 B") [[ $column == *sector ]] ;;
		*) [ "$unit" = - ] ;;
		esac || { echo "$column: $unit"; false; }
	done < <(iotracer format --columns)
}

@test "CSV: order of the ends of events, quotes, two paths, errors, what each column shows" {
	a_few
	record t
	rows t 2>/dev/null >t.csv
	[ "$(column op <t.csv | tr '\n' ' ')" = "OPEN RENAME READ MMAP " ]
	[ "$(column path <t.csv)" = '/home/ann/a,b.txt
/home/ann/say "hi"
/home/ann/a,b.txt
?' ]
	grep -qF ',"/home/ann/a,b.txt",' t.csv
	grep -qF ',"/home/ann/say ""hi""",/home/ann/new\012line.tar.gz,' t.csv
	[ "$(column path2 <t.csv | tr '\n' '|')" = '|/home/ann/new\012line.tar.gz|||' ]
	[ "$(column comm <t.csv | tr '\n' '|')" = 'cat|m,"v|cat||' ]
	[ "$(column requested_bytes <t.csv | tr '\n' ' ')" = "0 0 512 8192 " ]
	[ "$(column result <t.csv | tr '\n' ' ')" = "3 -2 100 32512 " ]
	[ "$(column fd <t.csv | tr '\n' ' ')" = "3 -1 3 5 " ]
	[ "$(column address <t.csv | tr '\n' '|')" = "|||0x7f00|" ]
	[ "$(column flags2 <t.csv | tail -n 1)" = "PROT_READ|PROT_WRITE" ]
	[ "$(column device <t.csv | head -n 1)" = 253:1 ]
	[ "$(column kind <t.csv | tr '\n' ' ')" = "file none file none " ]
	[ "$(column cgroup <t.csv | head -n 1)" = 77 ]
}

# formulas: names that a spreadsheet computes, one a line, and how a field of CSV shows them
formulas() {
	cat <<-'END'
		=1+1	\0751+1
		+1	\0531
		-1	\0551
		@a	\100a
		 =a	 \075a
		"=a"	"\075a"
		＝a	\357\274\235a
		a;=b	a;\075b
		a; "=b	a; "\075b
		a=b	a=b
		a=;-b	a=;\055b
	END
}

# unescaped: undo \ooo in the lines on standard input
unescaped() {
	python3 -c 'import re, sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(re.sub(rb"\\([0-3][0-7]{2})", lambda m: bytes([int(m[1], 8)]), line))'
}

@test "CSV: no name is a formula of a spreadsheet, and each can be had back; JSON has it as it is" {
	local n=0 name pid
	while IFS=$'\t' read -r name _; do
		echo "id=$((++n)) text=${name// /\\040}" >>paths
		echo "cpu=0 seq=$n time=$n path=$n path2=$n op=30 comm=${name// /\\040} pid=$n" >>events
	done < <(formulas)
	# shellcheck disable=SC2094 # the functions write other files
	paths <paths
	bash -c 'exec -a "=command" sleep 1000' 3>&- &
	pid=$!
	wait_for is_called "$pid" sleep
	echo "cpu=0 seq=$((n + 1)) time=$((n + 1)) op=49 pid=$pid comm=sleep" >>events
	# shellcheck disable=SC2094
	events <events
	record t
	kill "$pid"
	rows t >t.csv
	for column in path path2 comm; do
		column $column <t.csv | head -n "$n" | diff - <(formulas | cut -f 2)
		column $column <t.csv | head -n "$n" | unescaped | diff - <(formulas | cut -f 1)
		iotracer export t -f json | jq -r .$column | head -n "$n" | diff - <(formulas | cut -f 1)
	done
	[ "$(column cmdline <t.csv | tail -n 1)" = '\075command 1000' ]
	rows t --columns=io-tracer | column filename | head -n 1 | grep -Fx '\0751+1 -> =1+1'
	# a program that begins another field at a semicolon finds none that begins with a formula
	run ! grep -E '(^|[,;])[ "]*[=+@-]' <(cut -d , -f 10- t.csv | grep -v '^result')
}

@test "what some programs take for the end of a line does not end one" {
	events <<<'cpu=0 seq=0 time=1 path=1 comm=a\342\200\250b'
	paths <<<'id=1 text=/a\342\200\251b\302\205c'
	record t
	for format in csv json; do
		iotracer export t -f $format >lines
		[ "$(python3 -c 'print(len(open("lines").read().splitlines()))')" = "$(wc -l <lines)" ]
	done
	[ "$(jq -r '.path, .comm' lines)" = '/a\342\200\251b\302\205c
a\342\200\250b' ]
}

@test "JSON has one object per line, with the values of the CSV" {
	a_few
	record t
	for columns in own io-tracer; do
		rows t --columns=$columns 2>/dev/null >t.csv
		iotracer export t -f json --columns=$columns 2>/dev/null >t.json
		python3 - $columns <<-'END'
			import csv, json, sys
			csv_rows = list(csv.DictReader(open("t.csv", newline="")))
			json_rows = [json.loads(line) for line in open("t.json")]
			assert len(csv_rows) == len(json_rows) == 4
			own = ("pid", "requested_bytes", "result", "latency_ns", "fd", "time_ns")
			for a, b in zip(csv_rows, json_rows):
			    assert list(a) == list(b), (a, b)
			    for key in a:
			        assert a[key] == str(b[key]), (key, a[key], b[key])
			    for key in own if sys.argv[1] == "own" else ("pid", "size", "fd"):
			        assert isinstance(b[key], int), key
		END
	done
}

# The columns as IO Tracer's own documents have them: seeds 001 and 002, and the headers of its
# current version.
io_tracer_columns() {
	case $1 in
	fs) echo timestamp,operation,pid,command,filename,size,inode,flags,offset,tid,mmap_prot,mmap_flags,address,cmdline,fd,latency_ns ;;
	ds) echo timestamp,pid,command,sector,operation,size,latency_ms,tid,cpu_id,ppid,dev,queue_time_ms,cmd_flags,op_code ;;
	cache) echo timestamp,pid,command,event_type,inode,index,filename,size,offset,count,cpu_id,dev_id ;;
	io_uring) echo timestamp,event_type,pid,tid,command,cpu,ring_fd,to_submit,min_complete,enter_flags,req,user_data,opcode,fd,length,offset,sqe_flags,ioprio,buf_index,personality,result,errno,latency_ns,worker_pid,worker_tid,is_async,sq_depth,cq_depth ;;
	nw_sockopt) echo timestamp,event_type,pid,command,fd,level,option_name,option_value,return_value ;;
	nw_drop) echo timestamp,event_type,pid,command,protocol,ip_version,source_addr,dest_addr,source_port,dest_port,packet_size,drop_reason,tcp_state ;;
	nw) echo timestamp,pid,command,protocol,ip_version,source_addr,dest_addr,source_port,dest_port,size,direction,latency_ns,error_code,msg_flags ;;
	nw_conn) echo timestamp,event_type,pid,tid,command,domain,sock_type,protocol,ip_version,local_addr,remote_addr,local_port,remote_port,fd,backlog,shutdown_how,latency_ns,return_value ;;
	pagefault) echo timestamp,pid,tid,command,fault_type,severity,inode,offset,address,dev_id ;;
	nw_epoll) echo timestamp,event_type,pid,tid,command,epoll_fd,target_fd,operation,event_mask,max_events,ready_count,timeout_ms,latency_ns ;;
	esac
}

@test "--columns=io-tracer: exactly the directories and columns of IO Tracer" {
	every_category <<<"cpu=0 seq=0 time=1000000000 latency=5 path=1"
	record t -c all
	iotracer export t -o rows --columns=io-tracer
	[ "$(cd rows && echo *)" = "cache ds fs io_uring nw nw_conn nw_drop nw_epoll nw_sockopt pagefault" ]
	for name in fs ds cache io_uring nw nw_conn nw_drop nw_epoll nw_sockopt pagefault; do
		[ "$(head -n 1 rows/$name/"$name"_*.csv)" = "$(io_tracer_columns $name)" ]
	done
}

@test "by default a directory has the name of its category" {
	every_category <<<"cpu=0 seq=0 time=1000000000 latency=5 path=1"
	record t -c all
	iotracer export t -o own
	[ "$(cd own && echo *)" = "$(categories | sort | paste -sd ' ')" ]
}

@test "--columns: other names are refused" {
	a_few
	record t
	run iotracer export t -o x --columns=theirs
	[ "$status" = 2 ]
	[[ $output == *"--columns=theirs: say own or io-tracer"* ]]
}

@test "--columns=io-tracer: sizes, times of day, two paths in one column" {
	a_few
	record t
	set_clocks t 1500000001000000000
	rows t --columns=io-tracer 2>/dev/null >t.csv
	[ "$(column operation <t.csv | tr '\n' ' ')" = "OPEN RENAME READ MMAP " ]
	[ "$(column filename <t.csv)" = '/home/ann/a,b.txt
/home/ann/say "hi" -> /home/ann/new\012line.tar.gz
/home/ann/a,b.txt
?' ]
	grep -qF ',"/home/ann/say ""hi"" -> /home/ann/new\012line.tar.gz",' t.csv
	[ "$(column size <t.csv | tr '\n' ' ')" = "0 0 100 8192 " ]
	[ "$(column mmap_prot <t.csv | tr '\n' ',')" = ",,,PROT_READ|PROT_WRITE," ]
	[ "$(column mmap_flags <t.csv | tr '\n' ',')" = ",,,MAP_PRIVATE," ]
	[ "$(column timestamp <t.csv | tr '\n' ',')" = \
		"2017-07-14 02:40:00.000000,2017-07-14 02:40:00.000000,2017-07-14 02:40:00.000001,2017-07-14 02:40:00.000000," ]
}

@test "--columns=io-tracer: operations have its names, and those that it does not have ours" {
	local op
	for op in 4 5 9 10 11 12 21 22 23 24 59 45 36; do
		echo "cpu=0 seq=$op time=$op latency=$((op * 3)) op=$op"
	done | sort -t= -k3n | awk '{ sub(/seq=[0-9]*/, "seq=" NR - 1) } 1' | events
	record t
	rows t --columns=io-tracer >t.csv
	[ "$(column operation <t.csv | tr '\n' ' ')" = \
		"OPEN OPEN FSYNC FSYNC SYNC SYNC SETATTR SETATTR SETATTR TRUNCATE FALLOCATE SETXATTR SETATTR " ]
	[ "$(column latency_ns <t.csv | tr '\n' ' ')" = "12 15 27 30 33 36 63 66 69 72 108 135 177 " ]
}

@test "--columns=io-tracer: rows and units as in its documents" {
	every_category <<<"cpu=0 seq=0 time=1000000000"
	tool-stream layout=1 event=5 >proc/cache/stream <<-'END'
		cpu=0 seq=0 time=1 pid=1234 comm=python op=8 inode=5678 path=1 index=50 file_pages=128 offset=204800 pages=8
	END
	tool-stream layout=1 event=3 >proc/fault/stream <<<"cpu=0 seq=0 time=1 offset=12293 op=0"
	tool-stream layout=1 event=4 >proc/block/stream <<<"cpu=0 seq=0 time=1 latency=1500000 queue_latency=20000"
	record u -c fs,block,cache,fault
	# a row as in IO Tracer's documents
	[[ $(rows u --columns=io-tracer --category=cache | tail -n 1) == *',1234,python,READAHEAD,5678,50,/home/ann/db,128,204800,8,'* ]]
	[ "$(rows u --columns=io-tracer --category=fault | column offset)" = 3 ]
	[ "$(rows u --columns=io-tracer --category=block | column latency_ms)" = 1.500000 ]
	[ "$(rows u --columns=io-tracer --category=block | column queue_time_ms)" = 0.020000 ]
}

# duckdb: print the directory in which npm installed DuckDB, which Debian does not have. Fails
# without npm.
duckdb() {
	# shellcheck source=scripts/lib.sh
	. "$TOP/scripts/lib.sh"
	local directory
	directory=$(iot_cache)/duckdb || return
	[ -d "$directory/node_modules/@duckdb/node-api" ] ||
		timeout 60 npm install --loglevel=error --no-save --prefix "$directory" @duckdb/node-api@1.5.6-r.1 >&2 || return
	echo "$directory"
}

# loaded_by PROGRAM NAME: load NAME.csv, or NAME.json, into the program without any option. Print
# the number of events, the sum of their latencies, and the paths of the ten that took longest.
loaded_by() {
	case $1 in
	sqlite)
		sqlite3 :memory: ".import --csv $2.csv t" \
			"select count(*), sum(latency_ns) from t" \
			"select path from t order by latency_ns + 0 desc, seq + 0 limit 10" ;;
	csv)
		python3 - "$2" <<-'END' ;;
			import csv, sys
			rows = list(csv.DictReader(open(sys.argv[1] + ".csv", newline="")))
			print(f"{len(rows)}|{sum(int(r['latency_ns']) for r in rows)}")
			for r in sorted(rows, key=lambda r: (-int(r["latency_ns"]), int(r["seq"])))[:10]:
			    print(r["path"])
		END
	json)
		jq -sr '"\(length)|\(map(.latency_ns) | add)", (sort_by(-.latency_ns, .seq)[:10][].path)' "$2.json" ;;
	pandas)
		/usr/bin/python3 - "$2" <<-'END' ;; # Debian's Python, which has pandas
			import pandas, sys
			t = pandas.read_csv(sys.argv[1] + ".csv")
			print(f"{len(t)}|{t['latency_ns'].sum()}")
			print("\n".join(t.sort_values(["latency_ns", "seq"], ascending=[False, True]).path[:10]))
		END
	duckdb)
		NODE_PATH=$(duckdb)/node_modules node - "$2" <<-'END' ;;
			const { DuckDBInstance } = require("@duckdb/node-api");
			(async () => {
			    const db = await (await DuckDBInstance.create(":memory:")).connect();
			    const rows = async (what, more) => (await db.runAndReadAll(
			        `select ${what} from '${process.argv[2]}.csv' ${more}`)).getRows();
			    console.log((await rows("count(*), sum(latency_ns)", ""))[0].join("|"));
			    for (const row of await rows("path", "order by latency_ns desc, seq limit 10"))
			        console.log(row[0]);
			})();
		END
	esac
}

@test "exports load without options in sqlite, Python, jq, pandas, and DuckDB if npm has it" {
	python3 - >many <<-'END'
		import random
		random.seed(5)
		for i in range(30000):
		    print(f"cpu=0 seq={i} time={1000000 + 1000 * i} latency={random.randrange(1000000)} path={1 + i % 9}"
		          f" op={i % 40} kind=1 offset={i << 12} result={random.choice((-2, 4096))} pid=7 comm=a,\"{i % 3}")
	END
	events <many
	for ((i = 1; i <= 9; i++)); do
		printf '%s\n' "id=$i text=/home/ann/a,\"b\"\\040'$i\\012\\303\\251"
	done | paths
	record t
	rows t >t.csv
	iotracer export t -f json >t.json
	loaded_by csv t >expected
	[ "$(head -n 1 expected | cut -d'|' -f 1)" = 30000 ]
	ways=(sqlite json pandas)
	if duckdb 2>err; then ways+=(duckdb); else echo "# without DuckDB: $(tail -n 1 err)" >&3; fi
	for way in "${ways[@]}"; do
		loaded_by "$way" t | diff expected - || { echo "$way"; false; }
	done
	[ "$(sqlite3 :memory: '.import --csv t.csv t' 'select count(*) from pragma_table_info("t")')" = \
		"$(head -n 1 t.csv | tr , '\n' | wc -l)" ]
}

# set_clocks TRACE REALTIME: it began at 1 s of the monotonic clock and ended at 2 s; set the time of
# day at its end
set_clocks() {
	with_trace_file <<-END
		set_clocks("$1", $2)
	END
}

@test "timestamps are times of day, by the clocks at the begin" {
	a_few
	record t
	set_clocks t 1500000001000100000
	[ "$(rows t 2>/dev/null | column timestamp | tr '\n' ' ')" = \
		"2017-07-14T02:40:00.000000000Z 2017-07-14T02:40:00.000000600Z 2017-07-14T02:40:00.000001000Z 2017-07-14T02:40:00.000000100Z " ]
}

@test "timestamps: half a second later they have half of what the time of day gained" {
	events <<<"cpu=0 seq=0 time=1500000000"
	record u
	set_clocks u 1500000001000100000
	[ "$(rows u | column timestamp)" = 2017-07-14T02:40:00.500050000Z ]
}

@test "timestamps: if the time of day was set, only the clocks at the begin are used, with a message" {
	events <<<"cpu=0 seq=0 time=1500000000"
	record u
	# an hour forward, and back
	for end in 1500003601000000000 1499996401000000000; do
		set_clocks u $end
		run --separate-stderr rows u
		[[ $stderr == *"the clock was set during the recording"* ]]
		[[ ${lines[1]} == 2017-07-14T02:40:00.500000000Z,* ]]
	done
}

@test "CSV and JSON take the same options" {
	every_category <<<"cpu=0 seq=0 time=1000000000 latency=5 path=1"
	record one
	for options in "" --per-category --category=fs "--columns=io-tracer" "--gzip" "--rotate=1"; do
		for format in csv json; do
			# shellcheck disable=SC2086 # no option, or one
			iotracer export one -f $format $options >out 2>err || { echo "$format $options: $(cat err)"; false; }
			[ -s out ]
			[ ! -s err ]
			# shellcheck disable=SC2086
			iotracer export one -f $format ${options/--per-category/} -o "d-$format$options"
			find "d-$format$options" -type f -exec cat {} + | cmp - out
		done
	done
}

@test "a trace of several categories: one has to be named, in CSV and JSON" {
	every_category <<<"cpu=0 seq=0 time=1000000000 latency=5 path=1"
	record two -c fs,fault
	for format in csv json; do
		run --separate-stderr iotracer export two -f $format
		[ "$status" = 2 ]
		[ -z "$output" ]
		[[ $stderr == "iotracer: two: has several categories: say which (--category=fs), or --per-category"* ]]
	done
}

@test "--per-category has the rows of all categories, in CSV and JSON" {
	every_category <<<"cpu=0 seq=0 time=1000000000 latency=5 path=1"
	record two -c fs,fault
	for format in csv json; do
		iotracer export two -f $format --category=fault >fault
		iotracer export two -f $format --category=fs | cat - fault | cmp - <(iotracer export two -f $format --per-category)
	done
}

# --- order, gaps --------------------------------------------------------------

@test "events of many CPUs are merged by their end, whatever the frames" {
	python3 - >lines <<-'END'
		import random
		random.seed(1)
		ends = []
		for cpu in range(4):
		    t = 1000
		    for seq in range(3000):
		        t += random.randrange(1, 5000 if cpu else 50)
		        ends.append((random.random() < 0.01 or cpu, cpu, seq, t))
		# the CPUs' blocks in random order, those of each CPU in its own order
		by_cpu = {c: [e for e in ends if e[1] == c] for c in range(4)}
		while any(by_cpu.values()):
		    cpu = random.choice([c for c in by_cpu if by_cpu[c]])
		    n = random.randrange(1, 400)
		    for _, _, seq, t in by_cpu[cpu][:n]:
		        latency = random.randrange(0, min(t, 900))
		        print(f"cpu={cpu} seq={seq} time={t - latency} latency={latency}")
		    del by_cpu[cpu][:n]
	END
	events <lines
	for compress in end now never; do
		record t-$compress --compress=$compress
		rows t-$compress >t.csv
		python3 - <<-'END'
			import csv
			last, rows = 0, list(csv.DictReader(open("t.csv", newline="")))
			assert len(rows) == 12000
			for row in rows:
			    end = int(row["time_ns"]) + int(row["latency_ns"])
			    assert end >= last, row
			    last = end
			assert len({(r["cpu"], r["seq"]) for r in rows}) == 12000
		END
		with_trace_file <<-END
			sizes = list(sizes_of_frames("t-$compress"))
			assert len(sizes) > 1 and max(sizes) <= 1 << 20, sizes
		END
	done
}

@test "events of CPUs that are read in turns are merged by their end, in many frames" {
	# as the module does: in each turn a block of each CPU that has unread events
	python3 - >lines <<-'END'
		import random
		random.seed(2)
		left = []
		for cpu, (events, step) in enumerate(((20000, 100), (20000, 90), (3000, 2000), (20000, 80))):
		    t, lines = 1000000, []
		    for seq in range(events):
		        t += random.randrange(1, step)
		        latency = random.randrange(900)
		        lines.append(f"cpu={cpu} seq={seq} time={t - latency} latency={latency}")
		    left.append(lines)
		while any(left):
		    for lines in left:
		        print(*lines[:300], sep="\n", end="\n" if lines else "")
		        del lines[:300]
	END
	events <lines
	record t
	[ "$(jq .categories[0].frames t/metadata.json)" -ge 8 ]
	rows t >t.csv
	python3 - <<-'END'
		import csv
		ends = [int(r["time_ns"]) + int(r["latency_ns"]) for r in csv.DictReader(open("t.csv", newline=""))]
		assert len(ends) == 63000 and ends == sorted(ends)
	END
}

@test "events that end at once are in the order of their CPUs" {
	printf 'cpu=%d seq=%d time=1000 latency=5\n' 3 0 1 0 0 0 2 0 2 1 0 1 | events
	record t
	[ "$(rows t | column cpu | tr '\n' ' ')" = "0 0 1 2 2 3 " ]
}

@test "each of many names and flags is shown with its own event" {
	for ((i = 0; i < 20000; i++)); do
		echo "cpu=0 seq=$i time=$i op=1 comm=name$((i % 9973)) flags=$((i % 16411))"
	done >lines
	events <lines
	record t --buffer=64
	rows t >t.csv
	cmp <(sed 's/.* comm=\([^ ]*\).*/\1/' lines) <(column comm <t.csv)
	head -c 32 /dev/urandom >key
	record hidden --buffer=64 --anonymize --key-file=key
	rows t --anonymize --key-file=key | column comm >names
	[ "$(sort -u names | wc -l)" = 9973 ]
	rows hidden | column comm | cmp - names
	# 16,411 values of flags, each shown in its own way
	[ "$(column flags <t.csv | sort -u | wc -l)" = 16411 ]
	cmp <(column flags <t.csv | head -n 3589) <(column flags <t.csv | tail -n 3589)
}

@test "gaps are counted exactly, by CPU, in the metadata and by export" {
	events <<-'END'
		cpu=0 seq=10 time=1 gap=10
		cpu=0 seq=11 time=2
		cpu=1 seq=0 time=3
		cpu=0 seq=15 time=4 gap=3
		cpu=2 seq=7 gap=7
		cpu=3 seq=0 time=9
	END
	record t
	jq -e '.categories[0] | .events == 5 and .lost == 13 and .lost_by_cpu == { "0": 13 } and
		(.seq_by_cpu | map_values([.first, .next])) ==
		{ "0": [0, 16], "1": [0, 1], "2": [7, 7], "3": [0, 1] }' t/metadata.json
	run --separate-stderr rows t
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 6 ]
	[ "$stderr" = "iotracer: t: fs: 13 events (72.22 %) are missing: they were lost or overwritten before they were read" ]
	grep -q 'lost  *13' "$work/summary"
}

# lose_most: 100 events, before which 4900 were lost
lose_most() {
	for ((i = 0; i < 100; i++)); do echo "cpu=1 seq=$((4900 + i)) time=$i"; done | sed '1 s/$/ gap=4900/' | events
}

@test "record: what is lost makes a trace LOSSY, with the share" {
	lose_most
	run --separate-stderr iotracer record -o t -- true
	[ "$status" = 0 ]
	jq -e '.state == "LOSSY" and .lost_share == 0.98' t/metadata.json
	[[ $stderr == *"iotracer: t: 4900 events were lost before they could be read: use a larger --buffer, a --filter or --sample
t
  state     LOSSY (98.00 % of the events)
"* ]]
	run --separate-stderr rows t
	[ "$status" = 0 ]
	[ "$stderr" = "iotracer: t: fs: 4900 events (98.00 %) are missing: they were lost or overwritten before they were read" ]
}

@test "record: what is lost is a failure with --strict" {
	lose_most
	run iotracer record -o strict --strict -- sh -c 'exit 5'
	[ "$status" = 1 ]
}

@test "record: what is lost, calls that a hook missed, are in the share" {
	events <<<"cpu=0 seq=0 time=1"
	run iotracer record -o missed --strict -- sed -i 's/^missed 0/missed 3/' proc/fs/stats
	[ "$status" = 1 ]
	[[ $output == *"missed: 3 calls were missed: $IOTRACER_PROC/hooks shows"*"LOSSY (75.00 % of the events)"* ]]
	run rows missed
	[[ $output == *"missed: fs: 3 calls are missing: the kernel's hooks missed them"* ]]
}

@test "record: what is lost, calls that a hook missed before the recording are not in the share" {
	events <<<"cpu=0 seq=0 time=1"
	sed -i 's/^missed 0/missed 3/' proc/fs/stats
	record before --strict
	jq -e '.state == "COMPLETE" and .lost_share == 0 and .categories[0].missed == 0' before/metadata.json
}

@test "record: what is lost, paths that were forgotten, are in the share" {
	events <<<"cpu=0 seq=0 time=1"
	printf '%s\n' "id=1 text=/a" "id=3 text=/b" | paths
	run iotracer record -o paths --strict -- true
	[ "$status" = 1 ]
	[[ $output == *"paths: 1 paths were evicted"*"LOSSY (0.00 % of the events)"* ]]
}

@test "record: what is lost, a small share is not shown as none, nearly all not as all" {
	for share in "30000 1 less than 0.01 %" "1 30000 more than 99.99 %"; do
		read -r stored lost words <<<"$share"
		for ((i = 0; i < stored; i++)); do echo "cpu=0 seq=$((lost + i)) time=$i"; done | sed "1 s/\$/ gap=$lost/" | events
		record "lost$lost" --buffer=64
		run --separate-stderr rows "lost$lost"
		[[ $stderr == *"$lost events ($words) are missing"* ]]
	done
}

@test "record: what is lost, nothing: the trace is COMPLETE" {
	events <<<"cpu=0 seq=0 time=1"
	paths <<<"id=1 text=/a"
	iotracer record -o whole --strict -- true
	jq -e '.state == "COMPLETE" and .lost_share == 0' whole/metadata.json
}

@test "paths that were forgotten are counted" {
	a_few
	record t
	jq -e '.paths | .count == 3 and .lost == 1 and .numbers == { first: 1, next: 5 }' t/metadata.json
	run --separate-stderr rows t
	[[ $stderr == *"t: 1 paths are missing"* ]]
}

@test "several paths that were forgotten in a row are counted one by one" {
	printf '%s\n' "id=1 text=/a" "id=5 text=/b" "id=6 text=/c" "id=8 text=/d" | paths
	events <<<"cpu=0 seq=0 time=1 path=5"
	record t
	jq -e '.paths | .count == 4 and .lost == 4 and .numbers == { first: 1, next: 9 }' t/metadata.json
	[ "$(rows t 2>/dev/null | column path)" = /b ]
}

@test "a path whose number is too far from the one before is damage" {
	# a table of 20,000,000 paths would take 160 MB
	printf '%s\n' "id=1 text=/a" "id=20000000 text=/b" | paths
	events <<<"cpu=0 seq=0 time=1 path=1"
	record t
	run --separate-stderr rows t
	[ "$status" = 1 ]
	[ "$(printf '%s\n' "${lines[@]}" | column path)" = /a ]
	[[ $stderr == *"t/paths.iot: frame 0, at byte 4096, is damaged"* ]]
}

# --- what is cut off, or strange ----------------------------------------------

@test "a trace that is cut at any byte, or has any bit flipped, is not shown as whole" {
	local objects libraries
	mapfile -t objects < <(find "$TOP/tools" -name '*.o' ! -path '*/cmd/main.o')
	read -ra libraries < <(tool_libraries)
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$TOP/module" -I"$TOP/tools" -pthread -o trace-laws \
		"$TOP/tests/unit/trace-laws.c" "${objects[@]}" "${libraries[@]}"
	small_trace raw --compress=never
	small_trace packed --compress=now
	for t in raw packed; do
		jq -e '.categories[0] | .events == 48 and .lost == 3 and .frames == 4' $t/metadata.json
	done
	./trace-laws raw fs.iot
	./trace-laws packed fs.iot paths.iot metadata.json schema.json
}

# damaged_trace: make the trace t, whose second frame of four is damaged and whose last is cut off
damaged_trace() {
	small_trace t --compress=never
	jq '.begin = {} | .end = {}' t/metadata.json >changed
	mv changed t/metadata.json
	seal_metadata t
	printf X | dd of=t/fs.iot bs=1 seek=$((2 * 4096 + 500)) conv=notrunc status=none
	truncate -s $((4 * 4096 + 1000)) t/fs.iot
}

@test "what is missing is reported by CPU, seq and time" {
	damaged_trace
	run --separate-stderr rows t
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 25 ]
	[ "$stderr" = "iotracer: t/fs.iot: the frame at byte 8192 is damaged
iotracer: t: fs: events are missing from the file: cpu 0, seq 4 to 7, ended between 1970-01-01T00:00:00.001009005Z and 1970-01-01T00:00:00.001024005Z
iotracer: t: fs: events are missing from the file: cpu 1, seq 4 to 7, ended between 1970-01-01T00:00:00.001010005Z and 1970-01-01T00:00:00.001025005Z
iotracer: t: fs: events are missing from the file: cpu 2, seq 9 to 12, ended between 1970-01-01T00:00:00.001011005Z and 1970-01-01T00:00:00.001026005Z
iotracer: t/fs.iot: is cut off within frame 3, at byte 17384
iotracer: t: fs: events are missing from the file: cpu 0, seq 12 to 15, ended between 1970-01-01T00:00:00.001033005Z and the end
iotracer: t: fs: events are missing from the file: cpu 1, seq 15 to 18, ended between 1970-01-01T00:00:00.001034005Z and the end
iotracer: t: fs: events are missing from the file: cpu 2, seq 17 to 20, ended between 1970-01-01T00:00:00.001035005Z and the end
iotracer: t/fs.iot: 2 of 4 frames can be read
iotracer: t/fs.iot: has 17384 bytes, 20480 were recorded
iotracer: t: fs: 24 of 48 events can be read
iotracer: t: fs: 3 events (11.11 %) are missing: they were lost or overwritten before they were read
iotracer: t: is incomplete, so the exit status is 1 (with --partial: 0)" ]
}

@test "what is missing is no failure with --partial" {
	damaged_trace
	run --separate-stderr rows t --partial
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 25 ]
	[[ $stderr == *"24 of 48 events can be read"* ]]
}

@test "what is missing, paths: they are shown as ?, and reported" {
	small_trace p --compress=never
	truncate -s $((4 * 4096)) p/paths.iot
	run --separate-stderr rows p
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 49 ]
	[[ $stderr == *"p/paths.iot: paths are missing, shown as ?: those numbered 4 to 4"* ]]
	[ "$(printf '%s\n' "${lines[@]}" | column path | sort | uniq -c | tr -s ' ' | tr '\n' ,)" = " 12 /d/f0, 12 /d/f1, 12 /d/f2, 12 ?," ]
}

@test "what is missing, a frame that was removed: reported" {
	small_trace u --compress=never
	small_trace less --compress=never
	{ head -c 8192 u/fs.iot; tail -c 8192 u/fs.iot; } >less/fs.iot
	run --separate-stderr rows less
	[ "$status" = 1 ]
	[[ $stderr == *"frames 1 to 1 are missing"* ]]
}

@test "a frame that is there twice is damage" {
	small_trace u --compress=never
	small_trace twice --compress=never
	{ head -c 8192 u/fs.iot; tail -c +4097 u/fs.iot; } >twice/fs.iot
	run --separate-stderr rows twice
	[ "$status" = 1 ]
	[[ $stderr == *"is damaged from byte 8192 to 12287"* ]]
	[ "${#lines[@]}" = 49 ]
}

@test "a trace without its file is a failure, with --partial too" {
	small_trace twice --compress=never
	rm twice/fs.iot
	run rows twice --partial
	[ "$status" = 1 ]
}

@test "a killed recorder leaves a trace that can be read" {
	a_few
	iotracer record -o t 2>/dev/null &
	pid=$!
	wait_for has_bytes t/fs.iot 4096
	kill -9 "$pid"
	wait "$pid" || true
	[ "$(jq -r .state t/metadata.json)" = RUNNING ]
	run --separate-stderr rows t
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 5 ]
	[[ $stderr == *"t: has no end: its recorder was killed"* ]]
	rows t --partial 2>/dev/null | cmp - <(printf '%s\n' "${lines[@]}")
}

@test "another schema is refused with both named" {
	a_few
	record t --compress=never
	ours=$(iotracer --version | sed 's/.*schema \(.*\))/\1/')
	printf '\x23\x01\0\0\0\0\0\0' | dd of=t/fs.iot bs=1 seek=16 conv=notrunc status=none
	seal_header t/fs.iot
	run --separate-stderr rows t
	[ "$status" = 1 ]
	[ -z "$output" ]
	[[ $stderr == *"t/fs.iot: the trace has stream version 3 schema 0000000000000123, this tool reads version 3 schema $ours: use the tool that recorded it" ]]
}

@test "a trace whose streams have the last version in which they changed is read" {
	a_few
	record t --compress=never
	rows t >now
	for file in t/fs.iot t/paths.iot; do
		printf '\002' | dd of=$file bs=1 seek=8 conv=notrunc status=none
		seal_header $file
	done
	rows t | cmp - now
	for other in '\001' '\004'; do
		printf '%b' "$other" | dd of=t/fs.iot bs=1 seek=8 conv=notrunc status=none
		seal_header t/fs.iot
		run -1 rows t
		[[ $output == *"t/fs.iot: the trace has stream version "* ]]
	done
}

@test "an old format is refused" {
	a_few
	record t --compress=never
	printf 'IOTF1' | dd of=t/fs.iot bs=1 conv=notrunc status=none
	run --separate-stderr rows t
	[ "$status" = 1 ]
	[ -z "$output" ]
	[[ $stderr == *"t/fs.iot: has the format of an older version: use the tool that recorded it" ]]
}

@test "a directory without a trace is refused" {
	run rows "$work"
	[ "$status" = 1 ]
	[[ $output == *"metadata.json: cannot read: No such file"* ]]
}

@test "record: a module of another schema is refused with both named" {
	ours=$(iotracer --version | sed 's/.*schema \(.*\))/\1/')
	tool-stream layout=1 event=2 schema=0x123 </dev/null >proc/fs/stream
	run iotracer record -o u -- true
	[ "$status" = 1 ]
	[[ $output == *"fs: the module writes stream version 3 schema 0000000000000123, this tool reads version 3 schema $ours"* ]]
}

@test "garbage after the last frame: all frames are shown" {
	for ((i = 0; i < 20000; i++)); do echo "cpu=0 seq=$i time=$((1000 + i))"; done | events
	record t --compress=never
	rows t >whole.csv
	head -c 3000000 /dev/urandom >>t/fs.iot
	run --separate-stderr rows t
	[ "$status" = 1 ]
	[[ $stderr == *"t/fs.iot: is damaged or cut off: nothing can be read from byte "* ]]
	printf '%s\n' "${lines[@]}" | cmp - whole.csv
}

@test "garbage in a frame: the others are shown" {
	for ((i = 0; i < 20000; i++)); do echo "cpu=0 seq=$i time=$((1000 + i))"; done | events
	record t --compress=never
	dd if=/dev/zero of=t/fs.iot bs=4096 seek=200 count=1 conv=notrunc status=none
	run --separate-stderr rows t
	[ "$status" = 1 ]
	[ "${#lines[@]}" -gt 5000 ]
	[[ $stderr =~ cpu\ 0,\ seq\ ([0-9]+)\ to\ ([0-9]+), ]]
	[ $((${#lines[@]} - 1 + BASH_REMATCH[2] - BASH_REMATCH[1] + 1)) = 20000 ]
}

@test "garbage in place of the file: all events are reported as missing" {
	for ((i = 0; i < 20000; i++)); do echo "cpu=0 seq=$i time=$((1000 + i))"; done | events
	record u
	head -c "$(stat -c %s u/fs.iot)" /dev/urandom >noise
	mv noise u/fs.iot
	run --separate-stderr rows u
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	[[ $stderr == *"u/fs.iot: its header is damaged"*"cpu 0, seq 0 to 19999,"*"u: fs: 0 of 20000 events can be read"* ]]
}

@test "an empty block counts its gap, also at the end of a frame" {
	printf 'cpu=0 seq=0 time=1000\n' | events
	record t --compress=never
	for notes in "" "+ note(5, 0, 0, b'words')"; do
		with_trace_file <<-END
			one_frame("t", lambda size: block(0, 2, 0, first=3, gap=3) + block(0, 2, 1, first=3) +
			          record(size, 3) + block(0, 2, 0, first=9, gap=5) $notes, events=1)
		END
		run --separate-stderr rows t
		[ "${#lines[@]}" = 2 ]
		[[ $stderr == *"t: fs: 8 events "*"are missing: they were lost or overwritten"* ]]
	done
}

@test "a block that does not fit its trace is damage, also in a frame whose checksums are right" {
	printf 'cpu=%d seq=0 time=1000\n' 0 1 2 3 | events
	record t --compress=never
	# cpu, event and number of records that the block states; seq of its record; records in it
	for block in "3, 2, 1; 7; 1" "4, 2, 1; 7; 1" "4000000, 2, 1; 7; 1" "3, 2, 1; 8; 1" "3, 2, 2; 7; 1" "3, 3, 1; 7; 1"; do
		IFS=';' read -r said seq there <<<"$block"
		with_trace_file <<-END
			one_frame("t", lambda size: block($said, first=7) + record(size, $seq) * $there, events=1)
		END
		run --separate-stderr rows t
		if [ "$block" = "3, 2, 1; 7; 1" ]; then
			echo "$size $compress: $output"
			[ "$status" = 0 ]
			[ "${#lines[@]}" = 2 ]
		else
			[ "$status" = 1 ]
			[ "${#lines[@]}" = 1 ]
			[[ $stderr == *"t/fs.iot: frame 0, at byte 4096, is damaged"* ]]
		fi
	done
}

@test "compressed frames are as the header of their code says, and what is none of these is damage" {
	printf 'cpu=%d seq=0 time=1000\n' 0 1 2 3 | events
	record t --compress=never
	local three='b"".join(record(size, seq) for seq in (7, 8, 9))' content
	for content in \
		"block(3, 2, 3, first=7) + transposed($three, size)" \
		"block(3, 2, 1, first=7) + transposed(record(size, 7), size) + block(3, 2, 2, first=8) + transposed(record(size, 8) + record(size, 9), size)" \
		"block(3, 2, 4, first=7) + transposed($three, size)" \
		"block(3, 2, 2**32 - 1, first=7) + transposed($three, size)" \
		"block(3, 2, 3, first=7) + transposed($three, size) + bytes(8)" \
		"block(3, 2, 3, first=7) + transposed($three, size) + note(4000, 7, 3, b'x')" \
		"block(3, 2, 3, first=7) + transposed($three, size) + note(2**32 - 1, 7, 3, b'x')"; do
		with_trace_file <<<"one_frame('t', lambda size: $content, events=3, compress=True)"
		echo "$content"
		if [[ $content == *"(3, 2, 3, first=7) + transposed($three, size)" || $content == *'first=8'* ]]; then
			run --separate-stderr rows t --columns=own
			[ "$status" = 0 ]
			[ "$(cut -d , -f 2,3 <<<"$output")" = $'seq,time_ns\n7,8000\n8,9000\n9,10000' ]
		else
			run --separate-stderr rows t
			[ "$status" = 1 ]
			[ "${#lines[@]}" = 1 ]
			[[ $stderr == *"t/fs.iot: the frame at byte 4096 is damaged"* ]]
		fi
	done
}

@test "one event that is missing is reported, and a gap that the module reported is no damage" {
	printf 'cpu=0 seq=0 time=1000 latency=5\ncpu=0 seq=1 time=2000\n' | events
	record t --compress=never
	for gap in 0 1; do
		with_trace_file <<-END
			one_frame("t", lambda size: block(0, 2, 1, first=0) + record(size, 0) +
			          block(0, 2, 1, first=2, gap=$gap) + record(size, 2), events=2)
		END
		run --separate-stderr rows t
		[ "${#lines[@]}" = 3 ]
		if [ "$gap" = 0 ]; then
			[ "$status" = 1 ]
			[[ $stderr == *"events are missing from the file: cpu 0, seq 1 to 1, ended between "* ]]
		else
			[[ $stderr != *"missing from the file"* ]]
		fi
	done
}

@test "notes that are too long, or longer than the frame, are ignored" {
	a_few
	record t --compress=never
	for note in "4194304, 0" "5, 99"; do
		with_trace_file <<-END
			one_frame("t", lambda size: block(0, 2, 1, first=0) + record(size, 0) + note($note), events=1)
		END
		run --separate-stderr rows t
		[ "$status" = 0 ]
		[ "${#lines[@]}" = 2 ]
		[ "$(printf '%s\n' "${lines[@]}" | column cmdline)" = "" ]
	done
}

@test "notes of a frame are found in any order, the first of several; none behind a damaged one" {
	a_few
	record t --compress=never
	with_trace_file <<-END
		def record_at(size, seq, time):
		    return struct.pack("<QQQ", seq, time, 5).ljust(size, b"\0")
		def note_of(seq, cpu, text):
		    return note(len(text), seq, cpu, text + bytes(-len(text) % 8))
		def content(size):
		    return (block(0, 2, 3, first=7) + b"".join(record_at(size, n, 100 * n) for n in (7, 8, 9)) +
		            block(1, 2, 2, first=9) + b"".join(record_at(size, n, 100 * n + 1) for n in (9, 10)) +
		            note_of(10, 1, b"other ten") + note_of(9, 1, b"other nine") + note_of(7, 0, b"seven") +
		            note_of(7, 0, b"seven again") + note_of(7, 2**32 + 1, b"no such cpu") +
		            note(5, 8, 0, b"too long").replace(b"NOTE", b"MOTE") + note_of(8, 0, b"behind it"))
		one_frame("t", content, events=5)
	END
	run --separate-stderr rows t
	[ "$status" = 0 ]
	[ "$(printf '%s\n' "${lines[@]}" | column cmdline | paste -sd,)" = "seven,,,other nine,other ten" ]
}

@test "another file in place of a category's is refused" {
	# the records of fault and cache have the same size
	every_category <<<"cpu=0 seq=0 time=1000000000 latency=5 path=1 op=1"
	record t -c fault,cache --compress=never
	iotracer export t --category=cache | tail -n +2 | grep -q .
	cp t/cache.iot whole
	cp t/fault.iot t/cache.iot
	run --separate-stderr iotracer export t --category=cache
	[ "$status" = 1 ]
	[ -z "$output" ]
	[ "$stderr" = "iotracer: t/cache.iot: is another file: layout 1, event 3, records of 128 bytes, 4 CPUs" ]
	cp whole t/cache.iot
	# the number of CPUs in its header: 65536 at most
	for cpus in '\0\0\1\0' '\1\0\1\0' '\0\0\0\0'; do
		# shellcheck disable=SC2059 # it is bytes
		printf "$cpus" | dd of=t/cache.iot bs=1 seek=44 conv=notrunc status=none
		seal_header t/cache.iot
		run iotracer export t --category=cache
		if [ "$cpus" = '\0\0\1\0' ]; then
			echo "$size $compress: $output"
			[ "$status" = 0 ]
		else
			[ "$status" = 1 ]
			[[ $output == *"is another file: layout 1, event 5, records of 128 bytes, "* ]]
		fi
	done
}

# --- recording ----------------------------------------------------------------

# change FILE OFFSET BYTES: overwrite bytes of a file, given as printf(1) does
change() {
	# shellcheck disable=SC2059 # it is a format
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "record: a stream that is no category's own is refused" {
	every_category <<<"cpu=0 seq=0 time=1000000000"
	tool-stream layout=1 event=3 </dev/null >proc/cache/stream
	run iotracer record -o t -c cache -- true
	[ "$status" = 1 ]
	[[ $output == *"cache: its stream is damaged: layout 1, event 3, records of 128 bytes" ]]
	tool-stream layout=0 event=5 </dev/null >proc/cache/stream
	run iotracer record -o u -c cache -- true
	[ "$status" = 1 ]
	[[ $output == *"cache: its stream is damaged: layout 0, event 5, records of 128 bytes" ]]
}

@test "record: blocks that do not fit the module's stream, and paths that are too long, end it" {
	# a block after the header: its magic number, CPU and event
	for block in '0 JBLK' '4 \4' '8 \3'; do
		events <<<"cpu=3 seq=0 time=1000000000"
		change proc/fs/stream $((48 + ${block% *})) "${block#* }"
		rm -rf t
		run iotracer record -o t -- true
		[ "$status" = 1 ]
		[[ $output == *"fs.iot: the module's stream is damaged"* ]]
	done
	events <<<"cpu=3 seq=0 time=1000000000"
	record whole
	# the length of a path that is longer than any
	paths <<<"id=1 text=/a"
	change proc/paths $((48 + 20)) '\151\20'
	rm -rf t
	run iotracer record -o t -- true
	[ "$status" = 1 ]
	[[ $output == *"paths.iot: the module's paths are damaged"* ]]
}

# is_called PID NAME: a process has this command name
is_called() {
	[ "$(cat "/proc/$1/comm")" = "$2" ]
}

@test "record: command lines are those of processes that still have the name, in calls that did not fail" {
	sleep 1000 2000 3>&- &
	pid=$!
	wait_for is_called "$pid" sleep
	events <<-END
		cpu=0 seq=5 time=1 op=49 pid=$pid comm=sleep
		cpu=0 seq=6 time=2 op=49 pid=$pid comm=sleeq
		cpu=0 seq=7 time=3 op=49 pid=$pid comm=slee
		cpu=0 seq=8 time=4 op=49 pid=$pid comm=sleep result=-2
		cpu=0 seq=9 time=5 op=1 pid=$pid comm=sleep
		cpu=1 seq=5 time=6 op=49 pid=$pid comm=sleepy
		cpu=2 seq=5 time=7 op=49 pid=$pid comm=sleep
	END
	head -c 32 /dev/urandom >key
	record t
	record hidden --anonymize --key-file=key --compress=never
	kill "$pid"
	[ "$(rows t | column cmdline | tr '\n' '|')" = "sleep 1000 2000||||||sleep 1000 2000|" ]
	[ "$(rows t --columns=io-tracer | column cmdline | tr '\n' '|')" = "sleep 1000 2000||||||sleep 1000 2000|" ]
	rows hidden | column cmdline | tr '\n' '|' >lines
	[[ $(cat lines) =~ ^([a-z2-7]{12})\|\|\|\|\|\|([a-z2-7]{12})\|$ ]]
	[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
	run ! grep -ra 'sleep 1' hidden
	rows t --anonymize --key-file=key | column cmdline | tr '\n' '|' | cmp - lines
}

@test "record: a file that cannot be compressed stays as it is, with a message" {
	# the frame's head, or its data, is damaged before the recording ends
	for at in 4096 4200; do
		a_few
		cat >work <<-END
			until [ "\$(stat -c %s t$at/fs.iot)" -gt 4096 ]; do sleep 0.1; done
			printf '\\377\\377' | dd of=t$at/fs.iot bs=1 seek=$at conv=notrunc status=none
			cp t$at/fs.iot damaged
		END
		run --separate-stderr iotracer record -o "t$at" -- bash -e work
		[[ $stderr == *"t$at: is not compressed: Bad message"* ]]
		cmp "t$at/fs.iot" damaged
		[ "$(find "t$at" -name '.*.iot')" = "" ]
		jq -e '.compression == "none" and .categories[0].bytes == 8192' "t$at/metadata.json"
	done
}

@test "compressed in the end, small frames become one, and all rows and losses stay" {
	small_trace t --compress=never
	small_trace one
	rows t >t.csv 2>t.err
	rows one >one.csv 2>one.err
	[ "$(wc -l <one.csv)" = 49 ]
	cmp <(cut -d, -f2- t.csv) <(cut -d, -f2- one.csv) # the time of day is of each its own
	cmp <(sed 's/: t: /: one: /' t.err) one.err
	jq -e '[.categories[0].frames, .paths.frames] == [1, 1]' one/metadata.json || { jq . one/metadata.json; false; }
	jq '.categories[0] | del(.frames, .bytes)' t/metadata.json >t.json
	jq '.categories[0] | del(.frames, .bytes)' one/metadata.json | cmp - t.json
	iotracer traces verify one
	# a block for each CPU, and one more behind the loss: CPU, first seq, events, gap
	with_trace_file <<-'END' | cmp - <(printf '%s\n' '0 0 16 0' '1 0 9 0' '1 12 7 3' '2 5 16 0')
		for block in heads_of_blocks("one"):
		    print(*block)
	END
}

@test "compressed in the end, small frames become one, and command lines stay at their events" {
	bash -c 'exec -a bash sleep 1000' & # its name is sleep
	first=$!
	exec -a other sleep 2000 &
	second=$!
	wait_for grep -qx sleep "/proc/$first/comm"
	wait_for grep -qx sleep "/proc/$second/comm"
	cat >work <<-END
		for frame in 0 1 2; do
			for pid in $first $second; do
				echo "cpu=\$((pid == $first)) seq=\$((frame + 3 * (pid == $first))) time=\$((1000000 + 1000 * frame)) op=49 comm=sleep pid=\$pid"
			done | tool-stream continue layout=1 event=2 >>proc/fs/stream
			until [ "\$(stat -c %s "\$1/fs.iot")" -ge \$((8192 + 4096 * frame)) ]; do sleep 0.1; done
		done
	END
	iotracer record -o t -- bash -e work t 2>/dev/null
	kill "$first" "$second"
	[ "$(jq .categories[0].frames t/metadata.json)" = 1 ]
	[ "$(rows t | tail -n +2 | wc -l)" = 6 ]
	rows t >t.csv
	paste -d: <(column pid <t.csv) <(column cmdline <t.csv) | sort | uniq -c | sed 's/^ *//' >lines
	printf '3 %s:%s\n' "$first" "bash 1000" "$second" "other 2000" | cmp - lines
}


@test "record: the metadata has the limits and, of each file, its size and whether it is compressed" {
	many-events proc 20000 2 100
	for compress in never now end; do
		record "t$compress" --compress=$compress
		jq -e --arg how "${compress/never/none}" --argjson events "$(stat -c %s "t$compress/fs.iot")" \
			--argjson paths "$(stat -c %s "t$compress/paths.iot")" '
			.compression == ($how | sub("now|end"; "zstd")) and .size_limit == null and
			.categories[0].bytes == $events and .paths.bytes == $paths' "t$compress/metadata.json"
	done
	[ "$(stat -c %s tnever/fs.iot)" -gt $((2 * $(stat -c %s tend/fs.iot))) ]
	[ "$(stat -c %s tnever/fs.iot)" -gt $((2 * $(stat -c %s tnow/fs.iot))) ]
	record limited --size=50 --compress=never
	jq -e '.size_limit == 50 * 1048576' limited/metadata.json
}

@test "record: metadata, and control is as it was" {
	a_few
	cp proc/fs/control before
	run --separate-stderr iotracer record -o t -f op=READ,OPEN -f 'uid=5' --sample=3 --buffer=8 \
		--label='first try' --tag=disk=nvme --tag=run=2 -- sh -c 'exit 7'
	[ "$status" = 7 ]
	[[ ${stderr_lines[*]} == *"state     LOSSY (0.00 % of the events)"*"label     first try"*"events    4"* ]]
	jq -e '.state == "LOSSY" and .label == "first try" and .tags == { "disk": "nvme", "run": "2" } and
		.command == ["sh", "-c", "exit 7"] and .anonymized == false and .duration_s > 0 and
		.kernel == $kernel and .host == $host and .begin.realtime_ns < .end.realtime_ns and
		.begin.monotonic_ns < .end.monotonic_ns and (.schema | length) == 16 and
		.categories[0].name == "fs" and .categories[0].events == 4' \
		--arg kernel "$(uname -r)" --arg host "$(uname -n)" t/metadata.json
	jq -e '.events[1].name == "fs" and (.operations | map(select(.event == "fs")) | length) > 40' t/schema.json
	# The file stands in for control: commands are appended to it.
	tail -n +6 proc/fs/control >commands
	grep -qx 'filter op=READ,OPEN uid=5 tree=[0-9]*' commands
	grep -qx 'sample 3' commands
	grep -qx "size $((8 * 1024 * 1024 / 4 / 160))" commands
	[ "$(tail -n 5 commands)" = "$(cat before)" ]
	[ "$(grep -nx "start while-read" commands | cut -d: -f1)" -gt "$(grep -nx reset commands | cut -d: -f1)" ]
}

# category NAME EVENT: make the directory of one more category
category() {
	cp -r proc/fs "proc/$1"
	tool-stream layout=1 "event=$2" </dev/null >"proc/$1/stream"
}

# given CATEGORY: print the first filter that was written to its control
given() {
	sed -n '6,$s/^filter //p' "proc/$1/control" | head -n 1
}

@test "record: a filter applies to one category, or to all for which it has a meaning" {
	category cache 5
	category block 4
	control=$(cat proc/fs/control)
	run --separate-stderr iotracer record -o t --time=0.1 -f fs:op=read -c cache,fs,block \
		-f op=WRITE,Dirty -f uid=root -f min_latency=7 -f 'fs:op=OPEN block:dev=8:1'
	[ "$status" = 0 ]
	[ "$(given fs)" = "op=read op=WRITE uid=0 min_latency=7 op=OPEN" ]
	[ "$(given cache)" = "op=Dirty uid=0" ]
	[ "$(given block)" = "op=WRITE uid=0 min_latency=7 dev=8:1" ]
	# A message reports the filter that does not apply, with the reason, and no other filter.
	[ "$(grep -c 'does not apply' <<<"$stderr")" = 1 ]
	[[ $stderr == *"--filter=min_latency=7 does not apply to cache, which is recorded without it: its events have no duration"* ]]
	for name in fs cache block; do
		[ "$(tail -n 5 "proc/$name/control")" = "$control" ]
		echo "$control" >"proc/$name/control"
	done
	run --separate-stderr iotracer record -o u --time=0.1 -c fs,cache -f op=MISS
	[ "$status" = 0 ]
	[ "$(given fs)" = none ]
	[ "$(given cache)" = op=MISS ]
	[[ $stderr == *"--filter=op=MISS does not apply to fs, which is recorded without it: it has no such operation"* ]]
}

# selected CATEGORY CONDITION...: the seqs of the rows that export shows with these conditions
selected() {
	local category=$1 conditions=()
	shift
	for condition in "$@"; do conditions+=(--filter "$condition"); done
	iotracer export t --category "$category" "${conditions[@]}" -f json | jq -r .seq | paste -sd ' '
}

@test "export --filter: each key, lists, units, and paths by directory and by pattern" {
	category cache 5
	category block 4
	tool-stream layout=1 event=5 >proc/cache/stream <<-'END'
		cpu=0 seq=0 time=1 op=0 pages=1 index=0 pid=7 inode=11 device=0x800001 kind=1
		cpu=0 seq=1 time=2 op=0 pages=2 index=0 pid=8 inode=11 device=0x800001 kind=1
	END
	tool-stream layout=1 event=4 >proc/block/stream <<-'END'
		cpu=0 seq=0 time=1 op=0 requested=4096 device=0x800001 file_device=0xfd00002 pid=7
	END
	events <<-'END'
		cpu=0 seq=0 time=1000 latency=5000000 op=0 pid=7 tid=71 uid=1000 comm=cat path=1 inode=11 device=0x800001 kind=1 requested=4096 result=100 cgroup=77
		cpu=0 seq=1 time=2000 latency=50 op=1 pid=8 tid=81 uid=0 comm=dd path=2 inode=12 device=0x800002 kind=1 requested=10 result=10 cgroup=78
		cpu=0 seq=2 time=3000 latency=9999 op=0 pid=9 tid=91 uid=0 comm=a,b path=3 inode=13 device=0x800001 kind=2 requested=4095 result=-5
		cpu=0 seq=3 time=4000 latency=10000 op=14 pid=7 tid=72 uid=5 comm=mv path=4 path2=2 inode=14 device=0x800002 kind=1
		cpu=0 seq=4 time=5000 latency=1 op=0 pid=7 tid=71 uid=5 comm=mv inode=14 device=0x800002 kind=3
	END
	paths <<-'END'
		id=1 text=/srv/db/a.sst
		id=2 text=/srv/db
		id=3 text=/srv/dbx/b.sst
		id=4 text=/tmp/x\040y
	END
	record t -c fs,cache,block
	while IFS='|' read -r expected category conditions; do
		read -ra words <<<"$conditions"
		echo "$category ${words[*]}"
		[ "$(selected "$category" "${words[@]}")" = "$expected" ]
	done <<-'END'
		0 1 2 3 4|fs|
		0 3 4|fs|pid=7
		1 2|fs|pid=8,9
		0 4|fs|tid=71
		1 2|fs|uid=0
		1 2|fs|comm=a\054b,dd
		0|fs|cgroup=77
		0 2|fs|dev=8:1
		0 1 2 3 4|fs|dev=8:1,8:2
		1 2|fs|inode=12,13
		0 1 3|fs|kind=file
		0 2 4|fs|op=read
		0 1 2 4|fs|op=WRITE,READ
		0 2|fs|op=READ dev=8:1
		0|fs|min_latency=1ms
		0 3|fs|min_latency=10us
		0|fs|min_size=4k
		0 2|fs|min_size=11
		0 1 3|fs|path=/srv/db
		0 1 3|fs|path=/srv/db/
		0|fs|path=/srv/db/a.sst
		0 2|fs|path=*.sst
		0 1 2 3|fs|path=/
		0|fs|path=/srv/db/?.sst
		3|fs|path=/tmp/x\040y
		2 3|fs|path=/tmp,/srv/dbx
		|fs|path=/srv/d
		1|cache|pid=8
		1|cache|min_size=8K
		0 1|cache|min_size=4096
		|cache|min_latency=1
		0|block|dev=8:1
		0|block|dev=253:2
		|block|kind=file
		|block|path=/srv
	END
	iotracer export t --filter pid=8 -o out
	[ "$(tail -qn +2 out/*/*.csv | wc -l)" = 2 ]
	# hashed, too, a directory has what is below it
	[ "$(iotracer export t --category fs -a --filter path=/srv/db -f json | jq -r .seq | paste -sd ' ')" = "0 1 3" ]
}

@test "export --filter: ports, addresses, families, protocols and namespaces of sockets and packets" {
	category net "$(event_id net)"
	category drop "$(event_id drop)"
	category sockopt "$(event_id sockopt)"
	tool-stream layout=1 event="$(event_id net)" >proc/net/stream <<-'END'
		cpu=0 seq=0 time=1 family=2 protocol=6 local=10.1.2.3 remote=192.168.7.1 local_port=5432 remote_port=40000 netns=7
		cpu=0 seq=1 time=2 family=10 protocol=17 local=2001:db8::1 remote=fe80::1 local_port=53 remote_port=5432 netns=7
		cpu=0 seq=2 time=3 family=1 protocol=0 netns=8
		cpu=0 seq=3 time=4 family=10 protocol=262 local=10.1.2.4 remote=127.0.0.1 local_port=80 remote_port=81 netns=8
		cpu=0 seq=4 time=5 family=2 protocol=17 local=0.0.0.0 remote=:: local_port=5000 netns=8
	END
	tool-stream layout=1 event="$(event_id drop)" >proc/drop/stream <<-'END'
		cpu=0 seq=0 time=1 ip_version=4 protocol=6 source=10.1.2.3 destination=10.1.2.4 source_port=1 destination_port=5432 netns=7
		cpu=0 seq=1 time=2 ip_version=6 protocol=17 source=2001:db8::1 destination=2001:db8::2 source_port=53 destination_port=54
		cpu=0 seq=2 time=3 netns=8
	END
	tool-stream layout=1 event="$(event_id sockopt)" >proc/sockopt/stream <<-'END'
		cpu=0 seq=0 time=1 family=2 protocol=6 netns=7
		cpu=0 seq=1 time=2 family=16 protocol=6 netns=7
		cpu=0 seq=2 time=3 netns=8
	END
	events <<<"cpu=0 seq=0 time=1 op=0"
	record t -c fs,net,drop,sockopt
	while IFS='|' read -r expected category conditions; do
		read -ra words <<<"$conditions"
		echo "$category ${words[*]}"
		[ "$(selected "$category" "${words[@]}")" = "$expected" ]
	done <<-'END'
		0 1|net|port=5432
		1 3|net|port=53,81
		|net|port=1
		0|net|addr=10.1.2.3
		0|net|addr=::ffff:10.1.2.3
		0 3|net|addr=10.1.2.3/29
		3|net|addr=10.1.2.4/30
		0 3|net|addr=10.0.0.0/8
		0 3|net|addr=0.0.0.0/0
		1|net|addr=::/0
		1|net|addr=2001:db8::/32
		0 1|net|addr=192.168.0.0/16,fe80::/10
		3|net|addr=127.0.0.1 port=80
		0 4|net|family=inet
		1 2 3|net|family=UNIX,AF_INET6
		0|net|proto=tcp
		1 4|net|proto=17
		3|net|proto=mptcp
		|net|proto=0
		0 1|net|netns=7
		0|drop|port=5432
		0 1|drop|port=1,54
		0|drop|addr=10.1.2.4/32
		1|drop|addr=2001:db8::2
		0|drop|family=inet
		1|drop|family=inet6
		0|drop|proto=tcp
		2|drop|netns=8
		0|sockopt|proto=tcp
		0|sockopt|family=inet
		1|sockopt|family=netlink
		0 1|sockopt|netns=7
		|sockopt|port=5432
		|fs|port=5432
		|fs|addr=::/0
		|fs|family=inet
		|fs|netns=7
	END
	# addresses are compared before they are hashed
	[ "$(iotracer export t --category net -a --filter addr=10.0.0.0/8 --filter port=5432 -f json | jq -r .seq)" = 0 ]
}

@test "record --port, --netns: conditions of the categories that have them, or an error" {
	for name in fs net sockopt drop; do
		idle_category "$name"
		tool-stream layout=1 "event=$(event_id "$name")" </dev/null >"proc/$name/stream"
	done
	number=$(stat -Lc %i /proc/self/ns/net) n=0
	for space in "$$" /proc/self/ns/net; do
		run --separate-stderr iotracer record -o "t$((++n))" --time=0.1 -c fs,net,sockopt,drop --port 5432,80 --netns "$space"
		[ "$status" = 0 ]
		[ "$(given net)" = "port=5432,80 netns=$number" ]
		[ "$(given drop)" = "port=5432,80 netns=$number" ]
		[ "$(given sockopt)" = "netns=$number" ]
		[ "$(given fs)" = none ]
		[[ $stderr == *"--port=5432,80 does not apply to fs, which is recorded without it: its records have no ports"* ]]
		[[ $stderr == *"--port=5432,80 does not apply to sockopt, which is recorded without it: its records have no ports"* ]]
		[[ $stderr == *"--netns=$space does not apply to fs, which is recorded without it: its records have no network namespace"* ]]
		for name in fs net sockopt drop; do
			idle_category "$name"
			tool-stream layout=1 "event=$(event_id "$name")" </dev/null >"proc/$name/stream"
		done
	done
	while IFS='|' read -r options words; do
		read -ra options <<<"$options"
		run iotracer record -o u "${options[@]}" -- touch ran
		echo "$output"
		[ "$status" = 2 ]
		[[ $output == *"iotracer record: $words"* ]]
	done <<-'END'
		--port=5432|--port=5432: it has no meaning for fs: its records have no ports
		-c fs,sockopt --port=5432|--port=5432: it has no meaning for fs: its records have no ports
		--netns=self|--netns=self: No such file or directory; say a name in /run/netns, the number of a process, or a path
		--netns=999999999|--netns=999999999: No such file or directory; say a name
		-c net --netns=/proc/self/ns/pid|--netns=/proc/self/ns/pid: it is no network namespace; say a name
		-c net --netns=/dev/null|--netns=/dev/null: it is no network namespace; say a name
		-c net -f netns=no-such|--filter=netns=no-such: netns=no-such: there is no such network namespace; say its number
		-c net --port=81x|--port=81x: say a port: a number from 1 to 65535
		-c net --port=80,|--port=80,: say a port: a number from 1 to 65535
		-c net --port=80,65536|--port=80,65536: say a port: a number from 1 to 65535
	END
	[ ! -e ran ]
}

@test "export --from, --to: events that began then, by the time of day or since the beginning" {
	for i in 0 1 2 3 4; do echo "cpu=0 seq=$i time=$((1000000000 + i * 250000000)) op=0"; done | events
	record t
	set_clocks t 1500000001000000000
	while IFS='|' read -r expected options; do
		read -ra words <<<"$options"
		echo "${words[*]}"
		[ "$(iotracer export t -f json "${words[@]}" 2>/dev/null | jq -r .seq | paste -sd ' ')" = "$expected" ]
	done <<-'END'
		0 1 2 3 4|
		1 2 3 4|--from=2017-07-14T02:40:00.25
		2 3 4|--from=2017-07-14T02:40:00.250000001Z
		0|--to=2017-07-14T02:40:00.25
		1 2|--from=2017-07-14T02:40:00.2 --to=2017-07-14T02:40:00.75Z
		4|--from=2017-07-14T02:40:01
		0 1 2 3 4|--from=2017-07-14T02:40
		|--to=2017-07-14T02:40
		2 3 4|--from=+0.5
		0 1 2 3|--to=+1
		1|--from=+0.25 --to=+0.5
	END
	for time in x 2017-07-14 2017-07-14T02:40:00x 2017-07-14T02:40:00.5ZZ +x + +1x 1; do
		run -2 iotracer export t --from="$time"
		[[ $output == *"--from=$time: say a time in UTC as "* ]]
	done
	run -2 iotracer export t -f fuse --to=+1
}

@test "export --filter: what is no condition is refused with the reason" {
	record t
	while IFS='|' read -r condition words; do
		run iotracer export t --filter "$condition"
		echo "$output"
		[ "$status" = 2 ]
		[[ ${lines[0]} == *"--filter=$words" ]]
	done <<-'END'
		pid|pid: say KEY=VALUE
		pid=|pid=: say a number, and a comma before the next
		pid=1,|pid=1,: say a number, and a comma before the next
		pid=x|pid=x: say a number, and a comma before the next
		uid=root|uid=root: say a number, and a comma before the next
		pid=18446744073709551616|pid=18446744073709551616: say a number, and a comma before the next
		pid=1 pid=2|pid=2: pid is given twice: say pid=A,B
		min_size=1 min_size=2|min_size=2: min_size is given twice
		tree=1|tree=1: there is no key "tree"; the nearest is tid
		paht=/a|paht=/a: there is no key "paht"; the nearest is path
		path=a|path=a: say a path that begins with /, or a pattern with * or ?
		kind=files|kind=files: say a kind of file, as file, dir, pipe or socket
		dev=8|dev=8: say MAJOR:MINOR, and a comma before the next
		min_latency=1m|min_latency=1m: say nanoseconds: a number, or one with us, ms or s, as 10ms
		min_size=1X|min_size=1X: say bytes: a number, or one with K, M, G or T (of 1024), as 4K
		op=REED|op: no category has an operation "REED"; the nearest is READ
		port=0|port=0: say a port: a number from 1 to 65535
		port=65536|port=65536: say a port: a number from 1 to 65535
		addr=10.0.0|addr=10.0.0: say an address of IPv4 or IPv6, or ADDRESS/BITS
		addr=10.0.0.0/33|addr=10.0.0.0/33: say an address of IPv4 or IPv6, or ADDRESS/BITS
		addr=::/129|addr=::/129: say an address of IPv4 or IPv6, or ADDRESS/BITS
		addr=0.0.0.0|addr=0.0.0.0: say an address of IPv4 or IPv6, or ADDRESS/BITS
		family=inte|family=inte: say a family of sockets, as inet, inet6 or unix, or its number
		proto=65536|proto=65536: say a protocol of IP, as tcp, udp or mptcp, or its number
		netns=blue|netns=blue: say a number, and a comma before the next
	END
	run -2 iotracer export t -f fuse --filter pid=1
	run -2 iotracer export t -a --filter 'path=*.c'
	[[ $output == *"--filter=path=*.c: names are hashed, so say a path, not a pattern"* ]]
}

@test "record: an invalid filter is refused with key, value and reason; nothing is changed" {
	category cache 5
	category block 4
	before=$(cat proc/*/control)
	all=$(categories | paste -sd , | sed 's/,/, /g')
	while IFS='|' read -r recorded filter words; do
		run iotracer record -o t -c "$recorded" -f "$filter" -- touch ran
		echo "$output"
		[ "$status" = 2 ]
		[[ $output == *"--filter=$filter: ${words/ALL/$all}"* ]]
	done <<-'END'
		fs|op=REED|fs has no operation "REED"; the nearest is READ
		fs|op=READ,wriet|fs has no operation "wriet"; the nearest is WRITE
		fs|op=MISS|fs has no operation "MISS"; the nearest is
		fs,cache|op=MISSED|no recorded category has an operation "MISSED"; the nearest is MISS
		fs,cache|cache:op=READ|cache has no operation "READ"; the nearest is
		fs|op=READ,|the name of an operation is missing
		fs|ops=READ|there is no key "ops"; the nearest is op
		fs|MIN_SIZ=5|there is no key "MIN_SIZ"; the nearest is min_size
		fs|pid|say KEY=VALUE, or CATEGORY:KEY=VALUE
		fs|file:pid=1|there is no category "file" (there are: ALL)
		fs|block:op=READ|block is not recorded; name it with --categories
		block|kind=file|it has no meaning for block: a request belongs to a device
		fs|uid=no-such-user|uid=no-such-user: there is no such user here
		fs|fs:dev=no-such-device|dev=no-such-device: there is no such block device
		fs,cache|cache:min_latency=1|it has no meaning for cache: its events have no duration
	END
	[ "$(cat proc/*/control)" = "$before" ]
	[ ! -e ran ]
}

@test "record: the module's own message is shown when it refuses a command" {
	echo 'filter pid=x: pid=x: say a number' >proc/fs/error
	run preloaded TOOL_WRITE_ERROR="22:filter pid=x" iotracer record -o t -f pid=x
	[ "$status" = 1 ]
	[[ $output == *"iotracer: fs: the module refuses filter pid=x: pid=x: say a number"* ]]
	# A message about another command is not shown for this one.
	echo 'size 0: say a number' >proc/fs/error
	run preloaded TOOL_WRITE_ERROR="22:filter pid=x" iotracer record -o t -f pid=x
	[[ $output == *'the module refuses "filter pid=x": it does not know this command'* ]]
	# The process that the previous filter names may have ended.
	sed -i 's/^filter none/filter tree=77/' proc/fs/control
	run preloaded TOOL_WRITE_ERROR="3:filter tree=77" iotracer record -o u --time=0.1
	[ "$status" = 0 ]
	[[ $output == *'fs: "filter tree=77" is not restored, as that process has exited; the filter now is "filter none"'* ]]
	[ "$(tail -n 1 proc/fs/control)" = "filter none" ]
}

@test "record: categories are started, and stopped, in parallel" {
	for c in block cache; do cp -r proc/fs proc/$c; done
	tool-stream layout=1 event=4 </dev/null >proc/block/stream
	tool-stream layout=1 event=5 </dev/null >proc/cache/stream
	for command in start stop; do
		preloaded TOOL_TOGETHER=3:$command iotracer record -c fs,block,cache -o t$command -- true
	done
}

@test "record: few system calls besides those for its data" {
	many-events proc 2000 2 50
	strace -f -y -o calls iotracer record -o t -- true
	[ "$(grep -c 'schema.json>, "' calls)" = 1 ]
	# The recorder's calls after its libraries are loaded, but for data, memory, locks, waiting. What the
	# kernel counts is read at both ends: some 20 files.
	recorder=$(head -n 1 calls | cut -d' ' -f1)
	child=$(sed -nE "s/^$recorder .*\bclone\(.*= ([0-9]+)\$/\1/p; s/^$recorder .*<... clone resumed.*= ([0-9]+)\$/\1/p" calls | head -n 1)
	[ -n "$child" ]
	grep -v "^$child " calls | sed '1,/RLIMIT_STACK/d; s/^[0-9]* *//; /^<\.\.\./d; /^[-+]/d' |
		grep -vE '\.iot|/stream|/proc/paths|signalfd' |
		grep -vE '^(mmap|munmap|mremap|brk|mprotect|madvise|futex|rt_sig[a-z]*|rseq|set_robust_list|getrandom|poll|wait4)\(' >own
	sed 's/(.*//' own | sort | uniq -c
	[ "$(wc -l <own)" -lt 150 ]
}

@test "record: the exit status is the command's" {
	for expected in 0 3 143; do
		case $expected in
		143) set -- sh -c 'kill -TERM $$' ;;
		*) set -- sh -c "exit $expected" ;;
		esac
		run "-$expected" iotracer record -o "t$expected" -- "$@"
		[ "$(jq -r .state "t$expected/metadata.json")" = COMPLETE ]
	done
}

@test "record: of a command that cannot be run there is no trace, and control is untouched" {
	touch plain
	before=$(cat proc/*/control)
	while IFS='|' read -r expected command words; do
		run "-$expected" iotracer record -o none -- "$command"
		[ "$output" = "iotracer: $command: cannot be run: $words" ]
		[ ! -e none ]
	done <<-'END'
		127|./no-such-command|No such file or directory
		127|no-such-command|No such file or directory
		126|./proc|Permission denied
		126|./plain|Permission denied
	END
	[ "$(cat proc/*/control)" = "$before" ]
}

@test "record: SIGINT, SIGTERM and SIGHUP end it cleanly; the command gets them first" {
	cp proc/fs/control before
	for signal in INT TERM HUP; do
		env --default-signal=INT,HUP iotracer record -o "t$signal" 2>"$work/err" &
		pid=$!
		wait_for is_recording
		kill -"$signal" "$pid"
		wait "$pid"
		grep -q 'state  *COMPLETE' "$work/err"
		env --default-signal=INT,HUP iotracer record -o "c$signal" -- \
			bash -c "trap 'exit 5' $signal; touch ready; while :; do sleep 0.1; done" 2>"$work/err" &
		pid=$!
		wait_for test -e ready
		kill -"$signal" "$pid"
		status=0
		wait "$pid" || status=$?
		[ "$status" = 5 ]
		rm ready
		cp before proc/fs/control
	done
}

@test "record: the second signal ends recording at once, and leaves the command running" {
	for second in INT TERM; do
		env --default-signal=INT iotracer record -o t$second -- \
			bash -c 'trap "echo INT >>got" INT; trap "echo TERM >>got" TERM; echo $$ >pid; while :; do sleep 0.1; done' \
			2>"$work/err" 3>&- &
		pid=$!
		wait_for test -s pid
		kill -INT "$pid"
		wait_for test -s got
		state_is t$second RUNNING
		kill -$second "$pid"
		wait "$pid"
		state_is t$second COMPLETE
		# the command got the first one only
		kill -0 "$(cat pid)"
		[ "$(cat got)" = INT ]
		kill -KILL "$(cat pid)"
		rm pid got
		idle_category fs
	done
}

@test "record: a signal after --time is still the command's" {
	iotracer record -o t --time 0.5 -- \
		bash -c 'trap "exit 5" TERM; touch ready; while :; do sleep 0.1; done' 2>"$work/err" &
	pid=$!
	wait_for test -e ready
	wait_for state_is t COMPLETE
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" = 5 ]
}

@test "record: the command gets one SIGINT from a Ctrl-C" {
	python3 - <<-'END'
		import os, pty, signal, time
		work = 'trap "echo got >>signals" INT; touch ready; until [ -e signals ]; do sleep 0.1; done; for i in 1 2 3; do sleep 0.1; done'
		pid, terminal = pty.fork()
		if not pid:
		    signal.signal(signal.SIGINT, signal.SIG_DFL)
		    os.execvp("iotracer", ["iotracer", "record", "-o", "t", "--", "bash", "-c", work])
		while not os.path.exists("ready"):
		    time.sleep(0.1)
		os.write(terminal, b"\x03")
		try:
		    while os.read(terminal, 4096):
		        pass
		except OSError: # no process has the terminal open
		    pass
		os.waitpid(pid, 0)
	END
	[ "$(cat signals)" = got ]
	[ "$(jq -r .state t/metadata.json)" = COMPLETE ]
}

@test "record: the exit status is the command's even if the parent ignores SIGCHLD" {
	run -6 python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp("timeout", ["timeout", "20"] + sys.argv[1:])' iotracer record -o t -- sh -c 'exit 6'
}

@test "record: ends as usual if nobody reads its standard error" {
	a_few
	cp proc/fs/control before
	iotracer record -o t --buffer=8 -- sleep 0.5 2> >(:)
	[ "$(jq -r .state t/metadata.json)" = LOSSY ]
	[ "$(tail -n 5 proc/fs/control)" = "$(cat before)" ]
}

@test "record: ends by --time, --size or SIGINT while events keep coming" {
	many-events proc 10000 1 100
	cp proc/fs/control before
	for how in --time=1 --size=8 INT; do
		options=("$how")
		[ "$how" != INT ] || options=()
		LD_PRELOAD="$BATS_FILE_TMPDIR/tool-preload.so" TOOL_ENDLESS=proc/fs/control \
			env --default-signal=INT iotracer record -o "t$how" --compress=never "${options[@]}" 2>err &
		pid=$!
		# more than once the events of the stream
		[ "$how" != INT ] || { wait_for has_bytes "t$how/fs.iot" 3000000; kill -INT "$pid"; }
		wait "$pid"
		[ "$(jq .categories[0].events "t$how/metadata.json")" -gt 10000 ]
		cp before proc/fs/control
	done
}

@test "record: unloading the module is an error, and what was read before is kept" {
	a_few
	touch gone
	run preloaded TOOL_GONE="$work/gone" iotracer record -o t -- rm proc/fs/stats
	[ "$status" = 1 ]
	[[ $output == *"recording ended with an error: fs.iot: the module was unloaded"* ]]
	[ "$(jq .categories[0].events t/metadata.json)" = 4 ]
	[ "$(rows t 2>/dev/null | wc -l)" = 5 ]
	printf '%s\n' stop 'size 16384' 'sample 1' 'mode overwrite' 'filter none' >proc/fs/control
	printf '%s\n' 'seen 0' 'missed 5' 'cpus 4' 'paths_missed 5' >proc/fs/stats
	run iotracer record -o u -- rm -r proc/fs
	jq -e '.categories[0].missed == null and .categories[0].seen == null and .paths.missed == null' u/metadata.json
	[[ $output == *"missed    0"* ]]
	run iotracer record -o v
	[ "$status" = 1 ]
	[ "$output" = "iotracer: fs: the module that is loaded has no such category" ]
}

@test "record: --time" {
	begin=${EPOCHREALTIME/./}
	iotracer record -o t --time 2 2>/dev/null
	took=$((${EPOCHREALTIME/./} - begin))
	[ "$took" -ge 1900000 ]
	jq -e --argjson took "$took" '.duration_s >= 1.9 and .duration_s * 1e6 <= $took' t/metadata.json
}

escape=$'\033[K' # the progress line begins with it

# on_terminal COMMAND: print what the command writes to a terminal
on_terminal() {
	TERM=xterm script -qec "$1" /dev/null </dev/null | tr -d '\r'
}

@test "progress of record: not shown beside the output of a command" {
	a_few
	on_terminal "iotracer record -o a -- sh -c 'for i in 1 2 3; do echo out \$i; sleep 0.6; echo err \$i >&2; done'" >out
	[ "$(head -n 6 out)" = $'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3' ]
	run ! grep -qF "$escape" out
}

@test "progress of record: shown on a terminal, and cleared before anything else" {
	a_few
	on_terminal "iotracer record --color=never -o b --time=1 >/dev/null" >out
	grep -qF "$escape" out
	grep -qE '[01] s, [01] s left, 4 events, [0-9]+/s, 0 lost, [0-9.]+ MiB' out
	[[ $(sed 's/.*\x1b\[K//' out) =~ ^(iotracer: )?b ]]
}

@test "progress of record: it is renewed, and not more often than twice a second" {
	mkfifo pipe
	many-events proc 1000 2 100
	began=$EPOCHREALTIME
	on_terminal "iotracer record --color=never -o b >/dev/null & echo \$! >pid; wait" >out &
	terminal=$!
	shown() {
		[ "$(grep -oF "$escape" out | wc -l)" -ge 4 ]
	}
	wait_for shown
	kill -INT "$(cat pid)"
	wait "$terminal"
	took=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
	n=$(grep -oF "$escape" out | wc -l)
	echo "$n in $took ms"
	# one at once, and one that clears the line at the end
	[ "$n" -le $((took / 500 + 2)) ]
}

# Of 100 events of files 60 are of one, 30 of a second, three of a third, and one each of seven.
@test "progress of record: the three busiest files, by name and share" {
	paths <<<"$(for i in {1..12}; do echo "id=$i text=/srv/some/file$i"; done; echo 'id=13 text=/')"
	{
		for i in {1..60}; do echo "cpu=0 seq=$((i - 1)) time=$((i * 1000)) path=7"; done
		for i in {61..90}; do echo "cpu=0 seq=$((i - 1)) time=$((i * 1000)) path=3"; done
		for i in {91..99}; do echo "cpu=0 seq=$((i - 1)) time=$((i * 1000)) path=$((i < 94 ? 13 : 120 - i))"; done
		for i in 100 101; do echo "cpu=0 seq=$((i - 1)) time=$((i * 1000)) path=0"; done
		echo "cpu=0 seq=101 time=102000 path=99"
	} | events
	on_terminal "stty cols 200; iotracer record --color=never -o b --time=1 >/dev/null" >out
	grep -q ' MiB; file7 60 %, file3 30 %, / 3 %$' <(sed 's/[\r\x1b]/\n/g' out)
	# hashed names are shown hashed, and what controls a terminal is escaped
	on_terminal "stty cols 200; iotracer record --color=never -o c --time=1 --anonymize >/dev/null" >out
	grep -qE ' MiB; [a-z2-7]{12} 60 %, [a-z2-7]{12} 30 %, / 3 %$' <(sed 's/[\r\x1b]/\n/g' out)
	paths <<<'id=7 text=/srv/\033[31mred'
	on_terminal "stty cols 200; iotracer record --color=never -o d --time=1 >/dev/null" >out
	grep -qF ' MiB; \033[31mred 60 %, ? 30 %, ? 3 %' out
}

@test "progress of record: not shown where standard error is no terminal" {
	a_few
	for how in "2>err" "2>&1 | cat >err" "2>&1 >/dev/null | cat >err"; do
		on_terminal "iotracer record -o c --time=1 $how"
		[ -s err ]
		run ! grep -q $'[\r\033]' err
		rm -r c err
	done
}

@test "progress of record: not shown on a dumb terminal" {
	a_few
	TERM=dumb script -qec "iotracer record -o d --time=1" /dev/null </dev/null >out
	run ! grep -qF "$escape" out
}

@test "progress of export: not shown beside rows, or a program that reads them" {
	many-events proc 100000 2 100
	record t
	on_terminal "iotracer export t" | cmp - <(rows t)
	on_terminal "iotracer export t | cat" | cmp - <(rows t)
}

@test "progress of export: shown on a terminal, and cleared at the end" {
	many-events proc 100000 2 100
	record t
	on_terminal "iotracer export t -o files" >out
	grep -qF "$escape" out
	on_terminal "iotracer export t >rows.csv" >out
	grep -qF "$escape" out
	[[ $(sed 's/.*\x1b\[K//' out) == "" ]]
}

@test "progress of stats, verify, merge and snapshot: shown on a terminal, and cleared at the end" {
	many-events proc 200000 2 100
	record t
	record u
	for command in "stats t" "traces verify t" "traces merge -o both t u" "snapshot -o . fs $PWD"; do
		on_terminal "iotracer $command >/dev/null" >out
		cat -v out
		echo "$command"
		grep -qF "$escape" out
		[[ $(sed 's/.*\x1b\[K//' out) != *[0-9]\ %* ]]
	done
	on_terminal "iotracer stats t >/dev/null" >out
	grep -qE 'fs: [0-9]+ events, [0-9]+ %' out
	on_terminal "iotracer snapshot fs ." >out # beside the rows
	run ! grep -qF "$escape" out
}

@test "record: several -c add up, -c all is every category" {
	every_category <<<"cpu=0 seq=0 time=1000000000"
	record t -c fs -c block
	[ "$(jq -c '[.categories[].name]' t/metadata.json)" = '["fs","block"]' ]
	record u -c block,cache -c fs
	[ "$(jq -c '[.categories[].name]' u/metadata.json)" = '["block","cache","fs"]' ]
	record v -c all
	[ "$(jq -r '.categories[].name' v/metadata.json | sort)" = "$(categories | sort)" ]
}

@test "record: times and sizes take units" {
	every_category <<<"cpu=0 seq=0 time=1000000000"
	for option in --time=1m --time=2h --time=1d --time=30s --size=1G --size=2T --size=500M; do
		record "w$option" $option
	done
	iotracer record -o x --time 0.02m 2>/dev/null
	jq -e '.duration_s >= 1.1' x/metadata.json
}

@test "record: --size, within a tenth" {
	many-events proc 200000 2 100
	for size in 3M 3500K; do
		limit=$(numfmt --from=iec $size)
		for compress in never now; do
			run iotracer record -o "t$compress$size" --size=$size --compress=$compress -- true
			[ "$status" = 0 ]
			bytes=$(cat "t$compress$size"/*.iot | wc -c)
			[ "$bytes" -le "$limit" ]
			[ "$bytes" -ge $((limit * 9 / 10)) ]
			[ $(($(rows "t$compress$size" | wc -l) - 1)) = "$(jq .categories[0].events "t$compress$size/metadata.json")" ]
		done
	done
}

@test "record: a full disk ends it with an error, and a trace that can be read" {
	[ "$(id -u)" = 0 ] || skip "takes root to mount a small filesystem"
	many-events proc 200000 2 100
	mkdir disk
	mount -t tmpfs -o size=5M none disk
	status=0
	iotracer record -o disk/t -- true 2>err || status=$?
	rows disk/t >t.csv 2>export.err || true
	state=$(jq -r '.state + " " + .reason' disk/t/metadata.json)
	events=$(jq .categories[0].events disk/t/metadata.json)
	umount disk
	cat err export.err
	[ "$status" = 1 ]
	[ "$state" = "ERROR fs.iot: No space left on device" ]
	grep -q 'recording ended with an error: fs.iot: No space left on device' err
	grep -q 'recording ended with an error' export.err
	[ "$events" -gt 20000 ]
	[ $(($(wc -l <t.csv) - 1)) = "$events" ]
}

@test "record: a file that may not grow is an error, not the limit of --size" {
	many-events proc 200000 2 100
	for signal in default-signal ignore-signal; do
		run bash -c "ulimit -f 4096; exec env --$signal=XFSZ iotracer record -o $signal --compress=never -- true"
		[ "$status" = 1 ]
		[ "$(jq -r '.state + " " + .reason' $signal/metadata.json)" = "ERROR fs.iot: File too large" ]
		# no part of a frame is left
		[ "$(stat -c %s $signal/fs.iot)" = "$(jq '.categories[0].bytes' $signal/metadata.json)" ]
	done
}

@test "record: refuses a second recorder" {
	iotracer record -o t 2>/dev/null &
	pid=$!
	wait_for is_recording
	run iotracer record -o u
	[ "$status" = 1 ]
	[ "$output" = "iotracer: fs is being recorded by process $pid (iotracer record -o t): wait for it, or end it (kill -INT $pid); other categories can be recorded meanwhile (-c)" ]
	kill "$pid"
	wait "$pid"
}

@test "record: refuses a category in use" {
	printf '%s\n' start 'size 16384' 'sample 1' 'mode overwrite' 'filter none' >proc/fs/control
	run iotracer record -o u -- touch ran
	[ "$status" = 1 ]
	[[ $output == *"fs is being traced already"*"to end that: iotracer stop fs" ]]
	[ "$(wc -l <proc/fs/control)" = 5 ]
}

@test "record: refuses a directory that exists" {
	mkdir t
	run iotracer record -o t -- touch ran
	[ "$status" = 1 ]
	[[ $output == *"t: cannot be made: File exists"* ]]
	[ ! -e ran ]
}

@test "record: exit 3 without the module" {
	export IOTRACER_PROC=$work/none
	run iotracer record -o u
	[ "$status" = 3 ]
	[[ $output == *"the module is not loaded"* ]]
}

@test "record, export: usage errors exit 2" {
	a_few
	record t
	for arguments in "record --time=0" "record --time=x" "record --time=1x" "record --time=m" "record --time=1mm" \
		"record --time=99999999d" "record --size=1X" "record --size=" "record --size=-1" "record --sample=0" \
		"record -c nothing" "record -c fs,fs" "record -c fs -c fs" "record -c all -c fs" "record -c all,x" "record --tag=x" "record --key-file=t" "record --compress=x" \
		"record --buffer=3x" "export" "export t -o d --per-category" "export t -f json -o d --per-category" \
		"export t -f xml" "export t u -o d" "export t --category=x -o d" "export t --rotate=x -o d" \
		"export t --key-file=t -o d"; do
		# shellcheck disable=SC2086
		run iotracer $arguments
		echo "$arguments: $status: $output"
		[ "$status" = 2 ]
	done
}

@test "export: a category that the trace lacks is an error" {
	a_few
	record t
	run iotracer export t --per-category --category=block
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "iotracer: t: has no category block: metadata.json says what it has" ]
}

@test "record: bytes of a tag that are no text are escaped" {
	a_few
	record t --tag=$'\xff=x'
	[ "$(jq -c .tags t/metadata.json)" = '{"\\377":"x"}' ]
}

@test "export: control characters in metadata are escaped" {
	a_few
	record t
	jq '.state = "ERROR" | .reason = "a\u001b[31m" | .categories[0].name = "b\u001b"' t/metadata.json >changed
	mv changed t/metadata.json
	run rows t
	[ "$status" = 1 ]
	[[ $output == *'ended with an error: a\033[31m'*'category b\033 is not known'* ]]
}

@test "export: metadata without categories is an error" {
	a_few
	record t
	echo '{"state":"COMPLETE"}' >t/metadata.json
	run rows t
	[ "$status" = 1 ]
}

# --- the lines of FUSE ------------------------------------------------------------

# lines_of TRACE [OPTION]...: print the lines without their times
lines_of() {
	iotracer export "$1" --format=fuse "${@:2}" | sed 's/^[^:]*: *//'
}

@test "--format=fuse: the RELEASE inside of a close follows its FLUSH, all else stays in order" {
	printf 'id=%d inode=1%d text=/%s\n' 1 1 a 2 2 b | paths
	events <<-'END'
		cpu=0 seq=0 time=100 latency=10 op=7 tid=5 inode=11 path=1 kind=1
		cpu=1 seq=0 time=100 latency=20 op=0 tid=6 inode=12 path=2 kind=1
		cpu=0 seq=1 time=90 latency=50 op=6 tid=5 inode=11 path=1 kind=1
		cpu=0 seq=2 time=200 latency=5 op=6 tid=5 inode=12 path=2 kind=1
		cpu=0 seq=3 time=210 latency=5 op=7 tid=5 inode=12 path=2 kind=1
		cpu=1 seq=1 time=220 latency=1 op=20 tid=6 inode=12 path=2 kind=1
		cpu=0 seq=4 time=300 latency=10 op=7 tid=5 inode=11 path=1 kind=1
		cpu=0 seq=5 time=320 latency=10 op=6 tid=5 inode=11 path=1 kind=1
		cpu=0 seq=6 time=400 latency=10 op=7 tid=5 inode=11 path=1 kind=1
		cpu=0 seq=7 time=420 latency=10 op=29 tid=5 inode=11 path=1 kind=1
		cpu=0 seq=8 time=500 latency=10 op=7 tid=5 inode=11 path=1 kind=1
		cpu=1 seq=2 time=2000000000 latency=1 op=0 tid=6 inode=12 path=2 kind=1
		cpu=0 seq=9 time=3000000000 latency=10 op=7 tid=5 inode=12 path=2 kind=1
	END
	record t
	lines_of t | sed 's/;.*//' >lines
	diff lines - <<-'END'
		READ: path=/b
		FLUSH: path=/a
		RELEASE: path=/a
		FLUSH: path=/b
		RELEASE: path=/b
		GETATTR: path=/b
		RELEASE: path=/a
		FLUSH: path=/a
		RELEASE: path=/a
		UNLINK: path=/a
		RELEASE: path=/a
		READ: path=/b
		RELEASE: path=/b
	END
	iotracer export t --format=fuse -o rows --rotate=5
	[ "$(cat rows/fs/*.trace | sed 's/^[^:]*: *//; s/;.*//')" = "$(cat lines)" ]
	# more threads than wait at a time
	for ((i = 0; i < 40; i++)); do
		echo "cpu=0 seq=$i time=$((100 + i)) latency=1 op=7 tid=$((100 + i)) inode=11 path=1 kind=1"
	done | events
	record many
	[ "$(lines_of many | sort | uniq -c | sed 's/^ *//')" = "40 RELEASE: path=/a" ]
}

@test "--format=fuse: only directories have no line for what they are opened by" {
	paths <<<'id=1 inode=11 text=/a'
	for kind in 1 2 3; do
		for op in 4 6 7 26; do
			echo "cpu=0 seq=$((n++)) time=$((n * 100)) op=$op tid=7 inode=11 path=1 kind=$kind"
		done
	done | events
	record t
	[ "$(lines_of t | sed 's/:.*//' | tr '\n' ' ')" = \
		"OPEN FLUSH RELEASE READDIR READDIR OPEN FLUSH RELEASE READDIR " ]
}

@test "--format=fuse: --below has what is in the tree, and what is moved or linked into it" {
	printf 'id=%d inode=1%d text=/%s\n' 1 1 in/a 2 2 out/b 3 3 in 4 4 inside | paths
	{
		for op in 0 29 30 31 32; do
			for pair in 1,2 2,1 2,4 4,2 3,1; do
				echo "cpu=0 seq=$((n++)) time=$((n * 100)) op=$op tid=7 path=${pair%,*} path2=${pair#*,} kind=1"
			done
		done
	} | events
	record t
	lines_of t --below=/in | sed 's/; length.*//' | diff - <(cat <<-'END'
		READ: path=/a
		READ: path=/
		UNLINK: path=/a
		UNLINK: path=/
		RENAME: path=/a; new=(elsewhere)
		RENAME: path=(elsewhere); new=/a
		RENAME: path=/; new=/a
		LINK: path=/a; new=(elsewhere)
		LINK: path=(elsewhere); new=/a
		LINK: path=/; new=/a
		SYMLINK: path=/a; target=/out/b
		SYMLINK: path=/; target=/in/a
	END
	)
}

@test "--format=fuse: that nothing is below a directory is said" {
	a_few
	record t
	run --separate-stderr iotracer export t --format=fuse --below=/home/bob
	[ "$status" = 0 ]
	[ -z "$output" ]
	[[ $stderr == *"t: no event is below /home/bob: paths in a trace begin at the root of the machine, or of the container"* ]]
	run --separate-stderr iotracer export t --format=fuse --below=/home/ann
	[[ $stderr != *"no event is below"* ]]
}

# --- files --------------------------------------------------------------------

@test "export -o: a file in a directory of the category, named by its time" {
	many-events proc 25000 2 100
	record t
	for format in csv json; do
		iotracer export t -o $format -f $format
		[[ $(find $format -type f) =~ ^$format/fs/fs_[0-9]{8}_[0-9]{6}_[0-9]{3}\.$format$ ]]
	done
	rows t | cmp - csv/fs/*.csv
	[ "$(wc -l <json/fs/fs_*.json)" = 25000 ]
}

@test "export -o --rotate: a part has that many rows, and a header" {
	many-events proc 25000 2 100
	record t
	iotracer export t -o parts --rotate=10000
	for file in parts/fs/*; do
		[[ $file =~ /fs/fs_[0-9]{8}_[0-9]{6}_[0-9]{3}\.csv$ ]]
	done
	[ "$(wc -l parts/fs/*.csv | sed -E 's/^ *([0-9]+) .*/\1/' | tr '\n' ' ')" = "10001 10001 5001 25003 " ]
	for part in parts/fs/*.csv; do head -n 1 "$part"; done | sort -u | cmp - <(rows t | head -n 1)
	cmp <(tail -qn +2 parts/fs/*.csv) <(rows t | tail -n +2)
}

@test "export -o --rotate: parts that begin at the same time have the names of the next milliseconds" {
	events <<-'END'
		cpu=0 seq=0 time=1123000000
		cpu=0 seq=1 time=1123000001
		cpu=0 seq=2 time=1123000002
		cpu=0 seq=3 time=1124000000
		cpu=0 seq=4 time=1132000000
	END
	record t
	set_clocks t 1500000001000000000
	iotracer export t -o parts --rotate=1
	[ "$(cd parts/fs && echo *)" = "$(printf 'fs_20170714_024000_%d.csv ' 123 124 125 126 132 | sed 's/ $//')" ]
	for part in parts/fs/*.csv; do column seq <"$part"; done | tr '\n' ' ' >order
	[ "$(cat order)" = "0 1 2 3 4 " ]
}

@test "export -o --gzip: the same, compressed" {
	many-events proc 25000 2 100
	record t
	iotracer export t -o packed --gzip --rotate=10000
	[ "$(find packed -name 'fs_*.csv.gz' | wc -l)" = 3 ]
	for part in packed/fs/*.gz; do zcat "$part" | tail -n +2; done | cmp - <(rows t | tail -n +2)
	iotracer export t --per-category --gzip | zcat | cmp - <(rows t)
}

@test "export -o: a file that exists is not overwritten" {
	a_few
	record t
	iotracer export t -o plain 2>err
	run iotracer export t -o plain
	[ "$status" = 1 ]
	[[ $output == *"is there already"* ]]
}

@test "export -o: a trace without events gives a header alone" {
	a_few
	record t
	events </dev/null
	record empty
	iotracer export empty -o none
	[ "$(cat none/fs/*.csv)" = "$(rows t 2>/dev/null | head -n 1)" ]
}

# made_in DIRECTORY: make all that the tool makes, each below DIRECTORY. Each of them fails, or none.
made_in() {
	local status=() command
	for command in "record -o $1/t -- true" "export one -o $1" "snapshot system -o $1/s" "traces merge -o $1/m one two"; do
		# shellcheck disable=SC2086 # several words
		status+=("$(iotracer $command >>said 2>&1; echo $?)")
	done
	echo "${status[@]}"
}

@test "-o: no link that another user made where all can write is followed; links of one's own are" {
	[ "$(id -u)" = 0 ] || skip "takes root to be two users"
	a_few
	record one
	record two
	chmod 755 "$work"
	mkdir victim home
	mkdir -m 1777 sticky
	mkdir -m 777 open
	chown 65534 home
	for place in sticky open; do
		unprivileged ln -s "$work/victim" $place/link
		unprivileged mkdir $place/theirs
		unprivileged ln -s "$work/victim" $place/theirs/link
		unprivileged ln -s "$work/victim" $place/theirs/fs
		for name in link link/below theirs/link ../$place/link; do
			[ "$(made_in "$place/$name")" = "1 1 1 1" ]
		done
		grep -q 'link is a symbolic link of another user, where others can write: it is not followed' said
		run -1 iotracer export one -o $place/theirs
		[[ $output == *"$place/theirs/fs: cannot be made: Not a directory"* ]]
		[ -z "$(ls -A victim)" ]
		# a name that is there already is not taken for the directory that is made
		run -1 iotracer record -o $place/link -- true
		[[ $output == *"$place/link: cannot be made: File exists"* ]]
	done
	# a link of one's own, and in a directory where only its owner can write
	ln -s "$work/victim" sticky/own
	unprivileged ln -s "$work/victim" home/link
	for name in sticky/own home/link; do
		[ "$(made_in $name)" = "0 0 0 0" ]
		[ "$(cd victim && echo *)" = "fs m s t" ]
		rm -r victim/*
	done
	# a ring of links
	ln -s b a; ln -s a b
	[ "$(made_in a)" = "1 1 1 1" ]
}

@test "-o: what is made is for its owner alone" {
	a_few
	record one
	record two
	umask 0
	[ "$(made_in new)" = "1 0 0 0" ] # a trace makes no directories above it
	rm -r new/m
	[ "$(made_in new)" = "0 1 0 0" ]
	[ -z "$(find new -perm /077 ! -type l)" ]
	[ "$(find new -type f | wc -l)" -ge 9 ]
}

@test "export: output that cannot be written is an error" {
	many-events proc 25000 2 100
	record t
	for arguments in "--per-category" "-f json" "--per-category --gzip"; do
		run bash -c "iotracer export t $arguments 2>&1 >/dev/full"
		[ "$status" = 1 ]
		[[ $output == *"the output could not be written: No space left on device"* ]]
	done
	run iotracer export t -o /dev/full/x
	[ "$status" = 1 ]
}

@test "memory does not grow with the trace" {
	for events in 100000 2000000; do
		many-events proc $events 4 2000
		for compress in never end; do
			record "t$events$compress" --compress=$compress
			python3 - "t$events$compress" >"rss$events$compress" <<-'END'
				import resource, subprocess, sys
				subprocess.run(["iotracer", "export", sys.argv[1], "--per-category"],
				               stdout=subprocess.DEVNULL, check=True)
				print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
			END
			rm -r "t$events$compress"
		done
	done
	for compress in never end; do
		small=$(cat rss100000$compress) large=$(cat rss2000000$compress)
		echo "$small $large"
		[ "$large" -le $((small * 12 / 10)) ]
	done
}

# --- the window ---------------------------------------------------------------------

# now_ns: print CLOCK_MONOTONIC
now_ns() {
	python3 -S -s -c 'import time; print(time.monotonic_ns())'
}

@test "record: what ended before all categories had started is left out and counted" {
	idle_category block
	for category in fs block; do
		echo 't0_ns 1' >>proc/$category/stats
		sed -i 's/^seen 0/seen 12/' proc/$category/stats
		tool-stream layout=1 event="$(event_id $category)" </dev/null >proc/$category/stream
	done
	# the command makes the events: some ended before, others end now
	cat >events <<-'END'
		now=$(now_ns)
		for category in fs block; do
			tool-stream continue layout=1 event="$(event_id $category)" >>proc/$category/stream <<-ROWS
				cpu=0 gap=2 seq=2 time=1000 latency=5
				cpu=0 seq=3 time=1001
				cpu=0 seq=4 time=1002
				cpu=1 seq=7 time=1000
				cpu=2 gap=1 seq=5 time=$now
				cpu=0 seq=5 time=$((now - 1000000000)) latency=1000000000
				cpu=0 gap=1 seq=7 time=$now
				cpu=0 seq=8 time=999
				cpu=3 gap=1 seq=9
			ROWS
		done
	END
	export -f now_ns event_id
	export TOP
	iotracer record -c fs,block -o t -- bash events 2>err || { cat err; false; }
	# once a processor is in the window it stays there
	jq -c '.categories[] | [.name, .events, .lost, .outside, .seen, .seq_by_cpu]' t/metadata.json >counts
	diff counts - <<-'END'
		["fs",4,3,6,12,{"0":{"first":5,"next":9},"2":{"first":4,"next":6},"3":{"first":8,"next":9}}]
		["block",4,3,6,12,{"0":{"first":5,"next":9},"2":{"first":4,"next":6},"3":{"first":8,"next":9}}]
	END
	for category in fs block; do
		[ "$(rows t --category=$category 2>/dev/null | column seq | tr "\n" " ")" = "5 7 8 5 " ]
	done
	run --separate-stderr iotracer traces verify ./t
	[ "$status" = 0 ]
	[[ $stderr == *"3 events"*"are missing: they were lost or overwritten"* ]]
}

# --- anonymize ----------------------------------------------------------------

@test "anonymize: names hashed, extensions kept, the same under one key only" {
	# A hashed name has only letters and the digits 2 to 7. Each word that is searched for below
	# has another digit, so that no hashed name contains it by chance.
	paths <<-'END'
		id=1 text=/h0me/ann1/the8is.tex
		id=2 text=/h0me/ann1/the8is.pdf
		id=3 text=/h0me/bob1/.pr0file
		id=4 text=/srv/ann1/archiv9.tar.gz
		id=5 text=../up/ann1
		id=6 text=/h0me/ann1/2026.01.07
		id=7 text=/h0me/ann1/x.configuration1
		id=8 text=/h0me/ed1tor1
	END
	for ((i = 1; i <= 8; i++)); do
		echo "cpu=0 seq=$((i - 1)) time=$i path=$i path2=$((9 - i)) op=30 comm=ed1tor$((i % 2))"
	done | events
	head -c 32 /dev/urandom >key
	head -c 32 /dev/urandom >key2
	record plain
	sed -i 's/^filter none/filter op=OPEN,RENAME comm=ed1tor1/' proc/fs/control
	record hidden --anonymize --key-file=key -l kept --compress=never
	rows plain --anonymize --key-file=key | cut -d, -f2- >a
	rows hidden | cut -d, -f2- >b
	cmp a b
	rows plain --anonymize --key-file=key2 | cut -d, -f2- >c
	rows plain --anonymize | cut -d, -f2- >d
	rows plain --anonymize | cut -d, -f2- >e
	rows plain >open
	for word in h0me ann1 bob1 the8is archiv9 pr0file ed1tor 2026; do
		grep -qF $word open
		run ! grep -F $word a c d e
		[ $word = 2026 ] || run ! grep -raF $word hidden
	done
	jq -e '.categories[0].filter | test("^op=OPEN,RENAME comm=[a-z2-7]{12}$")' hidden/metadata.json
	jq -e --arg host "$(uname -n)" '.anonymized and .host != $host and .command != ["true"] and .label == "kept"' hidden/metadata.json
	python3 - <<-'END'
		import csv, re
		def read(name):
		    return [r["path2"] for r in csv.DictReader(open(name, newline=""))]
		header = open("open").readline().split(",", 1)[1]
		def rows(name):
		    return list(csv.DictReader(open(name, newline="")))
		a, c, d, e = (rows(n) for n in "acde")
		assert len(a) == 8
		path = {8 - i: r["path2"].split("/") for i, r in enumerate(a)}
		assert all(re.fullmatch(r"([a-z2-7]{12}(\.[a-z0-9]+)?|\.\.|)", p) for q in path.values() for p in q), path
		assert path[1][1:3] == path[2][1:3] and path[1][1] == path[3][1]
		assert path[1][2] == path[4][2] == path[5][2] != path[3][2]
		assert path[1][3].endswith(".tex") and path[2][3].endswith(".pdf") and path[1][3][:12] != path[2][3][:12]
		assert path[4][3].endswith(".gz") and path[4][3].count(".") == 1
		assert path[3][3].count(".") == 0 and path[6][3].count(".") == 0
		assert path[7][3].count(".") == 0
		assert path[5][0] == ".." and path[1][0] == ""
		names = [set(p for r in rows_ for p in r["path2"].split("/")) - {"", ".."} for rows_ in (a, c, d, e)]
		for i in range(4):
		    for j in range(i):
		        assert not names[i] & names[j]
		comms = {r["comm"] for r in a}
		assert path[8][2] not in comms # hashes of two kinds of name differ
		assert len(comms) == 2 and all(re.fullmatch("[a-z2-7]{12}", n) for n in comms)
	END
}

@test "anonymize: each name of a filter is hashed as in the records" {
	events <<-'END'
		cpu=0 seq=0 time=1 op=1 comm=one
		cpu=0 seq=1 time=2 op=1 comm=two,\040b
	END
	head -c 32 /dev/urandom >key
	sed -i 's/^filter none/filter pid=7 comm=one,two\\054\\040b,three op=WRITE/' proc/fs/control
	record hidden --anonymize --key-file=key
	mapfile -t hashes < <(rows hidden | column comm)
	filter=$(jq -r '.categories[0].filter' hidden/metadata.json)
	[[ $filter =~ ^"pid=7 comm=${hashes[0]},${hashes[1]},"[a-z2-7]{12}" op=WRITE"$ ]]
}

@test "anonymize: addresses, ports and paths of a filter are hashed as in the records" {
	idle_category drop
	tool-stream layout=1 event="$(event_id drop)" >proc/drop/stream \
		<<<"cpu=0 seq=0 time=1 source=10.0.0.7 destination=fd00::8 source_port=5432 destination_port=80"
	paths </dev/null
	head -c 32 /dev/urandom >key
	sed -i 's|^filter none|filter proto=TCP addr=10.0.0.7,fd00::8/64,127.0.0.1,10.0.0.0/8 port=5432,80 path=/home/the8is,/a\\\\054b|' \
		proc/drop/control
	record hidden -c drop --anonymize --key-file=key
	row=$(iotracer export hidden -f json)
	run ! grep -F -e the8is -e 10.0.0. -e fd00::8 hidden/metadata.json
	mapfile -t words < <(jq -r '.categories[0].filter' hidden/metadata.json | tr ' ' '\n')
	echo "${words[@]}"
	[ "${words[0]}" = proto=TCP ]
	[[ ${words[1]} =~ ^"addr=$(jq -r .source <<<"$row"),$(jq -r .destination <<<"$row")/64,127.0.0.1,100::"[0-9a-f:]+/8$ ]]
	[ "${words[2]}" = "port=$(jq -r .source_port <<<"$row"),80" ]
	[[ ${words[3]} =~ ^path=/[a-z2-7]{12}/[a-z2-7]{12},/[a-z2-7]{12}$ ]]
}

@test "anonymize: addresses and ports: the same are one, others are others, loopback and ports below 1024 stay" {
	idle_category drop
	{
		for n in {1..40}; do
			echo "cpu=0 seq=$((n - 1)) time=$n source=10.0.0.$((n % 20)) destination=fd00::$n source_port=$((1023 + n)) destination_port=$((n * 25))"
		done
		echo "cpu=0 seq=40 time=41 source=127.0.0.5 destination=::1 source_port=1023 destination_port=65535"
		echo "cpu=0 seq=41 time=42 source=0.0.0.0 destination=:: source_port=0 destination_port=80"
	} >packets
	tool-stream layout=1 event="$(event_id drop)" <packets >proc/drop/stream
	paths </dev/null
	head -c 32 /dev/urandom >key
	record plain -c drop
	tool-stream layout=1 event="$(event_id drop)" <packets >proc/drop/stream
	record hidden -c drop --anonymize --key-file=key
	for name in source destination source_port destination_port; do
		# shellcheck disable=SC2094 # column only reads its standard input
		rows plain --anonymize --key-file=key | column $name >$name
		rows hidden | column $name | cmp - $name
	done
	[ "$(sort -u source | wc -l)" = 22 ]
	[ "$(sort -u destination | wc -l)" = 42 ]
	[ "$(head -n 40 source source_port destination | grep -cE '^(10\.|fd00:)')" = 0 ]
	[ "$(head -n 40 source destination | grep -c '^100::')" = 80 ]
	[ "$(tail -n 2 source | paste -sd ' ')" = "127.0.0.5 0.0.0.0" ]
	[ "$(tail -n 2 destination | paste -sd ' ')" = "::1 " ]
	[ "$(tail -n 2 source_port | paste -sd ' ')" = "1023 0" ]
	# 25, 50 ... 1000 stay
	[ "$(head -n 40 destination_port | paste -sd ' ')" = "$(seq 25 25 1000 | paste -sd ' ')" ]
	[ "$(head -n 40 source_port | sort -u | wc -l)" = 40 ]
	[ "$(head -n 40 source_port | awk '$1 < 1024 || $1 > 65535' | wc -l)" = 0 ]
	[ "$(rows plain | column source_port | paste -sd ' ')" != "$(paste -sd ' ' source_port)" ]
}

@test "anonymize: names of UNIX sockets, in a trace as in its rows" {
	idle_category conn
	{
		echo "cpu=0 seq=0 time=1 name=/run/secret/socket.sock"
		echo "cpu=0 seq=1 time=2 name=@secret/@x"
		echo "cpu=0 seq=2 time=3 name=/$(printf 'secret/%.0s' {1..15})s" # its hashes do not fit
		echo "cpu=0 seq=3 time=4"
	} >sockets
	tool-stream layout=1 event="$(event_id conn)" <sockets >proc/conn/stream
	paths </dev/null
	head -c 32 /dev/urandom >key
	record plain -c conn
	tool-stream layout=1 event="$(event_id conn)" <sockets >proc/conn/stream
	record hidden -c conn --anonymize --key-file=key
	run grep -rl secret hidden
	[ "$output" = "" ]
	rows hidden | column name >names
	# shellcheck disable=SC2094 # column only reads its standard input
	rows plain --anonymize --key-file=key | column name | cmp - names
	[[ $(sed -n 1p names) =~ ^/[a-z2-7]{12}/[a-z2-7]{12}/[a-z2-7]{12}\.sock$ ]]
	[[ $(sed -n 2p names) =~ ^'\100'[a-z2-7]{12}/[a-z2-7]{12}$ ]]
	[ "$(sed -n 3p names | tr -d '\n' | wc -c)" = 108 ]
	[ "$(sed -n 4p names)" = "" ]
}

@test "anonymize: a trace recorded with --anonymize stays as it is" {
	a_few
	record hidden --anonymize
	run rows hidden --anonymize
	[ "$status" = 0 ]
	[[ $output == *"was recorded with --anonymize: its names stay as they are"* ]]
}

@test "anonymize: the key may come from a pipe, in parts" {
	a_few
	record plain
	head -c 32 /dev/urandom >key
	rows plain --anonymize --key-file=key | cut -d, -f2- >a
	rows plain --anonymize --key-file=<(head -c 16 key; sleep 0.3; tail -c 16 key) | cut -d, -f2- >f
	cmp a f
}

@test "anonymize: a key has 16 to 4096 bytes" {
	a_few
	record plain
	for size in 0 1 15 4097 5000; do
		head -c $size /dev/zero >bad
		run rows plain --anonymize --key-file=bad
		[ "$status" = 1 ]
		[[ $output == *"a key has 16 to 4096 bytes, this file has $([ $size -lt 16 ] && echo fewer || echo more) ("* ]]
	done
	head -c 4096 /dev/urandom >key4096
	for size in 16 17 4095 4096; do
		head -c $size key4096 >key
		rows plain --anonymize --key-file=key 2>/dev/null | column path | head -n 1 >hashed-$size
	done
	# each byte of the key counts
	[ "$(sort -u hashed-* | wc -l)" = 4 ]
}

# sum FIELD TRACE...: print the sum of a number of the category in metadata.json
sum() {
	local field=$1
	shift
	jq -s "map(.categories[0].$field) | add" "${@/%//metadata.json}"
}

# In nanoseconds: later than this machine's clock. The recorder puts what happened before a trace
# ends into that trace; with such times it does not look for more.
later=4000000000000000000

@test "record: --rotate, each trace is whole, and together they have every event once" {
	many-events proc 200000 2 100 $later
	for compress in never now; do
		iotracer record -o "$compress" --rotate=3M --compress=$compress -- \
			bash -c "until [ -d $compress.000002 ]; do sleep 0.1; done" 2>"$compress.err"
		traces=("$compress".0*)
		[ "$(sum events "${traces[@]}")" = 200000 ]
		[ "$(sum lost "${traces[@]}")" = 0 ]
		n=0
		for trace in "${traces[@]}"; do
			n=$((n + 1))
			iotracer traces verify "./$trace" >/dev/null
			[ "$trace" = "$(printf '%s.%06d' "$compress" $n)" ]
			jq -e ".segment == $n and .state == \"COMPLETE\" and .categories[0].seen == null" "$trace/metadata.json" >/dev/null
			rows "$trace" 2>/dev/null | tail -n +2 | cut -d, -f2-
		done | sort >together
		iotracer record -o "whole-$compress" --compress=$compress -- true 2>/dev/null
		rows "whole-$compress" 2>/dev/null | tail -n +2 | cut -d, -f2- | sort | cmp - together
		unset 'traces[-1]'
		for trace in "${traces[@]}"; do
			[ "$(cat "$trace"/*.iot | wc -c)" -ge $((3 * 1048576)) ]
			[ "$(grep -c "^iotracer: $trace: COMPLETE, " "$compress.err")" = 1 ]
		done
	done
}

@test "record: --rotate by time, and --keep deletes the oldest" {
	many-events proc 200000 2 100 $later
	iotracer record -o old --rotate=3M --keep=4M --compress=never -- \
		bash -c 'while [ -d old.000001 ]; do sleep 0.1; done' 2>err
	[ ! -e old.000001 ]
	traces=(old.0*)
	last=${traces[-1]}
	unset 'traces[-1]'
	# the newest that has ended stays, and takes most of what is allowed
	[ "${#traces[@]}" = 1 ]
	[ "$(sum events "${traces[@]}" "$last")" -lt 200000 ]
	iotracer traces verify "./$last" "./${traces[0]}" >/dev/null

	iotracer record -o time --rotate=1s -- bash -c 'until [ -d time.000003 ]; do sleep 0.1; done' 2>/dev/null
	[ "$(sum events time.0*)" = 200000 ]
	jq -e '.duration_s >= 1' time.000001/metadata.json time.000002/metadata.json
}

@test "record: --rotate, the time limit and the strictness are of the whole" {
	lose_most
	run iotracer record -o t --rotate=1s --strict -- bash -c 'until [ -d t.000002 ]; do sleep 0.1; done'
	[ "$status" = 1 ]
	[ "$(sum lost t.0*)" = 4900 ]
	jq -e '.state == "LOSSY"' t.000001/metadata.json
	jq -e '.state == "COMPLETE" and .categories[0].events == 0' t.000002/metadata.json
	[[ $output == *"iotracer: t.000001: 4900 events were lost"* ]]
	iotracer record -o u --rotate=1s --time=2.2 2>/dev/null
	jq -es 'map(.duration_s) | add >= 2.1' u.0*/metadata.json
}

@test "record: --rotate, paths are in each trace, and none of an earlier one is lost" {
	events <<<"cpu=0 seq=0 time=1 path=2"
	printf '%s\n' "id=2 text=/a" "id=7 text=/b" | paths
	run iotracer record -o t --rotate=1s --strict -- bash -c 'until [ -d t.000002 ]; do sleep 0.1; done'
	# a gap in the table at the start is a path that was lost
	[ "$status" = 1 ]
	[ "$(jq .paths.lost t.000001/metadata.json)" = 4 ]
	[ "$(jq -c '[.paths.count, .paths.lost, .state]' t.000002/metadata.json)" = '[2,0,"COMPLETE"]' ]
}

@test "record: the paths that are there at the start leave room for the next read" {
	# the module refuses a read without room for the longest path
	python3 - >text <<-'END'
		for i in range(1, 400):
		    print(f'id={i} text=/{"p" * (3 * i)}')
	END
	paths <text
	[ "$(stat -c %s proc/paths)" -gt 200000 ]
	events <<<'cpu=0 seq=0 time=1 path=399'
	strace -f -o calls -e trace=read -P proc/paths iotracer record -o t -- true 2>/dev/null
	grep -oE ', [0-9]+\) += [1-9][0-9]*$' calls | tr -d ',)=' >reads
	[ "$(wc -l <reads)" -ge 4 ]
	awk '$1 < 8192 { print; wrong = 1 } END { exit wrong }' reads
	[ "$(jq '.paths.count' t/metadata.json)" = 399 ]
	[ "$(rows t | column path | wc -c)" = $((1 + 3 * 399 + 1)) ]
}

@test "record: --rotate, the next directory is taken: the trace ends with that error" {
	mkdir other
	many-events other 200000 2 100 $later
	# the events come when the directory is there; 48 bytes are the header
	run iotracer record -o t --rotate=3M --compress=never -- \
		bash -c 'mkdir t.000002; tail -c +49 other/fs/stream >>proc/fs/stream; sleep 5'
	[ "$status" = 1 ]
	[[ $output == *"t.000002: cannot be made: File exists"* ]]
	jq -e '.state == "ERROR"' t.000001/metadata.json
	run iotracer traces verify ./t.000001
	[[ $output == *" events can be read"* ]]
	[ -z "$(ls -A t.000002)" ]
}

# kept NAME NUMBER MIB: a trace of NAME that has ended, of so many MiB
kept() {
	local trace
	trace=$1.$(printf %06d "$2")
	cp -r one "$trace"
	head -c "$(($3 << 20))" /dev/zero >"$trace/fs.iot"
}

@test "record: --keep is of the name: a recording that is started again goes on, within the same limit" {
	a_few
	record one
	kept s 1 3
	kept s 2 2
	kept s 7 1
	kept s 1000010 1
	kept other 1 9
	# what is not a trace of this name and this user is neither counted nor deleted
	mkdir s.000003 s.12 s.000004x sx.000001
	cp -r one/. s.12
	mkdir elsewhere && mv s.000002 elsewhere/s && ln -s elsewhere/s s.000009
	kept s 2 2
	iotracer record -o s --rotate=1h --keep=2500K -- true 2>/dev/null
	[ "$(echo s.*)" = "s.000003 s.000004x s.000007 s.000009 s.1000010 s.1000011 s.12" ]
	jq -e '.segment == 1000011' s.1000011/metadata.json
	[ -e elsewhere/s/metadata.json ] && [ -e other.000001/metadata.json ]

	# the newest that has ended stays, whatever it takes
	iotracer record -o s --rotate=1h --keep=1K -- true 2>/dev/null
	[ "$(echo s.1*)" = "s.1000011 s.1000012 s.12" ]
	[ ! -e s.000007 ]

	# three runs of a service: never more than the limit, and the newest ended one
	for ((i = 0; i < 3; i++)); do
		kept v $((i + 1)) 2
		iotracer record -o v --rotate=1h --keep=5M -- true 2>/dev/null
		[ "$(du -cm v.* | tail -n 1 | cut -f 1)" -le 7 ]
		rm -r "v.$(printf %06d $((i + 2)))"
	done
	iotracer record -o v --rotate=1h -- true 2>/dev/null
	[ "$(echo v.*)" = "v.000002 v.000003 v.000004" ]
}

@test "record: --rotate, a name that another recorder has is refused" {
	iotracer record -o t --rotate=1h 2>/dev/null &
	recorder=$!
	wait_for is_recording
	idle_category block
	tool-stream layout=1 event=4 </dev/null >proc/block/stream
	run iotracer record -c block -o t --rotate=1h -- touch ran
	kill "$recorder"
	wait "$recorder"
	[ "$status" = 1 ]
	[[ $output == *"t.000001: is being recorded: name another directory (-o), or end that recorder" ]]
	[ ! -e ran ] && [ ! -e t.000002 ]
}

@test "record: --rotate and --keep are refused where they have no meaning" {
	for options in "--rotate=5" "--rotate=5x" "--rotate=" "--keep=5M" "--rotate=5M --size=3" "--rotate=0.5s" \
		"--rotate=5M --snapshots"; do
		# shellcheck disable=SC2086 # they are several
		run iotracer record -o t $options -- true
		[ "$status" = 2 ]
		[ ! -e t ] && [ ! -e t.000001 ]
	done
}

@test "record: --rotate, a full disk ends it with an error; the traces before that are whole" {
	[ "$(id -u)" = 0 ] || skip "takes root to mount a small filesystem"
	many-events proc 200000 2 100 $later
	mkdir disk
	mount -t tmpfs -o size=8M none disk
	run iotracer record -o disk/t --rotate=3M --compress=never -- sleep 1
	recorded=$status said=$output
	states=$(jq -rs 'map(.state) | join(" ")' disk/t.0*/metadata.json)
	run iotracer traces verify disk/t.000001
	umount disk
	[ "$recorded" = 1 ]
	[ "$states" = "COMPLETE ERROR" ]
	[[ $said == *"disk/t.000002: recording ended with an error: fs.iot: No space left on device"* ]]
	[[ $output == *whole* && $output != *"not whole"* ]]
}
