// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/xalloc.h"

#define READ_LEAST	4096	/* bytes of room for a read */

/* Has room for another read, and a NUL. */
static bool make_room(char **text, size_t *size, size_t length)
{
	size_t more = *size ? 2 * *size : 4 * READ_LEAST;

	if (*size - length >= READ_LEAST)
		return true;
	if (!xgrow(text, more, 1))
		return false;
	*size = more;
	return true;
}

/* Files of /proc do not say how large they are. */
static int read_all(int fd, char **text, size_t *length)
{
	size_t size = 0;
	ssize_t n = 1;

	*text = NULL;
	*length = 0;
	while (n > 0) {
		if (!make_room(text, &size, *length))
			return -ENOMEM;
		do {
			n = read(fd, *text + *length, size - *length - 1);
		} while (n < 0 && errno == EINTR);
		if (n < 0)
			return -errno;
		*length += n;
	}
	(*text)[*length] = '\0';
	return 0;
}

static int read_or_free(int fd, char **text, size_t *length)
{
	int err = read_all(fd, text, length);

	if (err) {
		free(*text);
		*text = NULL;
	}
	return err;
}

int file_read_fd(int fd, char **text)
{
	size_t length;

	return read_or_free(fd, text, &length);
}

int file_read_bytes(const char *path, char **text, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	*text = NULL;
	*length = 0;
	if (fd < 0)
		return -errno;
	err = read_or_free(fd, text, length);
	close(fd);
	return err;
}

int file_read(const char *path, char **text)
{
	size_t length;

	return file_read_bytes(path, text, &length);
}
