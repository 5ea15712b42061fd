#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# A target goes on with the file that its path comes to lead to. Each test runs functions of
# names.py.

load lib/helpers

setup_file() {
	modprobe -a overlay fuse btrfs
	files_and_disk
}

teardown_file() {
	unload_module
	umount_files_and_disk
}

# check FUNCTION...
check() {
	run_functions names.py "$@"
}

# bats test_tags=once
@test "deleted and created anew, the log goes on" {
	check created_anew
}

@test "another file is renamed over it" {
	check renamed_over
}

@test "a thousand successors, each from its first write on" {
	check from_the_first_write
}

# bats test_tags=once
@test "a log that is rotated, and written on until its successor comes" {
	check log_rotated
}

# bats test_tags=once
@test "an editor saves" {
	check editor_saves
}

@test "exchanged with another file" {
	check exchanged
}

@test "exchanged with the file of another target" {
	check exchanged_with_target
}

@test "a successor that comes by link, and by O_TMPFILE" {
	check linked
}

@test "made by each call that makes files" {
	check made_by_each_call
}

# bats test_tags=once
@test "made by an open that fails" {
	check open_that_fails
}

@test "without redirection a worker finds the new file" {
	check without_redirection
}

@test "the hooks of names go with the last target that follows" {
	check hooks_go_with_last
}

@test "of two names one is replaced" {
	check hard_links
}

# bats test_tags=once
@test "another target's file is moved there" {
	check moved_onto_target
}

# bats test_tags=once
@test "add of a path that a target's name leads to" {
	check add_of_followed
}

# bats test_tags=once
@test "a path to another target's file, until that target goes" {
	check belongs_to_another
}

@test "a call under way when its file is replaced" {
	check in_progress
}

@test "a directory comes in its place" {
	check directory_in_place
}

@test "a symbolic link comes in its place, and is retargeted" {
	check symlink_in_place
}

@test "another filesystem is mounted above, and goes" {
	check other_filesystem
}

@test "another filesystem is mounted above, while the path leads to a file" {
	check mounted_over
}

@test "a subvolume above is deleted, and a snapshot takes its name" {
	check subvolume
}

# bats test_tags=once
@test "a directory above is renamed away and back" {
	check parent_renamed
}

@test "a directory above is replaced" {
	check parent_replaced
}

# bats test_tags=once
@test "a directory above is deleted and made again" {
	check parent_made_anew
}

@test "a directory above becomes a symbolic link, which is retargeted" {
	check parent_becomes_link
}

@test "unmounting is not held up" {
	check unmount
}

@test "unmounted and mounted again" {
	check remount
}

@test "deleted directories are not held" {
	check remove_directory
}

@test "the module goes and comes while names change" {
	check unload_in_between
}

@test "a successor that may not be read is not followed to" {
	check no_right_to_successor
}

# bats test_tags=once
@test "add -i stays with the file" {
	check add_inode
}

@test "follow=inode stays with the file" {
	check follow_inode
}

@test "a bind mount" {
	check bind_mount
}

@test "the copy-up of an overlay" {
	check overlay
}

@test "the file has its name in /proc/iotracer" {
	check alias
}

@test "a readlink that never ends holds up no command, and unloading is refused" {
	check alias_read_for_ever
}

# bats test_tags=once
@test "a stopped target follows" {
	check stopped
}

# bats test_tags=once
@test "remove by the old and by the new name" {
	check removed_by_any_name
}

# bats test_tags=once
@test "fio makes the file anew: the totals are its own" {
	check fio_made_anew
}

# bats test_tags=once
@test "the file is deleted before fio makes it: the totals are its own" {
	check fio_unlinks_first
}

# bats test_tags=once
@test "sqlite's journal" {
	check sqlite_journal
}

# bats test_tags=once
@test "a flood of names by nobody, beside another target" {
	check flooded
}

@test "a directory above many targets is renamed all the time" {
	check flooded_paths
}
