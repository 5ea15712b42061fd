/* SPDX-License-Identifier: GPL-2.0 */
/* A category's control and stats. One recorder takes the category, and restores it afterwards. */
#ifndef TOOL_MODULE_CONTROL_H
#define TOOL_MODULE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct control {
	const char *category;
	int fd;			/* open control, which holds the lock; -1: not taken */
	int commands;		/* control, open for writing; -1: not opened */
	char *before;		/* the text of control when it was taken */
};

/*
 * Takes the category, which nobody else may be recording. Returns an exit code; errors are
 * reported. Release it in either case: this stops the category and restores its settings.
 */
int control_take(struct control *c, const char *category);
void control_release(struct control *c);

/* Carries out one command. Returns an exit code; errors are reported. */
int control_command(struct control *c, const char *command);

/* The same for a category that nobody has to take, unless a recorder has taken it. */
int control_command_once(const char *category, const char *command);

/* Whether somebody has started the category. */
bool control_started(const char *category);

/* The value of a line "@name value" in a text, or ""; the caller frees it. */
char *control_text(const char *text, const char *name);

/* The current text of control, or ""; the caller frees it. */
char *control_read(const struct control *c);

/* control_text() of control_read(); the caller frees it. */
char *control_value(const struct control *c, const char *name);

/*
 * Carries out a command for each category, in parallel: in parallel, as the
 * kernel may take seconds for each.
 */
int control_command_all(struct control *all, size_t nr, const char *command);

/* The current text of stats, NULL if it is not there; the caller frees it. */
char *control_stats(const struct control *c);

/* A number in the text of stats, 0 if it is not there. */
__u64 control_number(const char *stats, const char *name);

/* control_number() of control_stats(). */
__u64 control_stat(const struct control *c, const char *name);

/*
 * Bytes of file data that match the filter and are still to be written to the device. False
 * if the category has no events of such writes, or if the number is not available.
 * @unknown: number of filesystems that are not counted
 */
bool control_dirty(const struct control *c, __u64 *bytes, __u64 *unknown);

/* Whether the category is gone, which means that the module was unloaded. */
bool control_gone(const struct control *c);

/* As proc_explain(), for a file of a category. */
int control_explain(const char *category, const char *file, int err);

#endif /* TOOL_MODULE_CONTROL_H */
