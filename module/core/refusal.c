// SPDX-License-Identifier: GPL-2.0
/*
 * Why a command was refused. The command's text comes from userspace: it is stored as it is,
 * truncated if it is too long, and escaped when it is shown.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include "core/escape.h"
#include "core/refusal.h"

/**
 * iot_why() - set the reason for a refusal
 * @why:	where to store it; a reason that is already set stays, as it was set closer to the
 *		cause
 * @err:	the error
 * @format:	what is wrong, with what, and what to do
 *
 * Return: @err.
 */
int iot_why(struct iot_why *why, int err, const char *format, ...)
{
	va_list args;

	if (*why->text)
		return err;
	va_start(args, format);
	vscnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return err;
}

/* Set the reason from the error number, if @run has not set one. */
static void say_error(struct iot_why *why, int err)
{
	switch (err) {
	case -ENOMEM:
		iot_why(why, err, "there is no memory for it");
		break;
	case -EINTR:
		iot_why(why, err, "it was interrupted");
		break;
	case -ENODEV:
		iot_why(why, err, "it was removed, or the module is being unloaded");
		break;
	default:
		iot_why(why, err, "error %d", -err);
	}
}

/**
 * iot_refusal_run() - run a command, and store the reason if it is refused
 * @last:	where to store it
 * @line:	the command, which @run may change
 * @data:	passed to @run
 * @run:	runs the command; returns 0 or an error
 *
 * Context: task, may sleep. Return: the result of @run.
 */
int iot_refusal_run(struct iot_refusal *last, char *line, void *data,
		    int (*run)(void *data, char *line, struct iot_why *why))
{
	char command[IOT_COMMAND_MAX];
	struct iot_why why;
	bool whole;
	int err;

	whole = strscpy(command, line, sizeof(command)) >= 0;
	why.text[0] = '\0';
	err = run(data, line, &why);
	if (!err)
		return 0;
	say_error(&why, err);
	mutex_lock(&last->lock);
	/* a long command is truncated so that the reason is complete */
	scnprintf(last->text, sizeof(last->text), "%.*s%s: %s", IOT_COMMAND_MAX - 6, command,
		  whole ? "" : "...", why.text);
	mutex_unlock(&last->lock);
	return err;
}

/*
 * For people: backslashes are not escaped, so the command reads as it was written. Characters
 * that control a terminal are.
 */
static void show_text(struct seq_file *m, const char *text)
{
	for (;;) {
		size_t n = strcspn(text, "\\");

		iot_escape(m, text, n, "");
		if (!text[n])
			return;
		seq_putc(m, '\\');
		text += n + 1;
	}
}

/** iot_refusal_show() - print the last refusal as one line, or nothing if there was none */
void iot_refusal_show(struct seq_file *m, struct iot_refusal *last)
{
	mutex_lock(&last->lock);
	if (*last->text) {
		show_text(m, last->text);
		seq_putc(m, '\n');
	}
	mutex_unlock(&last->lock);
}
