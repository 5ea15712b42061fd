/* SPDX-License-Identifier: GPL-2.0 */
/* Files that QEMU uses and that were not seen as images of its VM: which of them may be images. */
#ifndef TOOL_VM_LOG_STRANGERS_H
#define TOOL_VM_LOG_STRANGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "uapi/iotracer.h"

/* Start from a zeroed struct. What was found out of a file is kept until log_strangers_free(). */
struct log_strangers {
	struct log_stranger {
		__u32 device;
		__u64 inode, path;
		bool wanted;
	} *at;
	size_t nr;
};

/* Whether the file of the event may be an image. @path: escaped; NULL: not known. */
bool log_strangers_want(struct log_strangers *s, const struct iot_fs *fs, const char *path);
void log_strangers_free(struct log_strangers *s);

#endif /* TOOL_VM_LOG_STRANGERS_H */
