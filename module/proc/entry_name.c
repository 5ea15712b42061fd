// SPDX-License-Identifier: GPL-2.0
/* The names in /proc/iotracer that targets and their files have. */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/string.h>
#include "proc/entry_name.h"

/* Grows and shrinks with its contents, and has a secret hash. */
static struct rhashtable by_name;

static const struct rhashtable_params name_params = {
	.key_len = IOT_NAME_LEN,
	.key_offset = offsetof(struct iot_entry_name, text),
	.head_offset = offsetof(struct iot_entry_name, node),
	.automatic_shrinking = true,
};

/** iot_entry_name_of_file() - fill in a name: <s_id>_<inode> */
void iot_entry_name_of_file(struct iot_entry_name *name, const struct super_block *sb,
			    unsigned long long ino)
{
	memset(name->text, 0, sizeof(name->text));
	snprintf(name->text, sizeof(name->text) - 8, "%s_%llu", sb->s_id, ino);
	strreplace(name->text, '/', '!');
}

/** iot_entry_name_take() - take a name. Return: 0, -EEXIST if it is taken, or -ENOMEM */
int iot_entry_name_take(struct iot_entry_name *name)
{
	return rhashtable_lookup_insert_fast(&by_name, &name->node, name_params);
}

/**
 * iot_entry_name_take_free() - take a name or, if others have it, the name with _2, _3 ... behind
 *
 * Return: 0 or -ENOMEM.
 */
int iot_entry_name_take_free(struct iot_entry_name *name)
{
	size_t len = strlen(name->text);
	unsigned int n = 2;
	int err;

	while ((err = iot_entry_name_take(name)) == -EEXIST) {
		memset(name->text + len, 0, IOT_NAME_LEN - len);
		snprintf(name->text + len, IOT_NAME_LEN - len, "_%u", n++);
	}
	return err;
}

/** iot_entry_name_put() - let others take a name. Context: any that may sleep */
void iot_entry_name_put(struct iot_entry_name *name)
{
	rhashtable_remove_fast(&by_name, &name->node, name_params);
}

/** iot_entry_name_is_taken() - check for a name, IOT_NAME_LEN bytes */
bool iot_entry_name_is_taken(const char *text)
{
	return rhashtable_lookup_fast(&by_name, text, name_params);
}

/** iot_entry_names_init() - set up the index at load. Return: 0 or -ENOMEM */
int iot_entry_names_init(void)
{
	return rhashtable_init(&by_name, &name_params);
}

/** iot_entry_names_exit() - free the index, when no name is left */
void iot_entry_names_exit(void)
{
	rhashtable_destroy(&by_name);
}
