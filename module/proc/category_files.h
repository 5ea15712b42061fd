/* SPDX-License-Identifier: GPL-2.0 */
/* Files in the directory of a category that have source files of their own. */
#ifndef IOT_CATEGORY_FILES_H
#define IOT_CATEGORY_FILES_H

struct proc_ops;

extern const struct proc_ops iot_category_log_ops;	/* category_log.c */
extern const struct proc_ops iot_category_stream_ops;	/* category_stream.c */
extern const struct proc_ops iot_category_pipe_ops;	/* category_pipe.c */

#endif /* IOT_CATEGORY_FILES_H */
