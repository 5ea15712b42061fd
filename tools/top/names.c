// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "machine/cgroup.h"
#include "top/names.h"
#include "vm/vm.h"

#define AGAIN_NS 5000000000ULL	/* after this time they are looked up again */

/* Messages while names are looked up are of no use: the numbers are shown then. */
static void drop(void *data, const char *line)
{
	(void)data;
	(void)line;
}

static const struct say_sink silence = { drop, NULL };

static bool is_due(__u64 *at)
{
	__u64 now = wall_now().monotonic;

	if (*at && now < *at + AGAIN_NS)
		return false;
	*at = now;
	return true;
}

/* --- cgroups -------------------------------------------------------------------- */

static void free_cgroups(struct top_names *n)
{
	size_t i;

	for (i = 0; i < n->nr_cgroups; i++)
		free(n->cgroups[i].path);
	free(n->cgroups);
	n->cgroups = NULL;
	n->nr_cgroups = 0;
}

/* The id of a cgroup is the inode number of its directory. */
static void load_cgroups(struct top_names *n)
{
	const struct say_sink *before = say_to(&silence);
	struct cgroups all = { 0 };
	struct stat st;
	size_t i;

	free_cgroups(n);
	if (cgroups_load(&all))
		n->cgroups = xreallocarray(NULL, all.nr, sizeof(*n->cgroups));
	for (i = 0; n->cgroups && i < all.nr; i++) {
		char *directory = xasprintf("/sys/fs/cgroup%s", all.paths[i]);

		if (!stat(directory, &st))
			n->cgroups[n->nr_cgroups++] = (struct top_cgroup){
				st.st_ino, text_show(all.paths[i], strlen(all.paths[i])),
			};
		free(directory);
	}
	cgroups_free(&all);
	say_to(before);
}

static const char *find_cgroup(const struct top_names *n, __u64 id)
{
	size_t i;

	for (i = 0; i < n->nr_cgroups; i++)
		if (n->cgroups[i].id == id)
			return n->cgroups[i].path;
	return NULL;
}

const char *top_names_cgroup(struct top_names *n, const char *id)
{
	const __u64 number = strtoull(id, NULL, 10);
	const char *path = find_cgroup(n, number);

	if (path || !number || !is_due(&n->cgroups_at))
		return path;
	load_cgroups(n);
	return find_cgroup(n, number);
}

/* --- disks ---------------------------------------------------------------------- */

char *top_names_disk(const char *device)
{
	char *link = xasprintf("/sys/dev/block/%s", device);
	char target[PATH_MAX], *name = NULL;
	ssize_t length = readlink(link, target, sizeof(target) - 1);

	free(link);
	if (length > 0) {
		target[length] = '\0';
		name = strrchr(target, '/');
	}
	return name ? text_show(name + 1, strlen(name + 1)) : NULL;
}

/* --- virtual machines ----------------------------------------------------------- */

static const char *string_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static const json_t *find_vm(const struct top_names *n, __u64 pid)
{
	size_t i;
	json_t *vm;

	json_array_foreach(n->vms, i, vm) {
		if ((__u64)json_integer_value(json_object_get(vm, "pid")) == pid)
			return vm;
	}
	return NULL;
}

static bool has_layer(const json_t *drive, const char *file)
{
	const json_t *layers = json_object_get(drive, "layers");
	json_t *layer;
	size_t i;

	json_array_foreach(layers, i, layer) {
		if (!strcmp(string_of(layer, "file"), file))
			return true;
	}
	return false;
}

/* The drive that has the file in one of its layers. */
static const char *find_drive(const json_t *vm, const char *file)
{
	const json_t *drives = json_object_get(vm, "drives");
	json_t *drive;
	size_t i;

	json_array_foreach(drives, i, drive) {
		if (has_layer(drive, file))
			return string_of(drive, "name");
	}
	return "";
}

bool top_names_vm(struct top_names *n, const char *pid, const char *file, const char **vm,
		  const char **drive)
{
	const struct say_sink *before = say_to(&silence);
	const json_t *found;

	if (is_due(&n->vms_at)) {
		json_decref(n->vms);
		n->vms = vm_list(NULL);
	}
	say_to(before);
	found = find_vm(n, strtoull(pid, NULL, 10));
	if (!found)
		return false;
	*vm = string_of(found, "name");
	if (!**vm)
		*vm = pid;
	*drive = find_drive(found, file);
	return true;
}

void top_names_free(struct top_names *n)
{
	free_cgroups(n);
	json_decref(n->vms);
	*n = (struct top_names){ .vms = NULL };
}
