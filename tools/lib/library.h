/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of libiotracer share.
 *
 * The floors below report errors as messages, and return exit codes. Each function of the library that
 * uses them is a call: it begins with call_begin(), after which the messages of this thread are the
 * call's, and ends with call_end(), which makes an error of them, or of a lack of memory.
 */
#ifndef TOOL_LIB_LIBRARY_H
#define TOOL_LIB_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/say.h"
#include "lib/iotracer.h"
#include "module/stream.h"
#include "trace/check.h"
#include "trace/paths.h"
#include "trace/row.h"
#include "trace/sources.h"

/* Marks what the library exports; all else is hidden. */
#define EXPORTED __attribute__((visibility("default")))

/* Messages that nobody wanted to hear yet: those of the open. */
struct reports {
	char **lines;
	size_t nr;
};

/* A stream of the module. */
struct live {
	char *name;		/* as the caller named it */
	char *target;		/* name of the directory of a target; NULL: a category */
	struct stream stream;
	bool is_read;		/* a cursor has it */
};

struct iotracer_trace {
	char *directory;	/* NULL: a stream */
	struct check check;	/* of a directory; of a stream only @clock is set */
	enum iotracer_state state;
	struct iotracer_time begin, end;
	char host[256], kernel[256];
	struct live live;
	struct paths names;	/* of a directory */
	struct sources sources;
	bool is_open;		/* the call that opened it is over */
	bool names_loaded;
	void (*report)(void *data, const char *line);
	void *report_data;
	struct reports reports;
};

struct call {
	struct iotracer_trace *trace;	/* whose caller hears what is no error; NULL: nobody does */
	struct say_sink sink;
	const struct say_sink *outer;	/* if a report made this call within another one */
	bool outer_failed;
	char *last;			/* the last message, which nobody has heard */
	enum iotracer_code code;	/* of the error, 0: by the exit code */
};

void call_begin(struct call *call, struct iotracer_trace *trace);

/*
 * @status: exit code of what was called. Returns the error, NULL if there was none: the last message is
 * its text. A lack of memory is an error whatever the status.
 */
struct iotracer_error *call_end(struct call *call, int status);

/* An error that the library itself has found. */
struct iotracer_error *error_make(enum iotracer_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Only the lack of memory has this error, which need not be freed. */
struct iotracer_error *error_no_memory(void);

/* The schema is opaque to callers. */
static inline const struct iot_schema_event *schema_event(const struct iotracer_event *event)
{
	return (const struct iot_schema_event *)event;
}

static inline const struct iotracer_event *public_event(const struct iot_schema_event *event)
{
	return (const struct iotracer_event *)event;
}

/* The paths by which rows are shown; NULL if the records of a stream name none. */
static inline const struct paths *trace_names(const struct iotracer_trace *trace)
{
	if (trace->directory)
		return &trace->names;
	return trace->live.stream.category ? &trace->live.stream.names : NULL;
}

/* Within a call. Opens the stream that @live->name means. Returns an exit code. */
int live_open(struct live *live, enum iotracer_code *code);
void live_close(struct live *live);

/* Within a call. The counts of a stream until now. Returns an exit code. */
int live_counts(const struct live *live, struct iotracer_counts *counts);

/* Within a call. Loads what records need to be shown, once. Returns an exit code. */
int trace_load_names(struct iotracer_trace *trace);

#endif /* TOOL_LIB_LIBRARY_H */
