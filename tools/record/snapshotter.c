// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "record/snapshotter.h"

#define NS_PER_S 1000000000ULL

static bool is_cancelled(void *data)
{
	struct snapshotter *s = data;

	return atomic_load(&s->cancelled);
}

/* Lowers the priorities of this thread only: Linux has both for each thread. */
static void give_way(void)
{
	setpriority(PRIO_PROCESS, syscall(SYS_gettid), 19);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
		IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

/* Counts a snapshot as made or failed. An abandoned one counts as neither. */
static void count(struct snapshotter *s, unsigned int *made, int status)
{
	if (!status)
		++*made;
	else if (!atomic_load(&s->cancelled))
		s->failed++;
}

static __u64 after(double seconds)
{
	return seconds ? processes_now() + (__u64)(seconds * NS_PER_S) : 0;
}

static void take_fs(struct snapshotter *s)
{
	s->next_fs = after(s->fs_interval);
	count(s, &s->nr_fs, snapshot_fs(&s->snapshot, &s->fs));
}

static void take_processes(struct snapshotter *s)
{
	s->next_process = after(s->process_interval);
	count(s, &s->nr_process, snapshot_process(&s->snapshot, &s->processes));
}

static bool is_due(__u64 time, __u64 now)
{
	return time && time <= now;
}

/* The time of the next snapshot or sample. */
static __u64 next_time(const struct snapshotter *s, __u64 sample)
{
	__u64 next = sample;

	if (s->next_fs && s->next_fs < next)
		next = s->next_fs;
	if (s->next_process && s->next_process < next)
		next = s->next_process;
	return next;
}

/* Waits until @next. Returns true if the thread has to end, at once in that case. */
static bool wait_until(struct snapshotter *s, __u64 next)
{
	__u64 now = processes_now(), ns = next > now ? next - now : 0;
	struct timespec t;
	bool end;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += t.tv_nsec;
	t.tv_sec += ns / NS_PER_S;
	t.tv_nsec = ns % NS_PER_S;
	pthread_mutex_lock(&s->lock);
	while (!s->finish && !atomic_load(&s->cancelled) &&
	       pthread_cond_timedwait(&s->change, &s->lock, &t) != ETIMEDOUT)
		;
	end = s->finish || atomic_load(&s->cancelled);
	pthread_mutex_unlock(&s->lock);
	return end;
}

static void go_on(struct snapshotter *s)
{
	__u64 sample = after(PROCESSES_PERIOD_S), now;

	while (!wait_until(s, next_time(s, sample))) {
		now = processes_now();
		/* before the sample: shares of the CPU need an older one */
		if (is_due(s->next_process, now))
			take_processes(s);
		if (is_due(sample, now)) {
			processes_sample(&s->processes);
			sample = after(PROCESSES_PERIOD_S);
		}
		if (is_due(s->next_fs, now))
			take_fs(s);
	}
}

static void *work(void *data)
{
	struct snapshotter *s = data;

	give_way();
	processes_sample(&s->processes);
	take_processes(s);
	count(s, &s->nr_system, snapshot_system(&s->snapshot));
	take_fs(s);
	atomic_store(&s->ready, true);
	go_on(s);
	if (!atomic_load(&s->cancelled))
		take_fs(s);
	atomic_store(&s->done, true);
	return NULL;
}

static int make_directory(struct snapshotter *s, int trace)
{
	/* it may exist already, with the maps of a VM's disks */
	if (!mkdirat(trace, SNAPSHOT_DIRECTORY, 0700) || errno == EEXIST) {
		s->snapshot.in = openat(trace, SNAPSHOT_DIRECTORY,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (s->snapshot.in >= 0)
			return CLI_OK;
	}
	cli_say_of(s->where, "cannot be made: %s", strerror(errno));
	return CLI_FAILED;
}

int snapshotter_start(struct snapshotter *s, int trace, const char *name,
		      const struct anonymizer *anonymizer)
{
	pthread_condattr_t attributes;
	int err;

	s->where = xasprintf("%s/" SNAPSHOT_DIRECTORY, name);
	s->snapshot = (struct snapshot){
		.in = -1, .where = s->where, .rotate = SNAPSHOT_ROTATE, .anonymizer = anonymizer,
		.interrupted = is_cancelled, .data = s,
	};
	if (make_directory(s, trace))
		return CLI_FAILED;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&s->change, &attributes);
	pthread_condattr_destroy(&attributes);
	err = pthread_create(&s->thread, NULL, work, s);
	s->running = !err;
	if (!err)
		return CLI_OK;
	cli_say("cannot start the thread for snapshots: %s", strerror(err));
	return CLI_FAILED;
}

static void tell(struct snapshotter *s, bool cancel)
{
	if (!s->running)
		return;
	pthread_mutex_lock(&s->lock);
	s->finish = true;
	if (cancel)
		atomic_store(&s->cancelled, true);
	pthread_cond_broadcast(&s->change);
	pthread_mutex_unlock(&s->lock);
}

void snapshotter_finish(struct snapshotter *s)
{
	tell(s, false);
}

void snapshotter_cancel(struct snapshotter *s)
{
	tell(s, true);
}

void snapshotter_join(struct snapshotter *s)
{
	if (s->running)
		pthread_join(s->thread, NULL);
	s->running = false;
	if (s->snapshot.in >= 0 && s->where)
		close(s->snapshot.in);
	s->snapshot.in = -1;
	processes_free(&s->processes);
	free(s->where);
	s->where = NULL;
}
