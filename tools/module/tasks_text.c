// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "module/tasks_text.h"

bool tasks_is_text(const char *text)
{
	static const char *const keys[] = { "pid=", "tree=", "comm=", "cgroup=" };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strncmp(text, keys[i], strlen(keys[i])))
			return true;
	return false;
}
