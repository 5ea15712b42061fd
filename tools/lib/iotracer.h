/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libiotracer: reads the traces that iotracer record wrote, and the streams of a loaded module.
 *
 *	struct iotracer_trace *trace;
 *	struct iotracer_cursor *cursor;
 *	const struct iotracer_record *record;
 *	struct iotracer_error *error;
 *
 *	error = iotracer_trace_open("/var/lib/iotracer/iotracer_20261121_104322_123", &trace);
 *	...
 *	error = iotracer_cursor_open(trace, NULL, 0, &cursor);
 *	while (!(error = iotracer_cursor_next(cursor, &record)) && record)
 *		printf("%s\n", iotracer_record_op(record));
 *
 * This header is the manual. In it
 *
 *  - a trace is a directory, or a stream of the running module; both are a struct iotracer_trace;
 *  - a record is one event. What its fields are is told by the schema: struct iotracer_event and
 *    struct iotracer_field. iotracer-trace(5) explains each field;
 *  - a cursor gives the records of a trace one after another.
 *
 * Messages and errors. The library prints nothing, ends no process, installs no handlers, and changes
 * no state of the process. A function that can fail returns a struct iotracer_error, NULL if it did
 * not fail. What is no error, such as a frame that is damaged and left out, is told to the function that
 * iotracer_trace_report() sets. If there is no memory, a function returns IOTRACER_NO_MEMORY, and what it
 * was to make is not there.
 *
 * No argument may be NULL unless that is said.
 *
 * Lifetime. Free what an open function gave with the close function of the same name, a trace after
 * its cursors. A const char * lives as long as what it was got from, if its function does not say
 * otherwise. Pointers to schema never die. Text is UTF-8 that ends with NUL. A byte that a terminal
 * could take for a command, a backslash, and one that is not UTF-8 is \ooo, three octal digits, which
 * iotracer_text_unescape() undoes.
 *
 * Threads. A trace, with its cursors and records, is for one thread at a time. Threads may use different
 * traces at the same time, also of one directory. Functions of schema may be called at any time. The
 * environment variable IOTRACER_PROC, a directory in place of /proc/iotracer, is read when a stream is
 * opened and read.
 *
 * Times are nanoseconds, of CLOCK_MONOTONIC on the machine that was traced if nothing else is said, as
 * records have them. "Wall" times are ns since 1970 (UTC).
 *
 * Versions. A function that is here stays, with its meaning, as long as the library's name is
 * libiotracer.so.0. Enumerations may get values, and the schema fields.
 */
#ifndef IOTRACER_H
#define IOTRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, "0.1.0": that of the tool and of the module beside it. */
const char *iotracer_version(void);

/* --- errors ---------------------------------------------------------------------------- */

enum iotracer_code {
	IOTRACER_NO_MEMORY = 1,
	IOTRACER_INVALID = 2,	/* an argument makes no sense here; the text says which */
	IOTRACER_NOT_FOUND = 3,	/* no such trace, category, target or field */
	IOTRACER_DENIED = 4,	/* permission denied */
	IOTRACER_NO_MODULE = 5,	/* the module is not loaded */
	IOTRACER_FOREIGN = 6,	/* made by another version, whose records this library does not know */
	IOTRACER_UNREADABLE = 7, /* a file that cannot be read, or is no trace's */
	IOTRACER_GONE = 8,	/* the module was unloaded, or the target removed, since it was opened */
	IOTRACER_BROKEN = 9,	/* this cursor failed before */
};

struct iotracer_error;

enum iotracer_code iotracer_error_code(const struct iotracer_error *error);

/* One line without a newline: what is wrong, with what, and mostly what to do. */
const char *iotracer_error_text(const struct iotracer_error *error);

/* NULL is allowed. */
void iotracer_error_free(struct iotracer_error *error);

/* --- schema ---------------------------------------------------------------------------- */

/* A kind of record: that of a category, which has its name, or "io", that of the target of a file. */
struct iotracer_event;
struct iotracer_field;

/* The events that the library knows, from 0 on; NULL after the last. */
const struct iotracer_event *iotracer_event_at(size_t i);

/* The event of that name, or NULL. */
const struct iotracer_event *iotracer_event_find(const char *name);

const char *iotracer_event_name(const struct iotracer_event *event);
const char *iotracer_event_text(const struct iotracer_event *event);	/* its meaning, one line */
unsigned int iotracer_event_id(const struct iotracer_event *event);
size_t iotracer_event_size(const struct iotracer_event *event);		/* bytes of a record */

/* The name of an operation, as "RENAME", by the value of field op; NULL if there is none. */
const char *iotracer_event_op(const struct iotracer_event *event, unsigned int op);

/* The fields of an event in the order of their offsets, from 0 on; NULL after the last. */
const struct iotracer_field *iotracer_field_at(const struct iotracer_event *event, size_t i);

/* The field of that name, or NULL. */
const struct iotracer_field *iotracer_field_find(const struct iotracer_event *event, const char *name);

const char *iotracer_field_name(const struct iotracer_field *field);
const char *iotracer_field_type(const struct iotracer_field *field);	/* u8 ... u64, s32, s64, char */
const char *iotracer_field_kind(const struct iotracer_field *field);	/* how it is shown: path, op, hex ... */
const char *iotracer_field_unit(const struct iotracer_field *field);	/* ns, byte, page, sector, or "" */
const char *iotracer_field_text(const struct iotracer_field *field);	/* its meaning, one line */
size_t iotracer_field_offset(const struct iotracer_field *field);	/* bytes in the record */
size_t iotracer_field_size(const struct iotracer_field *field);		/* bytes */

/* --- traces ---------------------------------------------------------------------------- */

struct iotracer_trace;

enum iotracer_state {
	IOTRACER_RUNNING = 0,	/* it has no end: it is being recorded, or its recorder was killed */
	IOTRACER_COMPLETE = 1,	/* recording ended well, and nothing was lost */
	IOTRACER_LOSSY = 2,	/* recording ended well, but the kernel lost, overwrote or missed events */
	IOTRACER_ERROR = 3,	/* recording ended with an error: iotracer_trace_reason() */
	IOTRACER_LIVE = 4,	/* a stream of the running module */
};

/* Both clocks at one moment; 0 if it is not known. */
struct iotracer_time {
	uint64_t monotonic;	/* ns of CLOCK_MONOTONIC */
	uint64_t wall;		/* ns since 1970 */
};

/* What was counted while it was recorded, or until now. */
struct iotracer_counts {
	uint64_t events;	/* in the trace; of a stream: seen, whether they can still be read or not */
	uint64_t lost;		/* seen, but lost or overwritten before they were read */
	uint64_t missed;	/* calls that the kernel's hooks missed: nothing else is known of them */
};

/*
 * Opens the trace in a directory. Reads metadata.json only; paths are read when the first record is
 * wanted. Errors: NOT_FOUND, DENIED, UNREADABLE. *trace is NULL after an error.
 */
struct iotracer_error *iotracer_trace_open(const char *directory, struct iotracer_trace **trace);

/*
 * Opens the stream of a category ("fs"), or else of a target: its path, its name in /proc/iotracer, or
 * the text that names its processes. Nothing is started: a category that is stopped has what is left
 * from before. The stream begins with the oldest record that is still in the rings. It is read by one
 * cursor, which does not take records away from other readers.
 * Errors: NOT_FOUND, NO_MODULE, DENIED, FOREIGN, UNREADABLE.
 */
struct iotracer_error *iotracer_trace_live(const char *name, struct iotracer_trace **trace);

/* Closes it; its cursors were closed before. NULL is allowed. */
void iotracer_trace_close(struct iotracer_trace *trace);

/*
 * From now on @report gets a line without a newline for each thing that is missing or damaged, as the
 * tool prints it. The line is valid during the call, which must not use the trace. NULL: it is not told,
 * which is so after an open. What the open itself had to tell is told by this call.
 */
void iotracer_trace_report(struct iotracer_trace *trace, void (*report)(void *data, const char *line),
			   void *data);

enum iotracer_state iotracer_trace_state(const struct iotracer_trace *trace);

/* Why recording ended, "" unless the state is IOTRACER_ERROR. */
const char *iotracer_trace_reason(const struct iotracer_trace *trace);

/* Whether a recorder writes the trace at this moment. False for a stream. */
bool iotracer_trace_is_recorded(const struct iotracer_trace *trace);

/*
 * Whether something of what was recorded is known not to be there: an end, frames, paths, the schema
 * beside it. Of files of records only what cursors have read is known.
 */
bool iotracer_trace_is_damaged(const struct iotracer_trace *trace);

/* Host and kernel release of the machine that was traced; "" if it is not known. */
const char *iotracer_trace_host(const struct iotracer_trace *trace);
const char *iotracer_trace_kernel(const struct iotracer_trace *trace);

/* Begin and end of recording; of a stream, when it was opened, and zeroes. */
struct iotracer_time iotracer_trace_begin(const struct iotracer_trace *trace);
struct iotracer_time iotracer_trace_end(const struct iotracer_trace *trace);

/* The wall time, ns since 1970, of a monotonic time of the trace: by the clocks at begin and end. */
uint64_t iotracer_trace_wall(const struct iotracer_trace *trace, uint64_t monotonic);

/* The categories of the trace from 0 on, NULL after the last. A target of a file has "io". */
const char *iotracer_trace_category(const struct iotracer_trace *trace, size_t i);

/*
 * Counts of a category. Errors: NOT_FOUND if there is no such category in the trace, or if the trace has
 * no counts, as while it is RUNNING; of a stream also those of iotracer_trace_live().
 */
struct iotracer_error *iotracer_trace_counts(struct iotracer_trace *trace, const char *category,
					     struct iotracer_counts *counts);

/*
 * The path with an id, which fields of kind "path" have. *path is "" for id 0, which is no path, and NULL
 * if the path is not known: it was evicted from the kernel's table, or is damaged. It is valid until the
 * next call for the trace or its cursor. Of a stream the paths are those of the records so far.
 * Errors: those of reading a file of the trace.
 */
struct iotracer_error *iotracer_trace_path(struct iotracer_trace *trace, uint64_t id, const char **path);

/* Undoes \ooo in place. The text may hold any byte then, but no NUL. */
void iotracer_text_unescape(char *text);

/* --- records --------------------------------------------------------------------------- */

struct iotracer_cursor;
struct iotracer_record;

/* What is missing among the records that a cursor has read so far. */
struct iotracer_losses {
	uint64_t events;	/* read, also those outside of the cursor's time */
	uint64_t lost;		/* lost or overwritten before they were read from the module */
	uint64_t missing;	/* not in the file, as it is damaged or cut off; some may have been lost before */
	uint64_t damages;	/* places in the files that are damaged */
};

/*
 * Opens a cursor for @nr categories, all if @nr is 0. Their records come merged, over CPUs and
 * categories, in the order in which the events ended; those that ended at the same time by category, in
 * the order of iotracer_trace_category(). Errors: NOT_FOUND for a category that the trace has not,
 * FOREIGN, UNREADABLE; INVALID for a second cursor of a stream.
 */
struct iotracer_error *iotracer_cursor_open(struct iotracer_trace *trace, const char *const *categories,
					    size_t nr, struct iotracer_cursor **cursor);

/* NULL is allowed. */
void iotracer_cursor_close(struct iotracer_cursor *cursor);

/*
 * Gives only records of events that began at wall time @from or later, and before @to: ns since 1970,
 * 0 and UINT64_MAX by default. Call it before the first iotracer_cursor_next().
 */
void iotracer_cursor_limit(struct iotracer_cursor *cursor, uint64_t from, uint64_t to);

/*
 * Gives the next record, valid until the next call for this cursor. *record is NULL at the end of a
 * trace; of a stream it means that there is none now, and more may come: call again after a while, 100
 * ms for example. Records of a stream are in order among those that were there at one moment. After an
 * error, or a NULL from a trace, the cursor gives no more records: it returns BROKEN, or NULL again.
 * Errors: GONE, UNREADABLE.
 */
struct iotracer_error *iotracer_cursor_next(struct iotracer_cursor *cursor,
					    const struct iotracer_record **record);

/* Exact after iotracer_cursor_next() gave NULL. */
struct iotracer_losses iotracer_cursor_losses(const struct iotracer_cursor *cursor);

/*
 * The first line of CSV for a category: the names of columns. *text ends with a newline, has *length
 * bytes, and is valid until the next call for this cursor. Errors: NOT_FOUND.
 */
struct iotracer_error *iotracer_cursor_header(struct iotracer_cursor *cursor, const char *category,
					      const char **text, size_t *length);

const struct iotracer_event *iotracer_record_event(const struct iotracer_record *record);
const char *iotracer_record_category(const struct iotracer_record *record);

/* The name of its operation, "" if it has none. */
const char *iotracer_record_op(const struct iotracer_record *record);

/* When the event began and ended, ns of CLOCK_MONOTONIC. */
uint64_t iotracer_record_time(const struct iotracer_record *record);
uint64_t iotracer_record_end(const struct iotracer_record *record);

/* The record's bytes, as many as iotracer_event_size() says, in the order of this machine. */
const void *iotracer_record_data(const struct iotracer_record *record);

/* The command line that was recorded with it, *length bytes without a NUL behind them, or NULL. */
const char *iotracer_record_command(const struct iotracer_record *record, size_t *length);

/*
 * A number by the name of its field. False if there is no such field, if it is of type char, or if the
 * value does not fit: one below 0 is no u64, one above INT64_MAX no s64. *value is then as before.
 */
bool iotracer_record_u64(const struct iotracer_record *record, const char *field, uint64_t *value);
bool iotracer_record_s64(const struct iotracer_record *record, const char *field, int64_t *value);

/* The same by field, which need not be looked for: of an event whose field it is. */
bool iotracer_field_u64(const struct iotracer_field *field, const void *data, uint64_t *value);
bool iotracer_field_s64(const struct iotracer_field *field, const void *data, int64_t *value);

/*
 * Any field as text: what its column shows, without quotes. A path is its text ("?" if it is not known),
 * an operation and flags are their names. Valid until the next call for the cursor. Errors: NOT_FOUND.
 */
struct iotracer_error *iotracer_record_text(const struct iotracer_record *record, const char *field,
					    const char **text);

/*
 * A line of CSV, or an object of JSON, as iotracer export prints it, with its newline. *length is the
 * number of its bytes without NUL; *text is valid until the next call for the cursor.
 */
struct iotracer_error *iotracer_record_csv(const struct iotracer_record *record, const char **text,
					   size_t *length);
struct iotracer_error *iotracer_record_json(const struct iotracer_record *record, const char **text,
					    size_t *length);

#ifdef __cplusplus
}
#endif

#endif /* IOTRACER_H */
