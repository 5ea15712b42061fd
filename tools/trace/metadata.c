// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "core/schema.h"
#include "trace/flags.h"
#include "trace/metadata.h"
#include "trace/trace.h"

#define NEXT	".metadata.json"	/* the next version */
#define RESERVE	65536			/* bytes reserved for the next version */
#define RESERVE_WAITING	(96 * 1024)	/* for the calls that wait when recording ends */
#define RESERVE_A_CPU 1024		/* bytes reserved for the counts of each CPU */
#define SUM_KEY	"\"crc32\": \""		/* precedes the digits */
#define SUM_ZERO "00000000"
#define SUM_DIGITS 8

static long processors(void)
{
	static long nr;

	if (!nr)
		nr = sysconf(_SC_NPROCESSORS_CONF);
	return nr;
}

static json_t *json_time(struct wall_pair at)
{
	json_t *object = json_object();
	time_t seconds = at.realtime / 1000000000;
	char text[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_put(object, "time", json_string(text));
	json_put(object, "realtime_ns", json_integer(at.realtime));
	json_put(object, "monotonic_ns", json_integer(at.monotonic));
	return object;
}

static json_t *json_hash(void)
{
	char text[20];

	snprintf(text, sizeof(text), "%016llx", (unsigned long long)iot_schema_hash());
	return json_string(text);
}

/* The version of the module from /sys; null if it is not there. */
static json_t *json_module_version(void)
{
	FILE *f = fopen("/sys/module/iotracer/version", "re");
	char text[64] = "";

	if (f) {
		if (fgets(text, sizeof(text), f))
			text[strcspn(text, "\n")] = '\0';
		fclose(f);
	}
	return *text ? json_shown(text) : json_null();
}

json_t *metadata_new(const char *host, struct wall_pair begin)
{
	json_t *document = json_object();
	struct utsname kernel;

	uname(&kernel);
	json_put(document, "crc32", json_string(SUM_ZERO));
	json_put(document, "format", json_integer(2));
	json_put(document, "state", json_string("RUNNING"));
	json_put(document, "begin", json_time(begin));
	json_put(document, "host", json_shown(host ? host : kernel.nodename));
	json_put(document, "kernel", json_shown(kernel.release));
	json_put(document, "machine", json_shown(kernel.machine));
	json_put(document, "cpus", json_integer(processors()));
	json_put(document, "tool_version", json_string(IOTRACER_VERSION));
	json_put(document, "module_version", json_module_version());
	json_put(document, "stream_version", json_integer(IOT_STREAM_VERSION));
	json_put(document, "schema", json_hash());
	return document;
}

void metadata_end(json_t *document, struct wall_pair begin, struct wall_pair end,
		  const char *state, const char *reason)
{
	json_put(document, "state", json_string(state));
	if (reason)
		json_put(document, "reason", json_shown(reason));
	json_put(document, "begin", json_time(begin));
	json_put(document, "end", json_time(end));
	json_put(document, "duration_s",
		 json_real((double)(end.monotonic - begin.monotonic) / 1e9));
}

static int write_text(int fd, const char *text, size_t length)
{
	ssize_t n;

	for (; length; text += n, length -= n) {
		n = write(fd, text, length);
		if (n < 0)
			return -errno;
	}
	return 0;
}

/* Reserves room for the next version. */
static int reserve(int dir)
{
	size_t size = RESERVE + RESERVE_WAITING + processors() * RESERVE_A_CPU;
	char *blank = xreallocarray(NULL, size, 1);
	int fd = openat(dir, NEXT, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int err = fd < 0 ? -errno : 0;

	memset(blank, ' ', size);
	if (!err)
		err = write_text(fd, blank, size);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	free(blank);
	return err;
}

/* zlib's CRC-32, since scripting languages provide it. */
static __u32 sum_of(const char *text, size_t length)
{
	return crc32_z(0, (const unsigned char *)text, length);
}

static void put_sum(char *digits, __u32 sum)
{
	char text[SUM_DIGITS + 1];

	snprintf(text, sizeof(text), "%08x", sum);
	memcpy(digits, text, SUM_DIGITS);
}

/* The digits of the sum in a text, or NULL. */
static char *find_sum(char *text)
{
	char *key = strstr(text, SUM_KEY);

	return key && strlen(key) > strlen(SUM_KEY) + SUM_DIGITS ? key + strlen(SUM_KEY) : NULL;
}

/* The text to be written, with its sum, and its @length; NULL if there is no memory. */
static char *text_of(const json_t *document, size_t *length)
{
	char *text = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	char *line = text ? xasprintf("%s\n", text) : NULL;

	free(text);
	if (!line)
		return NULL;
	*length = strlen(line);
	put_sum(find_sum(line), sum_of(line, *length));
	return line;
}

/* The reserved room is overwritten, so that a full disk has room for the last version. */
int metadata_write(int dir, const json_t *document, bool last)
{
	size_t length = 0;
	char *text = text_of(document, &length);
	int fd = openat(dir, NEXT, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int err = fd < 0 ? -errno : 0;

	if (!err && !text)
		err = -ENOMEM;
	if (!err)
		err = write_text(fd, text, length);
	if (!err && (ftruncate(fd, length) || (fsync(fd) && errno != EINVAL)))
		err = -errno;
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, NEXT, dir, TRACE_METADATA))
		err = -errno;
	if (err)
		unlinkat(dir, NEXT, 0);
	free(text);
	return err || last ? err : reserve(dir);
}

static json_t *json_event(const struct iot_schema_event *e)
{
	json_t *event = json_object(), *fields = json_array();
	unsigned int i;

	json_put(event, "name", json_string(e->name));
	json_put(event, "id", json_integer(e->id));
	json_put(event, "size", json_integer(e->size));
	json_put(event, "text", json_string(e->text));
	for (i = 0; i < e->nr_fields; i++) {
		const struct iot_schema_field *f = &e->fields[i];
		json_t *field = json_object();

		json_put(field, "name", json_string(f->name));
		json_put(field, "offset", json_integer(f->offset));
		json_put(field, "size", json_integer(f->size));
		json_put(field, "type", json_string(f->type));
		json_put(field, "kind", json_string(f->kind));
		json_put(field, "unit", json_string(f->unit));
		json_put(field, "text", json_string(f->text));
		json_add(fields, field);
	}
	json_put(event, "fields", fields);
	return event;
}

/* NULL if there is no memory. */
static char *schema_text(void)
{
	json_t *document = json_object(), *events = json_array();
	unsigned int i;
	char *text;

	json_put(document, "stream_version", json_integer(IOT_STREAM_VERSION));
	json_put(document, "schema", json_hash());
	for (i = 0; i < iot_schema_events; i++)
		json_add(events, json_event(&iot_schema[i]));
	json_put(document, "events", events);
	json_put(document, "operations", operations_json());
	json_put(document, "flags", flags_json());
	text = json_dumps(document, JSON_INDENT(1));
	json_decref(document);
	return text;
}

/* The length and the sum of a file, which show whether it is damaged. */
static json_t *json_file(const char *name, const char *text, size_t length)
{
	json_t *object = json_object();
	char sum[SUM_DIGITS + 1];

	snprintf(sum, sizeof(sum), "%08x", sum_of(text, length));
	json_put(object, "file", json_string(name));
	json_put(object, "bytes", json_integer(length));
	json_put(object, "sum", json_string(sum));
	return object;
}

int metadata_write_schema(int dir, json_t *document)
{
	char *text = schema_text();
	int fd = openat(dir, TRACE_SCHEMA, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int err = fd < 0 ? -errno : 0;

	if (!err && !text)
		err = -ENOMEM;
	if (!err) {
		err = write_text(fd, text, strlen(text));
		json_put(document, "schema_file",
			 json_file(TRACE_SCHEMA, text, strlen(text)));
	}
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	free(text);
	return err;
}

/* Whether json_file() of this text is what metadata.json has. */
static bool is_stated(const json_t *stated, const char *text, size_t length)
{
	const char *name = json_string_value(json_object_get(stated, "file"));
	const char *digits = json_string_value(json_object_get(stated, "sum"));
	char sum[SUM_DIGITS + 1];

	snprintf(sum, sizeof(sum), "%08x", sum_of(text, length));
	return json_object_size(stated) == 3 && name && !strcmp(name, TRACE_SCHEMA) && digits &&
	       !strcmp(digits, sum) && json_is_integer(json_object_get(stated, "bytes")) &&
	       (size_t)json_integer_value(json_object_get(stated, "bytes")) == length;
}

bool metadata_check_schema(const struct metadata *m, const char *directory)
{
	char *path = xasprintf("%s/%s", directory, TRACE_SCHEMA), *text;
	bool same = false;
	size_t length;
	int err;

	if (!path)
		return false;
	err = file_read_bytes(path, &text, &length);
	if (err)
		cli_say_of(path, "cannot read: %s (only other programs need it)", strerror(-err));
	else
		same = is_stated(json_object_get(m->document, "schema_file"), text, length);
	if (!err && !same)
		cli_say_of(path, "is damaged, or was changed (only other programs need it)");
	free(text);
	free(path);
	return same;
}

static struct wall_pair pair_of(const json_t *document, const char *key)
{
	const json_t *at = json_object_get(document, key);

	return (struct wall_pair){
		json_integer_value(json_object_get(at, "monotonic_ns")),
		json_integer_value(json_object_get(at, "realtime_ns")),
	};
}

static bool sum_is_right(char *text, size_t length)
{
	char *digits = find_sum(text), stated[SUM_DIGITS], sum[SUM_DIGITS];

	if (!digits)
		return false;
	memcpy(stated, digits, SUM_DIGITS);
	memcpy(digits, SUM_ZERO, SUM_DIGITS);
	put_sum(sum, sum_of(text, length));
	memcpy(digits, stated, SUM_DIGITS);
	return !memcmp(stated, sum, SUM_DIGITS);
}

static int load_document(struct metadata *m, const char *path)
{
	json_error_t error = { 0 };
	size_t length;
	char *text;
	int err = file_read_bytes(path, &text, &length);

	if (err) {
		cli_say_of(path, "cannot read: %s (a trace is a directory that iotracer record made)",
			   strerror(-err));
		return CLI_FAILED;
	}
	m->damaged = !sum_is_right(text, length);
	errno = 0;
	m->document = json_loadb(text, length, 0, &error);
	/* jansson does not tell a lack of memory from a wrong text */
	if (!m->document && errno == ENOMEM)
		xchecked(NULL);
	free(text);
	if (!json_is_object(m->document)) {
		cli_say_of(path, "is damaged: %s", m->document ? "no object" : error.text);
		return CLI_FAILED;
	}
	if (m->damaged)
		cli_say_of(path, "is damaged, or was changed: its counts are not used, and what else it says may be wrong");
	return CLI_OK;
}

int metadata_load(struct metadata *m, const char *directory)
{
	char *path = xasprintf("%s/%s", directory, TRACE_METADATA);
	const char *text;
	int status;

	*m = (struct metadata){ 0 };
	if (!path)
		return CLI_FAILED;
	status = load_document(m, path);
	free(path);
	if (status)
		return status;
	text = json_string_value(json_object_get(m->document, "state"));
	m->state = text ? text : "";
	text = json_string_value(json_object_get(m->document, "reason"));
	m->reason = text ? text : "";
	m->anonymized = json_is_true(json_object_get(m->document, "anonymized"));
	m->begin = pair_of(m->document, "begin");
	m->end = pair_of(m->document, "end");
	return CLI_OK;
}

void metadata_free(struct metadata *m)
{
	json_decref(m->document);
	m->document = NULL;
}

const char *metadata_category(const struct metadata *m, size_t i)
{
	const json_t *all = json_object_get(m->document, "categories");

	return json_string_value(json_object_get(json_array_get(all, i), "name"));
}

static __u64 number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* False if recording was not over yet, or if metadata.json is damaged. */
static bool read_counts(const struct metadata *m, const json_t *object, struct metadata_file *f)
{
	const json_t *numbers = json_object_get(object, "numbers");

	*f = (struct metadata_file){
		.frames = number_of(object, "frames"),
		.bytes = number_of(object, "bytes"),
		.lost = number_of(object, "lost"),
		.missed = number_of(object, "missed"),
		.events = number_of(object, numbers ? "count" : "events"),
		.first = number_of(numbers, "first"),
		.behind = number_of(numbers, "next"),
		.cpus = json_object_get(object, "seq_by_cpu"),
	};
	return !m->damaged && json_object_get(object, "frames");
}

bool metadata_category_file(const struct metadata *m, size_t i, struct metadata_file *f)
{
	const json_t *all = json_object_get(m->document, "categories");

	return read_counts(m, json_array_get(all, i), f);
}

bool metadata_paths_file(const struct metadata *m, struct metadata_file *f)
{
	return read_counts(m, json_object_get(m->document, "paths"), f);
}

bool metadata_cpu(const struct metadata_file *f, size_t i, unsigned int *cpu, __u64 *first,
		  __u64 *behind)
{
	json_t *cpus = (json_t *)f->cpus;
	void *at = json_object_iter(cpus);

	for (; at && i; i--)
		at = json_object_iter_next(cpus, at);
	if (!at)
		return false;
	*cpu = strtoul(json_object_iter_key(at), NULL, 10);
	*first = number_of(json_object_iter_value(at), "first");
	*behind = number_of(json_object_iter_value(at), "next");
	return true;
}
