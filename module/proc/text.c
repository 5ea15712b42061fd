// SPDX-License-Identifier: GPL-2.0
/*
 * Events as text, made from their descriptors. An event is one line:
 *
 *	<seconds since T0> <OP> <comm>-<pid>/<tid> name=value ...
 *
 * Fields that are zero are left out, except seq, result, cpu, severity and flags whose zero
 * has a name. seq counts the events of each CPU. A missing number is an event that was lost
 * or overwritten.
 */
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <linux/kdev_t.h>
#include "core/escape.h"
#include "core/names.h"
#include "core/schema.h"
#include "file/paths.h"
#include "proc/text.h"
#include "uapi/iotracer.h"

/** iot_text_time() - print a time as seconds with nine decimals */
void iot_text_time(struct seq_file *m, u64 ns)
{
	u32 rest;
	u64 seconds = div_u64_rem(ns, NSEC_PER_SEC, &rest);

	seq_printf(m, "%llu.%09u", seconds, rest);
}

/**
 * iot_text_comm() - print the name of a thread
 *
 * A thread chooses its own name. It must not forge a field or a line, nor control a terminal.
 */
void iot_text_comm(struct seq_file *m, const char *comm)
{
	iot_escape(m, comm, TASK_COMM_LEN, "; ");
}

/* Print the names of flags with | between them, and bits without a name in hex. */
static void show_flags(struct seq_file *m, const char *group, u32 value)
{
	const struct iot_flag *whole = iot_names_whole(group, value);
	const char *before = "";
	size_t i;

	if (!strcmp(group, "mode")) {
		seq_printf(m, "0%o", value);
		return;
	}
	if (whole) {
		seq_puts(m, whole->name);
		return;
	}
	for (i = 0; i < iot_flags_nr; i++) {
		const struct iot_flag *f = &iot_flags[i];

		if (f->whole || strcmp(f->group, group) || !(value & f->value) ||
		    (value & f->value) != f->value)
			continue;
		seq_printf(m, "%s%s", before, f->name);
		before = "|";
		value &= ~f->value;
	}
	if (value)
		seq_printf(m, "%s0x%x", before, value);
}

/*
 * How the fields of an event are shown: resolved from the schema once, at load, so that a line
 * compares no names.
 *
 * @show:	prints the value
 * @rule:	when it is shown
 */
enum rule {
	IF_NOT_ZERO,
	ALWAYS,
	IF_FLAGS,	/* or if the group of the flags has a name for 0 */
	IF_FLAGS2,
	IF_URING_OP,
	IF_NOT_NEGATIVE,
	IF_SAMPLED,	/* one of several */
};

struct text_field {
	const struct iot_schema_field *field;
	void (*show)(struct seq_file *m, const struct iot_schema_field *f, const void *record,
		     const struct iot_op *op);
	enum rule rule;
};

/** struct text_event - an event: the fields that begin its line, and the others in order */
struct text_event {
	const struct iot_schema_field *time, *op, *comm, *pid, *tid;
	unsigned int nr;
	struct text_field fields[];
};

static struct text_event *events[IOT_EVENT_IDS];	/* constant after load */

static u64 field_value(const struct iot_schema_field *f, const void *record)
{
	const void *at = record + f->offset;

	switch (f->size) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	case 4:
		return f->type[0] == 's' ? (u64)(s64)*(const s32 *)at : *(const u32 *)at;
	default:
		return *(const u64 *)at;
	}
}

static void show_path(struct seq_file *m, const struct iot_schema_field *f, const void *record,
		      const struct iot_op *op)
{
	iot_paths_show(m, field_value(f, record));
}

static void show_signed(struct seq_file *m, const struct iot_schema_field *f, const void *record,
			const struct iot_op *op)
{
	seq_printf(m, "%lld", field_value(f, record));
}

static void show_hex(struct seq_file *m, const struct iot_schema_field *f, const void *record,
		     const struct iot_op *op)
{
	seq_printf(m, "0x%llx", field_value(f, record));
}

static void show_group(struct seq_file *m, const struct iot_schema_field *f, const void *record,
		       const struct iot_op *op)
{
	show_flags(m, f->kind, field_value(f, record));
}

static void show_chars(struct seq_file *m, const struct iot_schema_field *f, const void *record,
		       const struct iot_op *op)
{
	iot_escape(m, record + f->offset, f->size, "; ");
}

static void show_device(struct seq_file *m, const struct iot_schema_field *f, const void *record,
			const struct iot_op *op)
{
	u64 value = field_value(f, record);

	seq_printf(m, "%llu:%llu", value >> MINORBITS, value & MINORMASK);
}

static void show_opflags(struct seq_file *m, const struct iot_schema_field *f, const void *record,
			 const struct iot_op *op)
{
	show_flags(m, op->flags, field_value(f, record));
}

static void show_opflags2(struct seq_file *m, const struct iot_schema_field *f, const void *record,
			  const struct iot_op *op)
{
	show_flags(m, op->flags2, field_value(f, record));
}

static void show_decimal(struct seq_file *m, const struct iot_schema_field *f, const void *record,
			 const struct iot_op *op)
{
	seq_printf(m, "%llu", field_value(f, record));
}

/* By the kind of the field; all others are decimal and shown if they are not zero. */
static const struct {
	const char *kind;
	void (*show)(struct seq_file *m, const struct iot_schema_field *f, const void *record,
		     const struct iot_op *op);
	enum rule rule;
} kinds[] = {
	{ "path", show_path },
	{ "signed", show_signed },
	{ "returned", show_signed },
	{ "hex", show_hex },
	{ "address", show_hex },
	{ "severity", show_group, ALWAYS },
	{ "ioclass", show_group },
	{ "uringop", show_group, IF_URING_OP },
	{ "unsure", show_group },
	{ "comm", show_chars },
	{ "text", show_chars },
	{ "device", show_device },
	{ "opflags", show_opflags, IF_FLAGS },
	{ "opflags2", show_opflags2, IF_FLAGS2 },
};

/* By the name of the field, whatever its kind. */
static const struct {
	const char *name;
	enum rule rule;
} names[] = {
	{ "seq", ALWAYS },
	{ "result", ALWAYS },
	{ "cpu", ALWAYS },
	{ "fd", IF_NOT_NEGATIVE },
	{ "sample", IF_SAMPLED },
};

static void resolve(struct text_field *t, const struct iot_schema_field *f)
{
	size_t i;

	t->field = f;
	t->show = show_decimal;
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].kind, f->kind)) {
			t->show = kinds[i].show;
			t->rule = kinds[i].rule;
		}
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, f->name))
			t->rule = names[i].rule;
}

static bool is_shown(const struct text_field *t, const void *record, const struct iot_op *op)
{
	u64 value = field_value(t->field, record);

	switch (t->rule) {
	case ALWAYS:
		return true;
	case IF_FLAGS:
		return value || iot_names_whole(op->flags, 0);
	case IF_FLAGS2:
		return value || iot_names_whole(op->flags2, 0);
	case IF_URING_OP:
		return value != IOT_URING_NONE;
	case IF_NOT_NEGATIVE:
		return (s64)value >= 0;
	case IF_SAMPLED:
		return value > 1;
	case IF_NOT_ZERO:
		break;
	}
	return value;
}

/* Return: where the field is kept that begins the line; NULL: it is one of the others. */
static const struct iot_schema_field **head_of(struct text_event *t, const char *name)
{
	if (!strcmp(name, "time"))
		return &t->time;
	if (!strcmp(name, "op"))
		return &t->op;
	if (!strcmp(name, "comm"))
		return &t->comm;
	if (!strcmp(name, "pid"))
		return &t->pid;
	if (!strcmp(name, "tid"))
		return &t->tid;
	return NULL;
}

/* Fields that say nothing to people. */
static bool is_hidden(const char *name)
{
	return !strcmp(name, "kind") || !strcmp(name, "reserved");
}

static struct text_event *event_new(const struct iot_schema_event *event)
{
	struct text_event *t = kzalloc(struct_size(t, fields, event->nr_fields), GFP_KERNEL);
	unsigned int i;

	for (i = 0; t && i < event->nr_fields; i++) {
		const struct iot_schema_field *f = &event->fields[i];
		const struct iot_schema_field **head = head_of(t, f->name);

		if (head)
			*head = f;
		else if (!is_hidden(f->name))
			resolve(&t->fields[t->nr++], f);
	}
	return t;
}

/** iot_text_init() - at load. Return: 0 or -ENOMEM; iot_text_exit() undoes either */
int iot_text_init(void)
{
	unsigned int i;

	for (i = 0; i < iot_schema_events; i++) {
		struct text_event *t = event_new(&iot_schema[i]);

		if (!t)
			return -ENOMEM;
		events[iot_schema[i].id] = t;
	}
	return 0;
}

/** iot_text_exit() - at unload */
void iot_text_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		kfree(events[i]);
}

/**
 * iot_text_event() - print one line
 * @event:	id of the event, of a category
 * @t0:	CLOCK_MONOTONIC ns at which times start
 */
void iot_text_event(struct seq_file *m, unsigned int event, const void *record, u64 t0)
{
	static const struct iot_op unknown = { "?", "none", "none" };
	const struct text_event *t = events[event];
	const struct iot_op *op = iot_names_op(event, field_value(t->op, record));
	u64 time = field_value(t->time, record);
	unsigned int i;

	if (!op)
		op = &unknown;
	iot_text_time(m, time > t0 ? time - t0 : 0);
	seq_printf(m, " %s ", op->name);
	iot_text_comm(m, record + t->comm->offset);
	seq_printf(m, "-%llu/%llu", field_value(t->pid, record), field_value(t->tid, record));
	for (i = 0; i < t->nr; i++) {
		const struct text_field *f = &t->fields[i];

		if (!is_shown(f, record, op))
			continue;
		seq_printf(m, " %s=", f->field->name);
		f->show(m, f->field, record, op);
	}
	seq_putc(m, '\n');
}
