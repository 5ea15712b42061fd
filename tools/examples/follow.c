// SPDX-License-Identifier: GPL-2.0
/* follow NAME N: prints N records of a category or target that is being traced, as JSON. */
#include <iotracer.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned long left = argc > 2 ? strtoul(argv[2], NULL, 10) : 10;
	const struct iotracer_record *record;
	struct iotracer_cursor *cursor = NULL;
	struct iotracer_trace *trace = NULL;
	struct iotracer_error *error;
	const char *text;
	size_t length;

	error = iotracer_trace_live(argc > 1 ? argv[1] : "fs", &trace);
	if (!error)
		error = iotracer_cursor_open(trace, NULL, 0, &cursor);
	while (!error && left) {
		error = iotracer_cursor_next(cursor, &record);
		if (error)
			break;
		if (!record) {
			fflush(stdout);
			usleep(100000);	/* none now; look again */
			continue;
		}
		error = iotracer_record_json(record, &text, &length);
		if (!error)
			fwrite(text, 1, length, stdout);
		left--;
	}
	if (error)
		fprintf(stderr, "%s: %s\n", argv[0], iotracer_error_text(error));
	iotracer_cursor_close(cursor);
	iotracer_trace_close(trace);
	iotracer_error_free(error);
	return error || fflush(stdout);
}
