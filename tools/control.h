/* SPDX-License-Identifier: GPL-2.0 */
/* A category's control and stats, taken for one recorder and put back after. */
#ifndef TOOL_CONTROL_H
#define TOOL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct control {
	const char *category;
	int fd;			/* of control, with the lock; -1: not taken */
	char *before;		/* what it said when it was taken */
};

/*
 * Takes the category: nobody else may be recording it. An exit code; what is wrong was
 * said. Release it in either case: it stops then, and is as it was.
 */
int control_take(struct control *c, const char *category);
void control_release(struct control *c);

/* Is a recorder at work on it? */
bool control_is_taken(const char *category);

/* One command. An exit code; what is wrong was said. */
int control_command(const struct control *c, const char *command);

/* Traces it for this process: what has the stream open must have opened it. Likewise. */
int control_start(const struct control *c);

/* The value of the line "@name value" in what control says now; the caller frees it. */
char *control_value(const struct control *c, const char *name);

/* A number of stats, 0 where it is not there. */
__u64 control_stat(const struct control *c, const char *name);

/* Is the category there no more? The module was unloaded, then. */
bool control_gone(const struct control *c);

/* As proc_explain(), of a file of a category. */
int control_explain(const char *category, const char *file, int err);

#endif /* TOOL_CONTROL_H */
