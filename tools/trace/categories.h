/* SPDX-License-Identifier: GPL-2.0 */
/* All categories: a row of uapi/categories.def each. */
#ifndef TOOL_TRACE_CATEGORIES_H
#define TOOL_TRACE_CATEGORIES_H

#include <stddef.h>

#include "base/cli.h"
#include "trace/category.h"

#define IOT_CATEGORY(name, NAME, kinds, traits, meaning) extern const struct category category_##name;
#include "uapi/categories.def"

extern const struct category *const categories[];
extern const size_t nr_categories;

const struct category *category_find(const char *name, size_t length);

/*
 * Moves the names of categories from @files to @taken, which has room for all names, and
 * returns how many there were. The other names stay in @files, in their order.
 */
size_t category_take(struct cli_files *files, const struct category **taken);

char *category_names(void);	/* "fs, fault"; the caller frees it */

/*
 * A filter for the help texts of argp, which frees what it returns. {categories} becomes the list
 * of categories, {keys} that of the keys of filters.
 */
char *category_help(int key, const char *text, void *input);

#endif /* TOOL_TRACE_CATEGORIES_H */
