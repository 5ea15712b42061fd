// SPDX-License-Identifier: GPL-2.0
/*
 * The processes of a VM are one target, so a file that QEMU opens later is traced from its first
 * event. The drive of a file is looked up when the log is printed, among the files that the VM was
 * seen to use (vm_seen.h). Events on any other file keep their rows, without a drive, unless the
 * file is certainly not an image.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "module/blocks.h"
#include "module/proc.h"
#include "module/target.h"
#include "trace/categories.h"
#include "trace/row.h"
#include "vm/guest_columns.h"
#include "vm/guest_export.h"
#include "vm/image.h"
#include "vm/log_row.h"
#include "vm/log_vm.h"
#include "vm/vm.h"
#include "vm/vm_find.h"
#include "vm/vm_object.h"
#include "vm/vm_seen.h"

#define NS 1000000000ULL
#define LOOK_BACK 4096	/* events between a call and its bio, at most */

/* A record that is printed. */
struct event {
	const struct iot_fs *fs;
	const struct vm_seen_file *seen;	/* NULL: not seen with the VM */
	char *drives;
	const char *file;			/* escaped; "": not known */
};

/* A file that was not seen with the VM. */
struct stranger {
	__u32 device;
	__u64 inode, path;
	bool wanted;
};

struct log {
	const struct log_options *options;
	const json_t *machine;
	struct blocks blocks;
	struct records records;
	struct vm_seen seen;
	struct stranger *strangers;
	size_t nr_strangers;
	struct event *events;
	size_t nr;
	struct guest_images images;	/* one for each of @seen, with --guest */
	struct guest_parts pieces;	/* of the event that is printed */
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
	const struct name *name = id ? names_find(&l->blocks.names, id) : NULL;

	return name ? name->text : NULL;
}

/* Programs and firmware are not images, though they may consist of whole sectors. */
static bool is_installed(const char *path)
{
	static const char *const places[] = { "/usr/", "/lib/", "/lib64/", "/etc/", "/bin/", "/opt/" };
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!strncmp(path, places[i], strlen(places[i])))
			return true;
	return false;
}

static bool has_format(const char *path)
{
	struct image_chain chain = { 0 };
	struct image *image = image_chain_add(&chain);
	bool has;

	image_open(image, IMAGE_OWN_ROOT, path, NULL);
	has = image->format && strcmp(image->format, "raw");
	image_chain_close(&chain);
	return has;
}

/* Whether a file may be an image; true if it is gone. @shown: its path, escaped. */
static bool may_be_image(const char *shown, __u64 inode)
{
	char *path = xstrdup(shown);
	struct stat st;
	bool may;

	text_unescape(path);
	if (stat(path, &st) || st.st_ino != inode || S_ISBLK(st.st_mode))
		may = true;
	else if (!S_ISREG(st.st_mode))
		may = false;
	else
		may = has_format(path) || (st.st_size && st.st_size % 512 == 0 && !is_installed(path));
	free(path);
	return may;
}

static bool is_wanted_stranger(struct log *l, const struct iot_fs *fs)
{
	const char *path = path_of(l, fs->path);
	struct stranger *stranger;
	size_t i;

	for (i = 0; i < l->nr_strangers; i++) {
		stranger = &l->strangers[i];
		if (stranger->inode == fs->inode && stranger->device == fs->device && stranger->path == fs->path)
			return stranger->wanted;
	}
	l->strangers = xreallocarray(l->strangers, l->nr_strangers + 1, sizeof(*l->strangers));
	stranger = &l->strangers[l->nr_strangers++];
	*stranger = (struct stranger){ fs->device, fs->inode, fs->path, !path || may_be_image(path, fs->inode) };
	return stranger->wanted;
}

/*
 * A bio without a file, such as a flush or a read of the filesystem's metadata, is printed without
 * a drive, because it may serve an image.
 */
static bool is_row(struct log *l, const struct event *event)
{
	const struct iot_fs *fs = event->fs;

	if (event->seen)
		return true;
	if (!fs->inode)
		return iot_fs_is_block(fs->op);
	return (fs->kind == IOT_KIND_FILE || fs->kind == IOT_KIND_DEVICE) && is_wanted_stranger(l, fs);
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

static void add_event(struct log *l, const struct iot_fs *fs)
{
	const char *path = path_of(l, fs->path);
	struct event event = { .fs = fs };

	event.seen = find_seen(l, fs, &event.drives);
	if (!is_row(l, &event))
		return;
	if (!event.drives)
		event.drives = xstrdup("");
	event.file = path ? path : event.seen ? event.seen->file : "";
	l->events[l->nr++] = event;
}

static int by_time(const void *first, const void *second)
{
	const struct iot_fs *a = ((const struct event *)first)->fs, *b = ((const struct event *)second)->fs;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static int read_events(struct log *l, const struct target *target)
{
	int status = blocks_open(&l->blocks, &category_fs, target->name, l->options->vm), err;
	__u64 missing;
	size_t i;

	if (status)
		return status;
	err = blocks_read(&l->blocks, &l->records, SIZE_MAX);
	if (err)
		return proc_explain(l->options->vm, target->name, "stream", err);
	missing = blocks_missing(&l->blocks, false);
	if (missing)
		cli_say_of(l->options->vm, "%llu events were overwritten or lost before they were read",
			   (unsigned long long)missing);
	l->events = xreallocarray(NULL, l->records.nr + 1, sizeof(*l->events));
	for (i = 0; i < l->records.nr; i++)
		add_event(l, records_at(&l->blocks.stream, &l->records, i));
	qsort(l->events, l->nr, sizeof(*l->events), by_time);
	return CLI_OK;
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

	for (i = 0; i < l->nr; i++)
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
	const struct iot_fs *bio = l->events[i].fs;
	size_t first = i > LOOK_BACK ? i - LOOK_BACK : 0;
	bool direct = false;

	if (bio->op != IOT_FS_BLOCK_READ && bio->op != IOT_FS_BLOCK_WRITE)
		return 0;
	while (i-- > first) {
		const struct iot_fs *call = l->events[i].fs;

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
	const struct iot_fs *fs = event->fs;
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
		       void (*put)(struct log *l, const struct event *event, const struct guest_row *row,
				   void *data), void *data)
{
	const struct event *event = &l->events[i];
	struct guest_row row = { .drives = event->drives, .file = event->file };

	find_pieces(l, i);
	do {
		row.part = l->pieces.nr ? &l->pieces.at[row.number] : NULL;
		put(l, event, &row, data);
	} while (++row.number < l->pieces.nr);
}

/* --- text: a line of the processes' log, with the drive ---------------------------------- */

static char letter_of(const struct iot_fs *fs)
{
	switch (fs->op) {
	case IOT_FS_READ: case IOT_FS_DIO_READ: case IOT_FS_BLOCK_READ:
		return 'R';
	case IOT_FS_WRITE: case IOT_FS_DIO_WRITE: case IOT_FS_BLOCK_WRITE:
		return 'W';
	case IOT_FS_BLOCK_FLUSH:
		return 'F';
	case IOT_FS_BLOCK_DISCARD: case IOT_FS_BLOCK_SECURE_ERASE:
		return 'D';
	case IOT_FS_BLOCK_WRITE_ZEROES:
		return 'Z';
	default:
		return '-';
	}
}

static void print_name(const struct log *l, __u64 id)
{
	const char *path = path_of(l, id);

	putchar(';');
	log_print(path ? path : id ? "?" : "");
}

static void print_line(struct log *l, const struct event *event, const struct guest_row *row, void *data)
{
	const struct iot_fs *fs = event->fs;
	const char *op = iot_names_op_name(IOT_EVENT_ID_FS, fs->op);
	__u64 t0 = l->blocks.stream.t0, since = fs->time > t0 ? fs->time - t0 : 0;
	bool block = iot_fs_is_block(fs->op);
	char letter = letter_of(fs), *comm = text_show(fs->comm, strnlen(fs->comm, sizeof(fs->comm)));
	__s64 bytes = letter == '-' ? (__s64)fs->requested : fs->result > 0 ? fs->result : 0;

	(void)data;
	printf("%llu.%09llu;%c;%llu;%llu;%s;", since / NS, since % NS, letter,
	       block ? fs->address / 512 : fs->offset, (__u64)bytes, block ? "BLK" : "VFS");
	log_print(comm);
	printf(";%u;", fs->pid);
	log_print(event->drives);
	printf(";%s", op ? op : "?");
	print_name(l, fs->path);
	print_name(l, fs->path2);
	printf(";%lld", fs->result);
	if (l->options->guest)
		log_print_part(row->part);
	putchar('\n');
	free(comm);
}

static void print_text(struct log *l)
{
	size_t i;

	for (i = 0; i < l->nr && !ferror(stdout); i++)
		for_pieces(l, i, print_line, NULL);
}

/* --- csv, json ------------------------------------------------------------------------------ */

static char text[ROW_MAX];

static void print_row(struct log *l, const struct event *event, const struct guest_row *row, void *data)
{
	struct row_printer *printer = data;

	(void)l;
	printer->context = row;
	fwrite(text, 1, row_print(printer, text, event->fs) - text, stdout);
}

static void print_rows(struct log *l)
{
	struct row_column columns[2 + GUEST_COLUMNS] = { guest_drive_column, guest_file_column };
	const struct wall_pair none = { 0 };
	struct wall_clock clock = { 0 };
	struct row_printer printer = {
		.event = l->blocks.stream.event, .clock = &clock, .paths = &l->blocks.names,
		.json = l->options->format == FORMAT_JSON, .added = columns,
		.nr_added = 2 + (l->options->guest ? GUEST_COLUMNS : 0),
	};
	size_t i;

	memcpy(&columns[2], guest_columns, sizeof(guest_columns));
	wall_clock_init(&clock, wall_now(), none);
	row_printer_open_own(&printer, category_fs.command_op != NO_OP);
	if (!printer.json && !l->options->no_header)
		fwrite(text, 1, row_header(&printer, text) - text, stdout);
	for (i = 0; i < l->nr && !ferror(stdout); i++)
		for_pieces(l, i, print_row, &printer);
	row_printer_close(&printer);
}

static void log_free(struct log *l)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		free(l->events[i].drives);
	free(l->events);
	free(l->strangers);
	free(l->pieces.at);
	guest_images_free(&l->images);
	vm_seen_free(&l->seen);
	records_free(&l->records);
	blocks_close(&l->blocks);
}

static int print_log(const struct log_options *options, const json_t *machine,
		     const struct target *target)
{
	struct log l = { .options = options, .machine = machine };
	int status, images = CLI_OK;

	vm_seen_load(&l.seen, machine);
	status = read_events(&l, target);
	if (!status && options->guest)
		images = read_images(&l);
	if (!status && options->format == FORMAT_TEXT)
		print_text(&l);
	else if (!status)
		print_rows(&l);
	guest_images_report(&l.images, false);
	log_free(&l);
	return cli_merge(status, images);
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
