/* SPDX-License-Identifier: GPL-2.0 */
/* The tasks that are inside calls on the files in /proc/iotracer. */
#ifndef IOT_VISIT_H
#define IOT_VISIT_H

#include <linux/list.h>
#include <linux/types.h>

struct file;
struct task_struct;

/**
 * struct iot_visited - a directory whose files are used
 * @nr:		number of tasks inside
 * @left:	NULL until iot_visited_close(); called when the last task has left after that
 */
struct iot_visited {
	unsigned int nr;
	void (*left)(struct iot_visited *at);
};

/**
 * struct iot_visit - a task inside a call on a file, on its stack
 * @list:	entry in the list of tasks that hold the module, used while @holds
 * @at:		the directory
 * @file:	for the message that names it; NULL if it is a worker
 * @what:	for that message, what the worker does
 * @name:	to what, or NULL
 * @since:	jiffies at which it took hold of the module
 * @holds:	it has a reference to the module
 */
struct iot_visit {
	struct list_head list;
	struct iot_visited *at;
	struct task_struct *task;
	const struct file *file;
	const char *what;
	const char *name;
	unsigned long since;
	bool holds;
};

int iot_visit_begin(struct iot_visit *v, struct iot_visited *at, const struct file *file);
int iot_visit_begin_worker(struct iot_visit *v, const char *what, const char *name);
void iot_visit_lend(struct iot_visit *v, const char *what, const char *name);
void iot_visit_end(struct iot_visit *v);
void iot_visit_pause(struct iot_visit *v);
int iot_visit_resume(struct iot_visit *v);

bool iot_visited_close(struct iot_visited *at, void (*left)(struct iot_visited *at));

/**
 * struct iot_visits_ops - what else keeps the module loaded
 * @stop:	called first by iot_visits_stop(), which fails if it returns false
 * @go_on:	undoes it
 */
struct iot_visits_ops {
	bool (*stop)(void);
	void (*go_on)(void);
};

void iot_visits_begin(void);
void iot_visits_bind(const struct iot_visits_ops *new);
bool iot_visits_stop(void);
void iot_visits_go_on(void);
unsigned int iot_visits_name(unsigned int most);

#endif /* IOT_VISIT_H */
