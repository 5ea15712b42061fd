// SPDX-License-Identifier: GPL-2.0
/* files TRACE: prints bytes read and written of each path that category fs has, in order of ids. */
#include <iotracer.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATHS 65536	/* of larger ids the bytes are summed up in the first place */

static uint64_t bytes[PATHS];

int main(int argc, char **argv)
{
	const char *const fs[] = { "fs" };
	const struct iotracer_record *record;
	struct iotracer_cursor *cursor = NULL;
	struct iotracer_trace *trace = NULL;
	struct iotracer_error *error;
	const char *path;
	uint64_t id, moved;

	error = iotracer_trace_open(argc > 1 ? argv[1] : ".", &trace);
	if (!error)
		error = iotracer_cursor_open(trace, fs, 1, &cursor);
	while (!error && !(error = iotracer_cursor_next(cursor, &record)) && record) {
		const char *op = iotracer_record_op(record);

		if ((!strcmp(op, "READ") || !strcmp(op, "WRITE")) &&
		    iotracer_record_u64(record, "path", &id) && iotracer_record_u64(record, "result", &moved))
			bytes[id < PATHS ? id : 0] += moved;
	}
	for (id = 0; !error && id < PATHS; id++) {
		error = bytes[id] ? iotracer_trace_path(trace, id, &path) : NULL;
		if (!error && bytes[id])
			printf("%" PRIu64 " %s\n", bytes[id], path && *path ? path : "?");
	}
	if (error)
		fprintf(stderr, "%s: %s\n", argv[0], iotracer_error_text(error));
	iotracer_cursor_close(cursor);
	iotracer_trace_close(trace);
	iotracer_error_free(error);
	return error || fflush(stdout);
}
