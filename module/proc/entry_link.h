/* SPDX-License-Identifier: GPL-2.0 */
/* Symbolic links in /proc/iotracer to the directories of targets. */
#ifndef IOT_ENTRY_LINK_H
#define IOT_ENTRY_LINK_H

struct iot_entry_link;
struct proc_dir_entry;
struct super_block;

struct iot_entry_link *iot_entry_link_make(struct proc_dir_entry *parent, const char *to,
					   const struct super_block *sb,
					   unsigned long long ino);
void iot_entry_link_remove(struct iot_entry_link *link);

int iot_entry_link_init(void);
void iot_entry_link_exit(void);

#endif /* IOT_ENTRY_LINK_H */
