// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "module/proc.h"
#include "module/stream.h"
#include "module/target.h"
#include "trace/row.h"
#include "vm/guest_columns.h"
#include "vm/log_machine.h"
#include "vm/log_row.h"
#include "vm/log_vm.h"
#include "vm/vm.h"
#include "vm/vm_find.h"

#define NS 1000000000ULL
#define LOOK_BACK 4096	/* events between a call and its bio, at most */

/* A file or device of the machine that is a target. */
struct part {
	const struct target *target;
	char *drives;		/* names of the drives that it is of, with commas; "" if not known */
	char *file;		/* the path under which it is listed, as it is shown */
	const char *name;	/* where the file is, if it is an image */
	const char *format;	/* of the image; NULL: not known */
	struct guest_image *image;	/* NULL: it is none, or nobody wants to know */
	struct stream stream;
	struct records records;
};

struct machine {
	const struct log_machine *options;
	json_t *vm;		/* NULL: it is one file */
	const struct target *processes;	/* of the machine; NULL: its files are targets */
	struct vm_files files;
	struct target_list targets;
	struct part *parts;
	size_t nr_parts;
	struct guest_images images;
	struct guest_parts pieces;	/* of the event that is printed */
};

/* A record, and whose it is. */
struct event {
	const struct iot_io *io;
	const struct part *part;
};

struct events {
	struct event *at;
	size_t nr;
};

/* --- which files ------------------------------------------------------------------ */

static struct part *part_of(struct machine *m, const struct target *target)
{
	struct part *part;
	size_t i;

	for (i = 0; i < m->nr_parts; i++)
		if (m->parts[i].target == target)
			return &m->parts[i];
	m->parts = xreallocarray(m->parts, m->nr_parts + 1, sizeof(*m->parts));
	part = &m->parts[m->nr_parts++];
	*part = (struct part){
		.target = target, .drives = xstrdup(""),
		.file = text_show(target->paths[0], strlen(target->paths[0])), .stream.fd = -1,
	};
	return part;
}

/* Drives may share an image, as that behind their own ones. */
static void find_parts(struct machine *m)
{
	size_t i;

	for (i = 0; i < m->files.nr; i++) {
		const struct target *target = target_at(&m->targets, m->files.names[i]);
		struct part *part = target ? part_of(m, target) : NULL;

		if (!part)
			continue;
		part->drives = guest_add_drive(part->drives, m->files.drives[i]);
		part->name = m->files.names[i];
		part->format = m->files.formats[i];
	}
}

/* Finds the machine, and the target of its processes, if they are one, or else of its files. */
static int open_machine(struct machine *m)
{
	int err;

	m->vm = vm_named_or_ended(m->options->vm);
	if (!m->vm)
		return CLI_FAILED;
	err = target_list_load(&m->targets);
	if (err)
		return proc_explain(proc_root(), NULL, "control", err);
	m->processes = log_vm_target(&m->targets, m->vm);
	if (m->processes)
		return CLI_OK;
	vm_files(&m->files, m->vm, VM_UNPLUGGED | VM_DELETED);
	find_parts(m);
	if (m->nr_parts)
		return CLI_OK;
	cli_say_of(m->options->vm, "neither it nor one of its files is traced (iotracer add --vm)");
	return CLI_FAILED;
}

/* The path by which the target's file can be read, or NULL. */
static const char *path_of(const struct target *target)
{
	size_t i;

	for (i = 0; i < target->nr_paths; i++)
		if (!target->deleted[i])
			return target->paths[i];
	return NULL;
}

static int open_one(struct machine *m)
{
	const char *file = m->options->file;
	const struct target *target;
	struct part *part;
	int status = target_one(&m->targets, file, &target);

	if (status)
		return status;
	if (target_has_blocks(target->name)) {
		cli_say_of(file, "is no file: --guest needs an image of a disk that is traced");
		return CLI_FAILED;
	}
	if (!path_of(target)) {
		cli_say_of(file, "is not there any more, and its tables cannot be read");
		return CLI_FAILED;
	}
	part = part_of(m, target);
	part->name = path_of(target);
	part->format = m->options->image_format;
	return CLI_OK;
}

static void close_machine(struct machine *m)
{
	size_t i;

	for (i = 0; i < m->nr_parts; i++) {
		stream_close(&m->parts[i].stream);
		records_free(&m->parts[i].records);
		free(m->parts[i].drives);
		free(m->parts[i].file);
	}
	free(m->parts);
	free(m->pieces.at);
	guest_images_free(&m->images);
	target_list_free(&m->targets);
	if (m->vm)
		vm_files_free(&m->files);
	json_decref(m->vm);
}

/* --- their events ----------------------------------------------------------------- */

static int read_part(struct part *part)
{
	int status = stream_open(&part->stream, part->target->name, part->file);
	__u64 missing;
	int err;

	if (status)
		return status;
	err = stream_read(&part->stream, &part->records, SIZE_MAX);
	if (err)
		return proc_explain(part->file, part->target->name, "stream", err);
	missing = stream_missing(&part->stream);
	if (missing)
		cli_say_of(part->file, "%llu events were overwritten or lost before they were read",
			   (unsigned long long)missing);
	return CLI_OK;
}

static int read_all(struct machine *m)
{
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < m->nr_parts && !status; i++)
		status = read_part(&m->parts[i]);
	return status;
}

/*
 * The maps are read after the events: the tables tell of a write when it is done. One file of a
 * machine that has none does not hide the others: its parts are unsure.
 */
static int read_images(struct machine *m)
{
	struct guest_image *image;
	int status = CLI_OK;
	char *why;
	size_t i;

	for (i = 0; i < m->nr_parts; i++) {
		const struct part *part = &m->parts[i];

		image = guest_images_add(&m->images, part->file, xstrdup(part->drives));
		why = guest_image_read(image, part->name, part->format, 0);
		if (!why)
			continue;
		cli_say_of(part->file, "%s", why);
		free(why);
		status = CLI_FAILED;
	}
	for (i = 0; i < m->nr_parts; i++)
		m->parts[i].image = &m->images.at[i];
	return status;
}

static int by_time(const void *first, const void *second)
{
	const struct event *a = first, *b = second;

	if (a->io->time != b->io->time)
		return a->io->time < b->io->time ? -1 : 1;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	return a->io->seq < b->io->seq ? -1 : a->io->seq > b->io->seq;
}

static void sort_all(const struct machine *m, struct events *all)
{
	size_t i, j;

	for (i = 0; i < m->nr_parts; i++) {
		const struct part *part = &m->parts[i];

		all->at = xreallocarray(all->at, all->nr + part->records.nr + 1, sizeof(*all->at));
		for (j = 0; j < part->records.nr; j++)
			all->at[all->nr++] = (struct event){
				records_at(&part->stream, &part->records, j), part
			};
	}
	qsort(all->at, all->nr, sizeof(*all->at), by_time);
}

/* --- what an event is to the guest -------------------------------------------------- */

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
 * Whether a bio of direct I/O is all of its call. Each bio has the offset of the call, whichever
 * part it is. A thread makes one call at a time.
 */
static bool is_whole_call(const struct events *all, size_t i)
{
	const struct event *bio = &all->at[i];
	size_t first = i > LOOK_BACK ? i - LOOK_BACK : 0;

	while (i-- > first) {
		const struct iot_io *call = all->at[i].io;

		if (all->at[i].part == bio->part && call->level == IOT_LEVEL_VFS &&
		    call->tid == bio->io->tid && call->offset == bio->io->offset &&
		    call->op == bio->io->op)
			return call->flags & IOT_IO_DIRECT && call->requested == bio->io->requested;
	}
	return false;
}

/* Finds the parts of the event's range; none if it has none. */
static void find_pieces(struct machine *m, const struct events *all, size_t i)
{
	const struct event *event = &all->at[i];
	const struct iot_io *io = event->io;
	bool moves = io->op <= IOT_OP_WRITE && io->result >= 0;
	__u64 length = moves ? (__u64)io->result : io->requested;

	m->pieces.nr = 0;
	if (!event->part->image || !has_range(io) || !length)
		return;
	guest_find(event->part->image, io->time, io->offset, length, &m->pieces);
	if (io->level != IOT_LEVEL_BLK || !(io->flags & IOT_IO_DIRECT) || is_whole_call(all, i))
		return;
	m->pieces.nr = 1;
	m->pieces.at[0] = (struct guest_part){ .host = io->offset, .length = length, .kind = "unsure" };
}

/* Calls @put for each part, or once without one. */
static void for_pieces(struct machine *m, const struct events *all, size_t i,
		       void (*put)(struct machine *m, const struct event *event,
				   const struct guest_row *row, void *data), void *data)
{
	const struct event *event = &all->at[i];
	struct guest_row row = { .drives = event->part->drives, .file = event->part->file };

	find_pieces(m, all, i);
	do {
		row.part = m->pieces.nr ? &m->pieces.at[row.number] : NULL;
		put(m, event, &row, data);
	} while (++row.number < m->pieces.nr);
}

/* --- text: the line of a log, and the drives ---------------------------------------- */

static void print_comm(const struct iot_io *io)
{
	char *shown = text_show(io->comm, strnlen(io->comm, sizeof(io->comm)));

	log_machine_print(shown);
	free(shown);
}

static void print_line(struct machine *m, const struct event *event, const struct guest_row *row,
		       void *data)
{
	const __u64 t0 = *(__u64 *)data;
	const struct iot_access_name *access = iot_names_access(event->io->op);
	const struct iot_io *io = event->io;
	bool blk = io->level == IOT_LEVEL_BLK;
	__u64 since = io->time > t0 ? io->time - t0 : 0;
	__u64 bytes = io->op <= IOT_OP_WRITE ? (__u64)io->result : io->requested;

	printf("%llu.%09llu;%c;%llu;%llu;%s;", since / NS, since % NS, access ? access->letter : '?',
	       blk ? io->sector : io->offset, io->result < 0 ? 0 : bytes, blk ? "BLK" : "VFS");
	print_comm(io);
	printf(";%u", io->pid);
	if (m->vm) {
		putchar(';');
		log_machine_print(event->part->drives);
	}
	if (m->options->guest)
		log_machine_print_part(row->part);
	putchar('\n');
}

/* Seconds are from the first T0 of all. */
static void print_text(struct machine *m, const struct events *all)
{
	__u64 t0 = m->parts[0].stream.t0;
	size_t i;

	for (i = 1; i < m->nr_parts; i++)
		if (m->parts[i].stream.t0 < t0)
			t0 = m->parts[i].stream.t0;
	for (i = 0; i < all->nr && !ferror(stdout); i++)
		for_pieces(m, all, i, print_line, &t0);
}

/* --- csv, json ---------------------------------------------------------------------- */

static void print_row(struct machine *m, const struct event *event, const struct guest_row *row,
		      void *data)
{
	static char text[ROW_MAX];
	struct row_printer *printer = data;

	(void)m;
	printer->context = row;
	fwrite(text, 1, row_print(printer, text, event->io) - text, stdout);
}

/* Drive and file of a machine, and what is to be said of the guest. Returns how many. */
static size_t choose_columns(const struct machine *m, struct row_column *columns)
{
	size_t nr = 0;

	if (m->vm) {
		columns[nr++] = guest_drive_column;
		columns[nr++] = guest_file_column;
	}
	if (m->options->guest) {
		memcpy(&columns[nr], guest_columns, sizeof(guest_columns));
		nr += GUEST_COLUMNS;
	}
	return nr;
}

static void print_rows(struct machine *m, const struct events *all)
{
	static char header[ROW_MAX];
	struct row_column columns[2 + GUEST_COLUMNS];
	const struct wall_pair none = { 0 };
	struct wall_clock clock = { 0 };
	struct row_printer printer = {
		.event = m->parts[0].stream.event, .t0 = m->parts[0].stream.t0,
		.clock = m->vm ? &clock : NULL, .json = m->options->format == FORMAT_JSON,
		.added = columns, .nr_added = choose_columns(m, columns),
	};
	size_t i;

	wall_clock_init(&clock, wall_now(), none);
	row_printer_open_own(&printer, false);
	if (!printer.json && !m->options->no_header)
		fwrite(header, 1, row_header(&printer, header) - header, stdout);
	for (i = 0; i < all->nr && !ferror(stdout); i++)
		for_pieces(m, all, i, print_row, &printer);
	row_printer_close(&printer);
}

int log_machine(const struct log_machine *options)
{
	struct machine m = { .options = options };
	struct events all = { 0 };
	int status = options->vm ? open_machine(&m) : open_one(&m), images = CLI_OK;

	if (!status && m.processes) {
		status = log_vm(options, m.vm, m.processes);
		close_machine(&m);
		return status;
	}
	if (!status)
		status = read_all(&m);
	if (!status && options->guest)
		images = read_images(&m);
	if (!status && (!images || options->vm)) {
		sort_all(&m, &all);
		if (options->format == FORMAT_TEXT)
			print_text(&m, &all);
		else
			print_rows(&m, &all);
		guest_images_report(&m.images, false);
	}
	free(all.at);
	close_machine(&m);
	return cli_merge(status, images);
}
