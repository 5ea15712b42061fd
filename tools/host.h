/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel that iotracer doctor is asked about: the running one, or one that is
 * installed. Files are those below the directory that the environment variable
 * IOTRACER_ROOT names, or those of the machine.
 */
#ifndef TOOL_HOST_H
#define TOOL_HOST_H

#include <stdbool.h>
#include <stddef.h>

enum host_option { OPTION_NO, OPTION_YES, OPTION_UNKNOWN };

struct host {
	char *release;
	char *machine;		/* of the processor, as uname(1) -m */
	bool running;		/* it is the running kernel */
	char *config;		/* its options, NULL: not found */
	char *config_file;
	char *symbols;		/* as /proc/kallsyms, NULL: not found */
	char **names;		/* @nr of them, sorted; "name [module]" of a module */
	size_t nr;
};

/* @release: NULL is the running kernel. What cannot be read is NULL afterwards. */
void host_open(struct host *host, const char *release);
void host_close(struct host *host);

/* A file of the machine, by its absolute path; to be freed. */
char *host_path(const char *file);

/* 0 or a negative errno; the text has no newline at its end, and is to be freed. */
int host_read(const char *file, char **text);
bool host_has(const char *file);

/* A file below /lib/modules/<release>; to be freed. */
char *host_module_path(const struct host *host, const char *file);

/* @name without CONFIG_. The text has no quotes and is NULL where there is none. */
enum host_option host_option(const struct host *host, const char *name);
char *host_option_text(const struct host *host, const char *name);

/* A function, by its name; of a module: "name [module]". Only if @symbols is there. */
bool host_has_symbol(const struct host *host, const char *name);

#endif /* TOOL_HOST_H */
