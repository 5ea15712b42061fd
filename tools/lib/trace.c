// SPDX-License-Identifier: GPL-2.0
/* libiotracer: traces, their state, counts and paths. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "lib/library.h"
#include "trace/categories.h"
#include "trace/trace.h"

static void set_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

static enum iotracer_state state_of(const char *state)
{
	static const char *const names[] = {
		[IOTRACER_RUNNING] = "RUNNING", [IOTRACER_COMPLETE] = "COMPLETE",
		[IOTRACER_LOSSY] = "LOSSY",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(state, names[i]))
			return i;
	return IOTRACER_ERROR;
}

static void describe(struct iotracer_trace *t)
{
	const struct metadata *m = &t->check.metadata;

	t->state = state_of(m->state);
	t->begin = (struct iotracer_time){ m->begin.monotonic, m->begin.realtime };
	t->end = (struct iotracer_time){ m->end.monotonic, m->end.realtime };
	set_text(t->host, sizeof(t->host), json_string_value(json_object_get(m->document, "host")));
	set_text(t->kernel, sizeof(t->kernel), json_string_value(json_object_get(m->document, "kernel")));
}

/* Why metadata.json could not be read. */
static enum iotracer_code code_of(const char *directory)
{
	char *path = xasprintf("%s/%s", directory, TRACE_METADATA);
	int err = path && access(path, R_OK) ? errno : 0;

	free(path);
	switch (err) {
	case ENOENT:
	case ENOTDIR:
		return IOTRACER_NOT_FOUND;
	case EACCES:
	case EPERM:
		return IOTRACER_DENIED;
	default:
		return IOTRACER_UNREADABLE;
	}
}

static struct iotracer_trace *new_trace(void)
{
	struct iotracer_trace *t = calloc(1, sizeof(*t));

	if (t)
		t->live.stream = (struct stream)STREAM_CLOSED;
	return t;
}

/* Ends the call in which @t was opened. */
static struct iotracer_error *opened(struct call *call, int status, struct iotracer_trace *t,
				     struct iotracer_trace **trace)
{
	struct iotracer_error *error = call_end(call, status);

	if (error) {
		iotracer_trace_close(t);
		return error;
	}
	t->is_open = true;
	*trace = t;
	return NULL;
}

EXPORTED struct iotracer_error *iotracer_trace_open(const char *directory, struct iotracer_trace **trace)
{
	struct iotracer_trace *t = new_trace();
	struct call call;
	int status;

	*trace = NULL;
	if (!t)
		return error_no_memory();
	call_begin(&call, t);
	t->directory = xstrdup(directory);
	status = t->directory ? check_open(&t->check, t->directory) : CLI_FAILED;
	if (status) {
		call.code = code_of(directory);
		return opened(&call, status, t, trace);
	}
	t->check.is_recorded = check_is_recorded(directory);
	check_state(&t->check);
	describe(t);
	return opened(&call, status, t, trace);
}

EXPORTED struct iotracer_error *iotracer_trace_live(const char *name, struct iotracer_trace **trace)
{
	const struct wall_pair now = wall_now(), none = { 0 };
	struct iotracer_trace *t = new_trace();
	struct utsname system;
	struct call call;
	int status;

	*trace = NULL;
	if (!t)
		return error_no_memory();
	call_begin(&call, t);
	t->live.name = xstrdup(name);
	status = t->live.name ? live_open(&t->live, &call.code) : CLI_FAILED;
	wall_clock_init(&t->check.clock, now, none);
	t->state = IOTRACER_LIVE;
	t->begin = (struct iotracer_time){ now.monotonic, now.realtime };
	if (!uname(&system)) {
		set_text(t->host, sizeof(t->host), system.nodename);
		set_text(t->kernel, sizeof(t->kernel), system.release);
	}
	return opened(&call, status, t, trace);
}

EXPORTED void iotracer_trace_close(struct iotracer_trace *trace)
{
	if (!trace)
		return;
	while (trace->reports.nr)
		free(trace->reports.lines[--trace->reports.nr]);
	free(trace->reports.lines);
	if (trace->directory)
		check_close(&trace->check);
	else
		live_close(&trace->live);
	paths_free(&trace->names);
	sources_free(&trace->sources);
	free(trace->directory);
	free(trace);
}

EXPORTED void iotracer_trace_report(struct iotracer_trace *trace,
				    void (*report)(void *data, const char *line), void *data)
{
	size_t i;

	trace->report = report;
	trace->report_data = data;
	for (i = 0; i < trace->reports.nr; i++) {
		if (report)
			report(data, trace->reports.lines[i]);
		free(trace->reports.lines[i]);
	}
	trace->reports.nr = 0;
}

EXPORTED enum iotracer_state iotracer_trace_state(const struct iotracer_trace *trace)
{
	return trace->state;
}

EXPORTED const char *iotracer_trace_reason(const struct iotracer_trace *trace)
{
	return trace->state == IOTRACER_ERROR ? trace->check.metadata.reason : "";
}

EXPORTED bool iotracer_trace_is_recorded(const struct iotracer_trace *trace)
{
	return trace->directory && check_is_recorded(trace->directory);
}

EXPORTED bool iotracer_trace_is_damaged(const struct iotracer_trace *trace)
{
	return trace->check.damaged;
}

EXPORTED const char *iotracer_trace_host(const struct iotracer_trace *trace)
{
	return trace->host;
}

EXPORTED const char *iotracer_trace_kernel(const struct iotracer_trace *trace)
{
	return trace->kernel;
}

EXPORTED struct iotracer_time iotracer_trace_begin(const struct iotracer_trace *trace)
{
	return trace->begin;
}

EXPORTED struct iotracer_time iotracer_trace_end(const struct iotracer_trace *trace)
{
	return trace->end;
}

EXPORTED uint64_t iotracer_trace_wall(const struct iotracer_trace *trace, uint64_t monotonic)
{
	return wall_time(&trace->check.clock, monotonic);
}

EXPORTED const char *iotracer_trace_category(const struct iotracer_trace *trace, size_t i)
{
	if (trace->directory)
		return metadata_category(&trace->check.metadata, i);
	return i ? NULL : trace->live.stream.event->name;
}

EXPORTED struct iotracer_error *iotracer_trace_counts(struct iotracer_trace *trace, const char *category,
						      struct iotracer_counts *counts)
{
	struct metadata_file file;
	const char *name;
	struct call call;
	size_t i;

	for (i = 0; (name = iotracer_trace_category(trace, i)); i++)
		if (!strcmp(name, category))
			break;
	if (!name)
		return error_make(IOTRACER_NOT_FOUND, "the trace has no category %s", category);
	if (!trace->directory) {
		call_begin(&call, trace);
		return call_end(&call, live_counts(&trace->live, counts));
	}
	if (!metadata_category_file(&trace->check.metadata, i, &file))
		return error_make(IOTRACER_NOT_FOUND, "%s: %s has no counts of category %s: it has no end, or is damaged",
				  trace->directory, TRACE_METADATA, category);
	*counts = (struct iotracer_counts){ file.events, file.lost, file.missed };
	return NULL;
}

int trace_load_names(struct iotracer_trace *trace)
{
	int status;

	if (!trace->directory || trace->names_loaded)
		return CLI_OK;
	paths_free(&trace->names);
	sources_free(&trace->sources);
	status = check_names(&trace->check, &trace->names, NULL);
	if (!status)
		sources_load(&trace->sources, &trace->check.metadata, NULL);
	trace->names_loaded = !status && !xalloc_failed();
	return status;
}

EXPORTED struct iotracer_error *iotracer_trace_path(struct iotracer_trace *trace, uint64_t id,
						    const char **path)
{
	const struct paths *names;
	const struct name *name;
	struct call call;

	*path = NULL;
	if (!trace->names_loaded && trace->directory) {
		struct iotracer_error *error;

		call_begin(&call, trace);
		error = call_end(&call, trace_load_names(trace));
		if (error)
			return error;
	}
	names = trace_names(trace);
	name = id && names ? names_find(names, id) : NULL;
	*path = !id ? "" : name ? name->text : NULL;
	return NULL;
}
