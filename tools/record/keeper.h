/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who keeps something beside the events in each trace of a recording, such as maps of a virtual
 * machine's disk images (vm/guest_recorder.h). Recording calls these functions, and knows no more.
 * Errors are reported, and counted in @failed.
 */
#ifndef TOOL_RECORD_KEEPER_H
#define TOOL_RECORD_KEEPER_H

struct keeper {
	const char *what;	/* in the plural, for messages */

	/* Before the first trace has events. */
	void (*open)(struct keeper *k);

	/* Adds to the trace with this directory, now. */
	void (*take)(struct keeper *k, int dir, const char *name);

	/* Adds to the trace that has ended and to the one that follows. Does not wait for that. */
	void (*begin)(struct keeper *k, int old, const char *old_name, int next, const char *next_name);

	/* Waits for what was begun. */
	void (*join)(struct keeper *k);

	/* Also without open(). */
	void (*close)(struct keeper *k);

	unsigned int failed;
};

#endif /* TOOL_RECORD_KEEPER_H */
