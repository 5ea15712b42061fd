// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "machine/processes.h"

#define NS_PER_S 1000000000ULL

/* The age in ns from which a sample counts as @seconds old: 5 % less, as timers are not exact. */
#define ENOUGH(seconds) ((seconds) * (NS_PER_S - NS_PER_S / 20))

struct process_history {
	pid_t pid;
	__u64 start;
	__u64 since;		/* its first sample */
	__u64 fine[PROCESSES_FINE], coarse[PROCESSES_COARSE];	/* ticks */
};

__u64 processes_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static long ticks_per_second(void)
{
	static long ticks;

	if (!ticks)
		ticks = sysconf(_SC_CLK_TCK);
	return ticks;
}

bool process_parse(struct process_stat *st, const char *text)
{
	const char *begin = strchr(text, '('), *end = strrchr(text, ')');
	unsigned long long user, system, start, threads, size;
	long long rss;
	int length;

	*st = (struct process_stat){ .pid = atoi(text) };
	if (!begin || !end || end < begin ||
	    sscanf(end + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %llu %*d %llu %llu %lld",
		   &st->state, &st->parent, &user, &system, &threads, &start, &size, &rss) != 8)
		return false;
	length = end - begin - 1;
	snprintf(st->comm, sizeof(st->comm), "%.*s", length, begin + 1);
	st->ticks = user + system;
	st->start = start * (NS_PER_S / ticks_per_second());
	st->threads = threads;
	st->virtual_bytes = size;
	st->rss_pages = rss > 0 ? rss : 0;
	return true;
}

ssize_t process_read(int dir, const char *file, char *text, size_t size)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t n = fd < 0 ? -errno : 1;

	while (n > 0 && length < size - 1) {
		n = read(fd, text + length, size - 1 - length);
		if (n < 0 && errno != EINTR)
			n = -errno;
		else if (n < 0)
			n = 1;
		else
			length += n;
	}
	if (fd >= 0)
		close(fd);
	text[length] = '\0';
	return n < 0 ? n : (ssize_t)length;
}

static int compare(const void *a, const void *b)
{
	pid_t first = *(const pid_t *)a, second = *(const pid_t *)b;

	return (first > second) - (first < second);
}

bool process_list(struct process_list *list)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t room = 0;

	*list = (struct process_list){ .dir = -1 };
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		if (list->nr == room) {
			room = 2 * room + 512;
			list->at = xreallocarray(list->at, room, sizeof(*list->at));
		}
		list->at[list->nr++] = atoi(entry->d_name);
	}
	if (dir)
		list->dir = fcntl(dirfd(dir), F_DUPFD_CLOEXEC, 0);
	if (dir)
		closedir(dir);
	if (list->nr)
		qsort(list->at, list->nr, sizeof(*list->at), compare);
	return list->dir >= 0;
}

void process_list_free(struct process_list *list)
{
	if (list->dir >= 0)
		close(list->dir);
	free(list->at);
}

static bool read_stat(int proc, pid_t pid, struct process_stat *st)
{
	char name[32], text[1024];

	snprintf(name, sizeof(name), "%d/stat", pid);
	return process_read(proc, name, text, sizeof(text)) > 0 && process_parse(st, text);
}

/* The index of a process's history, or the index at which to insert it. */
static size_t place_of(const struct processes *p, pid_t pid)
{
	size_t low = 0, high = p->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (p->at[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct process_history *find(const struct processes *p, pid_t pid, __u64 start)
{
	size_t i = place_of(p, pid);

	return i < p->nr && p->at[i].pid == pid && p->at[i].start == start ? &p->at[i] : NULL;
}

/* Copies the history of a process to @to, and adds the sample to it. */
static void take(const struct processes *old, struct process_history *to,
		 const struct process_stat *st, __u64 now, unsigned int fine, int coarse)
{
	const struct process_history *known = find(old, st->pid, st->start);

	if (known)
		*to = *known;
	else
		*to = (struct process_history){ .pid = st->pid, .start = st->start, .since = now };
	to->fine[fine] = st->ticks;
	if (coarse >= 0)
		to->coarse[coarse] = st->ticks;
}

bool processes_is_due(const struct processes *p, __u64 now)
{
	unsigned int last = (p->nr_fine + PROCESSES_FINE - 1) % PROCESSES_FINE;

	return now - p->fine[last] >= PROCESSES_PERIOD_S * NS_PER_S;
}

void processes_sample(struct processes *p)
{
	unsigned int fine = p->nr_fine % PROCESSES_FINE;
	__u64 now = processes_now(), last;
	struct process_history *all;
	struct process_stat st;
	struct process_list list;
	int coarse = -1;
	size_t i, nr = 0;

	if (!process_list(&list))
		return;
	last = p->nr_coarse ? p->coarse[(p->nr_coarse - 1) % PROCESSES_COARSE] : 0;
	if (!last || now - last >= ENOUGH(PROCESSES_COARSE_S))
		coarse = p->nr_coarse++ % PROCESSES_COARSE;
	all = xreallocarray(NULL, list.nr, sizeof(*all));
	for (i = 0; i < list.nr; i++)
		if (read_stat(list.dir, list.at[i], &st))
			take(p, &all[nr++], &st, now, fine, coarse);
	process_list_free(&list);
	free(p->at);
	p->at = all;
	p->nr = nr;
	p->fine[fine] = now;
	p->nr_fine++;
	if (coarse >= 0)
		p->coarse[coarse] = now;
}

void processes_free(struct processes *p)
{
	free(p->at);
	*p = (struct processes){ 0 };
}

/* The newest time in a ring that is old enough; 0 if there is none. */
static __u64 newest(const __u64 *times, size_t nr, __u64 before, size_t *at)
{
	__u64 best = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!times[i] || times[i] > before || times[i] <= best)
			continue;
		best = times[i];
		*at = i;
	}
	return best;
}

static double share(__u64 ticks, __u64 ns)
{
	return 100.0 * ticks / ticks_per_second() / ((double)ns / NS_PER_S);
}

bool processes_share(const struct processes *p, const struct process_stat *st, __u64 now,
		     unsigned int seconds, double *percent)
{
	__u64 before = now > ENOUGH(seconds) ? now - ENOUGH(seconds) : 0, time, coarse_time;
	size_t fine = 0, coarse = 0;
	const struct process_history *known;
	__u64 ticks;

	time = newest(p->fine, PROCESSES_FINE, before, &fine);
	coarse_time = newest(p->coarse, PROCESSES_COARSE, before, &coarse);
	if (st->start >= before || (time && st->start >= time)) {
		*percent = share(st->ticks, seconds * NS_PER_S);
		return true;
	}
	known = find(p, st->pid, st->start);
	if (time >= coarse_time) {
		ticks = known ? known->fine[fine] : 0;
	} else {
		time = coarse_time;
		ticks = known ? known->coarse[coarse] : 0;
	}
	/* a process that started after the sample is not in it */
	if (!time || !known || known->since > time || ticks > st->ticks)
		return false;
	*percent = share(st->ticks - ticks, now - time);
	return true;
}
