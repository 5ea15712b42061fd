// SPDX-License-Identifier: GPL-2.0
/* iotracer histogram: how the values of a trace are distributed, also over time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/terminal.h"
#include "base/xalloc.h"
#include "cmd/by.h"
#include "cmd/command.h"
#include "cmd/pass.h"
#include "cmd/picture.h"
#include "core/amount.h"
#include "trace/histogram_heat.h"
#include "trace/histogram_report.h"
#include "trace/histogram_svg.h"
#include "trace/histogram_text.h"
#include "trace/histogram_value.h"

#define INTERVAL_LEAST	1000000		/* ns */
#define NS_PER_S	1e9
#define COLUMNS_MOST	(20 * HISTOGRAM_COLUMNS)	/* of text */
#define NOT_GIVEN	(-1)

enum scale { SCALE_LOG, SCALE_LINEAR };	/* as --scale names them */

struct env {
	struct cli_words words;
	struct pass pass;
	enum cli_format format;
	int of;			/* enum histogram_of, or NOT_GIVEN */
	int scale_word;		/* enum scale, or NOT_GIVEN */
	const char *bucket, *range;	/* as given, or NULL: their unit depends on @of */
	struct histogram_scale scale;
	struct stats_keys keys;
	__u64 top;
	bool heat;
	const char *output;	/* file of a picture; NULL: none */
	struct picture picture;
	double interval;	/* seconds; 0: not given */
	json_t *document;	/* of --format=json: an array of the categories */
	size_t printed;		/* categories */
};

/* What is read of one category. */
struct reading {
	struct env *env;
	struct pass_reader reader;
	struct histogram_values values;
	struct histogram histogram;
	struct accesses accesses;	/* of an ordered kind */
	bool full;		/* there are too many buckets */
};

static const struct histogram_kind *kind_of(const struct env *env)
{
	return &histogram_kinds[env->of];
}

/* --- values --------------------------------------------------------------------- */

/* @monotonic: when it began. */
static void add(struct reading *r, __u32 key, __u64 value, __u64 weight, __u64 monotonic)
{
	__u64 time = r->env->heat ? pass_wall(&r->env->pass, monotonic) : 0;

	if (!r->full)
		r->full = !histogram_add(&r->histogram, key, value, weight, time);
}

static void take(void *data, __u32 key, __u64 value, __u64 time)
{
	add(data, key, value, 1, time);
}

static void add_record(struct reading *r, const void *record)
{
	const struct measure *m = &r->reader.measure;
	__u64 value;

	if (histogram_value(&r->values, record, m, &value))
		add(r, histogram_key(&r->histogram, record), value, m->weight, m->time);
}

static void add_access(struct reading *r, const void *record)
{
	struct access a;

	if (!histogram_access(&r->values, record, &r->reader.measure, &a))
		return;
	a.owner.key = histogram_key(&r->histogram, record);
	if (r->reader.source && r->values.of == HISTOGRAM_RUN_LENGTH)
		a.owner.source = r->reader.source - r->env->pass.sources.at;
	accesses_add(&r->accesses, &a);
}

static void read_all(struct reading *r)
{
	bool ordered = kind_of(r->env)->ordered;
	const void *record;

	while ((record = pass_next(&r->reader))) {
		r->env->keys.source = r->reader.source;
		if (ordered)
			add_access(r, record);
		else
			add_record(r, record);
	}
	if (r->values.of == HISTOGRAM_INTERARRIVAL)
		accesses_gaps(&r->accesses, take, r);
	else if (r->values.of == HISTOGRAM_RUN_LENGTH)
		accesses_runs(&r->accesses, take, r);
}

/* --- categories ----------------------------------------------------------------- */

static void print(struct env *env, const struct histogram_report *r)
{
	if (env->output) {
		histogram_svg(r, &env->picture.svg);
		env->printed++;
		return;
	}
	switch (env->format) {
	case FORMAT_JSON:
		json_add(env->document, histogram_report_json(r));
		break;
	case FORMAT_CSV:
		if (!env->printed)
			histogram_report_csv_header(r);
		histogram_report_csv(r);
		break;
	default:
		if (env->printed)
			putchar('\n');
		if (env->heat)
			histogram_heat(r);
		else
			histogram_text(r);
	}
	env->printed++;
}

/* Whether text has room for all intervals. */
static bool has_room(const struct env *env, const struct histogram *h)
{
	size_t i, j;

	for (i = 0; i < h->nr && env->format == FORMAT_TEXT; i++)
		for (j = 0; j < h->all[i].nr; j++)
			if (h->all[i].cells[j].interval >= COLUMNS_MOST)
				return false;
	return true;
}

static int report(struct reading *r)
{
	struct env *env = r->env;
	const struct histogram_report report = {
		.category = r->reader.category->name, .kind = kind_of(env), .histogram = &r->histogram,
		.basis = r->reader.basis, .heat = env->heat,
	};

	if (kind_of(env)->ordered && report.basis.sampled) {
		cli_say_of(env->pass.trace, "category %s is sampled: --of=%s needs all events",
			   report.category, report.kind->name);
		return CLI_FAILED;
	}
	if (r->full) {
		cli_say_of(env->pass.trace, "category %s: more than %u buckets have values: say a larger --bucket or --interval, or a --range",
			   report.category, HISTOGRAM_CELLS);
		return CLI_FAILED;
	}
	histogram_finish(&r->histogram);
	if (!has_room(env, &r->histogram)) {
		cli_say("--interval: text has %u intervals at most: say a longer one, or --format=csv",
			COLUMNS_MOST);
		return CLI_USAGE;
	}
	print(env, &report);
	return CLI_OK;
}

/* Intervals of a map: what a terminal that is wider than a page has room for, in text. */
static unsigned int columns_of(const struct env *env)
{
	unsigned int wider = env->format == FORMAT_TEXT && !env->output ? terminal_columns() - TERMINAL_COLUMNS : 0;

	return HISTOGRAM_COLUMNS + wider < HISTOGRAM_WIDEST ? HISTOGRAM_COLUMNS + wider : HISTOGRAM_WIDEST;
}

/* 1, 2 or 5 times a power of ten: the shortest with which @time fits the columns. */
static __u64 interval_for(__u64 time, unsigned int columns)
{
	static const unsigned int steps[] = { 1, 2, 5 };
	__u64 ten = INTERVAL_LEAST;
	size_t i;

	for (;; ten *= 10)
		for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
			if (time / columns < steps[i] * ten)
				return steps[i] * ten;
}

static void set_intervals(const struct env *env, struct histogram *h)
{
	__u64 end;

	pass_times(&env->pass, 0, &h->origin, &end);
	h->columns = columns_of(env);
	h->since = h->origin - pass_origin(&env->pass);
	h->interval = env->interval * NS_PER_S + 0.5;
	if (h->interval)
		return;
	h->interval = interval_for(end > h->origin ? end - h->origin : 0, h->columns);
	h->interval_grows = true;
}

static int histogram_of(struct env *env, size_t i)
{
	struct reading r = { .env = env, .histogram = { .scale = env->scale, .top = env->top } };
	int status = pass_reader_open(&r.reader, &env->pass, i);

	if (status)
		return status;
	histogram_values_open(&r.values, env->of, r.reader.event);
	if (env->heat)
		set_intervals(env, &r.histogram);
	histogram_begin(&r.histogram, &env->keys);
	read_all(&r);
	accesses_free(&r.accesses);
	pass_reader_close(&r.reader);
	status = report(&r);
	histogram_free(&r.histogram);
	return status;
}

/* What a category does not have is a mistake if the category was named. */
static int histogram_if_has(struct env *env, size_t i)
{
	const struct category *category = env->pass.at[i].category;
	struct histogram_values values;
	bool has;
	int status;

	if (!histogram_values_open(&values, env->of, category_event(category))) {
		if (!env->pass.nr_named)
			return CLI_OK;
		cli_say("--of=%s: events of category %s have none", kind_of(env)->name, category->name);
		return CLI_USAGE;
	}
	status = by_open(&env->keys, &env->pass, i, &has);
	if (!has)
		return status;
	status = histogram_of(env, i);
	stats_keys_close(&env->keys);
	return status;
}

static int histogram_of_all(struct env *env)
{
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < env->pass.nr; i++)
		status = cli_merge(status, histogram_if_has(env, i));
	if (!status && !env->printed) {
		cli_say_of(env->pass.trace, "has no category with %s%s", kind_of(env)->name,
			   env->keys.nr ? " and such keys" : "");
		status = CLI_FAILED;
	}
	return status;
}

static int run(int argc, char **argv)
{
	struct env env = { .pass = PASS_NONE, .format = FORMAT_TEXT, .of = NOT_GIVEN, .scale_word = NOT_GIVEN,
			   .top = 10 };
	json_t *document;
	int status;

	command_parse(&command_histogram, argc, argv, &env);
	env.document = json_array();
	status = picture_open(&env.picture, env.output);
	if (!status)
		status = pass_open(&env.pass, &env.words);
	if (!status)
		status = histogram_of_all(&env);
	status = picture_finish(&env.picture, status, kind_of(&env)->title, env.pass.trace);
	if (env.format == FORMAT_JSON && env.printed) {
		document = json_object();
		json_put(document, "trace", json_shown(env.pass.trace));
		json_put(document, "categories", json_incref(env.document));
		json_print(document);
	}
	json_decref(env.document);
	return pass_close(&env.pass, status);
}

/* --- options -------------------------------------------------------------------- */

static void take_keys(struct argp_state *state, void *to, const char *arg)
{
	by_take(state, &((struct env *)to)->keys, arg);
}

/* An amount in the unit of the values; @arg is all of the option's argument. */
static __u64 amount(struct argp_state *state, const struct env *env, const char *option,
		    const char *arg, const char *word)
{
	static const struct iot_unit one[] = { { "", 1 }, { NULL, 0 } };
	static const struct {
		const struct iot_unit *units;
		const char *say;
	} ways[] = {
		[HISTOGRAM_NS] = { iot_units_time, IOT_SAY_TIME },
		[HISTOGRAM_BYTES] = { iot_units_size, IOT_SAY_SIZE },
		[HISTOGRAM_REQUESTS] = { one, "say a number of requests" },
		[HISTOGRAM_SECTORS] = { one, "say a number of sectors, of 512 bytes each" },
	};
	enum histogram_unit unit = kind_of(env)->unit;
	__u64 n;

	if (!iot_amount_parse(word, ways[unit].units, &n))
		cli_usage(state, "--%s=%s: %s", option, arg, ways[unit].say);
	return n;
}

static void set_range(struct argp_state *state, struct env *env)
{
	char *from = xstrdup(env->range), *to = strstr(from, "..");
	__u64 end = 0;

	if (!to || !strcmp(from, ".."))
		cli_usage(state, "--range=%s: say FROM..TO; one of both may be left out", env->range);
	*to = '\0';
	to += strlen("..");
	if (*from)
		env->scale.first = amount(state, env, "range", env->range, from);
	if (*to) {
		end = amount(state, env, "range", env->range, to);
		if (end <= env->scale.first)
			cli_usage(state, "--range=%s: nothing is in it: TO is not included", env->range);
		env->scale.last = end - 1;
	}
	free(from);
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	if (env->of == NOT_GIVEN)
		cli_usage(state, "say of what: --of=latency, size, queue-depth, lba, offset, interarrival or run-length");
	if (env->bucket && env->scale_word == SCALE_LOG)
		cli_usage(state, "--bucket goes with a linear scale: buckets of --scale=log are powers of two");
	env->scale.log = env->scale_word == NOT_GIVEN ? kind_of(env)->log && !env->bucket :
							  env->scale_word == SCALE_LOG;
	env->scale.last = ~0ULL;
	if (env->bucket) {
		env->scale.size = amount(state, env, "bucket", env->bucket, env->bucket);
		if (!env->scale.size)
			cli_usage(state, "--bucket=%s: say a size that is not 0", env->bucket);
	}
	if (env->range)
		set_range(state, env);
	picture_check(state, env->output, given);
}

static const struct cli_option options[] = {
	{ "of", 0, "VALUE",
	  "what the histograms are of: latency, size (bytes moved), queue-depth (requests that the device had), lba (first sector), offset (in the file), interarrival (time between the starts of two events) or run-length (bytes of consecutive accesses)",
	  TO_WORD(struct env, of), HISTOGRAM_WORDS },
	{ "by", 0, "KEY[,KEY]",
	  "make a histogram for each value of KEY, or of both: " BY_HELP,
	  OPTION_TAKE, .take = take_keys, .words = STATS_KEY_WORDS, .values = VALUES_LIST },
	{ "top", 0, "N",
	  "show the N keys with the most values, and the others as one (default 10; 0: show all)",
	  TO_NUMBER(struct env, top), .least = 0, .most = 1000000000 },
	{ "scale", 0, "SCALE",
	  "buckets are powers of two (log; default of latency, size, interarrival and run-length) or have one size (linear)",
	  TO_WORD(struct env, scale_word), "log linear" },
	{ "bucket", 0, "SIZE",
	  "size of a bucket of a linear scale (default: a power of two with which there are 32 at most), as 10us, 64K or 2048",
	  TO_TEXT(struct env, bucket) },
	{ "range", 0, "FROM..TO",
	  "make buckets for values from FROM on that are less than TO; those below and above are only counted; one of both may be left out",
	  TO_TEXT(struct env, range) },
	{ "heat", 0, NULL, "show values by time: a column for each interval, a row for each bucket",
	  TO_FLAG(struct env, heat) },
	{ "interval", 0, "TIME",
	  "make columns of TIME, in seconds, or with m, h or d after it (default: as many as fit 80 columns)",
	  TO_SECONDS(struct env, interval), .least = INTERVAL_LEAST, .with = "heat" },
	PICTURE_OPTION(struct env, output),
	{ "format", 'f', "FORMAT", "output format: text (default), csv or json",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ 0 }
};

const struct command command_histogram = {
	.name = "histogram",
	.summary = "show how values of a trace are distributed",
	.synopsis = "--of=VALUE TRACE\n--of=VALUE --live",
	.help =
		"For each category of a trace that has the value: how many values are in each bucket, with"
		" their share and a bar, for all events or for each value of a key.\v"
		"queue-depth is the kernel's count of the requests that the device had when it got this one,"
		" which is included. interarrival is the time since the previous event of the same key"
		" started, in the order in which events started. A run is of reads, or of writes, of one file"
		" (category fs) or device (block), each of which starts where the one before it ended. In a"
		" sampled trace, a value counts as often as the events that its record stands for;"
		" interarrival and run-length need all events. FROM is included in a bucket, TO is not.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = PASS_OPERANDS,
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
