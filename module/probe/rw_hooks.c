// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions category fs hooks for READ and WRITE: ->read_iter and ->write_iter, and
 * ->read and ->write where they exist (raw.c). The functions of these files are hooked:
 *
 *   - every mounted filesystem, found by the inodes that it has in memory;
 *   - every open file, found by its descriptor;
 *   - every file that is opened or gets a descriptor later;
 *   - pipes and sockets, found by the names of the functions, even if none exists.
 *
 * Pipes, sockets, devices and the kernel's own files are hooked only while the filter wants
 * them.
 *
 * The search waits for no filesystem (file/supers.c). A filesystem that is being mounted has no
 * open file; its functions are hooked when the first file is opened. If another filesystem has to
 * be skipped, files that were opened before, and that no process has as a descriptor, may be of a
 * kind that is not hooked: this counts as one missed call.
 *
 * The functions found are copied. While they are hooked, which may take seconds, only references to
 * the modules that contain them are held, and none to a file or filesystem.
 */
#include <linux/atomic.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include "core/param.h"
#include "hook/enter.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/symbol.h"
#include "file/sb.h"
#include "file/supers.h"
#include "record/rw.h"
#include "probe/rw_hooks.h"
#include "probe/rw_sets.h"

/*
 * Users: category fs, and those that follow direct I/O (@tracks). The lock serialises the first and
 * the last of them.
 */
static DEFINE_MUTEX(users_lock);
static unsigned int nr_users;
static bool tracks;

static DEFINE_MUTEX(track_lock);	/* serialises iot_rw_track() and iot_rw_untrack() */
static unsigned int nr_trackers;

/* What was not hooked, and may have calls, see above */
static atomic_long_t nr_unseen;

/* Get the kinds of files that are wanted, bits 1 << IOT_KIND_*. */
static u32 kinds_wanted(void)
{
	u32 kinds = READ_ONCE(iot_category_fs.kinds);

	return kinds & IOT_PATHS_BELOW ? kinds | iot_category_fs.of.default_kinds : kinds;
}

static bool wants_kind(u16 kind)
{
	return !iot_fs_off() && (kinds_wanted() & BIT(kind));
}

/* Does the filter want files of this kind, or must category block follow their direct I/O? */
static bool is_wanted(const struct inode *inode)
{
	u16 kind = iot_paths_kind(inode);

	return wants_kind(kind) ||
	       (READ_ONCE(tracks) && (kind == IOT_KIND_FILE || S_ISBLK(inode->i_mode)));
}

/* A disk answers or fails. Calls on other devices, pipes and sockets may be unbounded. */
static bool sleeps_bounded(const struct inode *inode)
{
	if (S_ISBLK(inode->i_mode))
		return true;
	return S_ISREG(inode->i_mode) && iot_sb_sleeps_bounded(inode->i_sb);
}

/*
 * Functions that are found by name, as no inode of a filesystem leads to them. Older kernels
 * have one pipe_read(), newer kernels have one function for pipes and one for FIFOs.
 */
static struct {
	u16 kind;
	const char *read;
	const char *write;
	bool is_found;			/* @fop has the functions that exist */
	struct file_operations fop;
} named[] = {
#define ITER_PROTO	"long (struct kiocb *, struct iov_iter *)"
	{ IOT_KIND_SOCKET, "sock_read_iter", "sock_write_iter" },
	{ IOT_KIND_PIPE, "pipe_read", "pipe_write" },
	{ IOT_KIND_PIPE, "anon_pipe_read", "anon_pipe_write" },
	{ IOT_KIND_PIPE, "fifo_pipe_read", "fifo_pipe_write" },
};

static DEFINE_MUTEX(named_lock);	/* protects @named */

/* Kinds that are hooked by name, bits 1 << IOT_KIND_*. */
static u32 kinds_named;

/* Find the functions, only once as it takes milliseconds. Under named_lock. */
static void find_named(unsigned int i)
{
	if (named[i].is_found)
		return;
	named[i].fop.read_iter = (void *)iot_symbol_checked(named[i].read, ITER_PROTO);
	named[i].fop.write_iter = (void *)iot_symbol_checked(named[i].write, ITER_PROTO);
	named[i].is_found = true;
}

/* Hook all functions of a kind that this kernel has. Under named_lock. */
static int add_kind(u16 kind)
{
	bool any = false;
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(named); i++) {
		const struct file_operations *fop = &named[i].fop;

		if (named[i].kind != kind)
			continue;
		find_named(i);
		if (!iot_rw_has_functions(fop))
			continue;
		err = iot_rw_sets_have_room() ? iot_rw_sets_add(fop, fop, false) : -ENOMEM;
		if (err)
			return err;
		any = true;
	}
	if (any)
		WRITE_ONCE(kinds_named, kinds_named | BIT(kind));
	else
		iot_rw_sets_miss();
	return 0;
}

static int add_named(void)
{
	unsigned int i;
	int err = 0;

	mutex_lock(&named_lock);
	for (i = 0; !err && i < ARRAY_SIZE(named); i++)
		if (wants_kind(named[i].kind) && !(kinds_named & BIT(named[i].kind)))
			err = add_kind(named[i].kind);
	mutex_unlock(&named_lock);
	return err;
}

/*
 * Have files of this inode functions that are wanted and not hooked? Those of a character device
 * are known only when it is opened. Opening a FIFO may be unbounded: FIFOs are hooked by name.
 * Context: any.
 */
static bool is_new(const struct inode *inode)
{
	return !S_ISCHR(inode->i_mode) && !S_ISFIFO(inode->i_mode) &&
	       !iot_rw_sets_know(inode->i_fop) && iot_rw_has_functions(inode->i_fop) &&
	       is_wanted(inode);
}

/* Does a file have functions that are wanted and not hooked? Context: any */
static bool is_new_file(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return !iot_rw_sets_know(file->f_op) && iot_rw_has_functions(file->f_op) &&
	       is_wanted(inode) && !(READ_ONCE(kinds_named) & BIT(iot_paths_kind(inode)));
}

/* Files that are opened from now on */

static void hook_inode(const struct inode *inode)
{
	if (iot_rw_sets_add(inode->i_fop, inode->i_fop, sleeps_bounded(inode)))
		atomic_long_inc(&nr_unseen);
}

static void hook_file(const struct file *file)
{
	if (is_new_file(file) &&
	    iot_rw_sets_add(file->f_op, file->f_op, sleeps_bounded(file_inode(file))))
		atomic_long_inc(&nr_unseen);
}

/*
 * Can reads and writes of a file not find out what stat(2) reports of it? The filter may ask for
 * it. Context: task.
 */
static bool needs_stat(const struct file *file)
{
	return iot_paths_needs_stat(file) && wants_kind(iot_paths_kind(file_inode(file)));
}

/* What a hooked function does with a file. */
enum see {
	OPENS,		/* security_file_open(file): it has its functions */
	OPENS_DEVICE,	/* vfs_open(path, file), if it is a character device */
	OPENS_ANY,	/* the same, whatever it is */
	INSTALLS,	/* fd_install(fd, file) */
};

/*
 * All opens go through security_file_open(), also those of a filesystem's ->atomic_open and of
 * io_uring without descriptor, before the filesystem's ->open. That of a character device sets the
 * functions of the file. A kernel without CONFIG_SECURITY has only vfs_open().
 *
 * All files that get a descriptor, however they were opened or made, go through fd_install():
 * pipes, sockets, memfds, eventfds, and files of devices and debugfs, which may replace their
 * functions when they are opened. That is looked at before the call, because afterwards another
 * thread may close the file. The hook of fd_install() also finds out the device of a file of
 * overlayfs.
 *
 * The functions that make files (alloc_file_pseudo()) are not hooked for this: locks may be held
 * there that CPU hotplug takes, as in perf_event_open(2), and hooking a function waits for CPU
 * hotplug.
 *
 * Contexts: tasks, whatever the filter says of them. fd_install() runs with mutexes held (of an
 * io_uring or a unix socket), but with no spinlock. Functions are hooked there, which may take
 * seconds the first time that a kind of file is seen.
 */
static struct iot_site sites[] = {
	{ .symbol = "fd_install", .what = "OPEN", .tag = INSTALLS,
	  .proto = "void (int, struct file *)" },
#ifdef CONFIG_SECURITY
	{ .symbol = "vfs_open", .what = "OPEN", .tag = OPENS_DEVICE,
	  .proto = "int (struct path *, struct file *)" },
	{ .symbol = "security_file_open", .what = "OPEN", .tag = OPENS,
	  .proto = "int (struct file *, ...)" },
#else
	{ .symbol = "vfs_open", .what = "OPEN", .tag = OPENS_ANY,
	  .proto = "int (struct path *, struct file *)" },
#endif
};

static const struct inode *opened(const unsigned long *args)
{
	return d_backing_inode(((const struct path *)args[0])->dentry);
}

static const struct file *file_of(const struct iot_site *site, const unsigned long *args)
{
	return (const struct file *)args[site->tag == OPENS ? 0 : 1];
}

static bool sees_new(const struct iot_site *site, const unsigned long *args)
{
	const struct inode *inode;

	if (site->tag == INSTALLS || site->tag == OPENS)
		return is_new_file(file_of(site, args));
	inode = opened(args);
	if (S_ISCHR(inode->i_mode))
		return wants_kind(IOT_KIND_DEVICE);
	return site->tag == OPENS_ANY && is_new(inode);
}

static bool asks(const struct iot_site *site, const unsigned long *args)
{
	return site->tag == INSTALLS && needs_stat(file_of(site, args));
}

static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	return sees_new(site, args) || asks(site, args) ? IOT_HOOK_FOLLOW : IOT_HOOK_IGNORE;
}

/*
 * Opening may be unbounded, so the call passes through. Only opening a character device is
 * followed, as that sets the functions of the file.
 */
static s64 call(const struct iot_site *site, unsigned long *args)
{
	const struct file *file = file_of(site, args);
	struct iot_paths_file known;
	s64 result;

	if (site->tag == INSTALLS || site->tag == OPENS) {
		hook_file(file);
		if (asks(site, args))
			iot_paths_resolve(&file->f_path, true, &known);
		return IOT_HOOK_PASS_THROUGH;
	}
	if (!S_ISCHR(opened(args)->i_mode)) {
		hook_inode(opened(args));
		return IOT_HOOK_PASS_THROUGH;
	}
	result = iot_hook_call(args, site->entry);
	if (!(s32)result)
		hook_file(file);
	return result;
}

/* A kretprobe's handler may not sleep, and so not hook functions. */
static int probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long args[IOT_CALL_ARGS];

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	if (sees_new(iot_site_of(ri), args))
		atomic_long_inc(&nr_unseen);
	return 1;
}

static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.call = call,
	.entry = probe_entry,
	.exit = probe_exit,
};

/* Files that are open, or in memory, already */

#define MAX_FOUND	64
#define MAX_SEARCHES	32	/* more than it takes to find as many kinds as may be hooked */

/**
 * struct found - kinds of files that a search has found
 * @fop:	compared only; NULL if its address is fleeting
 * @functions:	copied from there
 * @owners:	modules that have the functions, with a reference held; may be NULL
 * @bounded:	calls sleep for a bounded time
 */
struct found {
	unsigned int nr;
	bool full;			/* there may be more */
	struct {
		const struct file_operations *fop;
		struct file_operations functions;
		struct module *owners[2];
		bool bounded;
	} kind[MAX_FOUND];
};

/* Is a kind of file noted? @fop: its address, NULL if that is fleeting */
static bool is_noted(const struct found *f, const struct file_operations *fop,
		     const struct file_operations *functions)
{
	unsigned int i;

	for (i = 0; i < f->nr; i++)
		if (fop ? f->kind[i].fop == fop :
			  iot_rw_same_functions(&f->kind[i].functions, functions))
			return true;
	return false;
}

/*
 * Note a new kind of file. The file that it was found by stays meanwhile. A module that is being
 * unloaded has no open file. Context: may not sleep. Return: false if there is no room.
 */
static bool note(struct found *f, const struct file_operations *fop, const struct inode *inode)
{
	const struct file_operations *address = iot_rw_is_fleeting(fop) ? NULL : fop;
	struct module *type = inode->i_sb->s_type->owner;

	if (is_noted(f, address, fop))
		return true;
	if (f->nr == MAX_FOUND) {
		f->full = true;
		return false;
	}
	if (!try_module_get(fop->owner))
		return true;
	if (!try_module_get(type)) {
		module_put(fop->owner);
		return true;
	}
	memset(&f->kind[f->nr], 0, sizeof(f->kind[f->nr]));
	f->kind[f->nr].fop = address;
	f->kind[f->nr].owners[0] = fop->owner;
	f->kind[f->nr].owners[1] = type;
	f->kind[f->nr].bounded = sleeps_bounded(inode);
	iot_rw_copy_functions(&f->kind[f->nr].functions, fop);
	f->nr++;
	return true;
}

static int hook_found(struct found *f)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < f->nr; i++) {
		if (!err)
			err = iot_rw_sets_add(f->kind[i].fop, &f->kind[i].functions,
					      f->kind[i].bounded);
		module_put(f->kind[i].owners[0]);
		module_put(f->kind[i].owners[1]);
	}
	f->nr = 0;
	return err;
}

/* Context: under the lock of the filesystem's list of inodes. */
static enum iot_inode_wish look_at_inode(struct inode *inode, void *data)
{
	if (!is_new(inode))
		return IOT_INODE_PASS;
	return note(data, inode->i_fop, inode) ? IOT_INODE_PASS : IOT_INODE_STOP;
}

static const struct iot_inodes_ops look = { .look = look_at_inode };

static bool look_at_super(struct super_block *sb, void *data)
{
	return iot_inodes_walk(sb, &look, data);
}

/* struct pid *find_ge_pid(number, namespace), kernel/pid.c, under RCU */
static unsigned long next_pid;

/*
 * Find the next process whose pid is at least @number, and set @number to where to continue.
 * Return: the process with a reference held, NULL if there is none, or -EAGAIN to call again
 * after a reschedule.
 */
static struct task_struct *find_process(int *number)
{
	unsigned long args[IOT_CALL_ARGS] = { 0, (unsigned long)&init_pid_ns };
	struct task_struct *task = NULL;
	struct pid *pid;

	rcu_read_lock();
	do {
		args[0] = *number;
		pid = (struct pid *)iot_hook_call(args, next_pid);
		if (!pid)
			break;
		*number = pid_nr(pid) + 1;
		task = pid_task(pid, PIDTYPE_TGID);
	} while (!task && !need_resched());
	if (task)
		get_task_struct(task);
	else if (pid)
		task = ERR_PTR(-EAGAIN);
	rcu_read_unlock();
	return task;
}

#define DESCRIPTORS_A_STEP	64

/* A walk through the descriptors of a process, of which @left are left in this step. */
struct file_walk {
	struct found *found;
	unsigned int left;
};

/*
 * Return: 0 to continue with the next descriptor, or the descriptor to continue from later.
 * Context: under the lock of the descriptor table.
 */
static int look_at_file(const void *data, struct file *file, unsigned int fd)
{
	struct file_walk *walk = (struct file_walk *)data;

	if (is_new_file(file) && !note(walk->found, file->f_op, file_inode(file)))
		return fd + 1;
	return !--walk->left ? fd + 1 : 0;
}

static void look_at_files_of(struct task_struct *task, struct found *found)
{
	int fd = 0;

	do {
		struct file_walk walk = { .found = found, .left = DESCRIPTORS_A_STEP };

		task_lock(task);
		fd = iterate_fd(task->files, fd, look_at_file, &walk);
		task_unlock(task);
		cond_resched();
	} while (fd > 0 && !found->full);
}

#define KINDS_BY_INODE	(BIT(IOT_KIND_NONE) | BIT(IOT_KIND_FILE) | BIT(IOT_KIND_DIR) | \
			 BIT(IOT_KIND_SYMLINK))

/*
 * Look at the open files of all processes, at least for those that no inode leads to: devices,
 * eventfds and the like. A file that is queued in a socket is hooked when it gets a descriptor
 * again. @all: some inodes were not looked at
 */
static void look_at_open_files(struct found *found, bool all)
{
	struct task_struct *task;
	int number = 1;

	if (!all && (iot_fs_off() || !(kinds_wanted() & IOT_KIND_ALL & ~KINDS_BY_INODE)))
		return;
	if (!next_pid)
		next_pid = iot_symbol_checked("find_ge_pid",
					      "struct pid * (int, struct pid_namespace *)");
	if (!next_pid) {
		atomic_long_inc(&nr_unseen);
		return;
	}
	while (!found->full && (task = find_process(&number))) {
		if (!IS_ERR(task)) {
			look_at_files_of(task, found);
			put_task_struct(task);
		}
		cond_resched();
	}
}

/* Hook what is open or in memory already. @found is empty. */
static int hook_present(struct found *found)
{
	struct iot_supers_left left;
	unsigned int n = 0;
	int err;

	do {
		found->full = false;
		if (iot_supers_walk(look_at_super, found, &left))
			left.busy = 1; /* all of them */
		if (!found->full)
			look_at_open_files(found, left.busy);
		err = hook_found(found);
	} while (!err && found->full && ++n < MAX_SEARCHES);
	atomic_long_add(left.busy + found->full, &nr_unseen);
	return err;
}

/** iot_rw_refresh() - hook all that the filter wants and that is not hooked yet */
int iot_rw_refresh(void)
{
	struct found *found = kvzalloc(sizeof(*found), GFP_KERNEL);
	int err;

	if (!found)
		return -ENOMEM;
	err = hook_present(found) ?: add_named();
	kvfree(found);
	return err;
}

static int get(void)
{
	int err;

	if (nr_users++)
		return iot_rw_sets_get();
	err = iot_rw_sets_get();
	if (err)
		goto uncount;
	err = iot_hook_set_start(&set, NULL, 0);
	if (err)
		goto put_sets;
	return 0;

put_sets:
	iot_rw_sets_put();
uncount:
	nr_users--;
	return err;
}

static void put(void)
{
	if (!--nr_users)
		iot_hook_set_stop(&set, NULL, 0);
	if (iot_rw_sets_put())
		WRITE_ONCE(kinds_named, 0);
}

/** iot_rw_stop() - remove a user; the last one unhooks everything */
void iot_rw_stop(void)
{
	mutex_lock(&users_lock);
	put();
	mutex_unlock(&users_lock);
}

/**
 * iot_rw_start() - add a user and hook all filesystems
 *
 * First the opening of files is hooked, so that no kind is opened unseen between the search and
 * that. Context: task, may sleep for seconds, inside a visit; waits for no filesystem.
 */
int iot_rw_start(void)
{
	int err;

	mutex_lock(&users_lock);
	err = get();
	mutex_unlock(&users_lock);
	if (err)
		return err;
	err = iot_rw_refresh();
	if (err)
		iot_rw_stop();
	return err;
}

static int track(void)
{
	int err;

	WRITE_ONCE(tracks, true);
	err = iot_rw_start();
	if (err) {
		WRITE_ONCE(tracks, false);
		return err;
	}
	iot_rw_sets_sync(true);
	iot_category_set_track(&iot_category_fs, true);
	return 0;
}

/**
 * iot_rw_track() - follow direct I/O and fsync, so that bios can be attributed to their calls
 *
 * Context: task, may sleep for seconds. Return: 0, or an error and no user was added.
 */
int iot_rw_track(void)
{
	int err = 0;

	mutex_lock(&track_lock);
	if (!nr_trackers)
		err = track();
	nr_trackers += !err;
	mutex_unlock(&track_lock);
	return err;
}

/**
 * iot_rw_untrack() - undo iot_rw_track(); the last user stops following
 *
 * If category fs still has the hooks, those of ->fsync stay, and follow no call.
 */
void iot_rw_untrack(void)
{
	mutex_lock(&track_lock);
	if (!--nr_trackers) {
		iot_category_set_track(&iot_category_fs, false);
		WRITE_ONCE(tracks, false);
		iot_rw_sets_sync(false);
		iot_rw_stop();
	}
	mutex_unlock(&track_lock);
}

/** iot_rw_unseen() - get the number of kinds of files, or of filesystems, that may not be hooked */
unsigned long iot_rw_unseen(void)
{
	return atomic_long_read(&nr_unseen);
}

/** iot_rw_missed() - count the calls that could not be followed */
unsigned long iot_rw_missed(void)
{
	return iot_rw_sets_missed() + iot_hook_set_own_missed(&set) + iot_rw_unseen();
}
