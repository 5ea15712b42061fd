// SPDX-License-Identifier: GPL-2.0
/* The reports on a recording: metadata.json, the summary, the progress line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "module/proc.h"
#include "record/counts.h"
#include "record/hidden.h"
#include "record/receipt.h"
#include "record/recording.h"
#include "record/report.h"
#include "record/waiting.h"
#include "trace/metadata.h"
#include "trace/trace.h"

/* A name, which is hashed with --anonymize. */
static json_t *json_hidden(const struct session *s, const char *what, const char *text)
{
	char hidden[ANONYMOUS_LENGTH];

	if (!s->options->anonymize)
		return json_shown(text);
	anonymize_word(&s->anonymizer, hidden, what, text, strlen(text));
	return json_stringn(hidden, sizeof(hidden));
}

static json_t *json_command(const struct session *s)
{
	json_t *words = json_array();
	char **word;

	for (word = s->options->command; word && *word; word++)
		json_add(words, json_hidden(s, "cmdline", *word));
	return words;
}

/* The filter as control shows it. */
static json_t *json_filter(const struct session *s, const char *control)
{
	char *filter = control_text(control, "filter");
	char *shown = s->options->anonymize ? hidden_filter(&s->anonymizer, filter) : xstrdup(filter);
	json_t *value = json_shown(shown);

	free(shown);
	free(filter);
	return value;
}

static json_t *json_category(const struct session *s, size_t i)
{
	const struct recorder_stream *stream = &s->recorder.streams[i];
	char *control = control_read(&s->controls[i]);
	char *size = control_text(control, "size");
	json_t *object = json_object();

	json_put(object, "name", json_string(stream->category->name));
	json_put(object, "file", json_string(stream->file.name));
	json_put(object, "event", json_string(stream->event->name));
	json_put(object, "filter", json_filter(s, control));
	json_put(object, "sample", json_integer(s->options->sample));
	json_put(object, "size", json_integer(strtoull(size, NULL, 10)));
	free(size);
	free(control);
	return object;
}

/* The growth of a counter in @stats since @before; null if the counter is gone. */
static json_t *json_since(const char *stats, const char *name, __u64 before)
{
	__u64 n = control_number(stats, name);

	return !stats || n < before ? json_null() : json_integer(n - before);
}

/* As above, for a counter that not every category has: null without it. */
static json_t *json_since_if(const char *stats, const char *name, __u64 before)
{
	char *value = control_text(stats, name);
	json_t *since = *value ? json_since(stats, name, before) : json_null();

	free(value);
	return since;
}

static void add_counts(const struct session *s, json_t *object, size_t i, const char *stats)
{
	counts_put(object, &s->recorder.streams[i].file, json_since(stats, "missed", s->missed[i]),
		   s->segments.last ? json_null() : json_since(stats, "seen", 0));
	json_put(object, "outside", json_integer(s->recorder.streams[i].outside));
	json_put(object, "unattributed",
		 json_since_if(stats, "unattributed", s->unattributed[i]));
}

static json_t *json_paths(const struct session *s, const char *stats)
{
	return counts_paths(&s->recorder.paths.file,
			    json_since(stats, "paths_missed", s->paths_missed));
}

static int fail(const struct session *s, int err)
{
	cli_say_of(s->directory, "%s cannot be written: %s", TRACE_METADATA,
		   strerror(-err));
	return CLI_FAILED;
}

static json_t *new_document(const struct session *s)
{
	char hidden[ANONYMOUS_LENGTH + 1] = "";
	struct utsname kernel;

	if (s->options->anonymize) {
		uname(&kernel);
		anonymize_word(&s->anonymizer, hidden, "host", kernel.nodename,
			       strlen(kernel.nodename));
	}
	return metadata_new(*hidden ? hidden : NULL, s->begin);
}

/* The settings of the snapshots. Their numbers are added at the end. */
static json_t *json_snapshots(const struct session *s)
{
	const struct session_options *o = s->options;
	json_t *object;

	if (!o->snapshots)
		return json_null();
	object = json_object();
	json_put(object, "directory", json_string(SNAPSHOT_DIRECTORY));
	json_put(object, "fs_interval_s", json_real(o->snapshot_fs_interval));
	json_put(object, "process_interval_s", json_real(o->snapshot_process_interval));
	return object;
}

static void count_snapshots(const struct session *s)
{
	json_t *object = json_object_get(s->metadata, "snapshots");
	const struct snapshotter *made = &s->snapshotter;

	if (!s->options->snapshots)
		return;
	json_put(object, "fs", json_integer(made->nr_fs));
	json_put(object, "process", json_integer(made->nr_process));
	json_put(object, "system", json_integer(made->nr_system));
	json_put(object, "failed", json_integer(made->failed));
}

int report_begin(struct session *s)
{
	const struct session_options *o = s->options;
	json_t *categories = json_array();
	size_t i;
	int err;

	s->metadata = new_document(s);
	for (i = 0; i < s->recorder.nr_streams; i++)
		json_add(categories, json_category(s, i));
	json_put(s->metadata, "label", json_shown(o->label ? o->label : ""));
	json_put(s->metadata, "tags", o->tags ? json_incref(o->tags) : json_object());
	json_put(s->metadata, "command", json_command(s));
	json_put(s->metadata, "vm", o->vm && !o->anonymize ? json_deep_copy(o->vm) : json_null());
	json_put(s->metadata, "anonymized", json_boolean(o->anonymize));
	json_put(s->metadata, "compression",
		 json_string(o->compress == COMPRESS_NOW ? "zstd" : "none"));
	json_put(s->metadata, "time_limit_s", o->seconds ? json_real(o->seconds) : json_null());
	json_put(s->metadata, "segment",
		 s->segments.last ? json_integer(s->segments.last) : json_null());
	json_put(s->metadata, "size_limit", o->bytes ? json_integer(o->bytes) : json_null());
	json_put(s->metadata, "categories", categories);
	json_put(s->metadata, "snapshots", json_snapshots(s));
	err = metadata_write_schema(s->dir, s->metadata);
	if (!err)
		err = metadata_write(s->dir, s->metadata, false);
	return err ? fail(s, err) : CLI_OK;
}

static void print_line(FILE *out, const char *name, const char *value)
{
	fprintf(out, "  %-10s%s\n", name, value);
}

static void print_number(FILE *out, const char *name, __u64 n, bool bad)
{
	fprintf(out, "  %-10s%s%llu%s\n", name, bad && n ? CLI_RED : "",
		(unsigned long long)n, bad && n ? CLI_PLAIN : "");
}

static __u64 sum_of(const struct session *s, const char *key)
{
	const json_t *categories = json_object_get(s->metadata, "categories");
	__u64 sum = 0;
	size_t i;

	for (i = 0; i < json_array_size(categories); i++)
		sum += json_integer_value(json_object_get(json_array_get(categories, i), key));
	return sum;
}

static const char *text_of(const struct session *s, const char *key)
{
	const char *text = json_string_value(json_object_get(s->metadata, key));

	return text ? text : "";
}

/* Events that happened and are not in the trace. */
static __u64 gone(const struct session *s)
{
	return sum_of(s, "lost") + sum_of(s, "missed");
}

static __u64 happened(const struct session *s)
{
	return sum_of(s, "events") + gone(s);
}

static const char *state_of(const struct session *s)
{
	if (s->recorder.error)
		return "ERROR";
	return gone(s) || s->recorder.paths.file.lost ? "LOSSY" : "COMPLETE";
}

static bool is_lossy(const struct session *s)
{
	return !strcmp(text_of(s, "state"), "LOSSY");
}

static void print_state(FILE *out, const struct session *s)
{
	char *share = text_share(gone(s), happened(s));

	if (is_lossy(s))
		fprintf(out, "  %-10s%sLOSSY%s (%s of the events)\n", "state", CLI_RED,
			CLI_PLAIN, share);
	else
		print_line(out, "state", text_of(s, "state"));
	free(share);
}

/* Prints only the number of differences. The receipt has all comparisons. */
static void print_differences(FILE *out, const struct session *s)
{
	size_t n = receipt_count(json_object_get(s->metadata, RECEIPT_KEY), "differs");

	if (n)
		fprintf(out, "  %-10s%s%zu%s of the kernel's counts differ (iotracer traces show)\n",
			"receipt", CLI_RED, n, CLI_PLAIN);
}

static void print_waiting(FILE *out, const struct session *s)
{
	char *calls = waiting_summary(json_object_get(s->metadata, "categories"));

	if (calls)
		print_line(out, "waiting", calls);
	free(calls);
}

static void print_summary(FILE *out, const struct session *s)
{
	char *shown = text_show(s->directory, strlen(s->directory));
	const json_t *begin = json_object_get(s->metadata, "begin");

	cli_color_stderr();
	fprintf(out, "%s%s%s\n", CLI_BOLD, shown, CLI_PLAIN);
	free(shown);
	print_state(out, s);
	if (s->recorder.error)
		print_line(out, "reason", text_of(s, "reason"));
	if (s->options->label)
		print_line(out, "label", text_of(s, "label"));
	print_line(out, "began", json_string_value(json_object_get(begin, "time")));
	fprintf(out, "  %-10s%.3f s\n", "duration",
		json_real_value(json_object_get(s->metadata, "duration_s")));
	print_number(out, "events", sum_of(s, "events"), false);
	print_number(out, "lost", sum_of(s, "lost"), true);
	print_number(out, "missed", sum_of(s, "missed"), true);
	if (sum_of(s, "unattributed"))
		print_number(out, "of nobody", sum_of(s, "unattributed"), true);
	print_number(out, "paths", s->recorder.paths.file.events, false);
	print_waiting(out, s);
	print_differences(out, s);
	fprintf(out, "  %-10s%.1f MiB\n", "size",
		(double)recorder_bytes(&s->recorder) / (1024 * 1024));
}

/* Prints the summary in one piece, since standard error has no buffer. */
static void say_summary(const struct session *s)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	print_summary(out, s);
	if (!fclose(out))
		fputs(text, stderr);
	free(text);
}

/* Reports what was lost, and how to avoid that. */
static void say_losses(const struct session *s)
{
	const char *directory = s->directory;
	__u64 lost = sum_of(s, "lost"), missed = sum_of(s, "missed");

	if (lost)
		cli_say_of(directory, "%llu events were lost before they could be read: use a larger --buffer, a --filter or --sample",
			   (unsigned long long)lost);
	if (missed)
		cli_say_of(directory, "%llu calls were missed: %s/hooks shows by which hooks; raise the module's parameter maxactive",
			   (unsigned long long)missed, proc_root());
	if (s->recorder.paths.file.lost)
		cli_say_of(directory, "%llu paths were evicted before they could be read: raise the module's parameter paths_limit",
			   (unsigned long long)s->recorder.paths.file.lost);
}

/* Reports requests that may belong to the command, but are not in the trace. */
static void say_unattributed(const struct session *s)
{
	__u64 n = sum_of(s, "unattributed");
	const char *whose = s->options->vm ? "belong to the VM" :
			    s->options->command ? "belong to the command" : "match the filter";

	if (n)
		cli_say_of(s->directory, "%llu requests are not in the trace, though they may %s: threads of the kernel submitted them, and it is not known for which process (dm-crypt, dm-thin, md, loop, io.max ...): see iotracer(4)",
			   (unsigned long long)n, whose);
}

/* Reports data not yet written and processes that the command left when recording ended. */
static void tell_left(struct session *s)
{
	char *names = s->workload.ended && workload_left(&s->workload) ?
		      workload_left_names() : NULL;

	if (s->drains && s->unknown)
		cli_say("%llu filesystems were being unmounted, remounted or frozen when recording ended: data that the command wrote there may not be on its device yet, and its writeback may be missing in the trace",
			(unsigned long long)s->unknown);
	if (s->drains && s->dirty)
		cli_say("%llu bytes that the command wrote to files were not on their device when recording ended: their writeback is not in the trace (--drain=SECONDS waits longer)",
			(unsigned long long)s->dirty);
	if (names)
		cli_say("still running, but no longer recorded: %s (--wait waits for them)", names);
	free(names);
}

bool report_is_lossy(const struct session *s)
{
	return is_lossy(s);
}

/* The last of several traces has the receipt for all. */
static json_t *json_receipt(struct session *s, bool last)
{
	struct receipt_command command = { .io = s->workload.io };
	struct rusage used;

	if (!last)
		return json_null();
	if (!getrusage(RUSAGE_CHILDREN, &used)) {
		command.faults[0] = used.ru_minflt;
		command.faults[1] = used.ru_majflt;
	}
	return receipt_json(&s->receipt, &command);
}

/* The calls that waited when recording ended are in the last of several traces. */
static void put_waiting(const struct session *s, json_t *categories)
{
	size_t i;

	for (i = 0; i < s->nr_controls; i++)
		if (s->waiting[i])
			json_put(json_array_get(categories, i), WAITING_KEY, json_incref(s->waiting[i]));
}

/* Completes metadata.json. Returns 0 or a negative errno. */
static int write_end(struct session *s, bool last)
{
	json_t *categories = json_object_get(s->metadata, "categories");
	size_t i;

	for (i = 0; i < s->recorder.nr_streams; i++) {
		char *stats = control_stats(&s->controls[i]);

		add_counts(s, json_array_get(categories, i), i, stats);
		receipt_lose(&s->receipt, i, s->recorder.streams[i].file.lost,
			     control_number(stats, "missed") - s->missed[i]);
		if (!i)
			json_put(s->metadata, "paths", json_paths(s, stats));
		free(stats);
	}
	if (last)
		put_waiting(s, categories);
	count_snapshots(s);
	json_put(s->metadata, RECEIPT_KEY, json_receipt(s, last));
	json_put(s->metadata, "unwritten_bytes",
		 s->drains && !s->unknown ? json_integer(s->dirty) : json_null());
	if (s->compressed)
		json_put(s->metadata, "compression", json_string("zstd"));
	json_put(s->metadata, "lost_share",
		 json_real(happened(s) ? (double)gone(s) / happened(s) : 0));
	metadata_end(s->metadata, s->begin, s->end, state_of(s), s->recorder.error);
	return metadata_write(s->dir, s->metadata, true);
}

void report_segment(struct session *s)
{
	int err = write_end(s, false);

	say_losses(s);
	say_unattributed(s);
	cli_say_of(s->directory, "%s, %llu events, %.1f MiB", text_of(s, "state"), sum_of(s, "events"),
		   (double)recorder_bytes(&s->recorder) / (1024 * 1024));
	if (err)
		fail(s, err);
}

int report_end(struct session *s)
{
	const struct keeper *keeper = s->options->keeper;
	int err = write_end(s, true);

	if (s->recorder.error)
		cli_say_of(s->directory, "recording ended with an error: %s; the events written before can be read",
			   s->recorder.error);
	say_losses(s);
	say_unattributed(s);
	say_summary(s);
	tell_left(s);
	if (err)
		return fail(s, err);
	if (s->snapshotter.failed)
		cli_say_of(s->directory, "%u snapshots are missing or incomplete; the events of the trace are not affected",
			   s->snapshotter.failed);
	if (keeper && keeper->failed)
		cli_say_of(s->directory, "%u %s could not be stored; the events of the trace are not affected",
			   keeper->failed, keeper->what);
	return s->recorder.error || s->snapshotter.failed || (keeper && keeper->failed) ||
	       (s->options->strict && (s->lossy || is_lossy(s))) ? CLI_FAILED : CLI_OK;
}

void report_progress(const struct session *s)
{
	static __u64 last_events, last_time;
	__u64 events = recorder_events(&s->recorder);
	double passed, seconds, rate;
	char left[32] = "", *busiest;
	__u64 time;

	if (!progress_is_due())
		return;
	time = wall_now().monotonic;
	seconds = (double)(time - (last_time ? last_time : s->begin.monotonic)) / 1e9;
	rate = seconds > 0 ? (double)(events - last_events) / seconds : 0;
	passed = (double)(time - s->started.monotonic) / 1e9;
	if (s->options->seconds)
		snprintf(left, sizeof(left), ", %.0f s left", s->options->seconds - passed);
	busiest = busiest_text(s->recorder.busiest);
	progress_show("%.0f s%s, %llu events, %.0f/s, %llu lost, %.1f MiB%s",
		      passed, left,
		      (unsigned long long)events, rate,
		      (unsigned long long)recorder_lost(&s->recorder),
		      (double)recorder_bytes(&s->recorder) / (1024 * 1024), busiest);
	free(busiest);
	last_events = events;
	last_time = time;
}
