/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Merges traces, of several hosts or of several times, into one.
 *
 * Times become nanoseconds since 1970: of each trace by its own two clocks, as metadata.json has
 * them, and by the offset that the user gave. Ids of paths and CPUs are moved, so that each trace
 * has a range of its own: a row's CPU tells of which trace it is, and no path is looked up.
 *
 * Frames are taken one at a time from the trace that is behind in time, and written again. The
 * reader merges the CPUs of the result as those of any trace, see trace.h on @until. So what is
 * in memory is a frame of each trace, whatever their sizes.
 *
 * The result is made under a name that begins with a dot, and is given its own name when it is
 * whole.
 */
#ifndef TOOL_RECORD_TRACE_MERGE_H
#define TOOL_RECORD_TRACE_MERGE_H

#include "record/trace_merge_parts.h"

/* Returns an exit code; errors are reported. */
int trace_merge_make(const struct trace_merge_options *options);

#endif /* TOOL_RECORD_TRACE_MERGE_H */
