// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "module/adding.h"
#include "module/proc.h"
#include "module/target.h"
#include "module/tasks_text.h"

#define PARAMETER	"/sys/module/iotracer/parameters/MAX_EVENTS"

struct reason {
	int err;
	const char *why;
};

static const struct reason add_errors[] = {
	{ ENOENT, "no such file" },
	{ EACCES, "you may not read this file, so you may not trace it" },
	{ EISDIR, "a directory, and the module that is loaded traces only files and block devices" },
	{ EOPNOTSUPP, "cannot be traced: neither a regular file, a directory nor a block device, or its filesystem shows the kernel's own state or does not read and write through read_iter and write_iter" },
	{ ENOMEM, "no memory for its events: the number exceeds the module parameter max_events_limit, or all rings together ring_memory_limit (see dmesg); ask for less with --max-events" },
	{ EINVAL, "the module refused the command: the number of events must be from 1 to the module parameter max_events_limit" },
	{ ENOSPC, "No space left: as many directories are traced as can be; remove one (iotracer remove)" },
	{ ENAMETOOLONG, "the name is too long" },
	{ EIO, "the module is being unloaded" },
	{ 0 }
};

/* What an error means for processes and services, if not the same. */
static const struct reason tasks_errors[] = {
	{ ESRCH, "no such process" },
	{ ENOENT, "no such control group: say what /proc/PID/cgroup shows after 0::" },
	{ EOPNOTSUPP, "cannot be traced: the module that is loaded was built without category fs" },
	{ EINVAL, "the module refused the command: a name has 1 to 15 bytes, and the number of events is from 1 to the module parameter max_events_limit" },
	{ ENOSPC, "No space left: as many processes and services are traced as can be; remove one (iotracer remove)" },
	{ 0 }
};

/* NULL if the error is not in the list. */
static const char *reason_of(const struct reason *reasons, int err)
{
	for (; reasons->err; reasons++)
		if (reasons->err == err)
			return reasons->why;
	return NULL;
}

static int explain_add(const char *file, int err)
{
	if (err == EPERM)
		return proc_explain(proc_root(), NULL, "control", -err);
	if (err == ENOENT && tasks_is_text(file))
		cli_say_of(file, "no such file; for processes say --pid, --comm or --cgroup (iotracer add --help)");
	else
		cli_say_of(file, "%s", reason_of(add_errors, err) ?: strerror(err));
	return err == EACCES ? CLI_DENIED : CLI_FAILED;
}

static char *add_command(const char *text, const char *max_events, const char *options)
{
	char *escaped = text_escape(text);
	char *command = xasprintf("add %s%s%s%s", options, escaped, max_events ? " " : "",
				  max_events ? max_events : "");

	free(escaped);
	return command;
}

int adding_file(int fd, const char *file, const char *max_events, const char *options)
{
	char *spelled = target_spelled(file);
	char *command = add_command(spelled, max_events, options);
	int err = proc_command(fd, command);

	free(command);
	free(spelled);
	return err ? explain_add(file, -err) : CLI_OK;
}

const char *adding_default_events(void)
{
	unsigned long long n = 0;
	FILE *f = fopen(PARAMETER, "re");

	if (f) {
		if (fscanf(f, "%llu", &n) != 1)
			n = 0;
		fclose(f);
	}
	return n > strtoull(ADDING_EVENTS, NULL, 10) ? NULL : ADDING_EVENTS;
}

static int explain_add_tasks(const char *text, const char *command, int err)
{
	char *refusal;

	if (err == EPERM)
		return proc_explain(proc_root(), NULL, "control", -err);
	refusal = err == EIO ? NULL : proc_refusal(NULL, command);
	if (refusal)
		cli_say("the module refuses %s", refusal);
	else
		cli_say_of(text, "%s", reason_of(tasks_errors, err) ?:
			   reason_of(add_errors, err) ?: strerror(err));
	free(refusal);
	return CLI_FAILED;
}

int adding_tasks(int fd, const char *text, const char *max_events, const char *options)
{
	char *command = add_command(text, max_events, options);
	int err = proc_command(fd, command);
	int status = err ? explain_add_tasks(text, command, -err) : CLI_OK;

	free(command);
	return status;
}
