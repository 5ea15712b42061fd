/* SPDX-License-Identifier: GPL-2.0 */
/* Prints names that processes choose so that they are safe to show on a terminal. */
#ifndef IOT_ESCAPE_H
#define IOT_ESCAPE_H

#include <linux/types.h>

struct seq_file;

void iot_escape(struct seq_file *m, const char *text, size_t size, const char *also);

#endif /* IOT_ESCAPE_H */
