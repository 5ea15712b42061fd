// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/busiest.h"
#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"

#define FILES	1024	/* that are counted; powers of two */
#define NAMES	16384	/* that are remembered */
#define SHOWN	3	/* files in the line */
#define LENGTH	32	/* bytes that are remembered of a name */

struct counted {
	__u64 id;
	__u64 events;
};

struct name {
	__u64 id;
	unsigned char length;
	char text[LENGTH];
};

struct busiest {
	__u64 events;
	struct counted files[FILES];
	struct name names[NAMES];
};

struct busiest *busiest_new(void)
{
	struct busiest *b = xreallocarray(NULL, 1, sizeof(*b));

	return memset(b, 0, sizeof(*b));
}

void busiest_free(struct busiest *b)
{
	free(b);
}

/*
 * Ids follow each other, so that files with neighbouring ids do not meet. If two do, the one with
 * more events stays, as with the majority vote of Boyer and Moore.
 */
void busiest_count(struct busiest *b, __u64 id)
{
	struct counted *f;

	if (!b || !id)
		return;
	f = &b->files[id % FILES];
	b->events++;
	if (f->id == id)
		f->events++;
	else if (f->events)
		f->events--;
	else
		*f = (struct counted){ id, 1 };
}

void busiest_name(struct busiest *b, __u64 id, const char *path, size_t length)
{
	const char *slash = b && length > 1 ? memrchr(path, '/', length - 1) : NULL;
	struct name *n;

	if (!b)
		return;
	if (slash) {
		length -= slash + 1 - path;
		path = slash + 1;
	}
	n = &b->names[id % NAMES];
	n->id = id;
	n->length = length < LENGTH ? length : LENGTH;
	memcpy(n->text, path, n->length);
}

/* The file with the most events, apart from the @nr files of @before; NULL if there is none. */
static const struct counted *next_most(const struct busiest *b, const struct counted *const *before,
				       size_t nr)
{
	const struct counted *f, *most = NULL;
	size_t i;

	for (f = b->files; f < b->files + FILES; f++) {
		for (i = 0; i < nr && before[i] != f; i++)
			;
		if (i == nr && f->events && (!most || f->events > most->events))
			most = f;
	}
	return most;
}

static char *name_of(const struct busiest *b, __u64 id)
{
	const struct name *n = &b->names[id % NAMES];

	return n->id == id ? text_show(n->text, n->length) : xstrdup("?");
}

char *busiest_text(struct busiest *b)
{
	const struct counted *most[SHOWN];
	char *text = xstrdup("");
	size_t nr;

	for (nr = 0; b && nr < SHOWN; nr++) {
		char *before = text, *name;

		most[nr] = next_most(b, most, nr);
		if (!most[nr])
			break;
		name = name_of(b, most[nr]->id);
		text = xasprintf("%s%s%s %.0f %%", before, nr ? ", " : "; ", name,
				 100.0 * most[nr]->events / b->events);
		free(name);
		free(before);
	}
	for (nr = 0; b && nr < FILES; nr++)
		b->files[nr].events /= 2;
	if (b)
		b->events /= 2;
	return text;
}
