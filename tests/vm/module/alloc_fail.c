// SPDX-License-Identifier: GPL-2.0
/*
 * alloc_fail DIR GROUP: what iotracer does when the kernel has no memory.
 *
 * Each command and each read of GROUP is repeated. Each time another one of the
 * allocations and copies that the kernel makes for it fails: the first, the second, and so
 * on up to the last. Then either the command fails with ENOMEM or EFAULT, has changed
 * nothing, and works when it is repeated; or it has done all that it does without a fault.
 *
 * Removing or stopping the last target of a filesystem, which removes its hooks, is not
 * tested: unregister_kretprobe() needs memory, cannot report that there was none, and then
 * leaves behind a probe that others stumble over (6.1, 6.12: __disarm_kprobe_ftrace()).
 * Adding the first target, which attaches the hooks, is tested.
 *
 * DIR is an empty directory of a filesystem in which nothing is traced. The kernel needs
 * CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC and CONFIG_FAULT_INJECTION_USERCOPY.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "lib/proc.h"

enum {
	TEXT = 1 << 20,		/* bytes of a state, or of what a read returned */
	MOST_FAULTS = 20000,	/* more than any operation has */
	FEW = 60,
};

/*
 * A script is commands separated by ';'. A command is a line for control, where @ is DIR, or
 *	mv OLD NEW, rm FILE, touch FILE, ln OLD NEW
 *	reads FILE N		N reads of one byte
 *	stop, start, reset	for the control file of the target
 *	CATEGORY COMMAND	for that category: fs stop
 */
struct operation {
	const char *group;
	const char *name;
	const char *setup;	/* makes the state before the operation */
	const char *line;	/* is written to @file; NULL to read @file */
	const char *file;	/* '%' is the target's directory */
	const char *undo;	/* restores the state before */
	int error;		/* of the operation without a fault, or 0 */
	bool hooks_stay;	/* those that a failed operation attached stay until stop */
};

#define CONTROL "/proc/iotracer/control"
#define TARGET "/proc/iotracer/%/"
#define FS "/proc/iotracer/fs/"

static const struct operation operations[] = {
	{ "add", "the first target", "", "add @/a 10", CONTROL, "remove @/a", 0, false },
	{ "add", "a second target", "add @/b", "add @/a 10", CONTROL, "remove @/a", 0, false },
	{ "add", "a target with a large log", "add @/b", "add @/a 3000", CONTROL,
	  "remove @/a", 0, false },
	{ "add", "by a relative path", "add @/b", "add a", CONTROL, "remove @/a", 0, false },
	{ "add", "a second name", "add @/a", "add @/link", CONTROL, "remove @/link", 0, false },
	{ "add", "what is no file", "add @/b", "add @/nothing", CONTROL, "", ENOENT, false },
	{ "add", "with words behind", "add @/b", "add @/a and more", CONTROL, "", EINVAL, false },

	{ "resize", "larger", "add @/a 10;reads a 9", "add @/a 3000", CONTROL,
	  "add @/a 10", 0, false },
	{ "resize", "smaller", "add @/a 3000;reads a 9", "add @/a 10", CONTROL,
	  "add @/a 3000", 0, false },
	{ "resize", "and a second name", "add @/a 10;reads a 9", "add @/link 100", CONTROL,
	  "remove @/link;add @/a 10", 0, false },

	{ "remove", "one of two", "add @/b;add @/a", "remove @/a", CONTROL, "add @/a", 0, false },
	{ "remove", "one of two names", "add @/a;add @/link", "remove @/link", CONTROL,
	  "add @/link", 0, false },
	{ "remove", "by a relative path", "add @/b;add @/a", "remove a", CONTROL,
	  "add @/a", 0, false },
	{ "remove", "by its new name", "add @/b;add @/a;mv a new", "remove @/new", CONTROL,
	  "mv new a;add @/a;mv a new", 0, false },
	{ "remove", "one of two by its new name", "add @/a;add @/link;mv link new",
	  "remove @/new", CONTROL, "mv new link;add @/link;mv link new", 0, false },
	{ "remove", "of a deleted file", "add @/b;ln b d;add @/d;rm d", "remove d", CONTROL,
	  "ln b d;add @/d;rm d", 0, false },
	{ "remove", "what is no target", "add @/b", "remove @/a", CONTROL, "", ENOENT, false },
	{ "remove", "with words behind", "add @/a", "remove @/a and more", CONTROL,
	  "", EINVAL, false },

	{ "switch", "stop", "add @/b;add @/a", "stop", TARGET "control", "start", 0, false },
	{ "switch", "start", "add @/a;stop", "start", TARGET "control", "stop", 0, false },
	{ "switch", "reset", "add @/a;reads a 9", "reset", TARGET "control",
	  "reads a 9", 0, false },
	{ "switch", "reset of a large log", "add @/a 3000;reads a 9", "reset", TARGET "control",
	  "reads a 9", 0, false },
	{ "switch", "timereset", "add @/a;reads a 9", "timereset", TARGET "control",
	  "reads a 9", 0, false },

#define IOT_CATEGORY(name, NAME, kinds, traits, meaning)					\
	{ "category", "start of " #name, "", "start", "/proc/iotracer/" #name "/control",	\
	  #name " stop", 0, false },
#include "../module/uapi/categories.def"
	{ "category", "stop of what does not run", "", "stop", FS "control", "", 0, false },
	{ "category", "reset", "fs start;fs stop", "reset", FS "control", "", 0, false },
	{ "category", "size", "fs start;fs stop;fs size 100", "size 500", FS "control",
	  "fs size 100", 0, false },
	{ "category", "filter", "fs filter none", "filter comm=x op=READ", FS "control",
	  "fs filter none", 0, false },
	{ "category", "filter tree", "fs filter none", "filter tree=1", FS "control",
	  "fs filter none", 0, false },
	{ "category", "filter of another tree and more kinds, while it runs",
	  "fs filter tree=2;fs start", "filter tree=3 kind=all", FS "control",
	  "fs filter tree=2", 0, true },
	{ "category", "filter none", "fs filter uid=7", "filter none", FS "control",
	  "fs filter uid=7", 0, false },
	{ "category", "reading control", "fs start;fs stop", NULL, FS "control", "", 0, false },
	{ "category", "reading log", "fs filter comm=fault;fs start;reads b 9;fs stop", NULL,
	  FS "log", "", 0, false },
	{ "category", "reading stats", "", NULL, FS "stats", "", 0, false },

	{ "read", "control", "add @/a", NULL, CONTROL, "", 0, false },
	{ "read", "hooks", "add @/a", NULL, "/proc/iotracer/hooks", "", 0, false },
	{ "read", "format", "add @/a", NULL, "/proc/iotracer/format", "", 0, false },
	{ "read", "control of a target", "add @/a", NULL, TARGET "control", "", 0, false },
	{ "read", "stats", "add @/a", NULL, TARGET "stats", "", 0, false },
	{ "read", "log", "add @/a 2000;reads a 2000", NULL, TARGET "log", "", 0, false },
	{ "read", "stream", "add @/a 2000;reads a 2000", NULL, TARGET "stream", "", 0, false },
	{ "read", "log of few", "add @/a 5;reads a 5", NULL, TARGET "log", "", 0, false },
	{ "read", "empty log", "add @/a 5", NULL, TARGET "log", "", 0, false },
};

static const struct operation *current;
static const char *dir;
static int fail_nth;	/* this thread's file fail-nth, open */

/* What is visible of all targets, categories and hooks, or what a read returned. */
struct state {
	size_t length;
	char text[TEXT];
};

static void append(struct state *state, const char *file)
{
	ssize_t n = proc_read(file, state->text + state->length, TEXT - state->length);

	if (n < 0) {
		errno = -n;
		err(2, "%s", file);
	}
	state->length += n;
}

/*
 * Remove a word from each line from @begin on: T0, which differs each time, or with @last the
 * last column of hooks, which says why a hook could not be attached.
 */
static void drop_word(struct state *state, size_t begin, bool last)
{
	char *from = state->text + begin, *to = from;

	while (*from) {
		size_t length = strcspn(from, "\n");
		char *end = from + length, *word = memchr(from, ' ', length);

		if (last)
			word = memrchr(from, ' ', length);
		if (!word)
			word = end;
		memmove(to, from, word - from);
		to += word - from;
		from = word == end ? end : word + 1 + strcspn(word + 1, " \n");
		end += *end == '\n';
		memmove(to, from, end - from);
		to += end - from;
		from = end;
	}
	*to = '\0';
	state->length = to - state->text;
}

/* Drop all lines that contain @what. */
static void drop_lines(struct state *state, size_t begin, const char *what)
{
	char *line = state->text + begin, *end = state->text + state->length, *next;

	for (; line < end; line = next) {
		next = memchr(line, '\n', end - line);
		next = next ? next + 1 : end;
		if (!memmem(line, next - line, what, strlen(what)))
			continue;
		memmove(line, next, end - next);
		end -= next - line;
		next = line;
	}
	*end = '\0';
	state->length = end - state->text;
}

static void look(struct state *state)
{
	static struct proc_name names[64];
	char path[2 * PROC_NAME];
	int i, n = proc_names(names, 64);
	size_t begin;

	if (n < 0)
		errx(2, "the list of targets cannot be read");
	memset(state, 0, sizeof(*state));
	append(state, CONTROL);
	for (i = 0; i < PROC_CATEGORIES; i++) {
		snprintf(path, sizeof(path), "%s/control", proc_categories[i]);
		append(state, path);
	}
	drop_lines(state, 0, "# T0 "); /* the first start sets it */
	begin = state->length;
	if (!current->hooks_stay)
		append(state, "/proc/iotracer/hooks");
	/* the hook that guards unloading is attached with the first redirection in any case */
	drop_lines(state, begin, " unload ");
	drop_word(state, begin, true);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), PROC_DIR "/%.*s/stats", PROC_NAME, names[i].text);
		append(state, path);
		snprintf(path, sizeof(path), PROC_DIR "/%.*s/control", PROC_NAME, names[i].text);
		begin = state->length;
		append(state, path);
		drop_word(state, begin, false);
	}
}

static bool is_same(const struct state *one, const struct state *two)
{
	return one->length == two->length && !memcmp(one->text, two->text, one->length);
}

/* Replace @ by DIR and % by the directory of the first target. */
static void expand(const char *from, char *to, size_t size)
{
	static struct proc_name names[64];
	size_t n = 0;

	for (; *from && n + 1 < size; from++) {
		if (*from == '@')
			n += snprintf(to + n, size - n, "%s", dir);
		else if (*from == '%' && proc_names(names, 64) > 0)
			n += snprintf(to + n, size - n, "%s", names[0].text);
		else
			to[n++] = *from;
	}
	to[n] = '\0';
}

static int write_line(const char *file, const char *line)
{
	char path[512], text[512];

	expand(file, path, sizeof(path));
	expand(line, text, sizeof(text) - 1);
	strcat(text, "\n");
	return proc_write(path, text, strlen(text));
}

static void read_bytes(const char *file, int n)
{
	int fd = open(file, O_RDONLY);
	char byte;

	while (n--)
		if (pread(fd, &byte, 1, 0) != 1)
			err(2, "%s", file);
	close(fd);
}

static void touch(const char *file)
{
	int fd = open(file, O_RDWR | O_CREAT, 0644);

	if (fd < 0 || pwrite(fd, "data", 4, 0) != 4 || fsync(fd))
		err(2, "%s", file);
	close(fd);
}

/*
 * Run "NAME COMMAND" if NAME is a category, and store the command's result in @ret.
 * Return: whether NAME is a category.
 */
static bool command_category(const char *command, int *ret)
{
	const char *rest = strchr(command, ' ');
	char path[PROC_NAME];
	int i;

	for (i = 0; rest && i < PROC_CATEGORIES; i++) {
		const char *name = strrchr(proc_categories[i], '/') + 1;
		size_t n = strlen(name);

		if (n != (size_t)(rest - command) || strncmp(name, command, n))
			continue;
		snprintf(path, sizeof(path), "%s/control", proc_categories[i]);
		*ret = write_line(path, rest + 1);
		return true;
	}
	return false;
}

static void run_command(const char *command)
{
	char one[64], two[64];
	int n, ret = 0;

	if (sscanf(command, "mv %63s %63s", one, two) == 2)
		ret = rename(one, two) ? -errno : 0;
	else if (sscanf(command, "rm %63s", one) == 1)
		ret = unlink(one) ? -errno : 0;
	else if (sscanf(command, "touch %63s", one) == 1)
		touch(one);
	else if (sscanf(command, "ln %63s %63s", one, two) == 2)
		ret = link(one, two) ? -errno : 0;
	else if (sscanf(command, "reads %63s %d", one, &n) == 2)
		read_bytes(one, n);
	else if (command_category(command, &ret))
		;
	else if (!strncmp(command, "add ", 4) || !strncmp(command, "remove ", 7))
		ret = write_line(CONTROL, command);
	else
		ret = write_line(TARGET "control", command);
	if (ret) {
		errno = -ret;
		err(2, "preparing by '%s'", command);
	}
}

static void run_script(const char *script)
{
	char *copy = strdup(script), *rest = copy, *command;

	while ((command = strsep(&rest, ";")))
		if (*command)
			run_command(command);
	free(copy);
}

static void remove_all(void)
{
	char *list = proc_slurp(CONTROL, NULL), *rest = list, *line, *path;

	while (list && (line = strsep(&rest, "\n")) && *line) {
		strsep(&line, " ");
		while ((path = strsep(&line, " "))) {
			char command[512];

			if (!strcmp(path, "(deleted)"))
				continue;
			snprintf(command, sizeof(command), "remove %s", path);
			run_command(command);
		}
	}
	free(list);
}

/* Let the nth allocation or copy from now on fail. */
static void arm(int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", nth);

	if (pwrite(fail_nth, text, n, 0) != n)
		err(2, "fail-nth");
}

/*
 * Stop counting. Reading and setting the counter are copies as well. If one of these was the
 * one that failed, nothing else has failed, and the counting is over.
 * Return: whether an allocation or copy of the operation failed.
 */
static bool disarm(void)
{
	char text[16] = "";
	ssize_t n = pread(fail_nth, text, sizeof(text) - 1, 0);

	if (n < 0 && errno == EFAULT)
		return false;
	if (n <= 0 || (pwrite(fail_nth, "0", 1, 0) != 1 && errno != EFAULT))
		err(2, "fail-nth");
	return !atoi(text);
}

/* Write @line or read into @seen. Return: 0, or an error. */
static int operate(const struct operation *o, const char *path, const char *line,
		   struct state *seen)
{
	ssize_t n;

	if (o->line)
		return proc_write(path, line, strlen(line));
	n = proc_read(path, seen->text, TEXT);
	seen->length = n < 0 ? 0 : n;
	return n < 0 ? n : 0;
}

static struct state before, after, now, expected, seen;
static char path[512], line[512];
static int nth;

static int complain(const char *what, int ret)
{
	printf("%s, %s: fault %d: %s (%s)\n", current->group, current->name, nth, what,
	       ret ? strerror(-ret) : "success");
	return 1;
}

static int show_difference(const struct state *wanted, const struct state *found)
{
	printf("--- expected\n%s--- found\n%s---\n", wanted->text, found->text);
	return 1;
}

/* Run the operation without a fault. The runs with a fault are compared with this one. */
static int learn(void)
{
	int ret = operate(current, path, line, &expected);

	if (ret != -current->error)
		return complain("has the wrong result without a fault", ret);
	look(&after);
	run_script(current->undo);
	look(&now);
	return is_same(&before, &now) ? 0 : show_difference(&before, &now);
}

/* Check that the operation, which returned @ret, did all that it should, and undo it. */
static int check_done(int ret)
{
	if (ret != -current->error)
		return complain("does not work when repeated", ret);
	look(&now);
	if (!is_same(&after, &now))
		return complain("has another outcome", ret) + show_difference(&after, &now);
	if (!current->line && !is_same(&expected, &seen))
		return complain("shows something else", ret);
	run_script(current->undo);
	return 0;
}

/*
 * Whether to check at once that the operation works when it is repeated. The next attempt
 * repeats it anyway, up to its own fault, and the last attempt has no fault. Where there are
 * many faults, and each takes seconds of patching the kernel, every tenth is enough.
 */
static bool is_retried(void)
{
	return nth < FEW || nth % 10 == 0;
}

/*
 * Starting a category takes up to 1,600 allocations, most of them the kernel's own for its
 * list of functions to patch. After the first FEW, only every 31st is made to fail. The
 * environment variable FAULT_STRIDE sets another number.
 */
static int step(void)
{
	const char *stride = getenv("FAULT_STRIDE");

	if (nth < FEW || strcmp(current->group, "category"))
		return 1;
	return stride ? atoi(stride) : 31;
}

/* Run the operation while the nth allocation or copy fails. */
static int attempt(bool *injected)
{
	int ret;

	arm(nth);
	ret = operate(current, path, line, &seen);
	*injected = disarm();
	if (ret == -current->error)
		return check_done(ret);
	if (!*injected)
		return complain("fails without a fault", ret);
	if (ret != -ENOMEM && ret != -EFAULT)
		return complain("has the wrong error", ret);
	look(&now);
	if (!is_same(&before, &now))
		return complain("changed something", ret) + show_difference(&before, &now);
	return is_retried() ? check_done(operate(current, path, line, &seen)) : 0;
}

static int try_all(const struct operation *o)
{
	bool injected = true;
	int bad, faults = 0;

	current = o;
	nth = 1;
	run_script(o->setup);
	look(&before);
	expand(o->file, path, sizeof(path));
	expand(o->line ? o->line : "", line, sizeof(line) - 1);
	strcat(line, "\n");
	bad = learn();
	for (; !bad && injected && nth < MOST_FAULTS; nth += step(), faults++)
		bad = attempt(&injected);
	if (!bad)
		printf("%s, %s: %d faults of some %d\n", o->group, o->name, faults - 1,
		       nth - 1);
	if (!bad && faults < 3) {
		printf("%s, %s: too few; does the kernel inject any?\n", o->group, o->name);
		bad = 1;
	}
	fflush(stdout);
	return bad;
}

/* Trace nothing, and make the files a, b and link, which is another name of a. */
static void begin_anew(void)
{
	static const char * const names[] = { "a", "b", "d", "link", "new" };
	size_t i;

	remove_all();
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i]);
	run_script("touch a;touch b;ln a link;fs stop;fs filter none;fs size 1000");
}

/* Bytes that the categories hold: a category that is stopped keeps its records. */
static unsigned long held_by_categories(void)
{
	unsigned long held = 0, n;
	char file[PROC_NAME], stats[4096], *line;
	int i;

	for (i = 0; i < PROC_CATEGORIES; i++) {
		snprintf(file, sizeof(file), "%s/stats", proc_categories[i]);
		if (proc_read(file, stats, sizeof(stats)) < 0)
			err(2, "%s", file);
		line = strstr(stats, "memory_bytes ");
		if (!line || sscanf(line, "memory_bytes %lu", &n) != 1)
			errx(2, "%s: no memory_bytes", file);
		held += n;
	}
	return held;
}

static void set_parameter(const char *name, unsigned long value)
{
	char file[128], text[24];
	int n = snprintf(text, sizeof(text), "%lu", value);

	snprintf(file, sizeof(file), "/sys/module/iotracer/parameters/%s", name);
	if (proc_write(file, text, n))
		errx(2, "%s cannot be set", file);
}

/* All memory of logs is accounted for, and has been freed. */
static int check_account(void)
{
	unsigned long held = held_by_categories();
	int ret;

	set_parameter("ring_memory_limit", held + 5000);
	ret = write_line(CONTROL, "add @/b 10");
	if (ret)
		printf("a log of 10 events does not fit in 5000 bytes: %s\n", strerror(-ret));
	remove_all();
	set_parameter("ring_memory_limit", held + 100);
	if (write_line(CONTROL, "add @/b 10") != -ENOMEM) {
		printf("a log of 10 events fits in 100 bytes\n");
		ret = 1;
	}
	set_parameter("ring_memory_limit", 100000000);
	return ret;
}

/* Inject faults into all kinds of allocation, also those that may wait, and print none. */
static void choose_faults(void)
{
	static const char * const settings[][2] = {
		{ "failslab/ignore-gfp-wait", "N" },
		{ "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/min-order", "0" },
		{ "fail_page_alloc/verbose", "0" },
		{ "fail_usercopy/verbose", "0" },
	};
	char file[128];
	size_t i;
	int ret;

	for (i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		snprintf(file, sizeof(file), "/sys/kernel/debug/%s", settings[i][0]);
		ret = proc_write(file, settings[i][1], strlen(settings[i][1]));
		if (ret)
			errx(2, "%s: %s", file, strerror(-ret));
	}
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_nth < 0)
		err(2, "/proc/thread-self/fail-nth");
}

int main(int argc, char **argv)
{
	size_t i;
	int bad = 0;

	if (argc != 3)
		errx(2, "usage: alloc_fail DIR add|resize|remove|switch|read|category");
	dir = argv[1];
	/* each instance of a kretprobe is an allocation: have as few as possible */
	set_parameter("maxactive", 1);
	if (chdir(dir) || mlockall(MCL_CURRENT | MCL_FUTURE))
		err(2, "%s", dir);
	choose_faults();
	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		if (strcmp(operations[i].group, argv[2]))
			continue;
		begin_anew();
		bad |= try_all(&operations[i]);
	}
	remove_all();
	return bad || check_account();
}
