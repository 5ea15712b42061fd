// SPDX-License-Identifier: GPL-2.0
/*
 * Reads, looks up and records the names that are passed to calls.
 *
 * Nothing here waits for a filesystem, a server, or memory of the program. None of them, and no
 * security module, gets a request that the call itself does not make.
 *
 * Contexts: task. A wrapper may sleep. A kretprobe's handler may not: it records the name as given,
 * and the file is not known.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/audit.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs_struct.h>
#include <linux/limits.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "compat/compat.h"
#include "core/table.h"
#include "file/cached.h"
#include "file/paths.h"
#include "probe/fs_frame.h"
#include "probe/fs_name.h"

/*
 * For names that are read where the probe may not sleep: PATH_MAX bytes for each CPU, used
 * with preemption off. Not by DEFINE_PER_CPU(): all modules share 8 KiB for that
 * (PERCPU_MODULE_RESERVE).
 */
static char __percpu *scratch;

/**
 * iot_name_buffers_init() - allocate the buffers for names
 *
 * Context: loading of the module. Return: 0 or -ENOMEM.
 */
int iot_name_buffers_init(void)
{
	scratch = __alloc_percpu(PATH_MAX, 1);
	return scratch ? 0 : -ENOMEM;
}

/** iot_name_buffers_exit() - free the buffers for names when no probe runs any more */
void iot_name_buffers_exit(void)
{
	free_percpu(scratch);
}

/* Read a name of up to PATH_MAX - 1 bytes. Return: its length; -EFAULT: it is not in memory. */
static long read_name(char *buf, const char __user *user)
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

/* Continue a hash. It is keyed, so no program can predict which texts have the same hash. */
static u64 seal_text(u64 seal, const char *text, size_t len)
{
	while (len--)
		seal = (seal + (u8)*text++ + 1) * iot_table_secret;
	return seal;
}

/* Hash the name that is in user memory now. Return: false if it is not there. */
static bool seal_user(const char __user *user, u64 *seal)
{
	size_t done = 0, n, len;
	char text[64];

	for (*seal = 0; done < PATH_MAX; done += n) {
		n = 64 - ((unsigned long)(user + done) & 63);
		if (copy_from_user_nofault(text, user + done, n))
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

	if (!n->text && seal_user(n->user, &now))
		seal(f, n, now);
}

/**
 * iot_name_note() - note the name that the kernel has read, if it could not be read before the call
 *
 * As iot_name_seal(). Context: any.
 */
void iot_name_note(struct iot_name *n, const char *text)
{
	if (n->sealed || n->text)
		return;
	n->seal = seal_text(0, text, strlen(text));
	n->sealed = true;
}

/**
 * iot_name_check() - mark the event if a sealed name has changed
 *
 * A name that is not in memory counts as changed, because the call has just read it. Context: task.
 */
void iot_name_check(struct iot_frame *f, const struct iot_name *n)
{
	u64 now;

	if (n->sealed && !n->text && (!seal_user(n->user, &now) || n->seal != now))
		f->e.unsure |= IOT_UNSURE_CHANGED;
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

/*
 * Look up a text, or if it is NULL the name in user memory, among what is cached. The walk never
 * leaves RCU mode: it asks filesystems and security modules only what they answer without waiting,
 * and the latter record no refusal then. While the task has no audit context, no record is made of
 * what is found. A name that is not in memory is not fetched.
 */
static int look(const struct iot_name *n, const char *text, unsigned int flags, struct path *path)
{
	struct audit_context *audit = audit_context();
	int err;

	audit_set_context(current, NULL);
	if (text) {
		err = kern_path(text, flags | LOOKUP_CACHED, path);
	} else {
		pagefault_disable();
		err = user_path_at(n->dfd, n->user, flags | LOOKUP_CACHED, path);
		pagefault_enable();
	}
	audit_set_context(current, audit);
	return err;
}

/* Is this the error of a look-up that cannot tell, rather than of a name that leads to no file? */
static bool is_unknown(int err)
{
	return err == -EAGAIN || err == -ECHILD || err == -EFAULT || err == -ENOMEM;
}

/* Look up a copied name that starts from a descriptor, by its absolute path. */
static int lookup_copy(const struct iot_name *n, unsigned int flags, struct path *path)
{
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL);
	const char *text;
	int err = -ENOMEM;

	if (buf) {
		text = make_absolute(n, n->text, buf, d_path);
		err = *text == '/' ? look(n, text, flags, path) : -EBADF;
	}
	kfree(buf);
	return err;
}

static unsigned int lookup_flags(const struct iot_frame *f, enum iot_lookup lookup)
{
	u64 at = f->call->flags ? iot_frame_arg(f, f->call->flags) : 0;
	unsigned int flags = f->resolve | (at & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);

	switch (lookup) {
	case IOT_LOOKUP_FOLLOW:
		return f->resolve | LOOKUP_FOLLOW;
	case IOT_LOOKUP_NOFOLLOW:
		return f->resolve;
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
	err = look(n, NULL, flags, path);
	if (after)
		iot_name_check(f, n);
	return err;
}

static int lookup_name(struct iot_frame *f, struct iot_name *n, enum iot_lookup lookup,
		       struct path *path)
{
	unsigned int flags = lookup_flags(f, lookup);
	int err;

	if (!n->text)
		return lookup_user(f, n, flags, path);
	if (n->dfd == AT_FDCWD || *n->text == '/')
		return look(n, n->text, flags, path);
	if (is_unchanged(n)) {
		err = look(n, NULL, flags, path);
		if (is_unchanged(n))
			return err;
		if (!err)
			path_put(path);
	}
	return lookup_copy(n, flags, path);
}

/**
 * iot_name_lookup() - look up the file that a name leads to now, without waiting
 *
 * Context: task, may sleep for memory.
 * Return: 0 with a reference to @path held; -EAGAIN if it cannot be told; another error if the name
 * leads to no file.
 */
int iot_name_lookup(struct iot_frame *f, struct iot_name *n,
		    enum iot_lookup lookup, struct path *path)
{
	int err = lookup_name(f, n, lookup, path);

	return is_unknown(err) ? -EAGAIN : err;
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
	len = read_name(buf, n->user);
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
 * iot_name_copy() - keep the name itself, for a call after which it cannot be read any more
 *
 * It then starts from no descriptor. Does nothing if it is not in memory. Context: task, may sleep.
 */
void iot_name_copy(struct iot_name *n)
{
	char *text = kmalloc(PATH_MAX, GFP_KERNEL), *buf = kmalloc(PATH_MAX, GFP_KERNEL);

	if (text && buf && read_name(text, n->user) > 0) {
		n->text = kstrdup(make_absolute(n, text, buf, d_path), GFP_KERNEL);
		n->dfd = AT_FDCWD;
	}
	kfree(buf);
	kfree(text);
}

/**
 * iot_name_is() - whether the kernel's copy of a name is this name
 *
 * A name that was not in memory before the call may be any. Context: any.
 */
bool iot_name_is(const struct iot_name *n, const char *text)
{
	if (n->text)
		return !strcmp(n->text, text);
	return !n->sealed || n->seal == seal_text(0, text, strlen(text));
}

/*
 * Look for the file of a name among the names in memory, where the kernel's own walk has to ask.
 * Context: as iot_name_lookup().
 */
static int lookup_in_memory(struct iot_frame *f, const struct iot_name *n, unsigned int flags,
			    struct path *path)
{
	char *buf = NULL;
	const char *text = n->text;
	struct path base;
	int err = -EAGAIN;

	if (f->resolve)
		return err;
	if (!text) {
		buf = kmalloc(PATH_MAX, GFP_KERNEL);
		text = buf && read_name(buf, n->user) > 0 ? buf : NULL;
	}
	if (text && !base_of(n, text, &base)) {
		err = iot_cached_find(&base, text, flags & LOOKUP_FOLLOW, path);
		path_put(&base);
	}
	kfree(buf);
	return err;
}

/** iot_name_lookup_after() - as iot_name_lookup(), after the call has looked the name up */
int iot_name_lookup_after(struct iot_frame *f, struct iot_name *n, enum iot_lookup lookup,
			  struct path *path)
{
	int err = iot_name_lookup(f, n, lookup, path);

	return err == -EAGAIN ? lookup_in_memory(f, n, lookup_flags(f, lookup), path) : err;
}

/** iot_name_means_descriptor() - whether a call means the descriptor, by an empty name or NULL */
bool iot_name_means_descriptor(const struct iot_frame *f, const struct iot_name *n)
{
	char first;

	if (n->dfd < 0)
		return false;
	if (!n->user)
		return true;
	if (f->call->op != IOT_FS_READLINK &&
	    !(f->call->flags && (iot_frame_arg(f, f->call->flags) & AT_EMPTY_PATH)))
		return false;
	return !copy_from_user_nofault(&first, n->user, 1) && !first;
}

#endif /* IOT_WITHOUT_FS_CALLS */
