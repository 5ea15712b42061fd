/* SPDX-License-Identifier: GPL-2.0 */
/* Which functions are hooked for the reads and writes of category fs. */
#ifndef IOT_RW_HOOKS_H
#define IOT_RW_HOOKS_H

#include <linux/types.h>

struct file;
struct inode;

int iot_rw_start(void);
void iot_rw_stop(void);
int iot_rw_track(void);
void iot_rw_untrack(void);
int iot_rw_refresh(void);
bool iot_rw_is_new(const struct inode *inode);
bool iot_rw_is_new_file(const struct file *file);
void iot_rw_see(const struct file *file);
void iot_rw_see_inode(const struct inode *inode);
unsigned long iot_rw_missed(void);

#endif /* IOT_RW_HOOKS_H */
