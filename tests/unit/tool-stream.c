// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a stream as the module would, for tests of the tool: one record a
 * line of standard input, made of FIELD=VALUE words (\ooo stands for a byte in
 * a name; what is not said is 0). Arguments are FIELD=VALUE for the header:
 * magic, version, schema, header_size, event, record_size, t0; and "continue"
 * for no header.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

#define HEADER_MAX 1000	/* bytes written at most, whatever header_size says */

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

/* Little endian: the low bytes of a u64 are any narrower scalar. */
static void set_field(char *record, char *word)
{
	const struct iot_schema_event *e = &iot_schema[0];
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
		if (!strcmp(f->type, "char"))
			set_chars(record + f->offset, f->size, value);
		else
			memcpy(record + f->offset, &n, f->size);
		return;
	}
	die(word);
}

static void write_records(void)
{
	char record[256], line[4096];
	char *word;

	while (fgets(line, sizeof(line), stdin)) {
		memset(record, 0, sizeof(record));
		for (word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
			set_field(record, word);
		fwrite(record, iot_schema[0].size, 1, stdout);
	}
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
		h->event = n;
	else if (!strncmp(word, "record_size=", 12))
		h->record_size = n;
	else if (!strncmp(word, "t0=", 3))
		h->t0 = n;
	else
		die(word);
}

int main(int argc, char **argv)
{
	struct iot_stream_header h = {
		.magic = IOT_STREAM_MAGIC, .version = IOT_STREAM_VERSION,
		.header_size = sizeof(h), .schema = iot_schema_hash(),
		.event = iot_schema[0].id, .record_size = iot_schema[0].size,
	};
	if (argc < 2 || strcmp(argv[1], "continue")) {
		size_t more;
		int i;

		for (i = 1; i < argc; i++)
			set_header(&h, argv[i]);
		fwrite(&h, sizeof(h), 1, stdout);
		for (more = sizeof(h); more < h.header_size && more < HEADER_MAX; more++)
			putchar(0xaa);
	}
	write_records();
	return fflush(stdout) ? 1 : 0;
}
