// SPDX-License-Identifier: GPL-2.0
/*
 * What stands for the parts that do not compile with the headers of this kernel: a category
 * that cannot be started and says why; for a part of category fs, nothing that is hooked.
 */
#include <linux/seq_file.h>
#include <linux/string.h>
#include "block.h"
#include "cache.h"
#include "category.h"
#include "compat/config.h"
#include "escape.h"
#include "fault.h"
#include "fs.h"
#include "left_out.h"
#include "param.h"
#include "probe.h"
#include "schema.h"
#include "uring.h"

static const struct {
	const char *part;
	const char *why;
} parts[] = {
#ifdef IOT_WITHOUT_FS_CALLS
	{ "fs_calls", IOT_WITHOUT_FS_CALLS },
#endif
#ifdef IOT_WITHOUT_FS_REJECTED
	{ "fs_rejected", IOT_WITHOUT_FS_REJECTED },
#endif
#ifdef IOT_WITHOUT_FAULT
	{ "fault", IOT_WITHOUT_FAULT },
#endif
#ifdef IOT_WITHOUT_BLOCK
	{ "block", IOT_WITHOUT_BLOCK },
#endif
#ifdef IOT_WITHOUT_CACHE
	{ "cache", IOT_WITHOUT_CACHE },
#endif
#ifdef IOT_WITHOUT_URING
	{ "uring", IOT_WITHOUT_URING },
#endif
};

/** iot_left_out_tell() - into the kernel's log, at load */
void iot_left_out_tell(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		pr_warn("%s is left out, as it does not compile for this kernel: %s\n",
			parts[i].part, parts[i].why);
}

/** iot_left_out_show() - a line for each, as in iot_hook_show() */
void iot_left_out_show(struct seq_file *m)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		seq_printf(m, "- %s left_out 0 0 ", parts[i].part);
		iot_escape(m, parts[i].why, strlen(parts[i].why), " ");
		seq_printf(m, " %d\n", -EOPNOTSUPP);
	}
}

#ifdef IOT_WITHOUT_FS_CALLS
int iot_probe_fs_start(void)
{
	return 0;
}

void iot_probe_fs_stop(void)
{
}

unsigned long iot_probe_fs_missed(void)
{
	return 0;
}

int iot_name_init(void)
{
	return 0;
}

void iot_name_exit(void)
{
}
#endif

#define LEFT_OUT(category, event, why)			\
	struct iot_category iot_##category = {		\
		.name = #category,			\
		.event_id = IOT_EVENT_ID_##event,	\
		.left_out = (why),			\
	}

#ifdef IOT_WITHOUT_FAULT
LEFT_OUT(fault, fault, IOT_WITHOUT_FAULT);
#endif
#ifdef IOT_WITHOUT_BLOCK
LEFT_OUT(block, request, IOT_WITHOUT_BLOCK);
#endif
#ifdef IOT_WITHOUT_CACHE
LEFT_OUT(cache, cache, IOT_WITHOUT_CACHE);
#endif
#ifdef IOT_WITHOUT_URING
LEFT_OUT(uring, uring, IOT_WITHOUT_URING);
#endif
