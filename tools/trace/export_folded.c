// SPDX-License-Identifier: GPL-2.0
/*
 * Format folded: the lines that flamegraph.pl and other drawers of flame graphs read, with the frames of
 * a stack, a blank, and its nanoseconds:
 *
 *	postgres;var;lib;db;base.1;WRITE 8123456
 *
 * The frames are the command, each component of the path, and the operation. From category block it is
 * the command that made the data dirty, if that is known, and the time in the device; from category fs
 * the latency. A semicolon or a blank in a name is written as \ooo.
 */
#include <stdlib.h>
#include <string.h>

#include "base/put.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "trace/exporter.h"
#include "trace/intern.h"
#include "trace/paths.h"

#define FIRST_ROOM 1024

/* What a stack is made of. */
struct stack {
	__u64 path;
	char comm[16];
	__u32 op;
	__u32 unused;
};

/* Sums of nanoseconds, each of a byte string. */
struct sums {
	struct intern keys;
	__u64 *ns;		/* by number of the key */
	size_t room;
};

struct state {
	struct sums stacks;	/* of struct stack */
	struct sums lines;	/* of their texts: several ids can have one path */
};

static void open_folded(struct exporter *x)
{
	struct state *s = xreallocarray(NULL, 1, sizeof(*s));

	*s = (struct state){ .stacks = { .room = 0 } };
	x->state = s;
}

/* A sum of more than 64 bits becomes the largest number. */
static void add(struct sums *s, const void *key, size_t length, __u64 ns)
{
	__u32 number = intern_add(&s->keys, key, length);
	size_t room = s->room ? 2 * s->room : FIRST_ROOM;

	if (number == s->room) {
		s->ns = xreallocarray(s->ns, room, sizeof(*s->ns));
		memset(s->ns + s->room, 0, (room - s->room) * sizeof(*s->ns));
		s->room = room;
	}
	if (__builtin_add_overflow(s->ns[number], ns, &s->ns[number]))
		s->ns[number] = ~0ULL;
}

static void add_stack(struct exporter *x, struct stack *stack, const char *comm, __u64 ns, __u32 sample)
{
	struct state *s = x->state;
	__u64 all;

	memcpy(stack->comm, comm, strnlen(comm, sizeof(stack->comm)));
	if (__builtin_mul_overflow(ns, sample ? (__u64)sample : 1, &all))
		all = ~0ULL;
	add(&s->stacks, stack, sizeof(*stack), all);
}

static bool take(struct exporter *x, const void *record)
{
	const struct iot_block *b = record;
	const struct iot_fs *fs = record;
	struct stack stack = { .op = 0 };

	if (x->event == IOT_EVENT_ID_FS) {
		stack.path = fs->path;
		stack.op = fs->op;
		add_stack(x, &stack, fs->comm, fs->latency, fs->sample);
		return true;
	}
	if (b->flags & IOT_REQ_EARLY)
		return exporter_leave(x, LEFT_EARLY);
	stack.path = b->path;
	stack.op = b->op;
	add_stack(x, &stack, *b->origin_comm ? b->origin_comm : b->comm, b->device_latency, b->sample);
	return true;
}

/* A text that is escaped already, and a semicolon. What would end the frame or the stack is escaped, too. */
static char *put_frame(char *out, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++) {
		if (text[i] == ';' || text[i] == ' ')
			out = text_octal(out, &text[i], 1);
		else
			*out++ = text[i];
	}
	*out++ = ';';
	return out;
}

/* A frame for each component. */
static char *put_path(const struct exporter *x, char *out, __u64 id)
{
	const struct name *name = id ? names_find(x->paths, id) : NULL;
	const char *at = name ? name->text : id ? "?" : "(none)";
	const char *end = at + (name ? name->length : strlen(at)), *slash;
	char *begin = out;

	for (; at < end; at = slash + 1) {
		slash = memchr(at, '/', end - at) ?: end;
		if (slash > at)
			out = put_frame(out, at, slash - at);
	}
	return out == begin ? put_frame(out, "/", 1) : out;
}

static char *put_stack(const struct exporter *x, char *out, const struct stack *stack)
{
	const char *op = iot_names_op_name(x->event, stack->op);
	char comm[EXPORT_COMM] = "";

	out = put_frame(out, comm, exporter_comm(x, comm, stack->comm, sizeof(stack->comm)));
	out = put_path(x, out, stack->path);
	return op ? put_bytes(out, op, strlen(op)) : put_u64(out, stack->op);
}

static void make_lines(struct exporter *x)
{
	struct state *s = x->state;
	char *text = xreallocarray(NULL, ROW_MAX, 1);
	struct stack stack;
	size_t length;
	__u32 i;

	for (i = 0; i < s->stacks.keys.nr; i++) {
		memcpy(&stack, intern_bytes(&s->stacks.keys, i, &length), sizeof(stack));
		if (s->stacks.ns[i])
			add(&s->lines, text, put_stack(x, text, &stack) - text, s->stacks.ns[i]);
	}
	free(text);
}

static int compare(const void *left, const void *right, void *lines)
{
	size_t a_length, b_length;
	const char *a = intern_bytes(lines, *(const __u32 *)left, &a_length);
	const char *b = intern_bytes(lines, *(const __u32 *)right, &b_length);
	int order = memcmp(a, b, a_length < b_length ? a_length : b_length);

	return order ? order : (a_length > b_length) - (a_length < b_length);
}

static bool put_line(struct exporter *x, __u32 number)
{
	struct state *s = x->state;
	char *out = output_row(x->output);
	size_t length;
	const char *text = intern_bytes(&s->lines.keys, number, &length);

	out = put_bytes(out, text, length);
	*out++ = ' ';
	out = put_u64(out, s->lines.ns[number]);
	*out++ = '\n';
	return output_put(x->output, out);
}

static bool finish(struct exporter *x)
{
	struct state *s = x->state;
	bool good = output_begin(x->output, x->begin);
	__u32 *order;
	size_t i, nr;

	make_lines(x);
	nr = s->lines.keys.nr;
	order = xreallocarray(NULL, nr, sizeof(*order));
	for (i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), compare, &s->lines.keys);
	for (i = 0; good && i < nr; i++)
		good = put_line(x, order[i]);
	free(order);
	return good;
}

static void close_sums(struct sums *s)
{
	intern_free(&s->keys);
	free(s->ns);
}

static void close_folded(struct exporter *x)
{
	struct state *s = x->state;

	close_sums(&s->stacks);
	close_sums(&s->lines);
	free(s);
}

const struct export_format export_folded = {
	.name = "folded",
	.events = { IOT_EVENT_ID_BLOCK, IOT_EVENT_ID_FS },
	.suffix = "folded",
	.scales = true,
	.open = open_folded,
	.take = take,
	.finish = finish,
	.close = close_folded,
};
