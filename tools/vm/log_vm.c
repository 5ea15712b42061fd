// SPDX-License-Identifier: GPL-2.0
/*
 * The processes of a VM are one target, so a file that QEMU opens later is traced from its first
 * event. The drive of a file is looked up when the log is printed, among the files that the VM was
 * seen to use (vm_seen.h). Events on any other file keep their rows, without a drive, unless the
 * file is certainly not an image.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cli.h"
#include "base/follow.h"
#include "base/text.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "core/line.h"
#include "core/names.h"
#include "module/proc.h"
#include "module/stream.h"
#include "module/target.h"
#include "trace/categories.h"
#include "trace/row.h"
#include "vm/guest_columns.h"
#include "vm/guest_export.h"
#include "vm/log_row.h"
#include "vm/log_strangers.h"
#include "vm/log_vm.h"
#include "vm/vm.h"
#include "vm/vm_find.h"
#include "vm/vm_object.h"
#include "vm/vm_seen.h"

/* A record that is printed, or was. */
struct event {
	struct iot_fs fs;
	const struct vm_seen_file *seen;	/* until it is printed; NULL: not seen with the VM */
	char *drives;
};

struct log {
	const struct log_options *options;
	json_t *machine;
	struct stream stream;
	struct records records;		/* that are no events yet */
	struct vm_seen seen;
	__u64 looked;			/* CLOCK_MONOTONIC ns: when the VM was looked at last; 0: never */
	struct log_strangers strangers;	/* files that were not seen with the VM */
	struct event *events;
	size_t nr;
	size_t printed;			/* of @events: these stay for bio_length() */
	struct guest_images images;	/* one for each of @seen, with --guest */
	__u64 pending;			/* events on images that were forgotten, see guest.h */
	struct guest_parts pieces;	/* of the event that is printed */
	struct row_printer printer;
	struct row_column columns[2 + GUEST_COLUMNS];	/* that the printer has in addition */
	struct wall_clock clock;
};

/* The target of the VM's processes, or NULL. */
static const struct target *target_of(const struct target_list *list, const json_t *machine)
{
	bool ended = json_is_true(json_object_get(machine, "ended"));
	const struct target *target = target_of_process(list, vm_pid(machine), ended);

	/* the module may not have noticed the end yet */
	return target || !ended ? target : target_of_process(list, vm_pid(machine), false);
}

/* --- which events are rows ----------------------------------------------------------- */

static const char *path_of(const struct log *l, __u64 id)
{
	const struct name *name = id ? names_find(&l->stream.names, id) : NULL;

	return name ? name->text : NULL;
}

/*
 * A bio without a file, such as a flush or a read of the filesystem's metadata, is printed without
 * a drive, because it may serve an image.
 */
static bool is_row(struct log *l, const struct event *event)
{
	const struct iot_fs *fs = &event->fs;

	if (event->seen)
		return true;
	if (!fs->inode)
		return iot_fs_is_block(fs->op);
	return (fs->kind == IOT_KIND_FILE || fs->kind == IOT_KIND_DEVICE) && log_strangers_want(&l->strangers, fs, path_of(l, fs->path));
}

static const struct vm_seen_file *find_seen(const struct log *l, const struct iot_fs *fs, char **drives)
{
	struct vm_seen_event event = {
		.device = fs->device, .inode = fs->inode, .time = fs->time, .latency = fs->latency,
		.path = path_of(l, fs->path),
	};
	const struct vm_seen_file *seen = fs->inode ? vm_seen_find(&l->seen, &event, drives) : NULL;

	/* the other file of a copy */
	if (seen || !fs->inode2 || !fs->path2)
		return seen;
	event.device = fs->device2;
	event.inode = fs->inode2;
	event.path = path_of(l, fs->path2);
	return vm_seen_find(&l->seen, &event, drives);
}

static const char *file_of(const struct log *l, const struct event *event)
{
	const char *path = path_of(l, event->fs.path);

	return path ? path : event->seen ? event->seen->file : "";
}

static void add_event(struct log *l, const struct iot_fs *fs)
{
	struct event event = { .fs = *fs };

	event.seen = find_seen(l, fs, &event.drives);
	if (!is_row(l, &event))
		return;
	if (!event.drives)
		event.drives = xstrdup("");
	l->events[l->nr++] = event;
}

static int by_time(const void *first, const void *second)
{
	const struct iot_fs *a = first, *b = second;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* Makes events of the records that began before @limit. */
static void add_events(struct log *l, __u64 limit)
{
	struct iot_fs *records = (struct iot_fs *)l->records.data;
	size_t i;

	if (!l->records.nr)
		return;
	qsort(records, l->records.nr, sizeof(*records), by_time);
	l->events = xreallocarray(l->events, l->nr + l->records.nr, sizeof(*l->events));
	for (i = 0; i < l->records.nr && records[i].time < limit; i++)
		add_event(l, &records[i]);
	l->records.nr -= i;
	memmove(records, records + i, l->records.nr * sizeof(*records));
}

static void report_missing(const struct log *l)
{
	__u64 missing = stream_missing(&l->stream, l->options->follow);

	if (missing)
		cli_say_of(l->options->vm, "%llu events were overwritten or lost before they were read",
			   (unsigned long long)missing);
}

/* --- the meaning of an event to the guest ----------------------------------------------- */

static bool is_seen(const struct vm_seen_file *seen, const struct stat *st)
{
	return seen->inode == st->st_ino && seen->device == (major(st->st_dev) << 20 | minor(st->st_dev));
}

/* A path by which the file can be read now, or NULL. The caller frees it. */
static char *place_of(const struct vm_files *files, const struct vm_seen_file *seen)
{
	char *name = xstrdup(seen->file);
	struct stat st;
	size_t i;

	for (i = 0; i < files->nr; i++) {
		if (!stat(files->names[i], &st) && is_seen(seen, &st)) {
			free(name);
			return xstrdup(files->names[i]);
		}
	}
	text_unescape(name);
	if (!stat(name, &st) && is_seen(seen, &st))
		return name;
	free(name);
	return NULL;
}

static bool is_used(const struct log *l, const struct vm_seen_file *seen)
{
	size_t i;

	for (i = l->printed; i < l->nr; i++)
		if (l->events[i].seen == seen)
			return true;
	return false;
}

/* A file that is gone has no map: raw needs none, and the parts of other formats are "unsure". */
static int read_images(struct log *l)
{
	struct vm_files files;
	int status = CLI_OK;
	size_t i;

	vm_files(&files, l->machine, VM_UNPLUGGED | VM_DELETED);
	for (i = 0; i < l->seen.nr; i++) {
		const struct vm_seen_file *seen = &l->seen.at[i];
		struct guest_image *image = guest_images_add(&l->images, seen->file, xstrdup(seen->drives));
		char *place = is_used(l, seen) ? place_of(&files, seen) : NULL, *why;

		image->same = seen->format && !strcmp(seen->format, "raw");
		why = place ? guest_image_read(image, place, seen->format, 0) : NULL;
		if (!why && image->nr_maps)
			image->maps[0].live |= vm_writes(vm_pid(l->machine), image->device, image->inode);
		if (why) {
			cli_say_of(seen->file, "%s", why);
			status = CLI_FAILED;
		}
		free(why);
		free(place);
	}
	vm_files_free(&files);
	return status;
}

static bool is_direct(const struct iot_fs *fs)
{
	return fs->op == IOT_FS_DIO_READ || fs->op == IOT_FS_DIO_WRITE;
}

/*
 * The length of a bio, or 0 if its range is not known: a bio of direct I/O is recorded with the
 * offset of its call, whichever part of the call's range it covers. A thread makes one call at a
 * time.
 */
static __u64 bio_length(const struct log *l, size_t i)
{
	const struct iot_fs *bio = &l->events[i].fs;
	size_t first = i > LOG_LOOK_BACK ? i - LOG_LOOK_BACK : 0;
	bool direct = false;

	if (bio->op != IOT_FS_BLOCK_READ && bio->op != IOT_FS_BLOCK_WRITE)
		return 0;
	while (i-- > first) {
		const struct iot_fs *call = &l->events[i].fs;

		if (!is_direct(call) || call->inode != bio->inode || call->device != bio->device)
			continue;
		if (call->tid == bio->tid && call->offset == bio->offset)
			return call->requested == bio->requested ? bio->requested : 0;
		direct = true;
	}
	return direct ? 0 : bio->requested;
}

/* Finds the parts of the event's range; none if it has no range. */
static void find_pieces(struct log *l, size_t i)
{
	const struct event *event = &l->events[i];
	const struct iot_fs *fs = &event->fs;
	bool block = iot_fs_is_block(fs->op);
	__u64 length = block ? bio_length(l, i) : guest_export_length(fs);

	l->pieces.nr = 0;
	if (!l->options->guest || !event->seen || event->seen->inode != fs->inode)
		return;
	if (length) {
		guest_find(&l->images.at[event->seen - l->seen.at], fs->time, fs->offset, length, &l->pieces);
	} else if (block && fs->requested) {
		if (!l->pieces.room)
			l->pieces.at = xreallocarray(NULL, ++l->pieces.room, sizeof(*l->pieces.at));
		l->pieces.at[l->pieces.nr++] = (struct guest_part){
			.host = fs->offset, .length = fs->requested, .kind = "unsure",
		};
	}
}

/* Calls @put for each part, or once without a part if there is none. */
static void for_pieces(struct log *l, size_t i,
		       void (*put)(struct log *l, const struct event *event, const struct guest_row *row))
{
	const struct event *event = &l->events[i];
	struct guest_row row = { .drives = event->drives, .file = file_of(l, event) };

	find_pieces(l, i);
	do {
		row.part = l->pieces.nr ? &l->pieces.at[row.number] : NULL;
		put(l, event, &row);
	} while (++row.number < l->pieces.nr);
}

/* --- text: a line of the processes' log, with the drive ---------------------------------- */

static void print_name(const struct log *l, __u64 id)
{
	const char *path = path_of(l, id);

	putchar(';');
	log_print(path ? path : id ? "?" : "");
}

static void print_line(struct log *l, const struct event *event, const struct guest_row *row)
{
	const struct iot_fs *fs = &event->fs;
	const char *op = iot_names_op_name(IOT_EVENT_ID_FS, fs->op);
	const struct iot_line line = iot_line_of_fs(fs);
	__u64 t0 = l->stream.t0;

	log_print_line(&line, fs->time > t0 ? fs->time - t0 : 0, fs->comm, fs->pid);
	putchar(';');
	log_print(event->drives);
	printf(";%s", op ? op : "?");
	print_name(l, fs->path);
	print_name(l, fs->path2);
	printf(";%lld", fs->result);
	if (l->options->guest)
		log_print_part(row->part);
	putchar('\n');
}

/* --- csv, json ------------------------------------------------------------------------------ */

static char text[ROW_MAX];

static void print_row(struct log *l, const struct event *event, const struct guest_row *row)
{
	l->printer.context = row;
	fwrite(text, 1, row_print(&l->printer, text, &event->fs) - text, stdout);
}

static void open_printer(struct log *l)
{
	struct row_printer *printer = &l->printer;
	const struct wall_pair none = { 0 };

	l->columns[0] = guest_drive_column;
	l->columns[1] = guest_file_column;
	memcpy(&l->columns[2], guest_columns, sizeof(guest_columns));
	wall_clock_init(&l->clock, wall_now(), none);
	*printer = (struct row_printer){
		.event = l->stream.event, .clock = &l->clock, .paths = &l->stream.names,
		.json = l->options->format == FORMAT_JSON, .added = l->columns,
		.nr_added = 2 + (l->options->guest ? GUEST_COLUMNS : 0),
	};
	row_printer_open_own(printer, category_fs.command_op != NO_OP);
	if (l->options->format != FORMAT_TEXT && !printer->json && !l->options->no_header)
		fwrite(text, 1, row_header(printer, text) - text, stdout);
}

static void print_events(struct log *l)
{
	bool rows = l->options->format != FORMAT_TEXT;

	for (; l->printed < l->nr && !ferror(stdout); l->printed++)
		for_pieces(l, l->printed, rows ? print_row : print_line);
}

/* Prints all of it once. */
static int print_now(struct log *l)
{
	int images = CLI_OK, err = stream_read(&l->stream, &l->records, SIZE_MAX);

	if (err)
		return stream_explain(&l->stream, err);
	report_missing(l);
	vm_seen_load(&l->seen, l->machine);
	add_events(l, ~0ULL);
	if (l->options->guest)
		images = read_images(l);
	open_printer(l);
	print_events(l);
	guest_images_report(&l->images, false);
	return images;
}

/* --- as they happen ------------------------------------------------------------------- */

/* The first look has reported what is wrong; it need not be said each second. */
static void drop(void *data, const char *line)
{
	(void)data;
	(void)line;
}

static const struct say_sink silence = { drop, NULL };

/*
 * Looks which files the VM has now. What was seen of one that has ended stays. A VM that can no
 * longer be found stays as it was seen last.
 */
static void look_at_vm(struct log *l)
{
	const struct say_sink *before = say_to(&silence);
	char *pid = xasprintf("%d", vm_pid(l->machine));
	json_t *machine = l->looked ? vm_named_or_ended(pid) : NULL;
	__u64 now = wall_now().monotonic;

	if (machine) {
		json_decref(l->machine);
		l->machine = machine;
	}
	free(pid);
	say_to(before);
	vm_seen_free(&l->seen);
	vm_seen_load(&l->seen, l->machine);
	l->looked = now;
	/* a file that is none of the VM's may be one now */
	log_strangers_free(&l->strangers);
}

static void forget_images(struct log *l)
{
	size_t i;

	for (i = 0; i < l->images.nr; i++)
		l->pending += l->images.at[i].pending;
	guest_images_free(&l->images);
}

/* Reads the maps of the images that the next events are on. */
static void look_at_images(struct log *l)
{
	const struct say_sink *before = say_to(l->printed ? &silence : NULL);

	forget_images(l);
	read_images(l);
	say_to(before);
}

/* Prints what has waited for long enough; with @ending all. Bounds what waits. */
static void print_due(struct log *l, bool ending)
{
	bool many = l->records.nr > 2 * FOLLOW_BATCH;

	if (!l->records.nr || (!ending && !many && wall_now().monotonic < l->looked + LOG_LOOK_NS))
		return;
	look_at_vm(l);
	add_events(l, ending || many ? ~0ULL : l->looked - LOG_HOLD_NS);
	if (l->options->guest && l->printed < l->nr)
		look_at_images(l);
	print_events(l);
}

/* Forgets the events that no later one needs. */
static void drop_printed(struct log *l)
{
	size_t gone, i;

	if (l->printed <= 2 * LOG_LOOK_BACK)
		return;
	gone = l->printed - LOG_LOOK_BACK;
	for (i = 0; i < gone; i++)
		free(l->events[i].drives);
	l->nr -= gone;
	l->printed -= gone;
	memmove(l->events, l->events + gone, l->nr * sizeof(*l->events));
}

/* Its processes stay a target when it has ended. */
static bool has_ended(const struct log *l)
{
	return json_is_true(json_object_get(l->machine, "ended")) ||
	       (kill(vm_pid(l->machine), 0) && errno == ESRCH);
}

static void report_pending(struct log *l)
{
	forget_images(l);
	if (l->pending)
		cli_say_of(l->options->vm, "%llu events were pending when they were printed: QEMU had not yet written the tables for their ranges: run sync in the guest and print the log again",
			   (unsigned long long)l->pending);
}

static int follow(struct log *l)
{
	bool ending, ended, full;
	int err;

	open_printer(l);
	do {
		size_t before = l->records.nr;

		ended = has_ended(l);
		ending = ended || follow_interrupted();
		err = stream_read(&l->stream, &l->records, before + FOLLOW_BATCH);
		ending |= !!err;
		full = l->records.nr - before >= FOLLOW_BATCH;
		print_due(l, ending);
		drop_printed(l);
	} while (!ending && (full ? follow_flush() : follow_wait()));
	report_pending(l);
	if (follow_flush() && (ended || err == -EIO))
		cli_say_of(l->options->vm, ended ? "the VM has ended" : "target was removed");
	report_missing(l);
	return err && err != -EIO ? stream_explain(&l->stream, err) : CLI_OK;
}

static void log_free(struct log *l)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		free(l->events[i].drives);
	free(l->events);
	log_strangers_free(&l->strangers);
	free(l->pieces.at);
	guest_images_free(&l->images);
	vm_seen_free(&l->seen);
	records_free(&l->records);
	stream_close(&l->stream);
}

static int print_log(const struct log_options *options, json_t *machine,
		     const struct target *target)
{
	struct log l = { .options = options, .machine = json_incref(machine) };
	int status = stream_open(&l.stream, &category_fs, target->name, options->vm);

	if (!status) {
		status = options->follow ? follow(&l) : print_now(&l);
		row_printer_close(&l.printer);
	}
	json_decref(l.machine);
	log_free(&l);
	return status;
}

/* Its files may be targets, each with a log of its own. */
static int explain_untraced(const char *name, const struct target_list *targets, const json_t *machine)
{
	struct vm_files files;
	bool traced = false;
	size_t i;

	vm_files(&files, machine, VM_UNPLUGGED | VM_DELETED);
	for (i = 0; i < files.nr; i++)
		traced |= !!target_at(targets, files.names[i]);
	vm_files_free(&files);
	if (traced)
		cli_say_of(name, "only files of this VM are traced, each with a log of its own (iotracer list): add the VM (iotracer add --vm)");
	else
		cli_say_of(name, "this VM is not traced: add it (iotracer add --vm)");
	return CLI_FAILED;
}

int log_vm(const struct log_options *options)
{
	json_t *machine = vm_named_or_ended(options->vm);
	const struct target *target;
	struct target_list targets;
	int status, err;

	if (!machine)
		return CLI_FAILED;
	err = target_list_load(&targets);
	target = err ? NULL : target_of(&targets, machine);
	if (err)
		status = proc_explain(proc_root(), NULL, "control", err);
	else if (target)
		status = print_log(options, machine, target);
	else
		status = explain_untraced(options->vm, &targets, machine);
	target_list_free(&targets);
	json_decref(machine);
	return status;
}
