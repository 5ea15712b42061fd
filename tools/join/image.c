// SPDX-License-Identifier: GPL-2.0
/* The image of the drive: its files, and the places of the guest's requests in them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "join/join.h"

/* --- its files -------------------------------------------------------------------- */

/* Takes @shown, which is escaped. */
static __u32 add_file(struct join_image *image, char *shown, const char *device, const struct stat *st)
{
	struct join_file *file;
	size_t i;

	for (i = 0; i < image->nr_files; i++)
		if (!strcmp(image->files[i].shown, shown))
			break;
	if (i == image->nr_files) {
		image->files = xreallocarray(image->files, i + 1, sizeof(*image->files));
		image->files[image->nr_files++] = (struct join_file){ .shown = shown };
	} else {
		free(shown);
	}
	file = &image->files[i];
	if (device && !file->device)
		file->device = xasprintf("/dev/%s", device);
	if (st) {
		file->found = true;
		file->st = *st;
	}
	return i;
}

/* The name as records have it: absolute, and without symbolic links if the file exists. */
static char *shown_name(const char *name)
{
	char *real = realpath(name, NULL), *shown;

	shown = text_show(real ? real : name, strlen(real ? real : name));
	free(real);
	return shown;
}

/* A device number in the form that records have. */
static __u32 device_of(dev_t dev)
{
	return major(dev) << 20 | (minor(dev) & 0xfffff);
}

__u32 join_image_file(const struct join_image *image, const struct name *path, __u64 inode, __u32 device)
{
	size_t i;

	for (i = 0; i < image->nr_files; i++) {
		const struct join_file *file = &image->files[i];

		if (path && (!strcmp(path->text, file->shown) ||
			     (file->device && !strcmp(path->text, file->device))))
			return i;
		if (file->found && file->st.st_ino == inode && device_of(file->st.st_dev) == device)
			return i;
	}
	return JOIN_NONE;
}

/* --- opening it ------------------------------------------------------------------- */

/* Adds the files of all layers, and their external data files. */
static void add_layers(struct join_image *image)
{
	struct stat st;
	size_t i;

	image->file_of_layer = xreallocarray(NULL, image->chain.nr, sizeof(__u32));
	for (i = 0; i < image->chain.nr; i++) {
		const struct image *layer = &image->chain.at[i];
		const char *data = layer->data_file;
		__u32 file = add_file(image, shown_name(layer->name), NULL, layer->found ? &layer->st : NULL);

		if (data)
			file = add_file(image, shown_name(data), NULL, !stat(data, &st) ? &st : NULL);
		image->file_of_layer[i] = file;
	}
}

static bool is_raw(const struct image *top)
{
	return top->format && !strcmp(top->format, "raw");
}

/* Opens the layers, as far as possible. A raw image need not exist. */
static void open_layers(struct join_image *image)
{
	const struct image *top;

	image_chain_follow(&image->chain, IMAGE_OWN_ROOT);
	top = &image->chain.at[0];
	image->raw = is_raw(top);
	image->unknown = !image->raw && top->why;
	if (image->unknown)
		cli_say_of(top->name, "%s: requests are matched by size and time, and only if a single call fits", top->why);
	add_layers(image);
}

static int open_named(struct join_image *image, const char *format)
{
	struct image *top = image_chain_add(&image->chain);

	image_open(top, IMAGE_OWN_ROOT, image->name, format);
	if (top->why && !format) {
		cli_say_of(image->name, "%s (if the image is gone, give its format with --image-format)", top->why);
		return CLI_FAILED;
	}
	open_layers(image);
	return CLI_OK;
}

/* --- a drive of the host's trace ---------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static bool has_name(const json_t *drive, const char *name)
{
	static const char *const keys[] = { "name", "qdev", "id", "node", "serial" };
	char *shown = text_show(name, strlen(name));
	bool has = false;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		has |= text_of(drive, keys[i]) && !strcmp(text_of(drive, keys[i]), shown);
	free(shown);
	return has;
}

/* The names of the drives, separated by commas. The caller frees it. */
static char *names_of(const json_t *drives)
{
	char *all = NULL, *more;
	size_t i;

	for (i = 0; i < json_array_size(drives); i++) {
		const char *name = text_of(json_array_get(drives, i), "name");

		more = xasprintf("%s%s%s", all ? all : "", all ? ", " : "", name ? name : "?");
		free(all);
		all = more;
	}
	return all ? all : xstrdup("none");
}

static int open_drive(struct join *j, const json_t *drive)
{
	const json_t *layers = json_object_get(drive, "layers"), *top = json_array_get(layers, 0);
	char *name = text_of(top, "file") ? xstrdup(text_of(top, "file")) : NULL;
	struct join_image *image = &j->image;
	size_t i;

	if (!name) {
		cli_say_of(j->host.named, "drive %s has no image", image->name);
		return CLI_FAILED;
	}
	for (i = 0; i < json_array_size(layers); i++) {
		const json_t *layer = json_array_get(layers, i), *data = json_object_get(layer, "data_file");

		if (text_of(layer, "file"))
			add_file(image, xstrdup(text_of(layer, "file")), text_of(layer, "device"), NULL);
		if (text_of(data, "file"))
			add_file(image, xstrdup(text_of(data, "file")), text_of(data, "device"), NULL);
	}
	image->shift = json_integer_value(json_object_get(top, "offset"));
	text_unescape(name);
	image_open(image_chain_add(&image->chain), IMAGE_OWN_ROOT, name, text_of(top, "format"));
	open_layers(image);
	free(name);
	return CLI_OK;
}

int join_image_open(struct join *j, const char *name, const char *format)
{
	const json_t *vm = json_object_get(j->host.check.metadata.document, "vm");
	const json_t *drives = json_object_get(vm, "drives"), *drive = NULL;
	char *names;
	struct stat st;
	size_t i;

	j->image.name = name;
	for (i = 0; !drive && i < json_array_size(drives); i++)
		if (has_name(json_array_get(drives, i), name))
			drive = json_array_get(drives, i);
	if (drive)
		return open_drive(j, drive);
	if (strchr(name, '/') || !stat(name, &st))
		return open_named(&j->image, format);
	if (!json_is_object(vm)) {
		cli_say_of(j->host.named, "was recorded without --vm, so the image of drive %s is not known: name it with --disk %s=IMAGE",
			   name, j->disk);
		return CLI_FAILED;
	}
	names = names_of(drives);
	cli_say_of(j->host.named, "its VM has no drive %s: it has %s", name, names);
	free(names);
	return CLI_FAILED;
}

void join_image_close(struct join_image *image)
{
	while (image->nr_files) {
		free(image->files[--image->nr_files].shown);
		free(image->files[image->nr_files].device);
	}
	free(image->files);
	free(image->file_of_layer);
	image_chain_close(&image->chain);
}

/* --- the places of a request --------------------------------------------------------- */

static void add_extent(struct join_extents *e, const struct join_extent *x)
{
	struct join_extent *last = e->nr ? &e->at[e->nr - 1] : NULL;

	if (last && !x->compressed && !last->compressed && last->layer == x->layer &&
	    last->guest + last->length == x->guest && last->host + last->length == x->host) {
		last->length += x->length;
		last->host_length += x->length;
		return;
	}
	if (e->nr == e->room) {
		e->room = e->room ? 2 * e->room : 64;
		e->at = xreallocarray(e->at, e->room, sizeof(*e->at));
	}
	e->at[e->nr++] = *x;
}

static void add_need(struct join_extents *e, __u64 guest, __u64 length)
{
	struct join_span *last = e->nr_needs ? &e->needs[e->nr_needs - 1] : NULL;

	e->needed += length;
	if (last && (__u64)last->hi + 1 == guest) {
		last->hi += length;
		return;
	}
	if (e->nr_needs == e->needs_room) {
		e->needs_room = e->needs_room ? 2 * e->needs_room : 64;
		e->needs = xreallocarray(e->needs, e->needs_room, sizeof(*e->needs));
	}
	e->needs[e->nr_needs++] = (struct join_span){ guest, guest + length - 1 };
}

static void add_place(struct join_image *image, size_t layer, __u64 guest, __u64 length, __u64 host,
		      struct join_extents *e)
{
	const struct join_extent x = {
		.guest = guest, .length = length, .host = host, .host_length = length,
		.file = image->file_of_layer[layer], .layer = layer,
	};

	add_extent(e, &x);
}

/* Maps the piece from @guest on, of at most @length bytes, in one layer. False after an error. */
static bool look(struct join_image *image, size_t i, __u64 guest, __u64 length, struct image_piece *piece)
{
	struct image_chain own = { .at = &image->chain.at[i], .nr = 1 };
	struct image *layer = &image->chain.at[i];
	const struct image *wrong;

	if (!layer->why && is_raw(layer) && guest < layer->size) {
		*piece = (struct image_piece){
			.kind = IMAGE_DATA, .length = length, .has_host = true, .host = guest,
		};
		if (length > layer->size - guest)
			piece->length = layer->size - guest;
		return true;
	}
	return !image_chain_map(&own, guest, guest + length, piece, &wrong);
}

/*
 * Adds the places of the range in each layer. Backing files count even if a layer above them has
 * the data, because a read may be older than that data. A write goes to the top.
 */
static void map_layers(struct join_image *image, __u64 guest, __u64 length, bool write,
		       struct join_extents *e)
{
	size_t i, layers = write ? 1 : image->chain.nr;
	__u64 at, end = guest + length;

	for (i = 0; i < layers; i++) {
		struct image_piece p;

		for (at = guest; at < end; at += p.length) {
			struct join_extent x;

			if (!look(image, i, at, end - at, &p))
				return;
			if (p.kind == IMAGE_COMPRESSED) {
				x = (struct join_extent){
					.guest = at, .length = p.length, .host = p.host,
					.host_length = p.host_length, .compressed = true,
					.file = image->file_of_layer[i], .layer = i,
				};
				add_extent(e, &x);
			} else if (p.kind == IMAGE_DATA) {
				add_place(image, i, at, p.length, p.host, e);
			}
		}
	}
}

/* Adds the bytes that need a call: those for which the first layer that has them has data. */
static void map_needs(struct join_image *image, __u64 guest, __u64 length, bool write,
		      struct join_extents *e)
{
	__u64 at, end = guest + length;
	struct image_piece p = { 0 };

	if (write) {
		add_need(e, guest, length);
		return;
	}
	for (at = guest; at < end; at += p.length) {
		size_t i = 0;

		p.kind = IMAGE_UNALLOCATED;
		p.length = end - at;
		for (; i < image->chain.nr && p.kind == IMAGE_UNALLOCATED; i++)
			if (!look(image, i, at, p.length, &p))
				p.kind = IMAGE_DATA;	/* not known: a call is needed */
		if (p.kind == IMAGE_DATA || p.kind == IMAGE_COMPRESSED)
			add_need(e, at, p.length);
	}
}

bool join_image_map(struct join_image *image, const struct join_request *r,
		    struct join_extents *e)
{
	__u64 guest = 512 * r->sector;
	bool write = r->kind != JOIN_READ;

	e->nr = 0;
	e->nr_needs = 0;
	e->needed = 0;
	if (image->unknown || !r->size)
		return false;
	if (image->raw) {
		add_need(e, guest, r->size);
		add_place(image, 0, guest, r->size, guest + image->shift, e);
		return true;
	}
	map_layers(image, guest, r->size, write, e);
	map_needs(image, guest, r->size, write, e);
	return true;
}
