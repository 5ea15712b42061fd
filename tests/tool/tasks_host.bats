#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What the commands of the tool do with processes, services and containers, of a directory that
# looks like /proc/iotracer, and of a tree of control groups that is made for the test. Needs
# neither root nor the module.

# Tests run in subshells, and "run --separate-stderr" sets stderr.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	unset NO_COLOR
	work=$(mktemp -d /tmp/iotracer-tasks.XXXXXX)
	chmod 755 "$work"
	export IOTRACER_PROC=$work/proc IOTRACER_ROOT=$work/root
	mkdir -p "$IOTRACER_PROC" "$IOTRACER_ROOT/proc/self"
	: >"$IOTRACER_PROC/control"
	mounted
	cd "$work" || return
}

teardown() {
	cd /
	rm -rf "$work"
}

# mounted [POINT [ROOT]]: mount the control groups there
mounted() {
	point=${1:-/sys/fs/cgroup}
	mkdir -p "$IOTRACER_ROOT$point"
	printf '%s\n' '22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw' \
		'30 22 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw' \
		'31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory' \
		"32 30 0:28 ${2:-/} $point rw - cgroup2 cgroup2 rw" >"$IOTRACER_ROOT/proc/self/mountinfo"
}

# group PATH...: make control groups, with files as they have
group() {
	local path
	for path; do
		mkdir -p "$IOTRACER_ROOT$point$path"
		touch "$IOTRACER_ROOT$point$path/cgroup.procs"
	done
}

# sent COMMAND ARGUMENT...: print what the command writes to control
sent() {
	rm -f "$work/writes"
	TOOL_WRITES=$work/writes preloaded iotracer "$@" && cut -d : -f 2- "$work/writes"
}

# refused WORDS ARGUMENT...: check that add sends nothing, and says only one line, with these words
refused() {
	local words=$1
	shift
	rm -f writes
	TOOL_WRITES=$work/writes run --separate-stderr preloaded iotracer add "$@"
	[ "$status" = 1 ]
	[ ! -e writes ]
	[ "${#stderr_lines[@]}" = 1 ]
	[ "$stderr" = "iotracer: $words" ]
}

# traced NAME TEXT [REMARK...]: make a target of processes as the module would show it, with three
# events, one of a path that is not known
traced() {
	local dir=$IOTRACER_PROC/$1
	mkdir "$dir"
	echo "1 364.358689497 16384 3" >"$dir/control"
	printf '%s\n' "target $1" "tasks $2" 'max_events 16384' 'memory_bytes 65536' \
		'level seen stored overwritten lost missed' \
		'vfs 3 3 0 0 0' 'blk 0 0 0 0 0' 'total 3 3 0 0 0' >"$dir/stats"
	echo '0.5;-;0;0;VFS;sh;7;MKDIR;/srv/sub;;0' >"$dir/log"
	tool-stream layout=1 event=2 >"$dir/stream" <<-'END'
		cpu=0 seq=0 time=1000 op=33 pid=7 tid=7 comm=sh path=1 flags2=493 kind=2
		cpu=0 seq=1 time=2000 op=1 pid=8 tid=8 comm=sh path=2 offset=5 requested=6 result=6 kind=1
		cpu=0 seq=2 time=3000 op=0 pid=8 tid=8 comm=sh requested=6 result=6 kind=1
	END
	tool-stream layout=2 >"$IOTRACER_PROC/paths" <<<$'id=1 text=/srv/sub\nid=2 text=/etc/a'
	echo "$*" >>"$IOTRACER_PROC/control"
}

# container_id DIGIT: an ID of 64 digits that begins with it
container_id() {
	printf "%s%063d" "$1" 7
}

# podman_list FILE [ID NAME]...: make a list of podman's storage
podman_list() {
	local file=$IOTRACER_ROOT$1
	shift
	mkdir -p "${file%/*}"
	while [ $# -gt 0 ]; do
		jq -n --arg id "$1" --arg name "$2" '{ id: $id, names: [ $name, "another" ], layer: "x" }'
		shift 2
	done | jq -s . >"$file"
}

# docker_container ID NAME [DATA]
docker_container() {
	local dir=$IOTRACER_ROOT${3:-/var/lib}/docker/containers/$1
	mkdir -p "$dir"
	jq -n --arg name "/$2" '{ StreamConfig: {}, ID: "x", Name: $name, State: { Running: true } }' >"$dir/config.v2.json"
}

# --- processes ------------------------------------------------------------------

@test "add: processes, each option as often as wanted, with each other and with files" {
	[ "$(sent add --pid 1234)" = 'add pid=1234' ]
	[ "$(sent add --pid=0012 --follow)" = 'add tree=12' ]
	[ "$(sent add --comm postgres)" = 'add comm=postgres' ]
	[ "$(sent add --comm a --pid 3 f --pid 4 --comm=b --cgroup /x g)" = 'add f 4096
add g 4096
add comm=a
add pid=3
add pid=4
add comm=b
add cgroup=/x' ]
	[ "$(sent add --follow --pid 3 --cgroup /x --pid 4)" = $'add tree=3\nadd cgroup=/x\nadd tree=4' ]
}

@test "add --network: for processes of each kind, not for files" {
	[ "$(sent add --network --pid 3 --follow --comm a --cgroup /x -n 5)" = $'add -n tree=3 5\nadd -n comm=a 5\nadd -n cgroup=/x 5' ]
	[ "$(sent add --network -a f --pid 3)" = $'add -a f 4096\nadd -n pid=3' ]
	for arguments in 'f' '--vm x --files'; do
		# shellcheck disable=SC2086
		run iotracer add --network $arguments
		[ "$status" = 2 ]
		[[ ${lines[0]} == "iotracer add: --network goes with processes and services (--pid, --unit ...), or with --vm without --files: a file has no sockets" ]]
	done
}

@test "add: the number of events is for processes, too; without one the module's own is taken" {
	[ "$(sent add --comm 'a b,c\054d' --comm=e)" = $'add comm=a\\040b\nadd comm=c,d\nadd comm=e' ]
	[ "$(sent add -n 42 f --pid 5 --comm x --cgroup /x)" = 'add f 42
add pid=5 42
add comm=x 42
add cgroup=/x 42' ]
	[ "$(sent add --pid 5 --comm x --cgroup /x)" = $'add pid=5\nadd comm=x\nadd cgroup=/x' ]
}

@test "add: what is escaped in names of threads and control groups" {
	[ "$(sent add --comm 'a b 7' --comm $'tab\t\\' --comm 'kworker/0:1' --cgroup '/x y')" = 'add comm=a\040b\0407
add comm=tab\011\134
add comm=kworker/0:1
add cgroup=/x\040y' ]
}

@test "add, remove: what is wrong with the options is one line and exit status 2" {
	while IFS='|' read -r arguments words; do
		for command in add remove; do
			# shellcheck disable=SC2086
			run iotracer $command $arguments
			echo "$command $arguments: $status: $output"
			[ "$status" = 2 ]
			[[ ${lines[0]} == "iotracer $command: $words"* ]]
		done
	done <<-'END'
		--pid=0|--pid=0: say a number from 1 to 2147483647
		--pid=-1|--pid=-1: say a number
		--pid=12x|--pid=12x: say a number
		--pid=|the name of a process or service is empty
		--comm=|the name of a process or service is empty
		--comm=a,|the name of a process or service is empty
		--comm=a,sixteen-bytes-ab|--comm=sixteen-bytes-ab: a thread's name has 15 bytes at most, the kernel cuts it off: say "sixteen-bytes-a"
		--unit=|the name of a process or service is empty
		--container=|the name of a process or service is empty
		--cgroup=|the name of a process or service is empty
		--comm=sixteen-bytes-ab|--comm=sixteen-bytes-ab: a thread's name has 15 bytes at most, the kernel cuts it off: say "sixteen-bytes-a"
		--follow|--follow goes with --pid: a control group always has the children
		--follow x|--follow goes with --pid: a control group always has the children
		--follow --comm=x|--follow goes with --pid: a control group always has the children
		--follow --unit=x|--follow goes with --pid: a control group always has the children
		--follow --container=x|--follow goes with --pid: a control group always has the children
		--follow --cgroup=/x|--follow goes with --pid: a control group always has the children
		--pid|option '--pid' requires an argument
	END
	[[ $(iotracer add -i --pid 3 2>&1) == "iotracer add: --inode goes with FILE: "* ]]
	[[ $(iotracer remove --all --pid 3 2>&1) == "iotracer remove: say either which processes or --all"* ]]
	[ "$(sent add --comm fifteen-bytes-a)" = 'add comm=fifteen-bytes-a' ]
}

@test "add: with --vm, processes are added, too" {
	TOOL_WRITES=$work/writes run --separate-stderr preloaded iotracer add --vm none --pid 3
	[ "$status" = 1 ]
	[ "$stderr" = 'iotracer: none: no VM with this name or PID runs here (iotracer vm list)' ]
	[ "$(cat writes)" = '10:add pid=3' ]
}

# --- what the module refuses ------------------------------------------------------

@test "add: the module's own reason is shown, if it is of this command" {
	echo 'add pid=99: there is no such process' >"$IOTRACER_PROC/error"
	TOOL_WRITE_ERROR=3:add run --separate-stderr preloaded iotracer add --pid 99
	[ "$status" = 1 ]
	[ "$stderr" = 'iotracer: the module refuses add pid=99: there is no such process' ]
	echo 'remove /x: it is not traced' >"$IOTRACER_PROC/error"
	TOOL_WRITE_ERROR=3:add run --separate-stderr preloaded iotracer add --pid 99
	[ "$stderr" = 'iotracer: pid=99: no such process' ]
}

@test "add: each error is explained in one line, also without the module's reason" {
	while read -r errno words; do
		TOOL_WRITE_ERROR="$errno:add" run --separate-stderr preloaded iotracer add --comm 'a b'
		echo "$errno: $status $stderr"
		[ "$status" = 1 ]
		[[ $stderr == "iotracer: comm=a b: "*"$words"* ]]
		[ "${#stderr_lines[@]}" = 1 ]
	done <<-END
		2 no such control group
		3 no such process
		5 unloaded
		12 max_events_limit
		22 1 to 15 bytes
		28 as many processes and services are traced as can be
		95 without category fs
		7 Argument list too long
	END
	echo 'add x: old' >"$IOTRACER_PROC/error"
	TOOL_WRITE_ERROR=5:add run --separate-stderr preloaded iotracer add --pid 3
	[ "$stderr" = 'iotracer: pid=3: the module is being unloaded' ]
	TOOL_WRITE_ERROR=1:add run --separate-stderr preloaded iotracer add --pid 3
	[ "$status" = 4 ]
	[[ $stderr == *'permission denied: needs CAP_PERFMON'* ]]
}

@test "add: of several processes those that can be added are, exit status 1" {
	rm -f writes
	TOOL_WRITES=$work/writes TOOL_WRITE_ERROR='3:add pid=4' run --separate-stderr preloaded iotracer add --pid 3 --pid 4 --unit none --pid 5
	[ "$status" = 1 ]
	[ "$stderr" = 'iotracer: none.service: has no control group: it is not running, or there is no such unit (systemctl status NAME)
iotracer: pid=4: no such process' ]
	[ "$(cat writes)" = $'10:add pid=3\n10:add pid=5' ]
}

@test "add: no module: exit status 3 and one line, whatever is asked for" {
	IOTRACER_PROC=$work/none run --separate-stderr iotracer add --pid 3 --unit x
	[ "$status" = 3 ]
	[ "${#stderr_lines[@]}" = 1 ]
}

# --- control groups -----------------------------------------------------------------

@test "add --cgroup: by the path in the hierarchy, which need not exist" {
	[ "$(sent add --cgroup /system.slice/x.service --cgroup //a//b/ --cgroup /)" = 'add cgroup=/system.slice/x.service
add cgroup=/a/b
add cgroup=/' ]
}

@test "add --cgroup: by a path of the directory, absolute or relative, through links, with slashes" {
	for at in /sys/fs/cgroup /sys/fs/cgroup/unified '/run/control\040groups'; do
		mounted "$at"
		point=${at/\\040/ }
		group /system.slice/x.service/sub
		[ "$(sent add --cgroup "$point/system.slice/x.service")" = 'add cgroup=/system.slice/x.service' ]
		[ "$(sent add --cgroup "$point//system.slice///x.service/")" = 'add cgroup=/system.slice/x.service' ]
		[ "$(sent add --cgroup "$point/system.slice/gone.service/")" = 'add cgroup=/system.slice/gone.service' ]
		[ "$(sent add --cgroup "$point")" = 'add cgroup=/' ]
		cd "$IOTRACER_ROOT$point/system.slice"
		[ "$(sent add --cgroup x.service/ --cgroup . --cgroup ../system.slice/x.service/sub --cgroup gone)" = 'add cgroup=/system.slice/x.service
add cgroup=/system.slice
add cgroup=/system.slice/x.service/sub
add cgroup=/system.slice/gone' ]
		cd "$work"
		ln -sfn "$IOTRACER_ROOT$point/system.slice" link
		[ "$(sent add --cgroup link/x.service)" = 'add cgroup=/system.slice/x.service' ]
		rm -r "$IOTRACER_ROOT$point"
	done
}

@test "add --cgroup: of a mount that shows a part of the hierarchy" {
	mounted /sys/fs/cgroup /docker/abc
	group /inner.slice/x.service
	[ "$(sent add --cgroup /sys/fs/cgroup/inner.slice --cgroup /sys/fs/cgroup --unit x)" = 'add cgroup=/docker/abc/inner.slice
add cgroup=/docker/abc
add cgroup=/docker/abc/inner.slice/x.service' ]
}

@test "add --cgroup: a relative path that is not among control groups is refused" {
	mkdir d
	for path in d none system.slice/x.service; do
		refused "$path: is not the directory of a control group (cgroup2): name one, or the path that /proc/PID/cgroup shows after 0::" --cgroup "$path"
	done
	# beside the mount point, with a name that begins as it does
	mkdir -p root/sys/fs/cgroup2
	cd root/sys/fs/cgroup2
	run iotracer add --cgroup .
	[ "$status" = 1 ]
}

# --- units ----------------------------------------------------------------------------

@test "add --unit: by its name, with or without .service" {
	group /init.scope /system.slice/postgresql.service /system.slice/system-getty.slice/getty@tty1.service \
		/system.slice/ssh.socket /user.slice/user-0.slice/session-3.scope /system.slice/_memory.service \
		'/system.slice/odd\x2dname.service' '/system.slice/dots.in.name.service' /system.slice/postgresql.service/postgresql
	while read -r name path; do
		[ "$(sent add --unit "$name")" = "add cgroup=$path" ]
	done <<-'END'
		postgresql /system.slice/postgresql.service
		postgresql.service /system.slice/postgresql.service
		getty@tty1 /system.slice/system-getty.slice/getty@tty1.service
		ssh.socket /system.slice/ssh.socket
		init.scope /init.scope
		session-3.scope /user.slice/user-0.slice/session-3.scope
		system-getty.slice /system.slice/system-getty.slice
		memory /system.slice/_memory.service
		odd\x2dname /system.slice/odd\134x2dname.service
		dots.in.name /system.slice/dots.in.name.service
	END
	[ "$(sent add --unit postgresql --unit memory)" = 'add cgroup=/system.slice/postgresql.service
add cgroup=/system.slice/_memory.service' ]
}

@test "add --unit: the machine's goes before those of users and containers" {
	local user=/user.slice/user-1000.slice/user@1000.service
	group /a.slice/docker-1.scope/system.slice/dbus.service $user/app.slice/dbus.service \
		/system.slice/dbus.service /system.slice/docker-2.scope/system.slice/dbus.service \
		/zone.slice/web.service /a.slice/docker-1.scope/web.service
	[ "$(sent add --unit dbus)" = 'add cgroup=/system.slice/dbus.service' ]
	[ "$(sent add --unit web)" = 'add cgroup=/zone.slice/web.service' ]
}

@test "add --unit: a user's is taken if it is the only one; of several all are named" {
	local user=/user.slice/user-1000.slice/user@1000.service
	group $user/app.slice/sync.service
	[ "$(sent add --unit sync)" = "add cgroup=$user/app.slice/sync.service" ]
	group ${user//1000/1001}/app.slice/sync.service
	refused "sync.service: matches 2 control groups: choose one with --cgroup: $user/app.slice/sync.service, ${user//1000/1001}/app.slice/sync.service" --unit sync
}

@test "add --unit: none of that name is one line" {
	group /system.slice/x.service
	for name in y ssh.service x.socket; do
		[[ $name == *.* ]] || name=$name.service
		refused "$name: has no control group: it is not running, or there is no such unit (systemctl status NAME)" --unit "${name%.service}"
	done
}

@test "add: where the control groups are mounted twice, each unit is there once" {
	group /system.slice/x.service
	cp root/proc/self/mountinfo one
	for second in /mnt/second /mnt/empty; do
		mkdir -p "root$second"
		[ $second = /mnt/empty ] || cp -r "root$point/." "root$second"
		{ cat one; echo "40 30 0:28 / $second rw - cgroup2 cgroup2 rw"; } >root/proc/self/mountinfo
		[ "$(sent add --unit x)" = 'add cgroup=/system.slice/x.service' ]
	done
	# where the first mount does not have it, it is not there
	{ head -n 3 one; echo '40 30 0:28 / /mnt/empty rw - cgroup2 cgroup2 rw'; tail -n 1 one; } >root/proc/self/mountinfo
	run -1 iotracer add --unit x
}

@test "add: without cgroup2 units and containers cannot be found, which is one line" {
	sed -i '/cgroup2/d' root/proc/self/mountinfo
	refused 'control groups cannot be found, because cgroup2 is not mounted: mount it (mount -t cgroup2 none DIRECTORY)' --unit a --unit b --container c
	rm root/proc/self/mountinfo
	refused 'control groups cannot be found, because cgroup2 is not mounted: mount it (mount -t cgroup2 none DIRECTORY)' --unit a
	[ "$(sent add --cgroup /a)" = 'add cgroup=/a' ]
}

# --- containers -------------------------------------------------------------------------

# paths_of_containers: each layout, with the digit that its ID begins with
paths_of_containers() {
	cat <<-END
		1 /machine.slice/libpod-$(container_id 1).scope
		2 /libpod_parent/libpod-$(container_id 2)
		3 /system.slice/web.service/libpod-payload-$(container_id 3)
		4 /system.slice/docker-$(container_id 4).scope
		5 /docker/$(container_id 5)
		6 /kubepods.slice/kubepods-pod1.slice/cri-containerd-$(container_id 6).scope
		7 /kubepods.slice/kubepods-pod1.slice/crio-$(container_id 7).scope
		8 /user.slice/user-0.slice/user@0.service/user.slice/libpod-$(container_id 8).scope
	END
}

make_containers() {
	paths_of_containers >containers
	while read -r digit path; do
		group "$path/container"
	done <containers
	# monitors, a pod, and what has no ID
	group "/machine.slice/libpod-conmon-$(container_id 1).scope" "/libpod_parent/libpod-conmon-$(container_id 2)" \
		"/kubepods.slice/crio-conmon-$(container_id 7).scope" "/machine.slice/machine-libpod_pod_$(container_id 1).slice" \
		"/machine.slice/libpod-$(container_id 1 | cut -c 1-63).scope" "/docker/0$(container_id 5)" "/docker/$(container_id 4 | tr 0 A)" \
		"/machine.slice/libpod-$(container_id 1).mount"
}

@test "add --container: by its ID or the first digits, in each layout of podman, docker, CRI-O and containerd" {
	make_containers
	while read -r digit path; do
		[ "$(sent add --container "$(container_id "$digit")")" = "add cgroup=$path" ]
		[ "$(sent add --container "${digit}000")" = "add cgroup=$path" ]
		[ "$(sent add --container "$(container_id "$digit" | cut -c 1-63)")" = "add cgroup=$path" ]
	done <containers
	[ "$(wc -l <containers)" = 8 ]
}

@test "add --container: too few digits, others, and an ID that does not run are one line" {
	make_containers
	for name in 1 100 9000 "$(container_id 9)" "$(container_id 1)0" 0007 libpod ''"$(container_id 4 | tr 0 A)"; do
		refused "$name: no container with this name or ID runs here (podman ps, docker ps)" --container "$name"
	done
}

@test "add --container: digits that several IDs begin with are refused, and the groups named" {
	local one two
	one=abcd$(container_id 1 | cut -c 5-) two=abcd1$(container_id 1 | cut -c 6-)
	group "/docker/$one" "/machine.slice/libpod-$two.scope"
	refused "abcd: matches 2 control groups: choose one with --cgroup: /docker/$one, /machine.slice/libpod-$two.scope" --container abcd
	[ "$(sent add --container abcd1)" = "add cgroup=/machine.slice/libpod-$two.scope" ]
}

@test "add --container: by the name that podman has on disk, with each driver, also of one that --rm removes" {
	make_containers
	for list in {overlay,vfs,btrfs,zfs}-containers/{,volatile-}containers.json; do
		podman_list "/var/lib/containers/storage/$list" "$(container_id 9)" web "$(container_id 1)" "my web" "$(container_id 2)" web
		[ "$(sent add --container web)" = "add cgroup=/libpod_parent/libpod-$(container_id 2)" ]
		[ "$(sent add --container 'my web')" = "add cgroup=/machine.slice/libpod-$(container_id 1).scope" ]
		rm -r root/var/lib/containers
	done
	refused 'web: no container with this name or ID runs here (podman ps, docker ps)' --container web
}

@test "add --container: by the name that docker has on disk" {
	make_containers
	docker_container "$(container_id 4)" db
	docker_container "$(container_id 5)" 'db 2'
	docker_container "$(container_id 9)" gone
	[ "$(sent add --container db)" = "add cgroup=/system.slice/docker-$(container_id 4).scope" ]
	[ "$(sent add --container 'db 2')" = "add cgroup=/docker/$(container_id 5)" ]
	refused 'gone: no container with this name or ID runs here (podman ps, docker ps)' --container gone
	refused 'd: no container with this name or ID runs here (podman ps, docker ps)' --container d
}

@test "add --container: by the name that a user's podman or docker has on disk" {
	local home
	home=$(getent passwd 0 | cut -d : -f 6)
	make_containers
	podman_list "$home/.local/share/containers/storage/overlay-containers/containers.json" "$(container_id 8)" mine "$(container_id 1)" other
	[ "$(sent add --container mine)" = "add cgroup=/user.slice/user-0.slice/user@0.service/user.slice/libpod-$(container_id 8).scope" ]
	# not below the slice of that user
	refused 'other: no container with this name or ID runs here (podman ps, docker ps)' --container other
	docker_container "$(container_id 8)" theirs "$home/.local/share"
	[ "$(sent add --container theirs)" = "add cgroup=/user.slice/user-0.slice/user@0.service/user.slice/libpod-$(container_id 8).scope" ]
}

@test "add --container: an ID goes before a name, and a name before the first digits of an ID" {
	make_containers
	docker_container "$(container_id 4)" 5000
	[ "$(sent add --container 5000)" = "add cgroup=/system.slice/docker-$(container_id 4).scope" ]
	docker_container "$(container_id 4)" "$(container_id 5)"
	[ "$(sent add --container "$(container_id 5)")" = "add cgroup=/docker/$(container_id 5)" ]
}

@test "add --container: a name that podman and docker have is refused, and the groups named" {
	make_containers
	podman_list /var/lib/containers/storage/overlay-containers/containers.json "$(container_id 1)" web
	docker_container "$(container_id 5)" web
	refused "web: matches 2 control groups: choose one with --cgroup: /docker/$(container_id 5), /machine.slice/libpod-$(container_id 1).scope" --container web
}

@test "add --container: what is damaged on disk has no names, and breaks nothing" {
	local list=/var/lib/containers/storage/overlay-containers/containers.json
	make_containers
	docker_container "$(container_id 5)" web
	podman_list $list "$(container_id 1)" web
	for text in '' '{' '[' '{"id":"x"}' '[1,null,[],{}]' "[{\"id\":\"$(container_id 1)\",\"names\":7}]" \
		"[{\"id\":\"$(container_id 1)\",\"names\":[7,null]}]" "[{\"id\":7,\"names\":[\"web\"]}]" \
		"[{\"id\":\"$(container_id 1 | cut -c 1-12)\",\"names\":[\"web\"]}]"; do
		echo "$text" >root$list
		[ "$(sent add --container web)" = "add cgroup=/docker/$(container_id 5)" ]
	done
	for text in '' '{' '[]' '{"Name":7}' '{}'; do
		echo "$text" >"root/var/lib/docker/containers/$(container_id 5)/config.v2.json"
		refused 'web: no container with this name or ID runs here (podman ps, docker ps)' --container web
	done
}

@test "add --container: a user's list that is no file, a link, or too large is not read" {
	local home list
	home=$(getent passwd 0 | cut -d : -f 6)
	list=root$home/.local/share/containers/storage/overlay-containers/containers.json
	make_containers
	podman_list "${list#root}" "$(container_id 8)" web
	[ "$(sent add --container web)" = "add cgroup=/user.slice/user-0.slice/user@0.service/user.slice/libpod-$(container_id 8).scope" ]
	mv "$list" names
	for way in 'mkfifo %s' 'ln -s /dev/zero %s' "ln -s $PWD/names %s" 'mkdir %s' 'cp names %s && truncate -s 1G %s'; do
		eval "${way//%s/$list}"
		run --separate-stderr timeout 20 iotracer add --container web
		echo "$way: $status $stderr"
		[ "$status" = 1 ]
		[ "$stderr" = 'iotracer: web: no container with this name or ID runs here (podman ps, docker ps)' ]
		rm -r "$list"
	done
}

@test "add --container: names that may not be read are the reason, an ID is found without them" {
	make_containers
	docker_container "$(container_id 5)" web
	chmod 000 root/var/lib/docker
	chmod 666 proc/control
	run --separate-stderr unprivileged iotracer add --container web
	chmod 755 root/var/lib/docker
	[ "$status" = 1 ]
	[ "$stderr" = 'iotracer: web: no container with this name or ID runs here (podman ps, docker ps); some names cannot be read: run this as root, or give the ID' ]
	chmod 000 root/var/lib/docker
	run --separate-stderr unprivileged iotracer add --container 5000
	chmod 755 root/var/lib/docker
	[ "$status" = 0 ]
	[ "$(cat proc/control)" = "add cgroup=/docker/$(container_id 5)" ]
}

# --- list, status, and commands for one target ------------------------------------------

@test "list: processes are shown by what names them, whether with the network, and that they have ended" {
	touch f
	target sda1_9 "$work/f"
	traced pid_1234 pid=1234 '(ended)'
	traced 'comm_a\040b' 'comm=a\040b'
	traced comm_x 'comm=x\134\011y'
	traced cgroup_x.service cgroup=/system.slice/x.service '(network)' '(ended)'
	traced tree_7 tree=7 '(network)'
	[ "$(iotracer list)" = "sda1_9            $work/f
pid_1234          pid=1234 (ended)
comm_a b          comm=a b
comm_x            comm=x\\134\\011y
cgroup_x.service  cgroup=/system.slice/x.service (network) (ended)
tree_7            tree=7 (network)" ]
	[ "$(iotracer list --format=json | jq -c '.[] | [.target, .paths, .deleted, .tasks, .network, .ended]')" = "[\"sda1_9\",[\"$work/f\"],[],null,false,false]
[\"pid_1234\",[],[],\"pid=1234\",false,true]
[\"comm_a b\",[],[],\"comm=a b\",false,false]
[\"comm_x\",[],[],\"comm=x\\\\134\\\\011y\",false,false]
[\"cgroup_x.service\",[],[],\"cgroup=/system.slice/x.service\",true,true]
[\"tree_7\",[],[],\"tree=7\",true,false]" ]
}

@test "list: a path whose end looks like what names processes stays a path" {
	touch f
	target sda1_9 "$work/f" "/x/pid=1 (deleted) /(ended) /tree=2"
	[ "$(iotracer list --format=json | jq -c '.[0] | [.paths, .deleted, .tasks, .ended]')" = '[["/x/pid=1","/(ended)","/tree=2"],["/x/pid=1"],null,false]' ]
}

@test "status: of processes, as text and JSON" {
	traced tree_7 tree=7 '(ended)'
	for name in tree_7 tree=7; do
		[ "$(iotracer status $name)" = 'tree_7  running
  tasks       tree=7 (ended)
  T0          364.358689497 s
  events      3 of at most 16384 a CPU
  memory      65536 bytes
  level               seen      stored overwritten        lost      missed
  vfs                    3           3           0           0           0
  blk                    0           0           0           0           0
  total                  3           3           0           0           0' ]
	done
	[ "$(iotracer status --format=json | jq -c '.[] | [.target, .tasks, .ended, .directory, .device, .inode, .paths, .max_events]')" = \
		'["tree_7","tree=7",true,false,null,null,[],16384]' ]
}

@test "start, stop, reset, timereset: processes are named by target or text" {
	traced 'comm_a\040b' 'comm=a\040b'
	mv "$IOTRACER_PROC/comm_a\\040b" "$IOTRACER_PROC/comm_a b"
	for command in start stop reset timereset; do
		for name in 'comm_a b' 'comm=a b' --all; do
			[ "$(sent $command "$name")" = $command ]
		done
	done
}

@test "a text that names no target, and no file, is not traced" {
	traced pid_1 pid=1
	for command in status log stop remove; do
		for name in pid=2 tree=1 comm=pid_1; do
			run --separate-stderr iotracer $command $name
			[ "$status" = 1 ]
			[ "$stderr" = "iotracer: $name: not traced: no such file and no target of that name" ]
		done
	done
}

@test "log of processes: the module's text, and export's columns of fs" {
	traced pid_7 pid=7
	for name in pid_7 pid=7; do
		[ "$(iotracer log $name)" = '0.5;-;0;0;VFS;sh;7;MKDIR;/srv/sub;;0' ]
		[ "$(iotracer log --format=json $name | jq -c '[.op, .path]')" = '["MKDIR","/srv/sub"]
["WRITE","/etc/a"]
["READ",""]' ]
		[ "$(iotracer log --format=csv $name | head -n 1)" = "$(iotracer format --columns | sed -n 's/^fs\t\([^\t]*\).*/\1/p' | paste -sd ,)" ]
	done
}

@test "log --format=fuse of processes: lines of fs, with absolute paths" {
	mkdir -p proc/fs
	traced pid_7 pid=7
	cp proc/pid_7/stream proc/fs/stream
	printf '%s\n' 'overwritten 0' 'lost 0' >proc/fs/stats
	iotracer log --format=fuse pid=7 | sed 's/^[^ ]*: *//' >lines
	diff - lines <<-'END'
		MKDIR: path=/srv/sub; mode=493
		WRITE: path=/etc/a; offset=5; length_buf=6
	END
	iotracer log --format=fuse fs | sed 's/^[^ ]*: *//' | diff - lines
}

@test "profile of processes is refused" {
	traced pid_7 pid=7
	run --separate-stderr iotracer profile pid=7
	[ "$status" = 1 ]
	[ "$stderr" = 'iotracer: pid=7: means processes: use iotracer record -o TRACE --filter=pid=7, then iotracer profile TRACE' ]
}

# --- remove ---------------------------------------------------------------------------

@test "remove: processes, by target, by text and by the option" {
	traced pid_5 pid=5
	traced tree_5 tree=5
	traced comm_x 'comm=a\040b'
	traced cgroup_x cgroup=/system.slice/x.service
	[ "$(sent remove pid_5 tree=5 'comm=a b' cgroup_x)" = 'remove pid=5
remove tree=5
remove comm=a\040b
remove cgroup=/system.slice/x.service' ]
	[ "$(sent remove --pid 5 --comm 'a b' --cgroup /sys/fs/cgroup/system.slice/x.service tree=5)" = 'remove tree=5
remove pid=5
remove comm=a\040b
remove cgroup=/system.slice/x.service' ]
	[ "$(sent remove --follow --pid 5)" = 'remove tree=5' ]
}

@test "remove: units and containers are found among what is traced, when they have ended, too" {
	traced cgroup_1 cgroup=/system.slice/x.service '(ended)'
	traced cgroup_2 "cgroup=/docker/$(container_id 5)" '(ended)'
	traced cgroup_3 "cgroup=/machine.slice/libpod-$(container_id 1).scope" '(ended)'
	docker_container "$(container_id 5)" web
	rm root/proc/self/mountinfo
	[ "$(sent remove --unit x --container web --container 1000)" = "remove cgroup=/system.slice/x.service
remove cgroup=/docker/$(container_id 5)
remove cgroup=/machine.slice/libpod-$(container_id 1).scope" ]
}

@test "remove: what an option names and is not traced is one line" {
	traced pid_5 pid=5
	group /system.slice/x.service
	while IFS='|' read -r arguments words; do
		# shellcheck disable=SC2086
		run --separate-stderr iotracer remove $arguments
		echo "$arguments: $status $stderr"
		[ "$status" = 1 ]
		[ "$stderr" = "iotracer: $words" ]
	done <<-'END'
		--pid=6|pid=6: not traced (iotracer list)
		--pid=5 --follow|tree=5: not traced (iotracer list)
		--comm=pid=5|comm=pid=5: not traced (iotracer list)
		--cgroup=/system.slice/x.service|cgroup=/system.slice/x.service: not traced (iotracer list)
		--unit=x|x.service: no such unit is traced (iotracer list)
		--container=x|x: no container with this name or ID is traced (iotracer list)
	END
}

@test "remove: an error of the module is said with what was to be removed" {
	traced pid_5 pid=5
	TOOL_WRITE_ERROR=2:remove run --separate-stderr preloaded iotracer remove --pid 5
	[ "$status" = 1 ]
	[ "$stderr" = 'iotracer: pid=5: not traced any more' ]
	TOOL_WRITE_ERROR=2:remove run --separate-stderr preloaded iotracer remove pid_5
	[ "$stderr" = 'iotracer: pid=5: not traced any more' ]
}

@test "remove --all: processes, too" {
	touch f
	target sda1_9 "$work/f"
	traced pid_5 pid=5 '(ended)'
	traced comm_x 'comm=a\040b'
	[ "$(sent remove --all)" = "remove $work/f
remove pid=5
remove comm=a\\040b" ]
	TOOL_WRITES=$work/writes TOOL_WRITE_ERROR='2:remove pid' run --separate-stderr preloaded iotracer remove --all
	[ "$status" = 1 ]
}

# --- files that are called as processes are listed -----------------------------------------

@test "a file that is called as processes are listed is sent with ./ before it" {
	[ "$(sent add -n 1 pid=1 tree=x comm= cgroup=/x ./pid=1 pid pidx=1 d/pid=1)" = 'add ./pid=1 1
add ./tree=x 1
add ./comm= 1
add ./cgroup=/x 1
add ./pid=1 1
add pid 1
add pidx=1 1
add d/pid=1 1' ]
	mkdir comm=d
	[ "$(sent add -n 1 comm=d/)" = 'add ./comm=d 1' ]
	[ "$(sent add -i -n 1 pid=1)" = 'add -i ./pid=1 1' ]
}

@test "a file that is called as processes are listed is found, unless they are listed" {
	touch pid=1
	target sda1_9 "$work/pid=1"
	[ "$(sent remove pid=1)" = 'remove ./pid=1' ]
	[[ $(iotracer status pid=1) == 'sda1_9  running'* ]]
	traced pid_1 pid=1
	[ "$(sent remove pid=1)" = 'remove pid=1' ]
	[[ $(iotracer status pid=1) == 'pid_1  running'* ]]
	[ "$(sent remove ./pid=1)" = 'remove ./pid=1' ]
	[[ $(iotracer status ./pid=1) == 'sda1_9  running'* ]]
	[[ $(iotracer status "$work/pid=1") == 'sda1_9  running'* ]]
}

@test "add: a file that is not there, but called as processes are listed, is told of the options" {
	TOOL_WRITE_ERROR=2:add run --separate-stderr preloaded iotracer add pid=1
	[ "$status" = 1 ]
	[ "$stderr" = 'iotracer: pid=1: no such file; for processes say --pid, --comm or --cgroup (iotracer add --help)' ]
}

# --- bash completion ------------------------------------------------------------------------

@test "bash completes the options for processes, and their values" {
	touch file-a
	[ "$(completed iotracer add --c)" = '--cgroup --color --comm --container ' ]
	[ "$(completed iotracer remove --u)" = '--unit --usage ' ]
	[[ " $(completed iotracer add --pid '')" == *" $$ "* ]]
	[ "$(completed iotracer add --cgroup f)" = 'file-a ' ]
	[[ " $(completed iotracer add --comm '')" == *' bash '* ]]
	make_containers
	docker_container "$(container_id 4)" web
	[[ " $(completed iotracer remove --container = '')" == *" web "* ]]
	[[ " $(completed iotracer remove --container = '')" == *" $(container_id 1 | cut -c 1-12) "* ]]
}
