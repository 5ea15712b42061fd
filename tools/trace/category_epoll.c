// SPDX-License-Identifier: GPL-2.0
/* Category epoll: IO Tracer's columns for multiplexing, made from our records. */
#include <string.h>

#include "base/put.h"
#include "core/names.h"
#include "trace/category.h"

#define NS_PER_MS 1000000

static bool is_ctl(const struct iot_epoll *e)
{
	return e->op >= IOT_EPOLL_EPOLL_CTL_ADD && e->op <= IOT_EPOLL_EPOLL_CTL;
}

static bool waits(const struct iot_epoll *e)
{
	return e->op >= IOT_EPOLL_EPOLL_WAIT;
}

static char *put_word(struct row_printer *p, char *out, const char *word)
{
	return row_text(p, out, word, strlen(word), true);
}

/* A number that only some calls have; others show "". */
static char *put_if(struct row_printer *p, bool has, char *out, __s64 value)
{
	return has ? put_s64(out, value) : put_word(p, out, "");
}

static char *put_type(struct row_printer *p, const struct row_column *c, char *out,
		      const void *record)
{
	const struct iot_epoll *e = record;
	const char *name = iot_names_op_name(IOT_EVENT_ID_EPOLL, is_ctl(e) ? IOT_EPOLL_EPOLL_CTL : e->op);

	(void)c;
	return put_word(p, out, name ? name : "");
}

static char *put_epoll_fd(struct row_printer *p, const struct row_column *c, char *out,
			  const void *record)
{
	const struct iot_epoll *e = record;

	(void)c;
	return put_if(p, e->fd != -1 || is_ctl(e) || e->op == IOT_EPOLL_EPOLL_WAIT, out, e->fd);
}

static char *put_target(struct row_printer *p, const struct row_column *c, char *out,
			const void *record)
{
	const struct iot_epoll *e = record;

	(void)c;
	return put_if(p, is_ctl(e), out, e->target);
}

static char *put_operation(struct row_printer *p, const struct row_column *c, char *out,
			   const void *record)
{
	static const char *const names[] = {
		[IOT_EPOLL_EPOLL_CTL_ADD] = "ADD",
		[IOT_EPOLL_EPOLL_CTL_DEL] = "DEL",
		[IOT_EPOLL_EPOLL_CTL_MOD] = "MOD",
	};
	const struct iot_epoll *e = record;

	(void)c;
	return put_word(p, out, e->op < sizeof(names) / sizeof(names[0]) && names[e->op] ?
			names[e->op] : "");
}

static char *put_mask(struct row_printer *p, const struct row_column *c, char *out,
		      const void *record)
{
	const struct iot_epoll *e = record;

	(void)c;
	return is_ctl(e) ? row_group(p, out, "epollevents", e->events) : put_word(p, out, "");
}

static char *put_maximum(struct row_printer *p, const struct row_column *c, char *out,
			 const void *record)
{
	const struct iot_epoll *e = record;

	(void)c;
	return put_if(p, waits(e), out, e->maximum);
}

static char *put_ready(struct row_printer *p, const struct row_column *c, char *out,
		       const void *record)
{
	const struct iot_epoll *e = record;

	(void)c;
	return put_if(p, waits(e) && e->result >= 0, out, e->result);
}

/* Rounded up, as 0 is a call that does not wait; -1: it waits without limit. */
static char *put_timeout(struct row_printer *p, const struct row_column *c, char *out,
			 const void *record)
{
	const struct iot_epoll *e = record;
	__s64 ms = e->timeout < 0 ? -1 : e->timeout / NS_PER_MS + !!(e->timeout % NS_PER_MS);

	(void)c;
	return put_if(p, waits(e) && e->timeout >= -1, out, ms);
}

static const struct row_column columns[] = {
	{ .name = "timestamp", .field = "time", .put = row_datetime },
	{ .name = "event_type", .put = put_type },
	{ .name = "pid", .field = "pid" },
	{ .name = "tid", .field = "tid" },
	{ .name = "command", .field = "comm" },
	{ .name = "epoll_fd", .put = put_epoll_fd },
	{ .name = "target_fd", .put = put_target },
	{ .name = "operation", .put = put_operation },
	{ .name = "event_mask", .put = put_mask },
	{ .name = "max_events", .put = put_maximum },
	{ .name = "ready_count", .put = put_ready },
	{ .name = "timeout_ms", .put = put_timeout },
	{ .name = "latency_ns", .field = "latency" },
};

const struct category category_epoll = {
	.name = "epoll",
	.io_tracer = "nw_epoll",
	.event_id = IOT_EVENT_ID_EPOLL,
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.command_op = NO_OP,
};
