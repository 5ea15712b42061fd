// SPDX-License-Identifier: GPL-2.0
/* Category fs: IO Tracer's columns, in its order, made from our records. */
#include <string.h>
#include <sys/socket.h>

#include "base/cli.h"
#include "base/put.h"
#include "core/names.h"
#include "trace/category.h"
#include "trace/paths.h"

/* What the column size shows. */
enum size_of { SIZE_NONE, SIZE_MOVED, SIZE_RECEIVED, SIZE_ASKED };

static enum size_of size_of(unsigned int op)
{
	switch (op) {
	case IOT_FS_READ: case IOT_FS_WRITE:
	case IOT_FS_DIO_READ: case IOT_FS_DIO_WRITE:
	case IOT_FS_SENDFILE: case IOT_FS_SPLICE: case IOT_FS_TEE: case IOT_FS_VMSPLICE:
	case IOT_FS_COPY_FILE_RANGE: case IOT_FS_DEDUPE: case IOT_FS_READLINK:
	case IOT_FS_GETXATTR: case IOT_FS_LISTXATTR:
	case IOT_FS_SEND:
		return SIZE_MOVED;
	case IOT_FS_RECV:
		return SIZE_RECEIVED;
	case IOT_FS_CHOWN:
		return SIZE_NONE;
	default:
		return SIZE_ASKED;
	}
}

/* What was only looked at stays; of a datagram that was cut off the result may be its length. */
static __u64 received(const struct iot_fs *fs)
{
	if (fs->result <= 0 || fs->flags2 & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	return (__u64)fs->result < fs->requested ? (__u64)fs->result : fs->requested;
}

static char *put_size(struct row_printer *p, const struct row_column *c,
		      char *out, const void *record)
{
	const struct iot_fs *fs = record;

	(void)p;
	(void)c;
	switch (size_of(fs->op)) {
	case SIZE_MOVED:
		return put_u64(out, fs->result > 0 ? fs->result : 0);
	case SIZE_RECEIVED:
		return put_u64(out, received(fs));
	case SIZE_ASKED:
		return put_s64(out, fs->requested);
	default:
		return put_u64(out, 0);
	}
}

static const struct name *name_of(const struct row_printer *p, __u64 id)
{
	static const struct name none = { 0, true, "" };
	static const struct name unknown = { 1, true, "?" };
	const struct name *name = id ? names_find(p->paths, id) : &none;

	return name ? name : &unknown;
}

/* Two paths are shown as "old -> new", as in IO Tracer. */
static char *put_filename(struct row_printer *p, const struct row_column *c,
			  char *out, const void *record)
{
	static char both[8 * PATHS_BYTES + 8];
	const struct iot_fs *fs = record;
	const struct name *a = name_of(p, fs->path);
	const struct name *b;
	char *end;

	(void)c;
	if (fs->op != IOT_FS_RENAME && fs->op != IOT_FS_LINK)
		return row_text(p, out, a->text, a->length, a->plain);
	b = name_of(p, fs->path2);
	end = put_bytes(both, a->text, a->length);
	end = put_bytes(end, " -> ", 4);
	end = put_bytes(end, b->text, b->length);
	return row_text(p, out, both, end - both, a->plain && b->plain);
}

/*
 * IO Tracer has one name where we have several. What it does not trace at all keeps our name: a reader that
 * looks for its names passes over it.
 */
static char *put_operation(struct row_printer *p, const struct row_column *c, char *out,
			   const void *record)
{
	static const char *const names[] = {
		[IOT_FS_CREATE] = "OPEN", [IOT_FS_FDATASYNC] = "FSYNC", [IOT_FS_CHMOD] = "SETATTR",
		[IOT_FS_CHOWN] = "SETATTR", [IOT_FS_UTIMENS] = "SETATTR",
		[IOT_FS_SETFLAGS] = "SETATTR", [IOT_FS_SYNCFS] = "SYNC",
	};
	const struct iot_fs *fs = record;
	const char *name = fs->op < sizeof(names) / sizeof(names[0]) ? names[fs->op] : NULL;
	char number[24];

	(void)c;
	if (!name)
		name = iot_names_op_name(IOT_EVENT_ID_FS, fs->op);
	if (!name)
		return row_text(p, out, number, put_u64(number, fs->op) - number, true);
	return row_text(p, out, name, strlen(name), true);
}

static bool is_mapping(const struct iot_fs *fs)
{
	return fs->op == IOT_FS_MMAP || fs->op == IOT_FS_MUNMAP;
}

static char *put_mmap_prot(struct row_printer *p, const struct row_column *c,
			   char *out, const void *record)
{
	const struct iot_fs *fs = record;

	(void)c;
	if (!is_mapping(fs))
		return row_text(p, out, "", 0, true);
	return row_group(p, out, iot_names_op(IOT_EVENT_ID_FS, fs->op)->flags2, fs->flags2);
}

static char *put_mmap_flags(struct row_printer *p, const struct row_column *c,
			    char *out, const void *record)
{
	const struct iot_fs *fs = record;

	(void)c;
	if (!is_mapping(fs))
		return row_text(p, out, "", 0, true);
	return row_opflags(p, out, iot_names_op(IOT_EVENT_ID_FS, fs->op)->flags, fs->flags);
}

static const struct row_column columns[] = {
	{ .name = "timestamp", .field = "time", .put = row_datetime },
	{ .name = "operation", .put = put_operation },
	{ .name = "pid", .field = "pid" },
	{ .name = "command", .field = "comm" },
	{ .name = "filename", .field = "path", .put = put_filename },
	{ .name = "size", .put = put_size },
	{ .name = "inode", .field = "inode" },
	{ .name = "flags", .field = "flags" },
	{ .name = "offset", .field = "offset" },
	{ .name = "tid", .field = "tid" },
	{ .name = "mmap_prot", .put = put_mmap_prot },
	{ .name = "mmap_flags", .put = put_mmap_flags },
	{ .name = "address", .field = "address" },
	{ .name = "cmdline", .put = row_note },
	{ .name = "fd", .field = "fd" },
	{ .name = "latency_ns", .field = "latency" },
};

const struct category category_fs = {
	.name = "fs",
	.io_tracer = "fs",
	.event_id = IOT_EVENT_ID_FS,
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.command_op = IOT_FS_PROCESS_EXEC,
};
