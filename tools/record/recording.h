/* SPDX-License-Identifier: GPL-2.0 */
/* A recording, from its start to its end. */
#ifndef TOOL_RECORD_RECORDING_H
#define TOOL_RECORD_RECORDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/wall.h"
#include "module/control.h"
#include "record/options.h"
#include "record/receipt_parts.h"
#include "record/recorder.h"
#include "record/segments.h"
#include "record/snapshotter.h"
#include "record/workload.h"
#include "trace/anonymize.h"

struct session {
	const struct session_options *options;
	struct segments segments;
	char *directory;		/* of the trace */
	int dir;
	struct wall_pair started;	/* start of the first of several traces */
	bool lossy;			/* an earlier trace is LOSSY */
	struct anonymizer anonymizer;
	struct workload workload;
	int machine;			/* pidfd of the VM, or -1 */
	struct control controls[SESSION_CATEGORIES];
	size_t nr_controls;
	__u64 missed[SESSION_CATEGORIES];	/* the module's counter before recording */
	__u64 unattributed[SESSION_CATEGORIES];	/* the same */
	__u64 paths_missed;
	json_t *waiting[SESSION_CATEGORIES];	/* calls that waited at the end, or NULL */
	struct recorder recorder;
	int signals;			/* signalfd */
	bool signalled;			/* a first signal came, which was passed to the command */
	bool left;			/* a second signal came: the command is left running */
	bool compressed;
	struct wall_pair begin, end;
	__u64 ended;			/* when the command's end was noticed; CLOCK_MONOTONIC ns */
	bool drains;			/* a category reports the command's dirty data */
	__u64 dirty;			/* bytes of the command's data that are not written yet */
	__u64 unknown;			/* filesystems for which this is not known */
	__u64 look_again;		/* when to check @dirty again; CLOCK_MONOTONIC ns */
	json_t *metadata;
	struct snapshotter snapshotter;
	struct receipt receipt;
};

#endif /* TOOL_RECORD_RECORDING_H */
