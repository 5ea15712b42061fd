// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz [-t SECONDS] [-s SEED] [-n STEPS] DIR: write random commands to the files of
 * /proc/iotracer, and make random calls on them.
 *
 * A generator chooses the steps; its seed is printed. A step writes a text to the
 * control file of the module, a target or a category, cut into writes at random,
 * makes calls on a descriptor of one of the files, or uses or renames files in DIR,
 * an empty directory, whose files become targets.
 *
 * The laws: a write fails only with an error that iotracer(4) documents; every path
 * that control lists can be written back to `remove`, which leaves nothing; the
 * counts of each target obey seen = stored + overwritten + lost. scripts/vm judges
 * what the kernel logs.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include "lib/proc.h"
#include "lib/random.h"

enum {
	TEXT = 140 * 1024,	/* most bytes of one text: more than two full writes */
	FILES = 8,
	MAX_TARGETS = 64,
};

static struct random rng;
static const char *dir;
static unsigned long steps, calls_done, calls_refused, commands_done, commands_refused;
static uint64_t seed;

/* A text that grows. */
struct text {
	size_t length;
	char bytes[TEXT];
};

static void put(struct text *t, const char *bytes, size_t n)
{
	if (n > TEXT - t->length)
		n = TEXT - t->length;
	memcpy(t->bytes + t->length, bytes, n);
	t->length += n;
}

static void put_string(struct text *t, const char *s)
{
	put(t, s, strlen(s));
}

#define PICK(list) ((list)[random_below(&rng, sizeof(list) / sizeof(*(list)))])

/* The grammar: words, paths, numbers and separators, most of them valid. */

static bool strange(void)
{
	return random_once_in(&rng, 8);
}

static void put_word(struct text *t)
{
	static const char * const words[] = {
		"start", "stop", "reset", "timereset", "Add", "adds", "ad", "", "#", "help",
	};

	if (strange())
		put_string(t, PICK(words));
	else
		put_string(t, random_once_in(&rng, 3) ? "remove" : "add");
}

static void put_file_name(struct text *t)
{
	static const char * const good[] = {
		"f0", "f1", "f2", "f3", "link", "symlink", "with space", "back\\slash",
		"\xc3\xa4\xff\x01", "with\\0407", "tab\\011new\\012line", "back\\134slash",
		"\\303\\244\\377\\001", "\\146\\060", "../fuzz/f1", "./f2",
	};
	static const char * const names[] = {
		"with 7", "tab\tnew\nline", "directory", "fifo", "loop", "nothing", "f0/below", ".",
		"..", "f0 12", "\\060", "\\400", "\\00", "\\", "\\000",
	};

	put_string(t, strange() ? PICK(names) : PICK(good));
}

static void put_many(struct text *t, const char *piece, unsigned int n)
{
	while (n--)
		put_string(t, piece);
}

static void put_path(struct text *t)
{
	static const char * const others[] = {
		"/", "", "/proc/self/mem", "/proc/iotracer/control", "/dev/null", "/nowhere/at/all",
		"/proc/self/fd/0", "/sys/kernel/debug", "//", "/proc/version",
	};

	switch (random_below(&rng, 24)) {
	case 0:
		put_string(t, PICK(others));
		break;
	case 1:
		put_many(t, "/.", random_below(&rng, 3) ? 2040 + random_below(&rng, 20) : 40000);
		break;
	case 2:
		put_many(t, "x", 200 + random_below(&rng, 100));
		break;
	case 3:
		put_many(t, "\\057", 4000 + random_below(&rng, 200));
		break;
	case 4:
		put_file_name(t);	/* relative */
		break;
	default:
		put_string(t, dir);
		put_string(t, "/");
		put_file_name(t);
	}
}

static void put_number(struct text *t)
{
	static const char * const good[] = { "1", "2", "10", "100", "1000", "3000", "007" };
	static const char * const numbers[] = {
		"0", "00", "-1", "+1", "1.5", "0x10", "1e3", "010",
		"16777216", "16777217", "4294967295", "4294967296", "9223372036854775807",
		"18446744073709551615", "18446744073709551616", "99999999999999999999999999",
		"1 ", " 1", "1 1", "\xd9\xa1",
	};

	put_string(t, strange() ? PICK(numbers) : PICK(good));
}

static void put_gap(struct text *t)
{
	static const char * const gaps[] = { "  ", "\t", "" };

	put_string(t, strange() ? PICK(gaps) : " ");
}

static void put_line(struct text *t)
{
	put_word(t);
	put_gap(t);
	put_path(t);
	if (!random_once_in(&rng, 3)) {
		put_gap(t);
		put_number(t);
	}
	if (!random_once_in(&rng, 10))
		put_string(t, "\n");
}

/* Change, drop or repeat some bytes. */
static void mutate(struct text *t)
{
	unsigned int n;

	for (n = random_below(&rng, 4) + 1; n && t->length; n--) {
		size_t at = random_below(&rng, t->length);

		switch (random_below(&rng, 4)) {
		case 0:
			t->bytes[at] = random_next(&rng);
			break;
		case 1:
			t->bytes[at] = "\0\n \\/0"[random_below(&rng, 6)];
			break;
		case 2:
			memmove(t->bytes + at, t->bytes + at + 1, --t->length - at);
			break;
		case 3:
			put(t, t->bytes + at, random_below(&rng, t->length - at) + 1);
			break;
		}
	}
}

/* A command for a category's control file. */
static void put_category_line(struct text *t)
{
	static const char * const words[] = {
		"start", "stop", "reset", "size ", "sample ", "mode overwrite", "mode discard",
		"mode ", "filter none", "filter", "filter ", "filter  ", "filter none none",
	};
	static const char * const keys[] = {
		"pid=", "tid=", "uid=", "comm=", "cgroup=", "tree=", "op=", "dev=", "inode=",
		"kind=", "min_latency=", "min_size=", "pid", "=", "colour=",
	};
	static const char * const values[] = {
		"fuzz", "READ,WRITE", "READ,,", "FLY", "254:0", "254:", "0:0", "4294967296:1", "file",
		"file,dir,pipe", "all", "all,all", "a\\040b", "a\\000b", "16 bytes is plenty", "", "read,Write",
		"/", "/sys/fs/cgroup/x", "/\\000", "1",
	};
	unsigned int n;

	if (random_once_in(&rng, 2)) {
		put_string(t, PICK(words));
		if (random_once_in(&rng, 3))
			put_number(t);
	} else {
		put_string(t, "filter");
		for (n = random_below(&rng, 4) + 1; n; n--) {
			put_gap(t);
			put_string(t, PICK(keys));
			if (random_once_in(&rng, 2))
				put_number(t);
			else
				put_string(t, PICK(values));
		}
	}
	if (!random_once_in(&rng, 10))
		put_string(t, "\n");
}

static void make_category_text(struct text *t)
{
	unsigned int n = random_below(&rng, 4);

	t->length = 0;
	do
		put_category_line(t);
	while (n--);
	if (strange())
		mutate(t);
}

static void make_text(struct text *t)
{
	unsigned int n = random_once_in(&rng, 3) ? random_below(&rng, 6) : 0;

	t->length = 0;
	do
		put_line(t);
	while (n--);
	if (random_once_in(&rng, 50))
		while (t->length < TEXT)
			put_line(t);
	if (strange())
		mutate(t);
}

/* The errors that iotracer(4) documents for a write. */
static const int command_errors[] = {
	ENOENT, EINVAL, EACCES, ENAMETOOLONG, EISDIR, EOPNOTSUPP, ENOMEM, ELOOP, EBUSY,
	ESRCH, 0
};

static void broken(const char *law, const char *path, const struct text *t, int error)
{
	size_t i;

	printf("seed %llu, step %lu: %s: %s (%s)\n", (unsigned long long)seed, steps, path, law,
	       strerror(error));
	for (i = 0; t && i < t->length && i < 600; i++)
		printf(t->bytes[i] > ' ' && t->bytes[i] < 127 ? "%c" : "\\x%02x",
		       (unsigned char)t->bytes[i]);
	printf("\n");
	exit(1);
}

static ssize_t write_piece(int fd, char *bytes, size_t n)
{
	struct iovec parts[3];
	size_t cut;

	if (!random_once_in(&rng, 4))
		return write(fd, bytes, n);
	cut = random_below(&rng, n + 1);
	parts[0] = (struct iovec){ bytes, cut };
	parts[1] = (struct iovec){ NULL, 0 };
	parts[2] = (struct iovec){ bytes + cut, n - cut };
	return writev(fd, parts, 3);
}

/* Write a text in pieces. What one call does not accept is passed to the next. */
static void write_text(const char *path, struct text *t)
{
	size_t done = 0, piece;
	const int *permitted;
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		broken("cannot be opened", path, t, errno);
	while (done < t->length) {
		piece = t->length - done;
		if (random_once_in(&rng, 3))
			piece = 1 + random_below(&rng, piece);
		n = write_piece(fd, t->bytes + done, piece);
		if (n > (ssize_t)piece)
			broken("returned more than it was given", path, t, 0);
		if (n > 0) {
			commands_done++;
			done += n;
			continue;
		}
		if (!n)
			broken("accepted nothing and returned no error", path, t, 0);
		for (permitted = command_errors; *permitted && *permitted != errno; permitted++)
			;
		if (!*permitted)
			broken("an error that is not documented", path, t, errno);
		commands_refused++;
		break;
	}
	close(fd);
}

/* Files of /proc/iotracer. */

static struct proc_name targets[MAX_TARGETS];

static void target_file(char *path, size_t size, const char *name)
{
	int n = proc_names(targets, MAX_TARGETS);

	if (n > 0)
		snprintf(path, size, PROC_DIR "/%.*s/%s", PROC_NAME,
			 targets[random_below(&rng, n)].text, name);
	else
		snprintf(path, size, PROC_DIR "/%s", !strcmp(name, "") ? "" : "control");
}

static void any_file(char *path, size_t size)
{
	static const char * const own[] = {
		"control", "log", "stream", "stats", "", "pipe",
	};
	static const char * const common[] = {
		"control", "hooks", "format", "", "paths", "error", "fs",
#define IOT_CATEGORY(name, NAME, kinds, traits, meaning)					\
		#name "/control", #name "/log", #name "/stream", #name "/stats",		\
		#name "/error", #name "/pipe",
#include "../module/uapi/categories.def"
	};

	if (random_once_in(&rng, 3))
		snprintf(path, size, PROC_DIR "/%s", PICK(common));
	else
		target_file(path, size, PICK(own));
}

/* Read and write a file that may be a target, so that logs have events. */
static void use_files(void)
{
	char path[512], data[700];
	int fd, n;

	snprintf(path, sizeof(path), "%s/f%u", dir, (unsigned int)random_below(&rng, 4));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		err(2, "%s", path);
	for (n = random_below(&rng, 20); n; n--) {
		size_t size = random_below(&rng, sizeof(data));

		if ((random_once_in(&rng, 2) ? pwrite(fd, data, size, random_below(&rng, 9000)) :
		     pread(fd, data, size, random_below(&rng, 9000))) < 0)
			err(2, "%s", path);
	}
	close(fd);
}

/* Make a name that a target was added with lead to another file, or to none. */
static void rename_file(void)
{
	static const char * const names[] = { "f0", "f1", "f2", "link", "with space", "nothing" };

	if (rename(PICK(names), PICK(names)) && errno != ENOENT)
		err(2, "rename");
}

static loff_t any_offset(void)
{
	static const loff_t edges[] = {
		0, 1, 40, 48, 49, 4095, 4096, 4097, 65536, 1 << 20, 0x7fffffff, 0x80000000ll,
		0x7fffffffffffffffll, 0x7ffffffffffff000ll, -1, -4096, -0x7fffffffffffffffll - 1,
	};

	return random_once_in(&rng, 2) ? PICK(edges) : (loff_t)random_below(&rng, 100000);
}

static size_t any_size(void)
{
	static const size_t edges[] = { 0, 1, 2, 31, 1023, 1024, 4096, 4097, 65536, 70000 };

	return random_once_in(&rng, 2) ? PICK(edges) : random_below(&rng, 3000);
}

static char buf[80000], other[8192];
static int pipes[2], scratch;

/* A valid buffer, NULL, one that ends too early, or an address of the kernel. */
static char *any_buffer(void)
{
	static char *edge;

	if (!edge) {
		edge = mmap(NULL, 2 * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		munmap(edge + 65536, 65536);
	}
	switch (random_below(&rng, 10)) {
	case 0:
		return NULL;
	case 1:
		return edge + 65536 - random_below(&rng, 300);
	case 2:
		return (char *)0xffff888000000000ul;
	default:
		return buf;
	}
}

static long call_read(int fd)
{
	return read(fd, any_buffer(), any_size());
}

static long call_pread(int fd)
{
	return pread(fd, any_buffer(), any_size(), any_offset());
}

static long call_readv(int fd)
{
	struct iovec parts[3] = {
		{ buf, any_size() / 4 }, { any_buffer(), any_size() / 4 }, { other, 100 },
	};

	return preadv2(fd, parts, 1 + random_below(&rng, 3),
		       random_once_in(&rng, 2) ? -1 : any_offset(), random_below(&rng, 64));
}

static long call_seek(int fd)
{
	return lseek(fd, any_offset(), random_below(&rng, 7)) < 0 ? -1 : 0;
}

static long call_poll(int fd)
{
	struct pollfd p = { fd, random_next(&rng), 0 };

	return poll(&p, 1, 0);
}

static long call_mmap(int fd)
{
	void *p = mmap(NULL, any_size() + 1, random_below(&rng, 8),
		       random_once_in(&rng, 2) ? MAP_PRIVATE : MAP_SHARED, fd, any_offset());

	if (p == MAP_FAILED)
		return -1;
	return munmap(p, 1);
}

static long call_ioctl(int fd)
{
	static const unsigned long requests[] = {
		FIONREAD, FIOCLEX, FIONBIO, FIGETBSZ, FS_IOC_GETFLAGS, BLKGETSIZE64, 0,
	};

	return ioctl(fd, random_once_in(&rng, 3) ? random_next(&rng) : PICK(requests),
		     any_buffer());
}

static void empty_pipe(void)
{
	while (read(pipes[0], buf, sizeof(buf)) > 0)
		;
}

static long call_splice(int fd)
{
	loff_t at = any_offset();
	long ret = splice(fd, random_once_in(&rng, 2) ? NULL : &at, pipes[1], NULL, any_size(),
			  random_below(&rng, 16));

	empty_pipe();
	return ret;
}

static long call_splice_in(int fd)
{
	static const char text[] = "add f0 5\nremove f0\nremo";
	long ret;

	if (write(pipes[1], text, random_below(&rng, sizeof(text))) < 0)
		err(2, "pipe");
	ret = splice(pipes[0], NULL, fd, NULL, any_size(), SPLICE_F_NONBLOCK);
	empty_pipe();
	return ret;
}

static long call_sendfile(int fd)
{
	off_t at = any_offset();

	return sendfile(scratch, fd, random_once_in(&rng, 2) ? NULL : &at, any_size());
}

static long call_copy_range(int fd)
{
	loff_t at = any_offset();

	return random_once_in(&rng, 2) ?
		copy_file_range(fd, &at, scratch, NULL, any_size(), 0) :
		copy_file_range(scratch, &at, fd, NULL, any_size(), 0);
}

static long call_truncate(int fd)
{
	return ftruncate(fd, any_offset());
}

static long call_allocate(int fd)
{
	return fallocate(fd, random_below(&rng, 128), any_offset(), any_offset());
}

static long call_sync(int fd)
{
	return random_once_in(&rng, 2) ? fsync(fd) :
		sync_file_range(fd, any_offset(), any_offset(), random_below(&rng, 8));
}

static long call_advise(int fd)
{
	return random_once_in(&rng, 2) ? readahead(fd, any_offset(), any_size()) :
		posix_fadvise(fd, any_offset(), any_offset(), random_below(&rng, 8));
}

static long call_stat(int fd)
{
	struct statfs fs;
	struct stat st;

	return fstat(fd, &st) || fstatfs(fd, &fs) ? -1 : 0;
}

static long call_lock(int fd)
{
	return flock(fd, (random_once_in(&rng, 2) ? LOCK_SH : LOCK_EX) | LOCK_NB);
}

static long call_fcntl(int fd)
{
	static const int commands[] = {
		F_GETFL, F_SETFL, F_GETFD, F_SETLEASE, F_GETLEASE, F_NOTIFY, F_SETPIPE_SZ,
		F_ADD_SEALS, F_GET_SEALS,
	};

	return fcntl(fd, PICK(commands), random_below(&rng, 2) ? O_NONBLOCK : O_DIRECT | O_APPEND);
}

static long call_xattr(int fd)
{
	return random_once_in(&rng, 2) ? fsetxattr(fd, "user.x", "y", 1, 0) :
		flistxattr(fd, buf, sizeof(buf));
}

static long call_list(int fd)
{
	int copy = dup(fd);
	DIR *directory = fdopendir(copy);

	if (!directory) {
		close(copy);
		return -1;
	}
	while (readdir(directory))
		;
	return closedir(directory);
}

static long call_write(int fd)
{
	return write(fd, any_buffer(), 1);
}

static long (* const calls[])(int fd) = {
	call_read, call_read, call_read, call_pread, call_pread, call_readv, call_seek, call_seek,
	call_poll, call_mmap, call_ioctl, call_splice, call_splice_in, call_sendfile,
	call_copy_range, call_truncate, call_allocate, call_sync, call_advise, call_stat,
	call_lock, call_fcntl, call_xattr, call_list, call_write,
};

/* Make several calls on one descriptor. Each may fail with any error. */
static void use_descriptor(void)
{
	static const int flags[] = {
		O_RDONLY, O_RDONLY, O_RDONLY, O_RDWR, O_WRONLY, O_RDONLY | O_NONBLOCK,
		O_RDWR | O_APPEND, O_RDONLY | O_DIRECT, O_RDWR | O_TRUNC, O_PATH, O_RDONLY | O_ASYNC,
	};
	char path[2 * PROC_NAME];
	unsigned int n;
	int fd;

	any_file(path, sizeof(path));
	fd = open(path, PICK(flags) | O_CLOEXEC);
	if (fd < 0) {
		calls_refused++;
		return;
	}
	for (n = 1 + random_below(&rng, 8); n; n--) {
		/* otherwise a read may wait for events without bound */
		if (strstr(path, "/pipe"))
			fcntl(fd, F_SETFL, O_NONBLOCK);
		if (PICK(calls)(fd) < 0)
			calls_refused++;
		else
			calls_done++;
		if (random_once_in(&rng, 8))
			use_files();
	}
	close(fd);
	if (lseek(scratch, 0, SEEK_SET) || ftruncate(scratch, 4096))
		err(2, "the scratch file");
}

static void step(void)
{
	static struct text text;
	char path[2 * PROC_NAME];

	steps++;
	switch (random_below(&rng, 11)) {
	default:
		make_text(&text);
		strcpy(path, PROC_CONTROL);
		if (random_once_in(&rng, 8))
			target_file(path, sizeof(path), "control");
		write_text(path, &text);
		break;
	case 0:
	case 1:
		use_descriptor();
		break;
	case 2:
		use_files();
		break;
	case 3:
		rename_file();
		break;
	case 4:
	case 5:
		make_category_text(&text);
		snprintf(path, sizeof(path), "%s/control",
			 proc_categories[random_below(&rng, PROC_CATEGORIES)]);
		write_text(path, &text);
		break;
	}
}

/* Remove each path that is listed, written as it is listed. Return: how many. */
static int remove_listed(void)
{
	char *list = proc_slurp(PROC_CONTROL, NULL), *rest = list, *line, *path;
	static struct text text;
	int n = 0;

	if (!list)
		err(1, PROC_CONTROL);
	while ((line = strsep(&rest, "\n")) && *line) {
		if (!rest)
			broken("a line without end", line, NULL, 0);
		strsep(&line, " ");
		if (!line)
			broken("a target without a path", PROC_CONTROL, NULL, 0);
		while ((path = strsep(&line, " "))) {
			if (!strcmp(path, "(deleted)")) /* what precedes leads to no file now */
				continue;
			text.length = snprintf(text.bytes, TEXT, "remove %s\n", path);
			n++;
			errno = -proc_write(PROC_CONTROL, text.bytes, text.length);
			if (errno)
				broken("a listed path cannot be removed", PROC_CONTROL, &text, errno);
		}
	}
	free(list);
	list = proc_slurp(PROC_CONTROL, NULL);
	if (!list || *list)
		broken("something is left in the list", list ? list : "", NULL, 0);
	free(list);
	return n;
}

/* Check the laws, and remove all targets. Return: how many paths were listed. */
static int check_laws(void)
{
	errno = -proc_stop_categories();
	if (errno)
		broken("a category cannot be stopped", PROC_DIR, NULL, errno);
	if (proc_law())
		broken("the law", "stats", NULL, 0);
	return remove_listed();
}

static void make_file(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || ftruncate(fd, 9000))
		err(2, "%s", name);
	close(fd);
}

static void prepare(void)
{
	static const char * const names[] = {
		"f0", "f1", "f2", "f3", "with space", "with 7", "tab\tnew\nline", "back\\slash",
		"\xc3\xa4\xff\x01",
	};
	size_t i;

	if (chdir(dir))
		err(2, "%s", dir);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		make_file(names[i]);
	if (link("f0", "link") || mkdir("directory", 0755) || mkfifo("fifo", 0644) ||
	    symlink("f1", "symlink") || symlink("loop", "loop"))
		err(2, "%s is not empty", dir);
	scratch = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (scratch < 0 || pipe2(pipes, O_NONBLOCK | O_CLOEXEC))
		err(2, "scratch file and pipe");
}

int main(int argc, char **argv)
{
	unsigned long seconds = 20, most = -1;
	int c, n = 0;
	time_t end;

	seed = time(NULL);
	while ((c = getopt(argc, argv, "t:s:n:")) > 0) {
		if (c == 't')
			seconds = strtoul(optarg, NULL, 0);
		else if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			most = strtoul(optarg, NULL, 0);
		else
			exit(2);
	}
	if (argc - optind != 1)
		errx(2, "fuzz [-t SECONDS] [-s SEED] [-n STEPS] DIR");
	dir = argv[optind];
	signal(SIGIO, SIG_IGN);
	prepare();
	printf("fuzz: %lu seconds, seed %llu\n", seconds, (unsigned long long)seed);
	fflush(stdout);
	rng.state = seed;
	for (end = time(NULL) + seconds; time(NULL) < end && steps < most;) {
		step();
		if (!(steps % 200))
			n += check_laws();
	}
	n += check_laws();
	printf("%lu steps; writes: %lu done, %lu refused; other calls: %lu done, %lu refused; %d paths listed\n",
	       steps, commands_done, commands_refused, calls_done, calls_refused, n);
	return !commands_done || !commands_refused || !calls_done || !n;
}
