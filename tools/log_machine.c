// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "log_machine.h"
#include "proc.h"
#include "record.h"
#include "stream.h"
#include "target.h"
#include "text.h"
#include "vm.h"
#include "wall.h"
#include "core/names.h"

#define NS 1000000000ULL

/* A file or device of the machine that is a target. */
struct part {
	const struct target *target;
	char *drives;		/* names of the drives that it is of, with commas; "" if not known */
	char *file;		/* the path under which it is listed, as it is shown */
	struct stream stream;
	struct records records;
};

struct machine {
	const char *name;
	json_t *vm;
	struct vm_files files;
	struct target_list targets;
	struct part *parts;
	size_t nr_parts;
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
	m->parts = cli_grow(m->parts, m->nr_parts + 1, sizeof(*m->parts));
	part = &m->parts[m->nr_parts++];
	*part = (struct part){
		.target = target, .drives = cli_strdup(""),
		.file = text_show(target->paths[0], strlen(target->paths[0])), .stream.fd = -1,
	};
	return part;
}

/* Drives may share an image, as that behind their own ones. */
static void add_drive(struct part *part, const char *drive)
{
	const char *at = part->drives;
	size_t length = strlen(drive);
	char *all;

	if (!length)
		return;
	for (; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == length && !strncmp(at, drive, length))
			return;
	all = cli_printf("%s%s%s", part->drives, *part->drives ? "," : "", drive);
	free(part->drives);
	part->drives = all;
}

static void find_parts(struct machine *m)
{
	size_t i;

	for (i = 0; i < m->files.nr; i++) {
		const struct target *target = target_at(&m->targets, m->files.names[i]);

		if (target)
			add_drive(part_of(m, target), m->files.drives[i]);
	}
}

static int open_machine(struct machine *m)
{
	int err;

	m->vm = vm_named(m->name);
	if (!m->vm)
		return CLI_FAILED;
	vm_files(&m->files, m->vm);
	err = target_list_load(&m->targets);
	if (err)
		return proc_explain(proc_root(), NULL, "control", err);
	find_parts(m);
	if (m->nr_parts)
		return CLI_OK;
	cli_say_of(m->name, "none of its files is traced (iotracer add --vm)");
	return CLI_FAILED;
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

		all->at = cli_grow(all->at, all->nr + part->records.nr + 1, sizeof(*all->at));
		for (j = 0; j < part->records.nr; j++)
			all->at[all->nr++] = (struct event){
				records_at(&part->stream, &part->records, j), part
			};
	}
	qsort(all->at, all->nr, sizeof(*all->at), by_time);
}

/* --- text: the line of a log, and the drives ---------------------------------------- */

/* As in a log of the module: a semicolon ends a field. */
static void print_shown(const char *c)
{
	for (; *c; c++)
		if (*c == ';')
			fputs("\\073", stdout);
		else
			putchar(*c);
}

static void print_comm(const struct iot_io *io)
{
	char *shown = text_show(io->comm, strnlen(io->comm, sizeof(io->comm)));

	print_shown(shown);
	free(shown);
}

static void print_line(const struct event *event, __u64 t0)
{
	const struct iot_access_name *access = iot_names_access(event->io->op);
	const struct iot_io *io = event->io;
	bool blk = io->level == IOT_LEVEL_BLK;
	__u64 since = io->time > t0 ? io->time - t0 : 0;
	__u64 bytes = io->op <= IOT_OP_WRITE ? (__u64)io->result : io->requested;

	printf("%llu.%09llu;%c;%llu;%llu;%s;", since / NS, since % NS, access ? access->letter : '?',
	       blk ? io->sector : io->offset, io->result < 0 ? 0 : bytes, blk ? "BLK" : "VFS");
	print_comm(io);
	printf(";%u;", io->pid);
	print_shown(event->part->drives);
	putchar('\n');
}

/* Seconds are from the first T0 of all. */
static void print_text(const struct machine *m, const struct events *all)
{
	__u64 t0 = m->parts[0].stream.t0;
	size_t i;

	for (i = 1; i < m->nr_parts; i++)
		if (m->parts[i].stream.t0 < t0)
			t0 = m->parts[i].stream.t0;
	for (i = 0; i < all->nr && !ferror(stdout); i++)
		print_line(&all->at[i], t0);
}

/* --- csv, json ---------------------------------------------------------------------- */

static char *put_drives(struct record_printer *p, const struct record_column *c, char *out,
			const void *record)
{
	const struct event *event = p->context;

	(void)c;
	(void)record;
	return record_text(p, out, event->part->drives, strlen(event->part->drives), false);
}

static char *put_file(struct record_printer *p, const struct record_column *c, char *out,
		      const void *record)
{
	const struct event *event = p->context;

	(void)c;
	(void)record;
	return record_text(p, out, event->part->file, strlen(event->part->file), false);
}

static void print_rows(const struct machine *m, const struct events *all, bool json, bool no_header)
{
	static const struct record_column columns[] = {
		{ .name = "drive", .put = put_drives },
		{ .name = "file", .put = put_file },
	};
	static char row[RECORD_ROW_MAX];
	const struct wall_pair none = { 0 };
	struct wall_clock clock;
	struct record_printer printer = {
		.event = m->parts[0].stream.event, .clock = &clock, .json = json,
		.added = columns, .nr_added = sizeof(columns) / sizeof(columns[0]),
	};
	size_t i;

	wall_clock_init(&clock, wall_now(), none);
	record_printer_open_own(&printer, false);
	if (!json && !no_header)
		fwrite(row, 1, record_header(&printer, row) - row, stdout);
	for (i = 0; i < all->nr && !ferror(stdout); i++) {
		printer.context = &all->at[i];
		fwrite(row, 1, record_row(&printer, row, all->at[i].io) - row, stdout);
	}
	record_printer_close(&printer);
}

int log_machine(const char *name, enum cli_format format, bool no_header)
{
	struct machine m = { .name = name };
	struct events all = { 0 };
	int status = open_machine(&m);

	if (!status)
		status = read_all(&m);
	if (!status) {
		sort_all(&m, &all);
		if (format == FORMAT_TEXT)
			print_text(&m, &all);
		else
			print_rows(&m, &all, format == FORMAT_JSON, no_header);
	}
	free(all.at);
	close_machine(&m);
	return status;
}
