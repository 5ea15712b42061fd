// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "trace/sums.h"
#include "uapi/iotracer.h"

static __u64 positive(__s64 n)
{
	return n > 0 ? n : 0;
}

/* --- fs ------------------------------------------------------------------------- */

/* The kernel does these in a call that is an event itself, or in no system call. */
#define INNER (IOT_IO_SENDFILE | IOT_IO_COPY | IOT_IO_SPLICE | IOT_IO_NFSD | IOT_IO_URING | IOT_IO_AIO)

static void add_call(struct sums *s, enum sums_direction direction, __s64 result)
{
	s->calls[direction]++;
	s->moved[direction] += positive(result);
}

/* What moves bytes between two files is a read and a write to /proc/PID/io. */
static void add_both(struct sums *s, __s64 result)
{
	add_call(s, SUMS_READ, result);
	add_call(s, SUMS_WRITE, result);
}

static void add_fs(struct sums *s, const struct iot_fs *fs)
{
	bool inner = fs->flags & INNER;

	switch (fs->op) {
	case IOT_FS_READ:
	case IOT_FS_DIO_READ:
		if (!inner)
			add_call(s, SUMS_READ, fs->result);
		break;
	case IOT_FS_DIO_WRITE:
		/* O_DIRECT of a pipe means packets */
		if (fs->kind != IOT_KIND_PIPE)
			s->direct_writes += positive(fs->result);
		if (!inner)
			add_call(s, SUMS_WRITE, fs->result);
		break;
	case IOT_FS_WRITE:
		if (!inner)
			add_call(s, SUMS_WRITE, fs->result);
		break;
	case IOT_FS_SENDFILE:
		if (fs->result >= 0)
			add_both(s, fs->result);
		break;
	case IOT_FS_COPY_FILE_RANGE:
		if (fs->result > 0)
			add_both(s, fs->result);
		break;
	}
}

/* --- block ---------------------------------------------------------------------- */

static struct sums_device *device_of(struct sums *s, const struct iot_block *b)
{
	struct sums_device *d = s->devices;
	size_t i;

	for (i = 0; i < s->nr_devices; i++, d++)
		if (d->device == b->device && !strncmp(d->disk, b->disk, sizeof(b->disk)))
			return d;
	s->devices = xreallocarray(s->devices, s->nr_devices + 1, sizeof(*s->devices));
	d = &s->devices[s->nr_devices++];
	*d = (struct sums_device){ .device = b->device };
	memcpy(d->disk, b->disk, sizeof(b->disk));
	d->disk[sizeof(d->disk) - 1] = '\0';
	return d;
}

/* As op_stat_group() of the kernel's: operations that write have odd numbers. */
static enum sums_direction direction_of(const struct iot_block *b)
{
	if (b->op == IOT_BLOCK_FLUSH)
		return SUMS_FLUSH;
	if (b->op == IOT_BLOCK_DISCARD)
		return SUMS_DISCARD;
	return b->op_code & 1 ? SUMS_WRITE : SUMS_READ;
}

/*
 * How many I/Os the kernel counts. The device mapper counts the parts into which it splits a bio,
 * and counts data with a flush before it once more.
 */
static unsigned int pieces(const struct iot_block *b)
{
	if (!(b->flags & IOT_REQ_BIO))
		return 1;
	return b->parts + (b->flags & IOT_REQ_PREFLUSH && b->requested);
}

static void add_block(struct sums *s, const struct iot_block *b)
{
	enum sums_direction direction = direction_of(b);
	struct sums_device *d = device_of(s, b);

	if (b->op == IOT_BLOCK_DRV_IN || b->op == IOT_BLOCK_DRV_OUT)
		return; /* a driver's own */
	d->requests[direction] += pieces(b);
	d->bytes[direction] += positive(b->result);
	d->asked[direction] += b->requested;
	if (direction == SUMS_READ && !(b->flags & IOT_REQ_ORIGINATOR))
		s->submitted += b->requested;
	if (b->flags & IOT_REQ_SWAP && direction <= SUMS_WRITE)
		s->swapped[direction] += positive(b->result);
}

/* --- all ------------------------------------------------------------------------ */

static void add_cache(struct sums *s, const struct iot_cache *c)
{
	s->pages[c->op % SUMS_OPS] += c->pages;
}

static void add_fault(struct sums *s, const struct iot_fault *f)
{
	s->faults[f->severity == IOT_FAULT_MAJOR]++;
}

void sums_add(struct sums *s, unsigned int event_id, const void *record)
{
	s->events++;
	switch (event_id) {
	case IOT_EVENT_ID_FS:
		return add_fs(s, record);
	case IOT_EVENT_ID_BLOCK:
		return add_block(s, record);
	case IOT_EVENT_ID_CACHE:
		return add_cache(s, record);
	case IOT_EVENT_ID_FAULT:
		return add_fault(s, record);
	}
}

void sums_free(struct sums *s)
{
	free(s->devices);
	s->devices = NULL;
	s->nr_devices = 0;
}
