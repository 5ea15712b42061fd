/* SPDX-License-Identifier: GPL-2.0 */
/* Conditions of --filter: for one category, or for all categories to which they apply. */
#ifndef TOOL_MODULE_FILTER_H
#define TOOL_MODULE_FILTER_H

#include <argp.h>
#include <stddef.h>

#include "trace/category.h"

/* As they were given, "KEY=VALUE" or "CATEGORY:KEY=VALUE" each. */
struct filters {
	char **words;
	size_t nr;
};

/*
 * A condition "KEY=VALUE" as the module takes it: the names of users in uid= and of devices in dev=
 * become numbers. NULL if there is no such user or device; *why says so. The caller frees both.
 */
char *filter_numbers(const char *condition, char **why);

/* Adds one or more conditions, with blanks between them. */
void filters_add(struct filters *f, const char *words);
void filters_free(struct filters *f);

/*
 * Call it when the recorded categories are known. A wrong condition ends the program. A
 * category to which a condition does not apply is reported. Names of users and devices become
 * numbers; the module checks values such as these.
 */
void filters_check(struct argp_state *state, struct filters *f,
		   const struct category *const *recorded, size_t nr);

/*
 * The conditions that apply to a category, as its control takes them, or NULL.
 * The caller frees it.
 */
char *filters_of(const struct filters *f, const struct category *category);

#endif /* TOOL_MODULE_FILTER_H */
