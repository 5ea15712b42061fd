// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cli.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "vm/guest.h"

#define UNSURE	"unsure"
#define PENDING	"pending"

/* Bounds a map to 640 MiB: the tables of a small image can refer to any number of pieces. */
#define PIECES_MAX	(1u << 24)

/* How often to read the tables. A running VM changes them meanwhile, which can look like damage. */
#define TRIES	3

/* --- images ----------------------------------------------------------------- */

struct guest_image *guest_images_add(struct guest_images *images, const char *file, char *drives)
{
	struct guest_image *image;

	images->at = xreallocarray(images->at, images->nr + 1, sizeof(*images->at));
	image = &images->at[images->nr++];
	*image = (struct guest_image){ .file = xstrdup(file), .drives = drives };
	return image;
}

void guest_images_free(struct guest_images *images)
{
	struct guest_image *image;

	while (images->nr) {
		image = &images->at[--images->nr];
		while (image->nr_maps)
			free(image->maps[--image->nr_maps].at);
		free(image->maps);
		free(image->file);
		free(image->drives);
	}
	free(images->at);
	images->at = NULL;
}

/* On btrfs, stat(2) reports another device number than records have. */
struct guest_image *guest_images_find(const struct guest_images *images, __u32 device, __u64 inode,
				      const char *path)
{
	size_t i;

	for (i = 0; inode && i < images->nr; i++) {
		struct guest_image *image = &images->at[i];

		if (image->inode == inode &&
		    (image->device == device || (path && !strcmp(image->file, path))))
			return image;
	}
	return NULL;
}

char *guest_add_drive(char *drives, const char *drive)
{
	const char *at = drives;
	size_t length = strlen(drive);
	char *all;

	if (!length)
		return drives;
	for (; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == length && !strncmp(at, drive, length))
			return drives;
	all = xasprintf("%s%s%s", drives, *drives ? "," : "", drive);
	free(drives);
	return all;
}

/* --- maps ------------------------------------------------------------------- */

struct guest_map *guest_image_add_map(struct guest_image *image)
{
	struct guest_map *map;

	image->maps = xreallocarray(image->maps, image->nr_maps + 1, sizeof(*image->maps));
	map = &image->maps[image->nr_maps++];
	*map = (struct guest_map){ 0 };
	return map;
}

void guest_map_add(struct guest_map *map, const struct qcow2_region *region)
{
	if (region->use == USE_UNUSED)
		return;
	if (map->nr && qcow2_region_join(&map->at[map->nr - 1], region))
		return;
	if (map->nr == map->room) {
		map->room = map->room ? 2 * map->room : 64;
		map->at = xreallocarray(map->at, map->room, sizeof(*map->at));
	}
	map->at[map->nr++] = *region;
}

static int by_time(const void *a, const void *b)
{
	const struct guest_map *first = a, *second = b;

	return first->begin < second->begin ? -1 : first->begin > second->begin;
}

void guest_image_sort(struct guest_image *image)
{
	if (image->nr_maps)
		qsort(image->maps, image->nr_maps, sizeof(*image->maps), by_time);
}

void guest_image_forget(struct guest_image *image, __u64 time)
{
	size_t gone = 0, i;

	while (gone + 1 < image->nr_maps && image->maps[gone + 1].end <= time)
		gone++;
	for (i = 0; i < gone; i++)
		free(image->maps[i].at);
	image->nr_maps -= gone;
	if (gone)
		memmove(image->maps, image->maps + gone, image->nr_maps * sizeof(*image->maps));
}

static void add_region(const struct qcow2_region *region, void *data)
{
	struct guest_map *map = data;

	if (map->nr < PIECES_MAX)
		guest_map_add(map, region);
}

static char *check_size(const struct qcow2 *q, __u64 most)
{
	__u64 clusters = q->file_size >> q->cluster_bits;

	if (!most || clusters <= most)
		return NULL;
	return xasprintf("has %llu clusters, too many to read its map in time", clusters);
}

/* Opens the image again each time, because its tables may have moved. */
static char *read_once(struct guest_image *image, const char *name, const char *format, __u64 most)
{
	struct image file;
	struct guest_map *map;
	__u64 begin = wall_now().monotonic;
	char *why = NULL;

	image_open(&file, IMAGE_OWN_ROOT, name, format);
	if (file.found) {
		image->device = major(file.st.st_dev) << 20 | minor(file.st.st_dev);
		image->inode = file.st.st_ino;
	}
	image->same = !file.why && !strcmp(file.format, "raw");
	if (file.why) {
		why = xstrdup(file.why);
	} else if (!image->same) {
		map = guest_image_add_map(image);
		map->begin = begin;
		map->live = image_is_written(&file);
		why = check_size(&file.qcow2, most);
		if (!why)
			why = qcow2_regions(&file.qcow2, 0, file.qcow2.file_size, add_region, map);
		if (!why && map->nr == PIECES_MAX)
			why = xasprintf("is stored in more than %u pieces, too many for a map", PIECES_MAX);
		map->live |= image_is_written(&file);
		map->end = wall_now().monotonic;
		if (why)
			free(image->maps[--image->nr_maps].at);
	}
	image_close(&file);
	return why;
}

char *guest_image_read(struct guest_image *image, const char *name, const char *format, __u64 most)
{
	unsigned int i;
	char *why = read_once(image, name, format, most);

	for (i = 1; why && i < TRIES; i++) {
		free(why);
		why = read_once(image, name, format, most);
	}
	return why;
}

/* --- the meaning of a range ------------------------------------------------- */

/* The region at @host, or NULL. Lowers *@end to the end of the region, or of the gap. */
static const struct qcow2_region *region_at(const struct guest_map *map, __u64 host, __u64 *end)
{
	size_t first = 0, behind = map->nr;
	const struct qcow2_region *r;

	while (first < behind) {
		size_t i = first + (behind - first) / 2;

		if (map->at[i].host + map->at[i].length <= host)
			first = i + 1;
		else
			behind = i;
	}
	r = first < map->nr ? &map->at[first] : NULL;
	if (r && r->host > host && r->host < *end)
		*end = r->host;
	if (!r || r->host > host)
		return NULL;
	if (r->host + r->length < *end)
		*end = r->host + r->length;
	return r;
}

/* How certain a use is: 0 unused, 1 in use by the refcounts only, 2 referred to by a table. */
static int weight(const struct qcow2_region *r)
{
	return !r ? 0 : r->use == USE_OTHER ? 1 : 2;
}

/* Uses that turn into each other when a snapshot is made or deleted count as the same. */
static enum qcow2_use without_snapshot(enum qcow2_use use)
{
	switch (use) {
	case USE_SNAPSHOT_L1:
		return USE_L1;
	case USE_SNAPSHOT_L2:
		return USE_L2;
	case USE_ZERO: case USE_SNAPSHOT_DATA: case USE_UNALLOCATED:
		return USE_DATA;
	default:
		return use;
	}
}

static bool is_whole(const struct qcow2_region *r)
{
	return r->use == USE_L2 || r->use == USE_SNAPSHOT_L2 || r->use == USE_COMPRESSED ||
	       r->guest_length != r->length;
}

static bool is_same_place(const struct qcow2_region *a, const struct qcow2_region *b)
{
	if (without_snapshot(a->use) != without_snapshot(b->use) || is_whole(a) != is_whole(b))
		return false;
	if (!a->has_guest || is_whole(a))
		return a->has_guest == b->has_guest && a->guest == b->guest;
	return a->guest - a->host == b->guest - b->host;
}

static struct guest_part part_of(const struct qcow2_region *r, __u64 host, __u64 end)
{
	struct guest_part part = { .host = host, .length = end - host };

	part.kind = qcow2_use_name(r ? r->use : USE_UNUSED);
	if (!r || !r->has_guest)
		return part;
	part.has_guest = true;
	part.whole = is_whole(r);
	part.guest = r->guest + (part.whole ? 0 : host - r->host);
	part.guest_length = part.whole ? r->guest_length : part.length;
	return part;
}

static struct guest_part part_at(const struct guest_image *image, __u64 time, __u64 host, __u64 end)
{
	const struct qcow2_region *before = NULL, *after = NULL, *r;
	size_t i = 0;

	while (i < image->nr_maps && image->maps[i].end <= time)
		i++;
	if (i)
		before = region_at(&image->maps[i - 1], host, &end);
	for (; i < image->nr_maps && weight(after) < 2; i++) {
		r = region_at(&image->maps[i], host, &end);
		if (weight(r) > weight(after))
			after = r;
	}
	if (!weight(before) && !weight(after) && image->maps[image->nr_maps - 1].live)
		return (struct guest_part){ .host = host, .length = end - host, .kind = PENDING };
	if (weight(before) < 2 || weight(after) < 2)
		return part_of(weight(after) < weight(before) ? before : after, host, end);
	if (is_same_place(before, after))
		return part_of(before->use < after->use ? before : after, host, end);
	return (struct guest_part){ .host = host, .length = end - host, .kind = UNSURE };
}

static bool goes_on(const struct guest_part *last, const struct guest_part *next)
{
	if (strcmp(last->kind, next->kind) || last->has_guest != next->has_guest ||
	    last->whole != next->whole)
		return false;
	if (!next->has_guest)
		return true;
	return next->whole ? last->guest == next->guest && last->guest_length == next->guest_length :
			     last->guest + last->guest_length == next->guest;
}

static void add_part(struct guest_parts *parts, size_t first, const struct guest_part *part)
{
	struct guest_part *last = parts->nr > first ? &parts->at[parts->nr - 1] : NULL;

	if (last && goes_on(last, part)) {
		last->length += part->length;
		last->guest_length += part->has_guest && !part->whole ? part->length : 0;
		return;
	}
	if (parts->nr == parts->room) {
		parts->room = parts->room ? 2 * parts->room : 16;
		parts->at = xreallocarray(parts->at, parts->room, sizeof(*parts->at));
	}
	parts->at[parts->nr++] = *part;
}

bool guest_part_is_known(const struct guest_part *part)
{
	return strcmp(part->kind, UNSURE) && strcmp(part->kind, PENDING);
}

static bool has_pending(const struct guest_parts *parts, size_t first)
{
	for (; first < parts->nr; first++)
		if (!strcmp(parts->at[first].kind, PENDING))
			return true;
	return false;
}

void guest_find(struct guest_image *image, __u64 time, __u64 host, __u64 length,
		struct guest_parts *parts)
{
	__u64 end = host + length < host ? ~0ULL : host + length;
	size_t first = parts->nr;
	struct guest_part part;

	for (; host < end; host += part.length) {
		if (image->same)
			part = (struct guest_part){
				.kind = qcow2_use_name(USE_DATA), .has_guest = true, .guest = host,
				.guest_length = end - host, .host = host, .length = end - host,
			};
		else if (!image->nr_maps)
			part = (struct guest_part){ .host = host, .length = end - host, .kind = UNSURE };
		else
			part = part_at(image, time, host, end);
		add_part(parts, first, &part);
	}
	image->pending += has_pending(parts, first);
}

void guest_images_report(const struct guest_images *images, bool trace)
{
	size_t i;

	for (i = 0; i < images->nr; i++) {
		const struct guest_image *image = &images->at[i];

		if (!image->pending)
			continue;
		cli_say_of(image->file, "%llu events are pending: QEMU had not yet written the tables for their ranges: run sync in the guest %s",
			   image->pending, trace ? "before recording ends" : "and print the log again");
	}
}
