/* SPDX-License-Identifier: GPL-2.0 */
/* Events as text, made from their descriptors. */
#ifndef IOT_TEXT_H
#define IOT_TEXT_H

#include <linux/types.h>

struct iot_line;
struct seq_file;

void iot_text_time(struct seq_file *m, u64 ns);
void iot_text_line(struct seq_file *m, const struct iot_line *line, u64 since, const char *comm,
		   u32 pid);
void iot_text_event(struct seq_file *m, unsigned int event, const void *record, u64 t0);
void iot_text_call(struct seq_file *m, unsigned int event, const void *record);

int iot_text_init(void);
void iot_text_exit(void);

#endif /* IOT_TEXT_H */
