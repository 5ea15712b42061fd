/* SPDX-License-Identifier: GPL-2.0 */
/* Conditions of --filter: for one category, or for all for which they have a meaning. */
#ifndef TOOL_FILTER_H
#define TOOL_FILTER_H

#include <argp.h>
#include <stddef.h>

#include "category.h"

/* As they were given, "KEY=VALUE" or "CATEGORY:KEY=VALUE" each. */
struct filters {
	char **words;
	size_t nr;
};

/* One or more, with blanks between them. */
void filters_add(struct filters *f, const char *words);
void filters_free(struct filters *f);

/*
 * When it is known what is recorded: what is wrong ends the program, and where one has
 * no meaning is said. Numbers and the like are the module's to judge.
 */
void filters_check(struct argp_state *state, const struct filters *f,
		   const struct category *const *recorded, size_t nr);

/* What applies to a category, as its control takes it; NULL if nothing does. To be freed. */
char *filters_of(const struct filters *f, const struct category *category);

#endif /* TOOL_FILTER_H */
