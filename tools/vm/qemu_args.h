/* SPDX-License-Identifier: GPL-2.0 */
/* Parses the command line of QEMU: its options, and their values. */
#ifndef TOOL_VM_QEMU_ARGS_H
#define TOOL_VM_QEMU_ARGS_H

#include <stdbool.h>
#include <stddef.h>

struct qemu_option {
	const char *name;	/* without dashes; "hda" for a word that is no option */
	const char *value;	/* "" if it takes none */
};

struct qemu_args {
	struct qemu_option *at;	/* names and values point into the words */
	size_t nr;
};

/* @words: each ends with a NUL, as in /proc/PID/cmdline. They are not copied. */
void qemu_args_parse(struct qemu_args *args, const char *words, size_t length);
void qemu_args_free(struct qemu_args *args);

/* The value of the last option of that name, or NULL. */
const char *qemu_args_last(const struct qemu_args *args, const char *name);

/*
 * The value of an option: key=value,... or JSON, whose objects become keys with dots
 * ("file.filename").
 */
struct qemu_dict {
	struct qemu_pair {
		char *key;
		char *value;	/* NULL: null in JSON */
	} *at;
	size_t nr;
};

/* @implied: the key of a first word that has none; NULL: there is no such key. */
void qemu_dict_parse(struct qemu_dict *dict, const char *text, const char *implied);
void qemu_dict_free(struct qemu_dict *dict);

/* The value of the key @prefix@key, or NULL. */
const char *qemu_dict_get(const struct qemu_dict *dict, const char *prefix, const char *key);

/* Whether there is the key @prefix@key, even if it is null. */
bool qemu_dict_has(const struct qemu_dict *dict, const char *prefix, const char *key);

/* Whether there are keys that begin with @prefix@key and a dot. */
bool qemu_dict_has_below(const struct qemu_dict *dict, const char *prefix, const char *key);

/* Parses a number of bytes, with an optional suffix k, m, g or t. Returns 0 if @text is NULL. */
unsigned long long qemu_bytes(const char *text);

/* Whether a value is "on", "yes", "true" or "y". If @value is NULL, returns @otherwise. */
bool qemu_is_on(const char *value, bool otherwise);

#endif /* TOOL_VM_QEMU_ARGS_H */
