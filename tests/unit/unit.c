// SPDX-License-Identifier: GPL-2.0
/* Linked into every test program: what its main() calls, and the only variable of the shims. */
#include <linux/compiler.h>
#include <string.h>
#include "unit.h"

__thread void (*unit_hook)(void);

/* Not inlined: the attribute keeps ThreadSanitizer out of functions, not of statements. */
__attribute__((no_sanitize("thread")))
u64 unit_hidden_load(const u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* Zeroed memory of exactly this size, so that AddressSanitizer knows its end. */
void *unit_alloc(size_t bytes)
{
	void *p = calloc(1, bytes);

	CHECK(p, "no memory for %zu bytes", bytes);
	return p;
}

/* PROGRAM --list prints the tests' names; PROGRAM TEST runs one. */
int unit_main(int argc, char **argv, const struct unit_test *tests, size_t nr)
{
	bool list = argc == 2 && !strcmp(argv[1], "--list");
	size_t i;

	for (i = 0; i < nr; i++) {
		if (list) {
			puts(tests[i].name);
		} else if (argc == 2 && !strcmp(argv[1], tests[i].name)) {
			tests[i].run();
			return EXIT_SUCCESS;
		}
	}
	if (list)
		return EXIT_SUCCESS;
	fprintf(stderr, "usage: %s --list | TEST\n", argv[0]);
	return 2;
}
