// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/check.h"

#define NS_PER_S 1000000000ULL

int check_open(struct check *c, const char *trace)
{
	int status;

	c->trace = trace;
	status = metadata_load(&c->metadata, trace);
	if (status)
		return status;
	if (!wall_clock_init(&c->clock, c->metadata.begin, c->metadata.end))
		cli_say_of(trace, "the clock was set during the recording: times are by the clock as it was at the start");
	return CLI_OK;
}

bool check_is_recorded(const char *trace)
{
	int dir = open(trace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is;

	if (dir < 0)
		return false;
	is = flock(dir, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(dir);
	return is;
}

void check_close(struct check *c)
{
	metadata_free(&c->metadata);
}

/* A LOSSY trace ended well: its losses are reported for each category. */
static bool ended_well(const struct metadata *m)
{
	return !strcmp(m->state, "COMPLETE") || !strcmp(m->state, "LOSSY");
}

void check_state(struct check *c)
{
	const struct metadata *m = &c->metadata;
	char *reason = text_show(m->reason, strlen(m->reason));

	if (!reason)
		return;
	if (c->is_recorded)
		cli_say_of(c->trace, "has no end yet: it is being recorded");
	else if (!strcmp(m->state, "RUNNING"))
		cli_say_of(c->trace, "has no end: its recorder was killed");
	else if (!ended_well(m))
		cli_say_of(c->trace, "recording ended with an error: %s", reason);
	c->damaged |= !ended_well(m) || m->damaged;
	if (!m->damaged && !metadata_check_schema(m, c->trace))
		c->damaged = true;
	free(reason);
}

int check_names(struct check *c, struct paths *names, const struct anonymizer *anonymizer)
{
	struct metadata_file expected;
	bool known = metadata_paths_file(&c->metadata, &expected);
	int status = paths_load(names, c->trace, known ? &expected : NULL, anonymizer);

	c->damaged |= names->damaged;
	if (!status && names->lost)
		cli_say_of(c->trace, "%llu paths are missing, shown as ?: they were forgotten before they were read",
			   (unsigned long long)names->lost);
	return status;
}

/* Formats @time as "2026-11-21T12:28:32.330205607Z"; returns @otherwise if @time is 0. */
static char *show_time(const struct check *c, __u64 time, const char *otherwise)
{
	__u64 wall = wall_time(&c->clock, time);
	time_t seconds = wall / NS_PER_S;
	char text[32];
	struct tm tm;

	if (!time)
		return xstrdup(otherwise);
	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	return xasprintf("%s.%09lluZ", text, (unsigned long long)(wall % NS_PER_S));
}

static void report_hole(void *data, const struct cpu_merge_hole *hole)
{
	const struct check_file *file = data;
	struct check *c = file->check;
	char *after = show_time(c, hole->after, "the beginning");
	char *before = show_time(c, hole->before, "the end");

	c->damaged = true;
	if (after && before)
		cli_say_of(c->trace, "%s: events are missing from the file: cpu %u, seq %llu to %llu, ended between %s and %s",
			   file->category, hole->cpu, (unsigned long long)hole->first,
			   (unsigned long long)hole->last, after, before);
	free(after);
	free(before);
}

void check_begin(struct check *c, struct check_file *file, const char *category, size_t i,
		 struct cpu_merge *m)
{
	unsigned int cpu;
	__u64 first, behind;
	size_t n;

	*file = (struct check_file){ .check = c, .category = category };
	file->known = metadata_category_file(&c->metadata, i, &file->expected);
	m->hole = report_hole;
	m->hole_data = file;
	if (!file->known)
		return;
	for (n = 0; metadata_cpu(&file->expected, n, &cpu, &first, &behind); n++)
		cpu_merge_expect(m, cpu, first, behind);
}

static void report_lost(const struct check_file *file, __u64 lost, __u64 all)
{
	char *share = text_share(lost, all);

	if (!share)
		return;
	cli_say_of(file->check->trace, "%s: %llu events (%s) are missing: they were lost or overwritten before they were read",
		   file->category, (unsigned long long)lost, share);
	free(share);
}

void check_end(const struct check_file *file, struct cpu_merge *m)
{
	const struct metadata_file *expected = file->known ? &file->expected : NULL;
	struct check *c = file->check;

	if (expected)
		trace_reader_check(&m->reader, expected->frames, expected->bytes);
	if (expected && m->events != expected->events) {
		c->damaged = true;
		cli_say_of(c->trace, "%s: %llu of %llu events can be read", file->category,
			   (unsigned long long)m->events, (unsigned long long)expected->events);
	}
	c->damaged |= m->reader.damaged;
	if (c->shows_counts)
		return;
	if (m->lost)
		report_lost(file, m->lost, m->events + m->lost);
	if (expected && expected->missed)
		cli_say_of(c->trace, "%s: %llu calls are missing: the kernel's hooks missed them",
			   file->category, (unsigned long long)expected->missed);
}

int check_judge(const struct check *c, bool partial)
{
	if (!c->damaged || partial)
		return CLI_OK;
	cli_say_of(c->trace, "is incomplete, so the exit status is 1 (with --partial: 0)");
	return CLI_FAILED;
}
