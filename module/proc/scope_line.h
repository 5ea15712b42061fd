/* SPDX-License-Identifier: GPL-2.0 */
/* Events below a directory, as text. */
#ifndef IOT_SCOPE_LINE_H
#define IOT_SCOPE_LINE_H

#include <linux/types.h>

struct iot_scope;
struct iot_fs;
struct seq_file;

void iot_scope_line(struct seq_file *m, const struct iot_scope *s, const struct iot_fs *e, u64 t0);

#endif /* IOT_SCOPE_LINE_H */
