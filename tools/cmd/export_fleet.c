// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/export_fleet.h"
#include "trace/fleet.h"
#include "trace/fleet_columns.h"

struct export {
	struct pass *pass;
	struct fleet fleet;
	struct row_printer printer;
	char *host, *kernel, *state, *version;	/* of the trace, escaped */
	struct fleet_trace *rows;	/* of _trace */
	size_t nr;
};

/* --- what is known of a trace ----------------------------------------------------- */

/* A text of metadata.json; empty if it is longer than any name of a kernel. */
static char *text_of(const struct export *x, const char *key)
{
	const char *text = json_string_value(json_object_get(x->pass->check.metadata.document, key));
	char *shown = text ? text_guard(text, strlen(text), "") : xstrdup("");

	if (strlen(shown) > NAME_MAX)
		*shown = '\0';
	return shown;
}

static void add_row(struct export *x, const struct pass_reader *r)
{
	const struct pass *p = x->pass;
	struct fleet_trace *row;

	pass_say_basis(p, r->category, &r->basis);
	xgrow(&x->rows, x->nr + 1, sizeof(*x->rows));
	row = &x->rows[x->nr++];
	*row = (struct fleet_trace){
		.id = x->fleet.id, .category = r->category->name, .host = x->host, .kernel = x->kernel,
		.state = x->state, .tool_version = x->version, .basis = r->basis,
		.format = json_integer_value(json_object_get(p->check.metadata.document, "format")),
	};
	pass_times(p, r->last, &row->begin, &row->end);
}

/* Returns an exit code. */
static int write_trace(struct export *x)
{
	struct fleet_file *file;
	bool is_new;
	size_t i;

	if (!fleet_begin(&x->fleet))
		return CLI_FAILED;
	file = fleet_file(&x->fleet, NULL, pass_origin(x->pass) / FLEET_NS_PER_DAY, &is_new);
	if (!file || !fleet_put(&x->fleet, file, fleet_trace_header(fleet_room(file))))
		return CLI_FAILED;
	for (i = 0; i < x->nr; i++)
		if (!fleet_put(&x->fleet, file, fleet_trace_row(fleet_room(file), &x->rows[i])))
			return CLI_FAILED;
	return CLI_OK;
}

/* --- its events ------------------------------------------------------------------- */

/* The file of a day, which begins with the names of the columns. NULL: it cannot be written. */
static struct fleet_file *file_of(struct export *x, const struct pass_reader *r, __u64 day)
{
	bool is_new;
	struct fleet_file *file = fleet_file(&x->fleet, r->category->name, day, &is_new);

	if (!file || !is_new || fleet_put(&x->fleet, file, row_header(&x->printer, fleet_room(file))))
		return file;
	return NULL;
}

static bool put_record(struct export *x, struct pass_reader *r, const void *record)
{
	struct row_printer *p = &x->printer;
	struct fleet_file *file = file_of(x, r, pass_wall(x->pass, r->measure.time) / FLEET_NS_PER_DAY);

	if (!file)
		return false;
	p->note = cpu_merge_note(&r->merge, record, &p->note_length);
	return fleet_put(&x->fleet, file, row_print(p, fleet_room(file), record));
}

/* False if they cannot be written. A category without events has a file that shows its columns. */
static bool write_records(struct export *x, struct pass_reader *r)
{
	const void *record;

	if (!fleet_begin(&x->fleet))
		return false;
	while ((record = pass_next(r)))
		if (!put_record(x, r, record))
			return false;
	return r->basis.records || file_of(x, r, pass_origin(x->pass) / FLEET_NS_PER_DAY);
}

/* Leaves out a category that cannot be read, which is reported. *good: all that was read is written. */
static int write_category(struct export *x, size_t i, bool *good)
{
	struct pass *p = x->pass;
	struct pass_reader r;
	int status = pass_reader_open(&r, p, i);

	*good = true;
	if (!status) {
		x->printer = (struct row_printer){
			.event = r.event, .clock = &p->check.clock, .paths = &p->names,
			.anonymizer = pass_anonymizer(p),
		};
		fleet_printer_open(&x->printer, r.category, x->fleet.id);
		*good = write_records(x, &r);
		row_printer_close(&x->printer);
	}
	pass_reader_close(&r);
	if (!status)
		add_row(x, &r);
	return status;
}

/* --- traces ----------------------------------------------------------------------- */

static int write_all(struct export *x)
{
	int status = CLI_OK;
	bool good = true;
	size_t i;

	for (i = 0; i < x->pass->nr && good; i++) {
		status = cli_merge(status, write_category(x, i, &good));
		good = good && !interrupt_came(NULL);
	}
	if (!good || write_trace(x) || !fleet_publish(&x->fleet))
		return CLI_FAILED;
	return status;
}

/* The pass is open. Returns an exit code. */
static int write_tree(struct pass *p, const char *directory)
{
	struct export x = { .pass = p };
	int status;

	if (p->sources.nr) {
		cli_say_of(p->trace, "is a merged trace of several hosts: add each trace that it was made of");
		return CLI_FAILED;
	}
	x.host = pass_host(p) ?: xstrdup("");
	x.kernel = text_of(&x, "kernel");
	x.state = text_of(&x, "state");
	x.version = text_of(&x, "tool_version");
	status = fleet_open(&x.fleet, directory, p->trace, x.host, &p->check.metadata.begin);
	if (!status)
		status = write_all(&x);
	fleet_close(&x.fleet);
	free(x.rows);
	free(x.host);
	free(x.kernel);
	free(x.state);
	free(x.version);
	return status;
}

int export_fleet(struct pass *as, const struct cli_words *traces, const char *directory)
{
	int status = CLI_OK;
	size_t i;

	interrupt_catch();
	for (i = 0; i < traces->nr && !interrupt_came(NULL); i++) {
		const struct cli_words word = { .at = &traces->at[i], .nr = 1 };
		struct pass pass = *as;
		int one;

		pass.selection.select = (struct select){ .nr = 0 };
		select_copy(&pass.selection.select, &as->selection.select);
		one = pass_open(&pass, &word);
		if (!one)
			one = write_tree(&pass, directory);
		status = cli_merge(status, pass_close(&pass, one));
	}
	select_free(&as->selection.select);
	interrupt_end();
	return status;
}
