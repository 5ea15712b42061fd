// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that are hooked for the reads and writes of category fs: a set of them for each
 * kind of file. rw_hooks.c finds the kinds.
 *
 * The file_operations whose functions are hooked are identified by their address. If a module is
 * unloaded, all these addresses are dropped, and so are the addresses in sets with functions of
 * that module, because another module may be loaded at the same address. The hooks of these sets
 * find their functions again when the module is loaded again (hook/engine.c). If its kind of file
 * is found again, too, the new set replaces the old one.
 */
#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include "hook/hook.h"
#include "probe/raw.h"
#include "probe/rw_sets.h"
#include "probe/vfs.h"

#define SETS_BITS	10
#define MAX_SETS	(BIT(SETS_BITS) / 2)	/* file_operations with different functions */

/**
 * struct set - the functions of one kind of file
 * @functions:	the functions themselves; empty if their module has gone
 * @raw_enabled: @raw is enabled, too
 * @missed:	calls that each hook had missed before it was used here; NO_COUNT if there is no
 *		hook, or another set counts them
 */
#define SET_HOOKS	(IOT_VFS_OPS + IOT_RAW_OPS)
#define NO_COUNT	ULONG_MAX

struct set {
	struct file_operations functions;
	struct iot_vfs_hooks hooks;
	struct iot_raw_hooks raw;
	bool raw_enabled;
	unsigned long missed[SET_HOOKS];
};

/* Serialises hooking and unhooking. Held for as long as the kernel needs for that. */
static DEFINE_MUTEX(attach_lock);

/*
 * @sets and @nr_sets change under both locks. sets_lock nests within attach_lock. It is held
 * only for a short time, and is enough to count missed calls.
 */
static DEFINE_MUTEX(sets_lock);
static struct set *sets[MAX_SETS];
static unsigned int nr_sets;
static atomic_long_t nr_missed;

static unsigned int nr_users;	/* under attach_lock */
static bool with_fsync;		/* hook ->fsync, too; under attach_lock */

/*
 * Hash table of the file_operations that are hooked. At least half of the slots stay empty.
 * Changed under attach_lock, read without a lock.
 */
static const struct file_operations *known[BIT(SETS_BITS)];
static unsigned int nr_known;

static unsigned int place_of(const struct file_operations *fop)
{
	unsigned int i = hash_ptr(fop, SETS_BITS);

	while (READ_ONCE(known[i]) && READ_ONCE(known[i]) != fop)
		i = (i + 1) % ARRAY_SIZE(known);
	return i;
}

/** iot_rw_sets_know() - check whether the functions of @fop are hooked. Context: any */
bool iot_rw_sets_know(const struct file_operations *fop)
{
	return READ_ONCE(known[place_of(fop)]);
}

/**
 * iot_rw_is_fleeting() - check whether @fop is allocated, so that its address may be reused
 *
 * debugfs allocates one for each open file. Such an address is never known. Context: any.
 */
bool iot_rw_is_fleeting(const struct file_operations *fop)
{
	return virt_addr_valid(fop) && folio_test_slab(virt_to_folio(fop));
}

/** iot_rw_sets_have_room() - check whether one more kind of file may be hooked. Context: any */
bool iot_rw_sets_have_room(void)
{
	return READ_ONCE(nr_sets) < MAX_SETS && READ_ONCE(nr_known) < MAX_SETS;
}

/* Under attach_lock. */
static void note_known(const struct file_operations *fop)
{
	if (nr_known == MAX_SETS || iot_rw_sets_know(fop) || iot_rw_is_fleeting(fop))
		return;
	WRITE_ONCE(known[place_of(fop)], fop);
	WRITE_ONCE(nr_known, nr_known + 1);
}

/* Under attach_lock. */
static void forget_known(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		WRITE_ONCE(known[i], NULL);
	WRITE_ONCE(nr_known, 0);
}

/** iot_rw_has_functions() - check whether a kind of file can be read or written. Context: any */
bool iot_rw_has_functions(const struct file_operations *fop)
{
	return fop && (fop->read_iter || fop->write_iter || fop->read || fop->write);
}

/** iot_rw_copy_functions() - copy the functions that are hooked; @to is zeroed. Context: any */
void iot_rw_copy_functions(struct file_operations *to, const struct file_operations *from)
{
	to->read_iter = from->read_iter;
	to->write_iter = from->write_iter;
	to->read = from->read;
	to->write = from->write;
	to->fsync = from->fsync;
}

static struct iot_hook *hook_of(const struct set *set, unsigned int i)
{
	return i < IOT_VFS_OPS ? set->hooks.hook[i] : set->raw.hook[i - IOT_VFS_OPS];
}

/* Find a set that has this hook. */
static struct set *set_with(const struct iot_hook *hook, unsigned int i)
{
	unsigned int n;

	for (n = 0; n < nr_sets; n++)
		if (hook_of(sets[n], i) == hook)
			return sets[n];
	return NULL;
}

/* Several kinds of files may share a function, whose missed calls must count once. */
static void count_begin(struct set *set)
{
	unsigned int i;

	for (i = 0; i < SET_HOOKS; i++) {
		const struct iot_hook *hook = hook_of(set, i);

		set->missed[i] = hook && !set_with(hook, i) ? iot_hook_missed(hook) : NO_COUNT;
	}
}

static unsigned long missed_of(const struct set *set)
{
	unsigned long missed = 0;
	unsigned int i;

	for (i = 0; i < SET_HOOKS; i++)
		if (set->missed[i] != NO_COUNT)
			missed += iot_hook_missed(hook_of(set, i)) - set->missed[i];
	return missed;
}

/* Let other sets with the same hooks count what this one, which is in no list, has counted. */
static void count_end(const struct set *set)
{
	struct set *other;
	unsigned int i;

	atomic_long_add(missed_of(set), &nr_missed);
	for (i = 0; i < SET_HOOKS; i++) {
		if (set->missed[i] == NO_COUNT)
			continue;
		other = set_with(hook_of(set, i), i);
		if (other)
			other->missed[i] = iot_hook_missed(hook_of(other, i));
	}
}

static int attach(struct set *set, bool bounded)
{
	int err;

	err = iot_vfs_get_rw(&set->hooks, &set->functions, bounded);
	if (err)
		return err;
	err = iot_raw_get(&set->raw, &set->functions);
	if (err)
		goto put_vfs;
	count_begin(set);
	err = iot_vfs_enable(&set->hooks);
	if (err)
		goto put_raw;
	err = iot_raw_enable(&set->raw);
	if (err == -ENOMEM)
		goto disable;
	set->raw_enabled = !err;
	if (err)
		atomic_long_inc(&nr_missed); /* "hooks" shows why: it may not be probed */
	return 0;

disable:
	iot_vfs_disable(&set->hooks);
put_raw:
	iot_raw_put(&set->raw);
put_vfs:
	iot_vfs_put(&set->hooks);
	return err;
}

/*
 * Hook ->fsync of a set, too. If that fails, flushes have no file, which counts as missed once.
 * Under attach_lock.
 */
static void attach_fsync(struct set *set)
{
	struct iot_hook *hook;

	if (!set->functions.fsync || set->hooks.hook[IOT_VFS_FSYNC])
		return;
	hook = iot_vfs_get_fsync(&set->functions);
	if (!hook || iot_hook_enable(hook)) {
		iot_hook_put(hook);
		atomic_long_inc(&nr_missed);
		return;
	}
	mutex_lock(&sets_lock);
	set->missed[IOT_VFS_FSYNC] = set_with(hook, IOT_VFS_FSYNC) ? NO_COUNT :
				     iot_hook_missed(hook);
	set->hooks.hook[IOT_VFS_FSYNC] = hook;
	mutex_unlock(&sets_lock);
}

/* Collect the enabled hooks of a set. Return: their number; some may be NULL. */
static unsigned int gather(const struct set *set, struct iot_hook **hooks)
{
	unsigned int i, n = set->raw_enabled ? SET_HOOKS : IOT_VFS_OPS;

	for (i = 0; i < n; i++)
		hooks[i] = hook_of(set, i);
	return n;
}

static void disable(const struct set *set)
{
	struct iot_hook *hooks[SET_HOOKS];

	iot_hooks_disable(hooks, gather(set, hooks));
}

/* Disable the hooks of all sets, in one step if there is memory. Under attach_lock. */
static void disable_all(void)
{
	struct iot_hook **all;
	unsigned int i, n = 0;

	all = kvmalloc_array(nr_sets, SET_HOOKS * sizeof(*all), GFP_KERNEL | __GFP_NOWARN);
	for (i = 0; i < nr_sets; i++) {
		if (all)
			n += gather(sets[i], all + n);
		else
			disable(sets[i]);
	}
	iot_hooks_disable(all, n);
	kvfree(all);
}

/* Free a set, whose hooks are disabled. The last one takes its place. Under attach_lock. */
static void drop(unsigned int i)
{
	struct set *set = sets[i];

	mutex_lock(&sets_lock);
	sets[i] = sets[nr_sets - 1];
	WRITE_ONCE(nr_sets, nr_sets - 1);
	count_end(set);
	mutex_unlock(&sets_lock);
	iot_raw_put(&set->raw);
	iot_vfs_put(&set->hooks);
	kfree(set);
}

/** iot_rw_same_functions() - check whether the functions to hook are the same. Context: any */
bool iot_rw_same_functions(const struct file_operations *a, const struct file_operations *b)
{
	return a->read_iter == b->read_iter && a->write_iter == b->write_iter &&
	       a->read == b->read && a->write == b->write && a->fsync == b->fsync;
}

/* Does a set have the same functions? Under attach_lock. */
static bool is_hooked(const struct file_operations *functions)
{
	unsigned int i;

	for (i = 0; i < nr_sets; i++)
		if (iot_rw_same_functions(&sets[i]->functions, functions))
			return true;
	return false;
}

/* Has a set all hooks of one whose module has gone? */
static bool replaces(const struct set *set, const struct set *old)
{
	unsigned int i;

	if (set == old || iot_rw_has_functions(&old->functions))
		return false;
	for (i = 0; i < SET_HOOKS; i++)
		if (hook_of(old, i) && hook_of(old, i) != hook_of(set, i))
			return false;
	return true;
}

/* Drop the sets that another one, of a module that is loaded again, replaces. Under attach_lock. */
static void drop_replaced(const struct set *by)
{
	unsigned int i = 0;

	while (i < nr_sets) {
		if (replaces(by, sets[i])) {
			disable(sets[i]);
			drop(i);
		} else {
			i++;
		}
	}
}

/* Make a set, and hook its functions. Under attach_lock. Return: as iot_rw_sets_add() */
static int add(const struct file_operations *functions, bool bounded)
{
	struct set *set;
	int err;

	if (nr_sets == MAX_SETS) {
		atomic_long_inc(&nr_missed);
		return 0;
	}
	set = kzalloc(sizeof(*set), GFP_KERNEL);
	if (!set)
		return -ENOMEM;
	iot_rw_copy_functions(&set->functions, functions);
	err = attach(set, bounded);
	if (err) {
		kfree(set);
		return err;
	}
	if (with_fsync)
		attach_fsync(set);
	mutex_lock(&sets_lock);
	sets[nr_sets] = set;
	WRITE_ONCE(nr_sets, nr_sets + 1);
	mutex_unlock(&sets_lock);
	drop_replaced(set);
	return 0;
}

/**
 * iot_rw_sets_add() - hook the functions of a kind of file, if there is a user
 * @fop:	compared only; NULL if its address is fleeting
 * @functions:	of @fop; the module that has them stays meanwhile
 * @bounded:	their calls sleep for a bounded time
 *
 * Context: task, may sleep for seconds, waits for no filesystem.
 * Return: 0 or an error. 0 also if there is no room, which counts as missed.
 */
int iot_rw_sets_add(const struct file_operations *fop, const struct file_operations *functions,
		    bool bounded)
{
	int err = 0;

	mutex_lock(&attach_lock);
	if (nr_users && !(fop && iot_rw_sets_know(fop))) {
		err = is_hooked(functions) ? 0 : add(functions, bounded);
		if (!err && fop && is_hooked(functions))
			note_known(fop);
	}
	mutex_unlock(&attach_lock);
	return err;
}

/* Is one of the functions of a set in a module? */
static bool is_in(const struct set *set, const struct module *mod)
{
	const struct file_operations *f = &set->functions;

	return within_module((unsigned long)f->read_iter, mod) ||
	       within_module((unsigned long)f->write_iter, mod) ||
	       within_module((unsigned long)f->read, mod) ||
	       within_module((unsigned long)f->write, mod) ||
	       within_module((unsigned long)f->fsync, mod);
}

/*
 * Is anything of a module hooked or known? Loading or unloading any other module does not take
 * attach_lock, which may be held for long.
 */
static bool concerns(const struct module *mod)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		found |= within_module((unsigned long)READ_ONCE(known[i]), mod);
	mutex_lock(&sets_lock);
	for (i = 0; i < nr_sets; i++)
		found |= is_in(sets[i], mod);
	mutex_unlock(&sets_lock);
	return found;
}

static void forget(const struct module *mod)
{
	unsigned int i;

	mutex_lock(&attach_lock);
	forget_known();
	mutex_lock(&sets_lock);
	for (i = 0; i < nr_sets; i++)
		if (is_in(sets[i], mod))
			memset(&sets[i]->functions, 0, sizeof(sets[i]->functions));
	mutex_unlock(&sets_lock);
	mutex_unlock(&attach_lock);
}

/* No file of a module that is going is open any more. */
static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	if (event == MODULE_STATE_GOING && concerns(data))
		forget(data);
	return NOTIFY_DONE;
}

static struct notifier_block modules = {
	.notifier_call = module_event,
};

/**
 * iot_rw_sets_get() - add a user: from now on functions are hooked
 *
 * Context: task, may sleep; one task at a time, as iot_rw_sets_put(). Return: 0 or an error.
 */
int iot_rw_sets_get(void)
{
	int err = nr_users ? 0 : register_module_notifier(&modules);

	if (err)
		return err;
	mutex_lock(&attach_lock);
	nr_users++;
	mutex_unlock(&attach_lock);
	return 0;
}

/** iot_rw_sets_put() - remove a user. Return: it was the last one, and everything is unhooked */
bool iot_rw_sets_put(void)
{
	bool last;

	mutex_lock(&attach_lock);
	last = !--nr_users;
	if (last) {
		disable_all();
		while (nr_sets)
			drop(nr_sets - 1);
		forget_known();
	}
	mutex_unlock(&attach_lock);
	if (last)
		unregister_module_notifier(&modules);
	return last;
}

/** iot_rw_sets_sync() - hook ->fsync of all sets, or of no further one. Context: a user */
void iot_rw_sets_sync(bool syncs)
{
	unsigned int i;

	mutex_lock(&attach_lock);
	with_fsync = syncs;
	for (i = 0; syncs && i < nr_sets; i++)
		attach_fsync(sets[i]);
	mutex_unlock(&attach_lock);
}

/** iot_rw_sets_miss() - count calls, of unknown number, that cannot be followed. Context: any */
void iot_rw_sets_miss(void)
{
	atomic_long_inc(&nr_missed);
}

/** iot_rw_sets_missed() - get the number of calls that could not be followed. Context: task */
unsigned long iot_rw_sets_missed(void)
{
	unsigned long missed;
	unsigned int i;

	mutex_lock(&sets_lock);
	missed = atomic_long_read(&nr_missed);
	for (i = 0; i < nr_sets; i++)
		missed += missed_of(sets[i]);
	mutex_unlock(&sets_lock);
	return missed;
}
