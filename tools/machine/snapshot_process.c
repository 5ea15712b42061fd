// SPDX-License-Identifier: GPL-2.0
/* The snapshot of processes: a row for each process. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/put.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "machine/mounts.h"
#include "machine/processes.h"
#include "machine/snapshot.h"
#include "trace/row.h"
#include "trace/table_writer.h"
#include "trace/trace.h"

static const char header[] =
	"snapshot_timestamp,pid,ppid,comm,cmdline,uid,virtual_mem_kb,rss_kb,create_time,cpu_5s,cpu_2m,"
	"cpu_1h,status,threads,cgroup,cgroup_path,rchar_bytes,wchar_bytes,syscr,syscw,read_bytes,"
	"write_bytes,cancelled_write_bytes,open_files";

#define PATH_BYTES 4096

struct job {
	const struct snapshot *snapshot;
	const struct processes *processes;
	struct table_writer sheet;
	char *cgroup_root;	/* where cgroup v2 is mounted, or NULL */
	char cgroup[PATH_BYTES];	/* of the last process, */
	__u64 cgroup_id;	/* and its id */
	__u64 vanished, denied;
	__s64 boot;		/* CLOCK_REALTIME - CLOCK_BOOTTIME, ns */
};

/* The mount point of cgroup v2, or NULL. The caller frees it. */
static char *find_cgroup_root(void)
{
	struct mounts mounts;
	char *found = NULL;
	size_t i;

	mounts_read(&mounts);
	for (i = 0; i < mounts.nr && !found; i++)
		if (!strcmp(mounts.at[i].type, "cgroup2"))
			found = xstrdup(mounts.at[i].point);
	mounts_free(&mounts);
	return found;
}

/* The names of psutil, which IO Tracer uses. */
static const char *state_of(char state)
{
	static const struct { char state; const char *name; } known[] = {
		{ 'R', "running" }, { 'S', "sleeping" }, { 'D', "disk-sleep" }, { 'T', "stopped" },
		{ 't', "tracing-stop" }, { 'Z', "zombie" }, { 'X', "dead" }, { 'x', "dead" },
		{ 'K', "wake-kill" }, { 'W', "waking" }, { 'I', "idle" }, { 'P', "parked" },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].state == state)
			return known[i].name;
	return "";
}

static char *put_text(char *out, const char *text, size_t length)
{
	static const struct row_printer csv = { .json = false };
	char *shown = text_show(text, length);

	out = row_text(&csv, out, shown, strlen(shown), false);
	free(shown);
	*out++ = ',';
	return out;
}

/* A name, hashed as in a trace in an anonymous snapshot. */
static char *put_name(const struct job *j, char *out, const char *what, const char *text,
		      size_t length)
{
	char hidden[ANONYMOUS_LENGTH];

	if (!j->snapshot->anonymizer || !length)
		return put_text(out, text, length);
	anonymize_word(j->snapshot->anonymizer, hidden, what, text, length);
	return put_text(out, hidden, sizeof(hidden));
}

static char *put_path(const struct job *j, char *out, const char *path)
{
	char hidden[ANONYMOUS_PATH(PATH_BYTES)];

	if (!j->snapshot->anonymizer)
		return put_text(out, path, strlen(path));
	return put_text(out, hidden, anonymize_path(j->snapshot->anonymizer, hidden, path, strlen(path)));
}

static char *put_number(char *out, __u64 n)
{
	out = put_u64(out, n);
	*out++ = ',';
	return out;
}

/* The number after @word in @text; an empty field if there is none. */
static char *put_found(char *out, const char *text, const char *word)
{
	const char *at = strstr(text, word);

	if (at)
		out = put_u64(out, strtoull(at + strlen(word), NULL, 10));
	*out++ = ',';
	return out;
}

/* The command line as in a trace: words separated by blanks, 4096 bytes at most. */
static char *put_command_line(const struct job *j, char *out, int dir)
{
	char text[TRACE_NOTE_MAX + 1];
	ssize_t length = process_read(dir, "cmdline", text, sizeof(text)), i;

	while (length > 0 && !text[length - 1])
		length--;
	for (i = 0; i < length; i++)
		text[i] = text[i] ? text[i] : ' ';
	return put_name(j, out, "cmdline", text, length > 0 ? length : 0);
}

static char *put_share(const struct job *j, char *out, const struct process_stat *st, __u64 now,
		       unsigned int seconds)
{
	double percent;

	if (processes_share(j->processes, st, now, seconds, &percent))
		out += sprintf(out, "%.2f", percent);
	*out++ = ',';
	return out;
}

/* The id of a cgroup is the inode number of its directory; most processes share theirs. */
static __u64 id_of(struct job *j, const char *path)
{
	struct stat st;
	char *name;

	if (!strcmp(path, j->cgroup))
		return j->cgroup_id;
	name = xasprintf("%s%s", j->cgroup_root, path);
	j->cgroup_id = stat(name, &st) ? 0 : st.st_ino;
	snprintf(j->cgroup, sizeof(j->cgroup), "%s", path);
	free(name);
	return j->cgroup_id;
}

/* Id and path of the cgroup. The line of cgroup v2 is "0::PATH". */
static char *put_cgroup(struct job *j, char *out, int dir)
{
	char text[2 * PATH_BYTES], *line;
	__u64 id;

	process_read(dir, "cgroup", text, sizeof(text));
	line = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
	if (!line) {
		*out++ = ',';
		*out++ = ',';
		return out;
	}
	line = strchr(line, '/');
	if (!line)
		line = text + strlen(text);
	line[strcspn(line, "\n")] = '\0';
	line[strnlen(line, PATH_BYTES - 1)] = '\0';
	id = j->cgroup_root ? id_of(j, line) : 0;
	if (id)
		out = put_u64(out, id);
	*out++ = ',';
	return put_path(j, out, line);
}

static char *put_io(struct job *j, char *out, int dir)
{
	static const char *const words[] = {
		"rchar: ", "wchar: ", "syscr: ", "syscw: ", "\nread_bytes: ", "\nwrite_bytes: ",
		"cancelled_write_bytes: ",
	};
	char text[512];
	ssize_t n = process_read(dir, "io", text, sizeof(text));
	size_t i;

	if (n == -EACCES || n == -EPERM)
		j->denied++;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		out = put_found(out, n > 0 ? text : "", words[i]);
	return out;
}

/* Since 6.2, the directory's size is the number of open files. Before, it is 0: count them. */
static char *put_open_files(char *out, int dir)
{
	int fd = openat(dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *files = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;
	__u64 nr = 0;

	if (!files) {
		if (fd >= 0)
			close(fd);
		return out;
	}
	if (!fstat(fd, &st) && st.st_size)
		nr = st.st_size;
	else
		while ((entry = readdir(files)))
			nr += *entry->d_name != '.';
	closedir(files);
	return put_u64(out, nr);
}

/*
 * The user and the memory. The RSS comes from status, because that of stat is inexact by some pages
 * per CPU.
 */
static char *put_status(char *out, int dir, const struct process_stat *st)
{
	char text[4096];
	bool known = process_read(dir, "status", text, sizeof(text)) > 0;
	const char *rss = known ? strstr(text, "\nVmRSS:") : NULL;

	out = put_found(out, known ? text : "", "\nUid:\t");
	out = put_number(out, st->virtual_bytes / 1024);
	if (rss)
		return put_number(out, strtoull(rss + strlen("\nVmRSS:"), NULL, 10));
	return put_number(out, st->rss_pages * sysconf(_SC_PAGESIZE) / 1024);
}

static char *put_row(struct job *j, char *out, int dir, const struct process_stat *st, __u64 now)
{
	__s64 began = st->start + j->boot;
	const char *state = state_of(st->state);

	out = put_bytes(out, j->sheet.time, strlen(j->sheet.time));
	*out++ = ',';
	out = put_number(out, st->pid);
	out = put_number(out, st->parent);
	out = put_name(j, out, "comm", st->comm, strlen(st->comm));
	out = put_command_line(j, out, dir);
	out = put_status(out, dir, st);
	out = put_utc(out, began / 1000000000, began % 1000000000);
	*out++ = ',';
	out = put_share(j, out, st, now, 5);
	out = put_share(j, out, st, now, 120);
	out = put_share(j, out, st, now, 3600);
	out = put_bytes(out, state, strlen(state));
	*out++ = ',';
	out = put_number(out, st->threads);
	out = put_cgroup(j, out, dir);
	out = put_io(j, out, dir);
	return put_open_files(out, dir);
}

/* All files are read below one open directory, so that they belong to the same process. */
static bool add_row(struct job *j, int proc, pid_t pid)
{
	char name[16], text[1024], *out = table_writer_row(&j->sheet);
	struct process_stat st;
	__u64 now;
	int dir;

	if (!out)
		return false;
	snprintf(name, sizeof(name), "%d", pid);
	dir = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	now = processes_now();
	if (dir < 0 || process_read(dir, "stat", text, sizeof(text)) <= 0 ||
	    !process_parse(&st, text)) {
		j->vanished++;
		if (dir >= 0)
			close(dir);
		return true;
	}
	out = put_row(j, out, dir, &st, now);
	close(dir);
	return table_writer_put(&j->sheet, out);
}

static json_t *describe(const struct job *j)
{
	json_t *object = json_object();

	json_put(object, "anonymized", json_boolean(j->snapshot->anonymizer));
	json_put(object, "vanished", json_integer(j->vanished));
	json_put(object, "denied", json_integer(j->denied));
	json_put(object, "samples", json_integer(j->processes->nr_fine));
	return object;
}

static bool run(struct job *j)
{
	struct process_list list;
	bool good = process_list(&list);
	size_t i;

	if (!good)
		cli_say_of("/proc", "cannot be read: %s", strerror(errno));
	for (i = 0; good && i < list.nr; i++)
		good = add_row(j, list.dir, list.at[i]) &&
		       !(j->snapshot->interrupted && j->snapshot->interrupted(j->snapshot->data));
	process_list_free(&list);
	return good && table_writer_finish(&j->sheet, describe(j));
}

int snapshot_process(const struct snapshot *s, const struct processes *processes)
{
	struct job *j = xreallocarray(NULL, 1, sizeof(*j));
	int status = CLI_FAILED;

	memset(j, 0, sizeof(*j));
	j->snapshot = s;
	j->processes = processes;
	j->sheet = (struct table_writer){
		.in = s->in, .where = s->where, .kind = "process", .header = header,
		.rotate = s->rotate, .dir = -1,
	};
	j->cgroup_root = find_cgroup_root();
	if (table_writer_open(&j->sheet)) {
		j->boot = j->sheet.begin.realtime - processes_now();
		if (run(j))
			status = CLI_OK;
	}
	table_writer_close(&j->sheet);
	free(j->cgroup_root);
	free(j);
	return status;
}
