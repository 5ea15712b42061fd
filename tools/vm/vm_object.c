// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "vm/vm_object.h"

bool vm_is_called(const json_t *machine, const char *name)
{
	char *shown = text_show(name, strlen(name));
	const char *own = json_string_value(json_object_get(machine, "name"));
	bool is = own && !strcmp(own, shown);

	free(shown);
	return is;
}

bool vm_has_pid(const json_t *machine, const char *name)
{
	char *pid = xasprintf("%lld", (long long)json_integer_value(json_object_get(machine, "pid")));
	bool has = !strcmp(pid, name);

	free(pid);
	return has;
}

bool vm_is(const json_t *machine, const char *name)
{
	return vm_is_called(machine, name) || vm_has_pid(machine, name);
}

pid_t vm_pid(const json_t *machine)
{
	return json_integer_value(json_object_get(machine, "pid"));
}
