// SPDX-License-Identifier: GPL-2.0
/* The module's parameters. */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include "core/param.h"

static unsigned long max_events = 10;
static unsigned long max_events_limit = 1UL << 24;
static unsigned long ring_memory_limit;
static unsigned long paths_limit = 65536;
static unsigned long paths_memory_limit = 32UL << 20;
static bool trace_reader;
static bool all_operations;
static unsigned int proc_uid;
static unsigned int proc_gid;
static ushort proc_mode = 0600;
static char *attach = "auto";
static char *follow = "name";
static unsigned int maxactive = 256;

/*
 * The modes of the files in /sys/module let any uid 0 write, also the root of a container.
 * So once the module is loaded a change needs a capability, as for /proc/iotracer
 * (proc/access.c).
 */
static int check_writer(void)
{
	return THIS_MODULE->state != MODULE_STATE_LIVE || perfmon_capable() ? 0 : -EPERM;
}

/* A number of events. Up to U32_MAX, sizes of rings and of readers' views cannot overflow. */
static int events_set(const char *val, const struct kernel_param *kp)
{
	unsigned long n;
	int err = check_writer() ?: kstrtoul(val, 10, &n);

	if (err)
		return err;
	if (!n || n > U32_MAX)
		return -EINVAL;
	WRITE_ONCE(*(unsigned long *)kp->arg, n);
	return 0;
}

/* The kernel allocates a kretprobe's instances when the kretprobe is attached. */
static int maxactive_set(const char *val, const struct kernel_param *kp)
{
	return check_writer() ?: param_set_uint_minmax(val, kp, 1, 65536);
}

static int bytes_set(const char *val, const struct kernel_param *kp)
{
	return check_writer() ?: param_set_ulong(val, kp);
}

static int switch_set(const char *val, const struct kernel_param *kp)
{
	return check_writer() ?: param_set_bool(val, kp);
}

static const struct kernel_param_ops bytes_ops = {
	.set = bytes_set,
	.get = param_get_ulong,
};

static const struct kernel_param_ops switch_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = switch_set,
	.get = param_get_bool,
};

static const struct kernel_param_ops maxactive_ops = {
	.set = maxactive_set,
	.get = param_get_uint,
};

static const struct kernel_param_ops events_ops = {
	.set = events_set,
	.get = param_get_ulong,
};

module_param_cb(MAX_EVENTS, &events_ops, &max_events, 0644);
__MODULE_PARM_TYPE(MAX_EVENTS, "ulong");
MODULE_PARM_DESC(MAX_EVENTS, "events that a target's log keeps when 'add' names no number (default 10)");
module_param_cb(max_events_limit, &events_ops, &max_events_limit, 0644);
__MODULE_PARM_TYPE(max_events_limit, "ulong");
MODULE_PARM_DESC(max_events_limit, "largest max_events that 'add' accepts (default 16777216, at most 4294967295)");
module_param_cb(ring_memory_limit, &bytes_ops, &ring_memory_limit, 0644);
__MODULE_PARM_TYPE(ring_memory_limit, "ulong");
MODULE_PARM_DESC(ring_memory_limit, "bytes that all logs and paths together may hold (default a quarter of RAM)");
module_param_cb(paths_limit, &events_ops, &paths_limit, 0444);
__MODULE_PARM_TYPE(paths_limit, "ulong");
MODULE_PARM_DESC(paths_limit, "paths of traced files that are remembered, rounded up to a power of two (default 65536)");
module_param_cb(paths_memory_limit, &bytes_ops, &paths_memory_limit, 0644);
__MODULE_PARM_TYPE(paths_memory_limit, "ulong");
MODULE_PARM_DESC(paths_memory_limit, "bytes of ring_memory_limit that remembered paths may take (default 33554432)");
module_param_cb(trace_reader, &switch_ops, &trace_reader, 0644);
__MODULE_PARM_TYPE(trace_reader, "bool");
MODULE_PARM_DESC(trace_reader, "categories have the events of the process that reads their stream, too (default N)");
module_param_cb(all_operations, &switch_ops, &all_operations, 0644);
__MODULE_PARM_TYPE(all_operations, "bool");
MODULE_PARM_DESC(all_operations, "'add' acts as 'add -a': targets have flushes, truncations and the like, too, not only reads and writes (default N)");
module_param(proc_uid, uint, 0444);
MODULE_PARM_DESC(proc_uid, "owner of the files in /proc/iotracer (default 0)");
module_param(proc_gid, uint, 0444);
MODULE_PARM_DESC(proc_gid, "group of the files in /proc/iotracer (default 0)");
module_param(proc_mode, ushort, 0444);
MODULE_PARM_DESC(proc_mode, "mode of the files in /proc/iotracer, octal with a leading 0 (default 0600); files that cannot be written get its read bits, directories its read bits and search");
module_param(attach, charp, 0444);
MODULE_PARM_DESC(attach, "how functions are hooked: auto (default); entry, which redirects none of them, so that livepatches can; or kprobe, which is slower but always works");
module_param(follow, charp, 0444);
MODULE_PARM_DESC(follow, "what a target goes on with when its path comes to lead to another file: name (default), that file; inode, the file that was added");

module_param_cb(maxactive, &maxactive_ops, &maxactive, 0644);
__MODULE_PARM_TYPE(maxactive, "uint");
MODULE_PARM_DESC(maxactive, "calls that one kretprobe follows at a time, from when it is attached, at least 4 a processor; more are counted as missed (default 256)");

/** iot_param_max_events() - get the number of events a log keeps if `add` gives none */
u64 iot_param_max_events(void)
{
	return READ_ONCE(max_events);
}

/** iot_param_max_events_limit() - get the largest number of events that a log may keep */
u64 iot_param_max_events_limit(void)
{
	return READ_ONCE(max_events_limit);
}

/** iot_param_paths_limit() - get the entries of the path table, before rounding; fixed at load */
u64 iot_param_paths_limit(void)
{
	return paths_limit;
}

/** iot_param_paths_memory_limit() - get the bytes that the path table may take */
u64 iot_param_paths_memory_limit(void)
{
	return READ_ONCE(paths_memory_limit);
}

/** iot_param_trace_reader() - check whether the events of a stream's reader are recorded */
bool iot_param_trace_reader(void)
{
	return READ_ONCE(trace_reader);
}

/** iot_param_all_operations() - check whether targets record all operations, even if not told to */
bool iot_param_all_operations(void)
{
	return READ_ONCE(all_operations);
}

/** iot_param_ring_memory_limit() - get the bytes that all rings and paths may take together */
u64 iot_param_ring_memory_limit(void)
{
	return READ_ONCE(ring_memory_limit);
}

/** iot_param_mode() - get the bits of proc_mode that are in @mask */
umode_t iot_param_mode(umode_t mask)
{
	return proc_mode & mask;
}

/** iot_param_uid() - get the owner of the files in /proc/iotracer */
kuid_t iot_param_uid(void)
{
	return make_kuid(&init_user_ns, proc_uid);
}

/** iot_param_gid() - get the group of the files in /proc/iotracer */
kgid_t iot_param_gid(void)
{
	return make_kgid(&init_user_ns, proc_gid);
}

/**
 * iot_param_redirect_allowed() - check whether calls may be redirected
 *
 * While functions are redirected, no livepatch can redirect them.
 */
bool iot_param_redirect_allowed(void)
{
	return !strcmp(attach, "auto");
}

/** iot_param_handlers_allowed() - check whether ftrace handlers may be used */
bool iot_param_handlers_allowed(void)
{
	return strcmp(attach, "kprobe");
}

/** iot_param_follows_names() - check whether targets follow their paths, unless told not to */
bool iot_param_follows_names(void)
{
	return !strcmp(follow, "name");
}

/** iot_param_maxactive() - get the number of calls that a kretprobe can follow at a time */
int iot_param_maxactive(void)
{
	return max_t(int, READ_ONCE(maxactive), 4 * num_possible_cpus());
}

/**
 * iot_param_init() - check the parameters given at load
 *
 * Return: 0, or -EINVAL after a line in the kernel log that names the wrong one.
 */
int iot_param_init(void)
{
	if (proc_mode & ~0666) {
		pr_err("proc_mode 0%o has bits other than read and write; say for example proc_mode=0660\n",
		       proc_mode);
		return -EINVAL;
	}
	if (!uid_valid(iot_param_uid()) || !gid_valid(iot_param_gid())) {
		pr_err("proc_uid or proc_gid is no valid id\n");
		return -EINVAL;
	}
	if (strcmp(attach, "auto") && strcmp(attach, "entry") && strcmp(attach, "kprobe")) {
		pr_err("attach=%*pE is unknown; say auto, entry or kprobe\n", (int)strlen(attach),
		       attach);
		return -EINVAL;
	}
	if (strcmp(follow, "name") && strcmp(follow, "inode")) {
		pr_err("follow=%*pE is unknown; say name or inode\n", (int)strlen(follow), follow);
		return -EINVAL;
	}
	if (paths_limit > 1UL << 24) {
		pr_err("paths_limit=%lu is above 16777216; say less\n", paths_limit);
		return -EINVAL;
	}
	if (max_events > max_events_limit) {
		pr_err("MAX_EVENTS=%lu is above max_events_limit=%lu: change one of them\n",
		       max_events, max_events_limit);
		return -EINVAL;
	}
	if (!ring_memory_limit)
		ring_memory_limit = totalram_pages() * PAGE_SIZE / 4;
	return 0;
}
