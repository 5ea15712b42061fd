// SPDX-License-Identifier: GPL-2.0
/* The parts that compat/probe.sh found not to compile with the headers of this kernel, and why. */
#include <linux/seq_file.h>
#include <linux/string.h>
#include "compat/config.h"
#include "core/escape.h"
#include "core/param.h"
#include "proc/left_out.h"

static const struct {
	const char *part;
	const char *why;
} parts[] = {
	IOT_LEFT_OUT
	{ NULL }
};

/** iot_left_out_report() - log the parts that are left out, at load */
void iot_left_out_report(void)
{
	size_t i;

	for (i = 0; parts[i].part; i++)
		pr_warn("%s is left out, as it does not compile for this kernel: %s\n",
			parts[i].part, parts[i].why);
}

/** iot_left_out_why() - find the reason why a part is left out, or NULL */
const char *iot_left_out_why(const char *part)
{
	size_t i;

	for (i = 0; parts[i].part; i++)
		if (!strcmp(parts[i].part, part))
			return parts[i].why;
	return NULL;
}

/** iot_left_out_show() - print a line for each part, in the format of /proc/iotracer/hooks */
void iot_left_out_show(struct seq_file *m)
{
	size_t i;

	for (i = 0; parts[i].part; i++) {
		seq_printf(m, "- %s left_out 0 0 ", parts[i].part);
		iot_escape(m, parts[i].why, strlen(parts[i].why), " ");
		seq_printf(m, " %d\n", -EOPNOTSUPP);
	}
}
