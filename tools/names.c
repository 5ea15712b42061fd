// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "names.h"
#include "text.h"

/* Numbers that a trace may leave out between two of its paths. */
#define GAP_MAX (1ULL << 28)

bool name_is_plain(const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (text[i] == ',' || text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

static void make_room(struct names *names, size_t bytes)
{
	if (!names->size)
		names->used = 8;	/* place 0 means none */
	if (names->used + bytes <= names->size)
		return;
	names->size = 2 * names->size + bytes + 4096;
	names->arena = cli_grow(names->arena, names->size, 1);
}

static bool make_place(struct names *names, __u64 id)
{
	size_t room = names->room;
	__u64 i;

	if (!names->nr)
		names->base = id;
	i = id - names->base;
	if (i < names->nr || i >= names->nr + GAP_MAX)
		return false;
	while (room <= i)
		room = room ? 2 * room : 1024;
	if (room != names->room)
		names->at = cli_grow(names->at, room, sizeof(*names->at));
	names->room = room;
	memset(names->at + names->nr, 0, (i + 1 - names->nr) * sizeof(*names->at));
	names->nr = i + 1;
	return true;
}

bool names_add(struct names *names, __u64 id, const char *bytes, size_t length)
{
	struct name *name;

	if (length > NAMES_BYTES || !make_place(names, id))
		return false;
	make_room(names, sizeof(*name) + 4 * length + 8);
	name = (struct name *)(names->arena + names->used);
	name->length = text_show_to(name->text, bytes, length);
	name->plain = name_is_plain(name->text, name->length);
	names->at[names->nr - 1] = names->used / 8;
	names->used += (sizeof(*name) + name->length + 1 + 7) & ~(size_t)7;
	names->count++;
	return true;
}

void names_free(struct names *names)
{
	free(names->at);
	free(names->arena);
	*names = (struct names){ 0 };
}
