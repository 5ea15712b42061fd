/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An event as a line for people:
 *
 *	TIME          WHO             OP         OFFSET   BYTES    TAKES  PATH
 *	15:20:01.123  postgres/1234   READ       8192     8.00KiB  650us  ...base/5/1259
 *
 * On a terminal of less than WATCH_WIDE columns a line has the columns above. On a wider one, and
 * in a file or a pipe, the time has microseconds, and LEVEL and RESULT have columns of their own;
 * else an error is shown in place of the bytes. Only on a terminal are texts shortened: no
 * character, and no \ooo that stands for a byte, is torn.
 */
#ifndef TOOL_CMD_WATCH_LINE_H
#define TOOL_CMD_WATCH_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/wall.h"
#include "core/schema.h"
#include "trace/measure.h"
#include "trace/row.h"

#define WATCH_WIDE 110

struct paths;

/* Where an event has what a line shows. */
struct watch_line {
	const struct iot_schema_event *event;
	const struct paths *paths;		/* NULL: the event has none */
	const struct iot_schema_field *op, *pid, *comm, *offset, *sector, *requested, *result, *level,
		*path, *path2, *flags;
	struct measurer measurer;
	struct row_printer printer;		/* shows the fields of events without a path */
	size_t columns;				/* of the terminal; 0: texts are not shortened */
};

/* Close it in the end. */
void watch_line_open(struct watch_line *l, const struct iot_schema_event *event, const struct paths *paths);
void watch_line_close(struct watch_line *l);

void watch_line_head(const struct watch_line *l);

/* @now: both clocks at one moment, for the time of day. */
void watch_line_print(struct watch_line *l, const struct wall_pair *now, const void *record);

/* A line that is no event, about the watching itself. Frees the text. */
void watch_line_say(const struct watch_line *l, char *text);

#endif /* TOOL_CMD_WATCH_LINE_H */
