/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Merges traces, of several hosts or of several times, into one.
 *
 * Times become nanoseconds since 1970, by the two clocks of each trace in metadata.json and by the
 * offset that the user gave. Ids of paths and CPUs are shifted, so that each trace has a range of
 * its own: the CPU of a row identifies its trace, and paths need not be compared.
 *
 * Frames are taken one at a time from the trace that is furthest behind in time, and written to the
 * result. Its readers merge the CPUs as those of any trace, see trace.h on @until. So memory holds
 * one frame per trace, however large the traces are.
 *
 * The result is written under a name that begins with a dot, and renamed when it is whole.
 */
#ifndef TOOL_RECORD_TRACE_MERGE_H
#define TOOL_RECORD_TRACE_MERGE_H

#include "record/trace_merge_parts.h"

/* Returns an exit code; errors are reported. */
int trace_merge_make(const struct trace_merge_options *options);

#endif /* TOOL_RECORD_TRACE_MERGE_H */
