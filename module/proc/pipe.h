/* SPDX-License-Identifier: GPL-2.0 */
/* The file pipe of a target or a category: events as text, as they happen. */
#ifndef IOT_PIPE_H
#define IOT_PIPE_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/types.h>

#define IOT_PIPE_BYTES	(64 * 1024)	/* text that one open pipe holds at most */

struct iot_pipe;
struct iot_visit;

/**
 * struct iot_pipe_ops - the source of a pipe's events
 * @fill:	put the next lines into @text, as long as there is room and @text has fewer
 *		than @wanted bytes. No other pipe shows these lines again. May sleep.
 *		Return: 0, even if nothing is new; or an error, and no line was taken
 * @has_news:	check for an event that no pipe has shown. May also return true for a lost event
 * @is_gone:	check whether no more events will come
 */
struct iot_pipe_ops {
	int (*fill)(struct iot_pipe *p, struct seq_file *text, size_t wanted);
	bool (*has_news)(struct iot_pipe *p);
	bool (*is_gone)(struct iot_pipe *p);
};

/**
 * struct iot_pipe - an open file
 * @ops:	see above
 * @lock:	serialises reads while they fill and empty @text; not held by a read that waits
 * @text:	lines that were taken and not read, from @text.from up to @text.count. Only the
 *		buffer of the seq_file is used, by functions that print into a seq_file
 */
struct iot_pipe {
	const struct iot_pipe_ops *ops;
	struct mutex lock;	/* protects text */
	struct seq_file text;
};

int iot_pipe_init(struct iot_pipe *p, const struct iot_pipe_ops *ops);
void iot_pipe_destroy(struct iot_pipe *p);
bool iot_pipe_fits(struct seq_file *text, size_t mark);
ssize_t iot_pipe_read(struct file *file, char __user *buf, size_t count,
		      struct iot_visit *visit);
__poll_t iot_pipe_poll(struct file *file);

#endif /* IOT_PIPE_H */
