/* SPDX-License-Identifier: GPL-2.0 */
/* What an argument can be, on this machine now, for the completion of shells. */
#ifndef TOOL_CMD_VALUES_H
#define TOOL_CMD_VALUES_H

#include <stddef.h>

struct category;

struct values {
	const char *word;	/* what was typed of the word */
	size_t skip;		/* bytes at its beginning that stay, as "--output=" */
	size_t nr_words;	/* complete words before it */
	const char *list;	/* where a list begins; NULL: it is none */
	const struct category *category;	/* that conditions are for; NULL: all */
};

/* What is typed of the word so far, up to here, stays. */
void values_skip(struct values *v, size_t bytes);

/* Prints a value that the word can become. @meaning may be NULL. */
void values_offer(const struct values *v, const char *value, const char *meaning);

/* Prints all values: of @words, with blanks between, or NULL; and of enum option_values. */
void values_offer_all(struct values *v, unsigned int kinds, const char *words);

#endif /* TOOL_CMD_VALUES_H */
