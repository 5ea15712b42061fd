// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "record.h"
#include "text.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* A scalar of any width; s64 comes back as its two's complement. */
static __u64 scalar(const struct iot_schema_field *f, const void *record)
{
	const char *at = (const char *)record + f->offset;
	__u64 u64;
	__u32 u32;
	__u16 u16;

	switch (f->size) {
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

static __u64 named(const struct iot_schema_event *event, const void *record,
		   const char *name)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i].name, name))
			return scalar(&event->fields[i], record);
	return 0;
}

__u64 record_seq(const struct iot_schema_event *event, const void *record)
{
	return named(event, record, "seq");
}

__u64 record_time(const struct iot_schema_event *event, const void *record)
{
	return named(event, record, "time");
}

/* One show_<kind> a kind: the value as text. */

static void show_decimal(const struct iot_schema_field *f, const void *record, char *out)
{
	sprintf(out, "%llu", (unsigned long long)scalar(f, record));
}

static void show_signed(const struct iot_schema_field *f, const void *record, char *out)
{
	sprintf(out, "%lld", (long long)scalar(f, record));
}

static void show_chars(const struct iot_schema_field *f, const void *record, char *out)
{
	const char *at = (const char *)record + f->offset;

	text_show_to(out, at, strnlen(at, f->size));
}

static void show_device(const struct iot_schema_field *f, const void *record, char *out)
{
	__u64 device = scalar(f, record);

	sprintf(out, "%llu:%llu", (unsigned long long)(device >> 20),
		(unsigned long long)(device & 0xfffff));
}

static void show_name(const struct iot_schema_field *f, const void *record, char *out,
		      const char *const *names, size_t nr)
{
	__u64 value = scalar(f, record);

	if (value < nr)
		strcpy(out, names[value]);
	else
		show_decimal(f, record, out);
}

static void show_level(const struct iot_schema_field *f, const void *record, char *out)
{
	static const char *const names[] = {
		[IOT_LEVEL_VFS] = "vfs", [IOT_LEVEL_BLK] = "blk",
	};

	show_name(f, record, out, names, ARRAY_SIZE(names));
}

static void show_access(const struct iot_schema_field *f, const void *record, char *out)
{
	static const char *const names[] = {
		[IOT_OP_READ] = "R", [IOT_OP_WRITE] = "W",
	};

	show_name(f, record, out, names, ARRAY_SIZE(names));
}

static void show_ioflags(const struct iot_schema_field *f, const void *record, char *out)
{
	static const struct { __u64 bit; const char *name; } flags[] = {
		{ IOT_IO_DIRECT, "direct" }, { IOT_IO_ASYNC, "async" },
		{ IOT_IO_NOWAIT, "nowait" }, { IOT_IO_APPEND, "append" },
		{ IOT_IO_SYNC, "sync" }, { IOT_IO_SPLICE, "splice" },
		{ IOT_IO_CLONE, "clone" }, { IOT_IO_READAHEAD, "readahead" },
		{ IOT_IO_FUA, "fua" },
	};
	__u64 value = scalar(f, record);
	const char *separator = "";
	size_t i;

	*out = '\0';
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!(value & flags[i].bit))
			continue;
		out += sprintf(out, "%s%s", separator, flags[i].name);
		separator = "|";
		value &= ~flags[i].bit;
	}
	if (value)
		sprintf(out, "%s0x%llx", separator, (unsigned long long)value);
}

#define TEXT_MAX 256	/* bytes; more than any value that is not chars */

struct kind {
	const char *name;
	void (*show)(const struct iot_schema_field *f, const void *record, char *out);
	bool number;		/* in JSON */
};

static const struct kind kinds[] = {
	{ "decimal", show_decimal, true },
	{ "signed", show_signed, true },
	{ "time", show_decimal, true },
	{ "level", show_level, false },
	{ "access", show_access, false },
	{ "ioflags", show_ioflags, false },
	{ "device", show_device, false },
	{ "comm", show_chars, false },
};

/* A kind that is not known here is shown as what it is made of. */
static const struct kind *kind_of(const struct iot_schema_field *f)
{
	static const struct kind number = { "", show_decimal, true };
	static const struct kind chars = { "", show_chars, false };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, f->kind))
			return &kinds[i];
	return strcmp(f->type, "char") ? &number : &chars;
}

void record_printer_init(struct record_printer *p,
			 const struct iot_schema_event *event, __u64 t0)
{
	size_t size = TEXT_MAX;
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (4 * event->fields[i].size + 1 > size)
			size = 4 * event->fields[i].size + 1;
	*p = (struct record_printer){ .event = event, .t0 = t0 };
	p->text = cli_grow(NULL, size, 1);
}

void record_printer_free(struct record_printer *p)
{
	free(p->text);
	p->text = NULL;
}

/* Seconds since T0; a call that began before a timereset ended is negative. */
static void show_timestamp(const struct record_printer *p, const void *record)
{
	__s64 ns = record_time(p->event, record) - p->t0;
	__u64 size = ns < 0 ? -(__u64)ns : (__u64)ns;

	sprintf(p->text, "%s%llu.%09llu", ns < 0 ? "-" : "",
		(unsigned long long)(size / 1000000000),
		(unsigned long long)(size % 1000000000));
}

void record_csv_header(const struct record_printer *p)
{
	unsigned int i;

	fputs("timestamp", stdout);
	for (i = 0; i < p->event->nr_fields; i++)
		printf(",%s", p->event->fields[i].name);
	putchar('\n');
}

static void put_csv(const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

void record_csv(const struct record_printer *p, const void *record)
{
	unsigned int i;

	show_timestamp(p, record);
	fputs(p->text, stdout);
	for (i = 0; i < p->event->nr_fields; i++) {
		const struct iot_schema_field *f = &p->event->fields[i];

		kind_of(f)->show(f, record, p->text);
		putchar(',');
		put_csv(p->text);
	}
	putchar('\n');
}

/* A u64 that JSON's signed integers cannot hold becomes a string, not a lie. */
static json_t *json_value(const struct record_printer *p,
			  const struct iot_schema_field *f, const void *record)
{
	const struct kind *kind = kind_of(f);
	__u64 value;

	if (kind->number) {
		value = scalar(f, record);
		if (value <= INT64_MAX || kind->show == show_signed)
			return json_integer((json_int_t)value);
	}
	kind->show(f, record, p->text);
	return json_string(p->text);
}

void record_json(const struct record_printer *p, const void *record)
{
	json_t *object = json_object();
	unsigned int i;

	for (i = 0; i < p->event->nr_fields; i++) {
		const struct iot_schema_field *f = &p->event->fields[i];

		if (json_object_set_new(object, f->name, json_value(p, f, record))) {
			cli_say("out of memory");
			exit(CLI_FAILED);
		}
	}
	show_timestamp(p, record);
	printf("{\"timestamp\":%s,", p->text);
	/* Embedded, that the timestamp keeps its nine decimals. */
	json_dumpf(object, stdout, JSON_COMPACT | JSON_EMBED);
	puts("}");
	json_decref(object);
}
