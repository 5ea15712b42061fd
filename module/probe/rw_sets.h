/* SPDX-License-Identifier: GPL-2.0 */
/* The functions that are hooked for the reads and writes of category fs. */
#ifndef IOT_RW_SETS_H
#define IOT_RW_SETS_H

#include <linux/types.h>

struct file_operations;

bool iot_rw_sets_know(const struct file_operations *fop);
bool iot_rw_sets_have_room(void);
bool iot_rw_is_fleeting(const struct file_operations *fop);
bool iot_rw_same_functions(const struct file_operations *a, const struct file_operations *b);
bool iot_rw_has_functions(const struct file_operations *fop);
void iot_rw_copy_functions(struct file_operations *to, const struct file_operations *from);

int iot_rw_sets_get(void);
bool iot_rw_sets_put(void);
int iot_rw_sets_add(const struct file_operations *fop, const struct file_operations *functions,
		    bool bounded);
void iot_rw_sets_sync(bool syncs);

void iot_rw_sets_miss(void);
unsigned long iot_rw_sets_missed(void);

#endif /* IOT_RW_SETS_H */
