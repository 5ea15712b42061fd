// SPDX-License-Identifier: GPL-2.0
/*
 * storm: everything that can be done to iotracer, at once.
 *
 *	storm [-t SECONDS] [-s SEED] KO DISK MOUNTPOINT DIR...
 *
 * KO is the module, loaded or not. Each DIR is a mounted filesystem. DISK is a block
 * device with an ext4 filesystem that nothing else uses; it is mounted at MOUNTPOINT
 * and unmounted all the time.
 *
 * Each actor is a process that takes steps until the time is up. The errors that a
 * step may meet are listed with the step: a target was just removed, the module was
 * just unloaded. Any other error ends the storm and is reported with the actor and
 * the file. In the end each actor must have succeeded at something, fio must have
 * found its data intact, and the counts of each target must obey the law: seen is
 * stored + overwritten + lost.
 *
 * A seed repeats the decisions of each actor, not the timing.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lib/proc.h"
#include "lib/random.h"

enum {
	MAX_DIRS = 4,
	FILES = 6,		/* in each directory: f0 to f5; link is a hard link to one */
	FILE_SIZE = 64 * 1024,
	MAX_ACTORS = 32,
	MESSAGE = 512,
};

/* Shared by all processes. */
struct shared {
	atomic_bool stop;
	atomic_int failed;	/* number of failures; @message has the first */
	atomic_long end;	/* as time(2) */
	char message[MESSAGE];
	struct tally {
		atomic_ulong done;
		atomic_ulong refused;	/* failed with a permitted error */
	} tally[MAX_ACTORS];
};

static struct shared *shared;
static struct tally *tally;	/* of this actor */
static const char *self;	/* its name */
static struct random rng;
static const char *ko, *disk;
static const char *dirs[MAX_DIRS + 1];	/* the last is where disk is mounted */
static int nr_dirs;
static const char *mountpoint;
static unsigned int seconds = 120;

static void fail(const char *format, ...)
{
	char text[MESSAGE];
	va_list args;
	int n = snprintf(text, sizeof(text), "%s: ", self);

	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - n, format, args);
	va_end(args);
	if (!atomic_fetch_add(&shared->failed, 1))
		memcpy(shared->message, text, sizeof(text));
	atomic_store(&shared->stop, true);
}

/*
 * Count the result of an operation, 0 or more or -errno. An error that is not in
 * @permitted, which ends with 0, is a failure. Return: whether the operation succeeded.
 */
static bool went(const char *what, const char *where, long ret, const int *permitted)
{
	if (ret >= 0) {
		atomic_fetch_add(&tally->done, 1);
		return true;
	}
	for (; *permitted; permitted++) {
		if (ret == -*permitted) {
			atomic_fetch_add(&tally->refused, 1);
			return false;
		}
	}
	fail("%.*s %s: %s", (int)strcspn(what, "\n"), what, where, strerror(-ret));
	return false;
}

static const int no_errors[] = { 0 };

static long sys(long ret)
{
	return ret < 0 ? -errno : ret;
}

static void pause_us(unsigned int us)
{
	usleep(1 + random_below(&rng, us));
}

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/*
 * Take a step, then rest for a time that grows with the step's CPU time: all actors
 * together should keep a CPU busy, but not queue for it. In an emulator where twenty
 * processes always want to run, a grace period takes seconds, and unloading, which
 * waits for many, takes minutes.
 */
static void paced(void (*step)(void))
{
	double begin = cpu_time();

	step();
	pause_us(1 + (cpu_time() - begin) * 1e6 * 40);
}

/* The path of a file: f0 to f5, link, rarely fio or one that does not exist. */
static void any_file(char *path, size_t size)
{
	const char *dir = dirs[random_below(&rng, nr_dirs)];
	unsigned int n = random_below(&rng, FILES + 2);

	if (n < FILES)
		snprintf(path, size, "%s/f%u", dir, n);
	else if (n == FILES)
		snprintf(path, size, "%s/link", dir);
	else if (random_once_in(&rng, 4))
		snprintf(path, size, "%s/fio", dir);
	else
		snprintf(path, size, "%s/nothing", dir);
}

/* The directory of a target, or "" if there is no target or no /proc/iotracer. */
static const char *any_target(void)
{
	static struct proc_name names[64];
	int n = proc_names(names, 64);

	return n > 0 ? names[random_below(&rng, n)].text : "";
}

/* Some processes: of a name, a neighbour's or one that does not exist, or all. */
static void any_processes(char *text, size_t size)
{
	static const char * const names[] = { "comm=storm", "comm=fio", "comm=nobody", "cgroup=/" };
	int pid = getpid() - (int)random_below(&rng, 9);

	if (random_once_in(&rng, 2))
		snprintf(text, size, "%s", names[random_below(&rng, 4)]);
	else
		snprintf(text, size, "%s=%d", random_once_in(&rng, 2) ? "pid" : "tree", pid);
}

/*
 * ENOENT: the module is unloaded, or the file does not exist or is not traced. ESRCH: the
 * process does not exist. ENODEV, EIO: the module is being unloaded. ENOMEM: an actor uses up the
 * memory, or ring_memory_limit is reached. ENOSPC: no more groups of processes.
 */
static const int command_errors[] = { ENOENT, ESRCH, ENODEV, EIO, ENOMEM, ENOSPC, 0 };

/* Add or remove a file, a directory that has all files of a filesystem below it, or processes. */
static void step_command(void)
{
	static const int sizes[] = { 1, 2, 10, 100, 1000, 20000 };
	const char *option = "";
	char what[256], line[512];

	if (access(PROC_CONTROL, F_OK))
		pause_us(200000);
	if (random_once_in(&rng, 6)) {
		snprintf(what, sizeof(what), "%s", dirs[random_below(&rng, nr_dirs)]);
	} else if (random_once_in(&rng, 6)) {
		any_processes(what, sizeof(what));
	} else {
		any_file(what, sizeof(what));
		option = random_once_in(&rng, 3) ? "-a " : "";
	}
	if (random_once_in(&rng, 3))
		snprintf(line, sizeof(line), "remove %s\n", what);
	else if (random_once_in(&rng, 3))
		snprintf(line, sizeof(line), "add %s%s\n", option, what);
	else
		snprintf(line, sizeof(line), "add %s%s %d\n", option, what,
			 sizes[random_below(&rng, 6)]);
	went(line, "to control", proc_write(PROC_CONTROL, line, strlen(line)), command_errors);
	pause_us(20000);
}

static void step_switch(void)
{
	static const char * const words[] = { "stop\n", "start\n", "reset\n", "timereset\n" };
	const char *word = words[random_below(&rng, 4)], *target = any_target();
	char path[2 * PROC_NAME];

	snprintf(path, sizeof(path), PROC_DIR "/%s/control", target);
	if (!*target)
		pause_us(200000);
	else
		went(word, path, proc_write(path, word, strlen(word)), command_errors);
	pause_us(20000);
}

/*
 * ESRCH: the process at the root of a tree has exited. EBUSY: another category follows a
 * tree. EINVAL: the condition has no meaning for the category.
 */
static const int category_errors[] = { ENOENT, ENODEV, EIO, ENOMEM, ESRCH, EBUSY, EINVAL, 0 };

/* Commands to categories, which record what all other actors do. */
static void step_category(void)
{
	static const char * const words[] = {
		"start", "start", "start", "stop", "reset", "size 100", "size 5000", "sample 3",
		"sample 1", "mode discard", "mode overwrite", "filter none", "filter comm=storm",
		"filter comm=fio op=READ,WRITE", "filter kind=all", "filter min_size=100",
	};
	const char *word = words[random_below(&rng, sizeof(words) / sizeof(*words))];
	char path[PROC_NAME], line[80];

	snprintf(path, sizeof(path), "%s/control",
		 proc_categories[random_below(&rng, PROC_CATEGORIES)]);
	snprintf(line, sizeof(line), "%s\n", word);
	if (random_once_in(&rng, 10))
		snprintf(line, sizeof(line), "filter tree=%d\n", getpid() - (int)random_below(&rng, 9));
	went(line, path, proc_write(path, line, strlen(line)), category_errors);
	pause_us(500000);
}

/* Readers. */

/* What the log of a directory has behind the other fields: operation, two paths, result. */
static bool is_operation(const char *text)
{
	char op[40], paths[4096];
	unsigned int end = 0;
	long long result;

	/* the second path may be empty, so both are taken together */
	return sscanf(text, ";%39[A-Z_];%4095[^\n]", op, paths) == 2 && strrchr(paths, ';') &&
	       sscanf(strrchr(paths, ';'), ";%lld%n", &result, &end) == 1 &&
	       !strrchr(paths, ';')[end];
}

/*
 * A line of a log has 7 fields, the first of which has nine decimals, or those of a directory or of
 * processes.
 * @time is not changed by the latter, as they are in order of the end of their events.
 */
static bool is_log_line(const char *line, double *time)
{
	unsigned int decimals, pid, end = 0;
	unsigned long long address, size, whole;
	char op, level[4], comm[80];

	if (sscanf(line, "%llu.%9u;%c;%llu;%llu;%3[A-Z];%79[^;];%u%n", &whole, &decimals, &op,
		   &address, &size, level, comm, &pid, &end) != 8 ||
	    strcspn(strchr(line, '.') + 1, ";") != 9)
		return false;
	if (line[end])
		return is_operation(line + end) &&
		       ((strchr("RW-", op) && !strcmp(level, "VFS")) ||
			(strchr("RWFDZ", op) && !strcmp(level, "BLK")));
	*time = whole + decimals / 1e9;
	return strchr("RWFTAPZCID", op) && (!strcmp(level, "VFS") || !strcmp(level, "BLK"));
}

/* Check text that was read from the start of a log: whole lines in order of time. */
static void check_log(const char *path, char *text)
{
	double time = 0, last = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!text) {
			if (*line)
				fail("%s: a line without end: '%s'", path, line);
			return;
		}
		if (!is_log_line(line, &time) || time < last) {
			fail("%s: after %.9f a line '%s'", path, last, line);
			return;
		}
		last = time;
	}
}

/* Check text of the log of a category: whole lines that begin with a time. */
static void check_category_log(const char *path, char *text)
{
	unsigned int decimals, end;
	unsigned long long whole;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		end = 0;
		if (text ? sscanf(line, "%llu.%9u %n", &whole, &decimals, &end) == 2 && end : !*line)
			continue;
		fail("%s: a line '%s'", path, line);
		return;
	}
}

/*
 * ENOENT, ENODEV: the file was gone before it was opened. EIO: it went while it was open.
 * EINVAL: the buffer is too small for a block of a stream or of paths. ESPIPE:
 * those have no offsets.
 */
static const int read_errors[] = { ENOENT, ENODEV, EIO, ENOMEM, EINVAL, ESPIPE, EAGAIN, 0 };
/* EINVAL: a seek in a file of /proc that is gone. */
static const int seek_errors[] = { EINVAL, ESPIPE, 0 };

/*
 * Read a file from start to end in pieces of @piece bytes, or of random sizes if that is
 * 0; @max bytes at most. Return: whether all of it was read.
 */
static bool read_pieces(const char *path, int fd, char *buf, size_t max, size_t piece)
{
	size_t done = 0;
	long n;

	while (done + 1 < max) {
		size_t want = piece ? piece : 1 + random_below(&rng, 5000);

		n = sys(read(fd, buf + done, want < max - 1 - done ? want : max - 1 - done));
		if (n < 0)
			went("reading", path, n, read_errors);
		if (n <= 0)
			break;
		done += n;
	}
	buf[done] = '\0';
	return !n && done + 1 < max;
}

static void read_here_and_there(const char *path, int fd)
{
	char buf[3000];
	int i;

	for (i = 0; i < 20; i++) {
		off_t at = random_below(&rng, 20000);

		if (went("seeking in", path, sys(lseek(fd, at, SEEK_SET)), seek_errors))
			went("reading", path, sys(read(fd, buf, random_below(&rng, sizeof(buf)))),
			     read_errors);
		went("reading", path, sys(pread(fd, buf, 1 + random_below(&rng, 100), at)),
		     read_errors);
	}
}

/* Open a file of a target, or another one. Return: a descriptor or -1. */
static int open_any(char *path, size_t size)
{
	static const char * const own[] = { "log", "log", "stream", "stats", "control", "pipe" };
	static const char * const common[] = {
		"control", "hooks", "format", "paths", "error",
#define IOT_CATEGORY(name, NAME, kinds, traits, meaning)					\
		#name "/control", #name "/log", #name "/stream", #name "/stats",		\
		#name "/error", #name "/pipe",
#include "../module/uapi/categories.def"
	};
	const char *target = any_target();
	long fd;

	if (*target && !random_once_in(&rng, 5))
		snprintf(path, size, PROC_DIR "/%s/%s", target, own[random_below(&rng, 6)]);
	else
		snprintf(path, size, PROC_DIR "/%s", common[random_below(&rng, sizeof(common) / sizeof(*common))]);
	/* without O_NONBLOCK a pipe would wait */
	fd = sys(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	return went("opening", path, fd, read_errors) ? fd : -1;
}

static void step_read(void)
{
	static char buf[8 << 20];
	char path[2 * PROC_NAME];
	bool whole = false;
	int fd = open_any(path, sizeof(path));

	if (fd < 0) {
		pause_us(200000);
		return;
	}
	switch (random_below(&rng, 4)) {
	case 0:
		whole = read_pieces(path, fd, buf, 4000, 1);
		break;
	case 1:
		whole = read_pieces(path, fd, buf, sizeof(buf), 0);
		break;
	case 2:
		whole = read_pieces(path, fd, buf, sizeof(buf), 65536);
		break;
	case 3:
		read_here_and_there(path, fd);
		break;
	}
	if (whole && proc_is_category_log(path))
		check_category_log(path, buf);
	else if (whole && strstr(path, "/log"))
		check_log(path, buf);
	close(fd);
	pause_us(10000);
}

/*
 * Keep a file open and read on, whatever happens to its target, its filesystem and the
 * module.
 */
static void step_hold(void)
{
	char path[2 * PROC_NAME], buf[4096];
	int i, fd = open_any(path, sizeof(path));

	for (i = 0; fd >= 0 && i < 4; i++) {
		went("reading", path, sys(read(fd, buf, 100 + random_below(&rng, 4000))),
		     read_errors);
		pause_us(1000000);
	}
	if (fd >= 0)
		close(fd);
	else
		pause_us(200000);
}

/* Kill a process that reads and writes, wherever it is. */
static void step_kill(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0) {
		fail("fork: %m");
		return;
	}
	if (!pid) {
		random_next(&rng);
		while (1) {
			paced(step_read);
			paced(step_command);
		}
	}
	pause_us(300000);
	kill(pid, SIGKILL);
	went("waiting for", "the killed", sys(waitpid(pid, &status, 0)), no_errors);
	random_next(&rng);
}

/* Reads and writes of files that may be targets. */

/*
 * ENOENT: other actors create, delete and rename the files. EINVAL: while DISK is not
 * mounted, the filesystem below its mount point may have no direct I/O.
 */
static const int io_errors[] = { ENOENT, 0 };
static const int direct_errors[] = { ENOENT, EINVAL, 0 };

static void step_io(void)
{
	static char block[8192] __attribute__((aligned(4096)));
	bool direct = random_once_in(&rng, 4);
	char path[256];
	long fd;
	int i;

	any_file(path, sizeof(path));
	if (strstr(path, "/fio"))
		return;
	fd = sys(open(path, O_RDWR | O_CLOEXEC | (direct ? O_DIRECT : 0)));
	if (!went("opening", path, fd, direct ? direct_errors : io_errors)) {
		pause_us(1000);
		return;
	}
	for (i = random_below(&rng, 30); i > 0; i--) {
		size_t size = direct ? 4096 : 1 + random_below(&rng, sizeof(block));
		off_t at = random_below(&rng, FILE_SIZE / 4096) * 4096;

		if (random_once_in(&rng, 2))
			went("writing", path, sys(pwrite(fd, block, size, at)), io_errors);
		else
			went("reading", path, sys(pread(fd, block, size, at)), io_errors);
	}
	if (random_once_in(&rng, 4))
		went("syncing", path, sys(fdatasync(fd)), io_errors);
	close(fd);
	pause_us(5000);
}

static const int churn_errors[] = { ENOENT, EEXIST, 0 };

static void make_file(const char *path)
{
	long fd = sys(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));

	if (!went("making", path, fd, churn_errors))
		return;
	went("extending", path, sys(ftruncate(fd, FILE_SIZE)), churn_errors);
	close(fd);
}

/* Rename, delete and create files. */
static void step_churn(void)
{
	const char *dir = dirs[random_below(&rng, nr_dirs)];
	char one[256], two[256];

	/* Use the mount point only while something is mounted there. */
	snprintf(one, sizeof(one), "%s/lost+found", dir);
	if (dir == mountpoint && access(one, F_OK))
		return;
	snprintf(one, sizeof(one), "%s/f%u", dir, (int)random_below(&rng, FILES));
	snprintf(two, sizeof(two), "%s/f%u", dir, (int)random_below(&rng, FILES));
	switch (random_below(&rng, 4)) {
	case 0:
		went("deleting", one, sys(unlink(one)), churn_errors);
		make_file(one);
		break;
	case 1:
		went("renaming", one, sys(rename(one, two)), churn_errors);
		make_file(one);
		break;
	case 2:
		make_file(one);
		break;
	case 3:
		snprintf(two, sizeof(two), "%s/link", dir);
		unlink(two);
		went("linking", two, sys(link(one, two)), churn_errors);
		break;
	}
	pause_us(30000);
}

/* EBUSY: a process has a file open there, or its working directory there. */
static const int mount_errors[] = { EBUSY, 0 };

static void step_mount(void)
{
	char path[512];
	int i;

	if (!went("mounting", disk, sys(mount(disk, mountpoint, "ext4", 0, NULL)), mount_errors))
		goto unmount;
	for (i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/f%d", mountpoint, i);
		make_file(path);
	}
	pause_us(1000000);
unmount:
	if (random_once_in(&rng, 3))
		went("detaching", disk, sys(umount2(mountpoint, MNT_DETACH)), mount_errors);
	else
		while (!went("unmounting", disk, sys(umount2(mountpoint, 0)), mount_errors) &&
		       !atomic_load(&shared->stop))
			pause_us(20000);
	pause_us(200000);
}

static int write_number(const char *path, int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d\n", n);
	return proc_write(path, text, strlen(text));
}

static void step_drop_caches(void)
{
	went("dropping", "caches", write_number("/proc/sys/vm/drop_caches",
						1 + random_below(&rng, 3)), no_errors);
	pause_us(2000000);
}

static size_t megabytes_available(void)
{
	char text[4096];
	const char *line;

	if (proc_read("/proc/meminfo", text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, "MemAvailable:");
	return line ? strtoul(line + 13, NULL, 10) / 1024 : 0;
}

/* Take memory until little is left, for a moment. The OOM killer kills this process first. */
static void take_memory(void)
{
	enum { PIECE = 4 << 20, LEFT = 300 };

	if (write_number("/proc/self/oom_score_adj", 1000))
		_exit(1);
	while (megabytes_available() > LEFT && !atomic_load(&shared->stop)) {
		char *piece = mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (piece == MAP_FAILED)
			break;
	}
	pause_us(1000000);
	_exit(0);
}

static void step_memory(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		take_memory();
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		fail("fork or wait: %m");
	else if (WIFEXITED(status) && !WEXITSTATUS(status))
		atomic_fetch_add(&tally->done, 1);
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		atomic_fetch_add(&tally->refused, 1);
	else
		fail("the process that takes memory ended with %#x", status);
	pause_us(3000000);
}

/* EBUSY: another change of that kind is in progress. */
static const int cpu_errors[] = { EBUSY, 0 };

static void step_cpu(void)
{
	static const char path[] = "/sys/devices/system/cpu/cpu1/online";

	if (went("0 to", path, write_number(path, 0), cpu_errors))
		pause_us(500000);
	while (!went("1 to", path, write_number(path, 1), cpu_errors))
		if (atomic_load(&shared->failed))
			return;
	pause_us(3000000);
}

/* The module. */

static int module_load(const char *parameters)
{
	int fd = open(ko, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = sys(syscall(SYS_finit_module, fd, parameters, 0));
	close(fd);
	return ret;
}

/*
 * EAGAIN: the module is in use for a moment. ENOMEM: try again. EBUSY: under this load some
 * call takes longer than unloading waits.
 */
static const int module_errors[] = { EAGAIN, EBUSY, ENOMEM, 0 };

/*
 * Unloading takes seconds, on a debug kernel a minute, in which other actors have
 * nothing to do. So the module then stays loaded for twice as long, and for at least the
 * last quarter of the time, so that there are targets to check the law for.
 */
static void step_module(void)
{
	static time_t away;
	time_t begin;
	static const char * const parameters[] = {
		"", "MAX_EVENTS=100", "attach=kprobe", "ring_memory_limit=400000",
		"max_events_limit=500 MAX_EVENTS=500", "attach=kprobe proc_mode=0666",
	};
	const char *chosen = parameters[random_below(&rng, 6)];

	pause_us(seconds > 120 ? 15000000 : seconds * 125000);
	for (begin = time(NULL); time(NULL) < begin + 2 * away; pause_us(200000))
		if (atomic_load(&shared->stop))
			return;
	if (shared->end - time(NULL) < seconds / 4 + away)
		return;
	begin = time(NULL);
	if (!went("unloading", ko, sys(syscall(SYS_delete_module, "iotracer", O_NONBLOCK)),
		  module_errors))
		return;
	pause_us(200000);
	while (!went("loading with", chosen, module_load(chosen), module_errors))
		if (atomic_load(&shared->failed))
			return;
	away = time(NULL) - begin;
	if (shared->end < time(NULL) + seconds / 4)
		shared->end = time(NULL) + seconds / 4;
	printf("unloaded and loaded again in %ld s: %s\n", (long)away, chosen);
	fflush(stdout);
}

/* fio writes, reads back and compares, on XFS with direct I/O. It ends by itself. */
static void run_fio(const char *dir)
{
	char file[300], runtime[40];

	snprintf(file, sizeof(file), "--filename=%s/fio", dir);
	snprintf(runtime, sizeof(runtime), "--runtime=%u", seconds);
	execlp("fio", "fio", "--name=storm", file, runtime, "--time_based", "--size=8M",
	       "--rw=randwrite", "--bs=4k", "--verify=crc32c", "--verify_backlog=32",
	       "--verify_fatal=1", "--ioengine=libaio", "--iodepth=8", "--minimal",
	       "--output=/dev/null", "--fallocate=none", "--thinktime=20ms",
	       strstr(dir, "xfs") ? "--direct=1" : "--direct=0", NULL);
	fail("fio cannot be run: %m");
}

static const struct actor {
	const char *name;
	void (*step)(void);
	int number;
} actors[] = {
	{ "command", step_command, 2 },
	{ "switch", step_switch, 1 },
	{ "category", step_category, 1 },
	{ "read", step_read, 2 },
	{ "hold", step_hold, 2 },
	{ "kill", step_kill, 1 },
	{ "io", step_io, 2 },
	{ "churn", step_churn, 1 },
	{ "mount", step_mount, 1 },
	{ "drop_caches", step_drop_caches, 1 },
	{ "memory", step_memory, 1 },
	{ "cpu", step_cpu, 1 },
	{ "module", step_module, 1 },
};

enum { NR_ACTORS = sizeof(actors) / sizeof(*actors) };

static pid_t start(int index, const char *name, uint64_t seed)
{
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	self = name;
	tally = &shared->tally[index];
	rng.state = seed * 1000 + index;
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static int start_actors(uint64_t seed, pid_t *pids)
{
	int i, j, n = 0;

	for (i = 0; i < NR_ACTORS; i++) {
		for (j = 0; j < actors[i].number; j++, n++) {
			pids[n] = start(i, actors[i].name, seed * 100 + j);
			if (pids[n])
				continue;
			while (!atomic_load(&shared->stop))
				paced(actors[i].step);
			_exit(0);
		}
	}
	return n;
}

static void start_fio(pid_t *pids)
{
	int i;

	for (i = 0; i < nr_dirs - 1; i++) {
		pids[i] = start(NR_ACTORS, "fio", 0);
		if (!pids[i]) {
			run_fio(dirs[i]);
			_exit(1);
		}
	}
}

static void wait_for_all(const pid_t *pids, int n, const char *name)
{
	int i, status;

	self = name;
	for (i = 0; i < n; i++) {
		if (waitpid(pids[i], &status, 0) < 0)
			fail("wait: %m");
		else if (!WIFEXITED(status) || WEXITSTATUS(status))
			fail("ended with status %#x", status);
		else if (!strcmp(name, "fio"))
			atomic_fetch_add(&shared->tally[NR_ACTORS].done, 1);
	}
}

/* Wait until the time is up and there are targets, or something failed. */
static void watch(void)
{
	while (!atomic_load(&shared->stop) && (time(NULL) < shared->end || !*any_target()))
		usleep(100000);
	atomic_store(&shared->stop, true);
}

/*
 * Unloading is tried a few times only, and may be refused each time: a call can take longer than
 * unloading waits, on a busy machine always, and attackers are in calls that never return. What it
 * then has to do is to fail. That it succeeds once the storm is over is for storm.bats.
 */
static bool may_only_be_refused(const char *name)
{
	return !strcmp(name, "module");
}

static int report(void)
{
	int i, bad = 0;

	for (i = 0; i <= NR_ACTORS; i++) {
		const char *name = i < NR_ACTORS ? actors[i].name : "fio";
		unsigned long done = shared->tally[i].done;

		printf("%-12s %8lu done %8lu refused\n", name, done, shared->tally[i].refused);
		if (done || (may_only_be_refused(name) && shared->tally[i].refused))
			continue;
		printf("%s never succeeded at anything\n", name);
		bad = 1;
	}
	if (shared->failed) {
		printf("%s\n", shared->message);
		bad = 1;
	}
	return bad;
}

static void prepare(char **args)
{
	char path[300];
	int i, j;

	for (; *args && nr_dirs < MAX_DIRS; args++)
		dirs[nr_dirs++] = *args;
	for (i = 0; i < nr_dirs; i++) {
		for (j = 0; j < FILES; j++) {
			snprintf(path, sizeof(path), "%s/f%d", dirs[i], j);
			make_file(path);
		}
	}
	dirs[nr_dirs++] = mountpoint;
	if (access("/sys/module/iotracer", F_OK)) {
		errno = -module_load("");
		if (errno)
			err(2, "%s cannot be loaded", ko);
	}
}

static uint64_t options(int argc, char **argv)
{
	uint64_t seed = time(NULL);
	int c;

	while ((c = getopt(argc, argv, "t:s:")) > 0) {
		if (c == 't')
			seconds = atoi(optarg);
		else if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else
			exit(2);
	}
	if (argc - optind < 4)
		errx(2, "storm [-t SECONDS] [-s SEED] KO DISK MOUNTPOINT DIR...");
	ko = argv[optind];
	disk = argv[optind + 1];
	mountpoint = argv[optind + 2];
	return seed;
}

/*
 * Trace one more file after the actors have ended: whatever they removed, there is a
 * target to check the law for, and its ring was overwritten. If ring_memory_limit has no
 * room for it, there are other targets.
 */
static void trace_one_more(void)
{
	static const int full[] = { ENOMEM, 0 };
	static const char block[4096];
	char path[256], line[300];
	long fd, i;

	self = "storm";
	snprintf(path, sizeof(path), "%s/law", dirs[0]);
	fd = sys(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	if (!went("making", path, fd, no_errors))
		return;
	snprintf(line, sizeof(line), "add %s 10\n", path);
	went(line, "to control", proc_write(PROC_CONTROL, line, strlen(line)),
	     *any_target() ? full : no_errors);
	for (i = 0; i < 25; i++)
		went("writing", path, sys(pwrite(fd, block, sizeof(block), i * sizeof(block))),
		     no_errors);
	close(fd);
}

int main(int argc, char **argv)
{
	pid_t pids[MAX_ACTORS], fio[MAX_DIRS];
	uint64_t seed = options(argc, argv);
	int n;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		err(2, "mmap");
	self = "storm";
	tally = &shared->tally[MAX_ACTORS - 1];
	prepare(argv + optind + 3);
	printf("storm: %u seconds, seed %llu\n", seconds, (unsigned long long)seed);
	fflush(stdout);
	shared->end = time(NULL) + seconds;
	n = start_actors(seed, pids);
	start_fio(fio);
	watch();
	wait_for_all(pids, n, "an actor");
	wait_for_all(fio, nr_dirs - 1, "fio");
	umount2(mountpoint, MNT_DETACH);
	proc_stop_categories();
	if (!shared->failed)
		trace_one_more();
	if (report() || proc_law())
		return 1;
	if (*any_target())
		return 0;
	printf("no target is left to check the law for\n");
	return 1;
}
