// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/paths.h"
#include "trace/sources.h"
#include "vm/guest_export.h"
#include "vm/guest_sheet.h"

/* --- which images ----------------------------------------------------------- */

void guest_export_add(struct guest_export *g, const char *name)
{
	g->wanted = true;
	g->names = xreallocarray(g->names, g->nr_names + 1, sizeof(*g->names));
	g->names[g->nr_names++] = name;
}

/* Paths of records are absolute. */
static struct guest_image *add_image(struct guest_export *g, const char *name)
{
	char *real = realpath(name, NULL);
	char *shown = text_show(real ? real : name, strlen(real ? real : name));
	struct guest_image *image = guest_images_add(&g->images, shown, xstrdup(""));

	free(shown);
	free(real);
	return image;
}

/* Drops the last image if the list has its file already: maps of the trace take precedence. */
static void drop_known(struct guest_export *g)
{
	struct guest_image *last = &g->images.at[g->images.nr - 1], *known;
	struct guest_images one = { 0 };

	known = guest_images_find(&g->images, last->device, last->inode, NULL);
	if (!known || known == last)
		return;
	known->given |= last->given;
	one.at = xreallocarray(NULL, 1, sizeof(*one.at));
	one.at[one.nr++] = *last;
	g->images.nr--;
	guest_images_free(&one);
}

static bool read_layer(struct guest_export *g, const char *name, const char *format, bool given)
{
	struct guest_image *image = add_image(g, name);
	char *why = guest_image_read(image, name, format, 0);
	bool good = !why;

	image->given = given;
	if (why)
		cli_say_of(name, "%s", why);
	free(why);
	drop_known(g);
	return good;
}

/* Reads the image, its backing files, and their external data files. Returns an exit code. */
static int read_chain(struct guest_export *g, const char *name)
{
	struct image_chain chain = { 0 };
	bool good = true;
	size_t i;

	image_open(image_chain_add(&chain), IMAGE_OWN_ROOT, name, g->image_format);
	image_chain_follow(&chain, IMAGE_OWN_ROOT);
	for (i = 0; i < chain.nr && good; i++) {
		const struct image *image = &chain.at[i];

		good = read_layer(g, image->name, image->format, !i);
		if (good && image->data_file)
			good = read_layer(g, image->data_file, "raw", false);
	}
	image_chain_close(&chain);
	return good ? CLI_OK : CLI_FAILED;
}

int guest_export_open(struct guest_export *g, struct check *check)
{
	int status = CLI_OK;
	size_t i;

	if (json_object_get(check->metadata.document, SOURCES_KEY)) {
		cli_say_of(check->trace, "is a merged trace: use --guest with the traces that it was merged from");
		return CLI_FAILED;
	}
	if (!guest_sheets_load(&g->images, check->trace))
		check->damaged = true;
	for (i = 0; i < g->nr_names && !status; i++)
		status = read_chain(g, g->names[i]);
	if (!status && !g->images.nr) {
		cli_say_of(check->trace, "has no maps of disk images, as record --vm stores them: name the image with --guest-image=IMAGE");
		status = CLI_FAILED;
	}
	return status;
}

void guest_export_close(struct guest_export *g)
{
	guest_images_free(&g->images);
	free(g->parts.at);
	free(g->names);
}

void guest_export_report(const struct guest_export *g)
{
	size_t i;

	for (i = 0; i < g->images.nr; i++)
		if (g->images.at[i].given && !g->images.at[i].seen)
			cli_say_of(g->images.at[i].file, "the trace has no event with a range in this image: is it the right one?");
	guest_images_report(&g->images, true);
}

/* --- rows ------------------------------------------------------------------- */

void guest_export_columns(struct row_printer *p)
{
	static struct row_column columns[1 + GUEST_COLUMNS];

	columns[0] = guest_drive_column;
	memcpy(&columns[1], guest_columns, sizeof(guest_columns));
	p->added = columns;
	p->nr_added = 1 + GUEST_COLUMNS;
}

__u64 guest_export_length(const struct iot_fs *fs)
{
	switch (fs->op) {
	case IOT_FS_READ: case IOT_FS_WRITE: case IOT_FS_DIO_READ: case IOT_FS_DIO_WRITE:
		return fs->result < 0 ? fs->requested : (__u64)fs->result;
	case IOT_FS_FALLOCATE:
		return fs->requested;
	default:
		return 0;
	}
}

struct guest_image *guest_export_image(const struct guest_images *images, const struct paths *paths,
				       const struct iot_fs *fs)
{
	const struct name *name = fs->path ? names_find(paths, fs->path) : NULL;

	return guest_images_find(images, fs->device, fs->inode, name ? name->text : NULL);
}

bool guest_export_put(struct guest_export *g, struct row_printer *p, struct output *o,
		      const void *record)
{
	const struct iot_fs *fs = record;
	struct guest_image *image = guest_export_image(&g->images, p->paths, fs);
	__u64 length = guest_export_length(fs);
	bool good;

	g->row = (struct guest_row){ .drives = image ? image->drives : "" };
	g->parts.nr = 0;
	if (image && length) {
		guest_find(image, fs->time, fs->offset, length, &g->parts);
		image->seen = true;
	}
	p->context = &g->row;
	do {
		g->row.part = g->parts.nr ? &g->parts.at[g->row.number] : NULL;
		good = output_put(o, row_print(p, output_row(o), record));
	} while (good && ++g->row.number < g->parts.nr);
	return good;
}
