// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/csv.h"
#include "base/put.h"
#include "base/text.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "core/option.h"
#include "trace/anonymize.h"
#include "trace/flags.h"
#include "trace/paths.h"
#include "trace/record.h"
#include "trace/row.h"
#include "trace/sources.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NS_PER_S 1000000000ULL

/* Caches of texts, each text at the hash of the value that it was made from. */
#define CACHE_BITS 10
#define CACHE_SIZE (1u << CACHE_BITS)
#define COMM_SIZE 16

struct row_comm {
	__u64 key[COMM_SIZE / 8];
	__u32 length;
	bool used, plain;
	char text[4 * COMM_SIZE + 4];
};

struct row_flags {
	const char *group;
	__u32 value;
	__u32 common;		/* those of @value that every operation may have */
	__u32 length;
	char text[2 * FLAGS_MAX + 1];
};

static unsigned int cache_place(__u64 key)
{
	return key * 0x9e3779b97f4a7c15ULL >> (64 - CACHE_BITS);
}

char *row_text(const struct row_printer *p, char *out, const char *text,
	       size_t length, bool plain)
{
	if (p->json && plain) {
		*out++ = '"';
		out = put_bytes(out, text, length);
		*out++ = '"';
		return out;
	}
	if (plain || p->bare)
		return put_bytes(out, text, length);
	return p->json ? put_json(out, text, length) : csv_put(out, text, length);
}

static char *put_word(const struct row_printer *p, char *out, const char *word)
{
	return row_text(p, out, word, strlen(word), true);
}

/* One put_<kind>() for each kind of field. */

/* A u64 that JSON's signed integers cannot hold becomes a string. */
static char *put_decimal(struct row_printer *p, const struct row_column *c,
			 char *out, const void *record)
{
	__u64 n = record_scalar(record, c->offset, c->size);

	if (!p->json || n <= INT64_MAX)
		return put_u64(out, n);
	*out++ = '"';
	out = put_u64(out, n);
	*out++ = '"';
	return out;
}

static char *put_signed(struct row_printer *p, const struct row_column *c,
			char *out, const void *record)
{
	__u64 n = record_scalar(record, c->offset, c->size);

	(void)p;
	return put_s64(out, c->size == 4 ? (__s32)n : (__s64)n);
}

static char *put_address(struct row_printer *p, const struct row_column *c,
			 char *out, const void *record)
{
	__u64 n = record_scalar(record, c->offset, c->size);
	char text[24];

	return row_text(p, out, text, n ? put_hex(text, n) - text : 0, true);
}

static char *put_device(struct row_printer *p, const struct row_column *c,
			char *out, const void *record)
{
	__u64 device = record_scalar(record, c->offset, c->size);
	char text[48];
	char *end = put_u64(text, device >> 20);

	*end++ = ':';
	end = put_u64(end, device & 0xfffff);
	return row_text(p, out, text, end - text, true);
}

static void comm_make(const struct row_printer *p, struct row_comm *comm)
{
	const char *bytes = (const char *)comm->key;
	size_t length = strnlen(bytes, COMM_SIZE);
	char hidden[ANONYMOUS_LENGTH];

	if (p->anonymizer && length) {
		anonymize_word(p->anonymizer, hidden, "comm", bytes, length);
		comm->length = text_show_to(comm->text, hidden, sizeof(hidden));
	} else {
		comm->length = text_show_to(comm->text, bytes, length);
	}
	comm->plain = name_is_plain(comm->text, comm->length);
	comm->used = true;
}

static char *put_comm(struct row_printer *p, const struct row_column *c,
		      char *out, const void *record)
{
	struct row_comm *comm;
	__u64 key[COMM_SIZE / 8];

	memcpy(key, (const char *)record + c->offset, sizeof(key));
	comm = &p->comms[cache_place(key[0] ^ (key[1] << 1))];
	if (!comm->used || comm->key[0] != key[0] || comm->key[1] != key[1]) {
		memcpy(comm->key, key, sizeof(key));
		comm_make(p, comm);
	}
	return row_text(p, out, comm->text, comm->length, comm->plain);
}

char *row_ipaddr(const struct row_printer *p, char *out, const char *bytes)
{
	char text[INET6_ADDRSTRLEN] = "";
	struct in6_addr address;

	memcpy(&address, bytes, sizeof(address));
	if (p->anonymizer)
		anonymize_address(p->anonymizer, (char *)&address);
	if (IN6_IS_ADDR_V4MAPPED(&address))
		inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof(text));
	else if (!IN6_IS_ADDR_UNSPECIFIED(&address))
		inet_ntop(AF_INET6, &address, text, sizeof(text));
	return put_word(p, out, text);
}

static char *put_ipaddr(struct row_printer *p, const struct row_column *c,
			char *out, const void *record)
{
	return row_ipaddr(p, out, (const char *)record + c->offset);
}

char *row_ip_version(const struct row_printer *p, char *out, unsigned int family, const char *remote)
{
	struct in6_addr address;

	if (family == AF_INET)
		return put_u64(out, 4);
	if (family != AF_INET6)
		return put_word(p, out, "");
	memcpy(&address, remote, sizeof(address));
	return put_u64(out, IN6_IS_ADDR_V4MAPPED(&address) ? 4 : 6);
}

char *row_port(const struct row_printer *p, char *out, __u16 port)
{
	return put_u64(out, p->anonymizer ? anonymize_port(p->anonymizer, port) : port);
}

static char *put_port(struct row_printer *p, const struct row_column *c,
		      char *out, const void *record)
{
	return row_port(p, out, record_scalar(record, c->offset, c->size));
}

/* A character array of any length. */
static char *put_chars(struct row_printer *p, const struct row_column *c,
		       char *out, const void *record)
{
	const char *at = (const char *)record + c->offset;
	char *shown = text_show(at, strnlen(at, c->size));

	if (!shown)
		return out;
	out = row_text(p, out, shown, strlen(shown), false);
	free(shown);
	return out;
}

/* The name of a UNIX socket: a path, or an abstract name, whose first byte is shown as @. */
static char *put_sockpath(struct row_printer *p, const struct row_column *c,
			  char *out, const void *record)
{
	char hidden[SOCKPATH_MAX];
	char *shown;

	if (!p->anonymizer)
		return put_chars(p, c, out, record);
	memcpy(hidden, (const char *)record + c->offset, c->size);
	anonymize_sockpath(p->anonymizer, hidden, c->size);
	shown = text_show(hidden, strnlen(hidden, c->size));
	if (shown)
		out = row_text(p, out, shown, strlen(shown), false);
	free(shown);
	return out;
}

/* A name, or the number if it has none. */
static char *put_name(struct row_printer *p, char *out, const char *name, __u64 number)
{
	char text[24];

	if (name)
		return put_word(p, out, name);
	return row_text(p, out, text, put_u64(text, number) - text, true);
}

static char *put_named(struct row_printer *p, const struct row_column *c, char *out,
		       const void *record, const char *const *names, size_t nr)
{
	__u64 value = record_scalar(record, c->offset, c->size);

	return put_name(p, out, value < nr ? names[value] : NULL, value);
}

static char *put_level(struct row_printer *p, const struct row_column *c,
		       char *out, const void *record)
{
	static const char *const names[] = {
		[IOT_LEVEL_VFS] = "vfs", [IOT_LEVEL_BLK] = "blk",
	};

	return put_named(p, c, out, record, names, ARRAY_SIZE(names));
}

static char *put_access(struct row_printer *p, const struct row_column *c,
			char *out, const void *record)
{
	__u64 op = record_scalar(record, c->offset, c->size);
	const struct iot_access_name *access = iot_names_access(op);

	return put_name(p, out, access ? access->name : NULL, op);
}

static char *put_fskind(struct row_printer *p, const struct row_column *c,
			char *out, const void *record)
{
	__u64 kind = record_scalar(record, c->offset, c->size);

	return put_name(p, out, iot_names_kind(kind), kind);
}

static char *put_op(struct row_printer *p, const struct row_column *c,
		    char *out, const void *record)
{
	__u64 op = record_scalar(record, c->offset, c->size);

	return put_name(p, out, iot_names_op_name(p->event->id, op), op);
}

/* A path that was evicted before it was read is "?". */
static char *put_path(struct row_printer *p, const struct row_column *c,
		      char *out, const void *record)
{
	__u64 id = record_scalar(record, c->offset, c->size);
	const struct name *name;

	if (!p->paths)
		return put_decimal(p, c, out, record);
	if (!id)
		return put_word(p, out, "");
	name = names_find(p->paths, id);
	if (!name)
		return put_word(p, out, "?");
	return row_text(p, out, name->text, name->length, name->plain);
}

/* Writes flags of an operation's group, and behind them the common ones. */
static size_t flags_make(char *text, const char *group, __u32 value, __u32 common)
{
	size_t length = flags_show(text, group, value & ~common);

	if (!common)
		return length;
	if (length)
		text[length++] = '|';
	return length + flags_show(text + length, "call", common);
}

static char *put_flags(struct row_printer *p, char *out, const char *group, __u32 value, __u32 common)
{
	struct row_flags *f = &p->flags[cache_place(value ^ (uintptr_t)group << 8)];

	if (f->group != group || f->value != value || f->common != common) {
		f->group = group;
		f->value = value;
		f->common = common;
		f->length = flags_make(f->text, group, value, common);
	}
	return row_text(p, out, f->text, f->length, true);
}

char *row_group(struct row_printer *p, char *out, const char *group, __u32 value)
{
	return put_flags(p, out, group, value, 0);
}

char *row_opflags(struct row_printer *p, char *out, const char *group, __u32 value)
{
	return put_flags(p, out, group, value, value & iot_names_common(p->event->id));
}

static char *put_ioflags(struct row_printer *p, const struct row_column *c,
			 char *out, const void *record)
{
	static const char group[] = "io";

	return row_group(p, out, group, record_scalar(record, c->offset, c->size));
}

/* A value of the flag group that has the name of the kind. */
static char *put_value(struct row_printer *p, const struct row_column *c,
		       char *out, const void *record)
{
	return row_group(p, out, c->kind, record_scalar(record, c->offset, c->size));
}

/* The name of a level or option of a socket, or its number, which can be negative. */
static char *put_option(struct row_printer *p, char *out, const char *name, __s32 number)
{
	return name ? put_word(p, out, name) : put_s64(out, number);
}

static char *put_optlevel(struct row_printer *p, const struct row_column *c, char *out,
			  const void *record)
{
	__s32 level = record_scalar(record, c->offset, c->size);

	return put_option(p, out, iot_option_level(level), level);
}

static char *put_optname(struct row_printer *p, const struct row_column *c, char *out,
			 const void *record)
{
	const struct iot_sockopt *s = record;

	(void)c;
	return put_option(p, out, iot_option_name(s->level, s->option), s->option);
}

static const struct iot_op *op_of(const struct row_printer *p, const void *record)
{
	static const struct iot_op none = { "", "none", "none" };
	const struct iot_op *op;
	__u16 number;

	memcpy(&number, (const char *)record + p->op_offset, sizeof(number));
	op = iot_names_op(p->event->id, number);

	return op ? op : &none;
}

static char *put_opflags(struct row_printer *p, const struct row_column *c,
			 char *out, const void *record)
{
	return row_opflags(p, out, op_of(p, record)->flags, record_scalar(record, c->offset, c->size));
}

static char *put_opflags2(struct row_printer *p, const struct row_column *c,
			  char *out, const void *record)
{
	return row_group(p, out, op_of(p, record)->flags2, record_scalar(record, c->offset, c->size));
}

/* @again: what the text depends on. */
static const struct kind {
	const char *name;
	row_put put;
	int again;
} kinds[] = {
	{ "decimal", put_decimal, ROW_BY_VALUE },
	{ "signed", put_signed, ROW_BY_VALUE },
	{ "time", put_decimal, ROW_BY_VALUE },
	{ "hex", put_address, ROW_BY_VALUE },
	{ "address", put_address, ROW_BY_VALUE },
	{ "returned", put_signed, ROW_BY_VALUE },
	{ "sqeoff", put_decimal, ROW_BY_VALUE },
	{ "level", put_level, ROW_BY_VALUE },
	{ "access", put_access, ROW_BY_VALUE },
	{ "ioflags", put_ioflags, ROW_BY_VALUE },
	{ "device", put_device, ROW_BY_VALUE },
	{ "comm", put_comm, ROW_ANEW },
	{ "path", put_path, ROW_BY_VALUE },
	{ "op", put_op, ROW_BY_VALUE },
	{ "fskind", put_fskind, ROW_BY_VALUE },
	{ "severity", put_value, ROW_BY_VALUE },
	{ "ioclass", put_value, ROW_BY_VALUE },
	{ "uringop", put_value, ROW_BY_VALUE },
	{ "unsure", put_value, ROW_BY_VALUE },
	{ "sockfamily", put_value, ROW_BY_VALUE },
	{ "socktype", put_value, ROW_BY_VALUE },
	{ "optlevel", put_optlevel, ROW_BY_VALUE },
	{ "optname", put_optname, ROW_ANEW },
	{ "ipproto", put_value, ROW_BY_VALUE },
	{ "netway", put_value, ROW_BY_VALUE },
	{ "tcpstate", put_value, ROW_BY_VALUE },
	{ "resend", put_value, ROW_BY_VALUE },
	{ "ipaddr", put_ipaddr, ROW_ANEW },
	{ "sockpath", put_sockpath, ROW_ANEW },
	{ "port", put_port, ROW_BY_VALUE },
	{ "opflags", put_opflags, ROW_BY_OP_AND_VALUE },
	{ "opflags2", put_opflags2, ROW_BY_OP_AND_VALUE },
};

/* A kind that is not known here is shown by the type of its field. */
static const struct kind *kind_of(const struct iot_schema_field *f)
{
	static const struct kind chars = { "", put_chars, ROW_ANEW };
	static const struct kind number = { "", put_decimal, ROW_BY_VALUE };
	size_t i;

	if (!strcmp(f->kind, "comm") && f->size != COMM_SIZE)
		return &chars;
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, f->kind))
			return &kinds[i];
	return strcmp(f->type, "char") ? &number : &chars;
}

static void second_make(struct row_printer *p, __u64 second)
{
	time_t t = second;
	struct tm tm;

	p->second = second;
	gmtime_r(&t, &tm);
	p->second_length = strftime(p->second_text, sizeof(p->second_text), "%Y-%m-%dT%H:%M:%S", &tm);
}

/* Seconds since T0; negative for a call that began before a timereset. */
static char *put_since(const struct row_printer *p, char *out, __u64 time)
{
	__s64 ns = time - p->t0;
	__u64 size = ns < 0 ? -(__u64)ns : (__u64)ns;

	if (ns < 0)
		*out++ = '-';
	out = put_u64(out, size / NS_PER_S);
	*out++ = '.';
	return put_nine(out, size % NS_PER_S);
}

char *row_timestamp(struct row_printer *p, const struct row_column *c,
		    char *out, const void *record)
{
	__u64 time = record_scalar(record, c->offset, c->size);
	char text[40];
	char *end;

	if (!p->clock)
		return put_since(p, out, time);
	time = wall_time(p->clock, time);
	if (time / NS_PER_S != p->second)
		second_make(p, time / NS_PER_S);
	end = put_bytes(text, p->second_text, p->second_length);
	*end++ = '.';
	end = put_nine(end, time % NS_PER_S);
	*end++ = 'Z';
	return row_text(p, out, text, end - text, true);
}

char *row_datetime(struct row_printer *p, const struct row_column *c,
		   char *out, const void *record)
{
	__u64 time = wall_time(p->clock, record_scalar(record, c->offset, c->size));
	char text[40];
	char *end;

	if (time / NS_PER_S != p->second)
		second_make(p, time / NS_PER_S);
	end = put_bytes(text, p->second_text, strlen(p->second_text));
	*(char *)memchr(text, 'T', end - text) = ' ';
	*end++ = '.';
	end = put_padded(end, time % NS_PER_S / 1000, 6);
	return row_text(p, out, text, end - text, true);
}

char *row_note(struct row_printer *p, const struct row_column *c,
	       char *out, const void *record)
{
	char hidden[ANONYMOUS_LENGTH];
	char *shown;

	(void)c;
	(void)record;
	if (!p->note)
		return put_word(p, out, "");
	if (p->anonymizer) {
		anonymize_word(p->anonymizer, hidden, "cmdline", p->note, p->note_length);
		return row_text(p, out, hidden, sizeof(hidden), true);
	}
	shown = text_show(p->note, p->note_length);
	if (!shown)
		return out;
	out = row_text(p, out, shown, strlen(shown), false);
	free(shown);
	return out;
}

static char *put_source(struct row_printer *p, char *out, const char *text)
{
	return row_text(p, out, text, strlen(text), name_is_plain(text, strlen(text)));
}

static char *put_host(struct row_printer *p, const struct row_column *c, char *out,
		      const void *record)
{
	(void)c;
	(void)record;
	return put_source(p, out, p->source ? p->source->host : "?");
}

static char *put_trace(struct row_printer *p, const struct row_column *c, char *out,
		       const void *record)
{
	(void)c;
	(void)record;
	return put_source(p, out, p->source ? p->source->trace : "?");
}

/* Takes the column's name, if it was made. */
static void add_column(struct row_printer *p, const struct row_column *column)
{
	const struct iot_schema_field *f = NULL;
	struct row_column *c;

	if (column->field)
		f = record_field(p->event, column->field);
	if (!column->name || !xgrow(&p->columns, p->nr_columns + 1, sizeof(*p->columns))) {
		free(column->made);
		return;
	}
	c = &p->columns[p->nr_columns];
	*c = *column;
	if (f) {
		c->offset = f->offset;
		c->size = f->size;
		c->kind = f->kind;
		if (!c->put) {
			c->put = kind_of(f)->put;
			c->again = kind_of(f)->again;
		}
	}
	if (p->json)
		c->key = xasprintf("%s\"%s\":", p->nr_columns ? "," : "{", c->name);
	else
		c->key = xstrdup(p->nr_columns ? "," : "");
	c->key_length = c->key ? strlen(c->key) : 0;
	p->nr_columns++;
}

/* The suffix that shows the unit after a field's name; a field of sectors needs none. */
static const char *unit_suffix(const char *unit)
{
	static const struct { const char *unit, *suffix; } units[] = {
		{ "ns", "_ns" }, { "byte", "_bytes" }, { "page", "_pages" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(units[i].unit, unit))
			return units[i].suffix;
	return "";
}

char *row_field_column(const struct iot_schema_field *f)
{
	const char *suffix = unit_suffix(f->unit);
	size_t length = strlen(f->name);
	size_t most = *suffix ? strlen(suffix) - 1 : 0;	/* a field "pages" needs no "_pages" */

	if (most && length >= most && !strcmp(f->name + length - most, suffix + 1))
		suffix = "";
	return xasprintf("%s%s", f->name, suffix);
}

bool row_field_is_shown(const struct iot_schema_field *f)
{
	return strcmp(f->name, "reserved");
}

static void printer_init(struct row_printer *p)
{
	const struct iot_schema_field *op = record_field(p->event, "op");

	p->op_offset = op ? op->offset : 0;
	p->columns = NULL;
	p->nr_columns = 0;
	p->second = 0;
	second_make(p, 0);
	p->comms = xreallocarray(NULL, CACHE_SIZE, sizeof(*p->comms));
	p->flags = xreallocarray(NULL, CACHE_SIZE, sizeof(*p->flags));
	if (!p->comms || !p->flags)
		return;
	memset(p->comms, 0, CACHE_SIZE * sizeof(*p->comms));
	memset(p->flags, 0, CACHE_SIZE * sizeof(*p->flags));
}

void row_printer_open(struct row_printer *p, const struct row_column *columns,
		      size_t nr)
{
	size_t i;

	printer_init(p);
	for (i = 0; i < nr; i++)
		add_column(p, &columns[i]);
}

void row_printer_open_own(struct row_printer *p, bool with_note)
{
	const struct row_column began = {
		.name = p->clock ? "timestamp" : "since_t0_s",
		.field = "time", .put = row_timestamp,
	};
	const struct row_column note = { .name = "cmdline", .put = row_note };
	const struct row_column host = { .name = "host", .put = put_host };
	const struct row_column trace = { .name = "trace", .put = put_trace };
	struct row_column column;
	unsigned int i;

	printer_init(p);
	add_column(p, &began);
	for (i = 0; i < p->event->nr_fields; i++) {
		const struct iot_schema_field *f = &p->event->fields[i];
		char *name;

		if (!row_field_is_shown(f))
			continue;
		name = row_field_column(f);
		column = (struct row_column){ .name = name, .field = f->name, .made = name };
		add_column(p, &column);
	}
	if (with_note)
		add_column(p, &note);
	if (p->with_sources) {
		add_column(p, &host);
		add_column(p, &trace);
	}
	for (i = 0; i < p->nr_added; i++)
		add_column(p, &p->added[i]);
}

void row_printer_close(struct row_printer *p)
{
	size_t i;

	for (i = 0; i < p->nr_columns; i++) {
		free(p->columns[i].key);
		free(p->columns[i].made);
	}
	free(p->columns);
	free(p->comms);
	free(p->flags);
	p->columns = NULL;
	p->nr_columns = 0;
}

char *row_field(struct row_printer *p, char *out, const struct iot_schema_field *f, const void *record)
{
	size_t i;

	for (i = 0; i < p->nr_columns; i++)
		if (p->columns[i].field == f->name && p->columns[i].put != row_timestamp)
			return p->columns[i].put(p, &p->columns[i], out, record);
	return NULL;
}

bool row_column_is_integer(const struct row_column *c)
{
	return c->put == put_decimal || c->put == put_signed || c->put == put_port;
}

bool row_integer(const struct row_printer *p, const struct row_column *c, const void *record, __s64 *n)
{
	__u64 value = record_scalar(record, c->offset, c->size);

	if (c->put == put_signed) {
		*n = c->size == 4 ? (__s32)value : (__s64)value;
		return true;
	}
	*n = c->put == put_port && p->anonymizer ? anonymize_port(p->anonymizer, value) : value;
	return row_column_is_integer(c) && value <= INT64_MAX;
}

char *row_header(const struct row_printer *p, char *out)
{
	size_t i;

	for (i = 0; i < p->nr_columns; i++) {
		const char *name = p->columns[i].name;

		out = put_bytes(out, ",", i > 0);
		out = put_bytes(out, name, strlen(name));
	}
	*out++ = '\n';
	return out;
}

/* What a column's text depends on. */
static __u64 value_of(const struct row_printer *p, const struct row_column *c, const void *record)
{
	__u64 value = record_scalar(record, c->offset, c->size);

	if (c->again == ROW_BY_OP_AND_VALUE)
		value |= record_scalar(record, p->op_offset, sizeof(__u16)) << 32;
	return value;
}

static char *put_column(struct row_printer *p, const struct row_column *c, char *out, const void *record)
{
	/* Of CSV it is a comma, or nothing. */
	if (c->key_length == 1)
		*out++ = *c->key;
	else
		out = put_bytes(out, c->key, c->key_length);
	return c->put(p, c, out, record);
}

/* A path that is not known yet may be known to the next record, while a log is followed. */
static bool is_settled(const struct row_printer *p, const struct row_column *c, __u64 value)
{
	return c->put != put_path || !p->paths || !value || names_find(p->paths, value);
}

/*
 * As above, or the text that was kept, which is copied with what is behind it: a length that is known is
 * quicker. A column that changes all the time is no longer kept.
 */
static char *put_again(struct row_printer *p, struct row_column *c, char *out, const void *record)
{
	__u64 value = value_of(p, c, record);
	char *end;

	if (value == c->last && c->last_length) {
		c->luck++;
		memcpy(out, c->last_text, sizeof(c->last_text));
		return out + c->last_length;
	}
	end = put_column(p, c, out, record);
	c->last = value;
	c->last_length = end - out <= ROW_AGAIN && is_settled(p, c, value) ? end - out : 0;
	memcpy(c->last_text, out, sizeof(c->last_text));
	if (--c->luck < -1000)
		c->again = ROW_ANEW;
	return end;
}

char *row_print(struct row_printer *p, char *out, const void *record)
{
	struct row_column *c = p->columns;
	const struct row_column *end = c + p->nr_columns;

	for (; c < end; c++)
		out = c->again ? put_again(p, c, out, record) : put_column(p, c, out, record);
	if (p->json)
		*out++ = '}';
	*out++ = '\n';
	return out;
}
