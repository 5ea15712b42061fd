/* SPDX-License-Identifier: GPL-2.0 */
/* The access pattern of a file that is a target, from its log. */
#ifndef TOOL_CMD_PROFILE_TARGET_H
#define TOOL_CMD_PROFILE_TARGET_H

#include <linux/types.h>

#include "base/cli.h"

struct profile_wish {
	enum cli_format format;		/* text or JSON */
	__u64 window;			/* accesses */
	bool map;			/* also where accesses are over time */
	const char *output;		/* only that, as a picture in this file; or NULL */
};

/* Returns an exit code; errors are reported. */
int profile_target(const char *file, const struct profile_wish *wish);

#endif /* TOOL_CMD_PROFILE_TARGET_H */
