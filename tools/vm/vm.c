// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU's command line has the drives that it was started with, and their files. Images name their
 * backing files. The open descriptors show the files in use now: after a snapshot of a running VM,
 * these include images that are not on the command line.
 *
 * Names are looked up below the root directory of the process, which may have its own mounts. If
 * the process has changed its root or working directory since it was started, or the file was
 * deleted, the file is looked up by its name among the open descriptors.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "machine/host.h"
#include "machine/processes.h"
#include "machine/system.h"
#include "module/target.h"
#include "vm/image.h"
#include "vm/qemu_args.h"
#include "vm/qemu_drive.h"
#include "vm/qemu_now.h"
#include "vm/qmp.h"
#include "vm/vm.h"
#include "vm/vm_object.h"
#include "vm/vm_seen.h"

#define COMMAND_LINE_MAX	(4u << 20)

/* An open file or block device. */
struct open_file {
	char *path;		/* /proc/PID/fd/N */
	int number;
	char *name;		/* the target of this link */
	bool deleted;
	__u64 born;		/* CLOCK_REALTIME ns; 0: not known */
	struct stat st;
	unsigned int flags;	/* of open(2) */
	bool shown;		/* listed with a drive, or by another descriptor */
};

/* The first layer of a drive. */
struct top {
	const char *drive;
	struct stat st;
};

struct vm {
	const char *pid;
	char *words;		/* the command line; each ends with a NUL */
	struct qemu_args args;
	struct qemu_drives drives;
	int root;		/* its root directory, or IMAGE_OWN_ROOT */
	char *cwd;
	bool files_known;
	struct open_file *files;
	size_t nr_files;
	struct top *tops;
	size_t nr_tops;
	struct target_list *targets;
	bool traced;		/* its processes are a target, so all their files are traced */
};

/* --- the process ------------------------------------------------------------- */

static char *proc_path(const char *pid, const char *file)
{
	char *path = xasprintf("/proc/%s/%s", pid, file), *real = host_path(path);

	free(path);
	return real;
}

/* The target of a symbolic link, or NULL. */
static char *link_of(const char *path)
{
	char target[4096];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n <= 0)
		return NULL;
	target[n] = '\0';
	return xstrdup(target);
}

static char *take_link(char *path)
{
	char *target = link_of(path);

	free(path);
	return target;
}

/* The program's name, by /proc/PID/exe, or, if that cannot be read, by the command line. */
static char *program_of(const char *pid)
{
	char *exe = take_link(proc_path(pid, "exe")), *path = NULL, *name;
	char first[256] = "";

	if (!exe) {
		path = proc_path(pid, "cmdline");
		if (process_read(AT_FDCWD, path, first, sizeof(first)) <= 0)
			*first = '\0';
	}
	name = exe ? exe : first;
	name = xstrdup(strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
	*strchrnul(name, ' ') = '\0';
	free(path);
	free(exe);
	return name;
}

static bool is_qemu(const char *program)
{
	return !strncmp(program, "qemu-system-", 12) || !strcmp(program, "qemu-kvm") || !strcmp(program, "kvm");
}

static bool read_command_line(struct vm *vm)
{
	char *path = proc_path(vm->pid, "cmdline");
	ssize_t length;

	vm->words = xreallocarray(NULL, COMMAND_LINE_MAX + 1, 1);
	length = process_read(AT_FDCWD, path, vm->words, COMMAND_LINE_MAX);
	free(path);
	if (length <= 0)
		return false;
	vm->words[length] = '\0';
	qemu_args_parse(&vm->args, vm->words, length);
	return true;
}

/* A drive without an interface on the command line gets the default of the machine type. */
static void find_drives(struct vm *vm, const char *program)
{
	const char *machine = qemu_args_last(&vm->args, "machine"), *interface = "virtio";

	if (!machine)
		machine = qemu_args_last(&vm->args, "M");
	if (strstr(program, "x86_64") || strstr(program, "i386") || strstr(program, "kvm"))
		interface = "ide";
	else if (strstr(program, "ppc"))
		interface = "scsi";
	qemu_drives_find(&vm->drives, &vm->args, machine && strstr(machine, "q35"), interface);
}

static unsigned int flags_of(const char *pid, const char *fd)
{
	char *text = system_text("/proc/%s/fdinfo/%s", pid, fd);
	char *value = system_value(text, "flags", ':');
	unsigned int flags = value ? strtoul(value, NULL, 8) : 0;

	free(value);
	free(text);
	return flags;
}

/* When the file was created, CLOCK_REALTIME ns; 0 if its filesystem does not store that. */
static __u64 born_at(const char *path)
{
	struct statx x;

	if (statx(AT_FDCWD, path, 0, STATX_BTIME, &x) || !(x.stx_mask & STATX_BTIME))
		return 0;
	return x.stx_btime.tv_sec * 1000000000LL + x.stx_btime.tv_nsec;
}

/* Cuts off what the kernel appends to a deleted file's name, unless the name itself ends so. */
static bool cut_deleted(char *name, const struct stat *st)
{
	char *end = strrchr(name, ' ');
	struct stat there;

	if (!end || strcmp(end, " (deleted)") || (!stat(name, &there) && image_is_same(&there, st)))
		return false;
	*end = '\0';
	return true;
}

static void add_file(struct vm *vm, const char *fd)
{
	struct open_file file = { .number = atoi(fd) };
	char *below = xasprintf("fd/%s", fd);

	file.path = proc_path(vm->pid, below);
	free(below);
	file.name = link_of(file.path);
	if (!file.name || stat(file.path, &file.st) || (!S_ISREG(file.st.st_mode) && !S_ISBLK(file.st.st_mode))) {
		free(file.name);
		free(file.path);
		return;
	}
	file.deleted = cut_deleted(file.name, &file.st);
	file.born = born_at(file.path);
	file.flags = flags_of(vm->pid, fd);
	vm->files = xreallocarray(vm->files, vm->nr_files + 1, sizeof(*vm->files));
	vm->files[vm->nr_files++] = file;
}

static void read_files(struct vm *vm)
{
	char *path = xasprintf("/proc/%s/fd", vm->pid), *real = host_path(path);
	int fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct system_names names;
	size_t i;

	vm->files_known = fd >= 0;
	if (fd >= 0)
		close(fd);
	system_list(&names, path, "");
	for (i = 0; i < names.nr; i++)
		add_file(vm, names.at[i]);
	system_unlist(&names);
	free(real);
	free(path);
}

static void open_root(struct vm *vm)
{
	char *path = proc_path(vm->pid, "root");

	vm->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(path);
	if (vm->root < 0)
		vm->root = IMAGE_OWN_ROOT;
	vm->cwd = take_link(proc_path(vm->pid, "cwd"));
}

static void vm_close(struct vm *vm)
{
	size_t i;

	for (i = 0; i < vm->nr_files; i++) {
		free(vm->files[i].name);
		free(vm->files[i].path);
	}
	if (vm->root >= 0)
		close(vm->root);
	qemu_drives_free(&vm->drives);
	qemu_args_free(&vm->args);
	free(vm->tops);
	free(vm->files);
	free(vm->cwd);
	free(vm->words);
}

/* --- files -------------------------------------------------------------------- */

/* The only open file whose name ends with @name, or NULL. -daemonize changes QEMU's directory. */
static const struct open_file *file_that_ends(const struct vm *vm, const char *name)
{
	const struct open_file *found = NULL;
	size_t i, length = strlen(name);

	for (i = 0; i < vm->nr_files; i++) {
		const char *own = vm->files[i].name;
		size_t all = strlen(own);

		if (all <= length || own[all - length - 1] != '/' || strcmp(own + all - length, name))
			continue;
		if (found && !image_is_same(&found->st, &vm->files[i].st))
			return NULL;
		found = &vm->files[i];
	}
	return found;
}

static const struct open_file *open_as(const struct vm *vm, const struct stat *st)
{
	size_t i;

	for (i = 0; i < vm->nr_files; i++)
		if (image_is_same(&vm->files[i].st, st))
			return &vm->files[i];
	return NULL;
}

static const struct open_file *open_named(const struct vm *vm, const char *name)
{
	size_t i;

	for (i = 0; i < vm->nr_files; i++)
		if (!strcmp(vm->files[i].name, name))
			return &vm->files[i];
	return NULL;
}

/*
 * Opens the file with this absolute name. An open descriptor takes precedence, because the file may
 * be outside of the process's root directory or deleted, so that its name leads nowhere or to
 * another file.
 */
static int find_file(const void *data, const char *name)
{
	const struct vm *vm = data;
	const struct open_file *open = NULL;
	int fd = image_open_below(vm->root, name, O_PATH);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		open = open_as(vm, &st);
	if (open)
		return fd;
	open = open_named(vm, name);
	if (!open && vm->root != IMAGE_OWN_ROOT && !stat(name, &st))
		open = open_as(vm, &st);
	if (!open)
		return fd;
	if (fd >= 0)
		close(fd);
	return image_open_below(IMAGE_OWN_ROOT, open->path, O_PATH);
}

/* The absolute name of a file on the command line; the caller frees it. */
static char *absolute(const struct vm *vm, const char *name)
{
	const struct open_file *file;
	char *path;
	int fd;

	if (!strncmp(name, "file:", 5))
		name += 5;
	if (*name == '/' || image_is_remote(name))
		return xstrdup(name);
	path = xasprintf("%s/%s", vm->cwd && strcmp(vm->cwd, "/") ? vm->cwd : "", name);
	fd = image_open_below(vm->root, path, O_PATH);
	if (fd >= 0)
		close(fd);
	file = fd < 0 ? file_that_ends(vm, name) : NULL;
	if (file) {
		free(path);
		path = xstrdup(file->name);
	}
	return path;
}

/* The kernel's name of a block device, and its name in device mapper. */
static void put_device(json_t *object, const struct stat *st)
{
	char *kernel;

	if (!S_ISBLK(st->st_mode))
		return;
	kernel = system_link("/sys/dev/block/%u:%u", major(st->st_rdev), minor(st->st_rdev));
	json_put(object, "device", kernel ? json_shown(kernel) : json_null());
	if (kernel && !strncmp(kernel, "dm-", 3))
		json_put(object, "device_name", system_string("/sys/block/%s/dm/name", kernel));
	free(kernel);
}

/* A process may use its own node of a device, so look for the node in our /dev, too. */
static bool is_traced(struct target_list *targets, const char *path, const struct stat *st)
{
	char *own;
	bool traced;

	if (target_is_traced(targets, path))
		return true;
	if (!S_ISBLK(st->st_mode))
		return false;
	own = system_link("/sys/dev/block/%u:%u", major(st->st_rdev), minor(st->st_rdev));
	if (!own)
		return false;
	path = xasprintf("/dev/%s", own);
	traced = target_is_traced(targets, path);
	free((char *)path);
	free(own);
	return traced;
}

static json_t *traced_at(const struct vm *vm, const char *path, const struct stat *st)
{
	return vm->targets ? json_boolean(vm->traced || is_traced(vm->targets, path, st)) : json_null();
}

/* What identifies the file in rows, and its time of creation, because inode numbers are reused. */
static void put_identity(json_t *object, const char *path, const struct stat *st)
{
	__u64 born = born_at(path);

	json_put(object, "inode", json_integer(st->st_ino));
	json_put(object, "filesystem", system_take(xasprintf("%u:%u", major(st->st_dev), minor(st->st_dev))));
	json_put(object, "born_ns", born ? json_integer(born) : json_null());
}

/* How QEMU has opened the file. Marks its descriptors, so that they are not listed again. */
static void put_open(struct vm *vm, json_t *object, const char *name, const struct stat *st)
{
	bool is_open = false, writes = false, direct = false, deleted = false;
	int number = -1;
	size_t i;

	for (i = 0; st && i < vm->nr_files; i++) {
		struct open_file *file = &vm->files[i];

		if (!image_is_same(&file->st, st))
			continue;
		file->shown = true;
		is_open = true;
		deleted |= file->deleted && !strcmp(file->name, name);
		number = number < 0 ? file->number : number;
		writes |= (file->flags & O_ACCMODE) != O_RDONLY;
		direct |= file->flags & O_DIRECT;
	}
	json_put(object, "open", vm->files_known && st ? json_boolean(is_open) : json_null());
	json_put(object, "read_only", is_open ? json_boolean(!writes) : json_null());
	json_put(object, "direct", is_open ? json_boolean(direct) : json_null());
	json_put(object, "descriptor", is_open ? json_integer(number) : json_null());
	json_put(object, "deleted", json_boolean(deleted));
}

/* A file of a chain. */
static json_t *json_file(struct vm *vm, const char *name)
{
	json_t *object = json_object();
	int fd = image_is_remote(name) ? -1 : find_file(vm, name);
	struct stat st;
	bool found = fd >= 0 && !fstat(fd, &st);
	char *path = found ? xasprintf("/proc/self/fd/%d", fd) : NULL;

	json_put(object, "file", json_shown(name));
	put_open(vm, object, name, found ? &st : NULL);
	json_put(object, "traced", found ? traced_at(vm, path, &st) : json_null());
	if (found) {
		put_device(object, &st);
		put_identity(object, path, &st);
	}
	free(path);
	if (fd >= 0)
		close(fd);
	return object;
}

static json_t *json_layer(struct vm *vm, const struct image *image, const char *data_file)
{
	json_t *object = json_file(vm, image->name);
	bool is_qcow2 = image->format && !strcmp(image->format, "qcow2");

	json_put(object, "format", image->format ? json_shown(image->format) : json_null());
	json_put(object, "size", image->why ? json_null() : json_integer(image->size));
	json_put(object, "remote", json_boolean(image->remote));
	if (image->why && !image->remote && (image->fd < 0 || is_qcow2))
		json_put(object, "problem", json_shown(image->why));
	if (data_file)
		json_put(object, "data_file", json_file(vm, data_file));
	return object;
}

/* --- drives ------------------------------------------------------------------- */

static json_t *string_or_null(const char *text)
{
	return text ? json_shown(text) : json_null();
}

static const char *drive_name(const struct qemu_drive *d)
{
	return d->qdev ? d->qdev : d->id ? d->id : d->node;
}

static void add_top(struct vm *vm, const struct qemu_drive *d, const struct image *image)
{
	if (!image->found)
		return;
	vm->tops = xreallocarray(vm->tops, vm->nr_tops + 1, sizeof(*vm->tops));
	vm->tops[vm->nr_tops++] = (struct top){ drive_name(d), image->st };
}

static json_t *json_layers(struct vm *vm, const struct qemu_drive *d)
{
	const struct image_finder finder = { find_file, vm };
	struct image_chain chain = { 0 };
	json_t *layers = json_array();
	size_t i;

	for (i = 0; i < d->nr_layers && i < IMAGE_LAYERS; i++) {
		char *name = absolute(vm, d->layers[i].file);

		image_open_by(image_chain_add(&chain), &finder, name, d->layers[i].format);
		free(name);
	}
	if (chain.nr && chain.nr < IMAGE_LAYERS && !d->whole)
		image_chain_follow_by(&chain, &finder);
	if (chain.nr && d->state != DRIVE_UNPLUGGED)
		add_top(vm, d, &chain.at[0]);
	for (i = 0; i < chain.nr; i++) {
		const char *said = i < d->nr_layers ? d->layers[i].data_file : NULL;
		char *data_file = said ? absolute(vm, said) : NULL;

		json_t *layer = json_layer(vm, &chain.at[i], data_file ? data_file : chain.at[i].data_file);

		if (i < d->nr_layers && d->layers[i].offset)
			json_put(layer, "offset", json_integer(d->layers[i].offset));
		json_add(layers, layer);
		free(data_file);
	}
	image_chain_close(&chain);
	return layers;
}

static json_t *json_drive(struct vm *vm, const struct qemu_drive *d)
{
	json_t *object = json_object();

	json_put(object, "name", string_or_null(drive_name(d)));
	json_put(object, "qdev", string_or_null(d->qdev));
	json_put(object, "id", string_or_null(d->id));
	json_put(object, "node", string_or_null(d->node));
	json_put(object, "device", string_or_null(d->device));
	json_put(object, "interface", string_or_null(d->interface));
	json_put(object, "serial", string_or_null(d->serial));
	json_put(object, "cache", string_or_null(d->cache));
	json_put(object, "aio", d->added ? json_null() : json_string(d->aio ? d->aio : "threads"));
	json_put(object, "snapshot", json_boolean(d->snapshot));
	json_put(object, "unplugged", d->state == DRIVE_UNKNOWN ? json_null() :
						 json_boolean(d->state == DRIVE_UNPLUGGED));
	json_put(object, "added", json_boolean(d->added));
	json_put(object, "layers", json_layers(vm, d));
	return object;
}

/* --- temporary files ------------------------------------------------------------ */

/*
 * A drive with snapshot=on writes to an image that QEMU creates in a temporary directory and
 * deletes at once. Its header names no backing file. Without an answer from QEMU, it is matched by
 * the size of the disk; drives of the same size get these images in the order of their creation.
 */
struct temporary {
	const struct open_file *file;
	__u64 size;
};

static int by_birth(const void *left, const void *right)
{
	const struct open_file *a = ((const struct temporary *)left)->file, *b = ((const struct temporary *)right)->file;

	if (a->born != b->born)
		return a->born < b->born ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static bool is_temporary(const struct open_file *file, struct image *image)
{
	if (!file->deleted || !S_ISREG(file->st.st_mode) || (file->flags & O_ACCMODE) == O_RDONLY)
		return false;
	image_open(image, IMAGE_OWN_ROOT, file->path, NULL);
	return !image->why && !strcmp(image->format, "qcow2") && !image->qcow2.backing;
}

/* Lists the VM's temporary images in the order of their creation. Returns their number. */
static size_t list_temporaries(const struct vm *vm, struct temporary **all)
{
	size_t i, nr = 0;

	*all = xreallocarray(NULL, vm->nr_files + 1, sizeof(**all));
	for (i = 0; i < vm->nr_files; i++) {
		struct image_chain chain = { 0 };

		if (is_temporary(&vm->files[i], image_chain_add(&chain)))
			(*all)[nr++] = (struct temporary){ &vm->files[i], chain.at[0].size };
		image_chain_close(&chain);
	}
	if (nr)
		qsort(*all, nr, sizeof(**all), by_birth);
	return nr;
}

static bool wants_temporary(const struct qemu_drive *d)
{
	return d->snapshot && d->nr_layers && !d->asked;
}

/* The disk's size if the drive needs a temporary image; 0 if not, or if the size is not known. */
static __u64 wanted_size(const struct vm *vm, const struct qemu_drive *d)
{
	const struct image_finder finder = { find_file, vm };
	struct image_chain chain = { 0 };
	__u64 size = 0;
	char *name;

	if (!wants_temporary(d))
		return 0;
	name = absolute(vm, d->layers[0].file);
	image_open_by(image_chain_add(&chain), &finder, name, d->layers[0].format);
	if (!chain.at[0].why)
		size = chain.at[0].size - d->layers[0].offset;
	image_chain_close(&chain);
	free(name);
	return size;
}

static size_t count_of_size(const __u64 *sizes, size_t nr, __u64 size)
{
	size_t i, found = 0;

	for (i = 0; i < nr; i++)
		found += sizes[i] == size;
	return found;
}

/* The image with index @place among those of this size; NULL unless there are @most of them. */
static const struct open_file *temporary_of(const struct temporary *all, size_t nr, __u64 size, size_t place,
					    size_t most)
{
	const struct open_file *found = NULL;
	size_t i, of_size = 0;

	for (i = 0; i < nr; i++) {
		if (all[i].size != size)
			continue;
		if (of_size++ == place)
			found = all[i].file;
	}
	return of_size == most ? found : NULL;
}

static void find_temporaries(struct vm *vm)
{
	__u64 *sizes = xreallocarray(NULL, vm->drives.nr + 1, sizeof(*sizes));
	struct temporary *all;
	size_t i, nr = list_temporaries(vm, &all);

	for (i = 0; i < vm->drives.nr; i++)
		sizes[i] = nr ? wanted_size(vm, &vm->drives.at[i]) : 0;
	for (i = 0; i < vm->drives.nr; i++) {
		const struct open_file *file = !sizes[i] ? NULL :
			temporary_of(all, nr, sizes[i], count_of_size(sizes, i, sizes[i]),
				     count_of_size(sizes, vm->drives.nr, sizes[i]));

		if (file)
			qemu_drive_put_above(&vm->drives.at[i], file->name, "qcow2");
	}
	free(all);
	free(sizes);
}

/* --- other open files -------------------------------------------------------- */

/* Whether the file is the guest's memory: @mem_path, or a file in that directory. */
static bool is_at(const struct vm *vm, const struct open_file *file, const char *mem_path)
{
	char *path = absolute(vm, mem_path);
	size_t length = strlen(path);
	bool is;

	while (length > 1 && path[length - 1] == '/')
		length--;
	is = !strncmp(file->name, path, length) && (!file->name[length] || file->name[length] == '/');
	free(path);
	return is;
}

static bool is_memory(const struct vm *vm, const struct open_file *file)
{
	struct statfs fs;
	bool is = false;
	size_t i;

	if (!strncmp(file->name, "/memfd:", 7))
		return true;
	if (!statfs(file->path, &fs) && fs.f_type == HUGETLBFS_MAGIC)
		return true;
	for (i = 0; !is && i < vm->args.nr; i++) {
		const char *path;
		struct qemu_dict dict;

		if (strcmp(vm->args.at[i].name, "object"))
			continue;
		qemu_dict_parse(&dict, vm->args.at[i].value, "qom-type");
		path = qemu_dict_get(&dict, "", "mem-path");
		is = path && *path && is_at(vm, file, path);
		qemu_dict_free(&dict);
	}
	return is;
}

/* Whether it is an image, rather than a log or a PID file: by its format, or its whole sectors. */
static bool is_image(const struct vm *vm, const struct open_file *file, const struct image *image)
{
	if (S_ISBLK(file->st.st_mode))
		return true;
	if (image->format && strcmp(image->format, "raw"))
		return true;
	return file->st.st_size && file->st.st_size % 512 == 0 && !(file->flags & O_APPEND) &&
	       (file->flags & O_ACCMODE) != O_WRONLY && !is_memory(vm, file);
}

/* The drive whose first layer is among the backing files of the chain, or NULL. */
static const char *drive_below(const struct vm *vm, struct image_chain *chain)
{
	const struct image_finder finder = { find_file, vm };
	size_t i, j;

	image_chain_follow_by(chain, &finder);
	for (i = 1; i < chain->nr; i++)
		for (j = 0; chain->at[i].found && j < vm->nr_tops; j++)
			if (image_is_same(&chain->at[i].st, &vm->tops[j].st))
				return vm->tops[j].drive;
	return NULL;
}

static json_t *json_other(struct vm *vm, struct open_file *file, struct image_chain *chain)
{
	json_t *object = json_object();

	json_put(object, "file", json_shown(file->name));
	json_put(object, "format", string_or_null(chain->at[0].format));
	json_put(object, "traced", traced_at(vm, file->path, &file->st));
	put_open(vm, object, file->name, &file->st);
	put_device(object, &file->st);
	put_identity(object, file->path, &file->st);
	json_put(object, "above", string_or_null(drive_below(vm, chain)));
	return object;
}

static json_t *json_others(struct vm *vm)
{
	json_t *others = json_array();
	size_t i;

	for (i = 0; i < vm->nr_files; i++) {
		struct open_file *file = &vm->files[i];
		struct image_chain chain = { 0 };
		struct image *image;

		if (file->shown)
			continue;
		image = image_chain_add(&chain);
		image_open(image, IMAGE_OWN_ROOT, file->path, NULL);
		/* a relative backing file is relative to the image's own name */
		free(image->name);
		image->name = xstrdup(file->name);
		if (is_image(vm, file, image))
			json_add(others, json_other(vm, file, &chain));
		image_chain_close(&chain);
	}
	return others;
}

/* Whether the drive has layers, but none of their names leads to a file. */
static bool lacks_files(const json_t *drive)
{
	const json_t *layer;
	size_t i;

	json_array_foreach(json_object_get(drive, "layers"), i, layer) {
		if (!json_is_null(json_object_get(layer, "open")) || json_is_true(json_object_get(layer, "remote")))
			return false;
	}
	return i && !json_is_true(json_object_get(drive, "unplugged"));
}

/*
 * If the VM has only one drive, and the names of its layers lead to no file, all open images belong
 * to it: the name may stand for a descriptor, or the file was moved.
 */
static void give_to_only_drive(json_t *machine)
{
	const json_t *drives = json_object_get(machine, "drives"), *drive = json_array_get(drives, 0);
	json_t *file;
	size_t i;

	if (json_array_size(drives) != 1 || !lacks_files(drive))
		return;
	json_array_foreach(json_object_get(machine, "open_files"), i, file) {
		json_put(file, "above", json_incref(json_object_get(drive, "name")));
	}
}

/* --- the VM --------------------------------------------------------------------- */

static json_t *guest_name(const struct vm *vm)
{
	const char *text = qemu_args_last(&vm->args, "name");
	struct qemu_dict dict;
	json_t *name;

	if (!text)
		return json_null();
	qemu_dict_parse(&dict, text, "guest");
	name = string_or_null(qemu_dict_get(&dict, "", "guest"));
	qemu_dict_free(&dict);
	return name;
}

static const char *const results[] = {
	[QMP_NO_MONITOR] = "no monitor", [QMP_NO_ANSWER] = "no answer", [QMP_ANSWERED] = "answered",
};

/* Asks QEMU for its present drives. */
static void ask(struct vm *vm, json_t *object)
{
	struct qmp_peer peer = {
		.pid = atoi(vm->pid), .root = vm->root, .cwd = vm->cwd, .args = &vm->args,
		.name = json_string_value(json_object_get(object, "name")),
	};
	struct qmp_answer answer;
	enum qmp_result result = qmp_ask(&answer, &peer);

	if (result == QMP_ANSWERED)
		qemu_now_apply(&vm->drives, &answer);
	json_put(object, "asked", json_string(results[result]));
	qmp_answer_free(&answer);
}

static bool is_wanted(const json_t *machine, char *const *names, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (vm_is(machine, names[i]))
			return true;
	return false;
}

static json_t *json_vm(struct vm *vm, char *const *names, size_t nr)
{
	json_t *object = json_object(), *drives = json_array();
	bool wanted;
	size_t i;

	json_put(object, "pid", json_integer(atoll(vm->pid)));
	json_put(object, "name", guest_name(vm));
	json_put(object, "uuid", string_or_null(qemu_args_last(&vm->args, "uuid")));
	wanted = is_wanted(object, names, nr);
	if (wanted)
		ask(vm, object);
	else
		json_put(object, "asked", json_null());
	find_temporaries(vm);
	for (i = 0; i < vm->drives.nr; i++)
		json_add(drives, json_drive(vm, &vm->drives.at[i]));
	json_put(object, "drives", drives);
	json_put(object, "open_files", vm->files_known ? json_others(vm) : json_null());
	give_to_only_drive(object);
	if (wanted)
		vm_seen_update(object);
	return object;
}

static void add_vm(json_t *all, struct vm *vm, char *const *names, size_t nr)
{
	char *program = program_of(vm->pid);

	if (is_qemu(program) && read_command_line(vm)) {
		open_root(vm);
		read_files(vm);
		find_drives(vm, program);
		vm->traced = vm->targets && target_of_process(vm->targets, atoi(vm->pid), false);
		json_add(all, json_vm(vm, names, nr));
	}
	vm_close(vm);
	free(program);
}

json_t *vm_list_ask(struct target_list *targets, char *const *wanted, size_t nr)
{
	json_t *all = json_array();
	struct system_names names;
	size_t i;

	system_list(&names, "/proc", "");
	for (i = 0; i < names.nr; i++) {
		struct vm vm = { .pid = names.at[i], .root = -1, .targets = targets };

		if (isdigit((unsigned char)names.at[i][0]))
			add_vm(all, &vm, wanted, nr);
	}
	system_unlist(&names);
	return all;
}

json_t *vm_list(struct target_list *targets)
{
	return vm_list_ask(targets, NULL, 0);
}
