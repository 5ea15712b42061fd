/* SPDX-License-Identifier: GPL-2.0 */
/* Whole files. */
#ifndef TOOL_BASE_FILE_H
#define TOOL_BASE_FILE_H

#include <stddef.h>

/*
 * The rest of a file as a string, which the caller frees; NULL after an error. Returns 0 or a
 * negative errno.
 */
int file_read_fd(int fd, char **text);

/* As above, the file with this path. */
int file_read(const char *path, char **text);

/* As above, of a file that may have NULs: its length without the one behind it. */
int file_read_bytes(const char *path, char **text, size_t *length);

#endif /* TOOL_BASE_FILE_H */
