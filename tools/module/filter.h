/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Conditions of --filter and of options that stand for one: for one category, or for all categories to
 * which they apply.
 */
#ifndef TOOL_MODULE_FILTER_H
#define TOOL_MODULE_FILTER_H

#include <argp.h>
#include <stddef.h>

#include "trace/category.h"

struct filter_word {
	char *word;		/* "KEY=VALUE" or "CATEGORY:KEY=VALUE" */
	char *given;		/* "--OPTION=..." as it was given, for messages */
};

struct filters {
	struct filter_word *at;
	size_t nr;
};

/*
 * A condition "KEY=VALUE" as the module takes it: the names of users in uid=, of devices in dev= and of
 * network namespaces in netns= become numbers. NULL if there is no such one; *why says so. The caller frees
 * both.
 */
char *filter_numbers(const char *condition, char **why);

/* Adds one or more conditions of --filter, with blanks between them. */
void filters_add(struct filters *f, const char *words);

/* Adds the condition that another option stands for. Takes both texts, which were allocated. */
void filters_add_as(struct filters *f, char *word, char *given);
void filters_free(struct filters *f);

/*
 * Call it when the recorded categories are known. A wrong condition ends the program. A
 * category to which a condition does not apply is reported. Names of users, devices and
 * network namespaces become numbers; the module checks values such as these.
 */
void filters_check(struct argp_state *state, struct filters *f,
		   const struct category *const *recorded, size_t nr);

/*
 * The conditions that apply to a category, as its control takes them, or NULL.
 * The caller frees it.
 */
char *filters_of(const struct filters *f, const struct category *category);

#endif /* TOOL_MODULE_FILTER_H */
