// SPDX-License-Identifier: GPL-2.0
/* Category uring: IO Tracer's columns for io_uring events, made from our records. */
#include "base/put.h"
#include "trace/category.h"

static bool is_enter(const struct iot_uring *u)
{
	return u->op == IOT_URING_ENTER;
}

/* A number that only calls of io_uring_enter(2) or only requests have; others show "". */
static char *put_if(struct row_printer *p, bool has, char *out, __s64 value)
{
	return has ? put_s64(out, value) : row_text(p, out, "", 0, true);
}

static char *put_flags_if(struct row_printer *p, bool has, char *out, const char *group,
			  __u32 value)
{
	return has ? row_group(p, out, group, value) : row_text(p, out, "", 0, true);
}

static char *put_ring_fd(struct row_printer *p, const struct row_column *c, char *out,
			 const void *record)
{
	const struct iot_uring *u = record;

	(void)c;
	return put_if(p, is_enter(u), out, u->fd);
}

static char *put_to_submit(struct row_printer *p, const struct row_column *c, char *out,
			   const void *record)
{
	const struct iot_uring *u = record;

	(void)c;
	return put_if(p, is_enter(u), out, u->to_submit);
}

static char *put_min_complete(struct row_printer *p, const struct row_column *c,
			      char *out, const void *record)
{
	const struct iot_uring *u = record;

	(void)c;
	return put_if(p, is_enter(u), out, u->min_complete);
}

static char *put_enter_flags(struct row_printer *p, const struct row_column *c,
			     char *out, const void *record)
{
	const struct iot_uring *u = record;

	(void)c;
	return put_flags_if(p, is_enter(u), out, "enter", u->flags);
}

static char *put_opcode(struct row_printer *p, const struct row_column *c, char *out,
			const void *record)
{
	const struct iot_uring *u = record;

	(void)c;
	return put_flags_if(p, u->opcode != IOT_URING_NONE, out, "uringop", u->opcode);
}

static char *put_fd(struct row_printer *p, const struct row_column *c, char *out,
		    const void *record)
{
	const struct iot_uring *u = record;

	(void)c;
	return put_if(p, !is_enter(u), out, u->fd);
}

static char *put_sqe_flags(struct row_printer *p, const struct row_column *c, char *out,
			   const void *record)
{
	const struct iot_uring *u = record;

	(void)c;
	return put_flags_if(p, u->op == IOT_URING_SUBMIT || u->op == IOT_URING_WORKER, out,
			    "sqe", u->flags);
}

static char *put_errno(struct row_printer *p, const struct row_column *c, char *out,
		       const void *record)
{
	const struct iot_uring *u = record;

	(void)c;
	return put_if(p, u->result < 0, out, -u->result);
}

/* A worker is a thread of the process that submitted the request. */
static char *put_worker_pid(struct row_printer *p, const struct row_column *c, char *out,
			    const void *record)
{
	const struct iot_uring *u = record;

	(void)c;
	return put_if(p, u->worker, out, u->pid);
}

static char *put_worker_tid(struct row_printer *p, const struct row_column *c, char *out,
			    const void *record)
{
	const struct iot_uring *u = record;

	(void)c;
	return put_if(p, u->worker, out, u->worker);
}

static char *put_is_async(struct row_printer *p, const struct row_column *c, char *out,
			  const void *record)
{
	const struct iot_uring *u = record;

	(void)c;
	return put_if(p, !is_enter(u), out, u->worker != 0);
}

static const struct row_column columns[] = {
	{ .name = "timestamp", .field = "time", .put = row_datetime },
	{ .name = "event_type", .field = "op" },
	{ .name = "pid", .field = "pid" },
	{ .name = "tid", .field = "tid" },
	{ .name = "command", .field = "comm" },
	{ .name = "cpu", .field = "cpu" },
	{ .name = "ring_fd", .put = put_ring_fd },
	{ .name = "to_submit", .put = put_to_submit },
	{ .name = "min_complete", .put = put_min_complete },
	{ .name = "enter_flags", .put = put_enter_flags },
	{ .name = "req", .field = "request" },
	{ .name = "user_data", .field = "user_data" },
	{ .name = "opcode", .put = put_opcode },
	{ .name = "fd", .put = put_fd },
	{ .name = "length", .field = "requested" },
	{ .name = "offset", .field = "offset" },
	{ .name = "sqe_flags", .put = put_sqe_flags },
	{ .name = "ioprio", .field = "ioprio" },
	{ .name = "buf_index", .field = "buf_index" },
	{ .name = "personality", .field = "personality" },
	{ .name = "result", .field = "result" },
	{ .name = "errno", .put = put_errno },
	{ .name = "latency_ns", .field = "latency" },
	{ .name = "worker_pid", .put = put_worker_pid },
	{ .name = "worker_tid", .put = put_worker_tid },
	{ .name = "is_async", .put = put_is_async },
	{ .name = "sq_depth", .field = "sq_depth" },
	{ .name = "cq_depth", .field = "cq_depth" },
};

const struct category category_uring = {
	.name = "uring",
	.io_tracer = "io_uring",
	.event_id = IOT_EVENT_ID_URING,
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.command_op = NO_OP,
};
