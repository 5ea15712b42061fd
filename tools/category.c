// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "category.h"
#include "cli.h"
#include "control.h"

const struct category categories[] = {
	{ "fs", "fs", IOT_EVENT_ID_FS, fs_columns, FS_COLUMNS, IOT_FS_PROCESS_EXEC },
	{ "block", "ds", IOT_EVENT_ID_BLOCK, block_columns, BLOCK_COLUMNS, NO_OP },
	{ "cache", "cache", IOT_EVENT_ID_CACHE, cache_columns, CACHE_COLUMNS, NO_OP },
	{ "uring", "io_uring", IOT_EVENT_ID_URING, uring_columns, URING_COLUMNS, NO_OP },
	{ "fault", "pagefault", IOT_EVENT_ID_FAULT, fault_columns, FAULT_COLUMNS, NO_OP },
};

const size_t nr_categories = sizeof(categories) / sizeof(categories[0]);

const struct category *category_find(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < nr_categories; i++)
		if (strlen(categories[i].name) == length &&
		    !memcmp(categories[i].name, name, length))
			return &categories[i];
	return NULL;
}

/* Refused for a category that is being recorded: the recorder would not notice the change. */
int category_command(const struct category *category, const char *command)
{
	struct control c = { .category = category->name, .fd = -1, .commands = -1 };

	if (control_is_taken(category->name)) {
		cli_say("%s is being recorded by iotracer record: end that first", category->name);
		return CLI_FAILED;
	}
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

char *category_names(void)
{
	char *all = cli_strdup(categories[0].name), *longer;
	size_t i;

	for (i = 1; i < nr_categories; i++) {
		longer = cli_printf("%s, %s", all, categories[i].name);
		free(all);
		all = longer;
	}
	return all;
}

const struct iot_schema_event *category_event(const struct category *category)
{
	return iot_schema_find(category->event_id);
}
