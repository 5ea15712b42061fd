// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "vm/image.h"

int image_open_below(int root, const char *name, int flags)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int fd;

	if (root == IMAGE_OWN_ROOT) {
		fd = open(name, flags | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	fd = syscall(SYS_openat2, root, name, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

bool image_is_remote(const char *name)
{
	size_t colon = strcspn(name, ":/");

	return name[colon] == ':' && strncmp(name, "file:", 5);
}

bool image_is_same(const struct stat *a, const struct stat *b)
{
	if (S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode))
		return a->st_rdev == b->st_rdev;
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* QEMU locks a byte of the file for each permission that it uses. This is the byte for writing. */
#define QEMU_LOCK_WRITE	101

bool image_is_written(const struct image *image)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = QEMU_LOCK_WRITE, .l_len = 1 };

	return image->fd >= 0 && !fcntl(image->fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

char *image_relative(const char *from, const char *name)
{
	const char *slash = strrchr(from, '/');

	if (!strncmp(name, "file:", 5))
		name += 5;
	if (*name == '/' || !slash || image_is_remote(name))
		return xstrdup(name);
	return xasprintf("%.*s/%s", (int)(slash - from), from, name);
}

/* Signatures of formats, with which the disk of a guest does not begin. */
static const struct {
	size_t at;
	const char *bytes;
	const char *format;
} magics[] = {
	{ 0, "QFI\xfb", "qcow" }, { 0, "KDMV", "vmdk" }, { 0, "# Disk DescriptorFile", "vmdk" },
	{ 0, "QED", "qed" }, { 0, "vhdxfile", "vhdx" }, { 0, "conectix", "vpc" },
	{ 64, "\x7f\x10\xda\xbe", "vdi" }, { 0, "WithoutFreeSpace", "parallels" },
	{ 0, "WithouFreSpacExt", "parallels" },
};

static const char *format_of(int fd)
{
	char first[512] = "";
	ssize_t n = pread(fd, first, sizeof(first), 0);
	size_t i;

	if (n >= 8 && qcow2_is(first, n))
		return "qcow2";
	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (!memcmp(first + magics[i].at, magics[i].bytes, strlen(magics[i].bytes)))
			return magics[i].format;
	return "raw";
}

/* Opens a file or block device. Others are refused first, as opening one can have side effects. */
static char *open_file(struct image *image, const struct image_finder *finder)
{
	int found = finder->find(finder->data, image->name);
	char *path;

	if (found < 0)
		return xasprintf("cannot be opened: %s", strerror(-found));
	image->found = !fstat(found, &image->st);
	if (!image->found || (!S_ISREG(image->st.st_mode) && !S_ISBLK(image->st.st_mode))) {
		close(found);
		return xstrdup("is neither a file nor a block device");
	}
	path = xasprintf("/proc/self/fd/%d", found);
	image->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	free(path);
	close(found);
	return image->fd < 0 ? xasprintf("cannot be opened: %s", strerror(errno)) : NULL;
}

static char *open_qcow2(struct image *image)
{
	char *why = qcow2_open(&image->qcow2, image->fd);

	if (why)
		return why;
	image->size = image->qcow2.size;
	if (!image->qcow2.has_data_file)
		return NULL;
	if (!image->qcow2.data_file)
		return xstrdup("needs an external data file, but does not name it");
	image->data_file = image_relative(image->name, image->qcow2.data_file);
	return NULL;
}

static char *open_any(struct image *image, const struct image_finder *finder)
{
	char *why = open_file(image, finder);
	off_t end;

	if (why)
		return why;
	if (!image->format)
		image->format = xstrdup(format_of(image->fd));
	if (!strcmp(image->format, "qcow2"))
		return open_qcow2(image);
	if (strcmp(image->format, "raw"))
		return xasprintf("has format %s; only raw and qcow2 can be mapped", image->format);
	end = lseek(image->fd, 0, SEEK_END);
	/* QEMU rounds the size up to sectors */
	image->size = end < 0 ? 0 : ((__u64)end + 511) & ~511ULL;
	return end < 0 ? xasprintf("has a size that cannot be read: %s", strerror(errno)) : NULL;
}

void image_open_by(struct image *image, const struct image_finder *finder, const char *name, const char *format)
{
	*image = (struct image){
		.name = xstrdup(name), .format = format ? xstrdup(format) : NULL,
		.fd = -1, .remote = image_is_remote(name),
	};
	image->qcow2.fd = -1;
	image->why = image->remote ? xstrdup("is not a local file") : open_any(image, finder);
}

static int find_below(const void *data, const char *name)
{
	return image_open_below(*(const int *)data, name, O_PATH);
}

void image_open(struct image *image, int root, const char *name, const char *format)
{
	const struct image_finder finder = { find_below, &root };

	image_open_by(image, &finder, name, format);
}

void image_close(struct image *image)
{
	qcow2_close(&image->qcow2);
	if (image->fd >= 0)
		close(image->fd);
	free(image->name);
	free(image->format);
	free(image->why);
	free(image->data_file);
}

struct image *image_chain_add(struct image_chain *chain)
{
	chain->at = xreallocarray(chain->at, chain->nr + 1, sizeof(*chain->at));
	chain->at[chain->nr] = (struct image){ .fd = -1 };
	return &chain->at[chain->nr++];
}

void image_chain_close(struct image_chain *chain)
{
	size_t i;

	for (i = 0; i < chain->nr; i++)
		image_close(&chain->at[i]);
	free(chain->at);
	*chain = (struct image_chain){ 0 };
}

/* The file named in {"driver":"qcow2","file":{"driver":"file","filename":"..."}}, or NULL. */
static char *name_in_json(const char *text, char **format)
{
	json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	json_t *file = json_object_get(all, "file");
	const char *name = json_string_value(json_object_get(file ? file : all, "filename"));
	const char *driver = json_string_value(json_object_get(all, "driver"));
	char *copy = name ? xstrdup(name) : NULL;

	if (!name)
		name = json_string_value(json_object_get(all, "file.filename"));
	if (!copy && name)
		copy = xstrdup(name);
	if (copy && driver && strcmp(driver, "file") && strcmp(driver, "host_device")) {
		free(*format);
		*format = xstrdup(driver);
	}
	json_decref(all);
	return copy;
}

/* The name of the backing file, or NULL, and its format, or NULL. The caller frees both. */
static char *backing_of(const struct image *image, char **format)
{
	const struct qcow2 *q = &image->qcow2;
	char *in_json, *name;

	*format = NULL;
	if (image->why || !image->format || strcmp(image->format, "qcow2") || !q->backing)
		return NULL;
	if (q->backing_format)
		*format = xstrdup(q->backing_format);
	if (strncmp(q->backing, "json:", 5))
		return image_relative(image->name, q->backing);
	in_json = name_in_json(q->backing + 5, format);
	name = in_json ? image_relative(image->name, in_json) : xstrdup(q->backing);
	free(in_json);
	return name;
}

static bool is_in_chain(const struct image_chain *chain, const struct image *image)
{
	size_t i;

	for (i = 0; image->found && i + 1 < chain->nr; i++)
		if (chain->at[i].found && image_is_same(&chain->at[i].st, &image->st))
			return true;
	return false;
}

void image_chain_follow_by(struct image_chain *chain, const struct image_finder *finder)
{
	char *format, *name;

	while (chain->nr && (name = backing_of(&chain->at[chain->nr - 1], &format))) {
		struct image *image = image_chain_add(chain);

		image_open_by(image, finder, name, format);
		if (!image->why && is_in_chain(chain, image))
			image->why = xstrdup("is its own backing file, through other images");
		else if (!image->why && chain->nr == IMAGE_LAYERS)
			image->why = xasprintf("is layer %d of a chain: deeper layers are not read", IMAGE_LAYERS);
		free(name);
		free(format);
	}
}

void image_chain_follow(struct image_chain *chain, int root)
{
	const struct image_finder finder = { find_below, &root };

	image_chain_follow_by(chain, &finder);
}

/* --- the place of a range -------------------------------------------------- */

/* A hole reads as zeros, but has an offset in the file, too. */
static void map_raw(const struct image *image, __u64 guest, struct image_piece *piece)
{
	off_t next = S_ISREG(image->st.st_mode) ? lseek(image->fd, guest, SEEK_DATA) : (off_t)guest;

	piece->kind = IMAGE_DATA;
	piece->has_host = true;
	piece->host = guest;
	if (next < 0 && errno == ENXIO) {
		piece->kind = IMAGE_ZERO;
		return;
	}
	if (next > (off_t)guest)
		piece->kind = IMAGE_ZERO;
	else if (S_ISREG(image->st.st_mode))
		next = lseek(image->fd, guest, SEEK_HOLE);
	if (next > (off_t)guest && next - guest < piece->length)
		piece->length = next - guest;
}

static char *map_qcow2(struct image *image, __u64 guest, struct image_piece *piece)
{
	static const enum image_kind kinds[] = {
		[QCOW2_UNALLOCATED] = IMAGE_UNALLOCATED, [QCOW2_ZERO] = IMAGE_ZERO,
		[QCOW2_DATA] = IMAGE_DATA, [QCOW2_COMPRESSED] = IMAGE_COMPRESSED,
	};
	struct qcow2_piece found;
	char *why = qcow2_at(&image->qcow2, guest, piece->length, &found);

	if (why)
		return why;
	piece->kind = kinds[found.kind];
	if (found.length < piece->length)
		piece->length = found.length;
	piece->has_host = found.has_host;
	piece->host = found.host;
	piece->host_length = found.host_length;
	return NULL;
}

const char *image_chain_map(struct image_chain *chain, __u64 guest, __u64 end,
			    struct image_piece *piece, const struct image **wrong)
{
	size_t i;

	*piece = (struct image_piece){
		.guest = guest, .length = end - guest, .kind = IMAGE_UNALLOCATED,
	};
	for (i = 0; i < chain->nr && piece->kind == IMAGE_UNALLOCATED; i++) {
		struct image *image = &chain->at[i];

		*wrong = image;
		if (image->why)
			return image->why;
		/* past the end of a shorter backing file, the disk reads as zeros */
		if (guest >= image->size)
			break;
		if (piece->length > image->size - guest)
			piece->length = image->size - guest;
		if (!strcmp(image->format, "qcow2"))
			image->why = map_qcow2(image, guest, piece);
		else
			map_raw(image, guest, piece);
		if (image->why)
			return image->why;
		piece->layer = image;
		piece->depth = i;
	}
	if (piece->kind == IMAGE_UNALLOCATED)
		piece->layer = NULL;
	return NULL;
}
