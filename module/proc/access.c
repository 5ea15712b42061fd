// SPDX-License-Identifier: GPL-2.0
/*
 * Who may use the files in /proc/iotracer, and what they are shown.
 *
 * Modes protect nothing from root of a container: its uid is 0, too. So a file is for
 *
 *  - holders of CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace, and
 *  - the user or group that root named when it loaded the module (proc_uid, proc_gid;
 *    0 names nobody), as long as the process is in the initial user and pid namespaces:
 *    root of a container that has no user namespace of its own can join any group.
 *
 * The modes apply as well. An open asks for the opener's rights. A write asks for
 * the opener's and for the writer's, since a descriptor may have been handed on; so a
 * program that was tricked into writing to a descriptor does nothing that its opener
 * could not do. Reading a descriptor that was handed on needs no more.
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

/* Is current who root named? */
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

/** iot_access_open() - may the opener use the file? Context: task */
bool iot_access_open(const struct file *file)
{
	const struct cred *old = override_creds(file->f_cred);
	bool may = current_may();

	revert_creds(old);
	return may;
}

/** iot_access_write() - may current write to it, and its opener? Context: task */
bool iot_access_write(const struct file *file)
{
	return current_may() && iot_access_open(file);
}

/**
 * iot_access_addresses() - may its reader see addresses in other processes?
 *
 * They tell where the kernel has placed a process's memory, which an attacker of that
 * process wants to know. Of the opener, whoever reads. Context: task.
 */
bool iot_access_addresses(const struct file *file)
{
	return file_ns_capable(file, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(file, &init_user_ns, CAP_SYS_PTRACE) ||
	       file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}
