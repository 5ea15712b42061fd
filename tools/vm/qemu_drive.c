// SPDX-License-Identifier: GPL-2.0
/*
 * A drive is a chain of block nodes. -blockdev defines nodes, which refer to others by name or
 * contain them ("file.", "backing."). -drive defines a node whose file is looked up by name. A
 * chain starts at a drive of -drive, at a node that a device uses, or at a node that no other node
 * refers to.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "vm/qemu_drive.h"

#define NODES_MAX 1000	/* steps from a node to the next: references may be circular */

/* A node: the keys of @dict that begin with @prefix, which is not empty for a nested node. */
struct node {
	const struct qemu_dict *dict;
	const char *prefix;
	const struct node *parent;	/* contains it, and passes on its cache mode; or NULL */
};

struct finder {
	struct qemu_drives *drives;
	struct qemu_dict *nodes;	/* of -blockdev */
	size_t nr_nodes;
	struct qemu_dict *devices;
	size_t nr_devices;
	bool snapshot, q35;
	const char *interface;
	bool units[8][64];		/* in use, by interface and index */
	unsigned int followed;
};

static char *copy(const char *text)
{
	return text && *text ? xstrdup(text) : NULL;
}

static bool is_one_of(const char *word, const char *const *words, size_t nr)
{
	size_t i;

	for (i = 0; word && i < nr; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static bool is_format(const char *driver)
{
	static const char *const formats[] = {
		"raw", "qcow2", "qcow", "qed", "vmdk", "vdi", "vpc", "vhdx", "luks", "parallels", "bochs",
		"cloop", "dmg",
	};

	return is_one_of(driver, formats, sizeof(formats) / sizeof(formats[0]));
}

static bool is_file(const char *driver)
{
	static const char *const files[] = { "file", "host_device", "host_cdrom" };

	return is_one_of(driver, files, sizeof(files) / sizeof(files[0]));
}

/* Whether the driver passes all requests on to another node. */
static bool is_filter(const char *driver)
{
	static const char *const filters[] = {
		"throttle", "copy-on-read", "blkdebug", "preallocate", "compress", "copy-before-write",
		"blklogwrites", "blkreplay",
	};

	return is_one_of(driver, filters, sizeof(filters) / sizeof(filters[0]));
}

static const char *get(const struct node *n, const char *key)
{
	return qemu_dict_get(n->dict, n->prefix, key);
}

/* As above. A missing value is inherited from the nodes that contain this one. */
static const char *inherited(const struct node *n, const char *key)
{
	const char *value = NULL;

	for (; n && !value; n = n->parent)
		value = get(n, key);
	return value;
}

static const struct qemu_dict *node_of(const struct finder *f, const char *name)
{
	size_t i;

	for (i = 0; name && i < f->nr_nodes; i++) {
		const char *own = qemu_dict_get(&f->nodes[i], "", "node-name");

		if (own && !strcmp(own, name))
			return &f->nodes[i];
	}
	return NULL;
}

/*
 * Calls @act for the child of @n under @key, which is a named node or nested in @n. False if there
 * is none.
 */
static bool with_child(struct finder *f, const struct node *n, const char *key,
		       void (*act)(struct finder *f, const struct node *child, struct qemu_drive *d),
		       struct qemu_drive *d)
{
	const struct qemu_dict *named = node_of(f, get(n, key));
	struct node child = { .dict = named, .prefix = "" };
	char *prefix = NULL;

	if (++f->followed > NODES_MAX)
		return false;
	if (!named && !qemu_dict_has_below(n->dict, n->prefix, key))
		return false;
	if (!named) {
		prefix = xasprintf("%s%s.", n->prefix, key);
		child = (struct node){ .dict = n->dict, .prefix = prefix, .parent = n };
	}
	act(f, &child, d);
	free(prefix);
	return true;
}

static struct qemu_layer *add_layer(struct qemu_drive *d, char *file, const char *format)
{
	d->layers = xreallocarray(d->layers, d->nr_layers + 1, sizeof(*d->layers));
	d->layers[d->nr_layers] = (struct qemu_layer){ .file = file, .format = copy(format) };
	return &d->layers[d->nr_layers++];
}

/* The name in -drive ("none" and so on) of a mode of cache.direct, cache.no-flush, write-cache. */
static const char *cache_mode(const struct node *n, const char *writeback)
{
	bool direct = qemu_is_on(inherited(n, "cache.direct"), false);

	if (qemu_is_on(inherited(n, "cache.no-flush"), false))
		return "unsafe";
	if (!qemu_is_on(writeback, true))
		return direct ? "directsync" : "writethrough";
	return direct ? "none" : "writeback";
}

/* The name of a layer that is not a file: its protocol, and the main part of its address. */
static char *remote_name(const struct node *n, const char *driver)
{
	static const char *const keys[] = { "filename", "path", "export", "image", "url", "volume" };
	const char *name = NULL;
	size_t i;

	for (i = 0; !name && i < sizeof(keys) / sizeof(keys[0]); i++)
		name = get(n, keys[i]);
	return xasprintf("%s:%s", driver ? driver : "?", name ? name : "");
}

/* Stores the file of the last layer. The drive has the cache mode of its first layer. */
static void take_file(struct finder *f, const struct node *n, struct qemu_drive *d)
{
	struct qemu_layer *layer = &d->layers[d->nr_layers - 1];
	const char *driver = get(n, "driver"), *name = get(n, "filename");

	if (is_filter(driver) || is_format(driver)) {
		with_child(f, n, "file", take_file, d);
		return;
	}
	if (name && (!driver || is_file(driver)))
		layer->file = xstrdup(name);
	else
		layer->file = remote_name(n, driver);
	if (d->nr_layers > 1)
		return;
	if (!d->cache)
		d->cache = xstrdup(cache_mode(n, inherited(n, "cache.writeback")));
	if (!d->aio)
		d->aio = copy(inherited(n, "aio"));
}

static void take_data_file(struct finder *f, const struct node *n, struct qemu_drive *d)
{
	struct qemu_layer *layer = &d->layers[d->nr_layers - 1];
	const char *name = get(n, "filename");

	if (name)
		layer->data_file = xstrdup(name);
	else if (is_filter(get(n, "driver")) || is_format(get(n, "driver")))
		with_child(f, n, "file", take_data_file, d);
}

/* Appends the layers of this node and of the nodes behind it. */
static void take_layers(struct finder *f, const struct node *n, struct qemu_drive *d)
{
	const char *driver = get(n, "driver");

	if (!driver)
		driver = get(n, "format");
	if (is_filter(driver)) {
		with_child(f, n, "file", take_layers, d);
		return;
	}
	if (driver && !is_format(driver)) {
		add_layer(d, NULL, is_file(driver) ? "raw" : NULL);
		take_file(f, n, d);
		d->whole = true;
		return;
	}
	add_layer(d, NULL, driver)->offset = qemu_bytes(get(n, "offset"));
	if (!with_child(f, n, "file", take_file, d))
		d->layers[d->nr_layers - 1].file = copy(get(n, get(n, "file") ? "file" : "filename"));
	if (!d->layers[d->nr_layers - 1].file)
		d->layers[d->nr_layers - 1].file = xstrdup("?:");
	with_child(f, n, "data-file", take_data_file, d);
	if (with_child(f, n, "backing", take_layers, d))
		return;
	d->whole = qemu_dict_has(n->dict, n->prefix, "backing");
}

/* --- devices ---------------------------------------------------------------- */

static const struct qemu_dict *device_of(const struct finder *f, const char *drive)
{
	size_t i;

	for (i = 0; drive && i < f->nr_devices; i++) {
		const char *own = qemu_dict_get(&f->devices[i], "", "drive");

		if (own && !strcmp(own, drive))
			return &f->devices[i];
	}
	return NULL;
}

static void take_device(const struct finder *f, struct qemu_drive *d)
{
	const struct qemu_dict *device = device_of(f, d->id);
	const char *write_cache;

	if (!device)
		device = device_of(f, d->node);
	if (!device)
		return;
	free(d->interface);
	d->interface = NULL;
	d->qdev = copy(qemu_dict_get(device, "", "id"));
	d->device = copy(qemu_dict_get(device, "", "driver"));
	if (!d->serial)
		d->serial = copy(qemu_dict_get(device, "", "serial"));
	write_cache = qemu_dict_get(device, "", "write-cache");
	if (d->cache && write_cache && !strcmp(write_cache, "off") && strcmp(d->cache, "unsafe")) {
		bool direct = !strcmp(d->cache, "none") || !strcmp(d->cache, "directsync");

		free(d->cache);
		d->cache = xstrdup(direct ? "directsync" : "writethrough");
	}
}

static struct qemu_drive *add_drive(struct finder *f)
{
	struct qemu_drives *all = f->drives;

	all->at = xreallocarray(all->at, all->nr + 1, sizeof(*all->at));
	all->at[all->nr] = (struct qemu_drive){ .snapshot = f->snapshot };
	f->followed = 0;
	return &all->at[all->nr++];
}

/* --- -blockdev ----------------------------------------------------------------- */

/* Whether another node refers to this one as its child. */
static bool is_part(const struct finder *f, const char *name)
{
	size_t i, j;

	for (i = 0; i < f->nr_nodes; i++)
		for (j = 0; j < f->nodes[i].nr; j++) {
			const struct qemu_pair *p = &f->nodes[i].at[j];
			const char *dot = strrchr(p->key, '.');
			const char *key = dot ? dot + 1 : p->key;

			if (p->value && !strcmp(p->value, name) &&
			    (!strcmp(key, "file") || !strcmp(key, "backing") || !strcmp(key, "data-file")))
				return true;
		}
	return false;
}

static void add_blockdev(struct finder *f, const struct qemu_dict *dict)
{
	const char *name = qemu_dict_get(dict, "", "node-name");
	struct node n = { .dict = dict, .prefix = "" };
	struct qemu_drive *d;

	if (!name || (is_part(f, name) && !device_of(f, name)))
		return;
	d = add_drive(f);
	d->node = xstrdup(name);
	take_layers(f, &n, d);
	take_device(f, d);
}

/* --- -drive ------------------------------------------------------------------------ */

enum { IF_IDE, IF_SCSI, IF_FLOPPY, IF_PFLASH, IF_MTD, IF_SD, IF_VIRTIO, IF_NONE, IF_OTHER };

static unsigned int interface_index(const char *name)
{
	static const char *const names[] = {
		[IF_IDE] = "ide", [IF_SCSI] = "scsi", [IF_FLOPPY] = "floppy", [IF_PFLASH] = "pflash",
		[IF_MTD] = "mtd", [IF_SD] = "sd", [IF_VIRTIO] = "virtio", [IF_NONE] = "none",
	};
	unsigned int i;

	for (i = 0; i < IF_OTHER; i++)
		if (!strcmp(name, names[i]))
			return i;
	return IF_OTHER;
}

static long number(const char *text)
{
	long n = text ? strtol(text, NULL, 10) : -1;

	return n > 1000000 ? 1000000 : n;
}

/* The index given with the drive, or the first free one. */
static long take_unit(struct finder *f, const struct qemu_dict *dict, unsigned int interface,
		      unsigned int on_bus)
{
	long index = number(qemu_dict_get(dict, "", "index"));
	long bus = number(qemu_dict_get(dict, "", "bus")), unit = number(qemu_dict_get(dict, "", "unit"));
	bool *taken = f->units[interface < IF_OTHER ? interface : IF_NONE];

	if (index < 0 && unit >= 0)
		index = (bus > 0 && on_bus ? bus * on_bus : 0) + unit;
	else if (index < 0)
		for (index = bus > 0 && on_bus ? bus * on_bus : 0; index < 63 && taken[index];)
			index++;
	if (index < 64)
		taken[index] = true;
	return index;
}

/* The id of the drive, or the one that QEMU generates: ide0-hd1, virtio0. */
static char *drive_id(struct finder *f, const struct qemu_dict *dict, const char *name)
{
	const char *id = qemu_dict_get(dict, "", "id"), *media = qemu_dict_get(dict, "", "media");
	unsigned int interface = interface_index(name);
	unsigned int on_bus = interface == IF_IDE ? 2 - f->q35 : interface == IF_SCSI ? 7 : 0;
	long index = take_unit(f, dict, interface, on_bus);
	const char *kind = interface > IF_SCSI ? "" : media && !strcmp(media, "cdrom") ? "-cd" : "-hd";

	if (id)
		return xstrdup(id);
	if (on_bus)
		return xasprintf("%s%ld%s%ld", name, index / on_bus, kind, index % on_bus);
	return xasprintf("%s%s%ld", name, kind, index);
}

static bool is_cache_mode(const char *mode)
{
	static const char *const modes[] = { "none", "writeback", "writethrough", "directsync", "unsafe" };

	return is_one_of(mode, modes, sizeof(modes) / sizeof(modes[0]));
}

/* Parses a file name that contains all options: json:{...}. */
static void take_json(struct finder *f, const char *text, struct qemu_drive *d)
{
	struct qemu_dict dict;
	struct node n = { .dict = &dict, .prefix = "" };

	qemu_dict_parse(&dict, text, NULL);
	take_layers(f, &n, d);
	qemu_dict_free(&dict);
}

static void add_drive_of(struct finder *f, const struct qemu_dict *dict)
{
	const char *interface = qemu_dict_get(dict, "", "if"), *cache = qemu_dict_get(dict, "", "cache");
	const char *file = qemu_dict_get(dict, "", "file"), *format = qemu_dict_get(dict, "", "format");
	struct node n = { .dict = dict, .prefix = "" };
	struct qemu_drive *d = add_drive(f);

	if (!interface)
		interface = f->interface;
	if (!format)
		format = qemu_dict_get(dict, "", "driver");
	d->id = drive_id(f, dict, interface);
	d->node = copy(qemu_dict_get(dict, "", "node-name"));
	d->interface = xstrdup(interface);
	d->serial = copy(qemu_dict_get(dict, "", "serial"));
	d->cache = xstrdup(is_cache_mode(cache) ? cache : cache_mode(&n, qemu_dict_get(dict, "", "cache.writeback")));
	d->aio = copy(qemu_dict_get(dict, "", "aio"));
	d->snapshot = qemu_is_on(qemu_dict_get(dict, "", "snapshot"), f->snapshot);
	if (file && !strncmp(file, "json:", 5)) {
		take_json(f, file + 5, d);
	} else if (file && *file) {
		/* a file name and perhaps a format, without nodes */
		add_layer(d, xstrdup(file), is_file(format) ? "raw" : format)->offset =
			qemu_bytes(qemu_dict_get(dict, "", "offset"));
		d->whole = !with_child(f, &n, "backing", take_layers, d) && qemu_dict_has(dict, "", "backing");
	} else if (qemu_dict_has_below(dict, "", "file") || format) {
		take_layers(f, &n, d);
	}
	take_device(f, d);
}

/* Options such as -hda FILE stand for -drive with these values. */
static const struct {
	const char *name;
	const char *drive;
} short_options[] = {
	{ "hda", "index=0,media=disk" }, { "hdb", "index=1,media=disk" },
	{ "hdc", "index=2,media=disk" }, { "hdd", "index=3,media=disk" },
	{ "cdrom", "index=2,media=cdrom" }, { "fda", "if=floppy,index=0" },
	{ "fdb", "if=floppy,index=1" }, { "pflash", "if=pflash" }, { "sd", "if=sd" },
	{ "mtdblock", "if=mtd" },
};

static void add_short(struct finder *f, const struct qemu_option *o)
{
	struct qemu_dict dict;
	size_t i;

	for (i = 0; i < sizeof(short_options) / sizeof(short_options[0]); i++) {
		if (strcmp(o->name, short_options[i].name))
			continue;
		qemu_dict_parse(&dict, short_options[i].drive, NULL);
		dict.at = xreallocarray(dict.at, dict.nr + 1, sizeof(*dict.at));
		dict.at[dict.nr++] = (struct qemu_pair){ xstrdup("file"), xstrdup(o->value) };
		add_drive_of(f, &dict);
		qemu_dict_free(&dict);
	}
}

/* --- all of them --------------------------------------------------------------- */

static struct qemu_dict *grow(struct qemu_dict **all, size_t *nr)
{
	*all = xreallocarray(*all, *nr + 1, sizeof(**all));
	return &(*all)[(*nr)++];
}

/* -machine pflash0=NODE attaches a node to a device, too. */
static void add_flash(struct finder *f, const char *machine)
{
	static const char *const names[] = { "pflash0", "pflash1" };
	struct qemu_dict dict;
	size_t i;

	qemu_dict_parse(&dict, machine, "type");
	for (i = 0; i < 2; i++) {
		const char *node = qemu_dict_get(&dict, "", names[i]);
		struct qemu_dict *device = node ? grow(&f->devices, &f->nr_devices) : NULL;
		char *text = node ? xasprintf("%s,id=%s", names[i], names[i]) : NULL;

		if (!device)
			continue;
		qemu_dict_parse(device, text, "driver");
		device->at = xreallocarray(device->at, device->nr + 1, sizeof(*device->at));
		device->at[device->nr++] = (struct qemu_pair){ xstrdup("drive"), xstrdup(node) };
		free(text);
	}
	qemu_dict_free(&dict);
}

static void collect(struct finder *f, const struct qemu_args *args)
{
	size_t i;

	for (i = 0; i < args->nr; i++) {
		const struct qemu_option *o = &args->at[i];

		if (!strcmp(o->name, "blockdev"))
			qemu_dict_parse(grow(&f->nodes, &f->nr_nodes), o->value, "driver");
		else if (!strcmp(o->name, "device"))
			qemu_dict_parse(grow(&f->devices, &f->nr_devices), o->value, "driver");
		else if (!strcmp(o->name, "machine") || !strcmp(o->name, "M"))
			add_flash(f, o->value);
		else if (!strcmp(o->name, "snapshot"))
			f->snapshot = true;
	}
}

void qemu_drives_find(struct qemu_drives *drives, const struct qemu_args *args, bool q35,
		      const char *interface)
{
	struct finder f = { .drives = drives, .q35 = q35, .interface = interface };
	struct qemu_dict dict;
	size_t i;

	*drives = (struct qemu_drives){ 0 };
	collect(&f, args);
	for (i = 0; i < f.nr_nodes; i++)
		add_blockdev(&f, &f.nodes[i]);
	for (i = 0; i < args->nr; i++) {
		if (strcmp(args->at[i].name, "drive")) {
			add_short(&f, &args->at[i]);
			continue;
		}
		qemu_dict_parse(&dict, args->at[i].value, NULL);
		add_drive_of(&f, &dict);
		qemu_dict_free(&dict);
	}
	while (f.nr_nodes)
		qemu_dict_free(&f.nodes[--f.nr_nodes]);
	while (f.nr_devices)
		qemu_dict_free(&f.devices[--f.nr_devices]);
	free(f.nodes);
	free(f.devices);
}

void qemu_drive_put_above(struct qemu_drive *d, const char *file, const char *format)
{
	d->layers = xreallocarray(d->layers, d->nr_layers + 1, sizeof(*d->layers));
	memmove(d->layers + 1, d->layers, d->nr_layers * sizeof(*d->layers));
	d->layers[0] = (struct qemu_layer){ .file = xstrdup(file), .format = xstrdup(format) };
	d->nr_layers++;
}

static void free_drive(struct qemu_drive *d)
{
	size_t i;

	for (i = 0; i < d->nr_layers; i++) {
		free(d->layers[i].file);
		free(d->layers[i].format);
		free(d->layers[i].data_file);
	}
	free(d->layers);
	free(d->id);
	free(d->node);
	free(d->qdev);
	free(d->device);
	free(d->interface);
	free(d->serial);
	free(d->cache);
	free(d->aio);
}

void qemu_drives_free(struct qemu_drives *drives)
{
	while (drives->nr)
		free_drive(&drives->at[--drives->nr]);
	free(drives->at);
	*drives = (struct qemu_drives){ 0 };
}
