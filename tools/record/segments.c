// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "record/segments.h"
#include "record/store.h"
#include "trace/check.h"
#include "trace/trace.h"

#define DIGITS 6	/* of a number, with leading zeros */

static char *path_of(const struct segments *g, unsigned int n)
{
	return xasprintf("%s.%0*u", g->base, DIGITS, n);
}

/* The number of a trace by the name of its directory; 0 if it is not one of these traces. */
static unsigned int number_of(const char *entry, const char *base)
{
	size_t length = strlen(base);
	unsigned long number;
	char *name;
	bool is;

	if (strncmp(entry, base, length) || entry[length] != '.')
		return 0;
	number = strtoul(entry + length + 1, NULL, 10);
	if (!number || number >= UINT_MAX)
		return 0;
	name = xasprintf("%s.%0*lu", base, DIGITS, number);
	is = !strcmp(name, entry);
	free(name);
	return is ? number : 0;
}

static void add(struct segments *g, unsigned int number, unsigned long long bytes)
{
	g->ended = xreallocarray(g->ended, g->nr + 1, sizeof(*g->ended));
	g->ended[g->nr++] = (struct segment){ number, bytes };
}

/* Whether it is a trace of this user. Others are neither counted nor deleted. */
static bool is_ours(const char *path)
{
	char *metadata = xasprintf("%s/%s", path, TRACE_METADATA);
	struct stat st;
	bool is = !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
		  !lstat(metadata, &st) && S_ISREG(st.st_mode);

	free(metadata);
	return is;
}

static int take(struct segments *g, unsigned int number)
{
	char *path = path_of(g, number);
	int status = CLI_OK;

	if (number > g->last)
		g->last = number;
	if (check_is_recorded(path)) {
		cli_say_of(path, "is being recorded: name another directory (-o), or end that recorder");
		status = CLI_FAILED;
	} else if (is_ours(path)) {
		add(g, number, store_bytes(path));
	}
	free(path);
	return status;
}

static int compare(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

int segments_open(struct segments *g, const char *base)
{
	const char *slash = strrchr(base, '/'), *name = slash ? slash + 1 : base;
	char *parent = xasprintf("%.*s.", (int)(name - base), base);
	DIR *dir = opendir(parent);
	struct dirent *entry;
	int status = CLI_OK;
	unsigned int number;

	g->base = base;
	while (!status && dir && (entry = readdir(dir))) {
		number = number_of(entry->d_name, name);
		if (number)
			status = take(g, number);
	}
	if (dir)
		closedir(dir);
	if (g->nr)
		qsort(g->ended, g->nr, sizeof(*g->ended), compare);
	free(parent);
	return status;
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

void segments_ended(struct segments *g, const char *directory)
{
	add(g, g->last, store_bytes(directory));
}

void segments_keep(struct segments *g, unsigned long long most)
{
	unsigned long long sum = 0;
	size_t i, gone = 0;
	char *path;

	for (i = 0; i < g->nr; i++)
		sum += g->ended[i].bytes;
	for (; most && sum > most && gone + 1 < g->nr; gone++) {
		path = path_of(g, g->ended[gone].number);
		store_remove(path);
		free(path);
		sum -= g->ended[gone].bytes;
	}
	if (gone)
		memmove(g->ended, g->ended + gone, (g->nr - gone) * sizeof(*g->ended));
	g->nr -= gone;
}

void segments_free(struct segments *g)
{
	free(g->ended);
}
