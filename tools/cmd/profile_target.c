// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/picture.h"
#include "cmd/profile_target.h"
#include "module/proc.h"
#include "module/stream.h"
#include "module/target.h"
#include "module/tasks_text.h"
#include "trace/access_map.h"
#include "trace/profile.h"
#include "trace/row.h"

#define SECTOR_SHIFT 9

struct env {
	const char *file;
	const struct profile_wish *wish;
	struct picture picture;
	struct access_map *maps;	/* of each level; NULL: not asked for */
};

static const char *const level_names[] = {
	[IOT_LEVEL_VFS] = "vfs", [IOT_LEVEL_BLK] = "blk",
};

static const char *const kind_names[] = {
	[IOT_OP_READ] = "reads", [IOT_OP_WRITE] = "writes",
};

static double duration(const struct profile_level *level)
{
	return (level->last - level->first) / 1e9;
}

static double mean(__u64 sum, __u64 nr)
{
	return nr ? (double)sum / nr : 0;
}

static double percent(__u64 part, __u64 other)
{
	return 100.0 * part / (part + other);
}

/* A row of the table: a label, then a cell for each level. */

static void row(const char *label, char *vfs, char *blk)
{
	printf("%-16s%20s%20s\n", label, vfs, blk);
	free(vfs);
	free(blk);
}

static char *cell_number(__u64 n)
{
	return xasprintf("%llu", (unsigned long long)n);
}

static char *cell_mean(__u64 sum, __u64 nr)
{
	return nr ? xasprintf("%.1f B", mean(sum, nr)) : xstrdup("-");
}

/* The share of @part in @part + @other. */
static char *cell_share(__u64 part, __u64 other)
{
	return part + other ? xasprintf("%.1f %%", percent(part, other)) : xstrdup("-");
}

static char *cell_duration(const struct profile_level *level)
{
	return level->events ? xasprintf("%.6f s", duration(level)) : xstrdup("-");
}

static void row_latency(const char *label, const struct profile_kind *kind, double ns)
{
	row(label, kind->accesses ? xasprintf("%.3f us", ns / 1000) : xstrdup("-"),
	    xstrdup("-"));
}

/* The share of sequential accesses, and that of their bytes. */
static void row_shares(const char *label, const struct profile_order *vfs,
		       const struct profile_order *blk)
{
	row(label, cell_share(vfs->sequential.accesses, vfs->random.accesses),
	    cell_share(blk->sequential.accesses, blk->random.accesses));
	row("    by bytes", cell_share(vfs->sequential.bytes, vfs->random.bytes),
	    cell_share(blk->sequential.bytes, blk->random.bytes));
}

/* Asynchronous accesses: to what their latency is, and how long their submission took. */
static void print_async(const struct profile_kind *vfs)
{
	if (vfs->queued)
		row("  to completion", cell_number(vfs->queued), xstrdup("-"));
	if (vfs->submitted)
		row("  to submission only", cell_number(vfs->submitted), xstrdup("-"));
	if (vfs->queued + vfs->submitted)
		row_latency("  submission mean", vfs,
			    mean(vfs->submission_sum, vfs->queued + vfs->submitted));
}

static void print_kind(const char *name, const struct profile_kind *vfs,
		       const struct profile_kind *blk)
{
	row(name, cell_number(vfs->accesses), cell_number(blk->accesses));
	row("  bytes", cell_number(vfs->bytes), cell_number(blk->bytes));
	row("  mean size", cell_mean(vfs->bytes, vfs->accesses),
	    cell_mean(blk->bytes, blk->accesses));
	row_shares("  sequential", &vfs->strict, &blk->strict);
	row("  random", cell_share(vfs->strict.random.accesses, vfs->strict.sequential.accesses),
	    cell_share(blk->strict.random.accesses, blk->strict.sequential.accesses));
	row_shares("  seq in window", &vfs->window, &blk->window);
	row_latency("  latency mean", vfs, mean(vfs->latency_sum, vfs->accesses));
	row_latency("  latency p50", vfs, profile_percentile(vfs, 50));
	row_latency("  latency p99", vfs, profile_percentile(vfs, 99));
	row_latency("  latency max", vfs, profile_percentile(vfs, 100));
	print_async(vfs);
}

/* --- maps ----------------------------------------------------------------------- */

/* Whether it is a read or write that has moved bytes; if so, at which byte it began. */
static bool is_access(const struct iot_io *io, __u64 *start)
{
	*start = io->level == IOT_LEVEL_BLK ? io->sector << SECTOR_SHIFT : io->offset;
	return io->level < IOT_LEVELS && io->op < PROFILE_KINDS && io->result > 0;
}

static void open_map(struct access_map *map, const struct stream *s, const struct records *r, unsigned int level)
{
	__u64 start, lowest = ~0ULL, highest = 0, earliest = ~0ULL, latest = 0;
	size_t i;

	for (i = 0; i < r->nr; i++) {
		const struct iot_io *io = records_at(s, r, i);

		if (!is_access(io, &start) || io->level != level)
			continue;
		lowest = start < lowest ? start : lowest;
		highest = start > highest ? start : highest;
		earliest = io->time < earliest ? io->time : earliest;
		latest = io->time > latest ? io->time : latest;
	}
	access_map_open(map, lowest < highest ? lowest : highest, highest, earliest < latest ? earliest : latest, latest);
	map->since = "time since the first event";
	map->origin = r->nr ? ((const struct iot_io *)records_at(s, r, 0))->time : 0;
}

/* The records are in the order of time. The caller frees the maps. */
static struct access_map *make_maps(const struct stream *s, const struct records *r)
{
	struct access_map *maps = xreallocarray(NULL, IOT_LEVELS, sizeof(*maps));
	unsigned int level;
	__u64 start;
	size_t i;

	for (level = 0; level < IOT_LEVELS; level++)
		open_map(&maps[level], s, r, level);
	for (i = 0; i < r->nr; i++) {
		const struct iot_io *io = records_at(s, r, i);

		if (is_access(io, &start))
			access_map_add(&maps[io->level], io->op == IOT_OP_WRITE, start, io->time, 1);
	}
	return maps;
}

static void print_maps(const struct env *env)
{
	__u64 vfs = access_map_most(&env->maps[IOT_LEVEL_VFS]), blk = access_map_most(&env->maps[IOT_LEVEL_BLK]);
	struct shades shades = shades_for(vfs > blk ? vfs : blk);
	unsigned int level;

	if (!vfs && !blk)
		return;
	puts("\noffset over time; characters stand for so many accesses, or more:");
	shade_put_legend(&shades);
	for (level = 0; level < IOT_LEVELS; level++) {
		if (!access_map_most(&env->maps[level]))
			continue;
		printf("\n%s\n", level == IOT_LEVEL_VFS ? "VFS" : "BLK");
		access_map_text(&env->maps[level], &shades);
	}
}

static void draw_maps(struct env *env)
{
	char *name = text_show(env->file, strlen(env->file)), *title;
	unsigned int level;

	for (level = 0; level < IOT_LEVELS; level++) {
		title = xasprintf("%s: %s", level == IOT_LEVEL_VFS ? "calls" : "block I/O", name);
		if (access_map_most(&env->maps[level]))
			access_map_svg(&env->maps[level], &env->picture.svg, title);
		free(title);
	}
	free(name);
}

/* --- all of it ------------------------------------------------------------------ */

static void print_text(const struct env *env, const struct target *target,
		       const struct profile *p, __u64 kept, __u64 missing)
{
	const struct profile_level *vfs = &p->levels[IOT_LEVEL_VFS];
	const struct profile_level *blk = &p->levels[IOT_LEVEL_BLK];
	char *file = text_show(env->file, strlen(env->file));
	char *name = text_show(target->name, strlen(target->name));
	unsigned int op;

	if (missing)
		printf("%sonly the last %llu of %llu events: %llu were overwritten or lost (iotracer add -n N keeps more)%s\n",
		       CLI_YELLOW, (unsigned long long)kept,
		       (unsigned long long)(kept + missing),
		       (unsigned long long)missing, CLI_PLAIN);
	printf("%s%s%s (%s)\n", CLI_BOLD, file, CLI_PLAIN, name);
	free(name);
	free(file);
	putchar('\n');
	row("", xstrdup("VFS"), xstrdup("BLK"));
	row("events", cell_number(vfs->events), cell_number(blk->events));
	row("duration", cell_duration(vfs), cell_duration(blk));
	row("failed", cell_number(vfs->failed), cell_number(blk->failed));
	row("empty", cell_number(vfs->empty), cell_number(blk->empty));
	for (op = 0; op < PROFILE_KINDS; op++)
		print_kind(kind_names[op], &vfs->kinds[op], &blk->kinds[op]);
	if (env->maps)
		print_maps(env);
}

static json_t *json_latency(const struct profile_kind *kind)
{
	json_t *latency = json_object();

	json_put(latency, "mean", json_real(mean(kind->latency_sum, kind->accesses)));
	json_put(latency, "p50", json_integer(profile_percentile(kind, 50)));
	json_put(latency, "p99", json_integer(profile_percentile(kind, 99)));
	json_put(latency, "max", json_integer(profile_percentile(kind, 100)));
	return latency;
}

static json_t *json_async(const struct profile_kind *kind)
{
	__u64 nr = kind->queued + kind->submitted;
	json_t *async = json_object();

	json_put(async, "to_completion", json_integer(kind->queued));
	json_put(async, "to_submission_only", json_integer(kind->submitted));
	json_put(async, "submission_mean_ns",
		 nr ? json_real(mean(kind->submission_sum, nr)) : json_null());
	return async;
}

static json_t *json_share(__u64 part, __u64 other)
{
	return part + other ? json_real(percent(part, other)) : json_null();
}

static void json_put_named(json_t *object, const char *prefix, const char *name, json_t *value)
{
	char *key = xasprintf("%s%s", prefix, name);

	json_put(object, key, value);
	free(key);
}

static void json_order(json_t *object, const char *prefix, const struct profile_order *o)
{
	const struct profile_part *seq = &o->sequential, *random = &o->random;

	json_put_named(object, prefix, "sequential", json_integer(seq->accesses));
	json_put_named(object, prefix, "random", json_integer(random->accesses));
	json_put_named(object, prefix, "sequential_percent",
		       json_share(seq->accesses, random->accesses));
	json_put_named(object, prefix, "sequential_bytes", json_integer(seq->bytes));
	json_put_named(object, prefix, "random_bytes", json_integer(random->bytes));
	json_put_named(object, prefix, "sequential_bytes_percent",
		       json_share(seq->bytes, random->bytes));
}

static json_t *json_kind(const struct profile_kind *kind, bool with_latency)
{
	json_t *object = json_object();

	json_put(object, "count", json_integer(kind->accesses));
	json_put(object, "bytes", json_integer(kind->bytes));
	json_put(object, "mean_size", kind->accesses ?
		 json_real(mean(kind->bytes, kind->accesses)) : json_null());
	json_order(object, "", &kind->strict);
	json_put(object, "random_percent", json_share(kind->strict.random.accesses,
						      kind->strict.sequential.accesses));
	json_order(object, "window_", &kind->window);
	if (with_latency) {
		json_put(object, "latency_ns",
			 kind->accesses ? json_latency(kind) : json_null());
		json_put(object, "async", json_async(kind));
	}
	return object;
}

static json_t *json_level(const struct profile_level *level, bool with_latency)
{
	json_t *object = json_object();
	unsigned int op;

	json_put(object, "events", json_integer(level->events));
	json_put(object, "duration_s",
		 level->events ? json_real(duration(level)) : json_null());
	json_put(object, "failed", json_integer(level->failed));
	json_put(object, "empty", json_integer(level->empty));
	for (op = 0; op < PROFILE_KINDS; op++)
		json_put(object, kind_names[op], json_kind(&level->kinds[op], with_latency));
	return object;
}

static void print_json(const struct env *env, const struct target *target,
		       const struct profile *p, __u64 kept, __u64 missing)
{
	json_t *document = json_object();
	unsigned int i;

	json_put(document, "events_missing", json_integer(missing));
	json_put(document, "events", json_integer(kept));
	json_put(document, "file", json_shown(env->file));
	json_put(document, "target", json_shown(target->name));
	json_put(document, "window", json_integer(env->wish->window));
	for (i = 0; i < IOT_LEVELS; i++) {
		json_t *level = json_level(&p->levels[i], i == IOT_LEVEL_VFS);

		if (env->maps)
			json_put(level, "map", access_map_json(&env->maps[i]));
		json_put(document, level_names[i], level);
	}
	json_print(document);
}

static void print_profile(const struct env *env, const struct target *target,
			  const struct stream *s, const struct records *r)
{
	struct profile p = { 0 };
	__u64 missing = stream_missing(s, false);
	size_t i;

	for (i = 0; i < r->nr; i++)
		profile_count(&p, records_at(s, r, i));
	profile_finish(&p, env->wish->window);
	if (env->wish->format == FORMAT_JSON)
		print_json(env, target, &p, r->nr, missing);
	else
		print_text(env, target, &p, r->nr, missing);
	profile_free(&p);
}

static void print(struct env *env, const struct target *target, const struct stream *s, const struct records *r)
{
	if (env->wish->map || env->wish->output)
		env->maps = make_maps(s, r);
	if (env->wish->output)
		draw_maps(env);
	else
		print_profile(env, target, s, r);
	free(env->maps);
}

/* The log of a target is of one file. What has many is recorded by filter instead. */

static int refuse_directory(const char *name, const char *directory)
{
	char *path = realpath(directory, NULL);

	cli_say_of(name, "is a directory: for the files below it use iotracer profile --live --filter=path=%s",
		   path ? path : directory);
	free(path);
	return CLI_FAILED;
}

static int refuse_processes(const char *name, const char *tasks)
{
	cli_say_of(name, "means processes: use iotracer record -o TRACE --filter=%s, then iotracer profile TRACE", tasks);
	return CLI_FAILED;
}

/* As above, if it is no target; else CLI_OK. */
static int refuse_untraced(const struct target_list *list, const char *name)
{
	struct stat st;

	if (tasks_is_text(name))
		return target_of_tasks(list, name) ? CLI_OK : refuse_processes(name, name);
	if (stat(name, &st) || target_at(list, name))
		return CLI_OK;
	if (S_ISDIR(st.st_mode))
		return refuse_directory(name, name);
	if (!S_ISBLK(st.st_mode))
		return CLI_OK;
	cli_say_of(name, "is a device that is not traced: add it (iotracer add %s), or use iotracer profile --live -c block --by=device --filter=dev=%u:%u",
		   name, major(st.st_rdev), minor(st.st_rdev));
	return CLI_FAILED;
}

static int profile(struct env *env, const struct target *target)
{
	struct records r = { 0 };
	struct stream s;
	int status;

	if (target->tasks)
		return refuse_processes(env->file, target->tasks);
	status = stream_open(&s, NULL, target->name, env->file);
	if (!status && s.category)
		status = refuse_directory(env->file, target->nr_paths ? target->paths[0] : env->file);
	if (!status) {
		int err = stream_read(&s, &r, SIZE_MAX);

		if (err)
			status = stream_explain(&s, err);
	}
	if (!status) {
		stream_sort(&s, &r);
		print(env, target, &s, &r);
	}
	records_free(&r);
	stream_close(&s);
	return status;
}

int profile_target(const char *file, const struct profile_wish *wish)
{
	struct env env = { .file = file, .wish = wish };
	const struct target *target;
	struct target_list list;
	int err = target_list_load(&list);
	int status = err ? proc_explain(proc_root(), NULL, "control", err) : refuse_untraced(&list, file);

	if (!status) {
		target = target_find(&list, file);
		status = target ? picture_open(&env.picture, wish->output) : CLI_FAILED;
		if (!status)
			status = profile(&env, target);
		status = picture_finish(&env.picture, status, "where accesses are over time", file);
	}
	target_list_free(&list);
	return status;
}
