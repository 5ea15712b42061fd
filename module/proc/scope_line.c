// SPDX-License-Identifier: GPL-2.0
/*
 * Events below a directory or of processes, as text: the seven fields of a file's log, then the
 * operation, its path or paths, and its result. In the place of a path a socket has its connection.
 */
#include <linux/bitops.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include "core/escape.h"
#include "core/line.h"
#include "core/names.h"
#include "file/path_table.h"
#include "record/scope.h"
#include "proc/scope_line.h"
#include "proc/text.h"

/* Get the end of a text that has @names names, or all of it if it has fewer. */
static const char *last_names(const char *text, unsigned int names)
{
	const char *at = text + strlen(text);

	while (at > text && at[-1] == '/')
		at--;
	for (; names; names--) {
		while (at > text && at[-1] != '/')
			at--;
		if (names > 1)
			while (at > text && at[-1] == '/')
				at--;
	}
	return at;
}

/* Get what a path is called below the directory. Any other path is absolute. */
static const char *name_below(const struct iot_scope *s, const struct iot_path *path)
{
	u32 before = BIT(s->root.slot) - 1;
	unsigned int depth;

	if (s->c.of_tasks || !iot_path_is_below(path, &s->root))
		return path->text;
	depth = iot_path_depths(path)[hweight32(path->roots & before)];
	if (depth == IOT_BELOW_ELSEWHERE)
		return path->text;
	return depth ? last_names(path->text, depth) : ".";
}

static void show_path(struct seq_file *m, const struct iot_scope *s, u64 id)
{
	const struct iot_path *path;
	const char *text;

	seq_putc(m, ';');
	if (!id)
		return;
	rcu_read_lock();
	path = iot_path_table_at(id);
	text = path ? name_below(s, path) : "?";
	iot_escape(m, text, strlen(text), ";");
	rcu_read_unlock();
}

/** iot_scope_line() - print the line of an event, with times relative to @t0, ns */
void iot_scope_line(struct seq_file *m, const struct iot_scope *s, const struct iot_fs *e, u64 t0)
{
	const char *op = iot_names_op_name(IOT_EVENT_ID_FS, e->op);
	const struct iot_line line = iot_line_of_fs(e);

	iot_text_line(m, &line, e->time > t0 ? e->time - t0 : 0, e->comm, e->pid);
	seq_printf(m, ";%s", op ?: "?");
	show_path(m, s, e->path);
	show_path(m, s, e->path2);
	seq_printf(m, ";%lld\n", e->result);
}
