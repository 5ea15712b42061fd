// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "core/schema.h"
#include "module/proc.h"
#include "module/target.h"
#include "module/tasks_text.h"

static void add_path(struct target *target, char *path)
{
	if (!xgrow(&target->paths, target->nr_paths + 1, sizeof(*target->paths)) ||
	    !xgrow(&target->deleted, target->nr_paths + 1, sizeof(*target->deleted)))
		return;
	target->deleted[target->nr_paths] = false;
	target->paths[target->nr_paths++] = path;
}

/*
 * Parses "<name> <path>[ (deleted)] [<path>...]" or "<name> <tasks>[ (network)][ (ended)]". What is
 * escaped has no blank, and a path begins with a slash.
 */
static void parse_line(struct target *target, char *line)
{
	char *save = NULL;
	char *word = strtok_r(line, " ", &save);

	text_unescape(word);
	*target = (struct target){ .name = word };
	while ((word = strtok_r(NULL, " ", &save))) {
		if (!strcmp(word, "(deleted)") && target->nr_paths) {
			target->deleted[target->nr_paths - 1] = true;
			continue;
		}
		if (!strcmp(word, "(network)") && target->tasks) {
			target->network = true;
			continue;
		}
		if (!strcmp(word, "(ended)") && target->tasks) {
			target->ended = true;
			continue;
		}
		text_unescape(word);
		if (tasks_is_text(word))
			target->tasks = word;
		else
			add_path(target, word);
	}
}

int target_list_load(struct target_list *list)
{
	char *save = NULL;
	size_t room = 0;
	char *line;
	int err;

	*list = (struct target_list){ 0 };
	err = proc_read(NULL, "control", &list->text);
	if (err)
		return err;
	for (line = strtok_r(list->text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (line[strspn(line, " ")] == '\0')
			continue;
		if (list->nr == room) {
			room = room ? 2 * room : 64;
			if (!xgrow(&list->targets, room, sizeof(*list->targets)))
				return -ENOMEM;
		}
		parse_line(&list->targets[list->nr++], line);
	}
	return xalloc_failed() ? -ENOMEM : 0;
}

void target_list_free(struct target_list *list)
{
	size_t i;

	for (i = 0; i < list->nr; i++) {
		free(list->targets[i].paths);
		free(list->targets[i].deleted);
	}
	free(list->targets);
	free(list->text);
	free(list->stats);
	*list = (struct target_list){ 0 };
}

static const char *listed(const struct target *target, const char *path)
{
	size_t i;

	for (i = 0; i < target->nr_paths; i++)
		if (!strcmp(target->paths[i], path))
			return target->paths[i];
	return NULL;
}

char *target_spelled(const char *file)
{
	char *spelled = xasprintf("%s%s", tasks_is_text(file) ? "./" : "", file);
	size_t n = spelled ? strlen(spelled) : 0;
	struct stat st;

	if (stat(file, &st) && errno == ENOTDIR)
		return spelled;
	while (n > 1 && spelled[n - 1] == '/')
		spelled[--n] = '\0';
	return spelled;
}

/*
 * @file with its directory resolved and its last component kept, or NULL. This is what the
 * module lists for a file that was added by a relative name. The file need not exist any more.
 */
static char *absolute(const char *file)
{
	char *spelled = target_spelled(file);
	const char *slash = spelled ? strrchr(spelled, '/') : NULL;
	char *directory = slash ? xasprintf("%.*s", (int)(slash - spelled + 1), spelled) : xstrdup(".");
	char *resolved = directory && spelled ? realpath(directory, NULL) : NULL;
	char *path = NULL;

	if (!resolved && errno == ENOMEM)
		xchecked(NULL);
	if (resolved)
		path = xasprintf("%s/%s", strcmp(resolved, "/") ? resolved : "",
				 slash ? slash + 1 : spelled);
	free(directory);
	free(resolved);
	free(spelled);
	return path;
}

const char *target_path(const struct target *target, const char *file)
{
	const char *found = listed(target, file);
	char *path = found ? NULL : absolute(file);

	if (path)
		found = listed(target, path);
	free(path);
	return found;
}

static const struct target *find_by_path(const struct target_list *list,
					 const char *path)
{
	size_t i;

	for (i = 0; path && i < list->nr; i++)
		if (listed(&list->targets[i], path))
			return &list->targets[i];
	return NULL;
}

const struct target *target_of_tasks(const struct target_list *list, const char *text)
{
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (list->targets[i].tasks && !strcmp(list->targets[i].tasks, text))
			return &list->targets[i];
	return NULL;
}

const struct target *target_of_process(const struct target_list *list, pid_t pid, bool ended)
{
	char *one = xasprintf("pid=%d", pid), *tree = xasprintf("tree=%d", pid);
	const struct target *found = NULL;
	size_t i;

	for (i = 0; i < list->nr && !found; i++) {
		const struct target *target = &list->targets[i];

		if (target->tasks && target->ended == ended &&
		    (!strcmp(target->tasks, one) || !strcmp(target->tasks, tree)))
			found = target;
	}
	free(one);
	free(tree);
	return found;
}

static const struct target *find_by_name(const struct target_list *list,
					 const char *name)
{
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (!strcmp(list->targets[i].name, name))
			return &list->targets[i];
	return NULL;
}

/* What identifies a file; not every filesystem has a generation. */
struct identity {
	char path[PATH_MAX];	/* without symbolic links; "" if it is not known */
	struct stat st;
	bool has_generation;
	__u32 generation;
};

static int identify(const char *file, struct identity *id)
{
	long generation = 0;
	int fd;

	*id = (struct identity){ 0 };
	if (stat(file, &id->st))
		return -errno;
	if (!realpath(file, id->path))
		id->path[0] = '\0';
	if (!S_ISREG(id->st.st_mode))
		return 0;
	fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	/* Declared as long, but filesystems write an int. */
	if (!ioctl(fd, FS_IOC_GETVERSION, &generation)) {
		id->has_generation = true;
		memcpy(&id->generation, &generation, sizeof(id->generation));
	}
	close(fd);
	return 0;
}

static bool is_this(const struct target_file *file, const struct identity *id)
{
	return file->inode == id->st.st_ino &&
	       file->major == major(id->st.st_dev) &&
	       file->minor == minor(id->st.st_dev) &&
	       (!id->has_generation || file->generation == id->generation);
}

/* A target whose stats do not say which file it is, is known by its paths. */
static bool is_file(const struct target *target, const struct target_stats *stats,
		    const struct identity *id)
{
	size_t i;

	if (!stats->nr_files)
		return listed(target, id->path);
	for (i = 0; i < stats->nr_files; i++)
		if (is_this(&stats->files[i], id))
			return true;
	return false;
}

static const struct target *find_by_identity(const struct target_list *list,
					     const struct identity *id)
{
	struct target_stats stats;
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (!target_stats_load(list->targets[i].name, &stats) &&
		    is_file(&list->targets[i], &stats, id))
			return &list->targets[i];
	return NULL;
}

const struct target *target_at(const struct target_list *list, const char *path)
{
	struct identity id;

	return identify(path, &id) ? NULL : find_by_identity(list, &id);
}

static void load_stats(struct target_list *list)
{
	size_t i;

	list->stats = xreallocarray(NULL, list->nr, sizeof(*list->stats));
	for (i = 0; i < list->nr; i++)
		if (target_stats_load(list->targets[i].name, &list->stats[i]))
			list->stats[i] = (struct target_stats){ 0 };
}

bool target_is_traced(struct target_list *list, const char *path)
{
	struct identity id;
	size_t i;

	if (!list->nr || identify(path, &id))
		return false;
	if (!list->stats)
		load_stats(list);
	for (i = 0; i < list->nr; i++)
		if (is_file(&list->targets[i], &list->stats[i], &id))
			return true;
	return false;
}

/*
 * The path is listed, but its file may have been renamed since, and another file may have
 * its name now. The file that has the name now is chosen if it is traced, too.
 */
static const struct target *check_listed(const struct target_list *list,
					 const struct target *target,
					 const char *file)
{
	const struct target *other;
	struct target_stats stats;
	struct identity id;

	if (identify(file, &id) || target_stats_load(target->name, &stats) ||
	    is_file(target, &stats, &id))
		return target;
	other = find_by_identity(list, &id);
	if (other)
		return other;
	cli_say_of(file, "is another file now; this is about %s, which was added under this name",
		   target->name);
	return target;
}

/* What is listed by @file: a path, also a relative one, processes or the name of a target. */
static const struct target *find_listed(const struct target_list *list, const char *file)
{
	const struct target *target = target_of_tasks(list, file);

	if (!target)
		target = find_by_path(list, file);
	if (!target) {
		char *path = absolute(file);

		target = find_by_path(list, path);
		free(path);
	}
	return target ? target : find_by_name(list, file);
}

char *target_meant(const struct target_list *list, const char *file)
{
	char *name = xstrdup(file);
	struct stat st;

	if (!name)
		return NULL;
	if (find_listed(list, file) || !stat(file, &st))
		return name;
	text_unescape(name);
	if (find_listed(list, name))
		return name;
	strcpy(name, file);
	return name;
}

static const struct target *find(const struct target_list *list, const char *file)
{
	const struct target *target = find_listed(list, file);
	struct identity id;
	int err;

	if (target)
		return target_path(target, file) ? check_listed(list, target, file) : target;
	err = identify(file, &id);
	if (err) {
		cli_say_of(file, "not traced: %s", err == -ENOENT ?
			   "no such file and no target of that name" : strerror(-err));
		return NULL;
	}
	target = find_by_identity(list, &id);
	if (!target)
		cli_say_of(file, "not traced (to trace it: iotracer add FILE)");
	return target;
}

const struct target *target_find(const struct target_list *list, const char *file)
{
	char *meant = target_meant(list, file);
	const struct target *target = meant ? find(list, meant) : NULL;

	free(meant);
	return target;
}

char *target_show(const char *text)
{
	static const char *const states[] = { " (deleted)", " (network)", " (ended)" };
	char *shown = text_show(text, strlen(text)), *safe;
	size_t length = strlen(shown), i, n;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		n = strlen(states[i]);
		if (length < n || strcmp(shown + length - n, states[i]))
			continue;
		safe = xasprintf("%.*s\\040%s", (int)(length - n), shown, states[i] + 1);
		free(shown);
		return safe;
	}
	return shown;
}

static void parse_count(struct target_stats *stats, const char *line)
{
	struct target_count *c = &stats->counts[stats->nr_counts];

	if (stats->nr_counts < TARGET_COUNTS &&
	    sscanf(line, "%15s %llu %llu %llu %llu %llu", c->level, &c->seen,
		   &c->stored, &c->overwritten, &c->lost, &c->missed) == 6)
		stats->nr_counts++;
}

/* "device", "inode" and "generation" follow each other for each file. Returns whether it is one. */
static bool parse_file(struct target_stats *stats, const char *line)
{
	struct target_file *file = &stats->files[stats->nr_files ? stats->nr_files - 1 : 0];
	struct target_file next = { 0 };

	if (sscanf(line, "device %u:%u", &next.major, &next.minor) == 2) {
		if (stats->nr_files < TARGET_FILES)
			stats->files[stats->nr_files++] = next;
		return true;
	}
	return sscanf(line, "inode %llu", &file->inode) == 1 ||
	       sscanf(line, "generation %llu", &file->generation) == 1;
}

/* Lines that a newer module may add are skipped. */
static void parse_stats(struct target_stats *stats, char *text)
{
	char *save = NULL;
	char *line;

	*stats = (struct target_stats){ 0 };
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (parse_file(stats, line) ||
		    sscanf(line, "max_events %llu", &stats->max_events) == 1 ||
		    sscanf(line, "memory_bytes %llu", &stats->memory) == 1 ||
		    sscanf(line, "all_operations %d", &stats->all_operations) == 1)
			continue;
		parse_count(stats, line);
	}
}

int target_stats_load(const char *name, struct target_stats *stats)
{
	char *text;
	int err = proc_read(name, "stats", &text);

	if (err)
		return err;
	parse_stats(stats, text);
	free(text);
	return 0;
}

/* A read of such a stream takes a buffer for the header and a block of one record. */
bool target_has_fs_events(const char *name)
{
	struct iot_stream_header h;
	int fd = proc_open(name, "stream", O_RDONLY);
	char data[1024];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, data, sizeof(data));
	close(fd);
	if (n < (ssize_t)sizeof(h))
		return false;
	memcpy(&h, data, sizeof(h));
	return h.magic == IOT_STREAM_MAGIC && h.event == IOT_EVENT_ID_FS;
}

const struct target_count *target_stats_total(const struct target_stats *stats)
{
	static const struct target_count none;
	size_t i;

	for (i = 0; i < stats->nr_counts; i++)
		if (!strcmp(stats->counts[i].level, "total"))
			return &stats->counts[i];
	return &none;
}

int target_state_load(const char *name, struct target_state *state)
{
	char *text;
	int err = proc_read(name, "control", &text);

	if (err)
		return err;
	if (sscanf(text, "%d %llu.%9u %llu %llu", &state->running, &state->t0_sec,
		   &state->t0_nsec, &state->max_events, &state->events) != 5)
		err = -EPROTO;
	free(text);
	return err;
}

/* The text by which a target is listed: of a file its first path. */
static const char *first_text(const struct target *target)
{
	if (target->tasks)
		return target->tasks;
	return target->nr_paths ? target->paths[0] : target->name;
}

static int each_named(const struct target_list *list, const struct cli_files *files,
		      int (*act)(const struct target *, const char *, void *),
		      void *data)
{
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < files->named.nr; i++) {
		const struct target *target = target_find(list, files->named.at[i]);

		status = cli_merge(status, target ? act(target, files->named.at[i], data) :
						    CLI_FAILED);
	}
	return status;
}

static int each_listed(const struct target_list *list,
		       int (*act)(const struct target *, const char *, void *),
		       void *data)
{
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < list->nr; i++) {
		const struct target *t = &list->targets[i];

		status = cli_merge(status, act(t, first_text(t), data));
	}
	return status;
}

int target_each(const struct cli_files *files,
		int (*act)(const struct target *target, const char *file, void *data),
		void *data)
{
	struct target_list list;
	int status;
	int err = target_list_load(&list);

	if (err)
		status = proc_explain(proc_root(), NULL, "control", err);
	else if (files->all)
		status = each_listed(&list, act, data);
	else
		status = each_named(&list, files, act, data);
	target_list_free(&list);
	return status;
}

const char *target_remarks(const struct target *target)
{
	if (target->network)
		return target->ended ? " (network) (ended)" : " (network)";
	return target->ended ? " (ended)" : "";
}

json_t *target_json(const struct target *target)
{
	json_t *object = json_object(), *paths = json_array(), *deleted = json_array();
	size_t i;

	for (i = 0; i < target->nr_paths; i++) {
		json_add(paths, json_shown(target->paths[i]));
		if (target->deleted[i])
			json_add(deleted, json_shown(target->paths[i]));
	}
	json_put(object, "target", json_shown(target->name));
	json_put(object, "paths", paths);
	json_put(object, "deleted", deleted);
	json_put(object, "tasks", target->tasks ? json_shown(target->tasks) : json_null());
	json_put(object, "network", json_boolean(target->network));
	json_put(object, "ended", json_boolean(target->ended));
	return object;
}

int target_one(struct target_list *list, const char *file,
	       const struct target **target)
{
	int err = target_list_load(list);

	*target = NULL;
	if (err)
		return proc_explain(proc_root(), NULL, "control", err);
	*target = target_find(list, file);
	return *target ? CLI_OK : CLI_FAILED;
}
