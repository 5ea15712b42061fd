/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stores more than events in each trace of a recording, such as maps of a VM's disk images
 * (vm/guest_recorder.h). The recorder knows only these functions. They report errors, and count
 * them in @failed.
 */
#ifndef TOOL_RECORD_KEEPER_H
#define TOOL_RECORD_KEEPER_H

struct keeper {
	const char *what;	/* in the plural, for messages */

	/* Called before the first trace has events. */
	void (*open)(struct keeper *k);

	/* Stores data in the trace with this directory, before it returns. */
	void (*take)(struct keeper *k, int dir, const char *name);

	/* Begins to store data in the trace that has ended and in the next one. Does not wait. */
	void (*begin)(struct keeper *k, int old, const char *old_name, int next, const char *next_name);

	/* Waits until that is done. */
	void (*join)(struct keeper *k);

	/* May be called without open(). */
	void (*close)(struct keeper *k);

	unsigned int failed;
};

#endif /* TOOL_RECORD_KEEPER_H */
