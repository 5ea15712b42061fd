// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "base/place.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "record/store.h"
#include "record/trace_merge.h"
#include "record/trace_merge_parts.h"
#include "trace/categories.h"

/* One category of one trace, while it is read. */
struct lane {
	struct trace_merge_source *source;
	struct trace_merge_part *part;
	struct cpu_merge_whole next;	/* the next frame */
	bool begun, more;		/* there is a next frame */
	__u64 bound;			/* no event of a later frame ended before this */
};

/* The first frame sets the bound: the lower one of its first event's end and its @until. */
static void read_frame(struct lane *l)
{
	const struct cpu_merge *m = &l->part->merge;
	__u64 until, first;

	l->more = cpu_merge_next_frame(&l->part->merge, &l->next);
	if (!l->more || l->begun)
		return;
	l->begun = true;
	until = trace_merge_time(l->source, l->next.frame.until);
	first = trace_merge_first(l->source, m, &l->next);
	l->bound = until < first ? until : first;
}

static void begin_lane(struct lane *l, struct trace_merge_source *s, size_t category)
{
	*l = (struct lane){ .source = s, .part = &s->parts[category] };
	if (!l->part->there)
		return;
	check_begin(&s->check, &l->part->checked, categories[category]->name, l->part->i,
		    &l->part->merge);
	read_frame(l);
}

/* The trace that is furthest behind; NULL if all have ended. */
static struct lane *last_of(struct lane *lanes, size_t nr)
{
	struct lane *last = NULL;
	size_t i;

	for (i = 0; i < nr; i++)
		if (lanes[i].more && (!last || lanes[i].bound < last->bound))
			last = &lanes[i];
	return last;
}

/* What the traces have of the category, and what of it was read, in bytes. */
static void show_progress(const struct trace_merge *t, const struct lane *lanes, const char *category)
{
	unsigned long long events = 0, done = 0, whole = 0;
	size_t i;

	for (i = 0; i < t->nr; i++) {
		const struct cpu_merge *m = &lanes[i].part->merge;

		if (!lanes[i].part->there)
			continue;
		events += m->events;
		done += m->reader.at;
		whole += m->reader.size;
	}
	progress_of(category, events, "events", done, whole);
}

/* Writes the next frame of a trace, and reads the one after it. */
static int move_frame(struct trace_merge *t, struct writer_file *f, struct lane *lanes,
		      struct lane *l)
{
	struct trace_frame frame = { .size = l->next.frame.size };
	char *content = t->content + sizeof(frame);
	__u64 until = trace_merge_time(l->source, l->next.frame.until);

	memcpy(content, l->next.data, frame.size);
	frame.events = trace_merge_move(l->source, &l->part->merge, content, l->next.blocks,
					frame.size, &t->end);
	if (until > l->bound)
		l->bound = until;
	read_frame(l);
	if (last_of(lanes, t->nr))
		l = last_of(lanes, t->nr);
	frame.until = l->bound;
	memcpy(t->content, &frame, sizeof(frame));
	return trace_merge_put(t, f);
}

/* Adds blocks for events that are missing at the end of a CPU, so that they count as lost. */
static size_t put_missing(const struct lane *l, char *to)
{
	const struct cpu_merge *m = &l->part->merge;
	struct iot_stream_block b = { .magic = IOT_STREAM_BLOCK_MAGIC, .event = m->event->id };
	size_t size = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < m->nr_cpus; cpu++) {
		const struct cpu_merge_cpu *c = &m->cpus[cpu];

		if (!c->known || c->behind <= c->next)
			continue;
		b.cpu = l->source->first_cpu + cpu;
		b.first = c->behind;
		b.gap = c->behind - c->next;
		memcpy(to + size, &b, sizeof(b));
		size += sizeof(b);
	}
	return size;
}

static int end_lane(struct trace_merge *t, struct writer_file *f, struct lane *l)
{
	struct trace_frame frame = { .until = t->end };

	if (!l->part->there)
		return CLI_OK;
	check_end(&l->part->checked, &l->part->merge);
	frame.size = put_missing(l, t->content + sizeof(frame));
	memcpy(t->content, &frame, sizeof(frame));
	return frame.size ? trace_merge_put(t, f) : CLI_OK;
}

static int move_all(struct trace_merge *t, struct writer_file *f, struct lane *lanes, const char *category)
{
	struct lane *l = last_of(lanes, t->nr);
	int status = CLI_OK;
	size_t i;

	while (!status && l && !interrupt_came(NULL)) {
		status = move_frame(t, f, lanes, l);
		l = last_of(lanes, t->nr);
		show_progress(t, lanes, category);
	}
	progress_end();
	for (i = 0; !status && !interrupt_came(NULL) && i < t->nr; i++)
		status = end_lane(t, f, &lanes[i]);
	return status;
}

static int merge_category(struct trace_merge *t, size_t category)
{
	const struct category *c = categories[category];
	struct lane *lanes = xreallocarray(NULL, t->nr, sizeof(*lanes));
	char *name = xasprintf("%s.iot", c->name);
	struct writer_file f;
	int status = trace_merge_create(t, &f, name, category_event(c));
	size_t i;

	for (i = 0; i < t->nr; i++)
		begin_lane(&lanes[i], &t->sources[i], category);
	if (!status)
		status = move_all(t, &f, lanes, c->name);
	status = cli_merge(status, trace_merge_end_file(t, &f));
	if (!status)
		trace_merge_add_category(t, c, &f);
	trace_merge_free_file(&f);
	for (i = 0; i < t->nr; i++)
		free(lanes[i].next.data);
	free(lanes);
	free(name);
	return status;
}

static bool has_category(const struct trace_merge *t, size_t category)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		if (t->sources[i].parts[category].there)
			return true;
	return false;
}

static int write_all(struct trace_merge *t)
{
	int status = trace_merge_write_paths(t);
	size_t i;

	for (i = 0; !status && !interrupt_came(NULL) && i < nr_categories; i++)
		if (has_category(t, i))
			status = merge_category(t, i);
	if (!status && !interrupt_came(NULL))
		status = trace_merge_report(t);
	return status;
}

/* Sets the name of the result, and its name until it is whole: DIR/.NAME.partial. */
static int name_it(struct trace_merge *t)
{
	const char *given = t->options->directory;
	size_t length;
	char *slash;

	t->directory = given ? xstrdup(given) : store_new_path();
	if (!t->directory)
		return CLI_FAILED;
	length = strlen(t->directory);
	while (length > 1 && t->directory[length - 1] == '/')
		t->directory[--length] = '\0';
	slash = strrchr(t->directory, '/');
	t->hidden = xasprintf("%.*s.%s.partial", slash ? (int)(slash + 1 - t->directory) : 0,
			      t->directory, slash ? slash + 1 : t->directory);
	return CLI_OK;
}

/* The last component of a path. */
static const char *last_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int make_directory(struct trace_merge *t)
{
	char *name;

	t->parent = place_parent(t->directory, &name);
	if (t->parent < 0)
		return CLI_FAILED;
	free(name);
	if (!faccessat(t->parent, last_of_path(t->directory), F_OK, AT_SYMLINK_NOFOLLOW)) {
		cli_say_of(t->directory, "exists already: name another directory (-o), or remove it");
		return CLI_FAILED;
	}
	t->dir = place_make(t->parent, last_of_path(t->hidden));
	if (t->dir >= 0)
		return CLI_OK;
	cli_say_of(t->hidden, "cannot be made: %s%s", strerror(-t->dir), t->dir == -EEXIST ?
		   " (another merge is writing it, or was killed: then remove it)" : "");
	t->dir = -1;
	return CLI_FAILED;
}

/* Renames the result, after its data is on disk, so that it is whole even after a crash. */
static int give_name(struct trace_merge *t)
{
	const char *hidden = last_of_path(t->hidden), *name = last_of_path(t->directory);
	int err = fsync(t->dir) && errno != EINVAL ? errno : 0;

	if (!err && renameat2(t->parent, hidden, t->parent, name, RENAME_NOREPLACE) &&
	    (errno != EINVAL || renameat(t->parent, hidden, t->parent, name)))
		err = errno;
	if (err) {
		cli_say_of(t->directory, "cannot be made: %s", strerror(err));
		return CLI_FAILED;
	}
	fsync(t->parent); /* not every filesystem supports it */
	close(t->dir);
	t->dir = -1;
	return CLI_OK;
}

/* Deletes a result that was not renamed. */
static void discard(struct trace_merge *t)
{
	static const char *const others[] = {
		TRACE_PATHS, TRACE_SCHEMA, TRACE_METADATA, "." TRACE_METADATA,
	};
	char *name;
	size_t i;

	for (i = 0; i < nr_categories; i++) {
		name = xasprintf("%s.iot", categories[i]->name);
		unlinkat(t->dir, name, 0);
		free(name);
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		unlinkat(t->dir, others[i], 0);
	close(t->dir);
	unlinkat(t->parent, last_of_path(t->hidden), AT_REMOVEDIR);
}

/* Each trace has a file open for each category. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Prints a summary. Returns the exit code that iotracer export has for the same traces. */
static int judge(const struct trace_merge *t)
{
	char *shown = text_show(t->directory, strlen(t->directory));

	printf("%s\n  %-12s%zu\n  %-12s%llu\n  %-12s%llu\n  %-12s%llu\n", shown, "traces", t->nr,
	       "events", (unsigned long long)t->events, "lost", (unsigned long long)t->lost,
	       "missed", (unsigned long long)t->missed);
	free(shown);
	if (trace_merge_is_whole(t) || t->options->partial)
		return CLI_OK;
	cli_say_of(t->directory, "has only the readable part of traces that are not whole, so the exit status is 1 (with --partial: 0)");
	return CLI_FAILED;
}

int trace_merge_make(const struct trace_merge_options *options)
{
	struct trace_merge t = {
		.options = options, .dir = -1, .parent = -1, .categories = json_array(),
		.paths.file.fd = -1, .content = trace_frame_alloc(TRACE_FRAME_MAX),
	};
	int status;

	allow_files();
	status = trace_merge_open(&t);
	if (!status)
		status = name_it(&t);
	if (!status)
		status = make_directory(&t);
	if (!status)
		status = write_all(&t);
	if (!status && interrupt_came(NULL))
		status = CLI_FAILED;
	if (!status)
		status = give_name(&t);
	if (t.dir >= 0)
		discard(&t);
	if (!status)
		status = judge(&t);
	if (t.parent >= 0)
		close(t.parent);
	trace_merge_free_file(&t.paths);
	json_decref(t.categories);
	trace_merge_close(&t);
	free(t.directory);
	free(t.hidden);
	free(t.content);
	return status;
}
