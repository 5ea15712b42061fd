/* SPDX-License-Identifier: GPL-2.0 */
/* The categories that can be recorded: one category_<name>.c for each row of categories.def. */
#ifndef TOOL_CATEGORY_H
#define TOOL_CATEGORY_H

#include <stddef.h>
#include <linux/types.h>

#include "cli.h"
#include "record.h"
#include "core/schema.h"

struct category {
	const char *name;		/* name of its directory in /proc/iotracer */
	const char *io_tracer;		/* its name in IO Tracer */
	unsigned int event_id;
	const struct record_column *columns;	/* IO Tracer's */
	size_t nr_columns;
	__u16 command_op;		/* the operation that has a command line, or NO_OP */
};

#define NO_OP 0xffff

#define IOT_CATEGORY(name, NAME, kinds, traits, meaning) extern const struct category category_##name;
#include "uapi/categories.def"

extern const struct category *const categories[];
extern const size_t nr_categories;

const struct category *category_find(const char *name, size_t length);
/*
 * Carries out @command, unless iotracer record has taken the category. For subcommands that
 * take categories as well as files. Returns an exit code.
 */
int category_command(const struct category *category, const char *command);

/*
 * Moves the names of categories from @files to @taken, which has room for all names, and
 * returns how many there were. The other names stay in @files, in their order.
 */
size_t category_take(struct cli_files *files, const struct category **taken);

char *category_names(void);	/* "fs, fault"; the caller frees it */
const struct iot_schema_event *category_event(const struct category *category);

/*
 * A filter for the help texts of argp, which frees what it returns. {categories} becomes the list
 * of categories, {keys} that of the keys of filters.
 */
char *category_help(int key, const char *text, void *input);

#endif /* TOOL_CATEGORY_H */
