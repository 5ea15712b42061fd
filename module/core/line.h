/* SPDX-License-Identifier: GPL-2.0 */
/* What a line of a log says of a record: its letter, its place, its bytes and its level. */
#ifndef IOT_LINE_H
#define IOT_LINE_H

#include "uapi/iotracer.h"

/**
 * struct iot_line - the fields of a line that are not as they are in the record
 * @level:	VFS, BLK or NET
 * @letter:	of the operation (access.def, ops.def)
 * @address:	VFS, NET: offset in the file, bytes; BLK: 512-byte sector of the device
 * @bytes:	moved; of what moves none, bytes asked for
 */
struct iot_line {
	const char *level;
	char letter;
	__u64 address;
	__u64 bytes;
};

struct iot_line iot_line_of_io(const struct iot_io *r);
struct iot_line iot_line_of_fs(const struct iot_fs *e);

#endif /* IOT_LINE_H */
