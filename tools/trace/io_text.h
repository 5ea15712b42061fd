/* SPDX-License-Identifier: GPL-2.0 */
/* A struct io_event as text and as members of an object of JSON. */
#ifndef TOOL_TRACE_IO_TEXT_H
#define TOOL_TRACE_IO_TEXT_H

#include <jansson.h>
#include <linux/types.h>

#include "trace/io_event.h"
#include "trace/paths.h"

#define IO_TEXT_WIDTH 80	/* columns of a page */

/* "READ"; the number of one that has no name is written to @room. */
const char *io_text_op(const struct io_event *e, char room[8]);

/* Its path, escaped; "" if it has none, "?" if it is missing in the trace. */
const char *io_text_path(const struct io_event *e, const struct paths *names);

/* Each allocates: "fs:0:17", which names the event; "fio/1234", whom it is for. */
char *io_text_name(const struct io_event *e);
char *io_text_owner(const struct io_event *e);

/* "+1.234567890s" since @origin, CLOCK_MONOTONIC ns. Allocates. */
char *io_text_since(__u64 time, __u64 origin);

/* Prints a line: @indent blanks, and the end of a text that fits on the page. Frees the text. */
void io_text_line(int indent, char *text);

/*
 * Members: event, category, op, time_ns (@time, ns since 1970), pid, tid, command, file,
 * offset_bytes, size_bytes, result, latency_ns. Of a request pid and command are those that it is
 * for.
 */
void io_text_json(json_t *object, const struct io_event *e, const struct paths *names, __u64 time);

#endif /* TOOL_TRACE_IO_TEXT_H */
