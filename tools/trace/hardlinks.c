// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "trace/hardlinks.h"

#define SIZE_LEAST	1024
#define SIZE_MOST	(1 << 20)	/* entries of 24 bytes: 24 MiB */

struct links_entry {
	__u64 device, inode;
	__u32 left;		/* names that were not met; 0: the entry is free */
};

/* Three quarters full at most, so that a search ends soon. */
static bool is_full(const struct hardlinks *l)
{
	return l->used >= l->size / 4 * 3;
}

/* Fibonacci hashing spreads inode numbers, which follow each other. */
static size_t place_of(const struct hardlinks *l, __u64 device, __u64 inode)
{
	return ((inode ^ device << 40) * 0x9e3779b97f4a7c15ULL >> 32) & (l->size - 1);
}

/* The entry of an inode, or the free one where it belongs. */
static struct links_entry *find(const struct hardlinks *l, __u64 device, __u64 inode)
{
	size_t i = place_of(l, device, inode);

	while (l->at[i].left && (l->at[i].inode != inode || l->at[i].device != device))
		i = (i + 1) & (l->size - 1);
	return &l->at[i];
}

static void grow(struct hardlinks *l)
{
	struct hardlinks old = *l;
	size_t i;

	l->size = old.size ? 2 * old.size : SIZE_LEAST;
	l->at = xreallocarray(NULL, l->size, sizeof(*l->at));
	memset(l->at, 0, l->size * sizeof(*l->at));
	for (i = 0; i < old.size; i++)
		if (old.at[i].left)
			*find(l, old.at[i].device, old.at[i].inode) = old.at[i];
	free(old.at);
}

/* Entries behind the one that becomes free move up, so that a search still finds them. */
static void remove_entry(struct hardlinks *l, struct links_entry *entry)
{
	size_t free_at = entry - l->at, i = free_at, place;

	for (;;) {
		i = (i + 1) & (l->size - 1);
		if (!l->at[i].left)
			break;
		place = place_of(l, l->at[i].device, l->at[i].inode);
		if (((i - place) & (l->size - 1)) < ((i - free_at) & (l->size - 1)))
			continue;
		l->at[free_at] = l->at[i];
		free_at = i;
	}
	l->at[free_at].left = 0;
	l->used--;
}

bool hardlinks_first(struct hardlinks *l, __u64 device, __u64 inode, __u32 nlink)
{
	struct links_entry *entry;

	if (is_full(l) && l->size < SIZE_MOST)
		grow(l);
	entry = find(l, device, inode);
	if (entry->left) {
		if (!--entry->left) {
			entry->left = 1;
			remove_entry(l, entry);
		}
		return false;
	}
	if (is_full(l)) {
		l->untracked++;
		return true;
	}
	*entry = (struct links_entry){ device, inode, nlink - 1 };
	l->used++;
	return true;
}

void hardlinks_free(struct hardlinks *l)
{
	free(l->at);
	*l = (struct hardlinks){ 0 };
}
