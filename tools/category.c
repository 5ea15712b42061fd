// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "category.h"
#include "cli.h"
#include "control.h"
#include "core/names.h"

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

/* Refused for a category that is being recorded: the recorder would not notice the change. */
int category_command(const struct category *category, const char *command)
{
	struct control c = { .category = category->name, .fd = -1, .commands = -1 };

	if (control_refuse_taken(category->name))
		return CLI_FAILED;
	return control_command(&c, command);
}

size_t category_take(struct cli_files *files, const struct category **taken)
{
	size_t nr = 0, kept = 0, i;

	for (i = 0; i < files->nr; i++) {
		const char *name = files->names[i];

		taken[nr] = category_find(name, strlen(name));
		if (taken[nr])
			nr++;
		else
			files->names[kept++] = files->names[i];
	}
	files->nr = kept;
	return nr;
}

/* Appends @word to the list @list, which it frees. */
static char *append(char *list, const char *word)
{
	char *longer = list ? cli_printf("%s, %s", list, word) : cli_strdup(word);

	free(list);
	return longer;
}

char *category_names(void)
{
	char *all = NULL;
	size_t i;

	for (i = 0; i < nr_categories; i++)
		all = append(all, categories[i]->name);
	return all;
}

static char *key_names(void)
{
	char *all = NULL;
	unsigned int i;

	for (i = 0; iot_names_key(i); i++)
		all = append(all, iot_names_key(i));
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
	whole = cli_printf("%.*s%s%s", (int)(at - text), text, list, at + strlen(mark));
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
	return substitute(substitute(cli_strdup(text), "{categories}", category_names()),
			  "{keys}", key_names());
}

const struct iot_schema_event *category_event(const struct category *category)
{
	return iot_schema_find(category->event_id);
}
