// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/place.h"
#include "base/progress.h"
#include "base/xalloc.h"
#include "record/receipt.h"
#include "record/recording.h"
#include "record/report.h"
#include "record/session.h"
#include "record/store.h"
#include "record/waiting.h"
#include "trace/categories.h"
#include "trace/compress.h"
#include "trace/trace.h"

#define IDLE_MS 100	/* longest wait for events, before other things are checked */
#define LEVEL 1	/* level of zstd: higher ones gain little on such records */
#define TOP_PAD (1024 * 1024)	/* bytes by which the heap grows: it holds schema and metadata */
#define PAUSE_MS 10	/* between two reads, so that there is something to read */
#define LOOK_NS 100000000ULL	/* between two checks of the data still to be written */
#define LOOK_SHARE 10	/* checks take at most 1/LOOK_SHARE of the time */

/*
 * The command for a category's filter: its conditions, and the tree of the recorded command or VM.
 */
static char *filter_of(const struct session *s, size_t i)
{
	char *given = filters_of(&s->options->filters, s->options->categories[i]);
	pid_t tree = s->options->vm ? s->options->vm_pid : s->workload.pid;
	char *command;

	if (!tree)
		command = xasprintf("filter %s", given ? given : "none");
	else
		command = xasprintf("filter %s%stree=%d", given ? given : "", given ? " " : "",
				    tree);
	free(given);
	return command;
}

/* Events per CPU that fit into the memory of --buffer; at least 1. */
static __u64 events_of(const struct session *s, size_t i)
{
	size_t size = category_event(s->options->categories[i])->size;
	__u64 cpus = control_stat(&s->controls[i], "cpus");
	__u64 events = s->options->buffer / (cpus ? cpus : 1) / size;

	return events ? events : 1;
}

static void note_counters(struct session *s, size_t i)
{
	char *stats = control_stats(&s->controls[i]);

	s->missed[i] = control_number(stats, "missed");
	s->unattributed[i] = control_number(stats, "unattributed");
	s->paths_missed = control_number(stats, "paths_missed");
	free(stats);
}

static int configure(struct session *s, size_t i)
{
	struct control *c = &s->controls[i];
	char *sample = xasprintf("sample %llu", (unsigned long long)s->options->sample);
	char *size = NULL;
	char *filter = filter_of(s, i);
	int status = control_command(c, filter);

	if (!status)
		status = control_command(c, sample);
	if (!status)
		status = control_command(c, "mode overwrite");
	if (!status && s->options->buffer) {
		size = xasprintf("size %llu", (unsigned long long)events_of(s, i));
		status = control_command(c, size);
	}
	if (!status)
		status = control_command(c, "reset");
	note_counters(s, i);
	free(sample);
	free(size);
	free(filter);
	return status;
}

static int take_categories(struct session *s)
{
	int status = CLI_OK;
	size_t i;

	for (i = 0; !status && i < s->options->nr_categories; i++) {
		status = control_take(&s->controls[i], s->options->categories[i]->name);
		s->nr_controls = i + 1;
	}
	for (i = 0; !status && i < s->nr_controls; i++)
		status = configure(s, i);
	return status;
}

/* Makes the directory of a trace, for the recorder. */
static int make_directory(struct session *s, const char *path)
{
	char *name;
	int parent = place_parent(path, &name), fd;

	if (parent < 0)
		return CLI_FAILED;
	fd = place_make(parent, name);
	close(parent);
	free(name);
	if (fd < 0) {
		cli_say_of(path, "cannot be made: %s%s", strerror(-fd),
			   fd == -EEXIST ? " (each trace needs a new directory)" : "");
		return CLI_FAILED;
	}
	s->recorder.dir = fd;
	store_lock(fd);
	return CLI_OK;
}

static bool rotates(const struct session *s)
{
	return s->options->rotate_bytes || s->options->rotate_seconds > 0;
}

static int make_first(struct session *s)
{
	if (rotates(s) && segments_open(&s->segments, s->options->directory))
		return CLI_FAILED;
	s->directory = rotates(s) ? segments_next(&s->segments) :
				    xstrdup(s->options->directory);
	if (make_directory(s, s->directory))
		return CLI_FAILED;
	s->dir = s->recorder.dir;
	segments_keep(&s->segments, s->options->keep);
	return CLI_OK;
}

/* The counts of this trace begin at the present values of the module's counters. */
static void count_from_now(struct session *s)
{
	size_t i;

	for (i = 0; i < s->nr_controls; i++)
		note_counters(s, i);
}

static bool is_full(const struct session *s)
{
	const struct session_options *o = s->options;

	return (o->rotate_bytes && recorder_bytes(&s->recorder) >= o->rotate_bytes) ||
	       (o->rotate_seconds > 0 &&
		(double)(wall_now().monotonic - s->begin.monotonic) / 1e9 >= o->rotate_seconds);
}

/* Ends the trace. The directory of the next one exists already. */
static void end_segment(void *data)
{
	struct session *s = data;
	char *path;

	s->end = wall_now();
	progress_end();
	report_segment(s);
	s->lossy |= report_is_lossy(s);
	path = segments_peek(&s->segments);
	if (s->options->keeper)
		s->options->keeper->begin(s->options->keeper, s->dir, s->directory, s->recorder.dir, path);
	free(path);
	close(s->dir);
	s->dir = s->recorder.dir;
	segments_ended(&s->segments, s->directory);
	free(s->directory);
	s->directory = segments_next(&s->segments);
	s->begin = s->end;
	json_decref(s->metadata);
	s->metadata = NULL;
	count_from_now(s);
}

/* Continues in another trace. False if recording has to end. */
static bool rotate(struct session *s)
{
	const unsigned int last = s->segments.last;
	char *path = segments_peek(&s->segments);
	bool good = !make_directory(s, path) && recorder_next(&s->recorder, end_segment, s);

	if (s->segments.last != last) {
		good = !report_begin(s) && good;
		segments_keep(&s->segments, s->options->keep);
	} else if (s->recorder.dir != s->dir) {
		/* this trace ends with the error, and the next one has no events */
		if (s->recorder.dir >= 0)
			close(s->recorder.dir);
		s->recorder.dir = s->dir;
		store_remove(path);
	}
	if (!good && !s->recorder.error)
		s->recorder.error = xasprintf("%s: the next trace could not be started", path);
	free(path);
	return good;
}

/*
 * Only events that end in the window are recorded, but all of a category that lists at its start
 * what was there before. The module always reports when it reset a
 * category. A directory that imitates the module's (IOTRACER_PROC) does not, and has events of any
 * time.
 */
static void set_window(struct session *s)
{
	size_t i;

	for (i = 0; i < s->nr_controls; i++)
		if (!s->options->categories[i]->lists && control_stat(&s->controls[i], "t0_ns"))
			s->recorder.streams[i].begin = s->begin.monotonic;
}

/* Records for some time. */
static void drain_for(struct session *s, __u64 ns)
{
	const __u64 until = wall_now().monotonic + ns;
	bool much;

	while (recorder_drain(&s->recorder, false, &much) && wall_now().monotonic < until)
		if (!much)
			poll(NULL, 0, 1);
}

static int start_tracing(struct session *s)
{
	/* If iotracer is killed, its streams are closed, and the module stops the categories. */
	int status = control_command_all(s->controls, s->nr_controls, "start while-read");

	/*
	 * The window begins when all categories have all of their hooks. Starting a category takes
	 * up to two seconds, and it records during that time.
	 */
	s->begin = wall_now();
	s->started = s->begin;
	set_window(s);
	if (!status && receipt_is_of_machine(&s->receipt)) {
		/* events read before are in the kernel's first counts, so they are not summed */
		s->receipt.from = s->begin.monotonic;
		s->receipt.begin = ~0ULL;
		drain_for(s, RECEIPT_EDGE_NS);
		receipt_begin(&s->receipt);
	}
	return status;
}

/* Why nothing can be compared with the kernel's counts, or NULL. */
static const char *why_unknown(struct session *s)
{
	if (s->recorder.error || control_gone(&s->controls[0]))
		return "recording ended with an error";
	if (!writer_works(&s->recorder.writer))
		return "recording ended at the limit of --size";
	if (!s->receipt.of_command)
		return NULL;
	if (!s->workload.ended || workload_left(&s->workload))
		return "the command, or a process that it started, was still running";
	return s->workload.io_unknown ? "/proc/PID/io of a process could not be read" : NULL;
}

/* Reads the kernel's counters while all categories still record. */
static void end_receipt(struct session *s)
{
	s->receipt.unknown = why_unknown(s);
	if (s->receipt.unknown || !receipt_is_of_machine(&s->receipt))
		return;
	s->receipt.end = wall_now().monotonic;
	drain_for(s, RECEIPT_EDGE_NS);
	receipt_end(&s->receipt);
	drain_for(s, RECEIPT_EDGE_NS);
}

/*
 * The calls that have not ended are listed before the window ends: so each is listed, or has a
 * record, if it ends in between perhaps both.
 */
static void note_waiting(struct session *s)
{
	const struct anonymizer *a = s->options->anonymize ? &s->anonymizer : NULL;
	size_t i;

	for (i = 0; i < s->nr_controls; i++)
		waiting_read(s->options->categories[i]->name, a, WAITING_MAX, &s->waiting[i]);
}

/* The window ends before the categories are stopped, because they stop one after another. */
static void end_window(struct session *s)
{
	size_t i;

	s->end = wall_now();
	for (i = 0; i < s->recorder.nr_streams; i++)
		s->recorder.streams[i].end = s->end.monotonic;
}

/* Passes a signal on, unless the terminal sent it to the whole process group of the command. */
static void pass_on(const struct session *s, const struct signalfd_siginfo *info)
{
	if (info->ssi_code != SI_KERNEL || getpgid(s->workload.pid) != getpgrp())
		kill(s->workload.pid, info->ssi_signo);
}

static bool has_ended(struct session *s)
{
	return workload_ended(&s->workload, false);
}

/* Gets the number of bytes that are not written yet from a category that can report it. */
static void look_at_dirty(struct session *s)
{
	__u64 before = wall_now().monotonic, pause;
	size_t i;

	s->drains = false;
	for (i = 0; i < s->nr_controls && !s->drains; i++)
		s->drains = control_dirty(&s->controls[i], &s->dirty, &s->unknown);
	s->look_again = wall_now().monotonic;
	pause = (s->look_again - before) * LOOK_SHARE;
	s->look_again += pause > LOOK_NS ? pause : LOOK_NS;
}

/* Whether all data of the ended command is on its device, or the time of --drain has passed. */
static bool is_drained(struct session *s)
{
	__u64 now = wall_now().monotonic;

	if (!s->ended)
		s->ended = now;
	if (now < s->look_again)
		return false;
	look_at_dirty(s);
	return !s->drains || !(s->dirty || s->unknown) ||
	       (double)(now - s->ended) / 1e9 >= s->options->drain;
}

static bool machine_has_ended(const struct session *s)
{
	struct pollfd machine = { .fd = s->machine, .events = POLLIN };

	return poll(&machine, 1, 0) > 0;
}

/* Whether there is nothing more to record for the command or VM. */
static bool is_over(struct session *s)
{
	if (s->machine >= 0)
		return machine_has_ended(s) && is_drained(s);
	if (!has_ended(s) || (s->options->wait && workload_left(&s->workload)))
		return false;
	return is_drained(s);
}

/*
 * The first SIGINT, SIGTERM or SIGHUP goes to the command. A second one, or one after the
 * end of the command, or without a command, ends recording at once.
 */
static bool asked_to_end(struct session *s)
{
	struct signalfd_siginfo info;
	bool asked = false;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		if (has_ended(s)) {
			asked = true;
			continue;
		}
		asked |= !s->workload.pid || s->signalled;
		s->left = s->signalled;
		if (s->workload.pid && !s->signalled)
			pass_on(s, &info);
		s->signalled = true;
	}
	return asked;
}

/* Milliseconds of --time that are left, at most @most. */
static int time_left(const struct session *s, int most)
{
	double passed = (double)(wall_now().monotonic - s->started.monotonic) / 1e9;
	double left = (s->options->seconds - passed) * 1000;

	if (!s->options->seconds || left > most)
		return most;
	return left > 0 ? left + 1 : 0;
}

static void wait_for(const struct session *s, bool events, int ms)
{
	struct pollfd fds[SESSION_CATEGORIES + 2];
	nfds_t nr = 0;
	size_t i;

	fds[nr++] = (struct pollfd){ .fd = s->signals, .events = POLLIN };
	fds[nr++] = (struct pollfd){ .fd = s->machine, .events = POLLIN };
	for (i = 0; events && i < s->recorder.nr_streams; i++)
		fds[nr++] = (struct pollfd){ .fd = s->recorder.streams[i].fd,
					     .events = POLLIN };
	poll(fds, nr, ms);
}

/* Waits for a command that outlives the recording. The first signal is still passed on. */
static void wait_for_command(struct session *s)
{
	while (!s->left && !asked_to_end(s) && !has_ended(s))
		wait_for(s, false, -1);
}

/* Starts the command when the first snapshots are made, or at once if a signal came for it. */
static void let_go(struct session *s, bool now)
{
	bool ready = !s->options->snapshots || atomic_load(&s->snapshotter.ready);

	if (s->workload.pid && s->workload.waits && (ready || s->signalled || now))
		workload_go(&s->workload);
}

/* Records until recording ends for any reason. */
static void record(struct session *s)
{
	bool much = false;

	while (recorder_drain(&s->recorder, false, &much)) {
		let_go(s, false);
		if (asked_to_end(s) || is_over(s) || !time_left(s, 1))
			return;
		if (is_full(s) && !rotate(s))
			return;
		report_progress(s);
		if (much)
			continue;
		wait_for(s, false, time_left(s, PAUSE_MS));
		wait_for(s, true, time_left(s, IDLE_MS));
	}
}

/* Whether a signal came. While a trace is compressed, it ends only the compression. */
static bool interrupted(void *data)
{
	struct signalfd_siginfo info;
	struct session *s = data;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			return true;
	return false;
}

/*
 * Compresses after recording, when the recorded processes no longer need the CPU. A file that
 * cannot be compressed stays as it is.
 */
static void compress(struct session *s)
{
	struct recorder *r = &s->recorder;
	__u64 bytes, frames;
	size_t i;
	int err = 0;

	for (i = 0; i <= r->nr_streams; i++) {
		struct recorder_stream *stream = i ? &r->streams[i - 1] : &r->paths;
		struct writer_file *f = &stream->file;

		err = trace_compress(s->directory, r->dir, f->name, LEVEL,
				     &stream->header, interrupted, s, &bytes, &frames);
		if (err)
			break;
		f->bytes = bytes;
		f->file.frames = frames;
	}
	s->compressed = !err;
	if (err)
		cli_say_of(s->directory, "is not compressed: %s", strerror(-err));
}

/* Waits for the last snapshots. Any signal cancels them. */
static void finish_snapshots(struct session *s)
{
	while (s->snapshotter.running && !atomic_load(&s->snapshotter.done)) {
		if (interrupted(s))
			snapshotter_cancel(&s->snapshotter);
		wait_for(s, false, IDLE_MS);
	}
	snapshotter_join(&s->snapshotter);
}

static int finish(struct session *s)
{
	struct keeper *keeper = s->options->keeper;
	bool much;

	end_receipt(s);
	note_waiting(s);
	end_window(s);
	if (!control_gone(&s->controls[0]))
		control_command_all(s->controls, s->nr_controls, "stop");
	if (s->recorder.error)
		recorder_rescue(&s->recorder);
	else if (writer_works(&s->recorder.writer))
		recorder_drain(&s->recorder, true, &much);
	recorder_finish(&s->recorder);
	progress_end();
	/* an error may mean that the disk is full, so no snapshots are added */
	if (s->recorder.error)
		snapshotter_cancel(&s->snapshotter);
	else
		snapshotter_finish(&s->snapshotter);
	if (keeper)
		keeper->join(keeper);
	if (keeper && !s->recorder.error)
		keeper->take(keeper, s->dir, s->directory);
	if (s->options->compress == COMPRESS_END && !s->recorder.error && !s->options->bytes &&
	    !rotates(s))
		compress(s);
	finish_snapshots(s);
	return report_end(s);
}

/* If the VM has ended since vm_list(), this fails, unless another process has got its PID. */
static int find_machine(struct session *s)
{
	s->machine = pidfd_open(s->options->vm_pid, 0);
	if (s->machine >= 0)
		return CLI_OK;
	cli_say("the VM cannot be watched: %s", strerror(errno));
	return CLI_FAILED;
}

static void prepare_receipt(struct session *s)
{
	size_t i;

	s->receipt.of_command = s->options->command;
	s->receipt.sampled = s->options->sample > 1;
	for (i = 0; i < s->nr_controls; i++) {
		char *filter = control_value(&s->controls[i], "filter");

		receipt_add_category(&s->receipt, s->options->categories[i], filter);
		free(filter);
	}
}

static int prepare(struct session *s)
{
	struct keeper *keeper = s->options->keeper;
	int status = CLI_OK;

	if (s->options->vm)
		status = find_machine(s);
	if (!status && s->options->anonymize)
		status = anonymizer_init(&s->anonymizer, s->options->key_file);
	if (!status)
		status = take_categories(s);
	if (!status)
		prepare_receipt(s);
	if (!status)
		status = make_first(s);
	if (progress_is_wanted())
		s->recorder.busiest = busiest_new();
	if (!status)
		status = recorder_open(&s->recorder, s->options->categories,
				       s->options->nr_categories);
	s->begin = wall_now();
	if (!status)
		status = report_begin(s);
	if (!status && keeper) {
		keeper->open(keeper);
		keeper->take(keeper, s->dir, s->directory);
	}
	if (!status)
		status = start_tracing(s);
	/* events that happen during the first snapshots are in the trace */
	if (!status && s->options->snapshots)
		status = snapshotter_start(&s->snapshotter, s->recorder.dir, s->directory,
					   s->recorder.anonymizer);
	return status;
}

static void clean_up(struct session *s)
{
	size_t i;

	workload_cancel(&s->workload);
	snapshotter_cancel(&s->snapshotter);
	snapshotter_join(&s->snapshotter);
	if (s->options->keeper)
		s->options->keeper->close(s->options->keeper);
	recorder_close(&s->recorder);
	for (i = 0; i < s->nr_controls; i++)
		control_release(&s->controls[i]);
	for (i = 0; i < s->nr_controls; i++)
		json_decref(s->waiting[i]);
	if (s->dir >= 0)
		close(s->dir);
	free(s->directory);
	segments_free(&s->segments);
	json_decref(s->metadata);
	anonymizer_forget(&s->anonymizer);
	receipt_free(&s->receipt);
}

/*
 * These signals arrive through a descriptor while iotracer runs; the command gets the mask
 * from @before. SIGCHLD is set to its default: if the parent had it ignored, the kernel would
 * drop the exit status of the command.
 */
static int catch_signals(struct session *s, sigset_t *before)
{
	sigset_t caught;

	sigemptyset(&caught);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGHUP);
	sigaddset(&caught, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &caught, before);
	s->signals = signalfd(-1, &caught, SFD_NONBLOCK | SFD_CLOEXEC);
	if (s->signals >= 0)
		return CLI_OK;
	cli_say("cannot get a descriptor for signals: %s", strerror(errno));
	return CLI_FAILED;
}

int session_run(const struct session_options *options)
{
	struct session s = {
		.options = options,
		.dir = -1,
		.machine = -1,
		.recorder = {
			.dir = -1, .limit = options->bytes,
			.chunks_of = options->rotate_bytes,
			.level = options->compress == COMPRESS_NOW ? LEVEL : 0,
			.anonymizer = options->anonymize ? &s.anonymizer : NULL,
			.paths = { .fd = -1, .file.file.fd = -1 },
			.receipt = &s.receipt,
		},
		.snapshotter = {
			.fs = options->snapshot_fs, .snapshot.in = -1,
			.fs_interval = options->snapshot_fs_interval,
			.process_interval = options->snapshot_process_interval,
		},
	};
	sigset_t before;
	int status = options->command ? workload_check(options->command) : CLI_OK;

	if (status)
		return status;
	status = catch_signals(&s, &before);

	mallopt(M_TOP_PAD, TOP_PAD);
	if (options->command)
		progress_quiet();
	/* The command is started first, so that it inherits nothing. */
	if (!status && options->command)
		status = workload_start(&s.workload, options->command, &before);
	/* Writes to a broken pipe or beyond the limit of a file must fail, and not kill us. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (!status)
		status = prepare(&s);
	if (!status) {
		let_go(&s, false);
		record(&s);
		let_go(&s, true);
		status = finish(&s);
	}
	clean_up(&s);
	if (s.workload.pid)
		wait_for_command(&s);
	if (!s.left && s.workload.ended && !status)
		status = s.workload.status;
	/* a signal that came too late would change the exit status */
	while (interrupted(&s))
		;
	close(s.signals);
	if (s.machine >= 0)
		close(s.machine);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}
