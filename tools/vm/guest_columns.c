// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/put.h"
#include "vm/guest_columns.h"

static char *put_text(const struct row_printer *p, char *out, const char *text)
{
	return row_text(p, out, text, strlen(text), false);
}

static char *put_drives(struct row_printer *p, const struct row_column *c, char *out,
			const void *record)
{
	const struct guest_row *row = p->context;

	(void)c;
	(void)record;
	return put_text(p, out, row->drives);
}

static char *put_file(struct row_printer *p, const struct row_column *c, char *out,
		      const void *record)
{
	const struct guest_row *row = p->context;

	(void)c;
	(void)record;
	return put_text(p, out, row->file);
}

static char *put_number(struct row_printer *p, const struct row_column *c, char *out,
			const void *record)
{
	const struct guest_row *row = p->context;

	(void)c;
	(void)record;
	return put_u64(out, row->number);
}

/* null in JSON, nothing in CSV */
static char *put_none(const struct row_printer *p, char *out)
{
	return p->json ? put_bytes(out, "null", 4) : out;
}

static char *put_host(struct row_printer *p, const struct row_column *c, char *out,
		      const void *record)
{
	const struct guest_row *row = p->context;

	(void)c;
	(void)record;
	return row->part ? put_u64(out, row->part->host) : put_none(p, out);
}

static char *put_length(struct row_printer *p, const struct row_column *c, char *out,
			const void *record)
{
	const struct guest_row *row = p->context;

	(void)c;
	(void)record;
	return row->part ? put_u64(out, row->part->length) : put_none(p, out);
}

static char *put_kind(struct row_printer *p, const struct row_column *c, char *out,
		      const void *record)
{
	const struct guest_row *row = p->context;

	(void)c;
	(void)record;
	return row->part ? put_text(p, out, row->part->kind) : put_none(p, out);
}

static char *put_guest(struct row_printer *p, const struct row_column *c, char *out,
		       const void *record)
{
	const struct guest_row *row = p->context;

	(void)c;
	(void)record;
	return row->part && row->part->has_guest ? put_u64(out, row->part->guest) : put_none(p, out);
}

static char *put_guest_length(struct row_printer *p, const struct row_column *c, char *out,
			      const void *record)
{
	const struct guest_row *row = p->context;

	(void)c;
	(void)record;
	return row->part && row->part->has_guest ? put_u64(out, row->part->guest_length) :
						   put_none(p, out);
}

const struct row_column guest_drive_column = { .name = "drive", .put = put_drives };
const struct row_column guest_file_column = { .name = "file", .put = put_file };

const struct row_column guest_columns[GUEST_COLUMNS] = {
	{ .name = "part", .put = put_number },
	{ .name = "part_offset_bytes", .put = put_host },
	{ .name = "part_length_bytes", .put = put_length },
	{ .name = "guest_kind", .put = put_kind },
	{ .name = "guest_offset_bytes", .put = put_guest },
	{ .name = "guest_length_bytes", .put = put_guest_length },
};
