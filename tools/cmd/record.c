// SPDX-License-Identifier: GPL-2.0
/* iotracer record: records the whole system, or one command, into a trace. */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "machine/devices.h"
#include "record/options.h"
#include "record/session.h"
#include "record/snapshotter.h"
#include "record/store.h"
#include "trace/categories.h"
#include "vm/guest_recorder.h"
#include "vm/vm_find.h"
#include "vm/vm_object.h"

#define SECONDS_LEAST 1e-9
#define SECONDS_MAX 4294967295.0
#define MIB (1024.0 * 1024)

enum { KEY_TIME = 256, KEY_SIZE, KEY_BUFFER, KEY_SAMPLE, KEY_TAG, KEY_KEY_FILE,
	KEY_STRICT, KEY_DRAIN, KEY_WAIT, KEY_SNAPSHOTS, KEY_FS_INTERVAL, KEY_PROCESS_INTERVAL,
	KEY_ROOT, KEY_DEPTH, KEY_ROTATE, KEY_KEEP, KEY_VM, KEY_DEVICE };

#define DRAIN_DEFAULT 5.0

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
static void parse_categories(struct argp_state *state, struct session_options *o,
			     const char *arg)
{
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

static void add_tag(struct argp_state *state, struct session_options *o, char *arg)
{
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

/* Parses a number of MiB, or a number followed by K, M, G or T. Returns bytes. */
static __u64 parse_size(struct argp_state *state, const char *option, const char *arg)
{
	char *end;
	double n = strtod(arg, &end);

	if (*end == 'K' || *end == 'k')
		n /= 1024, end++;
	else if (*end == 'G' || *end == 'g')
		n *= 1024, end++;
	else if (*end == 'T' || *end == 't')
		n *= 1024 * 1024, end++;
	else if (*end == 'M' || *end == 'm')
		end++;
	if (end == arg || *end || !(n > 0) || n * MIB >= 0x1p62 || n * MIB < 1)
		cli_usage(state, "%s=%s: say a size in MiB, or with K, M, G or T after it",
			  option, arg);
	return n * MIB;
}

static double parse_seconds(struct argp_state *state, const char *option, double least,
			    const char *arg)
{
	static const struct { char unit; double seconds; } units[] = {
		{ 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 },
	};
	char *end;
	double n = strtod(arg, &end);
	size_t i;

	for (i = 0; end > arg && i < sizeof(units) / sizeof(units[0]); i++) {
		if (*end != units[i].unit)
			continue;
		n *= units[i].seconds;
		end++;
		break;
	}
	if (end == arg || *end || !(n >= least) || n > SECONDS_MAX)
		cli_usage(state, "%s=%s: say a number of seconds, 4294967295 at most, or with s, m, h or d after it",
			  option, arg);
	return n;
}

/* A size with K, M, G or T after it, or a time with s, m, h or d. */
static void parse_rotate(struct argp_state *state, struct session_options *o, const char *arg)
{
	size_t length = strlen(arg);
	char unit = length ? arg[length - 1] : '\0';

	if (unit && strchr("KMGTkgt", unit))
		o->rotate_bytes = parse_size(state, "--rotate", arg);
	else if (unit && strchr("smhd", unit))
		o->rotate_seconds = parse_seconds(state, "--rotate", 1, arg);
	else
		cli_usage(state, "--rotate=%s: say a size with K, M, G or T after it, or a time with s, m, h or d",
			  arg);
}

static void parse_compress(struct argp_state *state, struct session_options *o,
			   const char *arg)
{
	if (!strcmp(arg, "end"))
		o->compress = COMPRESS_END;
	else if (!strcmp(arg, "now"))
		o->compress = COMPRESS_NOW;
	else if (!strcmp(arg, "never"))
		o->compress = COMPRESS_NEVER;
	else
		cli_usage(state, "--compress=%s: say end, now or never", arg);
}

static void check(struct argp_state *state, struct session_options *o)
{
	if (o->key_file && !o->anonymize)
		cli_usage(state, "--key-file goes with --anonymize");
	if (!o->command && o->wait)
		cli_usage(state, "--wait goes with a command");
	if (!o->command && !o->vm_name && o->drain >= 0)
		cli_usage(state, "--drain goes with a command, or with --vm");
	if (o->command && o->vm_name)
		cli_usage(state, "--vm goes without a command");
	if (o->keep && !o->rotate_bytes && !(o->rotate_seconds > 0))
		cli_usage(state, "--keep goes with --rotate");
	if (o->rotate_bytes || o->rotate_seconds > 0) {
		if (o->bytes)
			cli_usage(state, "--rotate does not go with --size: --keep says how much stays");
		if (o->snapshots)
			cli_usage(state, "--rotate does not go with --snapshots: they belong to one trace");
	}
	if (o->directory && !*o->directory)
		cli_usage(state, "the name of a directory is empty");
	filters_check(state, &o->filters, o->categories, o->nr_categories);
}

/* Options of the snapshots. */
static error_t parse_snapshots(int key, char *arg, struct argp_state *state,
			       struct session_options *o)
{
	switch (key) {
	case KEY_SNAPSHOTS:
		break;
	case KEY_FS_INTERVAL:
		o->snapshot_fs_interval = parse_seconds(state, "--snapshot-fs-interval", 0, arg);
		break;
	case KEY_PROCESS_INTERVAL:
		o->snapshot_process_interval =
			parse_seconds(state, "--snapshot-process-interval", 0, arg);
		break;
	case KEY_ROOT:
		o->snapshot_fs.root = arg;
		break;
	case KEY_DEPTH:
		o->snapshot_fs.depth = !strcmp(arg, "all") ? ~0U :
				       cli_parse_number(state, "--snapshot-depth", arg, 0, ~0U - 1);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	o->snapshots = true;
	return 0;
}

/* How long is recorded, and how much. */
static error_t parse_limits(int key, char *arg, struct argp_state *state, struct session_options *o)
{
	switch (key) {
	case KEY_TIME:
		o->seconds = parse_seconds(state, "--time", SECONDS_LEAST, arg);
		return 0;
	case KEY_DRAIN:
		o->drain = parse_seconds(state, "--drain", 0, arg);
		return 0;
	case KEY_WAIT:
		o->wait = true;
		return 0;
	case KEY_SIZE:
		o->bytes = parse_size(state, "--size", arg);
		return 0;
	case KEY_ROTATE:
		parse_rotate(state, o, arg);
		return 0;
	case KEY_KEEP:
		o->keep = parse_size(state, "--keep", arg);
		return 0;
	case KEY_BUFFER:
		o->buffer = parse_size(state, "--buffer", arg);
		return 0;
	case KEY_SAMPLE:
		o->sample = cli_parse_number(state, "--sample", arg, 1, 4294967295ULL);
		return 0;
	default:
		return parse_snapshots(key, arg, state, o);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct session_options *o = state->input;

	switch (key) {
	case 'o':
		o->directory = arg;
		return 0;
	case 'c':
		parse_categories(state, o, arg);
		return 0;
	case 'f':
		filters_add(&o->filters, arg);
		return 0;
	case 'l':
		o->label = arg;
		return 0;
	case KEY_TAG:
		add_tag(state, o, arg);
		return 0;
	case 'a':
		o->anonymize = true;
		return 0;
	case KEY_KEY_FILE:
		o->key_file = arg;
		return 0;
	case KEY_STRICT:
		o->strict = true;
		return 0;
	case 'z':
		parse_compress(state, o, arg);
		return 0;
	case KEY_DEVICE:
		o->devices = xreallocarray(o->devices, o->nr_devices + 1, sizeof(*o->devices));
		o->devices[o->nr_devices++] = arg;
		return 0;
	case ARGP_KEY_ARGS:
		o->command = state->argv + state->next;
		return 0;
	case KEY_VM:
		o->vm_name = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->nr_categories)
			o->categories[o->nr_categories++] = categories[0];
		check(state, o);
		return 0;
	default:
		return parse_limits(key, arg, state, o);
	}
}

static const struct argp_option options[] = {
	{ "output", 'o', "DIRECTORY", 0, "make the trace there (default: <date>-<time> among those that iotracer traces lists)", 0 },
	{ "categories", 'c', "NAME,...", 0, "what to record: of {categories} (default fs), or all; may be given again", 0 },
	{ "filter", 'f', "[CATEGORY:]KEY=VALUE", 0, "record only events that meet this and all other conditions given; of CATEGORY, or of all categories that have this KEY, one of {keys}", 0 },
	{ "device", KEY_DEVICE, "DEVICE", 0, "record only what concerns this block device, its partitions, and the filesystems mounted from them at the start; may be given again", 0 },
	{ "vm", KEY_VM, "NAME|PID", 0, "record what this virtual machine of QEMU does, with all its threads and the writeback of what it wrote, and end with it", 0 },
	{ "time", KEY_TIME, "SECONDS", 0, "end after SECONDS (s, m, h, d may follow)", 0 },
	{ "drain", KEY_DRAIN, "SECONDS", 0, "with block or cache: after COMMAND or the machine has ended wait up to SECONDS until what it wrote is on the device (default 5; 0: do not wait)", 0 },
	{ "wait", KEY_WAIT, NULL, 0, "record until all processes that COMMAND started have ended", 0 },
	{ "size", KEY_SIZE, "MIB", 0, "end before the trace takes more than MIB on the disk (K, M, G, T may follow)", 0 },
	{ "rotate", KEY_ROTATE, "SIZE|TIME", 0, "begin a new trace when one takes SIZE on the disk (with K, M, G or T after it) or has lasted for TIME (s, m, h, d): DIRECTORY.000001, DIRECTORY.000002, ..., behind those that are there; may be given for both", 0 },
	{ "keep", KEY_KEEP, "MIB", 0, "with --rotate: delete the oldest traces of this name, also of earlier recordings, while those that have ended take more than MIB (K, M, G, T may follow); the newest stays", 0 },
	{ "buffer", KEY_BUFFER, "MIB", 0, "memory for events until they are read, for all CPUs together", 0 },
	{ "sample", KEY_SAMPLE, "N", 0, "record one of every N events", 0 },
	{ "label", 'l', "TEXT", 0, "a description, kept in the metadata of the trace", 0 },
	{ "tag", KEY_TAG, "KEY=VALUE", 0, "an entry of its own in the metadata; may be given again", 0 },
	{ "compress", 'z', "WHEN", 0, "end (default; not with --size or --rotate): after recording; now: while recording, which takes more time and less disk space; never", 0 },
	{ "anonymize", 'a', NULL, 0, "hash names: each component of paths (extensions stay), commands, command lines", 0 },
	{ "key-file", KEY_KEY_FILE, "FILE", 0, "use the key in FILE, so that names can be compared between traces (default: a random key that is not kept)", 0 },
	{ "snapshots", KEY_SNAPSHOTS, NULL, 0, "make snapshots meanwhile, as iotracer snapshot does: of the machine, files and processes at the start, of files at the end, too", 0 },
	{ "snapshot-fs-interval", KEY_FS_INTERVAL, "SECONDS", 0, "and of files every SECONDS (default 1h; 0: not in between); implies --snapshots, as the next ones", 0 },
	{ "snapshot-process-interval", KEY_PROCESS_INTERVAL, "SECONDS", 0, "and of processes every SECONDS (default 5m; 0: not in between)", 0 },
	{ "snapshot-root", KEY_ROOT, "DIRECTORY", 0, "of files below DIRECTORY (default /)", 0 },
	{ "snapshot-depth", KEY_DEPTH, "N", 0, "N levels down (default 3), or all", 0 },
	{ "strict", KEY_STRICT, NULL, 0, "exit with 1 when events were lost or missed (the trace is LOSSY)", 0 },
	{ 0 }
};

static const char doc[] =
	"Record what the whole system does, or COMMAND and what it starts, into a"
	" trace: a directory that iotracer export reads.\v"
	"With COMMAND it ends when COMMAND does, and has its exit status; without, on Ctrl-C,"
	" SIGTERM or SIGHUP. --time and --size end it, too. The first signal goes to COMMAND.\n"
	"What iotracer itself does is not recorded. Events that were already in the kernel's"
	" buffer are dropped. At the end /proc/iotracer/<category>/control is as it was before.";

static bool add_devices(struct session_options *o)
{
	char *condition = devices_condition(o->devices, o->nr_devices);

	if (!condition)
		return false;
	filters_add(&o->filters, condition);
	free(condition);
	return true;
}

int command_record(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[-- COMMAND [ARGUMENT...]]", doc, cli_common, category_help, NULL
	};
	struct session_options o = {
		.sample = 1, .drain = -1,
		.snapshot_fs = { .root = "/", .depth = SNAPSHOT_DEPTH },
		.snapshot_fs_interval = SNAPSHOTTER_FS_S,
		.snapshot_process_interval = SNAPSHOTTER_PROCESS_S,
	};
	struct guest_recorder guest;
	char *directory = NULL;
	int status;

	cli_parse(&argp, argc, argv, ARGP_IN_ORDER, &o);
	if (o.nr_devices && !add_devices(&o))
		return CLI_FAILED;
	if (o.vm_name) {
		o.vm = vm_named(o.vm_name);
		if (!o.vm)
			return CLI_FAILED;
		o.vm_pid = vm_pid(o.vm);
		guest_recorder_init(&guest, o.vm);
		if (!o.anonymize) /* the names in images are in clear */
			o.keeper = &guest.keeper;
	}
	if (!o.directory) {
		directory = store_new_path();
		o.directory = directory;
	}
	if (o.drain < 0)
		o.drain = DRAIN_DEFAULT;
	status = o.directory ? session_run(&o) : CLI_FAILED;
	json_decref(o.vm);
	json_decref(o.tags);
	filters_free(&o.filters);
	free(o.devices);
	free(directory);
	return status;
}
