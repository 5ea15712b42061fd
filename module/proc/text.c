// SPDX-License-Identifier: GPL-2.0
/*
 * Events as text, made from their descriptors. An event is one line:
 *
 *	<seconds since T0> <OP> <comm>-<pid>/<tid> name=value ...
 *
 * Fields that are zero are left out, except seq, result, cpu, severity, level and option of a
 * socket, way of a call, and flags whose zero has a name. seq counts the events of each CPU. A
 * missing number is an event that was lost or overwritten.
 */
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <linux/kdev_t.h>
#include <net/ipv6.h>
#include "core/escape.h"
#include "core/line.h"
#include "core/names.h"
#include "core/option.h"
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

/*
 * Print the name of a thread. A thread chooses its own name. It must not forge a field or a line,
 * nor control a terminal.
 */
static void print_comm(struct seq_file *m, const char *comm)
{
	iot_escape(m, comm, TASK_COMM_LEN, "; ");
}

/**
 * iot_text_line() - print the seven fields with which each line of a target's log begins
 * @since:	ns since T0
 * @comm:	TASK_COMM_LEN bytes
 *
 * <seconds>;<letter>;<address>;<bytes>;<level>;<thread name>;<process id>
 */
void iot_text_line(struct seq_file *m, const struct iot_line *line, u64 since, const char *comm,
		   u32 pid)
{
	iot_text_time(m, since);
	seq_printf(m, ";%c;%llu;%llu;%s;", line->letter, line->address, line->bytes, line->level);
	iot_escape(m, comm, TASK_COMM_LEN, ";");
	seq_printf(m, ";%u", pid);
}

/* Print the names of flags, separated by "|", and bits without a name in hex. */
static void show_flags(struct seq_file *m, const struct iot_group *group, u32 value)
{
	const struct iot_flag *whole = iot_names_whole(group, value);
	const char *before = "";
	size_t i;

	if (group->octal) {
		seq_printf(m, "0%o", value);
		return;
	}
	if (whole) {
		seq_puts(m, whole->name);
		return;
	}
	for (i = 0; i < group->nr; i++) {
		const struct iot_flag *f = &group->flags[i];

		if (f->whole || !(value & f->value) || (value & f->value) != f->value)
			continue;
		seq_printf(m, "%s%s", before, f->name);
		before = "|";
		value &= ~f->value;
	}
	if (value)
		seq_printf(m, "%s0x%x", before, value);
}

/* When a field is shown. */
enum rule {
	IF_NOT_ZERO,
	ALWAYS,
	IF_FLAGS,	/* if not 0, or if the group of the flags has a name for 0 */
	IF_FLAGS2,
	IF_URING_OP,
	IF_NOT_NEGATIVE,
	IF_SAMPLED,	/* if the event stands for several */
	IF_ANY_BYTE,	/* if not all bytes are 0 */
};

/*
 * An operation. @common: the group of @common_bits, which are in no other group; @zero, @zero2: the
 * group of the flags has a name for 0
 */
struct text_op {
	const char *name;
	struct iot_group flags;
	struct iot_group flags2;
	struct iot_group common;
	u32 common_bits;
	bool zero;
	bool zero2;
};

/**
 * struct text_field - how a field is shown
 * @show:	prints the value
 * @group:	of the field's kind, if that is one of flags.def
 * @at_end:	a call has it only when it has ended
 */
struct text_field {
	const struct iot_schema_field *field;
	void (*show)(struct seq_file *m, const struct text_field *t, const void *record,
		     const struct text_op *op);
	struct iot_group group;
	enum rule rule;
	bool at_end;
};

/**
 * struct text_event - how an event is shown
 * @time:	from here to @tid: the fields at the start of the line
 * @ops:	its operations, by id; unused ids have no name
 * @fields:	the other fields, in order
 *
 * Built from the lists in uapi/ at load, so that no names are compared for a line.
 */
struct text_event {
	const struct iot_schema_field *time, *op, *comm, *pid, *tid;
	struct text_op *ops;
	unsigned int nr_ops;
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

static void show_path(struct seq_file *m, const struct text_field *t, const void *record,
		      const struct text_op *op)
{
	iot_paths_show(m, field_value(t->field, record));
}

static void show_signed(struct seq_file *m, const struct text_field *t, const void *record,
			const struct text_op *op)
{
	seq_printf(m, "%lld", field_value(t->field, record));
}

static void show_hex(struct seq_file *m, const struct text_field *t, const void *record,
		     const struct text_op *op)
{
	seq_printf(m, "0x%llx", field_value(t->field, record));
}

static void show_group(struct seq_file *m, const struct text_field *t, const void *record,
		       const struct text_op *op)
{
	show_flags(m, &t->group, field_value(t->field, record));
}

static void show_chars(struct seq_file *m, const struct text_field *t, const void *record,
		       const struct text_op *op)
{
	iot_escape(m, record + t->field->offset, t->field->size, "; ");
}

/* An address of IPv4 is shown as one, not as a mapped one of IPv6. */
static void show_ipaddr(struct seq_file *m, const struct text_field *t, const void *record,
			const struct text_op *op)
{
	struct in6_addr address;

	memcpy(&address, record + t->field->offset, sizeof(address));
	if (ipv6_addr_v4mapped(&address))
		seq_printf(m, "%pI4", &address.s6_addr32[3]);
	else
		seq_printf(m, "%pI6c", &address);
}

static void show_device(struct seq_file *m, const struct text_field *t, const void *record,
			const struct text_op *op)
{
	u64 value = field_value(t->field, record);

	seq_printf(m, "%llu:%llu", value >> MINORBITS, value & MINORMASK);
}

static void show_opflags(struct seq_file *m, const struct text_field *t, const void *record,
			 const struct text_op *op)
{
	u32 value = field_value(t->field, record), common = value & op->common_bits;
	bool own = value != common || op->zero;

	if (own)
		show_flags(m, &op->flags, value & ~common);
	if (own && common)
		seq_putc(m, '|');
	if (common)
		show_flags(m, &op->common, common);
}

static void show_opflags2(struct seq_file *m, const struct text_field *t, const void *record,
			  const struct text_op *op)
{
	show_flags(m, &op->flags2, field_value(t->field, record));
}

static void show_name(struct seq_file *m, const char *name, s64 number)
{
	if (name)
		seq_puts(m, name);
	else
		seq_printf(m, "%lld", number);
}

static void show_optlevel(struct seq_file *m, const struct text_field *t, const void *record,
			  const struct text_op *op)
{
	s64 level = field_value(t->field, record);

	show_name(m, iot_option_level(level), level);
}

static void show_optname(struct seq_file *m, const struct text_field *t, const void *record,
			 const struct text_op *op)
{
	const struct iot_sockopt *e = record;

	show_name(m, iot_option_name(e->level, e->option), e->option);
}

static void show_decimal(struct seq_file *m, const struct text_field *t, const void *record,
			 const struct text_op *op)
{
	seq_printf(m, "%llu", field_value(t->field, record));
}

/* How fields are shown, by their kind. All other kinds are decimal, and shown if not zero. */
static const struct {
	const char *kind;
	void (*show)(struct seq_file *m, const struct text_field *t, const void *record,
		     const struct text_op *op);
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
	{ "sockfamily", show_group },
	{ "socktype", show_group },
	{ "optlevel", show_optlevel, ALWAYS },
	{ "optname", show_optname, ALWAYS },
	{ "ipproto", show_group },
	{ "netway", show_group, ALWAYS },
	{ "tcpstate", show_group },
	{ "resend", show_group },
	{ "ipaddr", show_ipaddr, IF_ANY_BYTE },
	{ "comm", show_chars },
	{ "text", show_chars },
	{ "sockpath", show_chars },
	{ "device", show_device },
	{ "opflags", show_opflags, IF_FLAGS },
	{ "opflags2", show_opflags2, IF_FLAGS2 },
};

/* Fields that are shown in another way, by their name. */
static const struct {
	const char *name;
	enum rule rule;
} names[] = {
	{ "seq", ALWAYS },
	{ "result", ALWAYS },
	{ "cpu", ALWAYS },
	{ "fd", IF_NOT_NEGATIVE },
	{ "target", IF_NOT_NEGATIVE },
	{ "sample", IF_SAMPLED },
};

static bool is_at_end(const char *name)
{
	return !strcmp(name, "seq") || !strcmp(name, "result") || !strcmp(name, "cpu");
}

static void resolve(struct text_field *t, const struct iot_schema_field *f)
{
	size_t i;

	t->field = f;
	t->show = show_decimal;
	t->at_end = is_at_end(f->name);
	t->group = iot_names_group(f->kind);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].kind, f->kind)) {
			t->show = kinds[i].show;
			t->rule = kinds[i].rule;
		}
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, f->name))
			t->rule = names[i].rule;
}

static bool is_shown(const struct text_field *t, const void *record, const struct text_op *op)
{
	u64 value = field_value(t->field, record);

	switch (t->rule) {
	case ALWAYS:
		return true;
	case IF_FLAGS:
		return value || op->zero;
	case IF_FLAGS2:
		return value || op->zero2;
	case IF_URING_OP:
		return value != IOT_URING_NONE;
	case IF_NOT_NEGATIVE:
		return (s64)value >= 0;
	case IF_SAMPLED:
		return value > 1;
	case IF_ANY_BYTE:
		return memchr_inv(record + t->field->offset, 0, t->field->size);
	case IF_NOT_ZERO:
		break;
	}
	return value;
}

/* Return: where to store a field of the start of the line; NULL for any other field. */
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

/* Fields that are of no use in text. */
static bool is_hidden(const char *name)
{
	return !strcmp(name, "kind") || !strcmp(name, "reserved");
}

static void resolve_op(struct text_op *t, const struct iot_op *op, unsigned int event)
{
	t->name = op->name;
	t->common = iot_names_group("call");
	t->common_bits = iot_names_common(event);
	t->flags = iot_names_group(op->flags);
	t->flags2 = iot_names_group(op->flags2);
	t->zero = iot_names_whole(&t->flags, 0);
	t->zero2 = iot_names_whole(&t->flags2, 0);
}

static bool resolve_ops(struct text_event *t, unsigned int event)
{
	unsigned int op, nr = 0;

	for (op = 0; op < IOT_OPS_MAX; op++)
		if (iot_names_op(event, op))
			nr = op + 1;
	t->ops = kcalloc(nr, sizeof(*t->ops), GFP_KERNEL);
	if (!t->ops)
		return false;
	t->nr_ops = nr;
	for (op = 0; op < nr; op++)
		if (iot_names_op(event, op))
			resolve_op(&t->ops[op], iot_names_op(event, op), event);
	return true;
}

static void event_free(struct text_event *t)
{
	if (t)
		kfree(t->ops);
	kfree(t);
}

static struct text_event *event_new(const struct iot_schema_event *event)
{
	struct text_event *t = kzalloc(struct_size(t, fields, event->nr_fields), GFP_KERNEL);
	unsigned int i;

	if (!t || !resolve_ops(t, event->id)) {
		event_free(t);
		return NULL;
	}
	for (i = 0; i < event->nr_fields; i++) {
		const struct iot_schema_field *f = &event->fields[i];
		const struct iot_schema_field **head = head_of(t, f->name);

		if (head)
			*head = f;
		else if (!is_hidden(f->name))
			resolve(&t->fields[t->nr++], f);
	}
	return t;
}

/** iot_text_init() - set up at load. Return: 0 or -ENOMEM */
int iot_text_init(void)
{
	unsigned int i;

	for (i = 0; i < iot_schema_events; i++) {
		struct text_event *t = event_new(&iot_schema[i]);

		if (!t) {
			iot_text_exit();
			return -ENOMEM;
		}
		events[iot_schema[i].id] = t;
	}
	return 0;
}

/** iot_text_exit() - clean up at unload */
void iot_text_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		event_free(events[i]);
}

/* Print a line behind the time. @ended: with the fields of a call that has ended */
static void show_line(struct seq_file *m, const struct text_event *t, const void *record,
		      bool ended)
{
	static const struct text_op unknown = { "?" };
	u64 id = field_value(t->op, record);
	const struct text_op *op = id < t->nr_ops && t->ops[id].name ? &t->ops[id] : &unknown;
	unsigned int i;

	seq_printf(m, "%s ", op->name);
	print_comm(m, record + t->comm->offset);
	seq_printf(m, "-%llu/%llu", field_value(t->pid, record), field_value(t->tid, record));
	for (i = 0; i < t->nr; i++) {
		const struct text_field *f = &t->fields[i];

		if (!is_shown(f, record, op) || (f->at_end && !ended))
			continue;
		seq_printf(m, " %s=", f->field->name);
		f->show(m, f, record, op);
	}
	seq_putc(m, '\n');
}

/**
 * iot_text_event() - print the line of an event of a category
 * @event:	id of the event
 * @t0:	CLOCK_MONOTONIC ns from which times are counted
 */
void iot_text_event(struct seq_file *m, unsigned int event, const void *record, u64 t0)
{
	const struct text_event *t = events[event];
	u64 time = field_value(t->time, record);

	iot_text_time(m, time > t0 ? time - t0 : 0);
	seq_putc(m, ' ');
	show_line(m, t, record, true);
}

/**
 * iot_text_call() - print the line of a call that has not ended
 * @event:	id of its event
 * @record:	in which what it has only when it ends is not filled in
 *
 * It is the line of its event without time, seq, result and cpu.
 */
void iot_text_call(struct seq_file *m, unsigned int event, const void *record)
{
	show_line(m, events[event], record, false);
}
