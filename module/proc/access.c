// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes may use the files in /proc/iotracer, and which may see addresses there.
 *
 * File modes protect nothing from root of a container, whose uid is 0 too. So a file may be
 * used by
 *
 *  - processes with CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace, and
 *  - processes of the user or group that root named when it loaded the module (proc_uid,
 *    proc_gid; 0 names none) if they are in the initial user and pid namespaces. Root of
 *    a container that has no user namespace of its own can join any group.
 *
 * The modes apply as well. An open checks the opener's rights. A write checks the rights of
 * the opener and of the writer, since a descriptor may have been passed on. So a program
 * that was tricked into writing to a descriptor does nothing that its opener could not do.
 * Reading a descriptor that was passed on needs no further rights.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include "core/param.h"
#include "proc/access.h"

/* Is current a process of the user or group that root named? */
static bool is_named(void)
{
	kuid_t uid = iot_param_uid();
	kgid_t gid = iot_param_gid();

	if (current_user_ns() != &init_user_ns ||
	    task_active_pid_ns(current) != &init_pid_ns)
		return false;
	return (!uid_eq(uid, GLOBAL_ROOT_UID) && uid_eq(current_fsuid(), uid)) ||
	       (!gid_eq(gid, GLOBAL_ROOT_GID) && in_group_p(gid));
}

static bool current_may(void)
{
	return perfmon_capable() || is_named();
}

/** iot_access_open() - check that the opener may use the file. Context: task */
bool iot_access_open(const struct file *file)
{
	const struct cred *old = override_creds(file->f_cred);
	bool may = current_may();

	revert_creds(old);
	return may;
}

/** iot_access_write() - check that current and the opener may write to the file. Context: task */
bool iot_access_write(const struct file *file)
{
	return current_may() && iot_access_open(file);
}

/**
 * iot_access_addresses() - check that the opener may see addresses in other processes
 *
 * Addresses reveal where the kernel has placed the memory of a process, which helps an attacker
 * of that process. The rights of the opener count, not those of the reader. Context: task.
 */
bool iot_access_addresses(const struct file *file)
{
	return file_ns_capable(file, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(file, &init_user_ns, CAP_SYS_PTRACE) ||
	       file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}
