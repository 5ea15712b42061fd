// SPDX-License-Identifier: GPL-2.0
/*
 * Laws of libiotracer, each over a whole use of it: a trace is opened, all that it tells is asked for,
 * each record of all categories becomes a row of CSV, an object of JSON and a text for each field, and all
 * is closed.
 *
 *	library-laws memory TRACE [live NAME]
 *		Of the allocations, also those of the libraries below, each one fails once: the use then
 *		gives out of memory and no other error, or what it gives otherwise; nothing is left of it,
 *		neither memory nor an open file; and the trace, if it was open, still gives all records to
 *		another cursor.
 *	library-laws damage TRACE STEP FILE...
 *		A bit of each STEP-th byte of a file is wrong, and the file ends at it: the records that are
 *		read are some of those of the whole trace, in their order; none is missing without being
 *		counted; and the trace says that it is damaged.
 *
 * In all of them nothing is written to standard output and standard error.
 *
 * Built with WRAPPED and the linker's --wrap, only the library's own allocations fail: beside
 * AddressSanitizer, which replaces malloc().
 */
#include <errno.h>
#include <fcntl.h>
#include <iotracer.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library-laws.h"

/* --- allocations that fail -------------------------------------------------------------- */

static long made, fails;	/* allocations since the use began; the one that fails, 0: none */
static long alive;		/* of them, not freed */
static int counting;

static int may(void)
{
	return !counting || ++made != fails;
}

static void *no(void)
{
	errno = ENOMEM;
	return NULL;
}

void *NAME(malloc)(size_t size)
{
	void *p = may() ? REAL(malloc)(size) : no();

	alive += counting && p;
	return p;
}

void *NAME(calloc)(size_t nr, size_t size)
{
	void *p = may() ? REAL(calloc)(nr, size) : no();

	alive += counting && p;
	return p;
}

void *NAME(realloc)(void *old, size_t size)
{
	void *p = may() ? REAL(realloc)(old, size) : no();

	alive += counting && p && !old;
	return p;
}

void NAME(free)(void *p)
{
	alive -= counting && p;
	REAL(free)(p);
}

#ifdef WRAPPED
void *__wrap_reallocarray(void *old, size_t nr, size_t size)
{
	return __wrap_realloc(old, nr * size);
}

char *__wrap_strdup(const char *s)
{
	char *p = __wrap_malloc(strlen(s) + 1);

	return p ? strcpy(p, s) : NULL;
}

int __wrap_vasprintf(char **s, const char *format, va_list args)
{
	char text[65536];
	int n = vsnprintf(text, sizeof(text), format, args);

	*s = __wrap_strdup(text);
	return *s ? n : -1;
}
#endif

/* --- the verdict ------------------------------------------------------------------------ */

static int out = -1, said = -1;

/* What the library writes to standard output or error is in a pipe. */
static void listen(void)
{
	int ends[2];

	out = dup(STDOUT_FILENO);
	if (pipe2(ends, O_NONBLOCK))
		exit(2);
	said = ends[0];
	fflush(NULL);
	dup2(ends[1], STDOUT_FILENO);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
}

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	counting = 0;
	vdprintf(out, format, args);
	dprintf(out, "\n");
	va_end(args);
	_exit(1);
}

static void is_quiet(void)
{
	char text[4096];
	ssize_t n;

	fflush(NULL);
	n = read(said, text, sizeof(text));
	if (n > 0)
		die("it wrote: %.*s", (int)n, text);
}

static int open_files(void)
{
	int fd, nr = 0;

	for (fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* --- a use ------------------------------------------------------------------------------ */

struct use {
	unsigned long long sum;		/* of all that it gave */
	unsigned long rows;
	struct iotracer_losses losses;
	int damaged;
	enum iotracer_code code;	/* 0: no error */
	char **lines;			/* not NULL: each row of CSV is kept there */
	char **whole;			/* not NULL: the rows have to be some of these */
	unsigned long at;		/* the next of them */
	int strange;			/* a row was none of them */
	int live;			/* its clocks, and so its wall times, are not those of another use */
};

static void see(struct use *use, const void *data, size_t length)
{
	const unsigned char *at = data;

	for (; length; length--)
		use->sum = (use->sum ^ *at++) * 1099511628211ULL;
}

static void see_text(struct use *use, const char *text)
{
	if (text)
		see(use, text, strlen(text) + 1);
}

static void see_report(void *data, const char *line)
{
	see_text(data, line);
}

static void take_line(struct use *use, const char *text)
{
	if (use->lines)
		use->lines[use->rows] = strdup(text);
	if (!use->whole)
		return;
	while (use->whole[use->at] && strcmp(use->whole[use->at], text))
		use->at++;
	if (use->whole[use->at])
		use->at++;
	else
		use->strange = 1;
}

static struct iotracer_error *take_fields(struct use *use, const struct iotracer_record *record)
{
	const struct iotracer_event *event = iotracer_record_event(record);
	const struct iotracer_field *f;
	struct iotracer_error *error = NULL;
	const char *text;
	uint64_t n;
	size_t i;

	for (i = 0; !error && (f = iotracer_field_at(event, i)); i++) {
		if (!strcmp(iotracer_field_name(f), "reserved"))
			continue;
		error = iotracer_record_text(record, iotracer_field_name(f), &text);
		see_text(use, text);
		if (iotracer_record_u64(record, iotracer_field_name(f), &n))
			see(use, &n, sizeof(n));
	}
	return error;
}

static struct iotracer_error *take_record(struct use *use, const struct iotracer_record *record)
{
	struct iotracer_error *error;
	const char *text;
	size_t length;

	see_text(use, iotracer_record_category(record));
	see_text(use, iotracer_record_op(record));
	text = iotracer_record_command(record, &length);
	see(use, text, length);
	if (!use->whole) {
		error = take_fields(use, record);
		if (!error)
			error = iotracer_record_json(record, &text, &length);
		if (error)
			return error;
		see_text(use, use->live ? strchr(text, ',') : text);
	}
	error = iotracer_record_csv(record, &text, &length);
	if (error)
		return error;
	if (strlen(text) != length)
		die("a row has %zu bytes, not %zu", strlen(text), length);
	see_text(use, use->live ? strchr(text, ',') : text);
	take_line(use, text);
	use->rows++;
	return NULL;
}

static struct iotracer_error *take_records(struct use *use, struct iotracer_trace *trace)
{
	const struct iotracer_record *record;
	struct iotracer_cursor *cursor;
	struct iotracer_error *error = iotracer_cursor_open(trace, NULL, 0, &cursor);

	if (error) {
		if (cursor)
			die("a cursor after an error");
		return error;
	}
	while (!(error = iotracer_cursor_next(cursor, &record)) && record) {
		error = take_record(use, record);
		if (error)
			break;
	}
	use->losses = iotracer_cursor_losses(cursor);
	iotracer_cursor_close(cursor);
	return error;
}

static struct iotracer_error *take_trace(struct use *use, struct iotracer_trace *trace)
{
	struct iotracer_error *error = NULL;
	struct iotracer_counts counts;
	const char *category, *path;
	size_t i;

	iotracer_trace_report(trace, see_report, use);
	see_text(use, iotracer_trace_host(trace));
	see_text(use, iotracer_trace_kernel(trace));
	see_text(use, iotracer_trace_reason(trace));
	for (i = 0; !error && (category = iotracer_trace_category(trace, i)); i++) {
		see_text(use, category);
		error = iotracer_trace_counts(trace, category, &counts);
		if (!error) {
			see(use, &counts, sizeof(counts));
		} else if (iotracer_error_code(error) == IOTRACER_NOT_FOUND) {
			iotracer_error_free(error);
			error = NULL;
		}
	}
	if (!error)
		error = iotracer_trace_path(trace, 1, &path);
	return error ? error : take_records(use, trace);
}

static unsigned long long sum_of_records;	/* of a cursor that nothing failed for */

/* The trace, or the stream, of that name; what is in @use stays if that is 0. */
static void run(struct use *use, const char *name)
{
	int live = use->live;
	struct iotracer_trace *trace;
	struct iotracer_error *error = live ? iotracer_trace_live(name, &trace) :
					      iotracer_trace_open(name, &trace);

	if (error && trace)
		die("a trace after an error");
	if (!error)
		error = take_trace(use, trace);
	use->code = error ? iotracer_error_code(error) : 0;
	if (error && !*iotracer_error_text(error))
		die("an error without a text");
	iotracer_error_free(error);
	if (trace && use->code == IOTRACER_NO_MEMORY && !live) {
		struct use again = { .sum = 0 };

		fails = 0;
		error = take_records(&again, trace);
		if (error)
			die("after a failed allocation: %s", iotracer_error_text(error));
		if (again.sum != sum_of_records)
			die("after a failed allocation: %lu other records", again.rows);
		if (iotracer_trace_is_damaged(trace))
			die("a failed allocation made the trace a damaged one");
		use->rows = again.rows;
	}
	use->damaged = trace && iotracer_trace_is_damaged(trace);
	iotracer_trace_close(trace);
}

/* --- memory ----------------------------------------------------------------------------- */

static void sum_up_records(const char *name)
{
	struct iotracer_trace *trace;
	struct use use = { .sum = 0 };

	if (iotracer_trace_open(name, &trace) || take_records(&use, trace))
		die("%s: cannot be read", name);
	sum_of_records = use.sum;
	iotracer_trace_close(trace);
}

static void memory(const char *name, int live)
{
	struct use whole = { .live = live };
	int files = open_files();
	long n;

	run(&whole, name);
	if (whole.code || !whole.rows)
		die("%s: error %d, %lu rows", name, whole.code, whole.rows);
	if (!live)
		sum_up_records(name);
	for (n = 1;; n++) {
		struct use use = { .live = live };

		made = 0;
		alive = 0;
		fails = n;
		counting = 1;
		run(&use, name);
		counting = 0;
		if (alive)
			die("%s: allocation %ld failed, and %ld were not freed", name, n, alive);
		if (open_files() != files)
			die("%s: allocation %ld failed, and files stay open", name, n);
		if (use.code != IOTRACER_NO_MEMORY && (use.code || use.sum != whole.sum))
			die("%s: allocation %ld failed: error %d, %lu rows", name, n, use.code, use.rows);
		if (!live && use.rows && use.rows != whole.rows)
			die("%s: allocation %ld failed: then %lu rows", name, n, use.rows);
		is_quiet();
		if (made < n)
			break;
	}
	if (n < 20)
		die("%s: only %ld allocations", name, n);
	dprintf(out, "%s: each of %ld allocations failed\n", name, n - 1);
}

/* --- damage ----------------------------------------------------------------------------- */

#define ROWS 4096

static char *lines[ROWS + 1];
static struct use sound;

static void check(const char *trace, const char *how, size_t at, int records)
{
	struct use use = { .whole = records ? lines : NULL };

	run(&use, trace);
	is_quiet();
	if (use.code == IOTRACER_NO_MEMORY || use.code == IOTRACER_BROKEN)
		die("%s %s at %zu: error %d", trace, how, at, use.code);
	if (use.code)
		return;
	if (!use.damaged)
		die("%s %s at %zu: is shown as whole", trace, how, at);
	if (use.strange)
		die("%s %s at %zu: a row that is none", trace, how, at);
	if (records && use.losses.events != use.rows)
		die("%s %s at %zu: %lu rows", trace, how, at, use.rows);
	if (records && use.rows + use.losses.missing + use.losses.lost != sound.rows + sound.losses.lost)
		die("%s %s at %zu: %lu rows, %llu missing, %llu lost", trace, how, at, use.rows,
		    (unsigned long long)use.losses.missing, (unsigned long long)use.losses.lost);
	if (use.rows < sound.rows && records && !use.losses.damages)
		die("%s %s at %zu: no damage is counted", trace, how, at);
}

static void put(const char *file, const char *data, size_t size)
{
	int fd = open(file, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
		die("%s: %s", file, strerror(errno));
}

static void damage(const char *trace, const char *name, size_t step)
{
	int records = !strcmp(name, "fs.iot");
	char file[4096], *data;
	struct stat st;
	size_t at;
	int fd;

	snprintf(file, sizeof(file), "%s/%s", trace, name);
	fd = open(file, O_RDWR);
	if (fd < 0 || fstat(fd, &st))
		die("%s: %s", file, strerror(errno));
	data = malloc(st.st_size);
	if (read(fd, data, st.st_size) != st.st_size)
		die("%s: %s", file, strerror(errno));
	for (at = 0; at < (size_t)st.st_size; at += step) {
		char wrong = data[at] ^ 1 << at / step % 8;

		if (pwrite(fd, &wrong, 1, at) != 1)
			die("%s: %s", file, strerror(errno));
		check(trace, name, at, records);
		if (pwrite(fd, data + at, 1, at) != 1)
			die("%s: %s", file, strerror(errno));
	}
	for (at = 0; at < (size_t)st.st_size; at += step) {
		put(file, data, at);
		check(trace, name, at, records);
	}
	put(file, data, st.st_size);
	close(fd);
	free(data);
	dprintf(out, "%s: each bit, and each end\n", file);
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 3)
		return 2;
	listen();
	if (!strcmp(argv[1], "memory")) {
		memory(argv[2], argc > 3);
	} else if (argc > 4) {
		sound.lines = lines;
		run(&sound, argv[2]);
		sound.lines = NULL;
		if (sound.code || sound.damaged || sound.rows < 20 || sound.rows > ROWS)
			die("%s: error %d, %lu rows", argv[2], sound.code, sound.rows);
		for (i = 4; i < argc; i++)
			damage(argv[2], argv[i], strtoul(argv[3], NULL, 10));
		for (i = 0; lines[i]; i++)
			free(lines[i]);
	}
	is_quiet();
	return 0;
}
