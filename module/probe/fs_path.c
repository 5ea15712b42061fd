// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that name files by path.
 *
 * A name is looked up as the call does it, with the rights and in the namespace of the
 * calling task: before the call if it removes or changes the file, after the call if it creates
 * the file. A name that leads to no file is recorded as text. The call itself may find another
 * file if the directory tree or the name changes in between. If the name in user memory is
 * different after the call, the event is marked.
 *
 * Contexts: task. A wrapper may sleep. A kretprobe's handler may not: it records the name
 * as given, and the file is not known.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs_struct.h>
#include <linux/kdev_t.h>
#include <linux/limits.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "compat/compat.h"
#include "core/table.h"
#include "file/paths.h"
#include "probe/fs_frame.h"
#include "probe/names.h"
#include "probe/vfs.h"

/*
 * For names that are read where the probe may not sleep: PATH_MAX bytes for each CPU, used
 * with preemption off. Not by DEFINE_PER_CPU(): all modules share 8 KiB for that
 * (PERCPU_MODULE_RESERVE).
 */
static char __percpu *scratch;

/**
 * iot_name_init() - allocate the buffers for names
 *
 * Context: loading of the module. Return: 0 or -ENOMEM.
 */
int iot_name_init(void)
{
	scratch = __alloc_percpu(PATH_MAX, 1);
	return scratch ? 0 : -ENOMEM;
}

/** iot_name_exit() - free the buffers for names when no probe runs any more */
void iot_name_exit(void)
{
	free_percpu(scratch);
}

/* Read a name of up to PATH_MAX - 1 bytes without sleeping. Return: its length or -EFAULT. */
static long read_atomic(char *buf, const char __user *user)
{
	size_t done = 0;

	while (done < PATH_MAX - 1) {
		size_t n = min_t(size_t, 64 - ((unsigned long)(user + done) & 63),
				 PATH_MAX - 1 - done);

		if (copy_from_user_nofault(buf + done, user + done, n))
			return -EFAULT;
		buf[done + n] = '\0';
		if (strnlen(buf + done, n) < n)
			return done + strnlen(buf + done, n);
		done += n;
	}
	return done;
}

/* As above, but the probe may sleep. */
static long read_name(char *buf, const char __user *user)
{
	long len = strncpy_from_user(buf, user, PATH_MAX - 1);

	if (len >= 0)
		buf[min_t(long, len, PATH_MAX - 1)] = '\0';
	return len;
}

/* Continue a hash. It is keyed, so no program can predict which texts have the same hash. */
static u64 seal_text(u64 seal, const char *text, size_t len)
{
	while (len--)
		seal = (seal + (u8)*text++ + 1) * iot_table_secret;
	return seal;
}

/* Hash the name that is in user memory now. Return: false if it cannot be read. */
static bool seal_user(const char __user *user, bool may_sleep, u64 *seal)
{
	size_t done = 0, n, len;
	char text[64];

	for (*seal = 0; done < PATH_MAX; done += n) {
		n = 64 - ((unsigned long)(user + done) & 63);
		if (may_sleep ? copy_from_user(text, user + done, n) :
				copy_from_user_nofault(text, user + done, n))
			return false;
		len = strnlen(text, n);
		*seal = seal_text(*seal, text, len);
		if (len < n)
			return true;
	}
	return true;
}

/* Store the hash of a name; mark the event if an earlier hash differs. */
static void seal(struct iot_frame *f, struct iot_name *n, u64 now)
{
	if (n->sealed && n->seal != now)
		f->e.unsure |= IOT_UNSURE_CHANGED;
	n->sealed = true;
	n->seal = now;
}

/**
 * iot_name_seal() - note the name that is in user memory now
 *
 * If the call reads another name, iot_name_check() and iot_name_record() mark the event.
 * Context: task.
 */
void iot_name_seal(struct iot_frame *f, struct iot_name *n)
{
	u64 now;

	if (!n->text && seal_user(n->user, f->may_sleep, &now))
		seal(f, n, now);
}

/**
 * iot_name_check() - mark the event if a sealed name has changed
 *
 * A name that cannot be read without sleeping counts as changed, because the call has just
 * read it. Context: task.
 */
void iot_name_check(struct iot_frame *f, const struct iot_name *n)
{
	u64 now;

	if (n->sealed && !n->text && (!seal_user(n->user, false, &now) || n->seal != now))
		f->e.unsure |= IOT_UNSURE_CHANGED;
}

/* Is the text in user memory still @n->text, the copy made when io_uring took the request? */
static bool is_unchanged(const struct iot_name *n)
{
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL);
	bool same;

	same = buf && read_name(buf, n->user) >= 0 && !strcmp(buf, n->text);
	kfree(buf);
	return same;
}

/* Get the directory that a text starts from. Return: 0 with a reference held, or an error. */
static int base_of(const struct iot_name *n, const char *text, struct path *base)
{
	struct file *file;

	if (*text == '/') {
		get_fs_root(current->fs, base);
		return 0;
	}
	if (n->dfd == AT_FDCWD) {
		get_fs_pwd(current->fs, base);
		return 0;
	}
	file = fget_raw(n->dfd);
	if (!file)
		return -EBADF;
	*base = file->f_path;
	path_get(base);
	fput(file);
	return 0;
}

/* Join the path of a directory, whose final NUL is at @at - 1, and the text at @at. */
static char *join(char *dir, char *at)
{
	bool is_root = dir == at - 2;

	if (*at == '/') {
		if (is_root)
			return at;
		memmove(dir + 1, dir, at - 1 - dir);
		return dir + 1;
	}
	at[-1] = '/';
	return is_root ? at - 1 : dir;
}

/*
 * Make a text absolute in @buf of PATH_MAX bytes: the path of the directory that it starts from,
 * by @path_of, then the text. If that path is not known or too long, the result is the text
 * alone. Return: the beginning of the result.
 */
static char *make_absolute(const struct iot_name *n, const char *text, char *buf,
			   char *(*path_of)(const struct path *path, char *buf, int size))
{
	size_t len = min_t(size_t, strlen(text), PATH_MAX - 1);
	char *at = buf + PATH_MAX - 1 - len;
	struct path base;
	char *dir;

	memcpy(at, text, len);
	buf[PATH_MAX - 1] = '\0';
	if (at < buf + 2 || base_of(n, text, &base))
		return at;
	dir = path_of(&base, buf, at - buf);
	path_put(&base);
	return IS_ERR(dir) ? at : join(dir, at);
}

/* Look up a copied name that starts from a descriptor, by its absolute path. */
static int lookup_copy(const struct iot_name *n, unsigned int flags, struct path *path)
{
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL);
	int err;

	if (!buf)
		return -ENOMEM;
	err = kern_path(make_absolute(n, n->text, buf, d_path), flags, path);
	kfree(buf);
	return err;
}

static unsigned int lookup_flags(const struct iot_frame *f, enum iot_lookup lookup)
{
	u64 at = f->call->flags ? iot_frame_arg(f, f->call->flags) : 0;
	unsigned int flags = at & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0;

	switch (lookup) {
	case IOT_LOOKUP_FOLLOW:
		return LOOKUP_FOLLOW;
	case IOT_LOOKUP_NOFOLLOW:
		return 0;
	case IOT_LOOKUP_AT:
		return at & AT_SYMLINK_NOFOLLOW ? flags : flags | LOOKUP_FOLLOW;
	case IOT_LOOKUP_AT_FOLLOW:
		return at & AT_SYMLINK_FOLLOW ? flags | LOOKUP_FOLLOW : flags;
	}
	return 0;
}

/* Look up a name that is only in user memory. The call also reads it, before or after this. */
static int lookup_user(struct iot_frame *f, struct iot_name *n, unsigned int flags,
		       struct path *path)
{
	bool after = n->sealed;
	int err;

	if (!after)
		iot_name_seal(f, n);
	err = user_path_at(n->dfd, n->user, flags, path);
	if (after)
		iot_name_check(f, n);
	return err;
}

/**
 * iot_name_lookup() - look up the file that a name leads to now
 *
 * Context: task, may sleep. Return: 0 with a reference to @path held, or an error.
 */
int iot_name_lookup(struct iot_frame *f, struct iot_name *n,
		    enum iot_lookup lookup, struct path *path)
{
	unsigned int flags = lookup_flags(f, lookup);
	int err;

	if (!n->text)
		return lookup_user(f, n, flags, path);
	if (n->dfd == AT_FDCWD || *n->text == '/')
		return kern_path(n->text, flags, path);
	if (is_unchanged(n)) {
		err = user_path_at(n->dfd, n->user, flags, path);
		if (is_unchanged(n))
			return err;
		if (!err)
			path_put(path);
	}
	return lookup_copy(n, flags, path);
}

static void record_absolute(struct iot_frame *f, const struct iot_name *n, const char *text,
			    bool second)
{
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL);
	char *at;

	if (!buf)
		return;
	at = make_absolute(n, text, buf, iot_paths_text);
	iot_fs_name_at(&f->e, at, second);
	kfree(buf);
}

static void record_atomic(struct iot_frame *f, struct iot_name *n, bool second)
{
	long len;
	char *buf;

	if (n->text) {
		iot_fs_name(&f->e, n->text, strlen(n->text), second, false);
		return;
	}
	preempt_disable();
	buf = this_cpu_ptr(scratch);
	len = read_atomic(buf, n->user);
	if (len > 0) {
		seal(f, n, seal_text(0, buf, len));
		iot_fs_name(&f->e, buf, len, second, false);
	}
	preempt_enable();
}

/** iot_name_record() - record a name as text, made absolute if the probe may sleep */
void iot_name_record(struct iot_frame *f, struct iot_name *n, bool second)
{
	char *buf;
	long len;

	if (!f->may_sleep) {
		record_atomic(f, n, second);
		return;
	}
	if (n->text) {
		record_absolute(f, n, n->text, second);
		return;
	}
	buf = kmalloc(PATH_MAX, GFP_KERNEL);
	len = buf ? read_name(buf, n->user) : 0;
	if (len > 0) {
		seal(f, n, seal_text(0, buf, len));
		record_absolute(f, n, buf, second);
	}
	kfree(buf);
}

/**
 * iot_name_resolve() - record the file that a name leads to, or else the name
 *
 * Return: false if the filter does not want the file.
 */
bool iot_name_resolve(struct iot_frame *f, struct iot_name *n, enum iot_lookup lookup)
{
	struct path path;
	bool wanted;

	if (!f->may_sleep || iot_name_lookup(f, n, lookup, &path)) {
		iot_name_record(f, n, false);
		return true;
	}
	wanted = iot_fs_file(&f->e, &path, true);
	path_put(&path);
	return wanted;
}

/* Record the file that the second name leads to now. Return: false if there is none. */
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

/* Does the call mean the descriptor itself, by an empty name or by NULL? */
static bool names_descriptor(const struct iot_frame *f, const struct iot_name *n)
{
	char first;

	if (n->dfd < 0)
		return false;
	if (!n->user)
		return true;
	if (f->call->op != IOT_FS_READLINK &&
	    !(f->call->flags && (iot_frame_arg(f, f->call->flags) & AT_EMPTY_PATH)))
		return false;
	return !(f->may_sleep ? copy_from_user(&first, n->user, 1) :
				copy_from_user_nofault(&first, n->user, 1)) && !first;
}

/** iot_path_begin() - begin a call that names an existing file */
bool iot_path_begin(struct iot_frame *f)
{
	struct iot_name *n = &f->name[0];

	*n = name_of(f);
	if (names_descriptor(f, n))
		return iot_file_resolve(f, n->dfd);
	return iot_name_resolve(f, n, f->call->lookup);
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

/*
 * Take a name where the probe may not sleep: keep its address in user memory and its hash, or
 * record its text if it has no address. Return: true if the name is still to be recorded.
 */
static bool take_atomic(struct iot_frame *f, struct iot_name *n, const struct filename *name)
{
	size_t len = strlen(name->name);

	if (n->user)
		seal(f, n, seal_text(0, name->name, len));
	else
		iot_fs_name(&f->e, name->name, len, n == &f->name[1], false);
	return n->user;
}

/**
 * iot_name_take() - take a name that the kernel has copied, valid until the call returns
 *
 * A call may have no name, because the kernel could not read it. Return: true if there is a name
 * that is still to be recorded.
 */
bool iot_name_take(struct iot_frame *f, struct iot_name *n, u64 dfd, u64 filename)
{
	const struct filename *name = (const struct filename *)filename;

	n->dfd = (int)dfd;
	n->user = NULL;
	if (IS_ERR_OR_NULL(name))
		return false;
	n->user = iot_filename_user(name);
	if (!f->may_sleep)
		return take_atomic(f, n, name);
	n->text = kstrdup(name->name, GFP_KERNEL);
	return n->text;
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
	return iot_name_resolve(f, &f->name[0], IOT_LOOKUP_NOFOLLOW);
}

/* do_statx(dfd, name, flags, mask, buffer) of io_uring */
bool iot_path_begin_statx(struct iot_frame *f)
{
	if (!iot_name_take(f, &f->name[0], f->a[0], f->a[1]))
		return true;
	if (is_empty(&f->name[0]))
		return iot_file_resolve(f, f->name[0].dfd);
	return iot_name_resolve(f, &f->name[0], IOT_LOOKUP_AT);
}

/* do_mkdirat(dfd, name, mode) */
bool iot_path_begin_mkdir(struct iot_frame *f)
{
	iot_name_take(f, &f->name[0], f->a[0], f->a[1]);
	return true;
}

/* mknod and mknodat: the name in user memory, then mode and device */
bool iot_path_begin_mknod(struct iot_frame *f)
{
	u32 mode = iot_frame_arg(f, f->call->flags2);

	f->name[0] = name_of(f);
	iot_name_seal(f, &f->name[0]);
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
	return true;
}

/** iot_path_end_new() - end a call that creates a file: record the file, or else the name */
void iot_path_end_new(struct iot_frame *f, s64 result)
{
	if (iot_name_is_there(&f->name[0]) &&
	    !iot_name_resolve(f, &f->name[0], IOT_LOOKUP_NOFOLLOW))
		return;
	iot_fs_end(&f->e, result);
}

/* Is an event wanted for its second name alone? */
static bool second_counts(void)
{
	return iot_category_has_branches(&iot_category_fs);
}

/* do_linkat(old dfd, old, new dfd, new, flags) */
bool iot_path_begin_link(struct iot_frame *f)
{
	iot_name_take(f, &f->name[1], f->a[2], f->a[3]);
	if (!iot_name_take(f, &f->name[0], f->a[0], f->a[1]))
		return true;
	if (is_empty(&f->name[0]))
		return iot_file_resolve(f, f->name[0].dfd);
	return iot_name_resolve(f, &f->name[0], IOT_LOOKUP_AT_FOLLOW) || second_counts();
}

void iot_path_end_link(struct iot_frame *f, s64 result)
{
	struct iot_name *n = &f->name[1];

	if (iot_name_is_there(n) && !find_second(f, n))
		iot_name_record(f, n, true);
	iot_fs_end(&f->e, result);
}

/*
 * do_renameat2(old dfd, old, new dfd, new, flags). A reference to the old file is held over
 * the call.
 */
bool iot_path_begin_rename(struct iot_frame *f)
{
	struct path *old = &f->held;

	iot_name_take(f, &f->name[1], f->a[2], f->a[3]);
	if (!iot_name_take(f, &f->name[0], f->a[0], f->a[1]))
		return true;
	if (!f->may_sleep ||
	    iot_name_lookup(f, &f->name[0], IOT_LOOKUP_NOFOLLOW, old)) {
		old->dentry = NULL;
		iot_name_record(f, &f->name[0], false);
	} else if (!iot_fs_file(&f->e, old, true) && !second_counts()) {
		return false;
	}
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
