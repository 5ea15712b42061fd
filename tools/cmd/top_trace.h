/* SPDX-License-Identifier: GPL-2.0 */
/* A trace as a source of iotracer top: an interval has the events that began in it. */
#ifndef TOOL_CMD_TOP_TRACE_H
#define TOOL_CMD_TOP_TRACE_H

#include "cmd/pass.h"
#include "top/source.h"

struct top_trace {
	struct top_source source;
	struct pass pass;
	__u64 begin, end;		/* of the trace, ns since 1970; @end 0: it has none */
	__u64 last;			/* when the last event ended that was seen */
	bool was_read;			/* an interval was: what is damaged has been reported */
};

/*
 * @words: the trace; t->pass has the options. Returns an exit code; errors are reported. Close it
 * in either case.
 */
int top_trace_open(struct top_trace *t, const struct cli_words *words);
int top_trace_close(struct top_trace *t, int status);

/* Where an interval begins that has this time, as --at gives it. */
__u64 top_trace_at(const struct top_trace *t, const struct wall_given *at);

#endif /* TOOL_CMD_TOP_TRACE_H */
