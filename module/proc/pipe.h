/* SPDX-License-Identifier: GPL-2.0 */
/* The file pipe of a target or a category: events as text, as they come. */
#ifndef IOT_PIPE_H
#define IOT_PIPE_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/types.h>

#define IOT_PIPE_BYTES	(64 * 1024)	/* of text that one open pipe holds at most */

struct iot_pipe;

/**
 * struct iot_pipe_ops - where its events come from
 * @fill:	put the next lines into @text, as long as there is room and less than
 *		@wanted bytes are there; no other pipe shows them again. May sleep.
 *		Return: 0, also if there is nothing new, or an error: nothing was taken
 * @has_news:	is there something that no pipe has shown? May be wrong about an event
 *		that was lost
 * @is_gone:	nothing will come any more
 */
struct iot_pipe_ops {
	int (*fill)(struct iot_pipe *p, struct seq_file *text, size_t wanted);
	bool (*has_news)(struct iot_pipe *p);
	bool (*is_gone)(struct iot_pipe *p);
};

/**
 * struct iot_pipe - an open file
 * @ops:	see above
 * @lock:	one read at a time puts text in and takes it out; not held by one that waits
 * @text:	lines that were taken and not read: from @text.from up to @text.count. Of the
 *		seq_file only its buffer is used, by what prints into one
 */
struct iot_pipe {
	const struct iot_pipe_ops *ops;
	struct mutex lock;	/* of text */
	struct seq_file text;
};

int iot_pipe_init(struct iot_pipe *p, const struct iot_pipe_ops *ops);
void iot_pipe_destroy(struct iot_pipe *p);
bool iot_pipe_fits(struct seq_file *text, size_t mark);
ssize_t iot_pipe_read(struct file *file, char __user *buf, size_t count, loff_t *ppos);
__poll_t iot_pipe_poll(struct file *file, struct poll_table_struct *wait);

#endif /* IOT_PIPE_H */
