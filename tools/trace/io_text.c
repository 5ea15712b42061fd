// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "trace/io_text.h"

#define NS_PER_S 1000000000ULL

const char *io_text_op(const struct io_event *e, char room[8])
{
	const char *name = iot_names_op_name(e->category->event_id, e->op);

	if (name)
		return name;
	sprintf(room, "%u", e->op);
	return room;
}

const char *io_text_path(const struct io_event *e, const struct paths *names)
{
	const struct name *name = e->path ? names_find(names, e->path) : NULL;

	return name ? name->text : e->path ? "?" : "";
}

char *io_text_name(const struct io_event *e)
{
	return xasprintf("%s:%u:%llu", e->category->name, e->cpu, (unsigned long long)e->seq);
}

static char *owner_comm(const struct io_event *e)
{
	const char *comm = io_event_owner_comm(e);

	return text_show(comm, strnlen(comm, IO_COMM));
}

char *io_text_owner(const struct io_event *e)
{
	char *comm = owner_comm(e);
	char *owner = xasprintf("%s/%u", comm, io_event_owner(e));

	free(comm);
	return owner;
}

char *io_text_since(__u64 time, __u64 origin)
{
	__u64 ns = time < origin ? origin - time : time - origin;

	return xasprintf("%c%llu.%09llus", time < origin ? '-' : '+', (unsigned long long)(ns / NS_PER_S),
			 (unsigned long long)(ns % NS_PER_S));
}

void io_text_line(int indent, char *text)
{
	char *end = text_shorten(text, IO_TEXT_WIDTH - indent);

	printf("%*s%s\n", indent, "", end);
	free(end);
	free(text);
}

static void put_number(json_t *object, const char *key, __u64 n)
{
	json_put(object, key, json_unsigned(n));
}

void io_text_json(json_t *object, const struct io_event *e, const struct paths *names, __u64 time)
{
	char *name = io_text_name(e), *comm = owner_comm(e), room[8];

	json_put(object, "event", json_string(name));
	json_put(object, "category", json_string(e->category->name));
	json_put(object, "op", json_string(io_text_op(e, room)));
	put_number(object, "time_ns", time);
	put_number(object, "pid", io_event_owner(e));
	put_number(object, "tid", e->tid);
	json_put(object, "command", json_string(comm));
	json_put(object, "file", json_string(io_text_path(e, names)));
	put_number(object, "offset_bytes", e->offset);
	put_number(object, "size_bytes", e->size);
	json_put(object, "result", json_integer(e->result));
	put_number(object, "latency_ns", io_event_latency(e));
	free(comm);
	free(name);
}
