// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "machine/lock_owner.h"
#include "module/control.h"
#include "module/proc.h"

static bool is_missing(const char *category)
{
	char *dir = xasprintf("%s/%s", proc_root(), category);
	bool missing = dir && access(dir, F_OK) && errno == ENOENT;

	free(dir);
	return missing;
}

bool control_gone(const struct control *c)
{
	return is_missing(c->category);
}

int control_explain(const char *category, const char *file, int err)
{
	if (err == -EIO)
		cli_say("%s: the module was unloaded", category);
	else if (err == -ENOENT && !access(proc_root(), F_OK) && is_missing(category))
		cli_say("%s: the module that is loaded has no such category", category);
	else
		return proc_explain(category, category, file, err);
	return CLI_FAILED;
}

/* Reports why the module did not carry out a command. */
static int explain(const struct control *c, const char *command, int err)
{
	const char *why = strerror(-err);
	char *refusal;

	if (err == -EACCES || err == -EPERM || err == -EIO ||
	    (err == -ENOENT && control_gone(c)))
		return control_explain(c->category, "control", err);
	refusal = proc_refusal(c->category, command);
	if (refusal) {
		cli_say("%s: the module refuses %s", c->category, refusal);
		free(refusal);
		return CLI_FAILED;
	}
	if (err == -EINVAL)
		why = "it does not know this command";
	if (err == -ENOMEM)
		why = "no memory, or more than max_events_limit or ring_memory_limit allows (the kernel log says which)";
	cli_say("%s: the module refuses \"%s\": %s", c->category, command, why);
	return CLI_FAILED;
}

static int send(struct control *c, const char *command)
{
	if (c->commands < 0)
		c->commands = proc_open(c->category, "control", O_WRONLY | O_APPEND);
	return c->commands < 0 ? c->commands : proc_command(c->commands, command);
}

int control_command(struct control *c, const char *command)
{
	int err = send(c, command);

	return err ? explain(c, command, err) : CLI_OK;
}

/* Sets again what a line of control showed. The process of a tree may have exited since. */
static int put_back(struct control *c, const char *line)
{
	int err = send(c, line);

	if (err == -ESRCH) {
		cli_say("%s: \"%s\" is not restored, as that process has exited; the filter now is \"filter none\"",
			c->category, line);
		err = send(c, line = "filter none");
	}
	return err ? explain(c, line, err) : CLI_OK;
}

struct job {
	struct control *control;
	const char *command;
	pthread_t thread;
	bool running;
	int status;
};

static void *work(void *data)
{
	struct job *job = data;

	job->status = control_command(job->control, job->command);
	return NULL;
}

/* The last command is carried out here, and so are those for which no thread can be created. */
int control_command_all(struct control *all, size_t nr, const char *command)
{
	struct job *jobs = xreallocarray(NULL, nr + 1, sizeof(*jobs));
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < nr; i++) {
		jobs[i] = (struct job){ .control = &all[i], .command = command };
		if (i < nr - 1)
			jobs[i].running = !pthread_create(&jobs[i].thread, NULL, work, &jobs[i]);
		if (!jobs[i].running)
			work(&jobs[i]);
	}
	for (i = 0; i < nr; i++) {
		if (jobs[i].running)
			pthread_join(jobs[i].thread, NULL);
		status = cli_merge(status, jobs[i].status);
	}
	free(jobs);
	return status;
}

/* The text after "@name " at the start of a line, or NULL. */
static const char *find_line(const char *text, const char *name)
{
	size_t length = strlen(name);

	while (text && (strncmp(text, name, length) || text[length] != ' ')) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? text + length + 1 : NULL;
}

char *control_text(const char *text, const char *name)
{
	const char *value = find_line(text, name);

	return value ? xasprintf("%.*s", (int)strcspn(value, "\n"), value) : xstrdup("");
}

/* Says who has started a category: a process that reads it, or somebody by hand. */
static void say_started(const struct control *c)
{
	char *reader = control_text(c->before, "# while-read");
	char *who = *reader ? lock_owner_text(atoi(reader)) : NULL;

	cli_say("%s is being traced already%s%s; to end that: iotracer stop %s", c->category,
		who ? ", for " : "", who ? who : "", c->category);
	free(who);
	free(reader);
}

static int check_free(struct control *c)
{
	int err = proc_read(c->category, "control", &c->before);

	if (err)
		return control_explain(c->category, "control", err);
	if (strncmp(c->before, "start\n", 6))
		return CLI_OK;
	say_started(c);
	free(c->before);
	c->before = NULL;
	return CLI_FAILED;
}

/* Each category has one filter, one sampling and one set of rings, so one recorder. */
static void say_taken(const char *category, int fd, const char *advice)
{
	pid_t pid = lock_owner_find(fd);
	char *who = pid ? lock_owner_text(pid) : xstrdup("another iotracer record");
	char *end = pid ? xasprintf("kill -INT %d", pid) : xstrdup("^C there");

	cli_say("%s is being recorded by %s: wait for it, or end it (%s)%s", category, who,
		end, advice);
	free(end);
	free(who);
}

/* The lock is released when the process ends, however that happens. */
int control_take(struct control *c, const char *category)
{
	int status;

	*c = (struct control){ .category = category, .commands = -1 };
	c->fd = proc_open(category, "control", O_RDONLY);
	if (c->fd < 0) {
		int err = c->fd;

		c->fd = -1;
		return control_explain(category, "control", err);
	}
	if (flock(c->fd, LOCK_EX | LOCK_NB)) {
		say_taken(category, c->fd, "; other categories can be recorded meanwhile (-c)");
		status = CLI_FAILED;
	} else {
		status = check_free(c);
	}
	if (status) {
		close(c->fd);
		c->fd = -1;
	}
	return status;
}

/* Whether a recorder has taken the category. If so, that is reported as the error that it is. */
static bool refuse_taken(const char *category)
{
	int fd = proc_open(category, "control", O_RDONLY);
	bool taken = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (taken)
		say_taken(category, fd, "");
	if (fd >= 0)
		close(fd);
	return taken;
}

int control_command_once(const char *category, const char *command)
{
	struct control c = { .category = category, .fd = -1, .commands = -1 };

	if (refuse_taken(category))
		return CLI_FAILED;
	return control_command(&c, command);
}

void control_release(struct control *c)
{
	char *line, *save = NULL;
	int status;

	if (c->fd < 0)
		return;
	strtok_r(c->before, "\n", &save);	/* skip the state: it was stopped */
	status = control_gone(c) ? CLI_FAILED : control_command(c, "stop");
	while (!status && (line = strtok_r(NULL, "\n", &save)))
		status = put_back(c, line);
	free(c->before);
	c->before = NULL;
	if (c->commands >= 0)
		close(c->commands);
	c->commands = -1;
	close(c->fd);
	c->fd = -1;
}

char *control_read(const struct control *c)
{
	char *text = NULL;

	if (proc_read(c->category, "control", &text))
		return xstrdup("");
	return text;
}

bool control_started(const char *category)
{
	const struct control c = { .category = category };
	char *text = control_read(&c);
	bool started = !strncmp(text, "start\n", 6);

	free(text);
	return started;
}

char *control_value(const struct control *c, const char *name)
{
	char *text = control_read(c);
	char *value = control_text(text, name);

	free(text);
	return value;
}

char *control_stats(const struct control *c)
{
	char *text = NULL;

	return proc_read(c->category, "stats", &text) ? NULL : text;
}

__u64 control_number(const char *stats, const char *name)
{
	const char *value = find_line(stats, name);

	return value ? strtoull(value, NULL, 10) : 0;
}

__u64 control_stat(const struct control *c, const char *name)
{
	char *stats = control_stats(c);
	__u64 n = control_number(stats, name);

	free(stats);
	return n;
}

bool control_dirty(const struct control *c, __u64 *bytes, __u64 *unknown)
{
	char *text = NULL;

	if (proc_read(c->category, "dirty", &text))
		return false;
	*bytes = control_number(text, "dirty_bytes") + control_number(text, "writeback_bytes");
	*unknown = control_number(text, "unknown_filesystems");
	free(text);
	return true;
}
