// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "trace/anonymize.h"
#include "trace/cpu_merge.h"
#include "trace/metadata.h"
#include "trace/sources.h"

/* The text was escaped when it was written, unless somebody changed it. */
static char *show(const json_t *text)
{
	const char *bytes = json_string_value(text);

	return bytes ? text_guard(bytes, strlen(bytes), "") : xstrdup("?");
}

static char *hide_path(const struct anonymizer *a, char *path)
{
	char *hidden = xreallocarray(NULL, ANONYMOUS_PATH(strlen(path)) + 1, 1);

	hidden[anonymize_path(a, hidden, path, strlen(path))] = '\0';
	free(path);
	return hidden;
}

static char *hide_host(const struct anonymizer *a, char *host)
{
	char hidden[ANONYMOUS_LENGTH];

	anonymize_word(a, hidden, "host", host, strlen(host));
	free(host);
	return xasprintf("%.*s", ANONYMOUS_LENGTH, hidden);
}

static void load(struct source *s, const json_t *object, const struct anonymizer *a)
{
	*s = (struct source){
		.trace = show(json_object_get(object, "trace")),
		.host = show(json_object_get(object, "host")),
		.first_cpu = json_integer_value(json_object_get(object, "first_cpu")),
		.cpus = json_integer_value(json_object_get(object, "cpus")),
	};
	if (a) {
		s->trace = hide_path(a, s->trace);
		s->host = hide_host(a, s->host);
	}
}

static void note_cpus(struct sources *sources, const struct source *s)
{
	unsigned int i;

	if (s->first_cpu > CPU_MERGE_CPUS || s->cpus > CPU_MERGE_CPUS - s->first_cpu)
		return;
	for (i = s->first_cpu; i < s->first_cpu + s->cpus; i++)
		sources->by_cpu[i] = s;
}

void sources_load(struct sources *sources, const struct metadata *m,
		  const struct anonymizer *anonymizer)
{
	const json_t *all = json_object_get(m->document, SOURCES_KEY);
	size_t i;

	*sources = (struct sources){ .nr = json_array_size(all) };
	if (!sources->nr)
		return;
	sources->at = xreallocarray(NULL, sources->nr, sizeof(*sources->at));
	sources->by_cpu = xreallocarray(NULL, CPU_MERGE_CPUS, sizeof(*sources->by_cpu));
	if (!sources->at || !sources->by_cpu) {
		sources->nr = 0;
		return;
	}
	memset(sources->at, 0, sources->nr * sizeof(*sources->at));
	sources->nr_cpus = CPU_MERGE_CPUS;
	memset(sources->by_cpu, 0, CPU_MERGE_CPUS * sizeof(*sources->by_cpu));
	for (i = 0; i < sources->nr; i++) {
		load(&sources->at[i], json_array_get(all, i), anonymizer);
		note_cpus(sources, &sources->at[i]);
	}
}

void sources_free(struct sources *sources)
{
	while (sources->nr) {
		sources->nr--;
		free(sources->at[sources->nr].trace);
		free(sources->at[sources->nr].host);
	}
	free(sources->at);
	free(sources->by_cpu);
	*sources = (struct sources){ 0 };
}
