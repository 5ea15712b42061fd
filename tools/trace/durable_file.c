// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/xalloc.h"
#include "trace/durable_file.h"

#define SLOTS	(1U << 19)	/* a power of two above 2 * DURABLE_FILES */

static size_t slot_of(struct durable *d, const struct source *source, __u32 device, __u64 inode)
{
	__uint128_t hash;
	size_t slot;

	if (!d->slots) {
		d->slots = xreallocarray(NULL, SLOTS, sizeof(*d->slots));
		memset(d->slots, 0, SLOTS * sizeof(*d->slots));
		if (getrandom(&d->seed, sizeof(d->seed), GRND_NONBLOCK) != sizeof(d->seed))
			d->seed = (uintptr_t)d;
	}
	hash = (__uint128_t)(inode ^ d->seed) * ((0x9e3779b97f4a7c15ULL ^ (uintptr_t)source) + 2 * (__u64)device);
	slot = ((__u64)hash ^ (__u64)(hash >> 64)) & (SLOTS - 1);
	for (; d->slots[slot]; slot = (slot + 1) & (SLOTS - 1)) {
		const struct durable_file *f = &d->files[d->slots[slot] - 1];

		if (f->inode == inode && f->device == device && f->source == source)
			break;
	}
	return slot;
}

struct durable_file *durable_file_find(struct durable *d, const struct source *source, __u32 device, __u64 inode)
{
	size_t slot = slot_of(d, source, device, inode);

	return d->slots[slot] ? &d->files[d->slots[slot] - 1] : NULL;
}

/* A file in the place of that which has the key. NULL if there are too many. */
struct durable_file *durable_file_make(struct durable *d, const struct source *source, __u32 device, __u64 inode)
{
	size_t slot = slot_of(d, source, device, inode);
	struct durable_file *f;

	if (d->nr == DURABLE_FILES) {
		d->beyond++;
		return NULL;
	}
	if (d->nr == d->room) {
		d->room = d->room ? 2 * d->room : 64;
		d->files = xreallocarray(d->files, d->room, sizeof(*d->files));
	}
	f = &d->files[d->nr++];
	*f = (struct durable_file){ .source = source, .device = device, .inode = inode };
	f->pending.count = &d->extents;
	f->unknown.count = &d->extents;
	f->synced.count = &d->extents;
	d->slots[slot] = d->nr;
	return f;
}

struct durable_file *durable_file_get(struct durable *d, const struct source *source, __u32 device,
				      __u64 inode, __u64 path)
{
	struct durable_file *f = inode ? durable_file_find(d, source, device, inode) : NULL;

	if (!f && inode)
		f = durable_file_make(d, source, device, inode);
	if (f && path)
		f->path = path;
	return f;
}

bool durable_is_waiting(const struct durable_file *f)
{
	return f->pending.root || f->unplaced || f->name == DURABLE_NAME_NEW || f->name == DURABLE_NAME_MOVED;
}

void durable_file_list(struct durable *d, struct durable_file *f)
{
	if (f->listed || !durable_is_waiting(f))
		return;
	if (d->nr_list == d->room_list) {
		d->room_list = d->room_list ? 2 * d->room_list : 64;
		d->list = xreallocarray(d->list, d->room_list, sizeof(*d->list));
	}
	d->list[d->nr_list++] = f - d->files;
	f->listed = true;
}

/* Removes those of the list that have nothing exposed any more. */
void durable_prune(struct durable *d)
{
	size_t i, nr = 0;

	for (i = 0; i < d->nr_list; i++) {
		struct durable_file *f = &d->files[d->list[i]];

		f->listed = durable_is_waiting(f);
		if (f->listed)
			d->list[nr++] = d->list[i];
	}
	d->nr_list = nr;
}
