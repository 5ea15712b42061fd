/* SPDX-License-Identifier: GPL-2.0 */
/* Paths from the root of the mount namespace, which is how records have them. */
#ifndef TOOL_BASE_ABSOLUTE_H
#define TOOL_BASE_ABSOLUTE_H

/*
 * The path of a directory from the root of the mount namespace, also if this process is in a
 * chroot. Allocated; NULL with errno set if it cannot be found out.
 */
char *absolute_path(const char *directory);

#endif /* TOOL_BASE_ABSOLUTE_H */
