/* SPDX-License-Identifier: GPL-2.0 */
/* Files in the directory of a category that have source files of their own. */
#ifndef IOT_CATEGORY_FILES_H
#define IOT_CATEGORY_FILES_H

#include <linux/types.h>

struct iot_category;
struct iot_procfile_ops;
struct seq_file;

extern const struct iot_procfile_ops iot_category_log_ops;	/* category_log.c */
extern const struct iot_procfile_ops iot_category_stream_ops;	/* category_stream.c */
extern const struct iot_procfile_ops iot_category_pipe_ops;	/* category_pipe.c */
extern const struct iot_procfile_ops iot_category_waiting_ops;	/* category_waiting.c */

int iot_category_error_show(struct seq_file *m, void *v);
void iot_category_line(struct seq_file *m, struct iot_category *c, const void *record, u64 t0);

#endif /* IOT_CATEGORY_FILES_H */
