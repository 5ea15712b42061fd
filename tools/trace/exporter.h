/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of a trace in the format of another program: fio, blktrace ... Each format has a file
 * export_<name>.c; export_formats.h has the list.
 */
#ifndef TOOL_TRACE_EXPORTER_H
#define TOOL_TRACE_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/output.h"
#include "uapi/iotracer.h"

struct anonymizer;
struct paths;
struct source;
struct wall_clock;
struct exporter;

#define EXPORT_CATEGORIES 2

/**
 * struct export_format - a format
 * @events:	ids of the events of the categories that it can be made of, the preferred one first;
 *		0: no more. None: of all categories together; only @in_directory and @no_gzip are used
 * @suffix:	of the file; NULL: the format names its files itself
 * @in_directory: it has several files, so they need a directory
 * @scales:	an event of a sampled trace counts as those that it stands for
 * @no_gzip:	why its readers do not take gzip; NULL: they do, or the user can unpack it
 * @open:	makes @state
 * @take:	takes a record; false if the output could not be written
 * @finish:	writes what is left; false as above
 * @close:	frees @state
 */
struct export_format {
	const char *name;
	unsigned int events[EXPORT_CATEGORIES];
	const char *suffix;
	bool in_directory;
	bool scales;
	const char *no_gzip;
	void (*open)(struct exporter *x);
	bool (*take)(struct exporter *x, const void *record);
	bool (*finish)(struct exporter *x);
	void (*close)(struct exporter *x);
};

/* Why an event is left out, beside an operation that the format does not have. */
enum export_left {
	LEFT_FAILED,		/* it failed, or moved no data */
	LEFT_PATH,		/* its path is not known */
	LEFT_KIND,		/* it is not of a regular file */
	LEFT_RANGE,		/* its range is too large */
	LEFT_EARLY,		/* it began before the trace, so its times are not known */
	NR_EXPORT_LEFT
};

struct exporter {
	/* Set before exporter_open(): */
	const struct export_format *format;
	const char *trace;		/* for messages */
	const char *host;
	unsigned int event;		/* id of the records' event */
	const struct wall_clock *clock;
	__u64 begin;			/* of the trace, ns since 1970 */
	const struct paths *paths;
	const struct anonymizer *anonymizer;	/* NULL: names are shown */
	struct output *output;

	const struct source *source;	/* of the next record, in a merged trace; set by the caller */
	void *state;			/* of the format */
	__u64 ops[IOT_OPS_MAX];		/* events left out, by operation */
	__u64 left[NR_EXPORT_LEFT];	/* by reason */
	__u64 sampled;			/* events that stand for several */
};

/* The formats, each in a file of its own; export_formats.h finds them by name. */
extern const struct export_format export_fio, export_blktrace, export_msr, export_folded;

void exporter_open(struct exporter *x);

/* Takes a record that is wanted. False if the output could not be written. */
bool exporter_take(struct exporter *x, const void *record);

/* After the last record. False as above. */
bool exporter_finish(struct exporter *x);

/* Reports what was left out, and why. */
void exporter_report(const struct exporter *x);
void exporter_close(struct exporter *x);

/*
 * For formats. Both return true, as a record that is left out is no failure.
 */
bool exporter_leave(struct exporter *x, enum export_left why);
bool exporter_leave_op(struct exporter *x, unsigned int op);

/*
 * Writes the name of a thread as the trace shows it: escaped, or hashed. @out has EXPORT_COMM bytes;
 * returns the length.
 */
#define EXPORT_COMM 72
size_t exporter_comm(const struct exporter *x, char *out, const char *comm, size_t size);

#endif /* TOOL_TRACE_EXPORTER_H */
