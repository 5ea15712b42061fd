// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "trace/categories.h"

const struct category *const categories[] = {
#define IOT_CATEGORY(name, NAME, kinds, traits, meaning) &category_##name,
#include "uapi/categories.def"
};

const size_t nr_categories = sizeof(categories) / sizeof(categories[0]);

const struct category *category_find(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < nr_categories; i++)
		if (strlen(categories[i]->name) == length &&
		    !memcmp(categories[i]->name, name, length))
			return categories[i];
	return NULL;
}

size_t category_take(struct cli_files *files, const struct category **taken)
{
	size_t nr = 0, kept = 0, i;

	for (i = 0; i < files->named.nr; i++) {
		const char *name = files->named.at[i];

		taken[nr] = category_find(name, strlen(name));
		if (taken[nr])
			nr++;
		else
			files->named.at[kept++] = files->named.at[i];
	}
	files->named.nr = kept;
	return nr;
}

char *category_names(void)
{
	char *all = NULL;
	size_t i;

	for (i = 0; i < nr_categories; i++)
		all = text_append(all, ", ", categories[i]->name);
	return all;
}

static char *key_names(void)
{
	char *all = NULL;
	unsigned int i;

	for (i = 0; iot_names_key(i); i++)
		all = text_append(all, ", ", iot_names_key(i));
	return all;
}

/* Puts @list in place of @mark in @text, which it frees. */
static char *substitute(char *text, const char *mark, char *list)
{
	char *at = strstr(text, mark), *whole;

	if (!at) {
		free(list);
		return text;
	}
	whole = xasprintf("%.*s%s%s", (int)(at - text), text, list, at + strlen(mark));
	free(list);
	free(text);
	return whole;
}

char *category_help(int key, const char *text, void *input)
{
	(void)key;
	(void)input;
	if (!text || !strchr(text, '{'))
		return (char *)text;
	return substitute(substitute(xstrdup(text), "{categories}", category_names()),
			  "{keys}", key_names());
}

