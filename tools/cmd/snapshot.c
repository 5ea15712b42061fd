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
#include "cmd/command.h"
#include "machine/processes.h"
#include "machine/snapshot.h"

enum { KEY_DEPTH = 256, KEY_CROSS, KEY_EXTENTS, KEY_WATCH, KEY_ROTATE, KEY_KEY_FILE };

struct env {
	const struct kind *kind;
	struct snapshot snapshot;
	struct snapshot_fs fs;
	const char *directory;
	const char *fs_option, *process_option;	/* given, and of no other kind */
	unsigned int watch;	/* seconds for which processes are sampled */
	bool anonymize;
	const char *key_file;
	struct anonymizer anonymizer;
};

static int run_fs(struct env *env)
{
	return snapshot_fs(&env->snapshot, &env->fs);
}

/* Samples while it waits for @seconds, or until a signal comes. */
static void watch(struct processes *processes, unsigned int seconds)
{
	__u64 end = processes_now() + seconds * 1000000000ULL, now;

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

static const struct kind {
	const char *name;
	int (*run)(struct env *env);
} kinds[] = {
	{ "fs", run_fs },
	{ "process", run_process },
	{ "system", run_system },
};

static int open_directory(struct env *env)
{
	if (!env->directory)
		return CLI_OK;
	env->snapshot.in = place_open(env->directory, PLACE_ALL);
	return env->snapshot.in < 0 ? CLI_FAILED : CLI_OK;
}

static int run(struct env *env)
{
	int status = open_directory(env);

	env->snapshot.where = env->directory;
	if (!status && env->anonymize)
		status = anonymizer_init(&env->anonymizer, env->key_file);
	if (!status && env->anonymize)
		env->snapshot.anonymizer = &env->anonymizer;
	if (!status)
		status = env->kind->run(env);
	anonymizer_forget(&env->anonymizer);
	if (env->snapshot.in >= 0)
		close(env->snapshot.in);
	return status;
}

static void take_word(struct env *env, struct argp_state *state, char *arg)
{
	size_t i;

	if (env->kind) {
		if (env->kind->run != run_fs || env->fs.root)
			cli_usage(state, "%s: one at a time", arg);
		env->fs.root = arg;
		return;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(arg, kinds[i].name))
			env->kind = &kinds[i];
	if (!env->kind)
		cli_usage(state, "%s: say fs, process or system", arg);
}

static void check(struct env *env, struct argp_state *state)
{
	if (!env->kind)
		cli_usage(state, "say of what: fs, process or system");
	if (env->fs_option && env->kind->run != run_fs)
		cli_usage(state, "%s goes with fs", env->fs_option);
	if (env->process_option && env->kind->run != run_process)
		cli_usage(state, "%s goes with process", env->process_option);
	if (env->key_file && !env->anonymize)
		cli_usage(state, "--key-file goes with --anonymize");
	if (env->directory && !*env->directory)
		cli_usage(state, "the name of a directory is empty");
	if (!env->fs.root)
		env->fs.root = "/";
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'o':
		env->directory = arg;
		return 0;
	case KEY_DEPTH:
		env->fs_option = "--depth";
		env->fs.depth = !strcmp(arg, "all") ? ~0U :
				cli_parse_number(state, "--depth", arg, 0, ~0U - 1);
		return 0;
	case KEY_CROSS:
		env->fs_option = "--cross-mounts";
		env->fs.cross = true;
		return 0;
	case KEY_EXTENTS:
		env->fs_option = "--extents";
		env->fs.extents = true;
		return 0;
	case KEY_WATCH:
		env->process_option = "--watch";
		env->watch = cli_parse_number(state, "--watch", arg, 0, 86400);
		return 0;
	case KEY_ROTATE:
		env->snapshot.rotate = cli_parse_number(state, "--rotate", arg, 0, ~0ULL);
		return 0;
	case 'a':
		env->anonymize = true;
		return 0;
	case KEY_KEY_FILE:
		env->key_file = arg;
		return 0;
	case ARGP_KEY_ARG:
		take_word(env, state, arg);
		return 0;
	case ARGP_KEY_END:
		check(env, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "output", 'o', "DIRECTORY", 0, "make DIRECTORY/fs_<date>_<time>_<ms> and so on (time in UTC) instead of printing on standard output", 0 },
	{ "depth", KEY_DEPTH, "N", 0, "fs: go N levels down (default 3), or all", 0 },
	{ "cross-mounts", KEY_CROSS, NULL, 0, "fs: enter other filesystems, but for pseudo filesystems", 0 },
	{ "extents", KEY_EXTENTS, NULL, 0, "fs: count the extents of files, which opens each", 0 },
	{ "watch", KEY_WATCH, "SECONDS", 0, "process: watch for SECONDS how much of the CPU they use, before (default 5)", 0 },
	{ "rotate", KEY_ROTATE, "ROWS", 0, "begin another part after ROWS rows (default 500000, 0: never)", 0 },
	{ "anonymize", 'a', NULL, 0, "hash names: each component of paths (extensions stay), commands, command lines; leave out host names, addresses and serials", 0 },
	{ "key-file", KEY_KEY_FILE, "FILE", 0, "use the key in FILE, so that names can be compared between traces and snapshots (default: a random key that is not kept)", 0 },
	{ 0 }
};

static const char doc[] =
	"Write down the state of the machine: its files, its processes, or what it is.\v"
	"fs: a row for each inode of the tree ROOT (default /), of one filesystem. process: a row for"
	" each process. system: hardware and software, as JSON. iotracer-trace(5) has the columns.\n"
	"A snapshot that is interrupted leaves nothing: it has its name only when it is whole.";

int command_snapshot(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "fs [ROOT]\nprocess\nsystem", doc, cli_common, NULL, NULL
	};
	struct env env = {
		.snapshot = { .in = -1, .rotate = SNAPSHOT_ROTATE, .interrupted = interrupt_came },
		.fs = { .depth = SNAPSHOT_DEPTH },
		.watch = PROCESSES_PERIOD_S,
	};
	int status;

	cli_parse(&argp, argc, argv, 0, &env);
	interrupt_catch();
	status = run(&env);
	interrupt_end();
	return status;
}
