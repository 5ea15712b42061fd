/* SPDX-License-Identifier: GPL-2.0 */
/* The options of a recording. */
#ifndef TOOL_RECORD_OPTIONS_H
#define TOOL_RECORD_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

#include "machine/snapshot.h"
#include "module/filter.h"
#include "record/keeper.h"
#include "trace/category.h"

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
	json_t *vm;		/* the same, as vm_list() has it; for metadata.json */
	pid_t vm_pid;
	struct keeper *keeper;	/* NULL: none */
	bool snapshots;
	struct snapshot_fs snapshot_fs;
	double snapshot_fs_interval, snapshot_process_interval;	/* seconds; 0: none in between */
};

#endif /* TOOL_RECORD_OPTIONS_H */
