/* SPDX-License-Identifier: GPL-2.0 */
/* The schema as text: /proc/iotracer/format. */
#ifndef IOT_FORMAT_H
#define IOT_FORMAT_H

struct seq_file;

void iot_format_show(struct seq_file *m);

#endif /* IOT_FORMAT_H */
