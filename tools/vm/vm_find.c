// SPDX-License-Identifier: GPL-2.0
/* Finds one of the VMs of vm_list(), and its files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "machine/system.h"
#include "vm/vm.h"
#include "vm/vm_find.h"
#include "vm/vm_object.h"
#include "vm/vm_seen.h"

json_t *vm_find(const json_t *machines, const char *name)
{
	json_t *machine, *found = NULL;
	size_t i, nr = 0;

	json_array_foreach(machines, i, machine) {
		if (vm_is_called(machine, name)) {
			found = machine;
			nr++;
		}
	}
	if (nr > 1) {
		cli_say_of(name, "is the name of %zu VMs: give the PID of one (iotracer vm list)", nr);
		return NULL;
	}
	json_array_foreach(machines, i, machine) {
		if (!found && vm_has_pid(machine, name))
			found = machine;
	}
	if (!found)
		cli_say_of(name, "no VM with this name or PID runs here (iotracer vm list)");
	return found;
}

/* The images of the drives may have changed since QEMU was started. */
static void warn(const char *name, const json_t *machine)
{
	const char *asked = json_string_value(json_object_get(machine, "asked"));

	if (asked && !strcmp(asked, "no answer"))
		cli_say_of(name, "its monitor did not answer: its drives are taken from its command line and its open files");
}

json_t *vm_named(const char *name)
{
	json_t *machines = vm_list_ask(NULL, (char **)&name, 1);
	json_t *machine = json_incref(vm_find(machines, name));

	warn(name, machine);
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
		cli_say_of(name, "is the name of %zu VMs that have ended: give the PID of one (iotracer list)", nr);
		json_decref(found);
		found = NULL;
	} else if (!found) {
		found = json_incref(vm_find(machines, name));
	}
	warn(name, found);
	json_decref(machines);
	return found;
}

/* Whether the path leads to the file that vm_list() found. */
static bool is_found(const char *path, const json_t *file)
{
	const char *filesystem = json_string_value(json_object_get(file, "filesystem"));
	unsigned int major_nr, minor_nr;
	struct stat st;

	if (!filesystem || sscanf(filesystem, "%u:%u", &major_nr, &minor_nr) != 2)
		return false;
	return !stat(path, &st) && st.st_ino == (ino_t)json_integer_value(json_object_get(file, "inode")) &&
	       st.st_dev == makedev(major_nr, minor_nr);
}

/*
 * A name by which we can open the file of a layer. If QEMU has its own root directory or mounts,
 * the name may lead us to another file; then it is looked up below QEMU's root directory. If it
 * does not lead to the file there either, because the file was deleted, QEMU's descriptor is used.
 */
static char *name_here(const json_t *machine, const json_t *file)
{
	const char *shown = json_string_value(json_object_get(file, "file"));
	const json_t *descriptor = json_object_get(file, "descriptor");
	char *name = xstrdup(shown ? shown : ""), *places[2];
	size_t i;

	text_unescape(name);
	places[0] = xasprintf("/proc/%d/root%s", vm_pid(machine), name);
	places[1] = xasprintf("/proc/%d/fd/%lld", vm_pid(machine), (long long)json_integer_value(descriptor));
	for (i = 0; i < 2 && !is_found(name, file); i++)
		if (is_found(places[i], file) && (!i || json_is_integer(descriptor))) {
			free(name);
			name = xstrdup(places[i]);
		}
	free(places[0]);
	free(places[1]);
	return name;
}

static bool is_writable(pid_t pid, const char *fd)
{
	char *text = system_text("/proc/%d/fdinfo/%s", pid, fd), *flags = system_value(text, "flags", ':');
	bool is = flags && (strtoul(flags, NULL, 8) & O_ACCMODE) != O_RDONLY;

	free(flags);
	free(text);
	return is;
}

/* The path of a descriptor of this file in the process, or NULL. The caller frees it. */
static char *find_open(pid_t pid, __u32 device, __u64 inode, bool writable)
{
	char *dir = xasprintf("/proc/%d/fd", pid), *path = NULL;
	struct system_names names;
	struct stat st;
	size_t i;

	system_list(&names, dir, "");
	for (i = 0; !path && i < names.nr; i++) {
		path = xasprintf("%s/%s", dir, names.at[i]);
		if (!stat(path, &st) && st.st_ino == inode && (major(st.st_dev) << 20 | minor(st.st_dev)) == device &&
		    (!writable || is_writable(pid, names.at[i])))
			break;
		free(path);
		path = NULL;
	}
	system_unlist(&names);
	free(dir);
	return path;
}

char *vm_open_path(pid_t pid, __u32 device, __u64 inode)
{
	return find_open(pid, device, inode, false);
}

bool vm_writes(pid_t pid, __u32 device, __u64 inode)
{
	char *path = find_open(pid, device, inode, true);
	bool writes = path;

	free(path);
	return writes;
}

/* Whether the name stands for a descriptor that QEMU was given. Its file is in open_files. */
static bool is_descriptor(const json_t *file)
{
	const char *name = json_string_value(json_object_get(file, "file"));

	return name && !strncmp(name, "/dev/fdset/", strlen("/dev/fdset/"));
}

static void add_name(struct vm_files *files, const json_t *machine, const json_t *file,
		     const json_t *drive, const char *format, unsigned int which)
{
	const char *name = json_string_value(drive), *shown = json_string_value(json_object_get(file, "file"));
	bool deleted = json_is_true(json_object_get(file, "deleted"));
	size_t nr = files->nr + 1;

	if (!file || !shown || json_is_true(json_object_get(file, "remote")) ||
	    (deleted && !(which & VM_DELETED)) || is_descriptor(file))
		return;
	files->names = xreallocarray(files->names, nr, sizeof(*files->names));
	files->drives = xreallocarray(files->drives, nr, sizeof(*files->drives));
	files->formats = xreallocarray(files->formats, nr, sizeof(*files->formats));
	files->shown = xreallocarray(files->shown, nr, sizeof(*files->shown));
	files->deleted = xreallocarray(files->deleted, nr, sizeof(*files->deleted));
	files->names[files->nr] = name_here(machine, file);
	files->drives[files->nr] = name ? name : "";
	files->formats[files->nr] = format;
	files->shown[files->nr] = shown;
	files->deleted[files->nr++] = deleted;
}

static const char *format_of(const json_t *file)
{
	return json_string_value(json_object_get(file, "format"));
}

void vm_files(struct vm_files *files, const json_t *machine, unsigned int which)
{
	const json_t *drive, *file, *name;
	size_t i, j;

	*files = (struct vm_files){ 0 };
	json_array_foreach(json_object_get(machine, "drives"), i, drive) {
		name = json_object_get(drive, "name");
		if (!(which & VM_UNPLUGGED) && json_is_true(json_object_get(drive, "unplugged")))
			continue;
		json_array_foreach(json_object_get(drive, "layers"), j, file) {
			add_name(files, machine, file, name, format_of(file), which);
			/* QEMU stores each byte at the guest's offset */
			add_name(files, machine, json_object_get(file, "data_file"), name, "raw", which);
		}
	}
	json_array_foreach(json_object_get(machine, "open_files"), i, file) {
		add_name(files, machine, file, json_object_get(file, "above"),
			 format_of(file), which);
	}
}

void vm_files_free(struct vm_files *files)
{
	while (files->nr)
		free(files->names[--files->nr]);
	free(files->names);
	free(files->drives);
	free(files->formats);
	free(files->shown);
	free(files->deleted);
}
