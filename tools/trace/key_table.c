// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/key_table.h"
#include "trace/paths.h"

static void grow(struct key_table *t, size_t nr)
{
	t->by_path = xreallocarray(t->by_path, nr, sizeof(*t->by_path));
	memset(t->by_path + t->nr_by_path, 0, (nr - t->nr_by_path) * sizeof(*t->by_path));
	t->nr_by_path = nr;
}

void key_table_open(struct key_table *t, struct stats_keys *keys)
{
	*t = (struct key_table){ .keys = keys };
	t->text = xreallocarray(NULL, STATS_KEYS, STATS_KEY_MAX);
	grow(t, keys->printer.paths->nr);
}

void key_table_close(struct key_table *t)
{
	intern_free(&t->names);
	free(t->by_path);
	free(t->text);
}

static __u32 number_of_text(struct key_table *t, const void *record, bool add)
{
	char *end = stats_keys_put(t->keys, t->text, record);

	return add ? intern_add(&t->names, t->text, end - t->text) : intern_find(&t->names, t->text, end - t->text);
}

/* Most paths are met again and again: their texts are only looked up once. */
static __u32 number_of(struct key_table *t, const void *record, bool add)
{
	const struct paths *paths = t->keys->printer.paths;
	__u64 id = stats_keys_path(t->keys, record), place = id - paths->base;
	__u32 number;

	if (!id || place >= paths->nr)
		return number_of_text(t, record, add);
	if (place >= t->nr_by_path)
		grow(t, paths->room);
	if (t->by_path[place])
		return t->by_path[place] - 1;
	number = number_of_text(t, record, add);
	t->by_path[place] = number == KEY_TABLE_NONE ? 0 : number + 1;
	return number;
}

__u32 key_table_add(struct key_table *t, const void *record)
{
	return number_of(t, record, true);
}

__u32 key_table_find(struct key_table *t, const void *record)
{
	return number_of(t, record, false);
}

const char *key_table_text(const struct key_table *t, __u32 number, size_t i)
{
	size_t length;
	const char *text = intern_bytes(&t->names, number, &length);

	while (i--)
		text += strlen(text) + 1;
	return text;
}

int key_table_compare(const struct key_table *t, __u32 x, __u32 y)
{
	size_t lengths[2], least;
	const char *a = intern_bytes(&t->names, x, &lengths[0]);
	const char *b = intern_bytes(&t->names, y, &lengths[1]);
	int order;

	least = lengths[0] < lengths[1] ? lengths[0] : lengths[1];
	order = memcmp(a, b, least);
	return order ? order : (lengths[0] > lengths[1]) - (lengths[0] < lengths[1]);
}
