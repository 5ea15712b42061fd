/* SPDX-License-Identifier: GPL-2.0 */
/* The names in /proc/iotracer that targets and their files have. */
#ifndef IOT_ENTRY_NAME_H
#define IOT_ENTRY_NAME_H

#include <linux/rhashtable-types.h>
#include <linux/types.h>

struct super_block;

#define IOT_NAME_LEN	64	/* of a directory in /proc/iotracer */

/**
 * struct iot_entry_name - a name of an entry of /proc/iotracer
 * @node:	in the index of all names that are taken
 * @text:	padded with zeroes
 */
struct iot_entry_name {
	struct rhash_head node;
	char text[IOT_NAME_LEN];
};

void iot_entry_name_of_file(struct iot_entry_name *name, const struct super_block *sb,
			    unsigned long long ino);
bool iot_entry_name_is_taken(const char *text);
int iot_entry_name_take(struct iot_entry_name *name);
int iot_entry_name_take_free(struct iot_entry_name *name);
void iot_entry_name_put(struct iot_entry_name *name);

int iot_entry_names_init(void);
void iot_entry_names_exit(void);

#endif /* IOT_ENTRY_NAME_H */
