/* SPDX-License-Identifier: GPL-2.0 */
/* How a target follows the paths that it is listed by. */
#ifndef IOT_FOLLOW_H
#define IOT_FOLLOW_H

#include <linux/path.h>
#include <linux/types.h>

struct iot_target_path;
struct iot_target;
struct iot_target_file;

struct iot_target_path *iot_follow_prepare(const char *text, const struct path *path, bool follows);
void iot_follow_discard(struct iot_target_path *tp);
int iot_follow_list(struct iot_target_path *tp, struct iot_target *t, struct iot_target_file *f);
void iot_follow_renew(struct iot_target_path *tp, struct inode *inode);
void iot_follow_drop(struct iot_target_path *tp);
void iot_follow_released(void);

int iot_follow_init(void);
void iot_follow_exit(void);

#endif /* IOT_FOLLOW_H */
