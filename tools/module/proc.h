/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's files. Functions return 0 or a negative errno and print nothing;
 * proc_explain() turns an errno into a message of one line and an exit code.
 *
 * @target is the name of a target's directory, or NULL for the module's own.
 */
#ifndef TOOL_MODULE_PROC_H
#define TOOL_MODULE_PROC_H

/* /proc/iotracer, or the directory that the environment variable IOTRACER_PROC names. */
const char *proc_root(void);

/* Returns a descriptor or a negative errno. */
int proc_open(const char *target, const char *file, int flags);

/* The whole file as a string; the caller frees it. */
int proc_read(const char *target, const char *file, char **text);

/* Writes one command and its newline in a single write(2). */
int proc_command(int fd, const char *command);

/*
 * The last command that a control file refused, and why: "COMMAND: REASON". NULL if that begins
 * with another word than @command. The caller frees it.
 */
char *proc_refusal(const char *target, const char *command);

/* Reports why the file caused @err; @subject is what the user named. Returns an exit code. */
int proc_explain(const char *subject, const char *target, const char *file, int err);

#endif /* TOOL_MODULE_PROC_H */
