/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The target that iotracer watch reads. One that is not there is added, and removed in the end,
 * however the program ends but by SIGKILL or a crash. One that was there stays as it was added.
 */
#ifndef TOOL_CMD_WATCH_TARGET_H
#define TOOL_CMD_WATCH_TARGET_H

#include <stdbool.h>
#include <linux/types.h>

#include "module/target.h"

struct watch_target {
	const char *subject;	/* what the user named */
	char *name;		/* name of its directory; NULL: there is none */
	char *text;		/* its path or its processes, as the module lists them; NULL: not known */
	bool is_tasks;
	bool is_ours;		/* it was added here */
	__u64 device, inode;	/* st_dev and st_ino of what its path led to last; 0: to nothing */
	bool is_gone;		/* its path leads to nothing, which was said */
};

/*
 * @file: a path; or @text: processes. @options and @max_events: for adding.h. Returns an exit code;
 * errors are reported. Close it in either case.
 */
int watch_target_open(struct watch_target *t, const char *file, const char *text,
		      const char *max_events, const char *options);
void watch_target_close(struct watch_target *t);

/* It was removed: it is not ours any more, even if another one has its name. */
void watch_target_forget(struct watch_target *t);

/*
 * What has happened to its path, or to its process, since the last call; NULL for nothing. The
 * caller frees it. *ended: it can have no further event.
 */
char *watch_target_changed(struct watch_target *t, bool *ended);

#endif /* TOOL_CMD_WATCH_TARGET_H */
