// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_renames FILE DIRECTORY renames|names N: what user nobody, who gives a file N names or
 * looks up N long names of nothing in DIRECTORY, costs a process that reads FILE, which is not
 * in it. In a virtual machine with -icount shift=0 a nanosecond is an instruction. Prints means:
 *
 *	ALONE MEAN		a read of 4 KiB before the attack
 *	ATTACK FIRST LAST	a rename or lookup in its first hundred rounds, and in its last
 *	READ FIRST LAST		a read after each of these rounds
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, MEAN = 100, NOBODY = 65534, NAME = 200 };

struct means {
	double first[MEAN];
	double last[MEAN];
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* The mean is that of the faster half, which nothing in the background has disturbed. */
static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double mean(double *took)
{
	double sum = 0;

	qsort(took, MEAN, sizeof(*took), by_size);
	for (int i = 0; i < MEAN / 2; i++)
		sum += took[i];
	return sum / (MEAN / 2);
}

static void note(struct means *m, unsigned long i, unsigned long n, double took)
{
	if (i < MEAN)
		m->first[i] = took;
	if (i >= n - MEAN)
		m->last[i - (n - MEAN)] = took;
}

static void print(const char *what, struct means *m)
{
	printf("%s %.0f %.0f\n", what, mean(m->first), mean(m->last));
}

/* Rename the file and open it by the new name. Return: time of the rename. */
static double rename_to(unsigned long i)
{
	static char name[2][32] = { "name", "name" };
	char *old = name[i % 2], *new = name[(i + 1) % 2];
	double start, took;
	int fd;

	snprintf(new, sizeof(name[0]), "name%lu", i);
	start = now();
	if (rename(old, new))
		err(1, "%s to %s", old, new);
	took = now() - start;
	fd = open(new, O_RDONLY);
	if (fd < 0)
		err(1, "%s", new);
	close(fd);
	return took;
}

/* Look up a name of 200 bytes. Return: time of the lookup. */
static double look_up(unsigned long i)
{
	char name[NAME + 1];
	struct stat st;
	double start;
	int found;

	snprintf(name, sizeof(name), "%0*lu", NAME, i);
	start = now();
	found = !lstat(name, &st);
	start = now() - start;
	if (found)
		errx(1, "%s exists", name);
	return start;
}

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		err(1, "user nobody");
}

/* A round for each byte from @go; answer each by a byte to @done. */
static void attack(double (*round)(unsigned long i), unsigned long n, int go, int done)
{
	static struct means took;
	char c;

	become_nobody();
	close(open("name", O_RDWR | O_CREAT, 0644));
	for (unsigned long i = 0; i < n; i++) {
		/* in the middle nobody measures, so the turns are left out */
		int measured = i < MEAN || i >= n - MEAN;

		if (measured && read(go, &c, 1) != 1)
			errx(1, "the reader has ended");
		note(&took, i, n, round(i));
		if (measured && write(done, "", 1) != 1)
			err(1, "pipe");
	}
	print("ATTACK", &took);
	fflush(stdout);
}

static double reading(int fd)
{
	static char buf[BLOCK];
	double start = now();

	if (pread(fd, buf, BLOCK, 0) != BLOCK)
		err(1, "pread");
	return now() - start;
}

static void watch(int fd, unsigned long n, int go, int done)
{
	static struct means took;
	char c;

	for (int i = 0; i < 2 * MEAN; i++)
		took.first[i % MEAN] = reading(fd);
	printf("ALONE %.0f\n", mean(took.first));
	fflush(stdout);
	for (unsigned long i = 0; i < n; i++) {
		if (i == MEAN)
			i = n - MEAN;
		if (write(go, "", 1) != 1 || read(done, &c, 1) != 1)
			errx(1, "the attacker has ended");
		note(&took, i, n, reading(fd));
	}
	print("READ", &took);
}

int main(int argc, char **argv)
{
	int go[2], done[2], fd, status;
	unsigned long n;
	pid_t pid;

	if (argc != 5)
		errx(2, "usage: hostile_renames FILE DIRECTORY renames|names N");
	n = strtoul(argv[4], NULL, 10);
	if (n < 2 * MEAN)
		errx(2, "N is %d at least", 2 * MEAN);
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || chdir(argv[2]) || pipe(go) || pipe(done))
		err(1, "%s, %s", argv[1], argv[2]);
	pid = fork();
	if (!pid) {
		close(go[1]);
		attack(strcmp(argv[3], "names") ? rename_to : look_up, n, go[0], done[1]);
		return 0;
	}
	close(done[1]);
	watch(fd, n, go[1], done[0]);
	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "the attacker failed");
	return 0;
}
