/* SPDX-License-Identifier: GPL-2.0 */
/* Paths as users write and read them. */
#ifndef IOT_PATH_H
#define IOT_PATH_H

#include <linux/path.h>

struct inode;
struct seq_file;

/**
 * struct iot_named - what a path in a command means, looked up once
 * @text:	the path as it was written, unescaped
 * @inode:	what it leads to, NULL if to nothing
 * @path:	the same, if @inode
 * @absolute:	the path made absolute as the current task sees it, or an error
 * @buf:	that @absolute is in
 */
struct iot_named {
	const char *text;
	struct inode *inode;
	struct path path;
	const char *absolute;
	char *buf;
};

int iot_named_get(struct iot_named *n, const char *text);
void iot_named_put(struct iot_named *n);

int iot_path_unescape(char *text);
void iot_path_escape(struct seq_file *m, const char *text);
int iot_path_lookup(const char *text, struct path *path);
char *iot_path_text(const struct path *path, char *buf);

#endif /* IOT_PATH_H */
