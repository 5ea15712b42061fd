// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/xalloc.h"
#include "trace/durable_flush.h"

static struct durable_disk *disk_of(struct durable *d, const struct source *source, __u32 device)
{
	size_t i;

	for (i = 0; i < d->nr_disks; i++)
		if (d->disks[i].device == device && d->disks[i].source == source)
			return &d->disks[i];
	return NULL;
}

void durable_disk_learn(struct durable *d, const struct iot_block *r, const struct source *source)
{
	struct durable_disk *disk = disk_of(d, source, r->file_device);

	if (disk) {
		disk->several |= memcmp(disk->disk, r->disk, DURABLE_DISK) != 0;
	} else if (d->nr_disks < DURABLE_DISKS) {
		disk = &d->disks[d->nr_disks++];
		*disk = (struct durable_disk){ .source = source, .device = r->file_device };
		memcpy(disk->disk, r->disk, DURABLE_DISK);
	}
}

static struct durable_flushes *flushes_of(struct durable *d, const struct source *source, const char *disk)
{
	size_t i;

	for (i = 0; i < d->nr_flushes; i++)
		if (d->flushes[i].source == source && !memcmp(d->flushes[i].disk, disk, DURABLE_DISK))
			return &d->flushes[i];
	if (i == DURABLE_DISKS)
		return NULL;
	d->flushes[i].source = source;
	memcpy(d->flushes[i].disk, disk, DURABLE_DISK);
	d->nr_flushes++;
	return &d->flushes[i];
}

/*
 * Flushes come by their end. One that was issued before another one that has ended proves no more.
 */
void durable_flush_add(struct durable *d, const struct iot_block *r, const struct source *source)
{
	struct durable_flushes *s = flushes_of(d, source, r->disk);
	__u64 end = r->time + durable_lesser(r->latency, ~r->time);
	__u64 issued = end - durable_lesser(r->device_latency, r->latency);

	if (!s || (s->nr && s->at[s->nr - 1].issued >= issued))
		return;
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->at = xreallocarray(s->at, s->room, sizeof(*s->at));
	}
	s->at[s->nr++] = (struct durable_flush){ issued, end };
}

/* When the first flush of the file's disk ended that was issued at @at or later. 0: none did. */
__u64 durable_flushed(const struct durable *d, const struct durable_file *f, __u64 at)
{
	const struct durable_disk *disk = disk_of((struct durable *)d, f->source, f->device);
	const struct durable_flushes *s = NULL;
	size_t i, least = 0, most;

	if (d->no_cache)
		return at;
	for (i = 0; disk && !disk->several && i < d->nr_flushes && !s; i++)
		if (d->flushes[i].source == f->source && !memcmp(d->flushes[i].disk, disk->disk, DURABLE_DISK))
			s = &d->flushes[i];
	for (most = s ? s->nr : 0; least < most;) {
		size_t middle = least + (most - least) / 2;

		if (s->at[middle].issued >= at)
			most = middle;
		else
			least = middle + 1;
	}
	return s && least < s->nr ? s->at[least].end : 0;
}
