/* SPDX-License-Identifier: GPL-2.0 */
/* Events below a directory, as text. */
#ifndef IOT_WIDE_LINE_H
#define IOT_WIDE_LINE_H

#include <linux/types.h>

struct iot_branch;
struct iot_fs;
struct seq_file;

void iot_wide_line(struct seq_file *m, const struct iot_branch *b, const struct iot_fs *e, u64 t0);

#endif /* IOT_WIDE_LINE_H */
