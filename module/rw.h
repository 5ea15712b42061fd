/* SPDX-License-Identifier: GPL-2.0 */
/*
 * READ, WRITE and DIO_* of category fs. They are seen where the reads and writes
 * of targets are (probe_vfs.c), one hook for both; this is what they add there.
 */
#ifndef IOT_RW_H
#define IOT_RW_H

#include <linux/fs.h>
#include "fs.h"
#include "paths.h"

/**
 * struct iot_rw - what an event keeps from the begin of a call to its end
 * @wanted:	there is an event
 * @kind:	IOT_KIND_*
 * @file:	path and identity
 */
struct iot_rw {
	bool wanted;
	u16 kind;
	struct iot_paths_file file;
};

bool iot_rw_is_wanted(const struct file *file, bool write, bool direct);
void iot_rw_begin(struct iot_rw *rw, const struct file *file, bool may_sleep);
void iot_rw_end(const struct iot_rw *rw, u64 start, u64 offset, u64 requested,
		s64 result, bool write, u16 flags);

/* probe_rw.c: which functions are hooked */
int iot_rw_start(void);
void iot_rw_stop(void);
void iot_rw_see(const struct file *file);
unsigned long iot_rw_missed(void);

#endif /* IOT_RW_H */
