// SPDX-License-Identifier: GPL-2.0
/* print TRACE CATEGORY: prints the records of a category as CSV, and what is missing on stderr. */
#include <iotracer.h>
#include <stdio.h>

static void tell(void *data, const char *line)
{
	fprintf(stderr, "%s: %s\n", (const char *)data, line);
}

int main(int argc, char **argv)
{
	const char *category = argc == 3 ? argv[2] : "fs", *text;
	const struct iotracer_record *record = NULL;
	struct iotracer_cursor *cursor = NULL;
	struct iotracer_trace *trace = NULL;
	struct iotracer_error *error;
	size_t length;

	error = iotracer_trace_open(argc > 1 ? argv[1] : ".", &trace);
	if (!error) {
		iotracer_trace_report(trace, tell, argv[0]);
		error = iotracer_cursor_open(trace, &category, 1, &cursor);
	}
	if (!error)
		error = iotracer_cursor_header(cursor, category, &text, &length);
	while (!error) {
		fwrite(text, 1, length, stdout);
		error = iotracer_cursor_next(cursor, &record);
		if (error || !record)
			break;
		error = iotracer_record_csv(record, &text, &length);
	}
	if (error)
		tell(argv[0], iotracer_error_text(error));
	iotracer_cursor_close(cursor);
	iotracer_trace_close(trace);
	iotracer_error_free(error);
	return error || fflush(stdout);
}
