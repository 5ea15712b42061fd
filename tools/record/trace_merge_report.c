// SPDX-License-Identifier: GPL-2.0
/* The metadata of a merged trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "record/counts.h"
#include "record/trace_merge_parts.h"
#include "trace/categories.h"
#include "trace/metadata.h"
#include "trace/sources.h"

/* A value of the trace's own metadata, or null. */
static json_t *said(const json_t *document, const char *key)
{
	json_t *value = json_object_get(document, key);

	return value ? json_incref(value) : json_null();
}

static json_t *json_source(const struct trace_merge_source *s)
{
	static const char *const keys[] = {
		"host", "kernel", "machine", "module_version", "state", "begin", "end",
	};
	json_t *object = json_object();
	size_t i;

	json_put(object, "trace", json_shown(s->name));
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_put(object, keys[i], said(s->check.metadata.document, keys[i]));
	if (!strcmp(s->check.metadata.state, "RUNNING"))
		json_put(object, "state", json_string("INTERRUPTED"));
	json_put(object, "offset_s", json_real((double)s->offset / 1e9));
	json_put(object, "first_cpu", json_integer(s->first_cpu));
	json_put(object, "cpus", json_integer(s->cpus));
	return object;
}

/* The entry for a source of a trace that is itself merged. */
static json_t *json_inner(const struct trace_merge_source *s, const json_t *inner)
{
	json_t *object = json_deep_copy(inner);
	const json_t *cpu = json_object_get(inner, "first_cpu");
	double offset = json_number_value(json_object_get(inner, "offset_s"));

	json_put(object, "first_cpu", json_integer(json_integer_value(cpu) + s->first_cpu));
	json_put(object, "offset_s", json_real(offset + (double)s->offset / 1e9));
	return object;
}

void trace_merge_add_source(json_t *list, struct trace_merge_source *s)
{
	json_t *inner = json_object_get(s->check.metadata.document, SOURCES_KEY), *one;
	size_t i;

	json_array_foreach(inner, i, one)
		if (json_is_object(one))
			json_add(list, json_inner(s, one));
	if (json_array_size(inner))
		return;
	s->entry = json_source(s);
	json_add(list, s->entry);
}

/* A recording is identified by its host, and by both clocks at its start. */
static bool is_same(const json_t *a, const json_t *b)
{
	json_t *begin = json_object_get(a, "begin"), *other = json_object_get(b, "begin");

	return json_equal(json_object_get(a, "host"), json_object_get(b, "host")) &&
	       json_equal(json_object_get(begin, "realtime_ns"),
			  json_object_get(other, "realtime_ns")) &&
	       json_equal(json_object_get(begin, "monotonic_ns"),
			  json_object_get(other, "monotonic_ns"));
}

static const char *find_same(const json_t *list, const json_t *one)
{
	const json_t *other;
	size_t i;

	json_array_foreach(list, i, other)
		if (is_same(one, other))
			return json_string_value(json_object_get(other, "trace"));
	return NULL;
}

/* The name of a trace in the list that is the same as this one, or contained in it; or NULL. */
const char *trace_merge_same(const json_t *list, const struct trace_merge_source *s)
{
	const json_t *document = s->check.metadata.document, *one;
	const json_t *inner = json_object_get(document, SOURCES_KEY);
	const char *name = NULL;
	size_t i;

	if (!json_array_size(inner))
		return find_same(list, document);
	json_array_foreach(inner, i, one)
		if (!name)
			name = find_same(list, one);
	return name;
}

/* The entry of a category in the metadata of a trace; NULL if it has none. */
static json_t *entry_of(const struct trace_merge_source *s, size_t category)
{
	const json_t *all = json_object_get(s->check.metadata.document, "categories");
	const struct trace_merge_part *part = &s->parts[category];

	return part->there ? json_array_get(all, part->i) : NULL;
}

/* The value that all traces with the category have; null if the values differ. */
static json_t *common(const struct trace_merge *t, size_t category, const char *key)
{
	json_t *value = NULL, *one;
	size_t i;

	for (i = 0; i < t->nr; i++) {
		one = json_object_get(entry_of(&t->sources[i], category), key);
		if (one && value && !json_equal(one, value))
			return json_null();
		if (one)
			value = one;
	}
	return value ? json_incref(value) : json_null();
}

/* The sum of the known numbers; null if there are none. */
static json_t *sum(const struct trace_merge *t, size_t category, const char *key)
{
	json_int_t all = 0;
	bool any = false;
	size_t i;

	for (i = 0; i < t->nr; i++) {
		const json_t *one = json_object_get(entry_of(&t->sources[i], category), key);

		any |= json_is_integer(one);
		all += json_integer_value(one);
	}
	return any ? json_integer(all) : json_null();
}

/* Adds the counts of a category in one trace to the trace's entry. */
static void add_to_source(const struct trace_merge_source *s, size_t i)
{
	const json_t *entry = entry_of(s, i);
	const struct cpu_merge *m = &s->parts[i].merge;
	json_t *all, *object;

	if (!s->entry || !entry)
		return;
	all = json_object_get(s->entry, "categories");
	if (!all) {
		all = json_array();
		json_put(s->entry, "categories", all);
	}
	object = json_object();
	json_put(object, "name", json_string(categories[i]->name));
	json_put(object, "filter", said(entry, "filter"));
	json_put(object, "sample", said(entry, "sample"));
	json_put(object, "events", json_integer(m->events));
	json_put(object, "lost", json_integer(m->lost));
	json_put(object, "missed", said(entry, "missed"));
	json_add(all, object);
}

static json_t *json_filter(const struct trace_merge *t, size_t category)
{
	json_t *filter = common(t, category, "filter");

	return json_is_string(filter) ? filter : json_string("differs, see sources");
}

void trace_merge_add_category(struct trace_merge *t, const struct category *category,
			      const struct writer_file *f)
{
	json_t *object = json_object(), *missed;
	size_t i, n = 0;

	while (categories[n] != category)
		n++;
	for (i = 0; i < t->nr; i++)
		add_to_source(&t->sources[i], n);
	missed = sum(t, n, "missed");
	t->events += f->events;
	t->lost += f->lost;
	t->missed += json_integer_value(missed);
	json_put(object, "name", json_string(category->name));
	json_put(object, "file", json_string(f->name));
	json_put(object, "event", json_string(category_event(category)->name));
	json_put(object, "filter", json_filter(t, n));
	json_put(object, "sample", common(t, n, "sample"));
	counts_put(object, f, missed, sum(t, n, "seen"));
	json_add(t->categories, object);
}

/* The values of all sources, each once: "alpha, beta". */
static json_t *join(const json_t *list, const char *key)
{
	json_t *seen = json_object(), *one, *value;
	char *text = NULL;
	const char *word;
	size_t i;

	json_array_foreach(list, i, one) {
		word = json_string_value(json_object_get(one, key));
		if (!word || json_object_get(seen, word))
			continue;
		json_put(seen, word, json_true());
		text = text_append(text, ", ", word);
	}
	value = text ? json_string(text) : json_null();
	free(text);
	json_decref(seen);
	return value;
}

static json_t *json_paths(const struct trace_merge *t)
{
	__u64 missed = 0;
	size_t i;

	for (i = 0; i < t->nr; i++) {
		const json_t *paths = json_object_get(t->sources[i].check.metadata.document,
						      "paths");

		missed += json_integer_value(json_object_get(paths, "missed"));
	}
	return counts_paths(&t->paths, json_integer(missed));
}

bool trace_merge_is_whole(const struct trace_merge *t)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		if (t->sources[i].check.damaged)
			return false;
	return true;
}

/* The result is anonymised only if all traces are. If not, export can hash all names. */
static bool is_anonymized(const struct trace_merge *t)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		if (!t->sources[i].check.metadata.anonymized)
			return false;
	return true;
}

/* A text that names the traces that are not whole, or NULL. The caller frees it. */
static char *reason(const struct trace_merge *t)
{
	char *text = NULL, *more;
	size_t i;

	for (i = 0; i < t->nr; i++) {
		if (!t->sources[i].check.damaged)
			continue;
		more = text ? xasprintf("%s, %s", text, t->sources[i].name) :
			      xasprintf("merged from traces that are not whole: %s",
					t->sources[i].name);
		free(text);
		text = more;
	}
	return text;
}

static void add_hosts(const struct trace_merge *t, json_t *document)
{
	static const char *const keys[] = { "host", "kernel", "machine", "module_version" };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_put(document, keys[i], join(t->list, keys[i]));
	json_put(document, "cpus", json_integer(t->cpus));
}

static void add_options(const struct trace_merge *t, json_t *document)
{
	json_put(document, "label", json_string(""));
	json_put(document, "tags", json_object());
	json_put(document, "command", json_array());
	json_put(document, "anonymized", json_boolean(is_anonymized(t)));
	json_put(document, "compression", json_string("zstd"));
	json_put(document, SOURCES_KEY, json_incref(t->list));
	json_put(document, "categories", json_incref(t->categories));
	json_put(document, "paths", json_paths(t));
	json_put(document, "snapshots", json_null());
}

static void add_end(const struct trace_merge *t, json_t *document)
{
	struct wall_pair begin = { t->begin, t->begin }, end = { t->end, t->end };
	__u64 gone = t->lost + t->missed, all = t->events + gone;
	char *why = reason(t);
	const char *state = why ? "ERROR" : gone || t->paths.lost ? "LOSSY" : "COMPLETE";

	json_put(document, "lost_share", json_real(all ? (double)gone / all : 0));
	metadata_end(document, begin, end, state, why);
	free(why);
}

int trace_merge_report(struct trace_merge *t)
{
	json_t *document = metadata_new(NULL, (struct wall_pair){ t->begin, t->begin });
	int err;

	add_hosts(t, document);
	add_options(t, document);
	err = metadata_write_schema(t->dir, document);
	add_end(t, document);
	if (!err)
		err = metadata_write(t->dir, document, true);
	json_decref(document);
	return err ? trace_merge_fail(t, TRACE_METADATA, err) : CLI_OK;
}
