// SPDX-License-Identifier: GPL-2.0
/*
 * Touches the pages of a file's mapping and prints the faults that getrusage(2) counted:
 *
 *	fault FILE ACCESS STRIDE
 *
 * ACCESS has one letter for each step: r reads every STRIDE-th page, w writes to it,
 * both through a shared mapping; p writes through a private mapping. A c in front first
 * drops the file from the page cache. Prints "<minor> <major> <address of the mapping>"
 * for the last step.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

static void touch(char *at, long pages, long stride, char access)
{
	long i;

	for (i = 0; i < pages; i += stride)
		if (access == 'r')
			__atomic_load_n(&at[i * PAGE], __ATOMIC_RELAXED);
		else
			__atomic_store_n(&at[i * PAGE + 8], 2, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	static struct rusage before, after; /* static: their pages are present */
	long stride, pages;
	struct stat st;
	char *at, *a;
	int fd;

	stride = argc == 4 ? atol(argv[3]) : 0;
	if (stride < 1)
		errx(2, "usage: fault FILE ACCESS STRIDE");
	fd = open(argv[1], O_RDWR);
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", argv[1]);
	pages = st.st_size / PAGE;
	if (argv[2][0] == 'c')
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	a = argv[2] + (argv[2][0] == 'c');
	at = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE,
		  *a == 'p' ? MAP_PRIVATE : MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		err(1, "mmap");
	for (; *a; a++) {
		getrusage(RUSAGE_SELF, &before);
		getrusage(RUSAGE_SELF, &after);
		getrusage(RUSAGE_SELF, &before);
		touch(at, pages, stride, *a);
		getrusage(RUSAGE_SELF, &after);
	}
	printf("%ld %ld %lu\n", after.ru_minflt - before.ru_minflt,
	       after.ru_majflt - before.ru_majflt, (unsigned long)at);
	return 0;
}
