// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "flags.h"
#include "json.h"
#include "metadata.h"
#include "schema.h"
#include "trace.h"

#define NEXT	".metadata.json"	/* the version to come */
#define RESERVE	65536			/* bytes for it */

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

/* What /sys says of the module; null where it is not there. */
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
	json_put(document, "format", json_integer(1));
	json_put(document, "state", json_string("RUNNING"));
	json_put(document, "begin", json_time(begin));
	json_put(document, "host", json_shown(host ? host : kernel.nodename));
	json_put(document, "kernel", json_shown(kernel.release));
	json_put(document, "machine", json_shown(kernel.machine));
	json_put(document, "cpus", json_integer(sysconf(_SC_NPROCESSORS_CONF)));
	json_put(document, "tool_version", json_string(IOTRACER_VERSION));
	json_put(document, "module_version", json_module_version());
	json_put(document, "stream_version", json_integer(IOT_STREAM_VERSION));
	json_put(document, "schema", json_hash());
	return document;
}

void metadata_end(json_t *document, struct wall_pair begin, struct wall_pair end,
		  const char *reason)
{
	json_put(document, "state", json_string(reason ? "ERROR" : "COMPLETE"));
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

int metadata_reserve(int dir)
{
	char blank[4096];
	int fd = openat(dir, NEXT, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int err = fd < 0 ? -errno : 0;
	int i;

	memset(blank, ' ', sizeof(blank));
	for (i = 0; !err && i < RESERVE / (int)sizeof(blank); i++)
		err = write_text(fd, blank, sizeof(blank));
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	return err;
}

/* Over what is reserved: a disk that is full has room for it. */
int metadata_write(int dir, const json_t *document, bool last)
{
	char *text = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	int fd = openat(dir, NEXT, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int err = fd < 0 ? -errno : 0;

	if (!err && !text)
		err = -ENOMEM;
	if (!err)
		err = write_text(fd, text, strlen(text));
	if (!err)
		err = write_text(fd, "\n", 1);
	if (!err && (ftruncate(fd, strlen(text) + 1) || (fsync(fd) && errno != EINVAL)))
		err = -errno;
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, NEXT, dir, TRACE_METADATA))
		err = -errno;
	if (err)
		unlinkat(dir, NEXT, 0);
	free(text);
	return err || last ? err : metadata_reserve(dir);
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

int metadata_write_schema(int dir)
{
	json_t *document = json_object(), *events = json_array();
	int fd = openat(dir, TRACE_SCHEMA, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int err = fd < 0 ? -errno : 0;
	unsigned int i;

	json_put(document, "stream_version", json_integer(IOT_STREAM_VERSION));
	json_put(document, "schema", json_hash());
	for (i = 0; i < iot_schema_events; i++)
		json_add(events, json_event(&iot_schema[i]));
	json_put(document, "events", events);
	json_put(document, "operations", operations_json());
	json_put(document, "flags", flags_json());
	if (!err && json_dumpfd(document, fd, JSON_INDENT(1)))
		err = errno ? -errno : -EIO;
	json_decref(document);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	return err;
}

static struct wall_pair pair_of(const json_t *document, const char *key)
{
	const json_t *at = json_object_get(document, key);

	return (struct wall_pair){
		json_integer_value(json_object_get(at, "monotonic_ns")),
		json_integer_value(json_object_get(at, "realtime_ns")),
	};
}

int metadata_load(struct metadata *m, const char *directory)
{
	char *path = cli_printf("%s/%s", directory, TRACE_METADATA);
	json_error_t error;
	const char *text;

	*m = (struct metadata){ 0 };
	if (access(path, R_OK)) {
		cli_say_of(path, "cannot read: %s (a trace is a directory that iotracer record made)",
			   strerror(errno));
		free(path);
		return CLI_FAILED;
	}
	m->document = json_load_file(path, 0, &error);
	if (!json_is_object(m->document)) {
		cli_say_of(path, "is damaged: %s", m->document ? "no object" : error.text);
		free(path);
		return CLI_FAILED;
	}
	text = json_string_value(json_object_get(m->document, "state"));
	m->state = text ? text : "";
	text = json_string_value(json_object_get(m->document, "reason"));
	m->reason = text ? text : "";
	m->anonymized = json_is_true(json_object_get(m->document, "anonymized"));
	m->begin = pair_of(m->document, "begin");
	m->end = pair_of(m->document, "end");
	free(path);
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
