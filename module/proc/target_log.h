/* SPDX-License-Identifier: GPL-2.0 */
/* The log and the stream of a target. */
#ifndef IOT_TARGET_LOG_H
#define IOT_TARGET_LOG_H

#include <linux/types.h>

struct iot_io;
struct iot_procfile_ops;
struct seq_file;

void iot_target_line(struct seq_file *m, const struct iot_io *r, u64 t0);

extern const struct iot_procfile_ops iot_target_log_ops;
extern const struct iot_procfile_ops iot_target_stream_ops;

#endif /* IOT_TARGET_LOG_H */
