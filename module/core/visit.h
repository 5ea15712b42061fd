/* SPDX-License-Identifier: GPL-2.0 */
/* The tasks that are inside reads and writes of the files in /proc/iotracer. */
#ifndef IOT_VISIT_H
#define IOT_VISIT_H

#include <linux/list.h>
#include <linux/types.h>

struct file;
struct task_struct;

/**
 * struct iot_visited - a directory whose files are read and written
 * @nr:		number of tasks inside
 * @left:	NULL until iot_visited_close(); called when the last task has left after that
 */
struct iot_visited {
	unsigned int nr;
	void (*left)(struct iot_visited *at);
};

/**
 * struct iot_visit - a task inside a read or write, on its stack
 * @list:	entry in the list of tasks that hold the module, used while @holds
 * @at:		the directory
 * @file:	for the message that names it; NULL if it removes a symbolic link
 * @since:	jiffies at which it took hold of the module
 * @holds:	it has a reference to the module
 */
struct iot_visit {
	struct list_head list;
	struct iot_visited *at;
	struct task_struct *task;
	const struct file *file;
	unsigned long since;
	bool holds;
};

int iot_visit_begin(struct iot_visit *v, struct iot_visited *at, const struct file *file);
void iot_visit_end(struct iot_visit *v);
void iot_visit_pause(struct iot_visit *v);
int iot_visit_resume(struct iot_visit *v);

bool iot_visited_close(struct iot_visited *at, void (*left)(struct iot_visited *at));

typedef bool (*iot_visits_fn)(void);
void iot_visits_before(iot_visits_fn fn);
bool iot_visits_stop(void);
void iot_visits_allow(void);
unsigned int iot_visits_name(unsigned int most);

#endif /* IOT_VISIT_H */
