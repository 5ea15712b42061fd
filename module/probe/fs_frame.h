/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls of category fs other than reads and writes: what fs_calls.c, which lists the hooked
 * functions, shares with the files that fill the events.
 */
#ifndef IOT_FS_FRAME_H
#define IOT_FS_FRAME_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/path.h>
#include <linux/uaccess.h>
#include "record/fs.h"

struct iot_frame;
struct iot_pieces;
struct iovec;

/* How the last component of a name is looked up. */
enum iot_lookup {
	IOT_LOOKUP_FOLLOW,	/* follow a symbolic link */
	IOT_LOOKUP_NOFOLLOW,
	IOT_LOOKUP_AT,		/* follow unless the call has AT_SYMLINK_NOFOLLOW */
	IOT_LOOKUP_AT_FOLLOW,	/* follow only if the call has AT_SYMLINK_FOLLOW */
};

/* Where the file of a name is seen inside the call, if it is not known before: fs_inside.c. */
enum iot_search {
	IOT_SEARCH_NOWHERE,
	IOT_SEARCH_LOOKUP,	/* where the name of an existing file is looked up */
	IOT_SEARCH_EXEC,	/* where the file of a program is checked */
	IOT_SEARCH_REMOVE,	/* where an entry of a directory is removed */
	IOT_SEARCH_RENAME,	/* where an entry of a directory is moved */
};

/* What a function that opens a file for the kernel is given, see fs_kernel.c. */
enum iot_opens {
	IOT_OPENS_OTHER,
	IOT_OPENS_TEXT,		/* a text, as its first argument */
	IOT_OPENS_TEXT_AT,	/* a text, as its second argument */
	IOT_OPENS_NAME,		/* a struct filename */
	IOT_OPENS_PATH,		/* a struct path */
};

/**
 * struct iot_call - a system call, or a kernel function, that is an event
 * @name:	of the system call, or of the function if @function
 * @proto:	prototype of the function, see struct iot_btf_check; @newer has the same one
 * @op:		IOT_FS_*
 * @dfd:	argument that is the directory's descriptor, counted from 1; 0 if there is
 *		none. All fields from here to @requested name an argument in this way
 * @path:	name in user memory
 * @fd:		descriptor
 * @flags:	goes to the record's flags
 * @flags2:	goes to the record's flags2
 * @offset:	goes to the record's offset
 * @requested:	goes to the record's requested
 * @lookup:	enum iot_lookup
 * @extra:	or-ed to the record's flags
 * @wide:	bits 1 << argument, counted from 0: a 64-bit value that a 32-bit program
 *		passes in two arguments, the low half first. All fields count such a pair
 *		as one argument
 * @opens:	enum iot_opens
 * @function:	@name is a function, and the arguments are its own
 * @compat:	32-bit programs only
 * @unbounded:	the call may sleep without bound
 * @optional:	not every kernel has the function
 * @flushes:	the call may be FLUSH, too, see fs_flush.c
 * @pointer:	the function returns an address, not a number
 * @caller:	only calls from this function are events; NULL if all are
 * @except:	all calls but those from @caller are events
 * @instead:	hook @name only if the kernel does not have this function
 * @newer:	name of the function in newer kernels, with the same arguments; NULL if it has
 *		not changed
 * @wants:	checks the arguments; must not sleep. NULL if all calls are wanted
 * @begin:	resolves what is known before the call. Returns false if the call is not wanted
 *		(any more); then there is nothing for @end to release
 * @end:	resolves what is known after the call, and records the event
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
	u8 opens;
	bool function;
	bool compat;
	bool unbounded;
	bool optional;
	bool except;
	bool flushes;
	bool pointer;
	u32 extra;
	const char *caller;
	const char *instead;
	const char *newer;
	bool (*wants)(const u64 *a);
	bool (*begin)(struct iot_frame *f);
	void (*end)(struct iot_frame *f, s64 result);
};

/**
 * struct iot_name - a name that is an argument of a call
 * @dfd:	descriptor that it starts from; AT_FDCWD for the current directory
 * @sealed:	@seal is set
 * @user:	its address in user memory
 * @text:	copy in kernel memory, NULL if there is none; freed with the frame
 * @seal:	hash of the name when the probe first read it. The kernel reads the name at
 *		another time: if the hash is different later, the event is marked
 *		IOT_UNSURE_CHANGED
 */
struct iot_name {
	int dfd;
	bool sealed;
	const char __user *user;
	char *text;
	u64 seal;
};

/**
 * struct iot_frame - a call in progress, on the stack of the calling task or in the data of a
 * kretprobe
 * @e:		the event
 * @call:	its entry in the table of fs_calls.c
 * @a:		arguments
 * @compat:	a 32-bit program makes the call, and the function is for 32-bit programs only
 * @may_sleep:	the probe may sleep
 * @unread:	an argument in user memory was not in memory
 * @late:	so what precedes the call was left for after it
 * @unknown:	which file name[0] leads to is not known yet: iot_name_settle()
 * @watched:	functions inside the call see the frame: iot_inside_end()
 * @makes:	what the call makes is to be seen there
 * @found:	the file of name[0] was seen there
 * @wanted:	the filter wants it
 * @search:	enum iot_search
 * @lookup:	enum iot_lookup of name[0]
 * @resolve:	LOOKUP_* that openat2(2) restricts the look-up by
 * @result:	what the call has returned, 0 before that
 * @mnt:	the mount in which something is being removed or moved
 * @flushes:	a FLUSH is recorded with the event
 * @name:	names that are looked up again after the call
 * @held:	path to which a reference is held over the call, or empty
 * @made:	the entry that the call makes, with a reference, or empty
 * @ranges:	what process_madvise(2) was given, or NULL; freed with the frame
 * @pieces:	events besides @e, see fs_piece.c
 * @last_piece:	the page of @pieces that is being filled
 */
struct iot_frame {
	struct iot_fs e;
	const struct iot_call *call;
	u64 a[6];
	bool compat;
	bool may_sleep;
	bool unread;
	bool late;
	bool unknown;
	bool watched;
	bool makes;
	bool found;
	bool wanted;
	bool flushes;
	u8 search;
	u8 lookup;
	u32 resolve;
	s64 result;
	struct vfsmount *mnt;
	struct iot_name name[2];
	struct path held;
	struct path made;
	struct iovec *ranges;
	struct iot_pieces *pieces;
	struct iot_pieces *last_piece;
};

/* The argument that a field of struct iot_call names, counted from 1. */
static inline u64 iot_frame_arg(const struct iot_frame *f, u8 number)
{
	return f->a[number - 1];
}

/*
 * Read from user memory at the address @from. What is not in memory is not fetched: the call itself
 * may not need it, or wait for it for ever. All that precedes the call is then done after it, when
 * the call has read it (fs_calls.c). Return: false if it is not there.
 */
static inline bool iot_frame_read(struct iot_frame *f, void *to, u64 from, size_t size)
{
	if (!copy_from_user_nofault(to, (const void __user *)from, size))
		return true;
	f->unread = true;
	return false;
}

/* fs_piece.c: calls with one event for each mapping or descriptor that they touch */
void iot_piece_add(struct iot_frame *f, const struct iot_fs *e);
void iot_pieces_end(struct iot_frame *f, s64 result);
void iot_pieces_end_at(struct iot_frame *f, s64 result, u64 now);
void iot_pieces_free(struct iot_frame *f);

/* fs_flush.c: where the kernel flushes a file that is closed */
bool iot_flush_look(void);
bool iot_flush_is_in(const struct iot_call *c);

/* fs_name.c: names */

/** iot_name_is_there() - check whether the call has this name */
static inline bool iot_name_is_there(const struct iot_name *n)
{
	return n->text || n->user;
}

bool iot_name_take(struct iot_frame *f, struct iot_name *n, u64 dfd, u64 filename);
int iot_name_lookup(struct iot_frame *f, struct iot_name *n,
		    enum iot_lookup lookup, struct path *path);
int iot_name_lookup_after(struct iot_frame *f, struct iot_name *n, enum iot_lookup lookup,
			  struct path *path);
bool iot_name_means_descriptor(const struct iot_frame *f, const struct iot_name *n);
void iot_name_record(struct iot_frame *f, struct iot_name *n, bool second);
void iot_name_seal(struct iot_frame *f, struct iot_name *n);
void iot_name_note(struct iot_name *n, const char *text);
void iot_name_check(struct iot_frame *f, const struct iot_name *n);
void iot_name_copy(struct iot_name *n);
bool iot_name_is(const struct iot_name *n, const char *text);

/* fs_inside.c: what the call itself finds */
void iot_inside_begin(struct iot_frame *f, enum iot_search search);
void iot_inside_begin_new(struct iot_frame *f);
void iot_inside_end(struct iot_frame *f);
int iot_inside_start(void);
void iot_inside_stop(void);

/* fs_find.c: which file the names of a call lead to */
int iot_name_find(struct iot_frame *f, enum iot_lookup lookup, enum iot_search search);
bool iot_name_resolve(struct iot_frame *f, enum iot_lookup lookup, enum iot_search search);
bool iot_name_resolve_new(struct iot_frame *f, s64 result);
void iot_name_resolve_second(struct iot_frame *f, s64 result);
bool iot_name_settle(struct iot_frame *f, s64 result);

/* fs_path.c: calls that name files */
bool iot_path_begin(struct iot_frame *f);
bool iot_path_begin_search(struct iot_frame *f, enum iot_search search);
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
bool iot_path_begin_xattrat(struct iot_frame *f);
bool iot_path_begin_setflags(struct iot_frame *f);

/* fs_open.c: opening files, running programs, and the end of processes */
bool iot_open_begin(struct iot_frame *f);
bool iot_open_begin_creat(struct iot_frame *f);
bool iot_open_begin_how(struct iot_frame *f);
void iot_open_end_how(struct iot_frame *f, s64 result);
bool iot_open_begin_handle(struct iot_frame *f);
bool iot_open_begin_tree(struct iot_frame *f);
bool iot_open_begin_mount(struct iot_frame *f);
void iot_open_end(struct iot_frame *f, s64 result);
void iot_open_look(void);
bool iot_open_begin_uring(struct iot_frame *f);
void iot_open_end_uring(struct iot_frame *f, s64 result);
bool iot_exec_begin(struct iot_frame *f);
bool iot_exec_begin_kernel(struct iot_frame *f);
void iot_exec_end(struct iot_frame *f, s64 result);
bool iot_exit_wants(const u64 *a);
bool iot_exit_begin(struct iot_frame *f);

/* fs_kernel.c: files that the kernel opens for itself */
bool iot_kernel_wants_name(const u64 *a);
bool iot_kernel_wants_open(const u64 *a);
bool iot_kernel_wants_own_path(const u64 *a);
bool iot_kernel_begin_open(struct iot_frame *f);
void iot_kernel_end_open(struct iot_frame *f, s64 result);
void iot_kernel_note_opened(const struct iot_frame *f, const struct file *file);
u32 iot_kernel_release_flags(const struct file *file);
void iot_kernel_forget(void);

/* fs_file.c: calls on descriptors and open files */
bool iot_file_resolve(struct iot_frame *f, int fd);
bool iot_file_begin(struct iot_frame *f);
bool iot_file_begin_close(struct iot_frame *f);
bool iot_file_begin_close_given(struct iot_frame *f);
void iot_file_end_close(struct iot_frame *f, s64 result);
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
bool iot_file_begin_clone(struct iot_frame *f);
bool iot_file_resolve_two(struct iot_frame *f, struct file *in, struct file *out);
bool iot_file_resolve_fds(struct iot_frame *f, int fd_in, int fd_out);
bool iot_file_wants_kernels(const u64 *a);
bool iot_file_begin_vfs_fsync(struct iot_frame *f);

/* fs_ioctl.c: ioctls on files */
void iot_ioctl_look(void);
bool iot_ioctl_wants(const u64 *a);
bool iot_ioctl_begin(struct iot_frame *f);
bool iot_ioctl_begin_dedupe(struct iot_frame *f);
void iot_ioctl_end_dedupe(struct iot_frame *f, s64 result);

/* fs_socket.c: files that Unix sockets make */
bool iot_socket_wants_bind(const u64 *a);
bool iot_socket_begin_bind(struct iot_frame *f);
void iot_socket_end_bind(struct iot_frame *f, s64 result);

/* fs_uring.c: extended attributes by io_uring */
void iot_uring_look(void);
bool iot_uring_begin_xattr(struct iot_frame *f);
bool iot_uring_begin_fxattr(struct iot_frame *f);
void iot_uring_end_xattr(struct iot_frame *f, s64 result);

/* fs_map.c: calls on mappings of files */
bool iot_map_wants(const u64 *a);
bool iot_map_begin(struct iot_frame *f);
bool iot_map_begin_ia32(struct iot_frame *f);
bool iot_map_begin_pages(struct iot_frame *f);
void iot_map_end(struct iot_frame *f, s64 result);
bool iot_map_begin_range(struct iot_frame *f);
bool iot_map_begin_advise(struct iot_frame *f);
bool iot_map_begin_remap(struct iot_frame *f);
void iot_map_look(void);
bool iot_map_begin_remap_pages(struct iot_frame *f);
bool iot_map_begin_process(struct iot_frame *f);
void iot_map_end_process(struct iot_frame *f, s64 result);

#endif /* IOT_FS_FRAME_H */
