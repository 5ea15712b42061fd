/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls of category fs but reads and writes: what fs_calls.c, which says which functions are
 * hooked, and the files that fill the events share.
 */
#ifndef IOT_FS_FRAME_H
#define IOT_FS_FRAME_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/path.h>
#include "record/fs.h"

struct iot_frame;
struct iot_pieces;

/* How a name is looked up: what its last component may be. */
enum iot_lookup {
	IOT_LOOKUP_FOLLOW,	/* a symbolic link is followed */
	IOT_LOOKUP_NOFOLLOW,
	IOT_LOOKUP_AT,		/* the call's flags say, AT_SYMLINK_NOFOLLOW */
	IOT_LOOKUP_AT_FOLLOW,	/* the call's flags say, AT_SYMLINK_FOLLOW */
};

/**
 * struct iot_call - a system call, or a function of the kernel, that is an event
 * @name:	of the system call, or of the function where @function
 * @proto:	the prototype of the function, see struct iot_btf_check; @newer has it, too
 * @op:		IOT_FS_*
 * @dfd:	which argument it is, from 1; 0: there is none; like the next ones
 * @path:	name in user memory
 * @fd:		descriptor
 * @flags:	goes to the record's flags, like the next ones to theirs
 * @flags2:	likewise
 * @offset:	likewise
 * @requested:	likewise
 * @lookup:	enum iot_lookup
 * @extra:	to be or-ed to the record's flags
 * @wide:	bits 1 << argument, from 0: a low half that the next argument
 *		completes (calls of 32-bit programs)
 * @function:	it is a function, and the arguments are its own
 * @ia32:	32-bit programs only
 * @unbounded:	it may sleep without bound
 * @optional:	not every kernel has it
 * @pointer:	it returns an address, not a number
 * @caller:	only when called by this function
 * @instead:	only where the kernel does not have this function
 * @newer:	its name in newer kernels, which give it the same arguments; NULL: the same
 * @wants:	a look at the arguments; must not sleep. NULL: wanted
 * @begin:	resolves what is known before; false: the call is not wanted (any
 *		more). Nothing that needs an end may be left behind then.
 * @end:	resolves what is known after, and records
 * @see:	it is no event, but this has to be done after it, by whomever it is
 *		called; may sleep
 * @see_first:	likewise before it, in place of @see
 */
struct iot_call {
	const char *name;
	const char *proto;
	u8 op;
	u8 dfd;
	u8 path;
	u8 fd;
	u8 flags;
	u8 flags2;
	u8 offset;
	u8 requested;
	u8 lookup;
	u8 wide;
	bool function;
	bool ia32;
	bool unbounded;
	bool optional;
	bool pointer;
	u32 extra;
	const char *caller;
	const char *instead;
	const char *newer;
	bool (*wants)(const u64 *a);
	bool (*begin)(struct iot_frame *f);
	void (*end)(struct iot_frame *f, s64 result);
	void (*see)(const unsigned long *args, s64 result);
	void (*see_first)(const unsigned long *args);
};

/**
 * struct iot_name - a name that a call was given
 * @dfd:	that it starts from, AT_FDCWD: the current directory
 * @sealed:	@seal is set
 * @user:	where it is in user memory
 * @text:	a copy of the kernel's own, NULL: none; freed with the frame
 * @seal:	hash of the name as it was when it was looked at first. The kernel reads it
 *		at a time of its own: where it is not the same afterwards the event says
 *		CHANGED
 */
struct iot_name {
	int dfd;
	bool sealed;
	const char __user *user;
	char *text;
	u64 seal;
};

/**
 * struct iot_frame - a call under way, on its caller's stack or in the data of a
 * kretprobe
 * @e:		the event
 * @call:	what it is
 * @a:		arguments
 * @ia32:	of a 32-bit program
 * @may_sleep:	the hook may
 * @name:	names that are looked up again after the call
 * @held:	a path that is held over the call, or empty
 * @pieces:	events besides @e, see probe_fs_piece.c
 * @last_piece:	the page of them that is being filled
 */
struct iot_frame {
	struct iot_fs e;
	const struct iot_call *call;
	u64 a[6];
	bool ia32;
	bool may_sleep;
	struct iot_name name[2];
	struct path held;
	struct iot_pieces *pieces;
	struct iot_pieces *last_piece;
};

/* The argument that a table names, from 1. */
static inline u64 iot_frame_arg(const struct iot_frame *f, u8 number)
{
	return f->a[number - 1];
}

/* probe_fs.c */

/* probe_fs_piece.c: calls that are an event for each thing they touch */
void iot_piece_add(struct iot_frame *f, const struct iot_fs *e);
void iot_pieces_end(struct iot_frame *f, s64 result);
void iot_pieces_free(struct iot_frame *f);

/* probe_fs_path.c: calls that name files */

/** iot_name_is_there() - did the call have one? */
static inline bool iot_name_is_there(const struct iot_name *n)
{
	return n->text || n->user;
}

bool iot_name_take(struct iot_frame *f, struct iot_name *n, u64 dfd, u64 filename);
int iot_name_lookup(struct iot_frame *f, struct iot_name *n,
		    enum iot_lookup lookup, struct path *path);
bool iot_name_resolve(struct iot_frame *f, struct iot_name *n,
		      enum iot_lookup lookup);
void iot_name_record(struct iot_frame *f, struct iot_name *n, bool second);
void iot_name_check(struct iot_frame *f, const struct iot_name *n);
bool iot_path_begin(struct iot_frame *f);
void iot_path_end_new(struct iot_frame *f, s64 result);
bool iot_path_begin_remove(struct iot_frame *f);
bool iot_path_begin_mkdir(struct iot_frame *f);
bool iot_path_begin_mknod(struct iot_frame *f);
bool iot_path_begin_symlink(struct iot_frame *f);
bool iot_path_begin_link(struct iot_frame *f);
void iot_path_end_link(struct iot_frame *f, s64 result);
bool iot_path_begin_rename(struct iot_frame *f);
void iot_path_end_rename(struct iot_frame *f, s64 result);
bool iot_path_begin_chown(struct iot_frame *f);
bool iot_path_begin_statx(struct iot_frame *f);

/* probe_fs_open.c: opening, and running programs */
bool iot_open_begin(struct iot_frame *f);
bool iot_open_begin_creat(struct iot_frame *f);
bool iot_open_begin_how(struct iot_frame *f);
void iot_open_end_how(struct iot_frame *f, s64 result);
bool iot_open_begin_handle(struct iot_frame *f);
void iot_open_end(struct iot_frame *f, s64 result);
bool iot_open_begin_uring(struct iot_frame *f);
void iot_open_end_uring(struct iot_frame *f, s64 result);
bool iot_open_wants_new(const u64 *a);
void iot_open_see(const unsigned long *args, s64 result);
bool iot_open_wants_installed(const u64 *a);
void iot_open_see_installed(const unsigned long *args);
bool iot_exec_begin(struct iot_frame *f);
bool iot_exec_begin_kernel(struct iot_frame *f);
void iot_exec_end(struct iot_frame *f, s64 result);
bool iot_exit_wants(const u64 *a);
bool iot_exit_begin(struct iot_frame *f);

/* probe_fs_file.c: calls on descriptors and open files */
bool iot_file_resolve(struct iot_frame *f, int fd);
bool iot_file_begin(struct iot_frame *f);
bool iot_file_begin_chown(struct iot_frame *f);
bool iot_file_begin_readdir(struct iot_frame *f);
bool iot_file_begin_readahead(struct iot_frame *f);
bool iot_file_begin_sync(struct iot_frame *f);
bool iot_file_begin_given(struct iot_frame *f);
bool iot_file_begin_fsync(struct iot_frame *f);
bool iot_file_begin_release(struct iot_frame *f);
bool iot_file_wants_release(const u64 *a);
bool iot_file_wants_flush(const u64 *a);
bool iot_file_wants_dup(const u64 *a);
bool iot_file_begin_dup(struct iot_frame *f);
void iot_file_end_dup(struct iot_frame *f, s64 result);
bool iot_file_begin_close_range(struct iot_frame *f);
bool iot_file_begin_flock(struct iot_frame *f);
bool iot_file_begin_setlk(struct iot_frame *f);
bool iot_file_wants_served(const u64 *a);
bool iot_file_begin_served(struct iot_frame *f);
bool iot_file_begin_sendfile(struct iot_frame *f);
bool iot_file_begin_copy(struct iot_frame *f);
bool iot_file_begin_splice(struct iot_frame *f);
bool iot_file_begin_splice_files(struct iot_frame *f);
bool iot_file_begin_tee(struct iot_frame *f);
bool iot_file_begin_tee_files(struct iot_frame *f);
bool iot_file_wants_clone(const u64 *a);
bool iot_file_begin_clone(struct iot_frame *f);

/* probe_fs_map.c: calls on mappings of files */
bool iot_map_wants(const u64 *a);
bool iot_map_begin(struct iot_frame *f);
bool iot_map_begin_ia32(struct iot_frame *f);
bool iot_map_begin_pages(struct iot_frame *f);
void iot_map_end(struct iot_frame *f, s64 result);
bool iot_map_begin_range(struct iot_frame *f);
bool iot_map_begin_advise(struct iot_frame *f);
bool iot_map_begin_remap(struct iot_frame *f);

#endif /* IOT_FS_FRAME_H */
