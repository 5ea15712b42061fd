// SPDX-License-Identifier: GPL-2.0
/*
 * Writes blocks that carry their own version, and syncs now and then: what power_cut.bats cuts the power of.
 *
 *	power_cut SEED STEPS DIRECTORY [running]
 *
 * While it is "running" it is cut: nothing is truncated, and writeback may be in flight while the next write
 * comes. Otherwise each sync_file_range() waits, so that the disk is quiet behind the last step.
 *
 * The files f0 to f3 have BLOCKS blocks each. Each call that writes has the next version, so the version of
 * a block is the number of the write in the trace. f0 and f1 are written and synced first; f2 and f3 are new.
 * What is stored in the mapping of file m is said on standard output, as no event tells the bytes:
 * "m BLOCK VERSION NANOSECONDS", the time after it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "lib/random.h"

#define BLOCK	4096
#define BLOCKS	64
#define FILES	4
#define MOST	8	/* blocks of a write */

static struct random state;
static uint64_t version, stored;
static bool running;
static int files[FILES], direct[FILES], mapped;
static uint64_t *map;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void must(const char *what, int result)
{
	if (result)
		die(what);
}

static unsigned int below(unsigned int n)
{
	return random_below(&state, n);
}

static void fill(uint64_t *to, uint64_t block, uint64_t number)
{
	int i;

	to[0] = 0x6b636f6c62747563ULL;
	to[1] = block;
	for (i = 2; i < BLOCK / 8; i++)
		to[i] = number;
}

static void put(int fd, int first, int count, int flags)
{
	static uint64_t buffer[MOST * BLOCK / 8] __attribute__((aligned(BLOCK)));
	struct iovec vector = { buffer, count * BLOCK };
	int i;

	version++;
	for (i = 0; i < count; i++)
		fill(buffer + i * BLOCK / 8, first + i, version);
	if (pwritev2(fd, &vector, 1, (off_t)first * BLOCK, flags) != count * BLOCK)
		die("pwritev2");
}

static void store(void)
{
	struct timespec now;
	int block = below(BLOCKS);

	fill(map + block * BLOCK / 8, block, ++stored);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("m %d %llu %lld\n", block, (unsigned long long)stored, now.tv_sec * 1000000000LL + now.tv_nsec);
	fflush(stdout);
}

static void step(void)
{
	int file = below(FILES), count = 1 + below(MOST), first = below(BLOCKS - count + 1), what = below(100);
	off_t at = (off_t)first * BLOCK;

	if (what < 40)
		put(files[file], first, count, 0);
	else if (what < 55)
		put(direct[file], first, count, 0);
	else if (what < 62)
		put(files[file], first, count, RWF_DSYNC);
	else if (what < 77)
		sync_file_range(files[file], at, count * BLOCK,
				SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
				(running && below(2) ? 0 : SYNC_FILE_RANGE_WAIT_AFTER));
	else if (what < 82)
		must("fsync", fsync(files[file]));
	else if (what < 85)
		must("fdatasync", fdatasync(files[file]));
	else if (what < 87 && !running)
		must("ftruncate", ftruncate(files[file], at));
	else if (what < 88)
		must("syncfs", syncfs(files[file]));
	else if (what < 97)
		store();
	else if (what < 99)
		must("msync", msync((char *)map + at, count * BLOCK, MS_SYNC));
	else
		must("fsync", fsync(mapped));
}

int main(int argc, char **argv)
{
	int i, j, steps;
	char name[3];

	if (argc < 4 || chdir(argv[3]))
		die("power_cut SEED STEPS DIRECTORY [running]");
	running = argc > 4;
	state.state = strtoull(argv[1], NULL, 10);
	steps = atoi(argv[2]);
	for (i = 0; i < FILES; i++) {
		sprintf(name, "f%d", i);
		files[i] = open(name, O_RDWR | O_CREAT, 0644);
		direct[i] = open(name, O_RDWR | O_DIRECT);
		if (files[i] < 0 || direct[i] < 0)
			die(name);
		for (j = 0; j < BLOCKS; j += MOST)
			put(files[i], j, MOST, 0);
		if (i < 2)
			must("fsync", fsync(files[i]));
	}
	mapped = open("m", O_RDWR | O_CREAT, 0644);
	if (mapped < 0 || ftruncate(mapped, BLOCKS * BLOCK))
		die("m");
	map = mmap(NULL, BLOCKS * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, mapped, 0);
	if (map == MAP_FAILED)
		die("mmap");
	for (i = 0; i < steps; i++)
		step();
	printf("done %llu\n", (unsigned long long)version);
	return 0;
}
