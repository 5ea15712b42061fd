// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that name files by path: what their arguments mean, and which file is recorded: the one
 * before the call if it removes or changes the file, the one after it if it makes the file. A name
 * that leads to no file is recorded as text (fs_name.c).
 *
 * The call itself may find another file if the directory tree or the name changes in between. If
 * the name in user memory is different after the call, the event is marked.
 *
 * Contexts: task. A wrapper may sleep. A kretprobe's handler may not: it records the name as given,
 * and the file is not known.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/fcntl.h>
#include <linux/kdev_t.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "compat/compat.h"
#include "probe/fs_frame.h"

/* Record the file that the second name leads to now. Return: false if none is known. */
static bool find_second(struct iot_frame *f, struct iot_name *n)
{
	struct path path;

	if (!f->may_sleep || iot_name_lookup(f, n, IOT_LOOKUP_NOFOLLOW, &path))
		return false;
	iot_fs_file2(&f->e, &path, true);
	path_put(&path);
	return true;
}

static struct iot_name name_of(const struct iot_frame *f)
{
	const struct iot_call *c = f->call;
	struct iot_name n = {
		.dfd = c->dfd ? (int)iot_frame_arg(f, c->dfd) : AT_FDCWD,
		.user = (const char __user *)iot_frame_arg(f, c->path),
	};

	return n;
}

/** iot_path_begin_search() - as below; the file is seen there if it is not known before */
bool iot_path_begin_search(struct iot_frame *f, enum iot_search search)
{
	struct iot_name *n = &f->name[0];

	*n = name_of(f);
	if (iot_name_means_descriptor(f, n))
		return iot_file_resolve(f, n->dfd);
	return iot_name_resolve(f, f->call->lookup, search);
}

/** iot_path_begin() - begin a call that names an existing file */
bool iot_path_begin(struct iot_frame *f)
{
	return iot_path_begin_search(f, IOT_SEARCH_LOOKUP);
}

/*
 * chown() and the like: the record's offset is the user and its requested is the group. An id of
 * -1, which changes nothing, becomes 64 bits wide.
 */
static void extend_ids(struct iot_frame *f)
{
	bool wide = !strstr(f->call->name, "16");
	u64 none = wide ? U32_MAX : U16_MAX;

	f->e.offset = f->e.offset == none ? U64_MAX : f->e.offset;
	f->e.requested = f->e.requested == none ? U64_MAX : f->e.requested;
}

bool iot_path_begin_chown(struct iot_frame *f)
{
	extend_ids(f);
	return iot_path_begin(f);
}

bool iot_file_begin_chown(struct iot_frame *f)
{
	extend_ids(f);
	return iot_file_begin(f);
}

/* Is a copied name empty, so that the call means the descriptor itself? */
static bool is_empty(const struct iot_name *n)
{
	return n->text && !*n->text && n->dfd >= 0;
}

/* do_unlinkat(dfd, name), do_rmdir(dfd, name) */
bool iot_path_begin_remove(struct iot_frame *f)
{
	if (!iot_name_take(f, &f->name[0], f->a[0], f->a[1]))
		return true;
	return iot_name_resolve(f, IOT_LOOKUP_NOFOLLOW, IOT_SEARCH_REMOVE);
}

/* do_statx(dfd, name, flags, mask, buffer) of io_uring */
bool iot_path_begin_statx(struct iot_frame *f)
{
	if (!iot_name_take(f, &f->name[0], f->a[0], f->a[1]))
		return true;
	if (is_empty(&f->name[0]))
		return iot_file_resolve(f, f->name[0].dfd);
	return iot_name_resolve(f, IOT_LOOKUP_AT, IOT_SEARCH_LOOKUP);
}

/* getxattrat(dfd, name, at flags, attribute, arguments, size), setxattrat(): struct xattr_args */
bool iot_path_begin_xattrat(struct iot_frame *f)
{
	struct {
		u64 value;
		u32 size;
		u32 flags;
	} args = { 0 };

	iot_frame_read(f, &args, f->a[4], sizeof(args));
	f->e.requested = args.size;
	if (f->call->op == IOT_FS_SETXATTR)
		f->e.flags = args.flags & ~IOT_CALL_COMMON;
	return iot_path_begin(f);
}

/* file_setattr(dfd, name, struct file_attr, size, at flags): it begins with its FS_XFLAG_* */
bool iot_path_begin_setflags(struct iot_frame *f)
{
	u64 flags = 0;

	iot_frame_read(f, &flags, f->a[2], sizeof(flags));
	f->e.flags2 = flags;
	return iot_path_begin(f);
}

/* do_mkdirat(dfd, name, mode) */
bool iot_path_begin_mkdir(struct iot_frame *f)
{
	iot_name_take(f, &f->name[0], f->a[0], f->a[1]);
	iot_inside_begin_new(f);
	return true;
}

/* mknod and mknodat: the name in user memory, then mode and device */
bool iot_path_begin_mknod(struct iot_frame *f)
{
	u32 mode = iot_frame_arg(f, f->call->flags2);

	f->name[0] = name_of(f);
	iot_name_seal(f, &f->name[0]);
	iot_inside_begin_new(f);
	if (S_ISCHR(mode) || S_ISBLK(mode))
		f->e.device2 = new_decode_dev(iot_frame_arg(f, f->call->flags2 + 1));
	return true;
}

/* do_symlinkat(target, dfd, link) */
bool iot_path_begin_symlink(struct iot_frame *f)
{
	const struct filename *target = (const struct filename *)f->a[0];

	if (!IS_ERR_OR_NULL(target))
		iot_fs_name(&f->e, target->name, strlen(target->name), true, f->may_sleep);
	iot_name_take(f, &f->name[0], f->a[1], f->a[2]);
	iot_inside_begin_new(f);
	return true;
}

/** iot_path_end_new() - end a call that creates a file: record the file, or else the name */
void iot_path_end_new(struct iot_frame *f, s64 result)
{
	if (iot_name_is_there(&f->name[0]) && !iot_name_resolve_new(f, result))
		return;
	iot_fs_end(&f->e, result);
}

/* do_linkat(old dfd, old, new dfd, new, flags) */
bool iot_path_begin_link(struct iot_frame *f)
{
	iot_name_take(f, &f->name[1], f->a[2], f->a[3]);
	iot_inside_begin_new(f);
	if (!iot_name_take(f, &f->name[0], f->a[0], f->a[1]))
		return true;
	if (is_empty(&f->name[0]))
		return iot_file_resolve(f, f->name[0].dfd);
	return iot_name_resolve(f, IOT_LOOKUP_AT_FOLLOW, IOT_SEARCH_LOOKUP) ||
	       iot_fs_second_counts();
}

void iot_path_end_link(struct iot_frame *f, s64 result)
{
	if (iot_name_is_there(&f->name[1]))
		iot_name_resolve_second(f, result);
	iot_fs_end(&f->e, result);
}

/* Record the old file and keep it. Return: false if it is not wanted. */
static bool find_old(struct iot_frame *f)
{
	struct path *old = &f->held;
	int err;

	f->lookup = IOT_LOOKUP_NOFOLLOW;
	err = f->may_sleep ? iot_name_lookup(f, &f->name[0], f->lookup, old) : -ENOENT;
	if (!err)
		return iot_fs_file(&f->e, old, true) || iot_fs_second_counts();
	old->dentry = NULL;
	if (err == -EAGAIN)
		iot_inside_begin(f, IOT_SEARCH_RENAME);
	else
		iot_name_record(f, &f->name[0], false);
	return true;
}

/*
 * do_renameat2(old dfd, old, new dfd, new, flags). A reference to the old file is held over
 * the call.
 */
bool iot_path_begin_rename(struct iot_frame *f)
{
	iot_name_take(f, &f->name[1], f->a[2], f->a[3]);
	if (!iot_name_take(f, &f->name[0], f->a[0], f->a[1]))
		return true;
	if (!find_old(f))
		return false;
	if (iot_name_is_there(&f->name[1]) && !find_second(f, &f->name[1]) && !f->may_sleep)
		iot_name_record(f, &f->name[1], true);
	return true;
}

/*
 * If the new name led to no file before, the path of the old file is the new path after a
 * successful call. After another, the new name is recorded as text.
 */
void iot_path_end_rename(struct iot_frame *f, s64 result)
{
	struct iot_name *new = &f->name[1];

	if (!result && f->held.dentry && !f->e.inode2) {
		iot_fs_file2(&f->e, &f->held, true);
		f->e.inode2 = 0;
		f->e.device2 = 0;
	} else if (f->may_sleep && !f->e.inode2 && iot_name_is_there(new)) {
		iot_name_record(f, new, true);
	}
	iot_fs_end(&f->e, result);
}

#endif /* IOT_WITHOUT_FS_CALLS */
