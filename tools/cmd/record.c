// SPDX-License-Identifier: GPL-2.0
/* iotracer record: records the whole system, or one command, into a trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "core/names.h"
#include "machine/devices.h"
#include "machine/netns.h"
#include "record/options.h"
#include "record/session.h"
#include "record/snapshotter.h"
#include "record/store.h"
#include "trace/categories.h"
#include "vm/guest_recorder.h"
#include "vm/vm_find.h"
#include "vm/vm_object.h"

#define DRAIN_DEFAULT 5.0

/* The environment of the options. */
struct env {
	struct session_options session;
	struct cli_words command;
};

static void add_category(struct argp_state *state, struct session_options *o,
			 const struct category *category)
{
	size_t i;

	for (i = 0; i < o->nr_categories; i++)
		if (o->categories[i] == category)
			cli_usage(state, "--categories: %s twice", category->name);
	o->categories[o->nr_categories++] = category;
}

/* A further --categories adds to the earlier ones. */
static void take_categories(struct argp_state *state, void *to, const char *arg)
{
	struct session_options *o = to;

	for (;;) {
		size_t length = strcspn(arg, ","), i;
		const struct category *category = category_find(arg, length);

		if (category)
			add_category(state, o, category);
		else if (length != 3 || memcmp(arg, "all", 3))
			cli_usage(state, "--categories: there is no category \"%.*s\" (there are: %s, or all)",
				  (int)length, arg, category_names());
		for (i = 0; !category && i < nr_categories; i++)
			add_category(state, o, categories[i]);
		if (!arg[length])
			return;
		arg += length + 1;
	}
}

static void take_filter(struct argp_state *state, void *to, const char *arg)
{
	struct session_options *o = to;

	(void)state;
	filters_add(&o->filters, arg);
}

/* Whether it is a list of ports. */
static bool are_ports(const char *list)
{
	char *end;

	for (;; list = end + 1) {
		unsigned long port = strtoul(list, &end, 10);

		if (*list < '0' || *list > '9' || !port || port > 0xffff || (*end && *end != ','))
			return false;
		if (!*end)
			return true;
	}
}

static void take_port(struct argp_state *state, void *to, const char *arg)
{
	struct session_options *o = to;

	if (!are_ports(arg))
		cli_usage(state, "--port=%s: %s", arg, IOT_SAY_PORT);
	filters_add_as(&o->filters, xasprintf("port=%s", arg), xasprintf("--port=%s", arg));
}

static void take_netns(struct argp_state *state, void *to, const char *arg)
{
	struct session_options *o = to;
	__u64 number;
	int err = netns_find(arg, &number);

	if (err)
		cli_usage(state, "--netns=%s: %s; say a name in " NETNS_DIRECTORY ", the number of a process, or a path",
			  arg, err == EINVAL ? "it is no network namespace" : strerror(err));
	filters_add_as(&o->filters, xasprintf("netns=%llu", number), xasprintf("--netns=%s", arg));
}

static void take_device(struct argp_state *state, void *to, const char *arg)
{
	struct session_options *o = to;

	(void)state;
	o->devices = xreallocarray(o->devices, o->nr_devices + 1, sizeof(*o->devices));
	o->devices[o->nr_devices++] = arg;
}

static void take_tag(struct argp_state *state, void *to, const char *arg)
{
	struct session_options *o = to;
	char *value = strchr(arg, '=');
	char *shown;

	if (!value || value == arg)
		cli_usage(state, "--tag=%s: say KEY=VALUE", arg);
	*value++ = '\0';
	if (!o->tags)
		o->tags = json_object();
	shown = text_show(arg, strlen(arg));
	json_put(o->tags, shown, json_shown(value));
	free(shown);
}

/* A size with K, M, G or T after it, or a time with s, m, h or d. */
static void take_rotate(struct argp_state *state, void *to, const char *arg)
{
	struct session_options *o = to;
	size_t length = strlen(arg);
	char unit = length ? arg[length - 1] : '\0';

	if (unit && strchr("KMGTkgt", unit))
		o->rotate_bytes = option_size(state, "rotate", arg);
	else if (unit && strchr("smhd", unit))
		o->rotate_seconds = option_seconds(state, "rotate", 1, arg);
	else
		cli_usage(state, "--rotate=%s: say a size with K, M, G or T after it, or a time with s, m, h or d",
			  arg);
}

static void take_depth(struct argp_state *state, void *to, const char *arg)
{
	struct session_options *o = to;

	o->snapshot_fs.depth = !strcmp(arg, "all") ? ~0U :
			       option_number(state, "snapshot-depth", arg, 0, ~0U - 1);
}

/* Options of the snapshots imply --snapshots. */
static bool wants_snapshots(const struct option_parser *given)
{
	return option_given(given, "snapshots") || option_given(given, "snapshot-root") ||
	       option_given(given, "snapshot-depth") ||
	       option_given(given, "snapshot-fs-interval") ||
	       option_given(given, "snapshot-process-interval");
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;
	struct session_options *o = &env->session;

	o->command = env->command.nr ? env->command.at : NULL;
	o->snapshots = wants_snapshots(given);
	if (!o->nr_categories)
		o->categories[o->nr_categories++] = categories[0];
	if (!o->command && o->wait)
		cli_usage(state, "--wait goes with a command");
	if (!o->command && !o->vm_name && o->drain >= 0)
		cli_usage(state, "--drain goes with a command, or with --vm");
	if (o->command && o->vm_name)
		cli_usage(state, "--vm goes without a command");
	if (option_given(given, "rotate")) {
		if (o->bytes)
			cli_usage(state, "--rotate does not go with --size: --keep says how much stays");
		if (o->snapshots)
			cli_usage(state, "--rotate does not go with --snapshots: they belong to one trace");
	}
	if (o->directory && !*o->directory)
		cli_usage(state, "the name of a directory is empty");
	filters_check(state, &o->filters, o->categories, o->nr_categories);
}

static bool add_devices(struct session_options *o)
{
	char *condition = devices_condition(o->devices, o->nr_devices);

	if (!condition)
		return false;
	filters_add(&o->filters, condition);
	free(condition);
	return true;
}

static int run(int argc, char **argv)
{
	struct env env = { .session = {
		.sample = 1, .drain = -1,
		.snapshot_fs = { .root = "/", .depth = SNAPSHOT_DEPTH },
		.snapshot_fs_interval = SNAPSHOTTER_FS_S,
		.snapshot_process_interval = SNAPSHOTTER_PROCESS_S,
	} };
	struct session_options *o = &env.session;
	struct guest_recorder guest;
	char *directory = NULL;
	int status;

	command_parse(&command_record, argc, argv, &env);
	if (o->nr_devices && !add_devices(o))
		return CLI_FAILED;
	if (o->vm_name) {
		o->vm = vm_named(o->vm_name);
		if (!o->vm)
			return CLI_FAILED;
		o->vm_pid = vm_pid(o->vm);
		guest_recorder_init(&guest, o->vm);
		if (!o->anonymize) /* the names in images are in clear */
			o->keeper = &guest.keeper;
	}
	if (!o->directory) {
		directory = store_new_path();
		o->directory = directory;
	}
	if (o->drain < 0)
		o->drain = DRAIN_DEFAULT;
	status = o->directory ? session_run(o) : CLI_FAILED;
	json_decref(o->vm);
	json_decref(o->tags);
	filters_free(&o->filters);
	free(o->devices);
	free(directory);
	return status;
}

#define SESSION struct session_options

static const struct cli_option options[] = {
	{ "output", 'o', "DIRECTORY",
	  "create DIRECTORY, which must not exist, for the trace (default: <date>-<time> in the store, see iotracer traces)",
	  TO_TEXT(SESSION, directory), .values = VALUES_DIRECTORY },
	{ "categories", 'c', "NAME,...",
	  "categories to record, from {categories}, or all (default fs); may be repeated",
	  OPTION_TAKE, .take = take_categories, .words = "all", .values = VALUES_CATEGORY | VALUES_LIST },
	{ "filter", 'f', "[CATEGORY:]KEY=VALUE",
	  "record only events that meet this and all other conditions, in CATEGORY or in every category that has KEY, one of {keys}",
	  OPTION_TAKE, .take = take_filter, .values = VALUES_FILTER },
	{ "device", 0, "DEVICE",
	  "record only events of this block device, of its partitions and of filesystems mounted from them at the start; may be repeated",
	  OPTION_TAKE, .take = take_device, .values = VALUES_DEVICE },
	{ "port", 0, "PORT,...",
	  "record only events of these ports, of either end, in every category that has ports",
	  OPTION_TAKE, .take = take_port },
	{ "netns", 0, "NAME|PID|PATH",
	  "record only events of the network namespace that has this name (see ip-netns(8)), of this process, or at this path, in every category that has namespaces",
	  OPTION_TAKE, .take = take_netns, .values = VALUES_NETNS | VALUES_PID | VALUES_FILE },
	{ "vm", 0, "NAME|PID",
	  "record all threads of the QEMU process of this virtual machine, with the writeback of its data, until the machine ends",
	  TO_TEXT(SESSION, vm_name), .values = VALUES_MACHINE },
	{ "time", 0, "SECONDS", "stop after SECONDS (or minutes, hours, days: suffix m, h, d)",
	  TO_SECONDS(SESSION, seconds), .least = 1 },
	{ "drain", 0, "SECONDS",
	  "with block or cache: after COMMAND or the machine ends, wait up to SECONDS for the writeback of its data (default 5; 0: do not wait)",
	  TO_SECONDS(SESSION, drain) },
	{ "wait", 0, NULL, "keep recording until all processes that COMMAND started have ended",
	  TO_FLAG(SESSION, wait) },
	{ "size", 0, "MIB",
	  "stop before the trace exceeds this size on the disk, in MiB (other units: suffix K, M, G or T)",
	  TO_SIZE(SESSION, bytes) },
	{ "rotate", 0, "SIZE|TIME",
	  "start a new trace, DIRECTORY.000001 and so on, when one takes SIZE on the disk (suffix K, M, G or T) or has lasted for TIME (s, m, h or d)",
	  OPTION_TAKE, .take = take_rotate },
	{ "keep", 0, "MIB",
	  "with --rotate: delete the oldest traces of this name while the finished ones together exceed this size, in MiB (other units: suffix K, M, G or T)",
	  TO_SIZE(SESSION, keep), .with = "rotate" },
	{ "buffer", 0, "MIB", "size of the kernel's buffer for events, for all CPUs together, in MiB (other units: suffix K, M, G or T)",
	  TO_SIZE(SESSION, buffer) },
	{ "sample", 0, "N", "record one event in N",
	  TO_NUMBER(SESSION, sample), .least = 1, .most = 4294967295ULL },
	{ "label", 'l', "TEXT", "store TEXT in the metadata as the description of the trace",
	  TO_TEXT(SESSION, label) },
	{ "tag", 0, "KEY=VALUE", "store this pair in the metadata; may be repeated",
	  OPTION_TAKE, .take = take_tag },
	{ "compress", 'z', "WHEN",
	  "when to compress: at the end (default, except with --size or --rotate), now (more CPU time, less disk space), or never",
	  TO_WORD(SESSION, compress), "end now never" },
	{ "anonymize", 'a', NULL,
	  "replace names by hashes: each component of paths (file extensions stay), commands and command lines",
	  TO_FLAG(SESSION, anonymize) },
	{ "key-file", 0, "FILE",
	  "hash with the key in FILE, so that names can be compared between traces (default: a random key that is not kept)",
	  TO_TEXT(SESSION, key_file), .values = VALUES_FILE, .with = "anonymize" },
	{ "snapshots", 0, NULL,
	  "take snapshots, as iotracer snapshot does: of the system, files and processes at the start, and of files at the end",
	  TO_FLAG(SESSION, snapshots) },
	{ "snapshot-fs-interval", 0, "SECONDS",
	  "take a snapshot of files every SECONDS (default 1h; 0: only at the start and the end); implies --snapshots",
	  TO_SECONDS(SESSION, snapshot_fs_interval) },
	{ "snapshot-process-interval", 0, "SECONDS",
	  "take a snapshot of processes every SECONDS (default 5m; 0: only at the start); implies --snapshots",
	  TO_SECONDS(SESSION, snapshot_process_interval) },
	{ "snapshot-root", 0, "DIRECTORY", "take snapshots of the files below DIRECTORY (default /); implies --snapshots",
	  TO_TEXT(SESSION, snapshot_fs.root), .values = VALUES_DIRECTORY },
	{ "snapshot-depth", 0, "N", "descend N levels in snapshots of files (default 3), or all; implies --snapshots",
	  OPTION_TAKE, .take = take_depth, .words = "all" },
	{ "strict", 0, NULL, "exit with 1 if events were lost or missed (the trace is LOSSY)",
	  TO_FLAG(SESSION, strict) },
	{ 0 }
};

const struct command command_record = {
	.name = "record",
	.summary = "record events of the whole system, or of a command, into a trace",
	.synopsis = "[-- COMMAND [ARGUMENT...]]",
	.help =
		"Record the events of the whole system, or of COMMAND and the processes that it starts, into"
		" a trace: a directory that iotracer export reads.\v"
		"With COMMAND, recording ends when COMMAND ends, and the exit status is that of COMMAND."
		" Without, it ends on Ctrl-C, SIGTERM or SIGHUP. --time and --size end it too. The first"
		" signal is passed on to COMMAND.\n"
		"iotracer does not record itself. Events that were already in the kernel's buffer are"
		" dropped. At the end, /proc/iotracer/<category>/control is restored.",
	.options = options,
	.operands = { .most = ANY_NUMBER, .values = VALUES_COMMAND },
	.words = offsetof(struct env, command),
	.flags = ARGP_IN_ORDER,
	.check = check,
	.filter = category_help,
	.run = run,
};

/* The options store into the first member of the environment. */
_Static_assert(offsetof(struct env, session) == 0, "session_options come first");
