// SPDX-License-Identifier: GPL-2.0
/*
 * renames FILE FOLDER: measure what renames cost other calls, in nanoseconds. In a virtual
 * machine that runs with -icount shift=0 these are instructions. Prints the mean time of
 *
 *	a read of 4 KiB of FILE
 *	such a read after a rename in FOLDER, which FILE is not in
 *	a rename of a file in FOLDER to a name that it has not had: of the first hundred
 *	names, and of the last hundred of NAMES
 *	the same, each with opening and reading the file by that name
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, READS = 1000, NAMES = 10000, MEAN = 100 };

static char buf[BLOCK];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void move(const char *from, const char *to)
{
	if (rename(from, to))
		err(1, "%s to %s", from, to);
}

static double reading(int fd)
{
	double start = now();

	if (pread(fd, buf, BLOCK, 0) != BLOCK)
		err(1, "pread");
	return now() - start;
}

/* The mean is that of the faster half, which nothing in the background has disturbed. */
static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double mean(double *took, int n)
{
	double sum = 0;

	qsort(took, n, sizeof(*took), by_size);
	for (int i = 0; i < n / 2; i++)
		sum += took[i];
	return sum / (n / 2);
}

static double reads(int fd, int renaming)
{
	static double took[READS];

	for (int i = 0; i < READS; i++) {
		if (renaming)
			move(i % 2 ? "other" : "another", i % 2 ? "another" : "other");
		took[i] = reading(fd);
	}
	return mean(took, READS);
}

struct means {
	double first;
	double last;
};

static struct means means_of(double *took)
{
	struct means m = { .first = mean(took, MEAN) };

	m.last = mean(took + NAMES - MEAN, MEAN);
	return m;
}

static void names(struct means *renamed, struct means *read)
{
	static double moved[NAMES], took[NAMES];
	char name[2][32] = { "name", "name" };

	for (int i = 0; i < NAMES; i++) {
		char *old = name[i % 2], *new = name[(i + 1) % 2];
		double start;
		int fd;

		snprintf(new, sizeof(name[0]), "name%d", i);
		start = now();
		move(old, new);
		moved[i] = now() - start;
		fd = open(new, O_RDONLY);
		if (fd < 0)
			err(1, "%s", new);
		reading(fd);
		close(fd);
		took[i] = now() - start;
	}
	*renamed = means_of(moved);
	*read = means_of(took);
	move(name[NAMES % 2], "name");
}

static void make(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT, 0644);

	if (fd < 0 || pwrite(fd, buf, BLOCK, 0) != BLOCK)
		err(1, "%s", name);
	close(fd);
}

int main(int argc, char **argv)
{
	struct means renamed, read;
	double alone, after;
	int fd;

	if (argc != 3)
		errx(2, "usage: renames FILE FOLDER");
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || chdir(argv[2]))
		err(1, "%s, %s", argv[1], argv[2]);
	make("name");
	make("another");
	reads(fd, 0);
	alone = reads(fd, 0);
	reads(fd, 1);
	after = reads(fd, 1);
	names(&renamed, &read);
	printf("%.0f %.0f %.0f %.0f %.0f %.0f\n", alone, after, renamed.first, renamed.last,
	       read.first, read.last);
	return 0;
}
