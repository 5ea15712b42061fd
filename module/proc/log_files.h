/* SPDX-License-Identifier: GPL-2.0 */
/* The files of a log: log, pipe and stream. The owner of their directory is the log. */
#ifndef IOT_LOG_FILES_H
#define IOT_LOG_FILES_H

#include <linux/container_of.h>
#include <linux/types.h>
#include "record/category.h"
#include "record/log.h"

struct iot_procfile_ops;
struct seq_file;

/**
 * struct iot_log_shown - how a log is shown
 * @of_category: it is the log of a category or scope, and part of its struct iot_category
 * @sorted:	the file log is a copy of all records at one moment, sorted by the time at which
 *		events began; without it, the records are merged by the time at which they ended
 * @complete:	fills in a copy of a record what its writer has left out; NULL if that is nothing
 * @line:	prints a record, with times relative to @t0, ns
 */
struct iot_log_shown {
	bool of_category;
	bool sorted;
	void (*complete)(const struct iot_log *log, void *record);
	void (*line)(struct seq_file *m, struct iot_log *log, const void *record, u64 t0);
};

/** iot_log_category() - get the category of a log, or NULL if it is a file's or device's */
static inline struct iot_category *iot_log_category(struct iot_log *log)
{
	return log->shown->of_category ? container_of(log, struct iot_category, log) : NULL;
}

extern const struct iot_procfile_ops iot_log_text_ops;		/* log_text.c */
extern const struct iot_procfile_ops iot_log_pipe_ops;		/* log_pipe.c */
extern const struct iot_procfile_ops iot_log_stream_ops;	/* log_stream.c */

#endif /* IOT_LOG_FILES_H */
