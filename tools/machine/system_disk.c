// SPDX-License-Identifier: GPL-2.0
/* Disks, their partitions and queues, and the filesystems on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "machine/host.h"
#include "machine/system.h"

#define SECTOR 512

/* The word in brackets, as in "none [mq-deadline]". */
static json_t *chosen(const char *disk, const char *file)
{
	char *text = system_text("/sys/block/%s/queue/%s", disk, file);
	char *begin = text ? strchr(text, '[') : NULL, *end = begin ? strchr(begin, ']') : NULL;
	json_t *value;

	if (!end)
		return system_take(text);
	*end = '\0';
	value = json_shown(begin + 1);
	free(text);
	return value;
}

static json_t *queue(const char *disk)
{
	static const char *const numbers[] = {
		"nr_requests", "logical_block_size", "physical_block_size", "minimum_io_size",
		"optimal_io_size", "max_sectors_kb", "max_hw_sectors_kb", "max_segments",
		"read_ahead_kb", "discard_granularity", "discard_max_bytes", "write_zeroes_max_bytes",
		"rq_affinity", "nomerges", "wbt_lat_usec", "fua", "dax", "iostats", "io_poll",
	};
	json_t *object = json_object();
	struct system_names queues;
	char *path;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_put(object, numbers[i],
			 system_number(1, "/sys/block/%s/queue/%s", disk, numbers[i]));
	json_put(object, "write_cache", system_string("/sys/block/%s/queue/write_cache", disk));
	json_put(object, "zoned", system_string("/sys/block/%s/queue/zoned", disk));
	path = xasprintf("/sys/block/%s/mq", disk);
	system_list(&queues, path, "");
	json_put(object, "hardware_queues", queues.nr ? json_integer(queues.nr) : json_null());
	system_unlist(&queues);
	free(path);
	return object;
}

/* A mount names its block device by number, or, with btrfs, only by the path of its node. */
static bool is_of(const struct mount *m, const char *name, const char *device)
{
	char *number = xasprintf("%u:%u", m->major, m->minor);
	char *file = xasprintf("/dev/%s", name);
	bool is = (device && !strcmp(number, device)) || !strcmp(m->source, file);

	free(file);
	free(number);
	return is;
}

static json_t *mounts_of(const struct system *s, const char *name, const char *device)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < s->mounts.nr; i++) {
		const struct mount *m = &s->mounts.at[i];
		json_t *object;

		if (!is_of(m, name, device))
			continue;
		object = json_object();
		json_put(object, "mount_point", system_path(s, m->point));
		json_put(object, "type", json_shown(m->type));
		json_add(all, object);
	}
	return all;
}

static json_t *names_in(const char *format, const char *disk)
{
	char *path = xasprintf("/sys/block/%s/%s", disk, format);
	json_t *all = json_array();
	struct system_names names;
	size_t i;

	system_list(&names, path, "");
	for (i = 0; i < names.nr; i++)
		json_add(all, json_shown(names.at[i]));
	system_unlist(&names);
	free(path);
	return all;
}

static json_t *partition(const struct system *s, const char *disk, const char *name)
{
	char *device = system_text("/sys/block/%s/%s/dev", disk, name);
	json_t *object = json_object();

	json_put(object, "name", json_shown(name));
	json_put(object, "device", device ? json_shown(device) : json_null());
	json_put(object, "start_sector", system_number(1, "/sys/block/%s/%s/start", disk, name));
	json_put(object, "size_bytes", system_number(SECTOR, "/sys/block/%s/%s/size", disk, name));
	json_put(object, "mounts", mounts_of(s, name, device));
	free(device);
	return object;
}

static json_t *partitions(const struct system *s, const char *disk)
{
	char *path = xasprintf("/sys/block/%s", disk);
	json_t *all = json_array();
	struct system_names names;
	size_t i;

	system_list(&names, path, disk);
	for (i = 0; i < names.nr; i++)
		json_add(all, partition(s, disk, names.at[i]));
	system_unlist(&names);
	free(path);
	return all;
}

/* The serial number: each driver has another file (virtio, NVMe, SCSI of newer kernels). */
static json_t *serial(const char *disk)
{
	char *text = system_text("/sys/block/%s/serial", disk);

	return system_take(text ? text : system_text("/sys/block/%s/device/serial", disk));
}

static json_t *wwid(const char *disk)
{
	char *text = system_text("/sys/block/%s/wwid", disk);

	return system_take(text ? text : system_text("/sys/block/%s/device/wwid", disk));
}

static json_t *firmware(const char *disk)
{
	char *text = system_text("/sys/block/%s/device/firmware_rev", disk);

	return system_take(text ? text : system_text("/sys/block/%s/device/rev", disk));
}

/* The file of a loop device, hashed in an anonymous snapshot. */
static json_t *backing_file(const struct system *s, const char *disk)
{
	char *file = system_text("/sys/block/%s/loop/backing_file", disk);
	json_t *value = file ? system_path(s, file) : json_null();

	free(file);
	return value;
}

static json_t *disk(const struct system *s, const char *name)
{
	char *device = system_text("/sys/block/%s/dev", name);
	json_t *object = json_object();

	json_put(object, "name", json_shown(name));
	json_put(object, "device", device ? json_shown(device) : json_null());
	json_put(object, "size_bytes", system_number(SECTOR, "/sys/block/%s/size", name));
	json_put(object, "vendor", system_string("/sys/block/%s/device/vendor", name));
	json_put(object, "model", system_string("/sys/block/%s/device/model", name));
	json_put(object, "firmware", firmware(name));
	json_put(object, "driver", system_take(system_link("/sys/block/%s/device/driver", name)));
	json_put(object, "rotational", system_flag("/sys/block/%s/queue/rotational", name));
	json_put(object, "removable", system_flag("/sys/block/%s/removable", name));
	json_put(object, "read_only", system_flag("/sys/block/%s/ro", name));
	json_put(object, "scheduler", chosen(name, "scheduler"));
	json_put(object, "queue", queue(name));
	json_put(object, "raid_level", system_string("/sys/block/%s/md/level", name));
	json_put(object, "backing_file", backing_file(s, name));
	json_put(object, "made_of", names_in("slaves", name));
	json_put(object, "mounts", mounts_of(s, name, device));
	json_put(object, "partitions", partitions(s, name));
	free(device);
	if (s->anonymizer)
		return object;
	json_put(object, "serial", serial(name));
	json_put(object, "wwid", wwid(name));
	json_put(object, "mapper_name", system_string("/sys/block/%s/dm/name", name));
	return object;
}

/* Skips disks without a size: unused loop devices, and drives without a medium. */
json_t *system_disks(const struct system *s)
{
	json_t *all = json_array();
	struct system_names names;
	size_t i;

	system_list(&names, "/sys/block", "");
	for (i = 0; i < names.nr; i++) {
		char *size = system_text("/sys/block/%s/size", names.at[i]);

		if (size && strcmp(size, "0"))
			json_add(all, disk(s, names.at[i]));
		free(size);
	}
	system_unlist(&names);
	return all;
}

/* Mount options. An anonymous snapshot omits those with a value, which may be a name or address. */
static json_t *options_of(const struct system *s, const char *options)
{
	char *all = xstrdup(options), *next = all, *word;
	json_t *list = json_array();

	while ((word = strsep(&next, ",")))
		if (*word && !(s->anonymizer && strchr(word, '=')))
			json_add(list, json_shown(word));
	free(all);
	return list;
}

/* Whether no server is needed, which may not answer. */
static bool is_local(const struct mount *m)
{
	return m->major || !strncmp(m->source, "/dev/", 5) || !strcmp(m->type, "tmpfs") ||
	       !strcmp(m->type, "overlay") || !strcmp(m->type, "zfs");
}

static void put_room(json_t *object, const struct mount *m)
{
	char *path = host_path(m->point);
	struct statvfs st;
	bool known = is_local(m) && !statvfs(path, &st);

	json_put(object, "size_bytes", known ? json_integer(st.f_blocks * st.f_frsize) : json_null());
	json_put(object, "free_bytes", known ? json_integer(st.f_bfree * st.f_frsize) : json_null());
	json_put(object, "block_bytes", known ? json_integer(st.f_bsize) : json_null());
	json_put(object, "inodes", known ? json_integer(st.f_files) : json_null());
	json_put(object, "free_inodes", known ? json_integer(st.f_ffree) : json_null());
	free(path);
}

json_t *system_filesystems(const struct system *s)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < s->mounts.nr; i++) {
		const struct mount *m = &s->mounts.at[i];
		json_t *object;
		char *device;

		if (mounts_is_pseudo_type(m->type))
			continue;
		object = json_object();
		device = xasprintf("%u:%u", m->major, m->minor);
		json_put(object, "mount_point", system_path(s, m->point));
		json_put(object, "root", system_path(s, m->root));
		json_put(object, "type", json_shown(m->type));
		json_put(object, "source", system_path(s, m->source));
		json_put(object, "device", json_string(device));
		json_put(object, "options", options_of(s, m->options));
		json_put(object, "filesystem_options", options_of(s, m->super_options));
		put_room(object, m);
		json_add(all, object);
		free(device);
	}
	return all;
}
