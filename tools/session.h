/* SPDX-License-Identifier: GPL-2.0 */
/* One recording, from its start to its end, and the reports on it. */
#ifndef TOOL_SESSION_H
#define TOOL_SESSION_H

#include <jansson.h>
#include <stdbool.h>

#include "anonymize.h"
#include "category.h"
#include "control.h"
#include "filter.h"
#include "guest_recorder.h"
#include "receipt.h"
#include "recorder.h"
#include "segments.h"
#include "snapshotter.h"
#include "vm.h"
#include "wall.h"
#include "workload.h"

#define SESSION_CATEGORIES 16

/* The options of the command line. */
struct session_options {
	const char *directory;
	const struct category *categories[SESSION_CATEGORIES];
	size_t nr_categories;
	struct filters filters;
	const char **devices;	/* as --device named them */
	size_t nr_devices;
	double seconds;		/* 0: no limit */
	double drain;		/* seconds to wait for what the command left to be written */
	bool wait;		/* wait for what the command started and left running */
	__u64 bytes;		/* 0: no limit */
	__u64 rotate_bytes;	/* a new trace when one takes so much; 0: not for that reason */
	double rotate_seconds;	/* or lasts so long */
	__u64 keep;		/* bytes that the finished ones may take; 0: no limit */
	__u64 buffer;		/* bytes of the module's rings; 0: unchanged */
	__u64 sample;
	const char *label;
	json_t *tags;
	bool anonymize;
	const char *key_file;
	bool strict;		/* a LOSSY trace is a failure */
	enum { COMPRESS_END, COMPRESS_NOW, COMPRESS_NEVER } compress;
	char **command;		/* NULL: none */
	const char *vm_name;	/* a virtual machine, with which recording ends; NULL: none */
	json_t *vm;		/* the same, as vm_list() has it */
	bool snapshots;
	struct snapshot_fs snapshot_fs;
	double snapshot_fs_interval, snapshot_process_interval;	/* seconds; 0: none in between */
};

struct session {
	const struct session_options *options;
	struct segments segments;
	char *directory;		/* of the trace */
	int dir;
	struct wall_pair started;	/* the first of several traces */
	bool lossy;			/* an earlier one is */
	struct anonymizer anonymizer;
	struct workload workload;
	int machine;			/* pidfd of the virtual machine, or -1 */
	struct control controls[SESSION_CATEGORIES];
	size_t nr_controls;
	__u64 missed[SESSION_CATEGORIES];	/* the module's counter before recording */
	__u64 unattributed[SESSION_CATEGORIES];	/* the same */
	__u64 paths_missed;
	struct recorder recorder;
	int signals;			/* signalfd */
	bool signalled;			/* a first signal came, which was passed to the command */
	bool left;			/* a second signal came: the command is left running */
	bool compressed;
	struct wall_pair begin, end;
	__u64 ended;			/* when the command's end was noticed; CLOCK_MONOTONIC ns */
	bool drains;			/* a category reports what the command left to be written */
	__u64 dirty;			/* bytes that the command left to be written */
	__u64 unknown;			/* filesystems of which that is not known */
	__u64 look_again;		/* when to check @dirty again; CLOCK_MONOTONIC ns */
	json_t *metadata;
	struct snapshotter snapshotter;
	struct guest_recorder guest;
	struct receipt receipt;
};

/* Does a whole recording. The exit code is the command's, if there is one and all went well. */
int session_run(const struct session_options *options);

/* report.c: metadata.json at the beginning and at the end, and the summary. */
int report_begin(struct session *s);
int report_end(struct session *s);

/* Of a trace that another one follows: its metadata.json, and a line. */
void report_segment(struct session *s);

/* Whether events of a trace that has ended are missing in it. */
bool report_is_lossy(const struct session *s);
void report_progress(const struct session *s);

#endif /* TOOL_SESSION_H */
