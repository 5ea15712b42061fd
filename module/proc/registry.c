// SPDX-License-Identifier: GPL-2.0
/* The categories, bound to their probes, and their directories in /proc/iotracer. */
#include <linux/errno.h>
#include "record/scope.h"
#include "record/categories.h"
#include "probe/scope_bio.h"
#include "probe/categories.h"
#include "proc/category_proc.h"
#include "proc/left_out.h"
#include "proc/registry.h"

/* The probes of each category, in the order of iot_categories[]. */
static const struct iot_category_ops * const probes[] = {
#define IOT_CATEGORY(name, ...)	&iot_##name##_ops,
#include "uapi/categories.def"
};

/** iot_registry_init() - bind the probes to the categories. Return: 0 or -ENOMEM */
int iot_registry_init(void)
{
	size_t i;

	for (i = 0; i < iot_categories_nr; i++) {
		struct iot_category *c = iot_categories[i];

		c->probes = probes[i];
		if (!c->probes)
			c->left_out = iot_left_out_why(c->of.name);
	}
	iot_scopes_bind(&iot_scope_dir_ops, &iot_scope_tasks_ops);
	return iot_categories_init();
}

/** iot_registry_mkdir() - make the directories; after an error, removing @root removes them */
int iot_registry_mkdir(struct iot_procdir *root)
{
	size_t i;
	int err;

	for (i = 0; i < iot_categories_nr; i++) {
		err = iot_category_mkdir(iot_categories[i], root);
		if (err)
			return err;
	}
	return 0;
}
