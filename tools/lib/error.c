// SPDX-License-Identifier: GPL-2.0
/* libiotracer: errors, and the calls that make them of what the floors below report. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "lib/library.h"

struct iotracer_error {
	enum iotracer_code code;
	char text[];
};

static const struct {
	enum iotracer_code code;
	char text[sizeof("out of memory")];
} no_memory = { IOTRACER_NO_MEMORY, "out of memory" };

struct iotracer_error *error_no_memory(void)
{
	return (struct iotracer_error *)&no_memory;
}

/* Without memory for it the error is that one. */
static struct iotracer_error *make(enum iotracer_code code, const char *text)
{
	size_t length = strlen(text);
	struct iotracer_error *error = malloc(sizeof(*error) + length + 1);

	if (!error)
		return error_no_memory();
	error->code = code;
	memcpy(error->text, text, length + 1);
	return error;
}

struct iotracer_error *error_make(enum iotracer_code code, const char *format, ...)
{
	struct iotracer_error *error;
	va_list args;
	char *text;

	va_start(args, format);
	text = say_text(format, args);
	va_end(args);
	error = text ? make(code, text) : error_no_memory();
	free(text);
	return error;
}

EXPORTED enum iotracer_code iotracer_error_code(const struct iotracer_error *error)
{
	return error->code;
}

EXPORTED const char *iotracer_error_text(const struct iotracer_error *error)
{
	return error->text;
}

EXPORTED void iotracer_error_free(struct iotracer_error *error)
{
	if (error != error_no_memory())
		free(error);
}

/* What an open has to tell is kept until there is somebody to hear it. Takes the line. */
static void keep(struct reports *reports, char *line)
{
	if (xgrow(&reports->lines, reports->nr + 1, sizeof(*reports->lines)))
		reports->lines[reports->nr++] = line;
	else
		free(line);
}

/* Hands on the message that turned out to be no error's. */
static void hand_on(struct call *call)
{
	struct iotracer_trace *t = call->trace;
	char *line = call->last;

	call->last = NULL;
	if (line && t && !t->is_open) {
		keep(&t->reports, line);
		return;
	}
	if (line && t && t->report)
		t->report(t->report_data, line);
	free(line);
}

static void take(void *data, const char *line)
{
	struct call *call = data;

	hand_on(call);
	call->last = xstrdup(line);
}

void call_begin(struct call *call, struct iotracer_trace *trace)
{
	*call = (struct call){ .trace = trace, .sink = { take, call } };
	call->outer = say_to(&call->sink);
	call->outer_failed = xalloc_reset(false);
}

static enum iotracer_code code_of(const struct call *call, int status)
{
	if (call->code)
		return call->code;
	switch (status) {
	case CLI_NO_MODULE:
		return IOTRACER_NO_MODULE;
	case CLI_DENIED:
		return IOTRACER_DENIED;
	default:
		return IOTRACER_UNREADABLE;
	}
}

struct iotracer_error *call_end(struct call *call, int status)
{
	struct iotracer_error *error = NULL;

	if (!status)
		hand_on(call);
	if (xalloc_failed())
		error = error_no_memory();
	else if (status)
		error = make(code_of(call, status), call->last ? call->last : "cannot be read");
	free(call->last);
	say_to(call->outer);
	xalloc_reset(call->outer_failed);
	return error;
}

EXPORTED const char *iotracer_version(void)
{
	return IOTRACER_VERSION;
}

EXPORTED void iotracer_text_unescape(char *text)
{
	text_unescape(text);
}
