// SPDX-License-Identifier: GPL-2.0
/* Processes that are traced as a whole: by id, with descendants, by name, or by control group. */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include "core/refusal.h"
#include "file/originator.h"
#include "file/path.h"
#include "record/descendants.h"
#include "record/tasks.h"

static const char *const keys[] = {
	[IOT_TASKS_PID] = "pid=",
	[IOT_TASKS_TREE] = "tree=",
	[IOT_TASKS_COMM] = "comm=",
	[IOT_TASKS_CGROUP] = "cgroup=",
};

/* Find the key that a text begins with. Return: its number, or -1. */
static int find_key(const char *text)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strncmp(text, keys[i], strlen(keys[i])))
			return i;
	return -1;
}

/** iot_tasks_is_text() - is a text one for iot_tasks_get(), and not a path? */
bool iot_tasks_is_text(const char *text)
{
	return find_key(text) >= 0;
}

/* Get a process by its number in the pid namespace of the current task. */
static struct pid *get_process(const char *number, const char *key, struct iot_why *why)
{
	struct pid *pid;
	u32 nr;

	if (kstrtou32(number, 10, &nr) || !nr || nr > INT_MAX) {
		iot_why(why, -EINVAL, "%s%.16s: say the number of a process", key, number);
		return ERR_PTR(-EINVAL);
	}
	pid = iot_process_get(nr, task_active_pid_ns(current));
	if (pid)
		return pid;
	iot_why(why, -ESRCH, "%s%u: there is no process with that number", key, nr);
	return ERR_PTR(-ESRCH);
}

static int get_tree(struct iot_tasks *t, struct iot_why *why)
{
	u32 number = pid_nr(t->pid);

	t->tree = iot_descendants_get(number, why);
	put_pid(t->pid);
	t->pid = NULL;
	return PTR_ERR_OR_ZERO(t->tree);
}

static int get_processes(struct iot_tasks *t, const char *number, struct iot_why *why)
{
	t->pid = get_process(number, keys[t->key], why);
	if (IS_ERR(t->pid))
		return PTR_ERR(t->pid);
	return t->key == IOT_TASKS_TREE ? get_tree(t, why) : 0;
}

static int set_comm(struct iot_tasks *t, const char *name, struct iot_why *why)
{
	if (!*name)
		return iot_why(why, -EINVAL, "comm=: a name is missing");
	if (strlen(name) >= sizeof(t->comm))
		return iot_why(why, -EINVAL,
			       "comm=%.32s: the kernel keeps 15 bytes of a name: say those", name);
	strscpy_pad(t->comm, name, sizeof(t->comm));
	return 0;
}

/**
 * iot_tasks_get() - say which processes are meant
 * @t:		filled in
 * @text:	pid=N, tree=N, with N in the pid namespace of the current task, comm=NAME or
 *		cgroup=PATH
 * @why:	where to report why it is refused
 *
 * Context: task, may sleep. Return: 0, or an error and there is nothing to put: -EINVAL, -ESRCH
 * (no such process), -ENOENT (no such control group), -ENOMEM.
 */
int iot_tasks_get(struct iot_tasks *t, const char *text, struct iot_why *why)
{
	int key = find_key(text);
	const char *value;

	memset(t, 0, sizeof(*t));
	if (key < 0)
		return -EINVAL;
	t->key = key;
	value = text + strlen(keys[key]);
	switch (t->key) {
	case IOT_TASKS_COMM:
		return set_comm(t, value, why);
	case IOT_TASKS_CGROUP:
		return iot_cgroup_follow(&t->cgroup, value, why);
	default:
		return get_processes(t, value, why);
	}
}

/** iot_tasks_put() - undo iot_tasks_get(). Context: task, sleeps; no probe uses them any more */
void iot_tasks_put(struct iot_tasks *t)
{
	switch (t->key) {
	case IOT_TASKS_PID:
		put_pid(t->pid);
		break;
	case IOT_TASKS_TREE:
		iot_descendants_put(t->tree);
		break;
	case IOT_TASKS_CGROUP:
		iot_cgroup_unfollow(&t->cgroup);
		break;
	case IOT_TASKS_COMM:
		break;
	}
}

static int number_of(const struct iot_tasks *t)
{
	return t->key == IOT_TASKS_TREE ? t->tree->number : pid_nr(t->pid);
}

/** iot_tasks_match() - are they what a text says, with numbers of the initial pid namespace? */
bool iot_tasks_match(const struct iot_tasks *t, const char *text)
{
	const char *value = text + strlen(keys[t->key]);
	int number;

	if (find_key(text) != t->key)
		return false;
	if (t->key == IOT_TASKS_COMM)
		return !strcmp(value, t->comm);
	if (t->key == IOT_TASKS_CGROUP)
		return iot_cgroup_has_path(&t->cgroup, value);
	return !kstrtoint(value, 10, &number) && number == number_of(t);
}

/** iot_tasks_are_same() - are two the same, and not only of the same number? */
bool iot_tasks_are_same(const struct iot_tasks *a, const struct iot_tasks *b)
{
	if (a->key != b->key || a->pid != b->pid || a->tree != b->tree ||
	    memcmp(a->comm, b->comm, sizeof(a->comm)))
		return false;
	return a->key != IOT_TASKS_CGROUP || !strcmp(a->cgroup.path, b->cgroup.path);
}

/** iot_tasks_show() - print the text for iot_tasks_get() */
void iot_tasks_show(struct seq_file *m, const struct iot_tasks *t)
{
	seq_puts(m, keys[t->key]);
	if (t->key == IOT_TASKS_COMM)
		iot_path_escape(m, t->comm);
	else if (t->key == IOT_TASKS_CGROUP)
		iot_path_escape(m, t->cgroup.path);
	else
		seq_printf(m, "%d", number_of(t));
}

/** iot_tasks_name() - make a file name: pid_N, tree_N, comm_NAME or cgroup_<last name of PATH> */
void iot_tasks_name(const struct iot_tasks *t, char *name, size_t size)
{
	const char *key = keys[t->key];
	int length = strlen(key) - 1;

	if (t->key == IOT_TASKS_COMM)
		snprintf(name, size, "%.*s_%s", length, key, t->comm);
	else if (t->key == IOT_TASKS_CGROUP)
		snprintf(name, size, "%.*s_%s", length, key, kbasename(t->cgroup.path));
	else
		snprintf(name, size, "%.*s_%d", length, key, number_of(t));
	strreplace(name, '/', '!');
}

static bool process_exists(struct pid *pid)
{
	bool exists;

	rcu_read_lock();
	exists = pid_task(pid, PIDTYPE_TGID);
	rcu_read_unlock();
	return exists;
}

/**
 * iot_tasks_exist() - does any of the processes, or the control group, exist now?
 *
 * There may always be processes of a name. Context: task.
 */
bool iot_tasks_exist(const struct iot_tasks *t)
{
	switch (t->key) {
	case IOT_TASKS_PID:
		return process_exists(t->pid);
	case IOT_TASKS_TREE:
		return iot_descendants_lives(t->tree);
	case IOT_TASKS_CGROUP:
		return READ_ONCE(t->cgroup.id);
	default:
		return true;
	}
}

/* As two words: the kernel pads names with zeroes, too (__set_task_comm()). */
static __always_inline bool is_name_of(const struct iot_tasks *t, const struct task_struct *task)
{
	const u64 *wanted = (const u64 *)t->comm, *name = (const u64 *)task->comm;

	static_assert(TASK_COMM_LEN == 2 * sizeof(u64));
	return wanted[0] == name[0] && wanted[1] == name[1];
}

/* Most tasks are their process's only thread. */
static __always_inline bool have_name(const struct iot_tasks *t, const struct task_struct *task)
{
	const struct task_struct *leader = task->group_leader;

	return is_name_of(t, task) || (leader != task && is_name_of(t, leader));
}

/**
 * iot_tasks_have() - is a task one of them?
 *
 * Context: any, preemption off; the task is the current one, or was found under RCU.
 */
bool iot_tasks_have(const struct iot_tasks *t, struct task_struct *task)
{
	switch (t->key) {
	case IOT_TASKS_PID:
		return task_tgid(task) == t->pid;
	case IOT_TASKS_TREE:
		return iot_descendants_has(t->tree, task->tgid);
	case IOT_TASKS_COMM:
		return have_name(t, task);
	case IOT_TASKS_CGROUP:
		return iot_cgroup_has(&t->cgroup, task);
	}
	return false;
}

/* Is it the process that had a number? If it has exited, nobody else may have the number now. */
static bool had_number(struct pid *process, u32 number)
{
	struct pid *now;

	if (number != pid_nr(process))
		return false;
	now = find_pid_ns(number, &init_pid_ns);
	return !now || now == process;
}

/* Was a thread that is gone one of them, as far as that is known of it? */
static bool had_gone(const struct iot_tasks *t, const struct iot_originator *who)
{
	switch (t->key) {
	case IOT_TASKS_PID:
		return had_number(t->pid, who->pid);
	case IOT_TASKS_TREE:
		return iot_descendants_has(t->tree, who->pid);
	case IOT_TASKS_COMM:
		return !memcmp(t->comm, who->comm, sizeof(t->comm));
	case IOT_TASKS_CGROUP:
		return who->cgroup == READ_ONCE(t->cgroup.last_id);
	}
	return false;
}

/**
 * iot_tasks_had() - was an originator one of them?
 *
 * Of a thread that has exited only what was noted is known: not the name of its process, nor what
 * was above its control group. Context: any, preemption off.
 */
bool iot_tasks_had(const struct iot_tasks *t, const struct iot_originator *who)
{
	struct task_struct *task;
	bool has;

	rcu_read_lock();
	task = pid_task(find_pid_ns(who->tid, &init_pid_ns), PIDTYPE_PID);
	has = task && task->tgid == who->pid && iot_originator_stamp(task) == who->stamp &&
	      !memcmp(task->comm, who->comm, sizeof(who->comm)) && iot_tasks_have(t, task);
	rcu_read_unlock();
	return has || had_gone(t, who);
}
