/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The traces that a merged trace was made of, as its metadata.json has them. Each has a range of
 * CPUs of its own in the blocks of the merged trace, which tells of which trace a record is.
 */
#ifndef TOOL_TRACE_SOURCES_H
#define TOOL_TRACE_SOURCES_H

#include <jansson.h>
#include <stddef.h>

struct anonymizer;
struct metadata;

#define SOURCES_KEY "sources"	/* in metadata.json */

/* Names are escaped, and hashed if there is an anonymizer. */
struct source {
	char *trace, *host;
	unsigned int first_cpu, cpus;
};

struct sources {
	struct source *at;
	size_t nr;		/* 0: the trace is no merged one */
	const struct source **by_cpu;
	unsigned int nr_cpus;
};

/* @anonymizer may be NULL. */
void sources_load(struct sources *sources, const struct metadata *m,
		  const struct anonymizer *anonymizer);
void sources_free(struct sources *sources);

/* NULL if no source has this CPU, as in a damaged metadata.json. */
static inline const struct source *sources_find(const struct sources *sources, unsigned int cpu)
{
	return cpu < sources->nr_cpus ? sources->by_cpu[cpu] : NULL;
}

#endif /* TOOL_TRACE_SOURCES_H */
