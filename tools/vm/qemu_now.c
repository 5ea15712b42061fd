// SPDX-License-Identifier: GPL-2.0
/*
 * query-block returns "blocks": drives, and devices with a node. A block and a drive of the command
 * line are matched by the device's id, the drive's id, the node's name, or, if the device has no
 * id, by the file. A drive without a device exists as long as its node does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "vm/image.h"
#include "vm/qemu_args.h"
#include "vm/qemu_now.h"

#define PERIPHERAL	"/machine/peripheral/"
#define ANONYMOUS	"/machine/peripheral-anon/"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text ? text : NULL;
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

/*
 * The id of the device: QEMU returns it, or the device's path in the tree of objects, which
 * contains it. A device without an id is named by that path, which does not change. NULL: a
 * built-in device.
 */
static char *device_id(const json_t *block)
{
	const char *path = text_of(block, "qdev"), *end;

	if (!path || *path != '/')
		return copy(path);
	if (!strncmp(path, ANONYMOUS, strlen(ANONYMOUS))) {
		end = strchrnul(path + strlen(ANONYMOUS), '/');
		return xasprintf("%.*s", (int)(end - path), path);
	}
	if (strncmp(path, PERIPHERAL, strlen(PERIPHERAL)))
		return NULL;
	path += strlen(PERIPHERAL);
	end = strchrnul(path, '/');
	return xasprintf("%.*s", (int)(end - path), path);
}

static bool is_anonymous(const json_t *block)
{
	const char *path = text_of(block, "qdev");

	return path && !strncmp(path, ANONYMOUS, strlen(ANONYMOUS));
}

/* --- the chain -------------------------------------------------------------------- */

/* Whether the driver passes all requests on. Such a node reports the next node's file. */
static bool is_filter(const char *format)
{
	static const char *const filters[] = {
		"throttle", "copy-on-read", "mirror_top", "commit_top", "backup-top", "copy-before-write",
		"blkdebug", "blklogwrites", "blkreplay", "blkverify", "compress", "preallocate",
		"snapshot-access",
	};
	size_t i;

	for (i = 0; format && i < sizeof(filters) / sizeof(filters[0]); i++)
		if (!strcmp(format, filters[i]))
			return true;
	return false;
}

/* The file of a node. QEMU writes a node without a simple file name as "json:{...}". */
static char *file_of(const char *name, unsigned long long *offset)
{
	static const char *const keys[] = { "file.filename", "filename", "file.file.filename" };
	const char *file = NULL, *from;
	struct qemu_dict dict;
	char *found;
	size_t i;

	*offset = 0;
	if (strncmp(name, "json:", 5))
		return xstrdup(name);
	qemu_dict_parse(&dict, name + 5, NULL);
	for (i = 0; !file && i < sizeof(keys) / sizeof(keys[0]); i++)
		file = qemu_dict_get(&dict, "", keys[i]);
	from = qemu_dict_get(&dict, "", "offset");
	*offset = qemu_bytes(from);
	/* not a file: the driver and a colon, as for the command line */
	found = file ? xstrdup(file) : xasprintf("%s:", qemu_dict_get(&dict, "", "file.driver") ?: "?");
	qemu_dict_free(&dict);
	return found;
}

static void add_layer(struct qemu_drive *d, const json_t *image)
{
	const char *name = text_of(image, "filename"), *format = text_of(image, "format");
	struct qemu_layer *layer;

	d->layers = xreallocarray(d->layers, d->nr_layers + 1, sizeof(*d->layers));
	layer = &d->layers[d->nr_layers++];
	*layer = (struct qemu_layer){ 0 };
	layer->file = file_of(name ? name : "?:", &layer->offset);
	if (format)
		layer->format = xstrdup(!strcmp(format, "file") || !strcmp(format, "host_device") ?
					"raw" : format);
}

static void drop_layers(struct qemu_drive *d)
{
	while (d->nr_layers) {
		struct qemu_layer *layer = &d->layers[--d->nr_layers];

		free(layer->file);
		free(layer->format);
		free(layer->data_file);
	}
}

/* Replaces the drive's layers, the top first. Their data files are those that the images name. */
static void take_layers(struct qemu_drive *d, const json_t *block)
{
	const json_t *image = json_object_get(json_object_get(block, "inserted"), "image");
	size_t followed = 0;

	drop_layers(d);
	for (; image && followed < 2 * IMAGE_LAYERS && d->nr_layers < IMAGE_LAYERS; followed++) {
		const json_t *behind = json_object_get(image, "backing-image");

		if (!behind || !is_filter(text_of(image, "format")))
			add_layer(d, image);
		image = behind;
	}
	d->whole = true;
	d->asked = true;
}

/* The cache mode by its name in -drive. */
static char *cache_of(const json_t *block)
{
	const json_t *cache = json_object_get(json_object_get(block, "inserted"), "cache");
	bool direct = json_is_true(json_object_get(cache, "direct"));

	if (!cache)
		return NULL;
	if (json_is_true(json_object_get(cache, "no-flush")))
		return xstrdup("unsafe");
	if (json_is_true(json_object_get(cache, "writeback")))
		return xstrdup(direct ? "none" : "writeback");
	return xstrdup(direct ? "directsync" : "writethrough");
}

/* --- matching ---------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* Whether @name is a component of @path in the tree of objects. */
static bool has_part(const char *path, const char *name)
{
	size_t length = strlen(name);
	const char *at = path;

	while (path && (at = strstr(at, name))) {
		if ((at == path || at[-1] == '/') && (!at[length] || at[length] == '/'))
			return true;
		at += length;
	}
	return false;
}

/* Whether the drive is from -machine pflash0=NODE: a built-in device, which has its own name. */
static bool is_flash(const struct qemu_drive *d)
{
	return d->device && !strncmp(d->device, "pflash", strlen("pflash"));
}

/* How well the block matches the drive, from 0 (not at all) to 4. */
static int likeness(const struct qemu_drive *d, const json_t *block)
{
	const json_t *inserted = json_object_get(block, "inserted");
	const json_t *image = json_object_get(inserted, "image");

	if (is_flash(d))
		return is_same(d->node, text_of(inserted, "node-name")) ? 4 : 0;
	if (d->qdev)
		return has_part(text_of(block, "qdev"), d->qdev) ? 4 : 0;
	if (d->id && is_same(d->id, text_of(block, "device")))
		return 3;
	if (d->node && is_same(d->node, text_of(inserted, "node-name")))
		return 2;
	if (!is_anonymous(block) || !d->nr_layers)
		return 0;
	for (; image; image = json_object_get(image, "backing-image"))
		if (is_same(d->layers[0].file, text_of(image, "filename")))
			return 1;
	return 0;
}

static bool has_node(const struct qmp_answer *answer, const char *name)
{
	const json_t *node;
	size_t i;

	json_array_foreach(answer->nodes, i, node) {
		if (is_same(name, text_of(node, "node-name")))
			return true;
	}
	return false;
}

/* The state of a drive without a block. If its device has no id, it may be an unmatched block. */
static enum qemu_drive_state state_without(const struct qemu_drive *d, const struct qmp_answer *answer,
					   const bool *taken)
{
	const json_t *block;
	size_t i;

	if (!d->qdev && d->device) {
		json_array_foreach(answer->blocks, i, block) {
			if (!taken[i] && is_anonymous(block))
				return DRIVE_UNKNOWN;
		}
		return DRIVE_UNPLUGGED;
	}
	if (!d->device && d->node && !d->id)
		return !json_is_array(answer->nodes) ? DRIVE_UNKNOWN :
		       has_node(answer, d->node) ? DRIVE_THERE : DRIVE_UNPLUGGED;
	return DRIVE_UNPLUGGED;
}

/* Whether the device lost its drive: without one, it is empty, as only CDs and floppies may be. */
static bool is_disk_without_data(const struct qemu_drive *d, const json_t *block)
{
	return d->nr_layers && !json_object_get(block, "inserted") &&
	       json_is_false(json_object_get(block, "removable"));
}

static void match(struct qemu_drive *d, const struct qmp_answer *answer, bool *taken)
{
	const json_t *block, *best = NULL;
	size_t i, found = 0;
	int most = 0;

	json_array_foreach(answer->blocks, i, block) {
		int like = taken[i] ? 0 : likeness(d, block);

		if (like > most) {
			most = like;
			best = block;
			found = i;
		}
	}
	if (!best) {
		d->state = state_without(d, answer, taken);
		return;
	}
	taken[found] = true;
	d->state = is_disk_without_data(d, best) ? DRIVE_UNPLUGGED : DRIVE_THERE;
	if (d->state == DRIVE_THERE)
		take_layers(d, best);
}

/* Adds a drive that is not on the command line. Empty built-in drives are skipped. */
static void add_drive(struct qemu_drives *drives, const json_t *block)
{
	const json_t *inserted = json_object_get(block, "inserted");
	struct qemu_drive *d;
	char *id = device_id(block);

	if (!inserted && !id)
		return;
	drives->at = xreallocarray(drives->at, drives->nr + 1, sizeof(*drives->at));
	d = &drives->at[drives->nr++];
	*d = (struct qemu_drive){
		.qdev = id, .id = copy(text_of(block, "device")), .node = copy(text_of(inserted, "node-name")),
		.cache = cache_of(block), .state = DRIVE_THERE, .added = true,
	};
	take_layers(d, block);
}

void qemu_now_apply(struct qemu_drives *drives, const struct qmp_answer *answer)
{
	size_t i, nr = json_array_size(answer->blocks);
	bool *taken = xreallocarray(NULL, nr + 1, sizeof(*taken));
	const json_t *block;

	memset(taken, 0, (nr + 1) * sizeof(*taken));
	for (i = 0; i < drives->nr; i++)
		match(&drives->at[i], answer, taken);
	json_array_foreach(answer->blocks, i, block) {
		if (!taken[i])
			add_drive(drives, block);
	}
	free(taken);
}
