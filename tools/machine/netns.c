// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "machine/netns.h"

static char *path_of(const char *name)
{
	if (strchr(name, '/'))
		return xstrdup(name);
	if (name[strspn(name, "0123456789")])
		return xasprintf(NETNS_DIRECTORY "/%s", name);
	return xasprintf("/proc/%s/ns/net", name);
}

int netns_find(const char *name, __u64 *number)
{
	char *path = path_of(name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err = 0;
	struct stat st;

	free(path);
	if (fd < 0)
		return errno;
	/* other files do not know the request */
	if (ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET)
		err = EINVAL;
	else if (fstat(fd, &st))
		err = errno;
	else
		*number = st.st_ino;
	close(fd);
	return err;
}
