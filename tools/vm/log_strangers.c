// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "vm/image.h"
#include "vm/log_strangers.h"

/* Programs and firmware are not images, though they may consist of whole sectors. */
static bool is_installed(const char *path)
{
	static const char *const places[] = { "/usr/", "/lib/", "/lib64/", "/etc/", "/bin/", "/opt/" };
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!strncmp(path, places[i], strlen(places[i])))
			return true;
	return false;
}

static bool has_format(const char *path)
{
	struct image_chain chain = { 0 };
	struct image *image = image_chain_add(&chain);
	bool has;

	image_open(image, IMAGE_OWN_ROOT, path, NULL);
	has = image->format && strcmp(image->format, "raw");
	image_chain_close(&chain);
	return has;
}

/* Whether a file may be an image; true if it is gone. @shown: its path, escaped. */
static bool may_be_image(const char *shown, __u64 inode)
{
	char *path = xstrdup(shown);
	struct stat st;
	bool may;

	text_unescape(path);
	if (stat(path, &st) || st.st_ino != inode || S_ISBLK(st.st_mode))
		may = true;
	else if (!S_ISREG(st.st_mode))
		may = false;
	else
		may = has_format(path) || (st.st_size && st.st_size % 512 == 0 && !is_installed(path));
	free(path);
	return may;
}

bool log_strangers_want(struct log_strangers *s, const struct iot_fs *fs, const char *path)
{
	struct log_stranger *stranger;
	size_t i;

	for (i = 0; i < s->nr; i++) {
		stranger = &s->at[i];
		if (stranger->inode == fs->inode && stranger->device == fs->device && stranger->path == fs->path)
			return stranger->wanted;
	}
	s->at = xreallocarray(s->at, s->nr + 1, sizeof(*s->at));
	stranger = &s->at[s->nr++];
	*stranger = (struct log_stranger){ fs->device, fs->inode, fs->path, !path || may_be_image(path, fs->inode) };
	return stranger->wanted;
}

void log_strangers_free(struct log_strangers *s)
{
	free(s->at);
	*s = (struct log_strangers){ .at = NULL };
}
