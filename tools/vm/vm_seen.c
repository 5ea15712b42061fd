// SPDX-License-Identifier: GPL-2.0
/*
 * A file is identified by its inode and filesystem, and, because the inode number of a deleted file
 * is reused, by the time of its creation, if the filesystem stores that.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "machine/host.h"
#include "machine/processes.h"
#include "machine/system.h"
#include "module/target.h"
#include "vm/guest.h"
#include "vm/vm_object.h"
#include "vm/vm_seen.h"

#define DIRECTORY	"/run/iotracer"	/* or what the environment variable IOTRACER_RUN names */
#define ALL_BYTES	(8u << 20)	/* in the file of a VM, at most */
#define FILES_MAX	4096		/* remembered for a VM */
#define BORN_SLACK_NS	20000000	/* by which a filesystem's times may differ from the clock */

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* --- storage ----------------------------------------------------------------------- */

/* Opens and locks the directory, to which only we may write. -1: nothing can be stored. */
static int open_directory(bool make)
{
	const char *own = secure_getenv("IOTRACER_RUN");
	char *path = own && *own ? xstrdup(own) : host_path(DIRECTORY);
	struct stat st;
	int fd;

	if (make)
		mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	free(path);
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 022 || flock(fd, LOCK_EX))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* When the process was started; 0 if there is no such process. */
static __u64 start_of(pid_t pid)
{
	char *text = system_text("/proc/%d/stat", pid);
	struct process_stat st;
	bool good = text && process_parse(&st, text);

	free(text);
	return good ? st.start : 0;
}

static char *name_of(pid_t pid, __u64 start)
{
	return xasprintf("vm-%d-%llu.json", pid, (unsigned long long)start);
}

/* The object in the file, or NULL if there is none that is valid. */
static json_t *read_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	json_t *content = NULL;
	struct stat st;
	char *text;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size <= ALL_BYTES) {
		text = xreallocarray(NULL, st.st_size + 1, 1);
		if (read(fd, text, st.st_size) == st.st_size)
			content = json_loadb(text, st.st_size, 0, NULL);
		free(text);
	}
	close(fd);
	if (json_is_object(content) && json_is_array(json_object_get(content, "files")))
		return content;
	json_decref(content);
	return NULL;
}

static void write_file(int dir, const char *name, const json_t *content)
{
	char *part = xasprintf(".%s", name);
	int fd;

	/* a killed command may have left it; nobody is writing it, because we hold the lock */
	unlinkat(dir, part, 0);
	fd = openat(dir, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		bool good = !json_dumpfd(content, fd, JSON_COMPACT);

		if (close(fd) || !good || renameat(dir, part, dir, name))
			unlinkat(dir, part, 0);
	}
	free(part);
}

/* Whether the VM of this file has ended and is not a target. */
static bool is_stale(const char *name, const struct target_list *targets)
{
	unsigned long long start;
	int pid;

	if (sscanf(name, "vm-%d-%llu.json", &pid, &start) != 2)
		return false;
	return start_of(pid) != start && !target_of_process(targets, pid, true) &&
	       !target_of_process(targets, pid, false);
}

/* Calls @act for the file of each VM in the directory. */
static void each_file(int dir, void (*act)(int dir, const char *name, void *data), void *data)
{
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (!strncmp(entry->d_name, "vm-", 3))
			act(dir, entry->d_name, data);
	if (list)
		closedir(list);
}

static void clean_file(int dir, const char *name, void *data)
{
	const struct target_list *targets = data;

	if (is_stale(name, targets))
		unlinkat(dir, name, 0);
}

static void clean(int dir)
{
	struct target_list targets;
	int err = target_list_load(&targets);

	/* without the module there are no targets */
	if (!err || err == -ENOENT || err == -ENOTDIR)
		each_file(dir, clean_file, &targets);
	target_list_free(&targets);
}

void vm_seen_clean(void)
{
	int dir = open_directory(false);

	if (dir < 0)
		return;
	clean(dir);
	close(dir);
}

/* --- files in use now ------------------------------------------------------------- */

static bool is_number(const json_t *a, const json_t *b, const char *key)
{
	return json_integer_value(json_object_get(a, key)) == json_integer_value(json_object_get(b, key));
}

static bool is_text(const json_t *a, const json_t *b, const char *key)
{
	const char *first = text_of(a, key), *second = text_of(b, key);

	return first && second && !strcmp(first, second);
}

static bool is_same_file(const json_t *a, const json_t *b)
{
	return is_number(a, b, "inode") && is_number(a, b, "born_ns") && is_text(a, b, "filesystem");
}

/* Adds a file to the present files, or, if it is among them, the drive to its drives. */
static void add_file(json_t *now, const json_t *file, const char *drive, json_t *format)
{
	static const char *const keys[] = { "file", "inode", "filesystem", "born_ns" };
	json_t *entry;
	size_t i;

	if (!json_is_integer(json_object_get(file, "inode")) || !text_of(file, "file"))
		return;
	json_array_foreach(now, i, entry) {
		if (is_same_file(entry, file) && is_text(entry, file, "file")) {
			char *drives = guest_add_drive(xstrdup(text_of(entry, "drives")), drive);

			json_put(entry, "drives", json_string(drives));
			free(drives);
			return;
		}
	}
	entry = json_object();
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_put(entry, keys[i], json_incref(json_object_get(file, keys[i])));
	json_put(entry, "drives", json_string(drive));
	json_put(entry, "format", format ? json_incref(format) : json_null());
	json_put(entry, "block", json_boolean(json_object_get(file, "device")));
	json_put(entry, "open", json_boolean(json_is_true(json_object_get(file, "open"))));
	json_add(now, entry);
}

static void add_drive(json_t *now, const json_t *drive)
{
	const char *name = text_of(drive, "name");
	json_t *layer, *raw = json_string("raw");
	size_t i;

	json_array_foreach(json_object_get(drive, "layers"), i, layer) {
		add_file(now, layer, name ? name : "", json_object_get(layer, "format"));
		/* QEMU stores each byte at the guest's offset */
		add_file(now, json_object_get(layer, "data_file"), name ? name : "", raw);
	}
	json_decref(raw);
}

static bool has_file(const json_t *files, const json_t *file)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(files, i, entry) {
		if (is_same_file(entry, file))
			return true;
	}
	return false;
}

static bool is_unplugged(const json_t *drive)
{
	return json_is_true(json_object_get(drive, "unplugged"));
}

/* The present files of the VM. Those of an unplugged drive are added if they were never seen. */
static json_t *files_now(const json_t *machine, const json_t *before)
{
	json_t *now = json_array(), *one, *old = json_array();
	size_t i;

	json_array_foreach(json_object_get(machine, "drives"), i, one) {
		add_drive(is_unplugged(one) ? old : now, one);
	}
	json_array_foreach(json_object_get(machine, "open_files"), i, one) {
		const char *above = text_of(one, "above");

		add_file(now, one, above ? above : "", json_object_get(one, "format"));
	}
	json_array_foreach(old, i, one) {
		if (!has_file(now, one) && !has_file(before, one))
			json_add(now, json_incref(one));
	}
	json_decref(old);
	return now;
}

/* The latest entry of the file with this name. */
static json_t *latest(const json_t *files, const json_t *file)
{
	json_t *entry, *found = NULL;
	json_int_t most = -1;
	size_t i;

	json_array_foreach(files, i, entry) {
		json_int_t last = json_integer_value(json_object_get(entry, "last_ns"));

		if (last > most && is_same_file(entry, file) && is_text(entry, file, "file")) {
			found = entry;
			most = last;
		}
	}
	return found;
}

/* Merges the present files into those that were seen before. */
static void merge(json_t *files, const json_t *now, __u64 time)
{
	json_t *one;
	size_t i;

	json_array_foreach(now, i, one) {
		json_t *entry = latest(files, one);

		if (entry && is_text(entry, one, "drives")) {
			json_put(entry, "format", json_incref(json_object_get(one, "format")));
			if (json_is_true(json_object_get(one, "open")))
				json_put(entry, "open", json_true());
		} else {
			json_put(one, "first_ns", json_integer(time));
			json_add(files, json_incref(one));
			entry = one;
		}
		json_put(entry, "last_ns", json_integer(time));
	}
	while (json_array_size(files) > FILES_MAX)
		json_array_remove(files, 0);
}

/* --- unplugged, without a monitor ---------------------------------------------------- */

static bool was_open(const json_t *files, const json_t *layer)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(files, i, entry) {
		if (is_same_file(entry, layer) && json_is_true(json_object_get(entry, "open")))
			return true;
	}
	return false;
}

/* Whether an open image may be the drive's new one. */
static bool is_replaced(const json_t *machine, const json_t *drive)
{
	const json_t *file;
	size_t i;

	json_array_foreach(json_object_get(machine, "open_files"), i, file) {
		const char *above = text_of(file, "above"), *name = text_of(drive, "name");

		if (!above || (name && !strcmp(above, name)))
			return true;
	}
	return false;
}

static bool is_closed(const json_t *files, const json_t *drive)
{
	const json_t *layer;
	size_t i;

	json_array_foreach(json_object_get(drive, "layers"), i, layer) {
		if (!json_is_false(json_object_get(layer, "open")) || !was_open(files, layer))
			return false;
	}
	return i;
}

static void find_unplugged(const json_t *machine, const json_t *files)
{
	json_t *drive;
	size_t i;

	if (!json_is_array(json_object_get(machine, "open_files")))
		return;
	json_array_foreach(json_object_get(machine, "drives"), i, drive) {
		if (json_is_null(json_object_get(drive, "unplugged")) && is_closed(files, drive) &&
		    !is_replaced(machine, drive))
			json_put(drive, "unplugged", json_true());
	}
}

/* --- drives that were added, and unplugged again --------------------------------------- */

static bool has_drive(const json_t *drives, const char *name, size_t length)
{
	const json_t *drive;
	size_t i;

	json_array_foreach(drives, i, drive) {
		const char *own = text_of(drive, "name");

		if (own && strlen(own) == length && !strncmp(own, name, length))
			return true;
	}
	return false;
}

/* Adds the file to the unplugged drive with this name, which is created if there is none. */
static void add_gone(json_t *drives, const char *name, size_t length, const json_t *file)
{
	static const char *const keys[] = { "file", "format", "inode", "filesystem", "born_ns" };
	json_t *drive, *found = NULL, *layer = json_object();
	char *own = xasprintf("%.*s", (int)length, name);
	size_t i;

	json_array_foreach(drives, i, drive) {
		if (!strcmp(text_of(drive, "name"), own))
			found = drive;
	}
	if (!found) {
		found = json_object();
		json_put(found, "name", json_string(own));
		json_put(found, "unplugged", json_true());
		json_put(found, "added", json_true());
		json_put(found, "layers", json_array());
		json_add(drives, found);
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_put(layer, keys[i], json_incref(json_object_get(file, keys[i])));
	json_add(json_object_get(found, "layers"), layer);
	free(own);
}

static void list_gone(const json_t *machine, const json_t *files)
{
	json_t *drives = json_object_get(machine, "drives"), *gone = json_array(), *one;
	size_t i, length;

	json_array_foreach(files, i, one) {
		const char *at = text_of(one, "drives");

		for (; at && *at; at += length, at += *at == ',') {
			length = strcspn(at, ",");
			if (!has_drive(drives, at, length))
				add_gone(gone, at, length, one);
		}
	}
	json_array_foreach(gone, i, one) {
		json_add(drives, json_incref(one));
	}
	json_decref(gone);
}

/* --- all of it ---------------------------------------------------------------------- */

/* Loads what was seen before. If it can be stored, locks *@dir and sets *@name; else -1 and NULL. */
static json_t *load(const json_t *machine, int *dir, char **name, bool make)
{
	__u64 start = start_of(vm_pid(machine));
	json_t *content = NULL;

	*name = NULL;
	*dir = start || json_is_true(json_object_get(machine, "ended")) ? open_directory(make) : -1;
	if (json_is_true(json_object_get(machine, "ended")))
		start = json_integer_value(json_object_get(machine, "start_ns"));
	if (*dir >= 0) {
		*name = name_of(vm_pid(machine), start);
		content = read_file(*dir, *name);
	}
	if (!content) {
		content = json_object();
		json_put(content, "files", json_array());
	}
	json_put(content, "start_ns", json_integer(start));
	return content;
}

static json_t *update(const json_t *machine, json_t *content, __u64 time)
{
	json_t *files = json_object_get(content, "files"), *now;

	if (json_is_true(json_object_get(machine, "ended")))
		return json_incref(files);
	find_unplugged(machine, files);
	now = files_now(machine, files);
	merge(files, now, time);
	json_decref(now);
	/* only with QEMU's answer are the added drives that still exist listed */
	if (text_of(machine, "asked") && !strcmp(text_of(machine, "asked"), "answered"))
		list_gone(machine, files);
	json_put(content, "pid", json_incref(json_object_get(machine, "pid")));
	json_put(content, "name", json_incref(json_object_get(machine, "name")));
	return json_incref(files);
}

void vm_seen_update(json_t *machine)
{
	char *name;
	int dir;
	json_t *content = load(machine, &dir, &name, true);

	json_decref(update(machine, content, wall_now().monotonic));
	if (dir >= 0) {
		write_file(dir, name, content);
		clean(dir);
		close(dir);
	}
	free(name);
	json_decref(content);
}

/* The VM of a file, if it has this name or PID and its process has ended; or NULL. */
static json_t *ended(int dir, const char *file, const char *name)
{
	json_t *content = read_file(dir, file), *machine = NULL;
	pid_t pid = json_integer_value(json_object_get(content, "pid"));
	__u64 start = json_integer_value(json_object_get(content, "start_ns"));

	if (content && vm_is(content, name) && start_of(pid) != start) {
		machine = json_object();
		json_put(machine, "pid", json_integer(pid));
		json_put(machine, "name", json_incref(json_object_get(content, "name")));
		json_put(machine, "start_ns", json_integer(start));
		json_put(machine, "ended", json_true());
	}
	json_decref(content);
	return machine;
}

struct search {
	const char *name;
	json_t *found;
	size_t nr;
};

static void search_file(int dir, const char *file, void *data)
{
	struct search *search = data;
	json_t *machine = ended(dir, file, search->name);

	search->nr += !!machine;
	if (search->found)
		json_decref(machine);
	else
		search->found = machine;
}

json_t *vm_seen_ended(const char *name, size_t *nr)
{
	struct search search = { .name = name };
	int dir = open_directory(false);

	*nr = 0;
	if (dir < 0)
		return NULL;
	clean(dir);
	each_file(dir, search_file, &search);
	close(dir);
	*nr = search.nr;
	return search.found;
}

static __u32 device_of(const json_t *entry)
{
	const char *text = text_of(entry, "filesystem");
	unsigned int major = 0, minor = 0;

	if (!text || sscanf(text, "%u:%u", &major, &minor) != 2)
		return 0;
	return major << 20 | minor;
}

static void take_entry(struct vm_seen *seen, const json_t *entry)
{
	const char *file = text_of(entry, "file"), *drives = text_of(entry, "drives");

	if (!file || !drives)
		return;
	seen->at[seen->nr++] = (struct vm_seen_file){
		.file = file, .drives = drives, .format = text_of(entry, "format"),
		.inode = json_integer_value(json_object_get(entry, "inode")), .device = device_of(entry),
		.is_device = json_is_true(json_object_get(entry, "block")),
		.born = json_integer_value(json_object_get(entry, "born_ns")),
		.first = json_integer_value(json_object_get(entry, "first_ns")),
		.last = json_integer_value(json_object_get(entry, "last_ns")),
	};
}

void vm_seen_load(struct vm_seen *seen, const json_t *machine)
{
	struct wall_pair now = wall_now();
	json_t *content, *entry;
	char *name;
	size_t i;
	int dir;

	content = load(machine, &dir, &name, false);
	*seen = (struct vm_seen){
		.files = update(machine, content, now.monotonic), .now = now.monotonic,
		.offset = now.realtime - now.monotonic,
	};
	seen->at = xreallocarray(NULL, json_array_size(seen->files) + 1, sizeof(*seen->at));
	json_array_foreach(seen->files, i, entry) {
		take_entry(seen, entry);
	}
	if (dir >= 0)
		close(dir);
	free(name);
	json_decref(content);
}

void vm_seen_free(struct vm_seen *seen)
{
	free(seen->at);
	json_decref(seen->files);
	*seen = (struct vm_seen){ 0 };
}

/* --- the file of an event -------------------------------------------------------------- */

static bool has_path(const struct vm_seen_file *f, const struct vm_seen_event *e)
{
	return e->path && !strcmp(f->file, e->path);
}

static bool is_file(const struct vm_seen_file *f, const struct vm_seen_event *e)
{
	if (f->is_device && has_path(f, e))
		return true;
	return f->inode == e->inode && (f->device == e->device || has_path(f, e));
}

/*
 * Finds which file had the inode number at the time of the event: the last one created before it. A
 * call that creates a file begins earlier than the file, so if the path matches, the file may be
 * created until the call's end. An event after the file was last seen needs the file's path, or
 * none, because the number may belong to another file by then.
 */
static bool find_file(const struct vm_seen *seen, const struct vm_seen_event *e, __u64 *born)
{
	__u64 begun = e->time + seen->offset, ended = begun + e->latency + BORN_SLACK_NS, last = 0;
	bool found = false, named = false;
	size_t i;

	for (i = 0; i < seen->nr; i++) {
		const struct vm_seen_file *f = &seen->at[i];

		if (!is_file(f, e) || f->born > (has_path(f, e) ? ended : begun) ||
		    (found && f->born < *born))
			continue;
		if (!found || f->born > *born) {
			named = false;
			last = 0;
		}
		found = true;
		*born = f->born;
		named = named || has_path(f, e) || !e->path;
		last = f->last > last ? f->last : last;
	}
	return found && (named || last == seen->now || e->time <= last);
}

/* The last entry that began before the event, and the first that began later; of a drive or not. */
static void find_around(const struct vm_seen *seen, const struct vm_seen_event *e, __u64 born, bool of_drive,
			const struct vm_seen_file **before, const struct vm_seen_file **after)
{
	size_t i;

	*before = *after = NULL;
	for (i = 0; i < seen->nr; i++) {
		const struct vm_seen_file *f = &seen->at[i];

		if (!is_file(f, e) || f->born != born || !*f->drives == of_drive)
			continue;
		if (f->first <= e->time) {
			if (!*before || f->first >= (*before)->first)
				*before = f;
		} else if (!*after || f->first < (*after)->first) {
			*after = f;
		}
	}
}

const struct vm_seen_file *vm_seen_find(const struct vm_seen *seen, const struct vm_seen_event *event,
					char **drives)
{
	const struct vm_seen_file *before, *after;
	char *names, *save = NULL, *name;
	__u64 born = 0;

	if (!find_file(seen, event, &born))
		return NULL;
	find_around(seen, event, born, true, &before, &after);
	if (!before && !after)
		find_around(seen, event, born, false, &before, &after);
	if (!before)
		before = after;
	if (!before)
		return NULL;
	*drives = xstrdup(before->drives);
	if (!after || after == before || event->time <= before->last)
		return before;
	names = xstrdup(after->drives);
	for (name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save))
		*drives = guest_add_drive(*drives, name);
	free(names);
	return before;
}
