// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "anonymize.h"
#include "cli.h"
#include "csv.h"
#include "flags.h"
#include "names.h"
#include "put.h"
#include "record.h"
#include "sources.h"
#include "text.h"
#include "wall.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NS_PER_S 1000000000ULL

/* Caches of texts, each text at the hash of the value that it was made from. */
#define CACHE_BITS 8
#define CACHE_SIZE (1u << CACHE_BITS)
#define COMM_SIZE 16

struct record_comm {
	__u64 key[COMM_SIZE / 8];
	__u32 length;
	bool used, plain;
	char text[4 * COMM_SIZE + 4];
};

struct record_flags {
	const char *group;
	__u32 value;
	__u32 length;
	char text[FLAGS_MAX];
};

static unsigned int cache_place(__u64 key)
{
	return key * 0x9e3779b97f4a7c15ULL >> (64 - CACHE_BITS);
}

/* A scalar of any width; a negative value is returned as its two's complement. */
static inline __u64 scalar(const struct record_column *c, const void *record)
{
	const char *at = (const char *)record + c->offset;
	__u64 u64;
	__u32 u32;
	__u16 u16;

	switch (c->size) {
	case 8:
		return memcpy(&u64, at, 8), u64;
	case 4:
		return memcpy(&u32, at, 4), u32;
	case 2:
		return memcpy(&u16, at, 2), u16;
	default:
		return (unsigned char)*at;
	}
}

const struct iot_schema_field *record_field(const struct iot_schema_event *event,
					    const char *name)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i].name, name))
			return &event->fields[i];
	return NULL;
}

static __u64 named(const struct iot_schema_event *event, const void *record,
		   const char *name)
{
	const struct iot_schema_field *f = record_field(event, name);
	struct record_column c = { 0 };

	if (!f)
		return 0;
	c.offset = f->offset;
	c.size = f->size;
	return scalar(&c, record);
}

__u64 record_seq(const struct iot_schema_event *event, const void *record)
{
	return named(event, record, "seq");
}

__u64 record_time(const struct iot_schema_event *event, const void *record)
{
	return named(event, record, "time");
}

__u64 record_latency(const struct iot_schema_event *event, const void *record)
{
	return named(event, record, "latency");
}

/* The text is escaped, so it has no control characters. */
static char *put_json(char *out, const char *text, size_t length)
{
	size_t i;

	*out++ = '"';
	for (i = 0; i < length; i++) {
		if (text[i] == '"' || text[i] == '\\')
			*out++ = '\\';
		*out++ = text[i];
	}
	*out++ = '"';
	return out;
}

char *record_text(const struct record_printer *p, char *out, const char *text,
		  size_t length, bool plain)
{
	if (p->json && plain) {
		*out++ = '"';
		out = put_bytes(out, text, length);
		*out++ = '"';
		return out;
	}
	if (plain)
		return put_bytes(out, text, length);
	return p->json ? put_json(out, text, length) : csv_put(out, text, length);
}

static char *put_word(const struct record_printer *p, char *out, const char *word)
{
	return record_text(p, out, word, strlen(word), true);
}

/* One put_<kind>() for each kind of field. */

/* A u64 that JSON's signed integers cannot hold becomes a string. */
static char *put_decimal(struct record_printer *p, const struct record_column *c,
			 char *out, const void *record)
{
	__u64 n = scalar(c, record);

	if (!p->json || n <= INT64_MAX)
		return put_u64(out, n);
	*out++ = '"';
	out = put_u64(out, n);
	*out++ = '"';
	return out;
}

static char *put_signed(struct record_printer *p, const struct record_column *c,
			char *out, const void *record)
{
	__u64 n = scalar(c, record);

	(void)p;
	return put_s64(out, c->size == 4 ? (__s32)n : (__s64)n);
}

static char *put_address(struct record_printer *p, const struct record_column *c,
			 char *out, const void *record)
{
	__u64 n = scalar(c, record);
	char text[24];

	return record_text(p, out, text, n ? put_hex(text, n) - text : 0, true);
}

static char *put_device(struct record_printer *p, const struct record_column *c,
			char *out, const void *record)
{
	__u64 device = scalar(c, record);
	char text[48];
	char *end = put_u64(text, device >> 20);

	*end++ = ':';
	end = put_u64(end, device & 0xfffff);
	return record_text(p, out, text, end - text, true);
}

static void comm_make(const struct record_printer *p, struct record_comm *comm)
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

static char *put_comm(struct record_printer *p, const struct record_column *c,
		      char *out, const void *record)
{
	struct record_comm *comm;
	__u64 key[COMM_SIZE / 8];

	memcpy(key, (const char *)record + c->offset, sizeof(key));
	comm = &p->comms[cache_place(key[0] ^ (key[1] << 1))];
	if (!comm->used || comm->key[0] != key[0] || comm->key[1] != key[1]) {
		memcpy(comm->key, key, sizeof(key));
		comm_make(p, comm);
	}
	return record_text(p, out, comm->text, comm->length, comm->plain);
}

/* A character array of any length. */
static char *put_chars(struct record_printer *p, const struct record_column *c,
		       char *out, const void *record)
{
	const char *at = (const char *)record + c->offset;
	char *shown = text_show(at, strnlen(at, c->size));

	out = record_text(p, out, shown, strlen(shown), false);
	free(shown);
	return out;
}

/* A name, or the number if it has none. */
static char *put_name(struct record_printer *p, char *out, const char *name, __u64 number)
{
	char text[24];

	if (name)
		return put_word(p, out, name);
	return record_text(p, out, text, put_u64(text, number) - text, true);
}

static char *put_named(struct record_printer *p, const struct record_column *c, char *out,
		       const void *record, const char *const *names, size_t nr)
{
	__u64 value = scalar(c, record);

	return put_name(p, out, value < nr ? names[value] : NULL, value);
}

static char *put_level(struct record_printer *p, const struct record_column *c,
		       char *out, const void *record)
{
	static const char *const names[] = {
		[IOT_LEVEL_VFS] = "vfs", [IOT_LEVEL_BLK] = "blk",
	};

	return put_named(p, c, out, record, names, ARRAY_SIZE(names));
}

static char *put_access(struct record_printer *p, const struct record_column *c,
			char *out, const void *record)
{
	__u64 op = scalar(c, record);
	const struct iot_access_name *access = iot_names_access(op);

	return put_name(p, out, access ? access->name : NULL, op);
}

static char *put_fskind(struct record_printer *p, const struct record_column *c,
			char *out, const void *record)
{
	__u64 kind = scalar(c, record);

	return put_name(p, out, iot_names_kind(kind), kind);
}

static char *put_op(struct record_printer *p, const struct record_column *c,
		    char *out, const void *record)
{
	__u64 op = scalar(c, record);

	return put_name(p, out, iot_names_op_name(p->event->id, op), op);
}

/* A path that was evicted before it was read is "?". */
static char *put_path(struct record_printer *p, const struct record_column *c,
		      char *out, const void *record)
{
	__u64 id = scalar(c, record);
	const struct name *name;

	if (!p->paths)
		return put_decimal(p, c, out, record);
	if (!id)
		return put_word(p, out, "");
	name = names_find(p->paths, id);
	if (!name)
		return put_word(p, out, "?");
	return record_text(p, out, name->text, name->length, name->plain);
}

char *record_group(struct record_printer *p, char *out, const char *group, __u32 value)
{
	struct record_flags *f = &p->flags[cache_place(value ^ (uintptr_t)group << 8)];

	if (f->group != group || f->value != value) {
		f->group = group;
		f->value = value;
		f->length = flags_show(f->text, group, value);
	}
	return record_text(p, out, f->text, f->length, true);
}

char *record_opflags(struct record_printer *p, char *out, const char *group, __u32 value)
{
	__u32 common = value & iot_names_common(p->event->id);
	char text[2 * FLAGS_MAX + 1];
	size_t length;

	if (!common)
		return record_group(p, out, group, value);
	length = flags_show(text, group, value & ~common);
	if (length)
		text[length++] = '|';
	length += flags_show(text + length, "call", common);
	return record_text(p, out, text, length, true);
}

static char *put_ioflags(struct record_printer *p, const struct record_column *c,
			 char *out, const void *record)
{
	static const char group[] = "io";

	return record_group(p, out, group, scalar(c, record));
}

/* A value of the flag group that has the name of the kind. */
static char *put_value(struct record_printer *p, const struct record_column *c,
		       char *out, const void *record)
{
	return record_group(p, out, c->kind, scalar(c, record));
}

static const struct iot_op *op_of(const struct record_printer *p, const void *record)
{
	static const struct iot_op none = { "", "none", "none" };
	const struct iot_op *op;
	__u16 number;

	memcpy(&number, (const char *)record + p->op_offset, sizeof(number));
	op = iot_names_op(p->event->id, number);

	return op ? op : &none;
}

static char *put_opflags(struct record_printer *p, const struct record_column *c,
			 char *out, const void *record)
{
	return record_opflags(p, out, op_of(p, record)->flags, scalar(c, record));
}

static char *put_opflags2(struct record_printer *p, const struct record_column *c,
			  char *out, const void *record)
{
	return record_group(p, out, op_of(p, record)->flags2, scalar(c, record));
}

static const struct kind {
	const char *name;
	record_put put;
} kinds[] = {
	{ "decimal", put_decimal },
	{ "signed", put_signed },
	{ "time", put_decimal },
	{ "hex", put_address },
	{ "address", put_address },
	{ "returned", put_signed },
	{ "sqeoff", put_decimal },
	{ "level", put_level },
	{ "access", put_access },
	{ "ioflags", put_ioflags },
	{ "device", put_device },
	{ "comm", put_comm },
	{ "path", put_path },
	{ "op", put_op },
	{ "fskind", put_fskind },
	{ "severity", put_value },
	{ "ioclass", put_value },
	{ "uringop", put_value },
	{ "unsure", put_value },
	{ "opflags", put_opflags },
	{ "opflags2", put_opflags2 },
};

/* A kind that is not known here is shown by the type of its field. */
static record_put put_of(const struct iot_schema_field *f)
{
	size_t i;

	if (!strcmp(f->kind, "comm") && f->size != COMM_SIZE)
		return put_chars;
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, f->kind))
			return kinds[i].put;
	return strcmp(f->type, "char") ? put_decimal : put_chars;
}

static void second_make(struct record_printer *p, __u64 second)
{
	time_t t = second;
	struct tm tm;

	p->second = second;
	gmtime_r(&t, &tm);
	strftime(p->second_text, sizeof(p->second_text), "%Y-%m-%dT%H:%M:%S", &tm);
}

/* Seconds since T0; negative for a call that began before a timereset. */
static char *put_since(const struct record_printer *p, char *out, __u64 time)
{
	__s64 ns = time - p->t0;
	__u64 size = ns < 0 ? -(__u64)ns : (__u64)ns;

	if (ns < 0)
		*out++ = '-';
	out = put_u64(out, size / NS_PER_S);
	*out++ = '.';
	return put_nine(out, size % NS_PER_S);
}

char *record_timestamp(struct record_printer *p, const struct record_column *c,
		       char *out, const void *record)
{
	__u64 time = scalar(c, record);
	char text[40];
	char *end;

	if (!p->clock)
		return put_since(p, out, time);
	time = wall_time(p->clock, time);
	if (time / NS_PER_S != p->second)
		second_make(p, time / NS_PER_S);
	end = put_bytes(text, p->second_text, strlen(p->second_text));
	*end++ = '.';
	end = put_nine(end, time % NS_PER_S);
	*end++ = 'Z';
	return record_text(p, out, text, end - text, true);
}

char *record_datetime(struct record_printer *p, const struct record_column *c,
		      char *out, const void *record)
{
	__u64 time = wall_time(p->clock, scalar(c, record));
	char text[40];
	char *end;

	if (time / NS_PER_S != p->second)
		second_make(p, time / NS_PER_S);
	end = put_bytes(text, p->second_text, strlen(p->second_text));
	*(char *)memchr(text, 'T', end - text) = ' ';
	*end++ = '.';
	end = put_padded(end, time % NS_PER_S / 1000, 6);
	return record_text(p, out, text, end - text, true);
}

char *record_note(struct record_printer *p, const struct record_column *c,
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
		return record_text(p, out, hidden, sizeof(hidden), true);
	}
	shown = text_show(p->note, p->note_length);
	out = record_text(p, out, shown, strlen(shown), false);
	free(shown);
	return out;
}

static char *put_source(struct record_printer *p, char *out, const char *text)
{
	return record_text(p, out, text, strlen(text), name_is_plain(text, strlen(text)));
}

static char *put_host(struct record_printer *p, const struct record_column *c, char *out,
		      const void *record)
{
	(void)c;
	(void)record;
	return put_source(p, out, p->source ? p->source->host : "?");
}

static char *put_trace(struct record_printer *p, const struct record_column *c, char *out,
		       const void *record)
{
	(void)c;
	(void)record;
	return put_source(p, out, p->source ? p->source->trace : "?");
}

static void add_column(struct record_printer *p, const struct record_column *column)
{
	const struct iot_schema_field *f = NULL;
	struct record_column *c;

	if (column->field)
		f = record_field(p->event, column->field);
	p->columns = cli_grow(p->columns, p->nr_columns + 1, sizeof(*p->columns));
	c = &p->columns[p->nr_columns];
	*c = *column;
	if (f) {
		c->offset = f->offset;
		c->size = f->size;
		c->kind = f->kind;
		c->put = c->put ? c->put : put_of(f);
	}
	if (p->json)
		c->key = cli_printf("%s\"%s\":", p->nr_columns ? "," : "{", c->name);
	else
		c->key = cli_strdup(p->nr_columns ? "," : "");
	c->key_length = strlen(c->key);
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

char *record_field_column(const struct iot_schema_field *f)
{
	const char *suffix = unit_suffix(f->unit);
	size_t length = strlen(f->name);
	size_t most = *suffix ? strlen(suffix) - 1 : 0;	/* a field "pages" needs no "_pages" */

	if (most && length >= most && !strcmp(f->name + length - most, suffix + 1))
		suffix = "";
	return cli_printf("%s%s", f->name, suffix);
}

bool record_field_is_shown(const struct iot_schema_field *f)
{
	return strcmp(f->name, "reserved");
}

static void printer_init(struct record_printer *p)
{
	const struct iot_schema_field *op = record_field(p->event, "op");

	p->op_offset = op ? op->offset : 0;
	p->columns = NULL;
	p->nr_columns = 0;
	p->second = 0;
	second_make(p, 0);
	p->comms = cli_grow(NULL, CACHE_SIZE, sizeof(*p->comms));
	p->flags = cli_grow(NULL, CACHE_SIZE, sizeof(*p->flags));
	memset(p->comms, 0, CACHE_SIZE * sizeof(*p->comms));
	memset(p->flags, 0, CACHE_SIZE * sizeof(*p->flags));
}

void record_printer_open(struct record_printer *p, const struct record_column *columns,
			 size_t nr)
{
	size_t i;

	printer_init(p);
	for (i = 0; i < nr; i++)
		add_column(p, &columns[i]);
}

void record_printer_open_own(struct record_printer *p, bool with_note)
{
	const struct record_column began = {
		.name = p->clock ? "timestamp" : "since_t0_s",
		.field = "time", .put = record_timestamp,
	};
	const struct record_column note = { .name = "cmdline", .put = record_note };
	const struct record_column host = { .name = "host", .put = put_host };
	const struct record_column trace = { .name = "trace", .put = put_trace };
	struct record_column column;
	unsigned int i;

	printer_init(p);
	add_column(p, &began);
	for (i = 0; i < p->event->nr_fields; i++) {
		const struct iot_schema_field *f = &p->event->fields[i];
		char *name;

		if (!record_field_is_shown(f))
			continue;
		name = record_field_column(f);
		column = (struct record_column){ .name = name, .field = f->name, .made = name };
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

void record_printer_close(struct record_printer *p)
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

char *record_header(const struct record_printer *p, char *out)
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

char *record_row(struct record_printer *p, char *out, const void *record)
{
	const struct record_column *c = p->columns;
	const struct record_column *end = c + p->nr_columns;

	for (; c < end; c++) {
		out = put_bytes(out, c->key, c->key_length);
		out = c->put(p, c, out, record);
	}
	if (p->json)
		*out++ = '}';
	*out++ = '\n';
	return out;
}
