/* SPDX-License-Identifier: GPL-2.0 */
/* The reports on a recording: metadata.json at the beginning and at the end, and messages. */
#ifndef TOOL_RECORD_REPORT_H
#define TOOL_RECORD_REPORT_H

#include <stdbool.h>

struct session;

/* Each returns an exit code; errors are reported. */
int report_begin(struct session *s);
int report_end(struct session *s);

/* For a trace that another one follows: completes its metadata.json, and prints a line. */
void report_segment(struct session *s);

/* Whether a trace that has ended is LOSSY. */
bool report_is_lossy(const struct session *s);
void report_progress(const struct session *s);

#endif /* TOOL_RECORD_REPORT_H */
