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

struct env {
	struct cli_words words;
	struct join join;
	char *disk;		/* DISK of DISK=DRIVE */
	const char *drive;
	const char *image_format;	/* NULL: as the trace says, or found out */
	enum cli_format format;
	const char *directory;
	bool gzip, partial, summary;
	__u64 slowest;
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

static void take_disk(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;
	const char *equals = strchr(arg, '=');

	if (env->disk)
		cli_usage(state, "--disk=%s: one disk at a time", arg);
	if (!equals || equals == arg || !equals[1])
		cli_usage(state, "--disk=%s: say DISK=DRIVE, as in vda=d0 or vda=/srv/disk.qcow2", arg);
	env->disk = xasprintf("%.*s", (int)(equals - arg), arg);
	env->drive = equals + 1;
	env->join.disk = env->disk;
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	(void)given;
	env->join.guest.named = env->words.at[0];
	env->join.host.named = env->words.at[1];
	if (!env->disk)
		cli_usage(state, "say which disk of the guest is which drive of the host: --disk DISK=DRIVE");
	if (env->format == FORMAT_TEXT && (env->directory || env->gzip))
		cli_usage(state, "-o and -z are for rows: say --format=csv or json");
}

static int run(int argc, char **argv)
{
	struct env env = { .join.drift = DRIFT_PPM, .slowest = SLOWEST };
	int status;

	command_parse(&command_join, argc, argv, &env);
	status = join(&env);
	free_all(&env);
	return status;
}

static const struct cli_option options[] = {
	{ "disk", 0, "DISK=DRIVE",
	  "the guest's disk, such as vda, and its drive: a name that iotracer vm show prints, or its image",
	  OPTION_TAKE, .take = take_disk },
	{ "format", 'f', "FORMAT", "output format: text (default), a summary; csv or json, a row for each request of the guest",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ "json", 0, NULL, "same as --format=json",
	  TO_SET(struct env, format), .least = FORMAT_JSON },
	{ "summary", 0, NULL, "with csv or json: write the summary instead of rows, or with -o in addition to them",
	  TO_FLAG(struct env, summary) },
	{ "slowest", 'n', "N", "list the N slowest requests in the summary (default 10)",
	  TO_NUMBER(struct env, slowest), .most = 1000000 },
	{ "image-format", 0, "FORMAT",
	  "format of an image that --disk names: raw or qcow2 (default: detected from its first bytes)",
	  TO_TEXT(struct env, image_format), "raw qcow2" },
	{ "drift", 0, "PPM",
	  "maximum drift between the clocks of guest and host, in microseconds per second (default 100)",
	  TO_NUMBER(struct env, join.drift), .most = 10000 },
	{ "output", 'o', "DIRECTORY",
	  "write rows to a file DIRECTORY/join/join_<date>_<time>_<ms>.csv or .json instead of standard output",
	  TO_TEXT(struct env, directory), .values = VALUES_DIRECTORY },
	{ "gzip", 'z', NULL, "compress the rows with gzip", TO_FLAG(struct env, gzip) },
	{ "partial", 0, NULL,
	  "exit with 0 even if a trace is damaged, truncated or has no end; what is missing is still reported",
	  TO_FLAG(struct env, partial) },
	{ 0 }
};

const struct command command_join = {
	.name = "join",
	.summary = "show where a guest's block requests spend their time on the host",
	.synopsis = "GUEST-TRACE HOST-TRACE --disk DISK=DRIVE",
	.help =
		"Show where a guest's block requests spend their time: in the guest's queue, in QEMU, in"
		" QEMU's calls on the host, or in the host's block requests.\v"
		"Record GUEST-TRACE in the guest with -c block, and HOST-TRACE at the same time on the host"
		" with --vm NAME -c fs,block. Requests are matched to calls by operation, range in the image,"
		" size and order; the offset between the clocks is computed from them. Requests that cannot"
		" be matched are listed with the reason. See iotracer-vm(7).",
	.options = options,
	.operands = { 2, 2, "say which traces: that of the guest, and that of its host",
		      "a guest's trace and a host's are joined, no third one",
		      VALUES_TRACE | VALUES_DIRECTORY },
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
