// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "machine/snapshot.h"
#include "vm/guest_recorder.h"
#include "vm/guest_sheet.h"
#include "vm/vm_find.h"
#include "vm/vm_object.h"

/* Reading the map of an image this large takes about ten seconds, and delays the recording. */
#define CLUSTERS_MAX	(1u << 24)

/* The index of the same file among the first @nr, or @nr: several drives can share an image. */
static size_t find(const struct vm_files *files, size_t nr, size_t i)
{
	size_t j;

	for (j = 0; j < nr && strcmp(files->names[j], files->names[i]); j++)
		;
	return j;
}

/* Holds a deleted file open. *@name becomes a name that is valid while the descriptor is open. */
static int hold(char **name)
{
	int fd = open(*name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0) {
		free(*name);
		*name = xasprintf("/proc/self/fd/%d", fd);
	}
	return fd;
}

static struct guest_recorder *of(struct keeper *k)
{
	return (struct guest_recorder *)((char *)k - offsetof(struct guest_recorder, keeper));
}

static void open_images(struct keeper *k)
{
	struct guest_recorder *r = of(k);
	struct vm_files *files = &r->files;
	size_t i, j, nr = 0;

	r->pid = vm_pid(r->machine);
	vm_files(files, r->machine, VM_DELETED);
	r->held = xreallocarray(NULL, files->nr + 1, sizeof(*r->held));
	for (i = 0; i < files->nr; i++) {
		j = find(files, nr, i);
		if (j < nr) {
			r->images.at[j].drives = guest_add_drive(r->images.at[j].drives, files->drives[i]);
			free(files->names[i]);
			continue;
		}
		guest_images_add(&r->images, files->shown[i], xstrdup(files->drives[i]));
		files->names[nr] = files->names[i];
		files->formats[nr] = files->formats[i];
		files->deleted[nr++] = files->deleted[i];
	}
	files->nr = nr;
	for (i = 0; i < nr; i++)
		r->held[i] = files->deleted[i] ? hold(&files->names[i]) : -1;
}

static bool is_known(const struct guest_image *known, const char *name)
{
	struct stat st;

	return !known->inode || (!stat(name, &st) && st.st_ino == known->inode &&
				 (major(st.st_dev) << 20 | minor(st.st_dev)) == known->device);
}

/*
 * Reads the image by its name at the start. If that leads to another file or nowhere, tries the
 * descriptors of QEMU, which still has a deleted file open. If the name is below the root directory
 * of a VM that has ended, tries it in our own root directory.
 */
static char *read_image(const struct guest_recorder *r, const struct guest_image *known, struct guest_image *image,
			const char *name, const char *format)
{
	const char *below = strncmp(name, "/proc/", 6) ? NULL : strstr(name, "/root/");
	char *own = is_known(known, name) ? NULL : vm_open_path(r->pid, known->device, known->inode), *why;

	if (own)
		name = own;
	else if (access(name, F_OK) && below)
		name = below + strlen("/root");
	why = guest_image_read(image, name, format, CLUSTERS_MAX);
	if (!why && image->nr_maps)
		image->maps[0].live |= vm_writes(r->pid, image->device, image->inode);
	free(own);
	return why;
}

/* Whether the image is the same file as one before it, which has the map. */
static bool is_again(const struct guest_images *images, size_t i)
{
	size_t j;

	for (j = 0; j < i; j++)
		if (images->at[j].inode == images->at[i].inode &&
		    images->at[j].device == images->at[i].device)
			return true;
	return false;
}

/* Adds the present state of all images to @now. @problems: NULL, or why an image has no map. */
static void read_all(struct guest_recorder *r, struct guest_images *now, char **problems)
{
	size_t i;

	for (i = 0; i < r->images.nr; i++) {
		struct guest_image *known = &r->images.at[i], *image;

		image = guest_images_add(now, known->file, xstrdup(known->drives));
		problems[i] = read_image(r, known, image, r->files.names[i], r->files.formats[i]);
		if (!known->inode) {
			known->device = image->device;
			known->inode = image->inode;
		}
		if (!problems[i] && is_again(&r->images, i))
			problems[i] = xstrdup("is the same file as another image");
		if (image->inode && (known->device != image->device || known->inode != image->inode)) {
			free(problems[i]);
			problems[i] = xstrdup("was replaced by another file");
		}
		image->device = known->device;
		image->inode = known->inode;
	}
}

static bool write_into(const struct guest_images *now, char *const *problems, int trace,
		       const char *name)
{
	char *where = xasprintf("%s/" SNAPSHOT_DIRECTORY, name);
	int in = -1;
	bool good;

	if (!mkdirat(trace, SNAPSHOT_DIRECTORY, 0700) || errno == EEXIST)
		in = openat(trace, SNAPSHOT_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (in < 0)
		cli_say_of(where, "cannot be made: %s", strerror(errno));
	good = in >= 0 && guest_sheet_write(now, problems, in, where);
	if (in >= 0)
		close(in);
	free(where);
	return good;
}

static void take(struct guest_recorder *r, const struct guest_trace *traces, size_t nr)
{
	char **problems = xreallocarray(NULL, r->images.nr + 1, sizeof(*problems));
	struct guest_images now = { 0 };
	size_t i;

	read_all(r, &now, problems);
	for (i = 0; i < nr; i++)
		r->keeper.failed += !write_into(&now, problems, traces[i].dir, traces[i].name);
	for (i = 0; i < now.nr; i++)
		free(problems[i]);
	guest_images_free(&now);
	free(problems);
}

static void take_now(struct keeper *k, int dir, const char *name)
{
	struct guest_recorder *r = of(k);
	const struct guest_trace trace = { dir, (char *)name };

	if (r->images.nr)
		take(r, &trace, 1);
}

static void *work(void *data)
{
	struct guest_recorder *r = data;

	take(r, r->traces, 2);
	atomic_store(&r->done, true);
	return NULL;
}

static void release(struct guest_recorder *r)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		if (r->traces[i].dir >= 0)
			close(r->traces[i].dir);
		free(r->traces[i].name);
	}
	r->running = false;
}

static void join(struct keeper *k)
{
	struct guest_recorder *r = of(k);

	if (!r->running)
		return;
	pthread_join(r->thread, NULL);
	release(r);
}

/* If the thread is still reading for an earlier pair of traces, these get no map in between. */
static void begin(struct keeper *k, int old, const char *old_name, int next, const char *next_name)
{
	struct guest_recorder *r = of(k);
	int err;

	if (!r->images.nr || (r->running && !atomic_load(&r->done)))
		return;
	join(k);
	r->traces[0] = (struct guest_trace){ fcntl(old, F_DUPFD_CLOEXEC, 0), xstrdup(old_name) };
	r->traces[1] = (struct guest_trace){ fcntl(next, F_DUPFD_CLOEXEC, 0), xstrdup(next_name) };
	atomic_store(&r->done, false);
	err = pthread_create(&r->thread, NULL, work, r);
	r->running = !err;
	if (!err)
		return;
	cli_say_of(next_name, "has no maps of disks from its start: cannot start a thread: %s",
		   strerror(err));
	r->keeper.failed++;
	release(r);
}

static void close_images(struct keeper *k)
{
	struct guest_recorder *r = of(k);
	size_t i;

	join(k);
	guest_images_free(&r->images);
	for (i = 0; r->held && i < r->files.nr; i++)
		if (r->held[i] >= 0)
			close(r->held[i]);
	free(r->held);
	vm_files_free(&r->files);
}

void guest_recorder_init(struct guest_recorder *r, const json_t *machine)
{
	*r = (struct guest_recorder){
		.keeper = {
			.what = "maps of the VM's disks", .open = open_images,
			.take = take_now, .begin = begin, .join = join, .close = close_images,
		},
		.machine = machine,
	};
}
