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

static void show_value(struct seq_file *m, const struct iot_schema_field *f,
		       const void *record, const struct iot_op *op)
{
	u64 value = field_value(f, record);

	if (!strcmp(f->kind, "path"))
		iot_paths_show(m, value);
	else if (!strcmp(f->kind, "signed") || !strcmp(f->kind, "returned"))
		seq_printf(m, "%lld", value);
	else if (!strcmp(f->kind, "hex") || !strcmp(f->kind, "address"))
		seq_printf(m, "0x%llx", value);
	else if (!strcmp(f->kind, "severity") || !strcmp(f->kind, "ioclass") ||
		 !strcmp(f->kind, "uringop") || !strcmp(f->kind, "unsure"))
		show_flags(m, f->kind, value);
	else if (!strcmp(f->kind, "comm") || !strcmp(f->kind, "text"))
		iot_escape(m, record + f->offset, f->size, "; ");
	else if (!strcmp(f->kind, "device"))
		seq_printf(m, "%llu:%llu", value >> MINORBITS, value & MINORMASK);
	else if (!strcmp(f->kind, "opflags"))
		show_flags(m, op->flags, value);
	else if (!strcmp(f->kind, "opflags2"))
		show_flags(m, op->flags2, value);
	else
		seq_printf(m, "%llu", value);
}

/* Fields that are at the beginning of the line, or of no use to people. */
static bool is_head(const char *name)
{
	static const char * const head[] = { "time", "op", "comm", "pid",
					     "tid", "kind", "reserved" };

	return match_string(head, ARRAY_SIZE(head), name) >= 0;
}

static bool is_shown(const struct iot_schema_field *f, u64 value, const struct iot_op *op)
{
	if (is_head(f->name))
		return false;
	if (!strcmp(f->name, "seq") || !strcmp(f->name, "result") ||
	    !strcmp(f->name, "cpu") || !strcmp(f->kind, "severity"))
		return true;
	if (!value && !strcmp(f->kind, "opflags"))
		return iot_names_whole(op->flags, 0);
	if (!value && !strcmp(f->kind, "opflags2"))
		return iot_names_whole(op->flags2, 0);
	if (!strcmp(f->kind, "uringop"))
		return value != IOT_URING_NONE;
	if (!strcmp(f->name, "fd"))
		return (s64)value >= 0;
	if (!strcmp(f->name, "sample"))
		return value > 1;
	return value;
}

/* The value of a field by its name, 0 if the event has no such field. */
static u64 named(const struct iot_schema_event *event, const void *record,
		 const char *name)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i].name, name))
			return field_value(&event->fields[i], record);
	return 0;
}

static const void *comm_of(const struct iot_schema_event *event, const void *record)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i].name, "comm"))
			return record + event->fields[i].offset;
	return "";
}

/**
 * iot_text_event() - print one line
 * @t0:	CLOCK_MONOTONIC ns that times are relative to
 */
void iot_text_event(struct seq_file *m, const struct iot_schema_event *event,
		    const void *record, u64 t0)
{
	static const struct iot_op unknown = { "?", "none", "none" };
	const struct iot_op *op = iot_names_op(event->id, named(event, record, "op"));
	u64 time = named(event, record, "time");
	unsigned int i;

	if (!op)
		op = &unknown;
	iot_text_time(m, time > t0 ? time - t0 : 0);
	seq_printf(m, " %s ", op->name);
	iot_text_comm(m, comm_of(event, record));
	seq_printf(m, "-%llu/%llu", named(event, record, "pid"),
		   named(event, record, "tid"));
	for (i = 0; i < event->nr_fields; i++) {
		const struct iot_schema_field *f = &event->fields[i];
		u64 value = field_value(f, record);

		if (!is_shown(f, value, op))
			continue;
		seq_printf(m, " %s=", f->name);
		show_value(m, f, record, op);
	}
	seq_putc(m, '\n');
}
