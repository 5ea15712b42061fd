/* SPDX-License-Identifier: GPL-2.0 */
/* The access pattern of a file that is a target, from its log. */
#ifndef TOOL_CMD_PROFILE_TARGET_H
#define TOOL_CMD_PROFILE_TARGET_H

#include <linux/types.h>

#include "base/cli.h"

/* @format: text or JSON. @window: accesses. Returns an exit code; errors are reported. */
int profile_target(const char *file, enum cli_format format, __u64 window);

#endif /* TOOL_CMD_PROFILE_TARGET_H */
