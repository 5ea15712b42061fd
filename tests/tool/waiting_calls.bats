#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Calls that wait: `iotracer waiting`, and what a trace keeps of them. The module's files are those of a
# directory that looks like /proc/iotracer; tests/vm/categories/waiting.py has the real ones.

# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	work=$(mktemp -d /tmp/iotracer-waiting.XXXXXX)
	cd "$work" || return
	export IOTRACER_PROC=$work/proc
	for name in fs net conn epoll; do
		idle_category $name
		tool-stream layout=1 event="$(event_id $name)" </dev/null >proc/$name/stream
	done
	tool-stream layout=2 </dev/null >proc/paths
	cat >proc/net/waiting <<-'END'
		RECV a\040b\0733-x/y-7/8 cookie=5 fd=3 family=AF_INET local_port=8080 remote_port=443 local=192.0.2.1 remote=2001:db8::1
		SEND psql-9/9 fd=4 way=CALL
		RECV psql-9/10 fd=4 way=CALL
	END
	echo 'ACCEPT nginx-70/70 fd=6 state=LISTEN name=/run/nginx/sock' >proc/conn/waiting
	: >proc/epoll/waiting
}

teardown() {
	cd /
	rm -rf "$work"
}

@test "waiting: a line for each call of each category that has such calls" {
	iotracer waiting --color=never >shown
	diff shown - <<-'END'
		net    RECV a b;3-x/y-7/8 cookie=5 fd=3 family=AF_INET local_port=8080 remote_port=443 local=192.0.2.1 remote=2001:db8::1
		net    SEND psql-9/9 fd=4 way=CALL
		net    RECV psql-9/10 fd=4 way=CALL
		conn   ACCEPT nginx-70/70 fd=6 state=LISTEN name=/run/nginx/sock
	END
	[ "$(iotracer waiting conn epoll)" = 'conn   ACCEPT nginx-70/70 fd=6 state=LISTEN name=/run/nginx/sock' ]
	[ -z "$(iotracer waiting epoll)" ]
}

@test "waiting: JSON has an object for each call, numbers as numbers, names as they are" {
	iotracer waiting -f json net conn | jq -c '.[]' >shown
	diff shown - <<-'END'
		{"category":"net","op":"RECV","comm":"a b;3-x/y","pid":7,"tid":8,"cookie":5,"fd":3,"family":"AF_INET","local_port":8080,"remote_port":443,"local":"192.0.2.1","remote":"2001:db8::1"}
		{"category":"net","op":"SEND","comm":"psql","pid":9,"tid":9,"fd":4,"way":"CALL"}
		{"category":"net","op":"RECV","comm":"psql","pid":9,"tid":10,"fd":4,"way":"CALL"}
		{"category":"conn","op":"ACCEPT","comm":"nginx","pid":70,"tid":70,"fd":6,"state":"LISTEN","name":"/run/nginx/sock"}
	END
	[ "$(iotracer waiting -f json epoll)" = '[]' ]
	echo 'POLL 77-1/1 maximum=1 timeout=-1' >proc/epoll/waiting
	[ "$(iotracer waiting -f json epoll | jq -c '.[0] | [.comm, .timeout]')" = '["77",-1]' ]
}

@test "waiting: a name cannot control the terminal" {
	printf '%s\n' 'RECV \033[31m\012x-7/8 fd=3' >proc/net/waiting
	[ "$(iotracer waiting net)" = 'net    RECV \033[31m\012x-7/8 fd=3' ]
}

@test "waiting: what is wrong is said in a line" {
	run iotracer waiting nets
	[ "$status" = 2 ]
	[ "$output" = 'iotracer: nets: there is no such category: say net, conn or epoll' ]
	run iotracer waiting fs
	[ "$status" = 2 ]
	[ "$output" = 'iotracer: fs: its calls do not wait without limit: say net, conn or epoll' ]
	run iotracer waiting nets conn
	[ "$status" = 2 ]
	[ "${#lines[@]}" = 2 ]
	rm -r proc
	for name in '' net; do
		run iotracer waiting $name
		[ "$status" = 3 ]
		[[ $output == *'the module is not loaded'* ]]
		[ "${#lines[@]}" = 1 ]
	done
}

@test "record: the calls that wait at the end are counted, kept, and shown" {
	iotracer record -c fs,net,conn,epoll -o t -- true 2>summary
	grep -x '  waiting   4 calls: 2 RECV, 1 SEND, 1 ACCEPT' summary
	jq -c '.categories[] | [.name, .waiting.calls, .waiting.by_op, (.waiting.listed | length?)]' t/metadata.json >kept
	diff kept - <<-'END'
		["fs",null,null,0]
		["net",3,{"RECV":2,"SEND":1},3]
		["conn",1,{"ACCEPT":1},1]
		["epoll",0,{},0]
	END
	iotracer traces show --color=never t | grep '^  waiting' >shown
	diff shown - <<-'END'
		  waiting     net: RECV a b;3-x/y-7/8 cookie=5 fd=3 family=AF_INET local_port=8080 remote_port=443 local=192.0.2.1 remote=2001:db8::1
		  waiting     net: SEND psql-9/9 fd=4 way=CALL
		  waiting     net: RECV psql-9/10 fd=4 way=CALL
		  waiting     conn: ACCEPT nginx-70/70 fd=6 state=LISTEN name=/run/nginx/sock
	END
	iotracer traces verify t
}

@test "record: of very many calls all are counted, and the first 64 of a category kept" {
	for ((i = 1; i <= 1000; i++)); do echo "RECV x-$i/$i fd=3"; done >proc/net/waiting
	iotracer record -c net -o t -- true 2>summary
	grep -x '  waiting   1000 calls: 1000 RECV' summary
	iotracer traces show t | grep '^  waiting' >shown
	[ "$(wc -l <shown)" = 65 ]
	[ "$(sed -n '1p; $p' shown)" = $'  waiting     net: RECV x-1/1 fd=3\n  waiting     net: 936 more' ]
}

@test "record: without such calls, or a module that lists none, nothing is said" {
	: >proc/net/waiting
	rm proc/conn/waiting
	iotracer record -c net,conn -o t -- true 2>summary
	run ! grep waiting summary
	run ! grep waiting <(iotracer traces show t)
	[ "$(jq -c '[.categories[].waiting.calls]' t/metadata.json)" = '[0,null]' ]
}

@test "record --rotate: the last trace has the calls" {
	iotracer record -c net -o all --rotate=1h -- true 2>summary
	grep '^  waiting   3 calls: 2 RECV, 1 SEND' summary
	[ "$(jq .categories[0].waiting.calls all*/metadata.json)" = 3 ]
}

@test "record --anonymize: names, addresses and ports are hashed as those of records" {
	head -c 32 /dev/zero >key
	tool-stream layout=1 event="$(event_id net)" >proc/net/stream <<-'END'
		cpu=0 seq=3 time=1000000000 latency=500 op=1 comm=psql local_port=8080 remote_port=443
	END
	echo 'RECV psql-9/10 fd=4 local_port=8080 remote_port=443 local=192.0.2.1 remote=::1' >proc/net/waiting
	iotracer record --anonymize --key-file=key -c net,conn -o t -- true 2>/dev/null
	run ! grep -E 'psql|nginx|8080|192\.0\.2\.1' t/metadata.json
	jq -r '.categories[0].waiting.listed[0] | [.comm, .local_port, .remote_port] | @csv' t/metadata.json |
		tr -d '"' >kept
	iotracer export -f json t --category=net 2>/dev/null | jq -r '[.comm, .local_port, .remote_port] | @csv' |
		tr -d '"' | diff kept -
	jq -r '.categories[0].waiting.listed[0] | .local, .remote' t/metadata.json >ends
	grep -E '^100::' ends
	[ "$(sed -n 2p ends)" = ::1 ]
	[[ $(jq -r '.categories[1].waiting.listed[0].name' t/metadata.json) =~ ^(/[a-z2-7]{12}){3}$ ]]
}
