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
	int commands;		/* of control, to write to; -1: not opened */
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
int control_command(struct control *c, const char *command);

/* The value of a line "@name value" in a text, or ""; the caller frees it. */
char *control_text(const char *text, const char *name);

/* What control says now, or ""; the caller frees it. */
char *control_read(const struct control *c);

/* Both at once. */
char *control_value(const struct control *c, const char *name);

/* The same command to each, side by side: the kernel waits long for some. */
int control_command_all(struct control *all, size_t nr, const char *command);

/* What stats says now, NULL where it is not there; the caller frees it. */
char *control_stats(const struct control *c);

/* A number in such a text, 0 where it is not there. */
__u64 control_number(const char *stats, const char *name);

/* Both at once. */
__u64 control_stat(const struct control *c, const char *name);

/*
 * Bytes of files that those whom the filter wants have left to be written; false where
 * the category has no events of that, or they cannot be told.
 */
bool control_dirty(const struct control *c, __u64 *bytes);

/* Is the category there no more? The module was unloaded, then. */
bool control_gone(const struct control *c);

/* As proc_explain(), of a file of a category. */
int control_explain(const char *category, const char *file, int err);

#endif /* TOOL_CONTROL_H */
