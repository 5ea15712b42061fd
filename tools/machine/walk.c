// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "machine/walk.h"

#define BUFFER		(64 * 1024)	/* bytes for the names of a directory */
#define BUFFER_DEEP	4096		/* from level LEVELS_LARGE on */
#define LEVELS_LARGE	16

#ifndef STATX_MNT_ID
#define STATX_MNT_ID	0x00001000U
#endif

#define WANTED (STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID)

/* A directory that is being read. */
struct walk_level {
	int fd;
	__u64 mount;
	unsigned int major, minor;	/* of its filesystem */
	unsigned int dev_major, dev_minor;	/* by stat(2): of a subvolume */
	size_t length;		/* of its path */
	char *buffer;
	size_t at, end;		/* in the buffer */
};

static char *path_of(const struct walk *w, const char *name)
{
	return xasprintf("%s%s%s", w->path, w->length > 1 ? "/" : "", name);
}

static void fail(struct walk *w, const char *name, int err)
{
	char *path, *shown;

	w->errors++;
	if (w->first_error)
		return;
	path = path_of(w, name);
	shown = text_show(path, strlen(path));
	w->first_error = xasprintf("%s: %s", shown, strerror(err));
	free(shown);
	free(path);
}

/*
 * Opens a file below @dir without following links and, unless @cross, without leaving the mount.
 * Does not change the access time, if this process is allowed to use O_NOATIME.
 */
static int open_below(int dir, const char *name, __u64 flags, bool cross)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | (cross ? 0 : RESOLVE_NO_XDEV),
	};
	int fd;

	if (!(flags & O_PATH))
		how.flags |= O_NOATIME;
	fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));
	if (fd >= 0 || errno != EPERM || !(how.flags & O_NOATIME))
		return fd;
	how.flags &= ~(__u64)O_NOATIME;
	return syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

/* Whether the filesystem of an open file is a pseudo filesystem. */
static bool is_pseudo(const struct walk *w, int fd, __u64 mount)
{
	const struct mount *m = mounts_find(&w->table, mount);
	struct statfs st;

	if (m && mounts_is_pseudo_type(m->type))
		return true;
	return !fstatfs(fd, &st) && mounts_is_pseudo_magic(st.f_type);
}

/*
 * Stores the device of the superblock, as in traces. stat(2) returns another one for subvolumes of
 * btrfs, and for files of some overlays.
 */
static void find_device(const struct walk *w, struct walk_level *level, const struct statx *st)
{
	const struct mount *m = mounts_find(&w->table, st->stx_mnt_id);

	level->mount = st->stx_mnt_id;
	level->dev_major = st->stx_dev_major;
	level->dev_minor = st->stx_dev_minor;
	level->major = m ? m->major : st->stx_dev_major;
	level->minor = m ? m->minor : st->stx_dev_minor;
}

/* The number of extents of a regular file; -1 if it cannot be determined. */
static __s64 count_extents(int dir, const char *name)
{
	struct fiemap map = { .fm_length = FIEMAP_MAX_OFFSET };
	int fd = open_below(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, false);
	__s64 extents = -1;

	if (fd < 0)
		return -1;
	if (!ioctl(fd, FS_IOC_FIEMAP, &map))
		extents = map.fm_mapped_extents;
	close(fd);
	return extents;
}

/* Passes a file of the innermost directory, on the filesystem of @level, to the caller. */
static void report(struct walk *w, const struct walk_level *level, const char *name,
		   __s64 extents)
{
	struct walk_entry e = {
		.name = name, .length = strlen(name), .level = w->nr_levels, .stat = &w->stat,
		.major = level->major, .minor = level->minor, .extents = extents,
	};

	w->ended = !w->entry(w->data, &e);
}

/* Whether an inode was reported already, by another link. */
static bool is_known(struct walk *w, const struct statx *st)
{
	__u64 device = makedev(st->stx_dev_major, st->stx_dev_minor);

	if (st->stx_nlink < 2 || S_ISDIR(st->stx_mode))
		return false;
	return !hardlinks_first(&w->seen, device, st->stx_ino, st->stx_nlink);
}

/* Reports a file without opening it. A mount point is skipped, as it belongs to another mount. */
static void look_at(struct walk *w, const struct walk_level *level, const char *name)
{
	struct statx *st = &w->stat;

	if (statx(level->fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, WANTED, st)) {
		if (errno == ENOENT)
			w->vanished++;
		else
			fail(w, name, errno);
		return;
	}
	if (st->stx_mnt_id != level->mount)
		w->mounts++;
	else if (is_known(w, st))
		w->links++;
	else
		report(w, level, name, w->extents && S_ISREG(st->stx_mode) ?
		       count_extents(level->fd, name) : -1);
}

/* Makes a directory the innermost level, and updates the path. Takes the descriptor. */
static void enter(struct walk *w, int fd, const char *name, const struct walk_level *like)
{
	struct walk_level *level = &w->levels[w->nr_levels];

	if (!level->buffer)
		level->buffer = xreallocarray(NULL, w->nr_levels < LEVELS_LARGE ? BUFFER : BUFFER_DEEP, 1);
	level->fd = fd;
	level->mount = like->mount;
	level->major = like->major;
	level->minor = like->minor;
	level->dev_major = like->dev_major;
	level->dev_minor = like->dev_minor;
	level->at = 0;
	level->end = 0;
	if (w->nr_levels) {
		if (w->length > 1)
			w->path[w->length++] = '/';
		w->length = stpcpy(w->path + w->length, name) - w->path;
	}
	level->length = w->length;
	w->nr_levels++;
}

static void leave(struct walk *w)
{
	close(w->levels[--w->nr_levels].fd);
	w->length = w->nr_levels ? w->levels[w->nr_levels - 1].length : 0;
	w->path[w->length] = '\0';
}

/* Whether to report and enter an opened directory, which may be a mount point. */
static bool is_wanted(struct walk *w, int fd, const struct walk_level *from,
		      const struct walk_level *to)
{
	const struct mount *m;

	/* the root of a subvolume has another device number */
	if (!w->cross && (to->mount != from->mount || to->dev_major != from->dev_major ||
			  to->dev_minor != from->dev_minor)) {
		w->mounts++;
		return false;
	}
	if (to->mount == from->mount)
		return true;
	if (is_pseudo(w, fd, to->mount)) {
		w->pseudo++;
		return false;
	}
	m = mounts_find(&w->table, to->mount);
	if (m && mounts_is_elsewhere(&w->table, m, w->root, w->root_mount)) {
		w->mounts++;
		return false;
	}
	return true;
}

/* Opens a mount point, first with O_PATH, so that an automount is not triggered. */
static int open_mount(const struct walk_level *level, const char *name, __u64 flags)
{
	int place = open_below(level->fd, name, O_PATH, true), fd, err;
	struct statfs st;

	if (place < 0)
		return -1;
	if (!fstatfs(place, &st) && mounts_is_pseudo_magic(st.f_type)) {
		close(place);
		errno = ENODEV;
		return -1;
	}
	fd = open_below(level->fd, name, flags, true);
	err = errno;
	close(place);
	errno = err;
	return fd;
}

/* Opens a directory. Returns -1 if that is not possible, which is counted or left to look_at(). */
static int open_directory(struct walk *w, const struct walk_level *level, const char *name,
			  bool *look)
{
	__u64 flags = w->nr_levels < w->depth ? O_RDONLY | O_DIRECTORY : O_PATH | O_DIRECTORY;
	int fd = open_below(level->fd, name, flags, false);

	*look = false;
	if (fd < 0 && errno == EXDEV && w->cross)
		fd = open_mount(level, name, flags);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT) {
		w->vanished++;
	} else if (errno == EXDEV) {
		w->mounts++;
	} else if (errno == ENODEV) {
		w->pseudo++;
	} else {
		*look = true;
		if (errno != ENOTDIR && errno != ELOOP)
			fail(w, name, errno);
	}
	return -1;
}

/* Whether to read a directory below the innermost one. */
static bool is_deeper(struct walk *w, const char *name)
{
	if (w->nr_levels >= w->depth)
		return false;
	if (w->nr_levels < WALK_LEVELS && w->length + strlen(name) + 2 < WALK_PATH_MAX)
		return true;
	fail(w, name, ENAMETOOLONG);
	return false;
}

/* Reports a directory, and begins to read it unless it is too deep. */
static void visit_directory(struct walk *w, struct walk_level *level, const char *name)
{
	struct walk_level found = { 0 };
	bool look;
	int fd = open_directory(w, level, name, &look);

	if (look)
		look_at(w, level, name);
	if (fd < 0)
		return;
	if (statx(fd, "", AT_EMPTY_PATH, WANTED, &w->stat)) {
		fail(w, name, errno);
		close(fd);
		return;
	}
	find_device(w, &found, &w->stat);
	if (is_wanted(w, fd, level, &found)) {
		report(w, &found, name, -1);
		if (!w->ended && is_deeper(w, name)) {
			enter(w, fd, name, &found);
			return;
		}
	}
	close(fd);
}

/* The next name in the directory, or NULL at its end. */
static const struct dirent64 *next(struct walk *w, struct walk_level *level)
{
	size_t size = level - w->levels < LEVELS_LARGE ? BUFFER : BUFFER_DEEP;
	const struct dirent64 *e;
	ssize_t n;

	if (level->at == level->end) {
		n = getdents64(level->fd, level->buffer, size);
		if (n < 0 && errno != ENOENT)
			fail(w, ".", errno);
		if (n <= 0)
			return NULL;
		level->at = 0;
		level->end = n;
	}
	e = (const struct dirent64 *)(level->buffer + level->at);
	level->at += e->d_reclen;
	return e;
}

/* Raises the limit of open files, because a descriptor is open for each level of the tree. */
static void allow_files(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static bool refuse(const char *root, const char *why)
{
	cli_say_of(root, "%s", why);
	return false;
}

/* The path by which the kernel knows an open directory. */
static char *real_path(int fd)
{
	char *link = xasprintf("/proc/self/fd/%d", fd);
	char *path = xreallocarray(NULL, WALK_PATH_MAX, 1);
	ssize_t n = readlink(link, path, WALK_PATH_MAX - 1);

	free(link);
	path[n > 0 ? n : 0] = '\0';
	return path;
}

bool walk_open(struct walk *w, const char *root)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_NOATIME | O_CLOEXEC);
	struct walk_level top = { 0 };
	const struct mount *m;

	if (fd < 0 && errno == EPERM)
		fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return refuse(root, strerror(errno));
	allow_files();
	mounts_read(&w->table);
	w->levels = xreallocarray(NULL, WALK_LEVELS, sizeof(*w->levels));
	memset(w->levels, 0, WALK_LEVELS * sizeof(*w->levels));
	w->path = real_path(fd);
	w->length = strlen(w->path);
	w->root = xstrdup(w->path);
	if (statx(fd, "", AT_EMPTY_PATH, WANTED, &w->stat)) {
		close(fd);
		return refuse(root, strerror(errno));
	}
	find_device(w, &top, &w->stat);
	w->root_mount = top.mount;
	m = mounts_find(&w->table, top.mount);
	w->type = m ? m->type : "";
	if (is_pseudo(w, fd, top.mount)) {
		close(fd);
		return refuse(root, "is on a pseudo filesystem: the kernel generates its files, which take no space");
	}
	if (*w->path != '/' || w->length >= WALK_PATH_MAX / 2) {
		close(fd);
		return refuse(root, "has no path, or one that is too long");
	}
	enter(w, fd, "", &top);
	return true;
}

bool walk_run(struct walk *w)
{
	struct walk_entry e = {
		.name = w->root, .length = w->length, .stat = &w->stat,
		.major = w->levels[0].major, .minor = w->levels[0].minor, .extents = -1,
	};

	w->ended = !w->entry(w->data, &e);
	if (!w->depth)
		return !w->ended;
	while (w->nr_levels && !w->ended) {
		struct walk_level *level = &w->levels[w->nr_levels - 1];
		const struct dirent64 *found = next(w, level);

		if (!found)
			leave(w);
		else if (!strcmp(found->d_name, ".") || !strcmp(found->d_name, ".."))
			continue;
		else if (found->d_type == DT_DIR || found->d_type == DT_UNKNOWN)
			visit_directory(w, level, found->d_name);
		else
			look_at(w, level, found->d_name);
	}
	return !w->ended;
}

void walk_close(struct walk *w)
{
	size_t i;

	while (w->nr_levels)
		leave(w);
	for (i = 0; w->levels && i < WALK_LEVELS; i++)
		free(w->levels[i].buffer);
	free(w->levels);
	free(w->path);
	free(w->root);
	free(w->first_error);
	hardlinks_free(&w->seen);
	mounts_free(&w->table);
}
