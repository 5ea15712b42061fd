/* SPDX-License-Identifier: GPL-2.0 */
/* For programs of named tests, each of which is run in a process of its own. */
#ifndef UNIT_H
#define UNIT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct unit_test {
	const char *name;
	void (*run)(void);
};

int unit_main(int argc, char **argv, const struct unit_test *tests, size_t nr);
void *unit_alloc(size_t bytes);

/* Safe enough in a signal handler, since the process ends here. */
#define CHECK(condition, ...)						\
	do {								\
		if (!(condition)) {					\
			dprintf(STDERR_FILENO, "%s:%d: ", __FILE__, __LINE__); \
			dprintf(STDERR_FILENO, __VA_ARGS__);		\
			dprintf(STDERR_FILENO, " [%s]\n", #condition);	\
			_exit(EXIT_FAILURE);				\
		}							\
	} while (0)

#endif /* UNIT_H */
