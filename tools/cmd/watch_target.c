// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/watch_target.h"
#include "module/adding.h"
#include "module/proc.h"

static struct watch_target *added;	/* removed at exit; NULL: there is nothing to remove */

/* --- removing --------------------------------------------------------------------------- */

static const struct target *find_named(const struct target_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (!strcmp(list->targets[i].name, name))
			return &list->targets[i];
	return NULL;
}

/* Removes the path that was added; other paths of the file were added by others. */
static int remove_it(const struct watch_target *t)
{
	char *escaped = text_escape(t->text), *command = xasprintf("remove %s", escaped);
	int fd = proc_open(NULL, "control", O_WRONLY), err = fd < 0 ? fd : proc_command(fd, command);

	if (fd >= 0)
		close(fd);
	free(command);
	free(escaped);
	return err;
}

/* Of a target that is still there. The module takes a path for the file that it leads to now. */
static void remove_listed(const struct watch_target *t, const struct target_list *list)
{
	const struct target *now = t->is_tasks ? NULL : target_at(list, t->text);
	int err;

	if (now && strcmp(now->name, t->name)) {
		cli_say_of(t->subject, "stays traced: its path leads to another target now, %s; to end it: iotracer remove %s",
			   now->name, t->name);
		return;
	}
	err = remove_it(t);
	if (err && err != -ENOENT)
		cli_say_of(t->subject, "stays traced: %s; to end it: iotracer remove %s", strerror(-err), t->name);
}

static void remove_added(void)
{
	struct watch_target *t = added;
	struct target_list list;

	added = NULL;
	if (!t)
		return;
	if (!target_list_load(&list) && find_named(&list, t->name))
		remove_listed(t, &list);
	target_list_free(&list);
}

/* --- adding ------------------------------------------------------------------------------- */

static int add(const char *file, const char *text, const char *max_events, const char *options)
{
	int fd = proc_open(NULL, "control", O_WRONLY), status;

	if (fd < 0)
		return proc_explain(proc_root(), NULL, "control", fd);
	if (text)
		status = adding_tasks(fd, text, max_events, options);
	else
		status = adding_file(fd, file, max_events ? max_events : adding_default_events(), options);
	close(fd);
	return status;
}

/* A target that is listed by this text, or whose file this path leads to. */
static const struct target *find(const struct target_list *list, const char *file, const char *text)
{
	const struct target *found;

	if (text)
		return target_of_tasks(list, text);
	found = target_at(list, file);
	if (!found)
		found = target_of_tasks(list, file);
	return found ? found : find_named(list, file);
}

static void look_at_path(struct watch_target *t)
{
	struct stat st;

	if (t->is_tasks || !t->text || stat(t->text, &st))
		st = (struct stat){ .st_ino = 0 };
	t->device = st.st_dev;
	t->inode = st.st_ino;
}

static void take(struct watch_target *t, const struct target *target, const char *file)
{
	const char *path = target->tasks;

	if (!path)
		path = target_path(target, file);
	if (!path && target->nr_paths)
		path = target->paths[0];
	t->name = xstrdup(target->name);
	t->text = path ? xstrdup(path) : NULL;
	look_at_path(t);
}

static int add_and_find(struct watch_target *t, const char *file, const char *text,
			const char *max_events, const char *options)
{
	const struct target *target;
	struct target_list list;
	int status = add(file, text, max_events, options), err;

	if (status)
		return status;
	err = target_list_load(&list);
	target = err ? NULL : find(&list, file, text);
	if (target) {
		take(t, target, file);
		t->is_ours = t->text;
	} else {
		status = err ? proc_explain(proc_root(), NULL, "control", err) : CLI_FAILED;
		if (!err)
			cli_say_of(t->subject, "was removed again while it was added");
	}
	target_list_free(&list);
	if (t->is_ours) {
		added = t;
		atexit(remove_added);
	}
	return status;
}

int watch_target_open(struct watch_target *t, const char *file, const char *text,
		      const char *max_events, const char *options)
{
	const struct target *target;
	struct target_list list;
	int err = target_list_load(&list);

	*t = (struct watch_target){ .subject = file ? file : text, .is_tasks = text };
	if (err) {
		target_list_free(&list);
		return proc_explain(proc_root(), NULL, "control", err);
	}
	target = find(&list, file, text);
	if (target) {
		t->is_tasks = target->tasks;
		take(t, target, file);
	}
	target_list_free(&list);
	return target ? CLI_OK : add_and_find(t, file, text, max_events, options);
}

void watch_target_forget(struct watch_target *t)
{
	t->is_ours = false;
	added = NULL;
}

void watch_target_close(struct watch_target *t)
{
	remove_added();
	free(t->name);
	free(t->text);
	t->name = NULL;
	t->text = NULL;
}

/* --- what happens to it ------------------------------------------------------------------- */

static bool has_path(const struct watch_target *t)
{
	struct target_list list;
	bool has = false;
	const struct target *target;

	if (!target_list_load(&list)) {
		target = target_at(&list, t->text);
		has = target && !strcmp(target->name, t->name);
	}
	target_list_free(&list);
	return has;
}

static char *path_changed(struct watch_target *t)
{
	struct stat st;
	bool same;

	if (!t->text || !t->inode)
		return NULL;
	if (stat(t->text, &st)) {
		if (t->is_gone)
			return NULL;
		t->is_gone = true;
		return xstrdup("its path leads to no file now: it was renamed or deleted, and is watched on");
	}
	same = st.st_dev == t->device && st.st_ino == t->inode;
	if (same && !t->is_gone)
		return NULL;
	t->is_gone = false;
	if (same)
		return xstrdup("its path leads to it again");
	t->device = st.st_dev;
	t->inode = st.st_ino;
	return xstrdup(has_path(t) ? "another file has its path now, which is watched from here on" :
		       "another file has its path now, which is not watched");
}

/* The module marks what has ended. A control group may be there again later. */
static bool has_ended(const struct watch_target *t)
{
	const struct target *target;
	struct target_list list;
	bool ended = false;

	if (strncmp(t->text, "pid=", 4))
		return false;
	if (!target_list_load(&list)) {
		target = find_named(&list, t->name);
		ended = target && target->ended;
	}
	target_list_free(&list);
	return ended;
}

char *watch_target_changed(struct watch_target *t, bool *ended)
{
	*ended = t->is_tasks && t->text && has_ended(t);
	return t->is_tasks ? NULL : path_changed(t);
}
