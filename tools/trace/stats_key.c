// SPDX-License-Identifier: GPL-2.0
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/put.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "core/nearest.h"
#include "trace/paths.h"
#include "trace/record.h"
#include "trace/sources.h"
#include "trace/stats_key.h"
#include "uapi/iotracer.h"

#define DEPTH_MOST 4096

/**
 * struct stats_key_kind - a key
 * @field:	of the event; NULL: see has_key()
 * @put:	writes the text, without a NUL
 */
struct stats_key_kind {
	const char *name;
	const char *field;
	char *(*put)(struct stats_keys *keys, const struct stats_key *key, char *out, const void *record);
};

static __u64 scalar(const struct stats_key *key, const void *record)
{
	return record_scalar(record, key->field->offset, key->field->size);
}

static char *put_number(struct stats_keys *keys, const struct stats_key *key, char *out,
			const void *record)
{
	(void)keys;
	return put_u64(out, scalar(key, record));
}

static char *put_op(struct stats_keys *keys, const struct stats_key *key, char *out, const void *record)
{
	__u64 op = scalar(key, record);
	const char *name = iot_names_op_name(keys->printer.event->id, op);

	return name ? put_bytes(out, name, strlen(name)) : put_u64(out, op);
}

static char *put_device(struct stats_keys *keys, const struct stats_key *key, char *out,
			const void *record)
{
	__u64 device = scalar(key, record);

	(void)keys;
	out = put_u64(out, device >> 20);
	*out++ = ':';
	return put_u64(out, device & 0xfffff);
}

/* "METADATA", "FILE_4K" */
static char *put_class(struct stats_keys *keys, const struct stats_key *key, char *out,
		       const void *record)
{
	return row_group(&keys->printer, out, key->field->kind, scalar(key, record));
}

static char *put_chars(char *out, const struct iot_schema_field *f, const void *record)
{
	const char *text = (const char *)record + f->offset;

	return out + text_show_to(out, text, strnlen(text, f->size));
}

/* --- who ------------------------------------------------------------------------ */

static __u64 originator_of(const struct stats_keys *keys, const void *record)
{
	const struct iot_schema_field *f = keys->origin_pid;

	return f ? record_scalar(record, f->offset, f->size) : 0;
}

static char *put_process(struct stats_keys *keys, const struct stats_key *key, char *out,
			 const void *record)
{
	__u64 originator = originator_of(keys, record);

	return put_u64(out, originator ? originator : scalar(key, record));
}

/* The name of the thread that the record is charged to. */
static char *put_charged(const struct stats_keys *keys, char *out, const void *record)
{
	return put_chars(out, originator_of(keys, record) ? keys->origin_comm : keys->comm, record);
}

static char *put_command(struct stats_keys *keys, const struct stats_key *key, char *out,
			 const void *record)
{
	(void)key;
	return put_charged(keys, out, record);
}

static char *put_submitter(struct stats_keys *keys, const struct stats_key *key, char *out,
			   const void *record)
{
	(void)keys;
	return put_chars(out, key->field, record);
}

/* --- paths ---------------------------------------------------------------------- */

/* The text of the path; "" if there is none, "?" if it is missing in the trace. */
static const char *path_of(const struct stats_keys *keys, const struct stats_key *key,
			   const void *record, size_t *length)
{
	__u64 id = scalar(key, record);
	const struct name *name = id ? names_find(keys->printer.paths, id) : NULL;

	*length = name ? name->length : id ? 1 : 0;
	return name ? name->text : id ? "?" : "";
}

static char *put_file(struct stats_keys *keys, const struct stats_key *key, char *out,
		      const void *record)
{
	size_t length;
	const char *path = path_of(keys, key, record, &length);

	return put_bytes(out, path, length);
}

/* The last slash of a path, or NULL. */
static const char *last_slash(const char *path, size_t length)
{
	return length ? memrchr(path, '/', length) : NULL;
}

/* Its first @depth components at most; "/" for what is in the root directory. */
static char *put_directory(struct stats_keys *keys, const struct stats_key *key, char *out,
			   const void *record)
{
	const char *path, *slash, *end;
	unsigned int depth;
	size_t length;

	path = path_of(keys, key, record, &length);
	slash = last_slash(path, length);
	if (!slash)
		return put_bytes(out, path, length);
	if (slash == path)
		slash++;
	for (end = path, depth = 0; end < slash && depth < key->depth; depth++)
		for (end++; end < slash && *end != '/'; end++)
			;
	return put_bytes(out, path, (key->depth ? end : slash) - path);
}

/* What follows the last dot of a name, but not that of a hidden file. */
static char *put_extension(struct stats_keys *keys, const struct stats_key *key, char *out,
			   const void *record)
{
	const char *path, *slash, *name, *dot;
	size_t length;

	path = path_of(keys, key, record, &length);
	slash = last_slash(path, length);
	name = slash ? slash + 1 : path;
	length -= name - path;
	dot = length ? memrchr(name, '.', length) : NULL;
	if (!dot || dot == name)
		return out;
	return put_bytes(out, dot, name + length - dot);
}

/* --- connections ---------------------------------------------------------------- */

/* The fields of both ends. What packets have is called otherwise. */
static const struct ends {
	unsigned int event;
	const char *ip[2], *port[2];
} ends[] = {
	{ IOT_EVENT_ID_NET, { "local", "remote" }, { "local_port", "remote_port" } },
	{ IOT_EVENT_ID_CONN, { "local", "remote" }, { "local_port", "remote_port" } },
	{ IOT_EVENT_ID_DROP, { "source", "destination" }, { "source_port", "destination_port" } },
};

static const struct ends *ends_of(const struct iot_schema_event *event)
{
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i].event == event->id)
			return &ends[i];
	return NULL;
}

/* 0 if the event has no such field. */
static __u64 scalar_of(const struct iot_schema_field *f, const void *record)
{
	return f ? record_scalar(record, f->offset, f->size) : 0;
}

static void find_ends(struct stats_keys *keys, const struct iot_schema_event *event)
{
	const struct ends *e = ends_of(event);
	size_t i;

	keys->family = e && e->event != IOT_EVENT_ID_DROP ? record_field(event, "family") : NULL;
	keys->protocol = record_field(event, "protocol");
	keys->cookie = record_field(event, "cookie");
	for (i = 0; e && i < 2; i++) {
		keys->ip[i] = record_field(event, e->ip[i]);
		keys->port[i] = record_field(event, e->port[i]);
	}
}

/* " 192.0.2.1:80", " [2001:db8::1]:80", " *:80" */
static char *put_end(struct stats_keys *keys, char *out, size_t i, const void *record)
{
	char text[64], *end = row_ipaddr(&keys->printer, text, (const char *)record + keys->ip[i]->offset);
	bool colons = memchr(text, ':', end - text);

	*out++ = ' ';
	if (colons)
		*out++ = '[';
	out = end == text ? put_bytes(out, "*", 1) : put_bytes(out, text, end - text);
	if (colons)
		*out++ = ']';
	*out++ = ':';
	return put_u64(out, scalar_of(keys->port[i], record));
}

/* "TCP 192.0.2.1:80 192.0.2.9:40000"; a socket without addresses is known by its cookie: "AF_UNIX 123" */
static char *put_connection(struct stats_keys *keys, const struct stats_key *key, char *out,
			    const void *record)
{
	/* a packet without a family is of IP, too */
	__u64 family = keys->family ? scalar_of(keys->family, record) : AF_INET;

	(void)key;
	if (family != AF_INET && family != AF_INET6) {
		out = row_group(&keys->printer, out, "sockfamily", family);
		*out++ = ' ';
		return put_u64(out, scalar_of(keys->cookie, record));
	}
	out = row_group(&keys->printer, out, "ipproto", scalar_of(keys->protocol, record));
	out = put_end(keys, out, 0, record);
	return put_end(keys, out, 1, record);
}

/* --- merged traces -------------------------------------------------------------- */

static char *put_host(struct stats_keys *keys, const struct stats_key *key, char *out, const void *record)
{
	const char *host = keys->source ? keys->source->host : "?";

	(void)key;
	(void)record;
	return put_bytes(out, host, strlen(host));
}

static char *put_trace(struct stats_keys *keys, const struct stats_key *key, char *out,
		       const void *record)
{
	const char *trace = keys->source ? keys->source->trace : "?";

	(void)key;
	(void)record;
	return put_bytes(out, trace, strlen(trace));
}

/* --- keys ----------------------------------------------------------------------- */

/* In the order of STATS_KEY_WORDS. */
static const struct stats_key_kind kinds[] = {
	{ "op", "op", put_op },
	{ "class", "class", put_class },
	{ "device", "device", put_device },
	{ "file", "path", put_file },
	{ "directory", "path", put_directory },
	{ "extension", "path", put_extension },
	{ "process", "pid", put_process },
	{ "command", "comm", put_command },
	{ "submitter", "comm", put_submitter },
	{ "cgroup", "cgroup", put_number },
	{ "connection", NULL, put_connection },
	{ "host", NULL, put_host },
	{ "trace", NULL, put_trace },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct stats_key_kind *find_kind(const char *word, size_t length)
{
	size_t i;

	for (i = 0; i < NR_KINDS; i++)
		if (strlen(kinds[i].name) == length && !memcmp(kinds[i].name, word, length))
			return &kinds[i];
	return NULL;
}

static char *unknown(const char *word, size_t length)
{
	struct iot_nearest found = IOT_NEAREST_NONE;
	size_t i;

	for (i = 0; i < NR_KINDS; i++)
		iot_nearest_see(&found, word, length, kinds[i].name);
	return xasprintf("there is no key \"%.*s\"; the nearest is %s", (int)length, word, found.name);
}

char *stats_keys_add(struct stats_keys *keys, const char *word)
{
	size_t length = strcspn(word, ":"), i;
	struct stats_key key = { .kind = find_kind(word, length) };
	unsigned long depth;
	char *end;

	if (!key.kind)
		return unknown(word, length);
	if (word[length]) {
		depth = strtoul(word + length + 1, &end, 10);
		if (key.kind->put != put_directory || word[length + 1] < '0' || word[length + 1] > '9' ||
		    *end || !depth || depth > DEPTH_MOST)
			return xstrdup("only directory has a depth, as directory:2, from 1 to 4096");
		key.depth = depth;
	}
	for (i = 0; i < keys->nr; i++)
		if (keys->at[i].kind == key.kind)
			return xasprintf("%s is given twice", key.kind->name);
	if (keys->nr == STATS_KEYS)
		return xstrdup("there are too many keys");
	keys->at[keys->nr++] = key;
	return NULL;
}

const char *stats_key_name(const struct stats_key *key)
{
	return key->kind->name;
}

bool stats_key_is_process(const struct stats_key *key)
{
	return key->kind->put == put_process;
}

bool stats_keys_have_command(const struct stats_keys *keys)
{
	bool process = false;
	size_t i;

	for (i = 0; i < keys->nr; i++) {
		if (keys->at[i].kind->put == put_command)
			return false;
		process |= stats_key_is_process(&keys->at[i]);
	}
	return process;
}

/* Whether the records of the event have the key; looks its field up. */
static bool has_key(const struct stats_keys *keys, struct stats_key *key,
		    const struct iot_schema_event *event)
{
	const struct stats_key_kind *kind = key->kind;

	if (kind->put == put_host || kind->put == put_trace)
		return keys->merged;
	if (kind->put == put_connection)
		return ends_of(event);
	if (kind->put == put_submitter && !record_field(event, "origin_pid"))
		return false;
	key->field = record_field(event, kind->field);
	return key->field;
}

const char *stats_keys_open(struct stats_keys *keys, const struct iot_schema_event *event,
			    const struct paths *paths)
{
	size_t i;

	for (i = 0; i < keys->nr; i++)
		if (!has_key(keys, &keys->at[i], event))
			return keys->at[i].kind->name;
	keys->comm = record_field(event, "comm");
	keys->origin_pid = record_field(event, "origin_pid");
	keys->origin_comm = record_field(event, "origin_comm");
	find_ends(keys, event);
	keys->printer = (struct row_printer){ .event = event, .bare = true, .paths = paths };
	row_printer_open(&keys->printer, NULL, 0);
	return NULL;
}

void stats_keys_close(struct stats_keys *keys)
{
	row_printer_close(&keys->printer);
}

__u64 stats_keys_path(const struct stats_keys *keys, const void *record)
{
	const struct iot_schema_field *f = keys->at[0].field;

	if (keys->nr > 1 || !f || strcmp(f->kind, "path"))
		return 0;
	return record_scalar(record, f->offset, f->size);
}

char *stats_keys_put(struct stats_keys *keys, char *out, const void *record)
{
	size_t i;

	for (i = 0; i < keys->nr; i++) {
		out = keys->at[i].kind->put(keys, &keys->at[i], out, record);
		*out++ = '\0';
	}
	return out;
}

void stats_keys_command(const struct stats_keys *keys, char *out, const void *record)
{
	*put_charged(keys, out, record) = '\0';
}
