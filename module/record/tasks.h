/* SPDX-License-Identifier: GPL-2.0 */
/* Processes that are traced as a whole: by id, with descendants, by name, or by control group. */
#ifndef IOT_TASKS_H
#define IOT_TASKS_H

#include <linux/sched.h>
#include <linux/types.h>
#include "record/cgroup.h"

struct iot_originator;
struct iot_descendants;
struct iot_why;
struct seq_file;

enum iot_tasks_key { IOT_TASKS_PID, IOT_TASKS_TREE, IOT_TASKS_COMM, IOT_TASKS_CGROUP };

/**
 * struct iot_tasks - some processes
 * @key:	what they have in common; one of the other members is of it
 * @pid:	a process, and no other that gets its number later
 * @tree:	a process and all its descendants
 * @comm:	name of a thread, or of a process; padded with zeroes
 * @cgroup:	a control group and those below it
 */
struct iot_tasks {
	enum iot_tasks_key key;
	struct pid *pid;
	struct iot_descendants *tree;
	char comm[TASK_COMM_LEN];
	struct iot_cgroup cgroup;
};

bool iot_tasks_is_text(const char *text);
int iot_tasks_get(struct iot_tasks *t, const char *text, struct iot_why *why);
void iot_tasks_put(struct iot_tasks *t);

bool iot_tasks_match(const struct iot_tasks *t, const char *text);
bool iot_tasks_are_same(const struct iot_tasks *a, const struct iot_tasks *b);
void iot_tasks_show(struct seq_file *m, const struct iot_tasks *t);
void iot_tasks_name(const struct iot_tasks *t, char *name, size_t size);
bool iot_tasks_exist(const struct iot_tasks *t);
bool iot_tasks_have(const struct iot_tasks *t, struct task_struct *task);
bool iot_tasks_had(const struct iot_tasks *t, const struct iot_originator *who);

#endif /* IOT_TASKS_H */
