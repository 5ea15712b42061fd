/* SPDX-License-Identifier: GPL-2.0 */
/* Files in the directory of a category that have source files of their own. */
#ifndef IOT_CATEGORY_FILES_H
#define IOT_CATEGORY_FILES_H

struct iot_procfile_ops;
struct seq_file;

extern const struct iot_procfile_ops iot_category_waiting_ops;	/* category_waiting.c */

int iot_category_error_show(struct seq_file *m, void *v);

#endif /* IOT_CATEGORY_FILES_H */
