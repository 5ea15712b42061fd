// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "vm/drive_profile.h"
#include "vm/guest_export.h"
#include "vm/qcow2_host.h"

#define CALL_MOST	(1ULL << 32)	/* no call moves more bytes */

const char *const drive_kinds[DRIVE_KINDS] = { "read", "write", "flush" };

/* --- drives --------------------------------------------------------------------- */

static size_t drive_named(struct drive_profile *p, const char *name)
{
	char *shown = text_guard(name, strlen(name), "");
	unsigned int kind;
	struct drive *d;
	size_t i;

	for (i = 0; i < p->nr && strcmp(p->drives[i].name, shown); i++)
		;
	if (i < p->nr) {
		free(shown);
		return i;
	}
	p->drives = xreallocarray(p->drives, p->nr + 1, sizeof(*p->drives));
	d = &p->drives[p->nr++];
	*d = (struct drive){ .name = shown };
	for (kind = 0; kind < DRIVE_KINDS; kind++)
		d->kinds[kind].latency.least = ~0ULL;
	return i;
}

void drive_profile_open(struct drive_profile *p, struct guest_images *images, __u64 memory)
{
	size_t i;

	*p = (struct drive_profile){ .images = *images, .with_reuse = memory };
	*images = (struct guest_images){ .nr = 0 };
	p->drive_of = xreallocarray(NULL, p->images.nr, sizeof(*p->drive_of));
	for (i = 0; i < p->images.nr; i++) {
		const struct guest_image *image = &p->images.at[i];

		p->drive_of[i] = drive_named(p, *image->drives ? image->drives : image->file);
	}
	patterns_open_placed(&p->patterns, p->nr);
	reuse_open(&p->reuse, memory);
}

void drive_profile_free(struct drive_profile *p)
{
	unsigned int kind;
	size_t i;

	for (i = 0; i < p->nr; i++) {
		for (kind = 0; kind < DRIVE_KINDS; kind++)
			distribution_free(&p->drives[i].kinds[kind].latencies);
		free(p->drives[i].name);
	}
	free(p->drives);
	free(p->drive_of);
	free(p->parts.at);
	patterns_free(&p->patterns);
	reuse_free(&p->reuse);
	guest_images_free(&p->images);
}

/* --- calls ---------------------------------------------------------------------- */

static enum drive_kind kind_of(const struct iot_fs *fs)
{
	switch (fs->op) {
	case IOT_FS_READ:
	case IOT_FS_DIO_READ:
		return DRIVE_READ;
	case IOT_FS_WRITE:
	case IOT_FS_DIO_WRITE:
		return DRIVE_WRITE;
	case IOT_FS_FSYNC:
	case IOT_FS_FDATASYNC:
		return DRIVE_FLUSH;
	default:
		return DRIVE_KINDS;
	}
}

static void count_call(struct drive_calls *c, const struct measure *m)
{
	c->calls += m->weight;
	c->latency.total += m->weight * m->latency;
	if (m->latency < c->latency.least)
		c->latency.least = m->latency;
	if (m->latency > c->latency.most)
		c->latency.most = m->latency;
	distribution_add(&c->latencies, m->latency, m->weight);
}

/*
 * Whether the part is the guest's data, and not a table, whose range is all that it describes.
 * Only maps that are damaged have a range that is longer than a call, or has no end.
 */
static bool is_data(const struct guest_part *part)
{
	if (!part->has_guest || !part->guest_length || part->guest_length > CALL_MOST ||
	    part->guest_length > ~part->guest)
		return false;
	return !part->whole || !strcmp(part->kind, qcow2_use_name(USE_COMPRESSED));
}

static void add_reuse(struct drive_profile *p, __u32 drive, const struct guest_part *part, bool write)
{
	struct page_access access = { .offset = part->guest, .bytes = part->guest_length, .write = write };

	if (p->with_reuse)
		reuse_add(&p->reuse, drive, &access);
}

/* Neither map has an unused place in use: it was in use between them. */
static bool is_known(const struct guest_part *part)
{
	return guest_part_is_known(part) && strcmp(part->kind, qcow2_use_name(USE_UNUSED));
}

static void count_use(struct drive *d, const struct guest_part *part, bool write, __u64 weight)
{
	struct drive_use *use;
	size_t i;

	for (i = 0; i < d->nr_uses && strcmp(d->uses[i].use, part->kind); i++)
		;
	if (i == DRIVE_USES)
		return;
	use = &d->uses[i];
	if (i == d->nr_uses) {
		*use = (struct drive_use){ .use = part->kind };
		d->nr_uses++;
	}
	use->parts[write] += weight;
	use->bytes[write] += weight * part->length;
}

/* Returns whether a part of it is the guest's data. */
static bool add_parts(struct drive_profile *p, __u32 drive, bool write, const struct measure *m)
{
	bool any = false;
	size_t i;

	for (i = 0; i < p->parts.nr; i++) {
		const struct guest_part *part = &p->parts.at[i];

		count_use(&p->drives[drive], part, write, m->weight);
		if (is_data(part)) {
			patterns_place(&p->patterns, drive, write, part->guest, part->guest_length, m);
			add_reuse(p, drive, part, write);
			if (p->placed)
				p->placed(p->data, drive, write, part, m);
			any = true;
		} else if (is_known(part)) {
			p->drives[drive].tables += m->weight;
		} else {
			p->drives[drive].unknown += m->weight;
		}
	}
	return any;
}

void drive_profile_add(struct drive_profile *p, const struct paths *paths, const void *record,
		       const struct measure *m)
{
	const struct iot_fs *fs = record;
	enum drive_kind kind = kind_of(fs);
	struct guest_image *image;
	struct drive *drive;

	if (kind == DRIVE_KINDS)
		return;
	image = guest_export_image(&p->images, paths, fs);
	if (!image) {
		p->others += m->weight;
		return;
	}
	drive = &p->drives[p->drive_of[image - p->images.at]];
	if (m->error) {
		drive->kinds[kind].failed += m->weight;
	} else if (kind == DRIVE_FLUSH) {
		count_call(&drive->kinds[kind], m);
	} else if (!m->bytes) {
		drive->empty += m->weight;
	} else {
		p->parts.nr = 0;
		guest_find(image, m->time, fs->offset, m->bytes < CALL_MOST ? m->bytes : CALL_MOST, &p->parts);
		if (add_parts(p, drive - p->drives, kind == DRIVE_WRITE, m))
			count_call(&drive->kinds[kind], m);
	}
}

void drive_profile_finish(struct drive_profile *p)
{
	__u32 *rows = xreallocarray(NULL, p->nr, sizeof(*rows));
	unsigned int kind;
	size_t i;

	patterns_finish_placed(&p->patterns);
	for (i = 0; i < p->nr; i++) {
		rows[i] = i;
		for (kind = 0; kind < DRIVE_KINDS; kind++) {
			struct drive_calls *c = &p->drives[i].kinds[kind];

			distribution_percentiles(&c->latencies, stats_parts, STATS_PERCENTILES, c->percentiles);
			distribution_free(&c->latencies);
		}
	}
	if (p->with_reuse)
		reuse_finish(&p->reuse, rows, p->nr, p->nr);
	free(rows);
}

bool drive_is_idle(const struct drive *d)
{
	unsigned int kind;

	for (kind = 0; kind < DRIVE_KINDS; kind++)
		if (d->kinds[kind].calls || d->kinds[kind].failed)
			return false;
	return !d->empty && !d->tables && !d->unknown;
}
