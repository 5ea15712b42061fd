// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/place.h"
#include "base/put.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "trace/check.h"
#include "trace/ctf.h"
#include "trace/output.h"
#include "trace/record.h"
#include "uapi/iotracer.h"

#define CTF_MAGIC	0xc1fc1fc1
#define CTF_PACKET	(256 * 1024)	/* bytes of events from which on a packet is written */
#define CTF_UNKNOWN	0xffff		/* the id of an event whose operation has no name */

/* The begin of each packet, as the metadata describes it. Sizes are in bits. */
struct packet_head {
	__u32 magic, stream;
	__u64 begin, end, content_size, packet_size, discarded;
};

static bool fail(struct ctf *c, const char *name, int err)
{
	char *path = xasprintf("%s/%s", c->directory, name);

	if (!c->failed && err == EEXIST)
		cli_say_of(path, "is there already: export to another directory, or remove it");
	else if (!c->failed)
		cli_say_of(path, "cannot be written: %s", strerror(err));
	c->failed = true;
	free(path);
	return false;
}

/* It is for its owner alone, as the trace is that it was made of. */
static int make_file(struct ctf *c, const char *name)
{
	int fd = openat(c->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		fail(c, name, errno);
	return fd;
}

/* --- metadata -------------------------------------------------------------------------- */

/* A string of TSDL. The caller frees it. */
static char *quoted(const char *text)
{
	char *shown = text_show(text, strlen(text));
	char *out = xreallocarray(NULL, 2 * strlen(shown) + 1, 1), *to = out;
	const char *at;

	for (at = shown; *at; at++) {
		if (*at == '"' || *at == '\\')
			*to++ = '\\';
		*to++ = *at;
	}
	*to = '\0';
	free(shown);
	return out;
}

static void __attribute__((format(printf, 2, 3))) append(char **text, const char *format, ...)
{
	va_list args;
	char *more;

	va_start(args, format);
	more = xvasprintf(format, args);
	va_end(args);
	*text = text_append(*text, "", more);
	free(more);
}

static bool is_kind(const struct row_column *c, const char *kind)
{
	return c->field && !strcmp(c->kind, kind);
}

/* How a field is written: a number as it is in the record, or the text of its column. */
static bool is_number(const struct row_column *c)
{
	static const char *const kinds[] = {
		"decimal", "signed", "returned", "time", "sqeoff", "hex", "address", "op",
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (is_kind(c, kinds[i]))
			return true;
	return false;
}

static void describe_field(struct ctf *c, const struct row_column *column)
{
	bool is_signed = is_kind(column, "signed") || is_kind(column, "returned");
	bool is_hex = is_kind(column, "hex") || is_kind(column, "address");

	/* An underline before a name keeps it from being a word of TSDL. Readers leave it away. */
	if (!is_number(column))
		append(&c->types, "\tstring { encoding = UTF8; } _%s;\n", column->name);
	else if (is_kind(column, "op"))
		append(&c->types, "\tenum %s_op _%s;\n", c->category->name, column->name);
	else
		append(&c->types, "\tinteger { size = %u; align = 8; signed = %s; base = %u; } _%s;\n",
		       8 * column->size, is_signed ? "true" : "false", is_hex ? 16 : 10, column->name);
}

static bool is_written(const struct row_column *c)
{
	return c->put != row_timestamp;
}

static void describe_event(struct ctf *c, const char *op, unsigned int id)
{
	append(&c->types,
	       "event {\n\tname = \"%s:%s\";\n\tid = %u;\n\tstream_id = %u;\n\tfields := struct %s_fields;\n};\n\n",
	       c->category->name, op, id, c->category->event_id, c->category->name);
}

/* The enumeration of the operations, the struct of the fields, the stream, and the events. */
static void describe_category(struct ctf *c)
{
	const char *name = c->category->name;
	unsigned int i, event = c->category->event_id;

	append(&c->types, "enum %s_op : uint16_t {\n", name);
	for (i = 0; i < IOT_OPS_MAX; i++)
		if (iot_names_op_name(event, i))
			append(&c->types, "\t\"%s\" = %u,\n", iot_names_op_name(event, i), i);
	append(&c->types, "\t\"unknown\" = %u\n};\n\nstruct %s_fields {\n", CTF_UNKNOWN, name);
	for (i = 0; i < c->printer.nr_columns; i++)
		if (is_written(&c->printer.columns[i]))
			describe_field(c, &c->printer.columns[i]);
	append(&c->types, "} align(8);\n\nstream {\n\tid = %u;\n\tevent.header := struct event_header;\n"
	       "\tpacket.context := struct packet_context;\n};\n\n", event);
	for (i = 0; i < IOT_OPS_MAX; i++)
		if (iot_names_op_name(event, i))
			describe_event(c, iot_names_op_name(event, i), i);
	describe_event(c, "unknown", CTF_UNKNOWN);
}

static void describe_machine(struct ctf *c)
{
	const struct metadata *m = &c->check->metadata;
	const char *host = json_string_value(json_object_get(m->document, "host"));
	const char *kernel = json_string_value(json_object_get(m->document, "kernel"));
	char *text = quoted(kernel ? kernel : "");

	append(&c->environment, "\tdomain = \"kernel\";\n\tsysname = \"Linux\";\n\tkernel_release = \"%s\";\n"
	       "\ttracer_name = \"iotracer\";\n", text);
	free(text);
	if (c->anonymizer || m->anonymized || !host)
		return;
	text = quoted(host);
	append(&c->environment, "\thostname = \"%s\";\n", text);
	free(text);
}

static const char common[] =
	"/* CTF 1.8 */\n\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n\n"
	"trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
	"\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint32_t stream_id;\n\t};\n};\n\n"
	"clock {\n\tname = realtime;\n\tdescription = \"ns since 1970, UTC\";\n\tfreq = 1000000000;\n"
	"\toffset = 0;\n\tabsolute = true;\n};\n\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.realtime.value; } := wall_t;\n\n"
	"struct packet_context {\n\twall_t timestamp_begin;\n\twall_t timestamp_end;\n\tuint64_t content_size;\n"
	"\tuint64_t packet_size;\n\tuint64_t events_discarded;\n} align(8);\n\n"
	"struct event_header {\n\tuint16_t id;\n\twall_t timestamp;\n} align(8);\n\n";

static bool write_metadata(struct ctf *c)
{
	int fd = make_file(c, "metadata");
	char *text;
	bool good;

	if (fd < 0)
		return false;
	text = xasprintf("%senv {\n%s};\n\n%s", common, c->environment, c->types ? c->types : "");
	good = output_write(fd, text, strlen(text)) || fail(c, "metadata", errno);
	free(text);
	if (close(fd))
		good = fail(c, "metadata", errno);
	return good;
}

/* --- streams --------------------------------------------------------------------------- */

static bool write_packet(struct ctf *c)
{
	struct packet_head head = {
		.magic = CTF_MAGIC, .stream = c->category->event_id, .begin = c->first, .end = c->last,
		.content_size = 8 * c->used, .packet_size = 8 * c->used, .discarded = c->discarded,
	};

	memcpy(c->packet, &head, sizeof(head));
	if (!c->failed && !output_write(c->fd, c->packet, c->used))
		fail(c, c->category->name, errno);
	c->used = sizeof(head);
	c->first = c->last;
	return !c->failed;
}

bool ctf_begin(struct ctf *c)
{
	c->fd = -1;
	c->dir = place_open(c->directory, PLACE_LAST);
	if (c->dir < 0)
		return false;
	c->packet = xreallocarray(NULL, CTF_PACKET + ROW_MAX, 1);
	describe_machine(c);
	return true;
}

bool ctf_begin_category(struct ctf *c, const struct category *category)
{
	c->category = category;
	c->basis = (struct basis){ .records = 0 };
	c->printer = (struct row_printer){
		.event = category_event(category), .bare = true, .clock = &c->check->clock, .paths = c->paths,
		.anonymizer = c->anonymizer,
	};
	row_printer_open_own(&c->printer, category->command_op != NO_OP);
	describe_category(c);
	c->discarded = 0;
	c->used = sizeof(struct packet_head);
	c->last = wall_time(&c->check->clock, c->check->metadata.begin.monotonic);
	c->first = c->last;
	c->fd = make_file(c, category->name);
	/* A packet without events, as readers compare the counts of two packets. */
	return c->fd >= 0 && write_packet(c);
}

/*
 * An empty text is written as a dash: babeltrace2 2.0.4 shows the text of an earlier event
 * instead (efficios/babeltrace#116).
 */
static char *put_field(struct ctf *c, char *out, const struct row_column *column, const void *record)
{
	char *end;

	if (is_number(column))
		return put_bytes(out, (const char *)record + column->offset, column->size);
	end = column->put(&c->printer, column, out, record);
	if (end == out)
		*end++ = '-';
	*end++ = '\0';
	return end;
}

bool ctf_put(struct ctf *c, const void *record, const char *note, size_t length)
{
	const struct iot_schema_event *event = c->printer.event;
	__u64 end = record_time(event, record) + record_latency(event, record);
	__u64 time = wall_time(&c->check->clock, end);
	__u16 id = record_scalar(record, c->printer.op_offset, sizeof(id));
	char *out = c->packet + c->used;
	size_t i;

	/* The times of a stream never fall, whatever its records say. */
	if (time > c->last && time <= INT64_MAX)
		c->last = time;
	if (!iot_names_op_name(event->id, id))
		id = CTF_UNKNOWN;
	c->printer.note = note;
	c->printer.note_length = length;
	basis_add(&c->basis, 1);
	if (c->used == sizeof(struct packet_head))
		c->first = c->last;
	out = put_bytes(out, (const char *)&id, sizeof(id));
	out = put_bytes(out, (const char *)&c->last, sizeof(c->last));
	for (i = 0; i < c->printer.nr_columns; i++)
		if (is_written(&c->printer.columns[i]))
			out = put_field(c, out, &c->printer.columns[i], record);
	c->used = out - c->packet;
	return c->used < CTF_PACKET || write_packet(c);
}

static void describe_basis(struct ctf *c)
{
	const char *name = c->category->name;

	append(&c->environment, "\t%s_events = %" PRIu64 ";\n\t%s_lost = %" PRIu64 ";\n\t%s_missed = %" PRIu64
	       ";\n\t%s_unreadable = %" PRIu64 ";\n", name, (uint64_t)c->basis.records, name,
	       (uint64_t)c->basis.lost, name, (uint64_t)c->basis.missed, name, (uint64_t)c->basis.unreadable);
}

/* The last packet counts as discarded also what is missing nobody knows where. */
bool ctf_end_category(struct ctf *c)
{
	__u64 missing = c->basis.lost + c->basis.unreadable;
	bool good = !c->failed;

	if (good && c->used > sizeof(struct packet_head))
		good = write_packet(c);
	if (good && missing > c->discarded) {
		c->discarded = missing;
		good = write_packet(c);
	}
	if (close(c->fd) && good)
		good = fail(c, c->category->name, errno);
	c->fd = -1;
	describe_basis(c);
	row_printer_close(&c->printer);
	return good;
}

bool ctf_end(struct ctf *c)
{
	bool good = c->dir >= 0 && !c->failed && write_metadata(c);

	if (c->fd >= 0)
		close(c->fd);
	if (c->dir >= 0)
		close(c->dir);
	free(c->packet);
	free(c->types);
	free(c->environment);
	return good;
}
