// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "trace/sorter.h"

#define FIRST_ROOM 4096		/* items */

void sorter_open(struct sorter *s, size_t size, size_t most)
{
	*s = (struct sorter){ .size = size, .most = most ? most : SORTER_BYTES / size, .fd = -1 };
}

static int compare(const void *left, const void *right)
{
	const struct sorter_key *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->serial > b->serial) - (a->serial < b->serial);
}

/* --- the temporary file --------------------------------------------------------- */

static bool fail(struct sorter *s, const char *what)
{
	cli_say("the temporary file in %s, for sorting, %s: %s (TMPDIR names another directory)",
		getenv("TMPDIR") ?: "/var/tmp", what, strerror(errno));
	s->failed = true;
	return false;
}

static bool open_file(struct sorter *s)
{
	char *name = xasprintf("%s/iotracer-sort.XXXXXX", getenv("TMPDIR") ?: "/var/tmp");

	s->fd = mkostemp(name, O_CLOEXEC);
	if (s->fd >= 0)
		unlink(name);
	free(name);
	return s->fd >= 0 || fail(s, "cannot be made");
}

static bool write_all(struct sorter *s, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(s->fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(s, "cannot be written");
		data += n;
		size -= n;
		s->written += n;
	}
	return true;
}

/* Writes the items in memory as a run. */
static bool spill(struct sorter *s)
{
	struct sorter_run run = { .at = s->written };

	if (s->fd < 0 && !open_file(s))
		return false;
	qsort(s->items, s->nr, s->size, compare);
	if (!write_all(s, s->items, s->nr * s->size))
		return false;
	s->nr = 0;
	run.end = s->written;
	s->runs = xreallocarray(s->runs, s->nr_runs + 1, sizeof(*s->runs));
	s->runs[s->nr_runs++] = run;
	return true;
}

/* Reads the next items of a run. False at its end, or if the file fails. */
static bool load(struct sorter *s, struct sorter_run *run)
{
	size_t size = s->per_run * s->size, got = 0;

	if (size > run->end - run->at)
		size = run->end - run->at;
	while (got < size) {
		ssize_t n = pread(s->fd, run->items + got, size - got, run->at + got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n ? errno : EIO;
			return fail(s, "cannot be read");
		}
		got += n;
	}
	run->at += size;
	run->used = 0;
	run->nr = size / s->size;
	return run->nr;
}

/* --- the merge of runs ---------------------------------------------------------- */

static const char *head_of(const struct sorter *s, size_t run)
{
	return s->runs[run].items + s->runs[run].used * s->size;
}

static void sift_down(struct sorter *s, size_t i)
{
	size_t run = s->heap[i], child;

	while ((child = 2 * i + 1) < s->nr_heap) {
		if (child + 1 < s->nr_heap &&
		    compare(head_of(s, s->heap[child + 1]), head_of(s, s->heap[child])) < 0)
			child++;
		if (compare(head_of(s, run), head_of(s, s->heap[child])) <= 0)
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = run;
}

static bool begin_merge(struct sorter *s)
{
	size_t i;

	free(s->items);
	s->items = NULL;
	s->per_run = SORTER_BYTES / s->size / s->nr_runs;
	if (s->per_run > s->most)
		s->per_run = s->most;
	if (!s->per_run)
		s->per_run = 1;
	s->heap = xreallocarray(NULL, s->nr_runs, sizeof(*s->heap));
	for (i = 0; i < s->nr_runs; i++) {
		s->runs[i].items = xreallocarray(NULL, s->per_run, s->size);
		if (load(s, &s->runs[i]))
			s->heap[s->nr_heap++] = i;
	}
	for (i = s->nr_heap / 2; i-- > 0;)
		sift_down(s, i);
	return !s->failed;
}

static const void *merge_next(struct sorter *s)
{
	struct sorter_run *run;

	if (s->begun && s->nr_heap) {
		run = &s->runs[s->heap[0]];
		if (++run->used == run->nr && !load(s, run))
			s->heap[0] = s->heap[--s->nr_heap];
		if (s->nr_heap)
			sift_down(s, 0);
	}
	s->begun = true;
	return s->nr_heap && !s->failed ? head_of(s, s->heap[0]) : NULL;
}

/* --- items ---------------------------------------------------------------------- */

bool sorter_add(struct sorter *s, void *item)
{
	if (s->nr == s->most && !spill(s))
		return false;
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : FIRST_ROOM;
		if (s->room > s->most)
			s->room = s->most;
		s->items = xreallocarray(s->items, s->room, s->size);
	}
	((struct sorter_key *)item)->serial = s->added++;
	memcpy(s->items + s->nr++ * s->size, item, s->size);
	return true;
}

bool sorter_finish(struct sorter *s)
{
	if (s->failed)
		return false;
	if (s->nr_runs)
		return (!s->nr || spill(s)) && begin_merge(s);
	if (s->nr)
		qsort(s->items, s->nr, s->size, compare);
	return true;
}

const void *sorter_next(struct sorter *s)
{
	if (s->nr_runs)
		return merge_next(s);
	return s->next < s->nr ? s->items + s->next++ * s->size : NULL;
}

void sorter_close(struct sorter *s)
{
	size_t i;

	for (i = 0; i < s->nr_runs; i++)
		free(s->runs[i].items);
	free(s->runs);
	free(s->heap);
	free(s->items);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct sorter){ .fd = -1 };
}
