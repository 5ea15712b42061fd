// SPDX-License-Identifier: GPL-2.0
/* iotracer log: the events of one target or category, once or as they happen. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/absolute.h"
#include "base/cli.h"
#include "base/follow.h"
#include "base/text.h"
#include "base/wall.h"
#include "cmd/command.h"
#include "module/control.h"
#include "module/proc.h"
#include "module/stream.h"
#include "module/target.h"
#include "trace/categories.h"
#include "trace/fuse.h"
#include "trace/row.h"
#include "vm/log_image.h"
#include "vm/log_row.h"
#include "vm/log_vm.h"

#define LAST_BYTES (16 << 20)	/* most text that is read after the signal to end */

struct env {
	struct cli_words words;
	const char *file;
	const char *vm;			/* a virtual machine whose files are meant, or NULL */
	const struct category *category;	/* NULL: @file is a target */
	enum cli_format format;
	bool follow;
	bool sync;
	bool no_header;
	bool guest;			/* what each event is to the guest of the image */
	const char *image_format;	/* NULL: found out */
};

/* Whether reading ended without an error. While following, removed targets and modules are none. */
static bool ended(const struct env *env, int err)
{
	if (err && (!env->follow || err != -EIO))
		return false;
	if (err && follow_flush())
		cli_say_of(env->file, env->category ? "the module was unloaded" :
			   "target was removed");
	return true;
}

static int ended_text(const struct env *env, const struct target *target, int err)
{
	if (ended(env, err))
		return CLI_OK;
	return env->category ? control_explain(env->file, "log", err) :
			       proc_explain(env->file, target->name, "log", err);
}

/* Copies the module's own text, byte for byte. */
static int log_text(const struct env *env, const struct target *target)
{
	char buffer[65536];
	size_t last = 0;	/* bytes since the signal */
	int err = 0;
	int fd = proc_open(target->name, "log", O_RDONLY);

	if (fd < 0)
		return ended_text(env, target, fd);
	while (last < LAST_BYTES && !ferror(stdout)) {
		bool ending = !env->follow || follow_interrupted();
		ssize_t n = read(fd, buffer, sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		err = n < 0 ? -errno : 0;
		if (n > 0)
			fwrite(buffer, 1, n, stdout);
		else if (err || ending || !follow_wait())
			break;
		last += follow_interrupted() ? n : 0;
	}
	if (env->follow)
		follow_flush();
	close(fd);
	return ended_text(env, target, err);
}

static char row[ROW_MAX];

/* What records become. */
struct rows {
	struct row_printer printer;
	struct fuse_lines *lines;	/* NULL: rows of the printer */
	bool sync;			/* have each row on disk before the next */
};

/* False if nothing more can be written. */
static bool print_row(const struct rows *rows, const char *end)
{
	fwrite(row, 1, end - row, stdout);
	return rows->sync ? cli_sync() : !ferror(stdout);
}

/* Prints the lines that are ready. */
static bool print_lines(struct rows *rows)
{
	char *end;

	do {
		end = fuse_next(rows->lines, row);
	} while (end != row && print_row(rows, end));
	return end == row;
}

static bool print_record(struct rows *rows, const void *record)
{
	if (!rows->lines)
		return print_row(rows, row_print(&rows->printer, row, record));
	fuse_take(rows->lines, record);
	return print_lines(rows);
}

/* Prints the lines that have waited for long enough, or all. */
static void settle_lines(struct rows *rows, bool all)
{
	if (!rows->lines)
		return;
	fuse_settle(rows->lines, all);
	print_lines(rows);
}

static void print_records(const struct stream *s, struct rows *rows, struct records *r)
{
	size_t i;

	stream_sort(s, r);
	for (i = 0; i < r->nr && print_record(rows, records_at(s, r, i)); i++)
		;
	settle_lines(rows, false);
	r->nr = 0;
}

/* Returns 0 or a negative errno from reading. */
static int copy_records(const struct env *env, struct stream *s, struct rows *rows)
{
	struct records r = { 0 };
	bool full, ending;
	int err;

	do {
		ending = !env->follow || follow_interrupted();
		err = stream_read(s, &r, env->follow ? FOLLOW_BATCH : SIZE_MAX);
		full = r.nr >= FOLLOW_BATCH;
		print_records(s, rows, &r);
		if (err || ending)
			break;
	} while (full ? follow_flush() : follow_wait());
	settle_lines(rows, true);
	if (env->follow)
		follow_flush();
	records_free(&r);
	return err;
}

static void report_missing(const struct env *env, __u64 missing)
{
	if (missing)
		cli_say_of(env->file, "%llu events were overwritten or lost before they were read",
			   (unsigned long long)missing);
}

/* The printer is open; it is closed here. */
static int print_all(const struct env *env, struct stream *s, struct rows *rows)
{
	int err;

	rows->sync = env->sync;
	if (env->format == FORMAT_CSV && !env->no_header)
		fwrite(row, 1, row_header(&rows->printer, row) - row, stdout);
	err = copy_records(env, s, rows);
	row_printer_close(&rows->printer);
	return err;
}

static void add_path(struct fuse_lines *lines, const char *path)
{
	fuse_add_directory(lines, text_show(path, strlen(path)));
}

/*
 * Adds what @path leads to without symbolic links, if that is the target: as it is seen here and,
 * if that differs, as records have it.
 */
static void add_resolved(struct fuse_lines *lines, const struct target_list *list,
			 const struct target *target, const char *path)
{
	char *resolved = target_at(list, path) == target ? realpath(path, NULL) : NULL;
	char *absolute = resolved ? absolute_path(resolved) : NULL;

	if (absolute)
		add_path(lines, absolute);
	if (resolved && (!absolute || strcmp(absolute, resolved)))
		add_path(lines, resolved);
	free(absolute);
	free(resolved);
}

/* Reports that no path was below the directory. An error if that may be for a chroot. */
static int explain_elsewhere(const struct env *env, const struct fuse_lines *lines,
			     const struct target *target)
{
	char *absolute;
	int err;

	if (!lines->whole || lines->inside || !lines->elsewhere)
		return CLI_OK;
	absolute = absolute_path(target->nr_paths ? target->paths[0] : env->file);
	err = errno;
	if (absolute) {
		cli_say_of(env->file, "no path is below it: all were reached through another mount, or by names that it does not have now");
		free(absolute);
		return CLI_OK;
	}
	cli_say_of(env->file, "no path is below it, and its path outside of a chroot cannot be found: %s (run iotracer outside, or with CAP_SYS_ADMIN and CAP_SYS_CHROOT)",
		   strerror(err));
	return CLI_FAILED;
}

/*
 * Adds the paths under which records may have the directory, the present ones first: those from
 * before it was renamed have its old path. @target NULL: the lines are of all directories, with
 * absolute paths.
 */
static struct fuse_lines *open_lines(struct fuse_lines *lines, const struct env *env,
				     const struct target_list *list, const struct target *target)
{
	size_t i;

	if (!target) {
		add_path(lines, "/");
		return lines;
	}
	lines->whole = true;
	add_resolved(lines, list, target, env->file);
	for (i = 0; i < target->nr_paths; i++)
		add_resolved(lines, list, target, target->paths[i]);
	for (i = 0; i < target->nr_paths; i++)
		add_path(lines, target->paths[i]);
	return lines;
}

/*
 * Prints rows, or lines. Those of a directory or processes are as those of category fs, with the
 * columns of iotracer export.
 */
static int print_stream(const struct env *env, struct stream *s, const struct target_list *list,
			const struct target *target)
{
	const struct wall_pair none = { 0 };
	struct wall_clock clock = { 0 };
	struct fuse_lines lines = { .clock = &clock, .paths = &s->names };
	struct rows rows = { .printer = {
		.event = s->event, .t0 = s->t0, .clock = s->category ? &clock : NULL,
		.paths = s->category ? &s->names : NULL, .json = env->format == FORMAT_JSON,
	} };
	int status, err;

	wall_clock_init(&clock, wall_now(), none);
	if (env->format == FORMAT_FUSE)
		rows.lines = open_lines(&lines, env, list, target && !target->tasks ? target : NULL);
	row_printer_open_own(&rows.printer, s->category && s->category->command_op != NO_OP);
	err = print_all(env, s, &rows);
	status = ended(env, err) ? CLI_OK : stream_explain(s, err);
	report_missing(env, stream_missing(s, env->follow));
	fuse_report(&lines, env->file);
	status = cli_merge(status, explain_elsewhere(env, &lines, target));
	fuse_free(&lines);
	return status;
}

/* @target NULL: of the category. */
static int log_stream(const struct env *env, const struct target_list *list,
		      const struct target *target)
{
	struct stream s;
	int status = stream_open(&s, env->category, target ? target->name : NULL, env->file);

	if (!status && !s.category && env->format == FORMAT_FUSE) {
		cli_say_of(env->file, "is no directory, as --format=fuse needs: add the directory it is in (iotracer add DIRECTORY)");
		status = CLI_FAILED;
	}
	if (!status)
		status = print_stream(env, &s, list, target);
	stream_close(&s);
	return status;
}

static int log_category(const struct env *env)
{
	const struct target named = { .name = (char *)env->category->name };

	if (env->format == FORMAT_TEXT)
		return log_text(env, &named);
	if (env->format != FORMAT_FUSE || env->category == &category_fs)
		return log_stream(env, NULL, NULL);
	cli_say("%s: --format=fuse is for directories and processes, and of categories for fs", env->file);
	return CLI_USAGE;
}

static int log_target(const struct env *env, const struct target_list *list,
		      const struct target *target)
{
	if (env->format == FORMAT_TEXT)
		return log_text(env, target);
	return log_stream(env, list, target);
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	(void)given;
	env->file = env->words.nr ? env->words.at[0] : NULL;
	if (!env->file && !env->vm)
		cli_usage(state, "say which file");
	if (env->vm && env->file)
		cli_usage(state, "--vm goes without FILE");
	if (env->vm && (env->sync || env->format == FORMAT_FUSE))
		cli_usage(state, "--vm goes without --sync and --format=fuse");
	if (env->guest && (env->sync || env->format == FORMAT_FUSE))
		cli_usage(state, "--guest goes without --sync and --format=fuse");
	if (env->image_format && (!env->guest || env->vm))
		cli_usage(state, "--image-format goes with --guest and FILE");
	if (env->sync && env->format == FORMAT_TEXT)
		cli_usage(state, "--sync goes with --format=csv, json or fuse");
}

static int log_of_guest(const struct env *env)
{
	const struct log_options o = {
		.vm = env->vm, .file = env->file, .image_format = env->image_format,
		.format = env->format, .no_header = env->no_header, .guest = env->guest,
		.follow = env->follow,
	};

	if (!env->vm && category_find(env->file, strlen(env->file))) {
		cli_say("%s: --guest is for files, and for a machine (--vm); of a trace: iotracer export --guest",
			env->file);
		return CLI_USAGE;
	}
	return env->vm ? log_vm(&o) : log_image(&o);
}

static int run(int argc, char **argv)
{
	const struct target *target;
	struct env env = { 0 };
	struct target_list list;
	int status;

	command_parse(&command_log, argc, argv, &env);
	if (env.follow)
		follow_prepare();
	if (env.vm || env.guest)
		return log_of_guest(&env);
	env.category = category_find(env.file, strlen(env.file));
	if (env.category)
		return log_category(&env);
	status = target_one(&list, env.file, &target);
	if (!status)
		status = log_target(&env, &list, target);
	target_list_free(&list);
	return status;
}

static const struct cli_option options[] = {
	{ "format", 'f', "FORMAT",
	  "output format: text (default), csv, json, or fuse (directories, processes and category fs), the lines of IOTraceCollector",
	  TO_FORMAT(struct env, format), "text csv json fuse" },
	{ "follow", 'F', NULL, "print new events as they happen", TO_FLAG(struct env, follow) },
	{ "no-header", 'H', NULL, "csv: omit the line of column names",
	  TO_FLAG(struct env, no_header) },
	{ "vm", 0, "NAME|PID",
	  "print what the QEMU process of this virtual machine did to its images, with the drive in each row",
	  TO_TEXT(struct env, vm), .values = VALUES_MACHINE },
	{ "guest", 0, NULL,
	  "for a disk image, print a row for each part of an event, with its location on the guest's disk",
	  TO_FLAG(struct env, guest) },
	{ "image-format", 0, "FORMAT",
	  "with --guest: format of the image, raw or qcow2 (default: detected from its first bytes, which the guest of a raw image can write)",
	  TO_TEXT(struct env, image_format), "raw qcow2" },
	{ "sync", 0, NULL, "csv, json, fuse: write each line to the disk before the next one",
	  TO_FLAG(struct env, sync) },
	{ 0 }
};

const struct command command_log = {
	.name = "log",
	.summary = "print the recorded events, as text, CSV or JSON",
	.synopsis = "FILE|CATEGORY\n--vm=NAME|PID",
	.help =
		"Print the recorded events of a file, a directory, processes or a category, in order of time.\v"
		"FILE is a path, the name of a target, or the text that list shows for processes; CATEGORY is"
		" one of {categories}. For a file with such a name, write ./fs.\n"
		"text: <seconds since T0>;<R|W>;<address>;<bytes>;<VFS|BLK>;<command>;<pid>,"
		" where the address is a byte of the file (VFS) or a 512-byte sector of the"
		" device (BLK). With add --all-operations there are letters other than R and W, see iotracer(4)."
		" For a directory or processes, ;<operation>;<path>;<second path>;<result> follow, and"
		" the second field is - for operations that neither read nor write.\n"
		"csv, json: since_t0_s, the seconds since T0, then all fields (see iotracer format --columns);"
		" JSON has one object per line. In a name, \\ooo stands for a control"
		" character, a backslash or a byte that is not UTF-8.\n"
		"With --vm, each line also has the name of the drive before the operation, and csv and json"
		" have the columns drive and file.\n"
		"With --guest, each line ends with the offset and length of a part in the file, its kind (see"
		" iotracer map --host), and its offset and length on the guest's disk; - if there is none.\n"
		"For a category, text is the module's own log. For categories, directories and processes, csv"
		" and json have the columns of iotracer export.\n"
		"The number of events that were overwritten or lost before they could be read is printed on"
		" standard error. --follow ends with exit status 0 on Ctrl-C, when its output has no reader"
		" any more, when the target is removed, and with --vm when the machine has ended.",
	.options = options,
	.operands = { 0, 1, NULL, "one file at a time",
		      VALUES_CATEGORY | VALUES_TARGET | VALUES_FILE },
	.words = offsetof(struct env, words),
	.check = check,
	.filter = category_help,
	.run = run,
};
