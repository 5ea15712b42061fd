// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"

static const struct say_sink *of_all;
static __thread struct {
	const struct say_sink *sink;
} this_thread XALLOC_TLS;

void say_to_all(const struct say_sink *sink)
{
	of_all = sink;
}

const struct say_sink *say_to(const struct say_sink *sink)
{
	const struct say_sink *before = this_thread.sink;

	this_thread.sink = sink;
	return before;
}

char *say_text(const char *format, va_list args)
{
	char *text = xvasprintf(format, args);
	char *shown = text ? text_guard(text, strlen(text), "") : NULL;

	free(text);
	return shown;
}

static void say(const char *subject, const char *format, va_list args)
{
	const struct say_sink *sink = this_thread.sink ? this_thread.sink : of_all;
	char *shown = subject ? text_show(subject, strlen(subject)) : NULL;
	char *text = say_text(format, args);
	char *line = text ? xasprintf("%s%s%s", shown ? shown : "", shown ? ": " : "", text) : NULL;

	if (line && sink)
		sink->take(sink->data, line);
	free(line);
	free(text);
	free(shown);
}

void cli_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(NULL, format, args);
	va_end(args);
}

void cli_say_of(const char *subject, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(subject, format, args);
	va_end(args);
}
