// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli.h"
#include "control.h"
#include "proc.h"

static bool is_missing(const char *category)
{
	char *folder = cli_printf("%s/%s", proc_root(), category);
	bool missing = access(folder, F_OK) && errno == ENOENT;

	free(folder);
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

/* Why the module did not carry out a command. */
static int explain(const struct control *c, const char *command, int err)
{
	const char *why = strerror(-err);

	if (err == -EACCES || err == -EPERM || err == -ENOENT)
		return control_explain(c->category, "control", err);
	if (err == -EINVAL)
		why = "it does not understand it";
	if (err == -ENOMEM)
		why = "no memory, or more than max_events_limit or ring_memory_limit allows (the kernel log says which)";
	cli_say("%s: the module refuses \"%s\": %s", c->category, command, why);
	return CLI_FAILED;
}

int control_command(const struct control *c, const char *command)
{
	int fd = proc_open(c->category, "control", O_WRONLY | O_APPEND);
	int err = fd < 0 ? fd : proc_command(fd, command);

	if (fd >= 0)
		close(fd);
	return err ? explain(c, command, err) : CLI_OK;
}

/* Killed, it closes the stream, and the module stops the category. */
int control_start(const struct control *c)
{
	return control_command(c, "start while-read");
}

static int check_free(struct control *c)
{
	int err = proc_read(c->category, "control", &c->before);

	if (err)
		return control_explain(c->category, "control", err);
	if (strncmp(c->before, "start\n", 6))
		return CLI_OK;
	cli_say("%s is being traced already; to end that: iotracer stop %s", c->category,
		c->category);
	free(c->before);
	c->before = NULL;
	return CLI_FAILED;
}

/* The lock goes with the process, however that ends. */
int control_take(struct control *c, const char *category)
{
	int status;

	*c = (struct control){ .category = category };
	c->fd = proc_open(category, "control", O_RDONLY);
	if (c->fd < 0) {
		int err = c->fd;

		c->fd = -1;
		return control_explain(category, "control", err);
	}
	if (flock(c->fd, LOCK_EX | LOCK_NB)) {
		cli_say("%s is being recorded already, by another iotracer record: only one at a time",
			category);
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

bool control_is_taken(const char *category)
{
	int fd = proc_open(category, "control", O_RDONLY);
	bool taken = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return taken;
}

void control_release(struct control *c)
{
	char *line, *save = NULL;

	if (c->fd < 0)
		return;
	strtok_r(c->before, "\n", &save);	/* what it did: nothing */
	if (!control_gone(c))
		control_command(c, "stop");
	while (!control_gone(c) && (line = strtok_r(NULL, "\n", &save)))
		control_command(c, line);
	free(c->before);
	c->before = NULL;
	close(c->fd);
	c->fd = -1;
}

/* Behind "@name " in a line of its own, or NULL. */
static char *find_line(char *text, const char *name)
{
	size_t length = strlen(name);
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (!strncmp(line, name, length) && line[length] == ' ')
			return line + length + 1;
	return NULL;
}

char *control_value(const struct control *c, const char *name)
{
	char *text = NULL;
	char *value;

	if (proc_read(c->category, "control", &text))
		return cli_strdup("");
	value = find_line(text, name);
	value = cli_strdup(value ? value : "");
	free(text);
	return value;
}

__u64 control_stat(const struct control *c, const char *name)
{
	char *text = NULL;
	__u64 n = 0;
	char *value;

	if (proc_read(c->category, "stats", &text))
		return 0;
	value = find_line(text, name);
	if (value)
		n = strtoull(value, NULL, 10);
	free(text);
	return n;
}
