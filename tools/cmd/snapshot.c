// SPDX-License-Identifier: GPL-2.0
/* iotracer snapshot: the state of the files, of the processes, or of the machine. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "base/place.h"
#include "base/progress.h"
#include "cmd/command.h"
#include "machine/processes.h"
#include "machine/snapshot.h"

#define WATCH_MAX 86400.0	/* seconds */

struct env {
	struct cli_words words;
	struct snapshot snapshot;
	struct snapshot_fs fs;
	const char *directory;
	double watch;		/* seconds for which processes are sampled */
	bool anonymize;
	const char *key_file;
	struct anonymizer anonymizer;
};

static int run_fs(struct env *env)
{
	return snapshot_fs(&env->snapshot, &env->fs);
}

/* Samples while it waits for @seconds, or until a signal comes. */
static void watch(struct processes *processes, double seconds)
{
	__u64 end = processes_now() + (__u64)(seconds * 1e9), now;

	do {
		now = processes_now();
		processes_sample(processes);
		while (!interrupt_came(NULL) && (now = processes_now()) < end && !processes_is_due(processes, now))
			usleep(10000);
	} while (!interrupt_came(NULL) && now < end);
}

static int run_process(struct env *env)
{
	struct processes processes = { 0 };
	int status;

	watch(&processes, env->watch);
	status = interrupt_came(NULL) ? CLI_FAILED : snapshot_process(&env->snapshot, &processes);
	processes_free(&processes);
	return status;
}

static int run_system(struct env *env)
{
	return snapshot_system(&env->snapshot);
}

enum { FS, PROCESS, SYSTEM };

static const struct action actions[] = {
	[FS] = { "fs", { 0, 1, NULL, "one at a time", VALUES_DIRECTORY } },
	[PROCESS] = { "process", { .excess = "one at a time" } },
	[SYSTEM] = { "system", { .excess = "one at a time" } },
	{ 0 }
};

static int (*const runs[])(struct env *env) = {
	[FS] = run_fs, [PROCESS] = run_process, [SYSTEM] = run_system,
};

static int open_directory(struct env *env)
{
	if (!env->directory)
		return CLI_OK;
	env->snapshot.in = place_open(env->directory, PLACE_ALL);
	return env->snapshot.in < 0 ? CLI_FAILED : CLI_OK;
}

static int snapshot(struct env *env)
{
	int status = open_directory(env);

	env->snapshot.where = env->directory;
	if (!status && env->anonymize)
		status = anonymizer_init(&env->anonymizer, env->key_file);
	if (!status && env->anonymize)
		env->snapshot.anonymizer = &env->anonymizer;
	if (!status)
		status = runs[command_action(&command_snapshot, &env->words) - actions](env);
	anonymizer_forget(&env->anonymizer);
	if (env->snapshot.in >= 0)
		close(env->snapshot.in);
	return status;
}

static void take_depth(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;

	env->fs.depth = !strcmp(arg, "all") ? ~0U : option_number(state, "depth", arg, 0, ~0U - 1);
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	(void)given;
	if (env->watch > WATCH_MAX)
		cli_usage(state, "--watch: watch for a day at most");
	if (env->directory && !*env->directory)
		cli_usage(state, "the name of a directory is empty");
	env->fs.root = env->words.nr > 1 ? env->words.at[1] : "/";
}

static int run(int argc, char **argv)
{
	struct env env = {
		.snapshot = { .in = -1, .rotate = SNAPSHOT_ROTATE, .interrupted = interrupt_came, .shows_progress = true },
		.fs = { .depth = SNAPSHOT_DEPTH },
		.watch = PROCESSES_PERIOD_S,
	};
	int status;

	command_parse(&command_snapshot, argc, argv, &env);
	if (!env.directory)
		progress_beside_output();
	interrupt_catch();
	status = snapshot(&env);
	interrupt_end();
	return status;
}

static const struct cli_option options[] = {
	{ "output", 'o', "DIRECTORY",
	  "write to a directory DIRECTORY/fs_<date>_<time>_<ms> and so on (time in UTC) instead of standard output",
	  TO_TEXT(struct env, directory), .values = VALUES_DIRECTORY },
	{ "depth", 0, "N", "fs: descend N levels (default 3), or all",
	  OPTION_TAKE, .words = "all", .take = take_depth, .action = "fs" },
	{ "cross-mounts", 0, NULL, "fs: enter other filesystems, except pseudo filesystems",
	  TO_FLAG(struct env, fs.cross), .action = "fs" },
	{ "extents", 0, NULL, "fs: count the extents of regular files, which opens each of them",
	  TO_FLAG(struct env, fs.extents), .action = "fs" },
	{ "watch", 0, "SECONDS",
	  "process: first measure CPU use for SECONDS, or with s, m, h or d (default 5)",
	  TO_SECONDS(struct env, watch), .action = "process" },
	{ "rotate", 0, "ROWS", "start a new part after ROWS rows (default 500000; 0: never)",
	  TO_NUMBER(struct env, snapshot.rotate), .most = ~0ULL },
	{ "anonymize", 'a', NULL,
	  "replace names by hashes, as record --anonymize does; omit host names, addresses and serial numbers",
	  TO_FLAG(struct env, anonymize) },
	{ "key-file", 0, "FILE",
	  "hash with the key in FILE, so that names can be compared with those of traces (default: a random key that is not kept)",
	  TO_TEXT(struct env, key_file), .values = VALUES_FILE, .with = "anonymize" },
	{ 0 }
};

const struct command command_snapshot = {
	.name = "snapshot",
	.summary = "record the state of files, processes or the system at one time",
	.synopsis = "fs [ROOT]\nprocess\nsystem",
	.help =
		"Record the state of files, of processes, or of the system at one time.\v"
		"fs: a row for each inode below ROOT (default /), on one filesystem. process: a row for"
		" each process. system: hardware and software, as JSON. iotracer-trace(5) lists the columns.\n"
		"A snapshot gets its name only when it is complete; one that is interrupted is deleted.",
	.options = options,
	.actions = actions,
	.actions_missing = "say fs, process or system",
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
