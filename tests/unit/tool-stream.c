// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a stream as the module would, for tests of the tool. Each line of
 * standard input is a record of FIELD=VALUE words. \ooo stands for a byte of a
 * text; a field that is not given is 0. The arguments are FIELD=VALUE for the
 * header: magic, version, schema, header_size, event, record_size, t0, layout,
 * cpus. If the first argument is "continue", no header is written.
 *
 * The records are in blocks. A line may have gap=N; a line of gap=N with only cpu=
 * and seq= makes a block without records. Those of event io, which is written without
 * event=, are in blocks of CPU 0, and each seq that is left out is a gap. layout=2 makes
 * paths, of id=, inode=, device= and text=. With any=1, fields that the event lacks are
 * left out.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"

#define HEADER_MAX 1000	/* most bytes that are written, even if header_size is larger */

static void die(const char *what)
{
	fprintf(stderr, "tool-stream: what is %s?\n", what);
	exit(2);
}

static void set_chars(char *to, size_t size, const char *from)
{
	size_t i;

	for (i = 0; i < size && *from; i++) {
		if (*from == '\\') {
			char digits[4] = { from[1], from[2], from[3] };

			to[i] = strtoul(digits, NULL, 8);
			from += 4;
		} else {
			to[i] = *from++;
		}
	}
}

/* As the module has it: IPv4 is mapped to IPv6. */
static void set_address(char *to, const char *from)
{
	static const char mapped[12] = { [10] = (char)0xff, [11] = (char)0xff };

	if (inet_pton(AF_INET6, from, to) == 1)
		return;
	memcpy(to, mapped, sizeof(mapped));
	if (inet_pton(AF_INET, from, to + sizeof(mapped)) != 1)
		die(from);
}

static const struct iot_schema_event *event = &iot_schema[0];
static int any;	/* fields that the event lacks are left out */

/* Little endian: a narrower scalar is the low bytes of a u64. */
static void set_field(char *record, char *word)
{
	const struct iot_schema_event *e = event;
	char *value = strchr(word, '=');
	unsigned int i;

	if (!value)
		die(word);
	*value++ = '\0';
	for (i = 0; i < e->nr_fields; i++) {
		const struct iot_schema_field *f = &e->fields[i];
		unsigned long long n = strtoull(value, NULL, 0);

		if (strcmp(f->name, word))
			continue;
		if (!strcmp(f->kind, "ipaddr"))
			set_address(record + f->offset, value);
		else if (!strcmp(f->type, "char"))
			set_chars(record + f->offset, f->size, value);
		else
			memcpy(record + f->offset, &n, f->size);
		return;
	}
	if (!any)
		die(word);
}

static __u64 number_of(const char *record, const char *name)
{
	__u64 n = 0;
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i].name, name))
			memcpy(&n, record + event->fields[i].offset, event->fields[i].size);
	return n;
}

/* The block that is being made. A record that does not follow the last one begins another. */
static struct {
	int used;	/* one was begun */
	struct iot_stream_block head;
	char records[4096 * 256];
} block;

static void end_block(void)
{
	if (!block.head.magic)
		return;
	fwrite(&block.head, sizeof(block.head), 1, stdout);
	fwrite(block.records, event->size, block.head.count, stdout);
	block.head.magic = 0;
}

/* The gap that the line gives, or, in the only ring of event io, that which @seq shows. */
static __u64 gap_before(__u64 seq, const char *given)
{
	__u64 next = block.head.first + block.head.count;

	if (given)
		return strtoull(given, NULL, 0);
	return event->id == IOT_EVENT_ID_IO && block.used && seq > next ? seq - next : 0;
}

static void add_to_block(const char *record, const char *given, int empty)
{
	__u32 cpu = event->id == IOT_EVENT_ID_IO ? 0 : number_of(record, "cpu");
	__u64 seq = number_of(record, "seq"), gap = gap_before(seq, given);

	if (block.head.cpu != cpu || block.head.first + block.head.count != seq || given ||
	    empty || block.head.count == 4096)
		end_block();
	if (!block.head.magic)
		block.head = (struct iot_stream_block){
			.magic = IOT_STREAM_BLOCK_MAGIC, .cpu = cpu, .event = event->id,
			.first = seq, .gap = gap,
		};
	block.used = 1;
	if (!empty)
		memcpy(block.records + event->size * block.head.count++, record, event->size);
}

static void write_path(char *line)
{
	struct iot_path_record p = { 0 };
	char text[8192] = "", *word;

	for (word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
		unsigned long long n = strtoull(strchr(word, '=') + 1, NULL, 0);

		if (!strncmp(word, "id=", 3))
			p.id = n;
		else if (!strncmp(word, "inode=", 6))
			p.inode = n;
		else if (!strncmp(word, "device=", 7))
			p.device = n;
		else if (!strncmp(word, "text=", 5))
			set_chars(text, sizeof(text) - 8, word + 5);
		else
			die(word);
	}
	p.length = strlen(text);
	fwrite(&p, sizeof(p), 1, stdout);
	fwrite(text, (p.length + 7) & ~7u, 1, stdout);
}

static void write_record(char *line)
{
	char record[256] = { 0 }, *word, *gap = NULL;
	int empty = 1;

	for (word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
		if (!strncmp(word, "gap=", 4)) {
			gap = word + 4;
			continue;
		}
		empty &= !strncmp(word, "cpu=", 4) || !strncmp(word, "seq=", 4);
		set_field(record, word);
	}
	add_to_block(record, gap, gap && empty);
}

static void write_records(unsigned int layout)
{
	static char line[32768];

	while (fgets(line, sizeof(line), stdin)) {
		if (layout == IOT_LAYOUT_PATHS)
			write_path(line);
		else
			write_record(line);
	}
	end_block();
}

static void set_event(unsigned int id)
{
	unsigned int i;

	for (i = 0; i < iot_schema_events; i++)
		if (iot_schema[i].id == id)
			event = &iot_schema[i];
}

static void set_header(struct iot_stream_header *h, const char *word)
{
	unsigned long long n = strtoull(strchr(word, '=') + 1, NULL, 0);

	if (!strncmp(word, "magic=", 6))
		h->magic = n;
	else if (!strncmp(word, "version=", 8))
		h->version = n;
	else if (!strncmp(word, "schema=", 7))
		h->schema = n;
	else if (!strncmp(word, "header_size=", 12))
		h->header_size = n;
	else if (!strncmp(word, "event=", 6))
		set_event(h->event = n);
	else if (!strncmp(word, "record_size=", 12))
		h->record_size = n;
	else if (!strncmp(word, "t0=", 3))
		h->t0 = n;
	else if (!strncmp(word, "layout=", 7))
		h->layout = n;
	else if (!strncmp(word, "cpus=", 5))
		h->cpus = n;
	else if (!strncmp(word, "any=", 4))
		any = n;
	else
		die(word);
}

static void write_header(const struct iot_stream_header *h)
{
	size_t more;

	fwrite(h, sizeof(*h), 1, stdout);
	for (more = sizeof(*h); more < h->header_size && more < HEADER_MAX; more++)
		putchar(0xaa);
}

int main(int argc, char **argv)
{
	struct iot_stream_header h = {
		.magic = IOT_STREAM_MAGIC, .version = IOT_STREAM_VERSION,
		.header_size = sizeof(h), .schema = iot_schema_hash(),
		.event = iot_schema[0].id, .layout = IOT_LAYOUT_BLOCKS, .cpus = 4,
	};
	int headless = argc > 1 && !strcmp(argv[1], "continue");
	int i;

	for (i = 1 + headless; i < argc; i++)
		if (!strncmp(argv[i], "event=", 6))
			set_header(&h, argv[i]);
	h.record_size = event->size;
	for (i = 1 + headless; i < argc; i++)
		set_header(&h, argv[i]);
	if (!headless)
		write_header(&h);
	write_records(h.layout);
	return fflush(stdout) ? 1 : 0;
}
