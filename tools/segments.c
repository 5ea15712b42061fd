// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "cli.h"
#include "library.h"
#include "segments.h"

static char *path_of(const struct segments *g, unsigned int n)
{
	return cli_printf("%s.%06u", g->base, n);
}

char *segments_peek(const struct segments *g)
{
	return path_of(g, g->last + 1);
}

char *segments_next(struct segments *g)
{
	g->last++;
	return path_of(g, g->last);
}

char *segments_first(struct segments *g, const char *base)
{
	g->base = base;
	g->first = 1;
	return segments_next(g);
}

void segments_ended(struct segments *g, const char *directory)
{
	g->bytes = cli_grow(g->bytes, g->last, sizeof(*g->bytes));
	g->bytes[g->last - 1] = library_bytes(directory);
}

void segments_keep(struct segments *g, unsigned long long most)
{
	unsigned long long sum = 0;
	unsigned int n;

	for (n = g->first; n < g->last; n++)
		sum += g->bytes[n - 1];
	while (most && sum > most && g->first + 1 < g->last) {
		char *path = path_of(g, g->first);

		library_remove(path);
		free(path);
		sum -= g->bytes[g->first - 1];
		g->first++;
	}
}

void segments_free(struct segments *g)
{
	free(g->bytes);
}
