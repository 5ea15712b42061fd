/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel that iotracer doctor examines: the running one, or one that is installed.
 * Its files are below the directory that the environment variable IOTRACER_ROOT names,
 * or else below /.
 */
#ifndef TOOL_MACHINE_HOST_H
#define TOOL_MACHINE_HOST_H

#include <stdbool.h>
#include <stddef.h>

enum host_option { OPTION_NO, OPTION_YES, OPTION_UNKNOWN };

struct host {
	char *release;
	char *machine;		/* the architecture, as uname(1) -m */
	bool running;		/* this is the running kernel */
	char *config;		/* options of the kernel; NULL: not found */
	char *config_file;
	char *symbols;		/* in the format of /proc/kallsyms; NULL: not found */
	char **names;		/* @nr of them, sorted; "name [module]" of a module */
	size_t nr;
};

/* @release: NULL for the running kernel. Members that cannot be read are NULL afterwards. */
void host_open(struct host *host, const char *release);
void host_close(struct host *host);

/* The path of a file below IOTRACER_ROOT, from its absolute path; the caller frees it. */
char *host_path(const char *file);

/* Returns 0 or a negative errno. The text has no newline at its end; the caller frees it. */
int host_read(const char *file, char **text);
bool host_has(const char *file);

/* The path of a file below /lib/modules/<release>; the caller frees it. */
char *host_module_path(const struct host *host, const char *file);

/* @name has no CONFIG_. The text has no quotes, and is NULL if there is none. */
enum host_option host_option(const struct host *host, const char *name);
char *host_option_text(const struct host *host, const char *name);

/* Looks up a function by name, of a module by "name [module]". @symbols must not be NULL. */
bool host_has_symbol(const struct host *host, const char *name);

#endif /* TOOL_MACHINE_HOST_H */
