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
	double drain;		/* seconds to wait for the writeback of the command's data */
	bool wait;		/* wait for processes that the command left running */
	__u64 bytes;		/* 0: no limit */
	__u64 rotate_bytes;	/* start a new trace at this size; 0: no limit */
	double rotate_seconds;	/* or after this time; 0: no limit */
	__u64 keep;		/* bytes of finished traces to keep; 0: no limit */
	__u64 buffer;		/* bytes of the module's rings; 0: unchanged */
	__u64 sample;
	const char *label;
	json_t *tags;
	bool anonymize;
	const char *key_file;
	bool strict;		/* a LOSSY trace is a failure */
	enum { COMPRESS_END, COMPRESS_NOW, COMPRESS_NEVER } compress;
	char **command;		/* NULL: none */
	const char *vm_name;	/* a VM, whose end ends the recording; NULL: none */
	json_t *vm;		/* its object in vm_list(), for metadata.json */
	pid_t vm_pid;
	struct keeper *keeper;	/* NULL: none */
	bool snapshots;
	struct snapshot_fs snapshot_fs;
	double snapshot_fs_interval, snapshot_process_interval;	/* seconds; 0: none in between */
};

#endif /* TOOL_RECORD_OPTIONS_H */
