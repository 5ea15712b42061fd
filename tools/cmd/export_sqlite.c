// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/xalloc.h"
#include "cmd/export_sqlite.h"
#include "cmd/sql_trace.h"
#include "trace/record.h"

#define STEPS 10000	/* of sqlite between two looks for an interrupt */

struct file {
	const char *name;
	char *hidden;		/* its name until it is complete */
	char *directory;	/* both are in */
	bool made;		/* there is a file of that name */
	sqlite3 *db;
	struct sql_tables tables;
};

static int fail(const struct file *f, int err)
{
	progress_end();
	cli_say_of(f->name, "cannot be written: %s%s", strerror(err),
		   err == EEXIST ? ": remove it first, or name another file" : "");
	return CLI_FAILED;
}

/* A filesystem's error is told as it does. */
static int fail_sqlite(const struct file *f, int code)
{
	int err = 0;

	if (code == SQLITE_INTERRUPT)
		return CLI_FAILED;
	sqlite3_file_control(f->db, "main", SQLITE_FCNTL_LAST_ERRNO, &err);
	if (code == SQLITE_FULL)
		return fail(f, ENOSPC);
	if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && err)
		return fail(f, err);
	progress_end();
	cli_say_of(f->name, "cannot be written: sqlite: %s", sqlite3_errstr(code));
	return CLI_FAILED;
}

static int look(void *data)
{
	return interrupt_came(data);
}

/* Runs statements. Returns a code of sqlite. */
static int __attribute__((format(printf, 2, 3))) run(const struct file *f, const char *format, ...)
{
	va_list args;
	char *text;
	int code;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	code = sqlite3_exec(f->db, text, NULL, NULL, NULL);
	free(text);
	return code;
}

/* --- the file ------------------------------------------------------------------------ */

static void name_hidden(struct file *f)
{
	const char *slash = strrchr(f->name, '/');
	const char *last = slash ? slash + 1 : f->name;

	f->directory = slash == f->name ? xstrdup("/") :
		slash ? xasprintf("%.*s", (int)(slash - f->name), f->name) : xstrdup(".");
	f->hidden = xasprintf("%s/.%s.%d", f->directory, last, (int)getpid());
}

static int make_file(struct file *f)
{
	int fd;

	if (!*f->name || f->name[strlen(f->name) - 1] == '/')
		return fail(f, EISDIR);
	if (!access(f->name, F_OK))
		return fail(f, EEXIST);
	fd = open(f->hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return fail(f, errno);
	close(fd);
	f->made = true;
	/* what is sorted for an index is kept on the same filesystem */
	setenv("SQLITE_TMPDIR", f->directory, 0);
	return CLI_OK;
}

/* The data is on disk when the file gets its name, so it is whole even after a crash. */
static int publish(struct file *f)
{
	int fd = open(f->hidden, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 || (fsync(fd) && errno != EINVAL) ? errno : 0;

	if (fd >= 0)
		close(fd);
	if (!err && renameat2(AT_FDCWD, f->hidden, AT_FDCWD, f->name, RENAME_NOREPLACE) &&
	    (errno != EINVAL || rename(f->hidden, f->name)))
		err = errno;
	if (err)
		return fail(f, err);
	f->made = false;
	fd = open(f->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd); /* not every filesystem supports it */
		close(fd);
	}
	return CLI_OK;
}

/* --- tables -------------------------------------------------------------------------- */

/* What queries look for. */
static int make_indexes(const struct file *f, const struct category *category)
{
	const struct iot_schema_event *event = category_event(category);
	const char *name = category->name;
	int code = run(f, "CREATE INDEX main.\"%s_begin_ns\" ON \"%s\"(begin_ns)", name, name);

	if (!code && record_field(event, "device") && record_field(event, "inode"))
		code = run(f, "CREATE INDEX main.\"%s_file\" ON \"%s\"(device, inode)", name, name);
	if (!code && record_field(event, "pid"))
		code = run(f, "CREATE INDEX main.\"%s_pid\" ON \"%s\"(pid)", name, name);
	return code;
}

/* A category whose file cannot be opened, which was reported, has no rows. */
static int write_category(struct file *f, size_t i)
{
	const struct category *category = f->tables.pass->at[i].category;
	char *columns = sql_category_columns(&f->tables, i);
	int code = run(f, "CREATE TABLE main.\"%s\"(%s)", category->name, columns);

	free(columns);
	f->tables.status = CLI_OK;
	if (!code)
		code = run(f, "INSERT INTO main.\"%s\" SELECT * FROM temp.\"%s\"", category->name,
			   category->name);
	if (f->tables.status)
		code = SQLITE_OK;
	return code ? code : make_indexes(f, category);
}

/* The counts come from having read all categories. */
static int write_trace(const struct file *f)
{
	return run(f, "CREATE TABLE main." SQL_TRACE_TABLE "(" SQL_TRACE_COLUMNS ");"
		   "INSERT INTO main." SQL_TRACE_TABLE " SELECT * FROM temp." SQL_TRACE_TABLE);
}

static int open_database(struct file *f)
{
	int code = sqlite3_open_v2(f->hidden, &f->db, SQLITE_OPEN_READWRITE, NULL);

	if (!code)
		code = run(f, "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
			   "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -32768;"
			   "PRAGMA threads = 2");
	if (!code)
		code = sql_tables_open(&f->tables, f->tables.pass, f->db, "temp");
	if (!code)
		code = sql_trace_open(&f->tables, f->db, "temp");
	f->tables.stop = interrupt_came;
	sqlite3_progress_handler(f->db, STEPS, look, NULL);
	return code;
}

/* Returns an exit code. */
static int write_database(struct file *f)
{
	int status = CLI_OK, code = open_database(f);
	size_t i;

	if (!code)
		code = run(f, "BEGIN");
	for (i = 0; !code && i < f->tables.pass->nr; i++) {
		code = write_category(f, i);
		status = cli_merge(status, f->tables.status);
	}
	if (!code)
		code = write_trace(f);
	if (!code)
		code = run(f, "COMMIT");
	if (code)
		status = fail_sqlite(f, code);
	sqlite3_close(f->db);
	return code ? status : cli_merge(status, publish(f));
}

int export_sqlite(struct pass *pass, const char *name)
{
	struct file f = { .name = name, .tables.pass = pass };
	int status;

	interrupt_catch();
	name_hidden(&f);
	status = make_file(&f);
	if (!status)
		status = write_database(&f);
	if (!status)
		sql_tables_report(&f.tables);
	if (f.made)
		unlink(f.hidden);
	sql_tables_free(&f.tables);
	free(f.hidden);
	free(f.directory);
	return status;
}
