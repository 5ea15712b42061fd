/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's files. Functions return 0 or a negative errno and are silent;
 * proc_explain() turns an errno into one line for a person and an exit code.
 *
 * @target is the name of a target's directory, or NULL for the module's own.
 */
#ifndef TOOL_PROC_H
#define TOOL_PROC_H

/* /proc/iotracer, or what the environment variable IOTRACER_PROC says. */
const char *proc_root(void);

/* A descriptor or a negative errno. */
int proc_open(const char *target, const char *file, int flags);

/* The whole file as a string; the caller frees it. */
int proc_read(const char *target, const char *file, char **text);

/* Likewise of any file. */
int proc_read_path(const char *path, char **text);

/* One command and its newline in a single write(2). */
int proc_command(int fd, const char *command);

/* Says why @err came up with that file; @subject is what the user named. */
int proc_explain(const char *subject, const char *target, const char *file, int err);

#endif /* TOOL_PROC_H */
