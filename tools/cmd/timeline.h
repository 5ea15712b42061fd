/* SPDX-License-Identifier: GPL-2.0 */
/* What `iotracer export` writes for viewers of time lines: all categories in one output. */
#ifndef TOOL_CMD_TIMELINE_H
#define TOOL_CMD_TIMELINE_H

#include <stdbool.h>

#include "base/cli.h"
#include "trace/category.h"
#include "trace/check.h"
#include "trace/ctf.h"
#include "trace/gaps.h"
#include "trace/perfetto.h"
#include "trace/sources.h"

/* Set all of the first part before timeline_open(). */
struct timeline {
	enum cli_format format;
	const char *directory;		/* NULL: standard output */
	bool gzip;
	const struct check *check;
	const struct paths *paths;
	const struct sources *sources;
	const struct anonymizer *anonymizer;	/* or NULL */

	bool begun, failed;		/* with the first category */
	struct gaps gaps;
	struct perfetto perfetto;
	struct ctf ctf;
};

static inline bool timeline_is(enum cli_format format)
{
	return format == FORMAT_PERFETTO || format == FORMAT_CTF;
}

/* Returns an exit code; errors are reported. If it is CLI_OK, call timeline_close(). */
int timeline_open(struct timeline *t);

/* Each returns false if it failed, which was reported. */
bool timeline_begin(struct timeline *t, const struct category *category);

/* Adds a record of cpu_merge_next(); one that is not @wanted only shows what is missing. */
bool timeline_put(struct timeline *t, struct cpu_merge *m, const void *record, bool wanted);
bool timeline_end(struct timeline *t, const struct check_file *checked, const struct cpu_merge *m);

bool timeline_close(struct timeline *t);

#endif /* TOOL_CMD_TIMELINE_H */
