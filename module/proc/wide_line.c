// SPDX-License-Identifier: GPL-2.0
/*
 * Events below a directory or of processes, as text: the seven fields of a file's log, then the
 * operation, its path or paths, and its result. In the place of a path a socket has its connection.
 */
#include <linux/bitops.h>
#include <linux/blk_types.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/socket.h>
#include <linux/string.h>
#include "core/escape.h"
#include "core/names.h"
#include "file/path_table.h"
#include "record/branch.h"
#include "proc/wide_line.h"
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
static const char *name_below(const struct iot_branch *b, const struct iot_path *path)
{
	u32 before = BIT(b->root.slot) - 1;
	unsigned int depth;

	if (b->c.anywhere || !iot_path_is_below(path, &b->root))
		return path->text;
	depth = iot_path_depths(path)[hweight32(path->roots & before)];
	if (depth == IOT_BELOW_ELSEWHERE)
		return path->text;
	return depth ? last_names(path->text, depth) : ".";
}

static void show_path(struct seq_file *m, const struct iot_branch *b, u64 id)
{
	const struct iot_path *path;
	const char *text;

	seq_putc(m, ';');
	if (!id)
		return;
	rcu_read_lock();
	path = iot_path_table_at(id);
	text = path ? name_below(b, path) : "?";
	iot_escape(m, text, strlen(text), ";");
	rcu_read_unlock();
}

/* Get the letter of an operation: as in a file's log, or - for one that moves no data of a file. */
static char letter_of(const struct iot_fs *e)
{
	switch (e->op) {
	case IOT_FS_READ:
	case IOT_FS_DIO_READ:
	case IOT_FS_BLOCK_READ:
	case IOT_FS_RECV:
		return 'R';
	case IOT_FS_WRITE:
	case IOT_FS_DIO_WRITE:
	case IOT_FS_BLOCK_WRITE:
	case IOT_FS_SEND:
		return 'W';
	case IOT_FS_BLOCK_FLUSH:
		return 'F';
	case IOT_FS_BLOCK_DISCARD:
	case IOT_FS_BLOCK_SECURE_ERASE:
		return 'D';
	case IOT_FS_BLOCK_WRITE_ZEROES:
		return 'Z';
	default:
		return '-';
	}
}

static const char *level_of(const struct iot_fs *e)
{
	if (iot_fs_is_block(e->op))
		return "BLK";
	return iot_fs_is_network(e) ? "NET" : "VFS";
}

/*
 * Get the bytes that a call of a socket has moved. What it only looks at stays there, and of a
 * datagram that is longer than asked for the result may be the length.
 */
static u64 moved_by_socket(const struct iot_fs *e)
{
	u64 result = max_t(s64, e->result, 0);

	if (e->op == IOT_FS_SEND)
		return result;
	return e->flags2 & (MSG_PEEK | MSG_ERRQUEUE) ? 0 : min(result, e->requested);
}

static u64 bytes_of(const struct iot_fs *e, char letter)
{
	if (letter == '-')
		return e->requested;
	if (e->op == IOT_FS_SEND || e->op == IOT_FS_RECV)
		return moved_by_socket(e);
	return max_t(s64, e->result, 0);
}

/** iot_wide_line() - print the line of an event, with times relative to @t0, ns */
void iot_wide_line(struct seq_file *m, const struct iot_branch *b, const struct iot_fs *e, u64 t0)
{
	const char *op = iot_names_op_name(IOT_EVENT_ID_FS, e->op);
	bool blk = iot_fs_is_block(e->op);
	char letter = letter_of(e);

	iot_text_time(m, e->time > t0 ? e->time - t0 : 0);
	seq_printf(m, ";%c;%llu;%llu;%s;", letter, blk ? e->address >> SECTOR_SHIFT : e->offset,
		   bytes_of(e, letter), level_of(e));
	iot_escape(m, e->comm, sizeof(e->comm), ";");
	seq_printf(m, ";%u;%s", e->pid, op ?: "?");
	show_path(m, b, e->path);
	show_path(m, b, e->path2);
	seq_printf(m, ";%lld\n", e->result);
}
