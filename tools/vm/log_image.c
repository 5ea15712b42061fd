// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/follow.h"
#include "base/text.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "core/line.h"
#include "module/proc.h"
#include "module/stream.h"
#include "module/target.h"
#include "trace/row.h"
#include "vm/guest_columns.h"
#include "vm/log_image.h"
#include "vm/log_row.h"

struct log {
	const struct log_options *options;
	struct target_list targets;
	const struct target *target;
	char *file;		/* its path in the list of targets, escaped */
	const char *name;	/* by which the image can be opened */
	struct stream stream;
	struct records records;
	size_t printed;		/* of @records: these stay for is_whole_call() */
	struct guest_images images;
	struct guest_parts pieces;	/* of the event that is printed */
	struct row_printer printer;
	__u64 known;		/* CLOCK_MONOTONIC ns: the map has what was written before */
	bool damaged;		/* an error of reading the map again was reported */
};

/* The path by which the target's file can be read, or NULL. */
static const char *path_of(const struct target *target)
{
	size_t i;

	for (i = 0; i < target->nr_paths; i++)
		if (!target->deleted[i])
			return target->paths[i];
	return NULL;
}

static int find_target(struct log *l)
{
	const char *file = l->options->file;
	int status = target_one(&l->targets, file, &l->target);

	if (status)
		return status;
	if (target_has_fs_events(l->target->name)) {
		cli_say_of(file, "is not a file: --guest needs a disk image that is traced");
		return CLI_FAILED;
	}
	l->name = path_of(l->target);
	if (!l->name) {
		cli_say_of(file, "was deleted, so its tables cannot be read");
		return CLI_FAILED;
	}
	l->file = text_show(l->target->paths[0], strlen(l->target->paths[0]));
	return CLI_OK;
}

/* Reads all events, or with --follow the next ones, and sorts those that are not printed. */
static int read_records(struct log *l)
{
	size_t most = l->options->follow ? l->records.nr + FOLLOW_BATCH : SIZE_MAX;
	int err = stream_read(&l->stream, &l->records, most);
	struct records waiting = {
		.data = l->records.data + l->printed * l->stream.event->size,
		.nr = l->records.nr - l->printed,
	};

	if (waiting.nr)
		stream_sort(&l->stream, &waiting);
	return err;
}

static void report_missing(const struct log *l)
{
	__u64 missing = stream_missing(&l->stream, l->options->follow);

	if (missing)
		cli_say_of(l->file, "%llu events were overwritten or lost before they were read",
			   (unsigned long long)missing);
}

/* Reads the map after the events, because QEMU updates the tables after it has written. */
static int read_image(struct log *l)
{
	struct guest_image *image = l->images.nr ? l->images.at : guest_images_add(&l->images, l->file, xstrdup(""));
	__u64 now = wall_now().monotonic;
	char *why = guest_image_read(image, l->name, l->options->image_format, 0);
	bool first = !l->known;

	l->known = now;
	if (!why)
		return CLI_OK;
	if (!l->damaged)
		cli_say_of(l->file, "%s", why);
	free(why);
	l->damaged = true;
	return first ? CLI_FAILED : CLI_OK;
}

static const struct iot_io *event_at(const struct log *l, size_t i)
{
	return records_at(&l->stream, &l->records, i);
}

/* --- the meaning of an event to the guest ------------------------------------------- */

static bool has_range(const struct iot_io *io)
{
	switch (io->op) {
	case IOT_OP_READ: case IOT_OP_WRITE:
		return true;
	case IOT_OP_ALLOCATE: case IOT_OP_ALLOCATE_KEEP_SIZE: case IOT_OP_UNSHARE_RANGE:
	case IOT_OP_PUNCH_HOLE: case IOT_OP_ZERO_RANGE: case IOT_OP_ZERO_RANGE_KEEP_SIZE:
	case IOT_OP_DISCARD: case IOT_OP_SECURE_ERASE: case IOT_OP_WRITE_ZEROES:
		return io->level == IOT_LEVEL_VFS;
	default:
		return false;
	}
}

/*
 * Whether a bio of direct I/O covers the range of its call. Each bio is recorded with the call's
 * offset, whichever part of the range it covers. A thread makes one call at a time.
 */
static bool is_whole_call(const struct log *l, size_t i)
{
	const struct iot_io *bio = event_at(l, i);
	size_t first = i > LOG_LOOK_BACK ? i - LOG_LOOK_BACK : 0;

	while (i-- > first) {
		const struct iot_io *call = event_at(l, i);

		if (call->level == IOT_LEVEL_VFS && call->tid == bio->tid &&
		    call->offset == bio->offset && call->op == bio->op)
			return call->flags & IOT_IO_DIRECT && call->requested == bio->requested;
	}
	return false;
}

/* Finds the parts of the event's range; none if it has no range. */
static void find_pieces(struct log *l, size_t i)
{
	const struct iot_io *io = event_at(l, i);
	bool moves = io->op <= IOT_OP_WRITE && io->result >= 0;
	__u64 length = moves ? (__u64)io->result : io->requested;

	l->pieces.nr = 0;
	if (!has_range(io) || !length)
		return;
	guest_find(&l->images.at[0], io->time, io->offset, length, &l->pieces);
	if (io->level != IOT_LEVEL_BLK || !(io->flags & IOT_IO_DIRECT) || is_whole_call(l, i))
		return;
	l->pieces.nr = 1;
	l->pieces.at[0] = (struct guest_part){ .host = io->offset, .length = length, .kind = "unsure" };
}

/* Calls @put for each part, or once without a part if there is none. */
static void for_pieces(struct log *l, size_t i,
		       void (*put)(struct log *l, const struct iot_io *io,
				   const struct guest_row *row, void *data), void *data)
{
	struct guest_row row = { .drives = "", .file = l->file };

	find_pieces(l, i);
	do {
		row.part = l->pieces.nr ? &l->pieces.at[row.number] : NULL;
		put(l, event_at(l, i), &row, data);
	} while (++row.number < l->pieces.nr);
}

/* --- text: a line of the log, and a part --------------------------------------------- */

static void print_line(struct log *l, const struct iot_io *io, const struct guest_row *row, void *data)
{
	const struct iot_line line = iot_line_of_io(io);
	__u64 t0 = l->stream.t0;

	(void)data;
	log_print_line(&line, io->time > t0 ? io->time - t0 : 0, io->comm, io->pid);
	log_print_part(row->part);
	putchar('\n');
}

/* --- csv, json ---------------------------------------------------------------------- */

static char text[ROW_MAX];

static void print_row(struct log *l, const struct iot_io *io, const struct guest_row *row, void *data)
{
	struct row_printer *printer = data;

	(void)l;
	printer->context = row;
	fwrite(text, 1, row_print(printer, text, io) - text, stdout);
}

static void open_printer(struct log *l)
{
	struct row_printer *printer = &l->printer;

	*printer = (struct row_printer){
		.event = l->stream.event, .t0 = l->stream.t0,
		.json = l->options->format == FORMAT_JSON,
		.added = guest_columns, .nr_added = GUEST_COLUMNS,
	};
	row_printer_open_own(printer, false);
	if (l->options->format != FORMAT_TEXT && !printer->json && !l->options->no_header)
		fwrite(text, 1, row_header(printer, text) - text, stdout);
}

/* Prints the events that began before @limit. */
static void print_until(struct log *l, __u64 limit)
{
	bool rows = l->options->format != FORMAT_TEXT;

	for (; l->printed < l->records.nr && !ferror(stdout); l->printed++) {
		if (event_at(l, l->printed)->time >= limit)
			break;
		for_pieces(l, l->printed, rows ? print_row : print_line, &l->printer);
	}
}

/* Prints all of it once. */
static int print_now(struct log *l)
{
	int err = read_records(l), status;

	if (err)
		return stream_explain(&l->stream, err);
	report_missing(l);
	status = read_image(l);
	if (status)
		return status;
	open_printer(l);
	print_until(l, ~0ULL);
	return CLI_OK;
}

/* --- as they happen ------------------------------------------------------------------ */

/* Forgets the events that no later one needs. */
static void drop_printed(struct log *l)
{
	size_t size = l->stream.event->size, gone;

	if (l->printed <= 2 * LOG_LOOK_BACK)
		return;
	gone = l->printed - LOG_LOOK_BACK;
	l->records.nr -= gone;
	l->printed -= gone;
	memmove(l->records.data, l->records.data + gone * size, l->records.nr * size);
}

/* Looks at the map again if events wait for that. Up to when it is known. */
static void look(struct log *l, bool ending)
{
	struct guest_image *image = &l->images.at[0];
	__u64 now = wall_now().monotonic;

	if (image->same)
		l->known = now;
	else if (l->printed < l->records.nr && (ending || now >= l->known + LOG_LOOK_NS))
		read_image(l);
}

/* Events whose number has no bound are not kept, whatever their times. */
static __u64 limit_of(const struct log *l, bool ending)
{
	if (ending || l->records.nr - l->printed > 2 * FOLLOW_BATCH)
		return ~0ULL;
	return l->known > LOG_HOLD_NS ? l->known - LOG_HOLD_NS : 0;
}

static int follow(struct log *l)
{
	int status = read_image(l), err;
	bool ending, full;

	if (status)
		return status;
	open_printer(l);
	do {
		size_t before = l->records.nr;

		ending = follow_interrupted();
		err = read_records(l);
		full = l->records.nr - before >= FOLLOW_BATCH;
		ending |= !!err;
		look(l, ending);
		print_until(l, limit_of(l, ending));
		guest_image_forget(&l->images.at[0], l->printed < l->records.nr ? event_at(l, l->printed)->time : l->known);
		drop_printed(l);
	} while (!ending && (full ? follow_flush() : follow_wait()));
	if (follow_flush() && err == -EIO)
		cli_say_of(l->file, "target was removed");
	report_missing(l);
	return err && err != -EIO ? stream_explain(&l->stream, err) : CLI_OK;
}

int log_image(const struct log_options *options)
{
	struct log l = { .options = options, .stream = STREAM_CLOSED };
	int status = find_target(&l);

	if (!status)
		status = stream_open(&l.stream, NULL, l.target->name, l.file);
	if (!status) {
		status = options->follow ? follow(&l) : print_now(&l);
		row_printer_close(&l.printer);
		if (!status)
			guest_images_report(&l.images, false);
	}
	stream_close(&l.stream);
	records_free(&l.records);
	free(l.pieces.at);
	free(l.file);
	guest_images_free(&l.images);
	target_list_free(&l.targets);
	return status;
}
