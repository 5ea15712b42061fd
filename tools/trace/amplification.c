// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "trace/amplification.h"
#include "uapi/iotracer.h"

#define NAME_WIDTH 24
#define TEXT_MAX 1024	/* bytes of a disk's name, escaped and quoted */

/* A row: a layer, its bytes, and how often these are the bytes of calls; 0: no calls. */
struct row {
	const char *layer, *disk;
	__u64 bytes;
	double factor;
};

static void add_disk(struct amplification *a, const struct iot_block *b, __u64 bytes)
{
	unsigned int i;

	for (i = 0; i < a->nr_disks; i++)
		if (!strncmp(a->disks[i].name, b->disk, sizeof(b->disk)))
			break;
	if (i == AMPLIFICATION_DISKS) {
		a->others += bytes;
		return;
	}
	if (i == a->nr_disks) {
		memcpy(a->disks[i].name, b->disk, sizeof(b->disk));
		a->nr_disks++;
	}
	a->disks[i].bytes += bytes;
}

void amplification_add(struct amplification *a, const struct iot_schema_event *event, const void *record,
		       const struct measure *m)
{
	__u64 bytes = m->has_bytes ? m->weight * m->bytes : 0;
	const struct iot_cache *page = record;
	const struct iot_fs *call = record;
	const struct iot_block *b = record;

	switch (event->id) {
	case IOT_EVENT_ID_FS:
		if (call->kind == IOT_KIND_FILE &&
		    (call->op == IOT_FS_WRITE || call->op == IOT_FS_DIO_WRITE))
			a->calls += bytes;
		break;
	case IOT_EVENT_ID_CACHE:
		if (page->op == IOT_CACHE_DIRTY)
			a->dirtied += bytes;
		else if (page->op == IOT_CACHE_WRITEBACK_END)
			a->written_back += bytes;
		break;
	case IOT_EVENT_ID_BLOCK:
		if (b->op == IOT_BLOCK_WRITE || b->op == IOT_BLOCK_ZONE_APPEND)
			add_disk(a, b, bytes);
		break;
	}
}

/* The n-th row; false behind the last. */
static bool row_at(const struct amplification *a, unsigned int n, struct row *row)
{
	const struct row rows[] = {
		{ .layer = a->has_fs ? "calls" : NULL, .bytes = a->calls },
		{ .layer = a->has_cache ? "dirtied" : NULL, .bytes = a->dirtied },
		{ .layer = a->has_cache ? "written_back" : NULL, .bytes = a->written_back },
	};
	unsigned int i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].layer && !n--) {
			*row = rows[i];
			goto found;
		}
	if (n < a->nr_disks)
		*row = (struct row){ "disk", a->disks[n].name, a->disks[n].bytes, 0 };
	else if (n == a->nr_disks && a->others)
		*row = (struct row){ "disk", "", a->others, 0 };
	else
		return false;
found:
	row->factor = a->has_fs && a->calls ? (double)row->bytes / a->calls : 0;
	return true;
}

/* The name of a disk is shown as text; "" is that of the disks beyond the last. The caller frees it. */
static char *disk_of(const struct row *row)
{
	return row->disk ? text_show(row->disk, strnlen(row->disk, sizeof(((struct iot_block *)0)->disk))) :
			   NULL;
}

void amplification_text(const struct amplification *a)
{
	char size[SCALED], factor[SCALED];
	struct row row;
	unsigned int n;

	printf("%s%-*s%10s%10s%s\n", CLI_BOLD, NAME_WIDTH, "BYTES WRITTEN", "", "OF CALLS", CLI_PLAIN);
	for (n = 0; row_at(a, n, &row); n++) {
		char *disk = disk_of(&row);

		snprintf(factor, sizeof(factor), "%.2f", row.factor);
		printf("%-*s%10s%10s\n", NAME_WIDTH,
		       !disk ? (!strcmp(row.layer, "written_back") ? "written back" : row.layer) :
		       *disk ? disk : "other disks",
		       scaled_size(size, row.bytes), row.factor ? factor : "-");
		free(disk);
	}
	basis_text(&a->basis);
}

json_t *amplification_json(const struct amplification *a)
{
	json_t *object = json_object(), *rows = json_array();
	struct row row;
	unsigned int n;

	for (n = 0; row_at(a, n, &row); n++) {
		json_t *member = json_object();
		char *disk = disk_of(&row);

		json_put(member, "layer", json_string(row.layer));
		json_put(member, "disk", disk ? json_string(disk) : json_null());
		json_put(member, "bytes", json_unsigned(row.bytes));
		json_put(member, "of_calls", row.factor ? json_real(row.factor) : json_null());
		json_add(rows, member);
		free(disk);
	}
	json_put(object, "layers", rows);
	basis_json(object, &a->basis);
	return object;
}

void amplification_csv(const struct amplification *a)
{
	char field[TEXT_MAX];
	struct row row;
	unsigned int n;

	puts("layer,disk,bytes,of_calls," BASIS_CSV_HEADER);
	for (n = 0; row_at(a, n, &row); n++) {
		char *disk = disk_of(&row);

		printf("%s,%.*s,%llu,", row.layer,
		       (int)(disk ? csv_put(field, disk, strlen(disk)) - field : 0), field,
		       (unsigned long long)row.bytes);
		if (row.factor)
			printf("%.3f", row.factor);
		putchar(',');
		basis_csv(&a->basis);
		putchar('\n');
		free(disk);
	}
}
