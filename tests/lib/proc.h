/* SPDX-License-Identifier: GPL-2.0 */
/* What test programs in C need to use /proc/iotracer. */
#ifndef IOT_TEST_PROC_H
#define IOT_TEST_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROC_DIR	"/proc/iotracer"
#define PROC_CONTROL	PROC_DIR "/control"
#define PROC_NAME	160	/* bytes of the name of a target's directory */

enum {
#define IOT_CATEGORY(name, NAME, kinds, traits, meaning) PROC_CATEGORY_##NAME,
#include "../../module/uapi/categories.def"
	PROC_CATEGORIES
};

extern const char * const proc_categories[PROC_CATEGORIES];	/* their directories */

struct proc_name {
	char text[PROC_NAME];
};

int proc_write(const char *path, const char *text, size_t length);
ssize_t proc_read(const char *path, char *buf, size_t size);
char *proc_slurp(const char *path, size_t *length);
size_t proc_unescape(char *text);
int proc_names(struct proc_name *names, int max);
bool proc_is_category_log(const char *path);
int proc_stop_categories(void);
int proc_law(void);

#endif /* IOT_TEST_PROC_H */
