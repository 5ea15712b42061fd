// SPDX-License-Identifier: GPL-2.0
/* One of the machines of vm_list(), and its files. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "image.h"
#include "text.h"
#include "vm.h"
#include "vm_seen.h"

static bool is_called(const json_t *machine, const char *name)
{
	char *shown = text_show(name, strlen(name));
	const char *own = json_string_value(json_object_get(machine, "name"));
	bool is = own && !strcmp(own, shown);

	free(shown);
	return is;
}

static bool has_pid(const json_t *machine, const char *name)
{
	char *pid = cli_printf("%lld", (long long)json_integer_value(json_object_get(machine, "pid")));
	bool has = !strcmp(pid, name);

	free(pid);
	return has;
}

bool vm_is(const json_t *machine, const char *name)
{
	return is_called(machine, name) || has_pid(machine, name);
}

json_t *vm_find(const json_t *machines, const char *name)
{
	json_t *machine, *found = NULL;
	size_t i, nr = 0;

	json_array_foreach(machines, i, machine) {
		if (is_called(machine, name)) {
			found = machine;
			nr++;
		}
	}
	if (nr > 1) {
		cli_say_of(name, "is the name of %zu machines: say the PID of one (iotracer vm list)", nr);
		return NULL;
	}
	json_array_foreach(machines, i, machine) {
		if (!found && has_pid(machine, name))
			found = machine;
	}
	if (!found)
		cli_say_of(name, "no QEMU with this name or PID runs here (iotracer vm list)");
	return found;
}

json_t *vm_named(const char *name)
{
	json_t *machines = vm_list_ask(NULL, (char **)&name, 1);
	json_t *machine = json_incref(vm_find(machines, name));

	json_decref(machines);
	return machine;
}

json_t *vm_named_or_ended(const char *name)
{
	json_t *machines = vm_list_ask(NULL, (char **)&name, 1), *machine, *found = NULL;
	bool runs = false;
	size_t i, nr = 0;

	json_array_foreach(machines, i, machine) {
		runs = runs || vm_is(machine, name);
	}
	if (!runs)
		found = vm_seen_ended(name, &nr);
	if (nr > 1) {
		cli_say_of(name, "is the name of %zu machines that have ended: say the PID of one (iotracer list)", nr);
		json_decref(found);
		found = NULL;
	} else if (!found) {
		found = json_incref(vm_find(machines, name));
	}
	json_decref(machines);
	return found;
}

pid_t vm_pid(const json_t *machine)
{
	return json_integer_value(json_object_get(machine, "pid"));
}

/*
 * The name by which the file of a layer can be opened here. QEMU may see another file there, if it
 * has a root or mounts of its own; then it is asked for by the QEMU's root.
 */
static char *name_here(const json_t *machine, const json_t *file)
{
	const char *shown = json_string_value(json_object_get(file, "file"));
	char *name = cli_strdup(shown ? shown : ""), *there;
	struct stat here, its;

	text_unescape(name);
	there = cli_printf("/proc/%d/root%s", vm_pid(machine), name);
	if (!stat(there, &its) && (stat(name, &here) || !image_is_same(&here, &its))) {
		free(name);
		return there;
	}
	free(there);
	return name;
}

/* A name for a descriptor that QEMU was given. The file is among those that are open besides. */
static bool is_descriptor(const json_t *file)
{
	const char *name = json_string_value(json_object_get(file, "file"));

	return name && !strncmp(name, "/dev/fdset/", strlen("/dev/fdset/"));
}

static void add_name(struct vm_files *files, const json_t *machine, const json_t *file,
		     const json_t *drive, const char *format)
{
	const char *name = json_string_value(drive);

	if (!file || json_is_true(json_object_get(file, "remote")) ||
	    json_is_true(json_object_get(file, "deleted")) || is_descriptor(file))
		return;
	files->names = cli_grow(files->names, files->nr + 1, sizeof(*files->names));
	files->drives = cli_grow(files->drives, files->nr + 1, sizeof(*files->drives));
	files->formats = cli_grow(files->formats, files->nr + 1, sizeof(*files->formats));
	files->formats[files->nr] = format;
	files->names[files->nr] = name_here(machine, file);
	files->drives[files->nr++] = name ? name : "";
}

static const char *format_of(const json_t *file)
{
	return json_string_value(json_object_get(file, "format"));
}

void vm_files(struct vm_files *files, const json_t *machine, bool all)
{
	const json_t *drive, *file, *name;
	size_t i, j;

	*files = (struct vm_files){ 0 };
	json_array_foreach(json_object_get(machine, "drives"), i, drive) {
		name = json_object_get(drive, "name");
		if (!all && json_is_true(json_object_get(drive, "unplugged")))
			continue;
		json_array_foreach(json_object_get(drive, "layers"), j, file) {
			add_name(files, machine, file, name, format_of(file));
			/* QEMU puts each byte where the guest has it */
			add_name(files, machine, json_object_get(file, "data_file"), name, "raw");
		}
	}
	json_array_foreach(json_object_get(machine, "open_files"), i, file) {
		add_name(files, machine, file, json_object_get(file, "above"),
			 format_of(file));
	}
}

void vm_files_free(struct vm_files *files)
{
	while (files->nr)
		free(files->names[--files->nr]);
	free(files->names);
	free(files->drives);
	free(files->formats);
}
