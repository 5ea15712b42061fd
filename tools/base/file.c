// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/file.h"
#include "base/xalloc.h"

/* Files of /proc do not say how large they are. */
int file_read_fd(int fd, char **text)
{
	size_t size = 0, length = 0;
	ssize_t n = 1;

	*text = NULL;
	while (n > 0) {
		if (size - length < 4096) {
			size = size ? 2 * size : 16384;
			*text = xreallocarray(*text, size, 1);
		}
		do {
			n = read(fd, *text + length, size - length - 1);
		} while (n < 0 && errno == EINTR);
		if (n < 0) {
			n = -errno;
			free(*text);
			*text = NULL;
			return n;
		}
		length += n;
	}
	(*text)[length] = '\0';
	return 0;
}

int file_read(const char *path, char **text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	*text = NULL;
	if (fd < 0)
		return -errno;
	err = file_read_fd(fd, text);
	close(fd);
	return err;
}
