// SPDX-License-Identifier: GPL-2.0
/*
 * What a line of a log says of a record. This file is compiled into the module, for log and pipe of
 * targets, and, unchanged, into the tool, for the logs that it makes of their streams.
 */
#ifdef __KERNEL__
#include <linux/socket.h>
#else
#include <sys/socket.h>
#endif
#include "core/line.h"
#include "core/names.h"

#define SECTOR_BYTES	512

/** iot_line_of_io() - a record of a file or a block device. No bytes are moved by an error. */
struct iot_line iot_line_of_io(const struct iot_io *r)
{
	const struct iot_access_name *access = iot_names_access(r->op);
	bool blk = r->level == IOT_LEVEL_BLK;
	struct iot_line line = {
		.level = blk ? "BLK" : "VFS",
		.letter = access ? access->letter : '?',
		.address = blk ? r->sector : r->offset,
	};

	if (r->result >= 0)
		line.bytes = r->op <= IOT_OP_WRITE ? (__u64)r->result : r->requested;
	return line;
}

/* Bytes that a call has moved. */
static __u64 moved(const struct iot_fs *e)
{
	__u64 result = e->result > 0 ? e->result : 0;

	if (e->op != IOT_FS_RECV)
		return result;
	/* What is only looked at stays where it is. */
	if (e->flags2 & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	/* Of a datagram that is longer than asked for the result may be the length. */
	return result < e->requested ? result : e->requested;
}

/** iot_line_of_fs() - a record of a directory or of processes */
struct iot_line iot_line_of_fs(const struct iot_fs *e)
{
	bool blk = iot_fs_is_block(e->op);
	struct iot_line line = {
		.level = blk ? "BLK" : iot_fs_is_network(e) ? "NET" : "VFS",
		.letter = iot_names_letter(e->op),
		.address = blk ? e->address / SECTOR_BYTES : e->offset,
	};

	line.bytes = line.letter == '-' ? e->requested : moved(e);
	return line;
}
