/* SPDX-License-Identifier: GPL-2.0 */
/* Paths as users write and read them. */
#ifndef IOT_PATH_H
#define IOT_PATH_H

#include <linux/path.h>

struct seq_file;

int iot_path_unescape(char *text);
void iot_path_escape(struct seq_file *m, const char *text);
int iot_path_lookup(const char *text, struct path *path);
char *iot_path_text(const struct path *path, char *buf);
char *iot_path_vanished(const char *text, char *buf);

#endif /* IOT_PATH_H */
