/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the system's snapshot, each a JSON object or array (system_*.c). Unknown values are
 * null. Files are read below IOTRACER_ROOT, as in host.h. No program is run, and no server
 * contacted.
 */
#ifndef TOOL_MACHINE_SYSTEM_H
#define TOOL_MACHINE_SYSTEM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "machine/mounts.h"
#include "trace/anonymize.h"

struct system {
	const struct anonymizer *anonymizer;	/* NULL: names are shown */
	struct mounts mounts;
};

json_t *system_os(const struct system *s);
json_t *system_machine(const struct system *s);
json_t *system_cpu(void);
json_t *system_memory(const struct system *s);
json_t *system_disks(const struct system *s);
json_t *system_filesystems(const struct system *s);
json_t *system_network(const struct system *s);
json_t *system_gpus(void);
json_t *system_virtualisation(const struct system *s);
json_t *system_location(void);

/* Helpers of the parts (system_read.c). */

/* The text of a file without blanks at both ends; NULL if it is empty or cannot be read. */
char *system_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A file as a JSON string, or as a number, multiplied by @factor; null if it cannot be read. */
json_t *system_string(const char *format, ...) __attribute__((format(printf, 1, 2)));
json_t *system_number(long long factor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
json_t *system_flag(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes @text, which may be NULL. */
json_t *system_take(char *text);

/* The last component of a link's target, or NULL. */
char *system_link(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The names in a directory that begin with @prefix, sorted; free them with system_unlist(). */
struct system_names {
	char **at;
	size_t nr;
};

void system_list(struct system_names *names, const char *directory, const char *prefix);
void system_unlist(struct system_names *names);

/* The value of a line "key: value" or "key=value", without quotes; NULL: there is none. */
char *system_value(const char *text, const char *key, char separator);

/* A path, hashed in an anonymous snapshot. */
json_t *system_path(const struct system *s, const char *path);

#endif /* TOOL_MACHINE_SYSTEM_H */
