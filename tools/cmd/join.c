// SPDX-License-Identifier: GPL-2.0
/* iotracer join: where the time of a guest's block requests went, on its host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "join/join.h"
#include "trace/output.h"

#define DRIFT_PPM	100
#define SLOWEST		10

enum { KEY_JSON = 256, KEY_DISK, KEY_IMAGE_FORMAT, KEY_DRIFT, KEY_PARTIAL, KEY_SUMMARY };

struct env {
	struct join join;
	char *disk;		/* DISK of DISK=DRIVE */
	const char *drive;
	const char *image_format;	/* NULL: as the trace says, or found out */
	enum cli_format format;
	const char *directory;
	bool gzip, partial, summary;
	size_t slowest;
};

static bool put_rows(const struct env *env, struct output *o)
{
	const struct join *j = &env->join;
	bool json = env->format == FORMAT_JSON;
	size_t i;

	if (!output_begin(o, j->requests[0].time))
		return false;
	if (!json)
		o->used = sprintf(o->data, "%s\n", join_header());
	for (i = 0; i < j->nr_requests; i++)
		if (!output_put(o, join_row(j, output_row(o), &j->requests[i], json)))
			return false;
	return true;
}

static int export_rows(const struct env *env)
{
	struct output output = {
		.directory = env->directory, .category = "join",
		.suffix = env->format == FORMAT_JSON ? "json" : "csv", .gzip = env->gzip,
	};
	bool good;

	output_open(&output);
	good = put_rows(env, &output);
	return output_close(&output) && good ? CLI_OK : CLI_FAILED;
}

static int show(const struct env *env)
{
	int status = CLI_OK;

	if (env->format != FORMAT_TEXT && !(env->summary && !env->directory))
		status = export_rows(env);
	if (env->format == FORMAT_JSON && env->summary)
		join_print_json(&env->join);
	else if (env->format == FORMAT_TEXT || env->summary)
		join_print(&env->join, env->slowest);
	return status;
}

/* Returns the exit code for traces that could be read. */
static int judge(const struct env *env, const struct join_trace *t)
{
	if (!t->check.damaged || env->partial)
		return CLI_OK;
	cli_say_of(t->named, "is incomplete, so the exit status is 1 (with --partial: 0)");
	return CLI_FAILED;
}

static int join(struct env *env)
{
	struct join *j = &env->join;
	int status = join_open_trace(&j->guest);

	if (!status)
		status = join_open_trace(&j->host);
	if (!status)
		status = join_image_open(j, env->drive, env->image_format);
	if (!status)
		status = join_load(j);
	if (!status)
		status = join_align(j);
	if (status)
		return status;
	join_follow_steps(j);
	join_match_all(j);
	status = show(env);
	status = cli_merge(status, judge(env, &j->guest));
	return cli_merge(status, judge(env, &j->host));
}

static void free_all(struct env *env)
{
	struct join *j = &env->join;

	join_image_close(&j->image);
	join_close_trace(&j->guest);
	join_close_trace(&j->host);
	free(j->requests);
	free(j->calls);
	free(j->below);
	free(j->links);
	free(j->keys);
	free(j->windows);
	free(j->extents.at);
	free(j->extents.needs);
	free(env->disk);
}

static void parse_disk(struct env *env, struct argp_state *state, const char *arg)
{
	const char *equals = strchr(arg, '=');

	if (env->disk)
		cli_usage(state, "--disk=%s: one disk at a time", arg);
	if (!equals || equals == arg || !equals[1])
		cli_usage(state, "--disk=%s: say DISK=DRIVE, as in vda=d0 or vda=/srv/disk.qcow2", arg);
	env->disk = xasprintf("%.*s", (int)(equals - arg), arg);
	env->drive = equals + 1;
	env->join.disk = env->disk;
}

static void parse_format(struct env *env, struct argp_state *state, const char *arg)
{
	if (!strcmp(arg, "fuse"))
		cli_usage(state, "--format=fuse: say text, csv or json");
	env->format = cli_parse_format(state, arg, true);
}

static void take_trace(struct env *env, struct argp_state *state, const char *arg)
{
	struct join *j = &env->join;

	if (j->host.named)
		cli_usage(state, "%s: a guest's trace and a host's are joined, no third one", arg);
	if (j->guest.named)
		j->host.named = arg;
	else
		j->guest.named = arg;
}

static void check(const struct env *env, struct argp_state *state)
{
	if (!env->join.host.named)
		cli_usage(state, "say which traces: that of the guest, and that of its host");
	if (!env->disk)
		cli_usage(state, "say which disk of the guest is which drive of the host: --disk DISK=DRIVE");
	if (env->format == FORMAT_TEXT && (env->directory || env->gzip))
		cli_usage(state, "-o and -z are for rows: say --format=csv or json");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'f':
		parse_format(env, state, arg);
		return 0;
	case KEY_JSON:
		env->format = FORMAT_JSON;
		return 0;
	case KEY_DISK:
		parse_disk(env, state, arg);
		return 0;
	case KEY_IMAGE_FORMAT:
		env->image_format = cli_parse_image_format(state, arg);
		return 0;
	case KEY_DRIFT:
		env->join.drift = cli_parse_number(state, "--drift", arg, 0, 10000);
		return 0;
	case 'n':
		env->slowest = cli_parse_number(state, "--slowest", arg, 0, 1000000);
		return 0;
	case KEY_SUMMARY:
		env->summary = true;
		return 0;
	case 'o':
		env->directory = arg;
		return 0;
	case 'z':
		env->gzip = true;
		return 0;
	case KEY_PARTIAL:
		env->partial = true;
		return 0;
	case ARGP_KEY_ARG:
		take_trace(env, state, arg);
		return 0;
	case ARGP_KEY_END:
		check(env, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "disk", KEY_DISK, "DISK=DRIVE", 0, "the disk of the guest (vda), and its drive, as 'iotracer vm show' names it, or its image", 0 },
	{ "format", 'f', "FORMAT", 0, "text (default): a summary; csv or json: a row for each request of the guest", 0 },
	{ "json", KEY_JSON, NULL, 0, "the same as --format=json", 0 },
	{ "summary", KEY_SUMMARY, NULL, 0, "with csv and json: the summary instead of rows, and with -o besides", 0 },
	{ "slowest", 'n', "N", 0, "list the N slowest requests in the summary (default 10)", 0 },
	{ "image-format", KEY_IMAGE_FORMAT, "FORMAT", 0, "raw or qcow2, of an image that is named (default: by its first bytes)", 0 },
	{ "drift", KEY_DRIFT, "PPM", 0, "the most by which the clocks of guest and host drift apart, in microseconds a second (default 100)", 0 },
	{ "output", 'o', "DIRECTORY", 0, "write rows to a file DIRECTORY/join/join_<date>_<time>_<ms>.csv instead of standard output", 0 },
	{ "gzip", 'z', NULL, 0, "compress rows", 0 },
	{ "partial", KEY_PARTIAL, NULL, 0, "exit with 0 even if a trace is damaged, cut off or has no end; what is missing is still reported", 0 },
	{ 0 }
};

int command_join(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "GUEST-TRACE HOST-TRACE --disk DISK=DRIVE",
		"Say where the time of a guest's block requests went: in the guest's queue, in QEMU, in"
		" QEMU's calls on the host, in the requests of the host.\v"
		"GUEST-TRACE is recorded in the guest with -c block, HOST-TRACE at the same time on the host"
		" with --vm NAME -c fs,block. Requests are matched to calls by operation, bytes of the image,"
		" size and order; how far the clocks are apart is found out. Requests that cannot be matched"
		" are listed as such, with the reason. See iotracer-vm(7).", cli_common, NULL, NULL
	};
	struct env env = { .join.drift = DRIFT_PPM, .slowest = SLOWEST };
	int status;

	cli_parse(&argp, argc, argv, 0, &env);
	status = join(&env);
	free_all(&env);
	return status;
}
