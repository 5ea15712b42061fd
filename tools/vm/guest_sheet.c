// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/put.h"
#include "base/xalloc.h"
#include "machine/snapshot.h"
#include "trace/table_writer.h"
#include "vm/guest_sheet.h"

#define KIND	"guest"
#define PREFIX	KIND "_"
#define LINE	256	/* bytes of a row at most */
#define IMAGES_MAX	100000

static const char columns[] =
	"image,host_offset_bytes,length_bytes,kind,guest_offset_bytes,guest_length_bytes";

/* --- write ------------------------------------------------------------------ */

static json_t *json_image(const struct guest_image *image, const char *problem)
{
	const struct guest_map *map = image->nr_maps && !problem ? &image->maps[0] : NULL;
	json_t *object = json_object();

	json_put(object, "file", json_string(image->file));
	json_put(object, "drives", json_string(image->drives));
	json_put(object, "device", json_integer(image->device));
	json_put(object, "inode", json_integer(image->inode));
	json_put(object, "same_offsets", json_boolean(image->same));
	json_put(object, "problem", problem ? json_shown(problem) : json_null());
	json_put(object, "live", map ? json_boolean(map->live) : json_null());
	json_put(object, "begin_monotonic_ns", map ? json_integer(map->begin) : json_null());
	json_put(object, "end_monotonic_ns", map ? json_integer(map->end) : json_null());
	return object;
}

static char *put_region(char *out, size_t image, const struct qcow2_region *r)
{
	const char *kind = qcow2_use_name(r->use);

	out = put_u64(out, image);
	*out++ = ',';
	out = put_u64(out, r->host);
	*out++ = ',';
	out = put_u64(out, r->length);
	*out++ = ',';
	out = put_bytes(out, kind, strlen(kind));
	*out++ = ',';
	if (r->has_guest)
		out = put_u64(out, r->guest);
	*out++ = ',';
	if (r->has_guest)
		out = put_u64(out, r->guest_length);
	return out;
}

static bool write_map(struct table_writer *sheet, size_t i, const struct guest_image *image)
{
	const struct guest_map *map = image->nr_maps ? &image->maps[0] : NULL;
	size_t j;
	char *row;

	for (j = 0; map && j < map->nr; j++) {
		row = table_writer_row(sheet);
		if (!row || !table_writer_put(sheet, put_region(row, i, &map->at[j])))
			return false;
	}
	return true;
}

bool guest_sheet_write(const struct guest_images *images, char *const *problems, int in,
		       const char *where)
{
	struct table_writer sheet = { .in = in, .where = where, .kind = KIND, .header = columns, .dir = -1 };
	json_t *document = json_object(), *list = json_array();
	bool good = table_writer_open(&sheet);
	size_t i;

	for (i = 0; i < images->nr; i++) {
		json_add(list, json_image(&images->at[i], problems[i]));
		good = good && (problems[i] || write_map(&sheet, i, &images->at[i]));
	}
	json_put(document, "images", list);
	if (good)
		good = table_writer_finish(&sheet, document);
	else
		json_decref(document);
	table_writer_close(&sheet);
	return good;
}

/* --- read ------------------------------------------------------------------- */

/* A snapshot while it is read. */
struct reading {
	struct guest_images *images;
	char *path;
	struct guest_image **of;	/* images, by their index in rows */
	struct guest_map **maps;	/* their maps; NULL: none */
	size_t nr;
};

static bool damaged(const struct reading *r, const char *why)
{
	cli_say_of(r->path, "is damaged: %s", why);
	return false;
}

/* The index of an image, which is appended if it is new. */
static size_t image_of(struct guest_images *images, const json_t *one)
{
	const char *file = json_string_value(json_object_get(one, "file"));
	const char *drives = json_string_value(json_object_get(one, "drives"));
	__u64 inode = json_integer_value(json_object_get(one, "inode"));
	__u32 device = json_integer_value(json_object_get(one, "device"));
	struct guest_image *image;
	size_t i;

	for (i = 0; i < images->nr; i++) {
		image = &images->at[i];
		if (image->inode != inode || image->device != device)
			continue;
		if (drives && strcmp(drives, image->drives))
			image->drives = guest_add_drive(image->drives, drives);
		return i;
	}
	image = guest_images_add(images, file ? file : "", xstrdup(drives ? drives : ""));
	image->device = device;
	image->inode = inode;
	return i;
}

static struct guest_map *add_map(struct guest_image *image, const json_t *one)
{
	struct guest_map *map;

	if (!json_is_null(json_object_get(one, "problem")))
		return NULL;
	image->same = json_is_true(json_object_get(one, "same_offsets"));
	if (image->same)
		return NULL;
	map = guest_image_add_map(image);
	map->begin = json_integer_value(json_object_get(one, "begin_monotonic_ns"));
	map->end = json_integer_value(json_object_get(one, "end_monotonic_ns"));
	map->live = json_is_true(json_object_get(one, "live"));
	return map;
}

/* Adds all images before taking pointers: the array moves. An image listed twice gets one map. */
static bool load_images(struct reading *r, const json_t *document)
{
	const json_t *list = json_object_get(document, "images"), *one;
	size_t *at, i, j;

	r->nr = json_array_size(list);
	if (!json_is_array(list) || r->nr > IMAGES_MAX)
		return damaged(r, "it has no list of images");
	at = xreallocarray(NULL, r->nr + 1, sizeof(*at));
	r->of = xreallocarray(NULL, r->nr + 1, sizeof(*r->of));
	r->maps = xreallocarray(NULL, r->nr + 1, sizeof(*r->maps));
	json_array_foreach(list, i, one)
		at[i] = image_of(r->images, one);
	json_array_foreach(list, i, one) {
		r->of[i] = &r->images->at[at[i]];
		r->maps[i] = NULL;
		for (j = 0; j < i && at[j] != at[i]; j++)
			;
		if (j == i)
			r->maps[i] = add_map(r->of[i], one);
	}
	free(at);
	return true;
}

static bool use_of(const char *name, enum qcow2_use *use)
{
	for (*use = 0; *use < QCOW2_USES; ++*use)
		if (!strcmp(qcow2_use_name(*use), name))
			return true;
	return false;
}

static bool load_row(struct reading *r, const char *line)
{
	struct qcow2_region region = { 0 };
	unsigned long long image, host, length, guest = 0, guest_length = 0;
	char kind[32];
	int n = sscanf(line, "%llu,%llu,%llu,%31[a-z0-9-],%llu,%llu", &image, &host, &length, kind,
		       &guest, &guest_length);

	if ((n != 4 && n != 6) || image >= r->nr || !r->maps[image] || !use_of(kind, &region.use) ||
	    !length || host + length < host)
		return false;
	region.host = host;
	region.length = length;
	region.has_guest = n == 6;
	region.guest = guest;
	region.guest_length = guest_length;
	if (r->maps[image]->nr) {
		const struct qcow2_region *last = &r->maps[image]->at[r->maps[image]->nr - 1];

		if (host < last->host + last->length)
			return false;
	}
	guest_map_add(r->maps[image], &region);
	return true;
}

static bool load_part(struct reading *r, const char *name)
{
	char *path = xasprintf("%s/%s", r->path, name), line[LINE];
	gzFile file = strchr(name, '/') ? NULL : gzopen(path, "rbe");
	bool good = file && gzgets(file, line, sizeof(line));
	int err = Z_OK;

	if (good) {
		line[strcspn(line, "\n")] = '\0';
		good = !strcmp(line, columns);
	}
	while (good && gzgets(file, line, sizeof(line)))
		good = load_row(r, line);
	if (file) {
		gzerror(file, &err);
		good = (gzclose(file) == Z_OK) & good && (err == Z_OK || err == Z_STREAM_END);
	}
	free(path);
	return good || damaged(r, "its rows cannot be read");
}

/* Drops the maps of a damaged snapshot. */
static void forget(struct reading *r)
{
	size_t i;

	for (i = 0; i < r->nr; i++)
		if (r->maps && r->maps[i])
			free(r->of[i]->maps[--r->of[i]->nr_maps].at);
}

static bool load_one(struct guest_images *images, char *path)
{
	struct reading r = { .images = images, .path = path };
	char *name = xasprintf("%s/%s", path, TABLE_DOCUMENT);
	json_error_t error;
	json_t *document = json_load_file(name, 0, &error);
	const json_t *part;
	bool good = document ? load_images(&r, document) : damaged(&r, error.text);
	size_t i;

	if (good && !json_array_size(json_object_get(document, "parts")))
		good = damaged(&r, "it has no parts");
	json_array_foreach(json_object_get(document, "parts"), i, part) {
		const char *file = json_string_value(json_object_get(part, "file"));

		good = good && load_part(&r, file ? file : "");
	}
	if (!good)
		forget(&r);
	free(r.of);
	free(r.maps);
	json_decref(document);
	free(name);
	free(path);
	return good;
}

bool guest_sheets_load(struct guest_images *images, const char *trace)
{
	char *path = xasprintf("%s/" SNAPSHOT_DIRECTORY, trace);
	struct dirent **entries = NULL;
	int nr = scandir(path, &entries, NULL, alphasort), i;
	bool good = true;
	size_t j;

	for (i = 0; i < nr; i++) {
		if (!strncmp(entries[i]->d_name, PREFIX, strlen(PREFIX)))
			good &= load_one(images, xasprintf("%s/%s", path, entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	free(path);
	for (j = 0; j < images->nr; j++)
		guest_image_sort(&images->at[j]);
	return good;
}
