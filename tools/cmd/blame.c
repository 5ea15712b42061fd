// SPDX-License-Identifier: GPL-2.0
/* iotracer blame: whose requests were in a device while whose requests waited. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/pass.h"
#include "trace/blame.h"
#include "trace/categories.h"
#include "trace/io_event.h"
#include "trace/sources.h"
#include "uapi/iotracer.h"

#define SLOTS		4096	/* of the table of owners: a power of two above BLAME_OWNERS */
#define COLUMNS		4	/* culprits that have a column in text */
#define NAME_WIDTH	17
#define CELL_WIDTH	9

enum by { BY_COMMAND, BY_PROCESS, BY_CGROUP };

#define BY_WORDS "command process cgroup"

/* Whom requests are for. No padding, as keys are compared as bytes. */
struct owner_key {
	const struct source *source;
	__u64 number;			/* of the process or the control group */
	char comm[IO_COMM];		/* by command */
};

struct owner {
	struct owner_key key;
	char *label;
	__u64 caused;			/* ns that are charged to it */
};

struct disk {
	const struct source *source;
	char name[IO_DISK];
};

struct env {
	struct cli_words words;
	struct pass pass;
	enum cli_format format;
	int by;				/* enum by */
	__u64 top;
	struct blame blame;
	struct owner owners[BLAME_OWNERS];	/* BLAME_OTHERS: those beyond, and beyond --top */
	unsigned int nr_owners;		/* without BLAME_OTHERS */
	__u16 slots[SLOTS];		/* number of an owner + 1; 0: free */
	unsigned int folded;		/* owners that became BLAME_OTHERS by --top */
	bool crowded;			/* there were more than BLAME_OWNERS - 1 */
	struct disk disks[BLAME_DISKS];
	unsigned int nr_disks;
	__u64 left_out;			/* requests whose start is not known, or on further disks */
	struct basis basis;
	unsigned int victims[BLAME_OWNERS], culprits[BLAME_OWNERS];	/* in the order of rows, columns */
	unsigned int nr_victims, nr_culprits;
};

/* --- owners and disks ----------------------------------------------------------- */

static struct owner_key key_of(const struct env *env, const struct io_event *e)
{
	const char *comm = io_event_owner_comm(e);
	struct owner_key key;

	memset(&key, 0, sizeof(key));
	key.source = e->source;
	if (env->by == BY_CGROUP)
		key.number = e->cgroup;
	else if (env->by == BY_PROCESS)
		key.number = io_event_owner(e);
	else
		memcpy(key.comm, comm, strnlen(comm, IO_COMM));
	return key;
}

static char *label_of(const struct env *env, const struct io_event *e)
{
	const char *comm = io_event_owner_comm(e);
	char *shown = text_show(comm, strnlen(comm, IO_COMM)), *label, *of_host;

	if (env->by == BY_CGROUP)
		label = xasprintf("%llu", (unsigned long long)e->cgroup);
	else if (env->by == BY_PROCESS)
		label = xasprintf("%s/%u", shown, io_event_owner(e));
	else
		label = xstrdup(*shown ? shown : "(none)");
	free(shown);
	if (!e->source)
		return label;
	of_host = xasprintf("%s:%s", e->source->host, label);
	free(label);
	return of_host;
}

static size_t hash_of(const struct owner_key *key)
{
	const unsigned char *bytes = (const unsigned char *)key;
	__u64 hash = 14695981039346656037ULL;
	size_t i;

	for (i = 0; i < sizeof(*key); i++)
		hash = (hash ^ bytes[i]) * 1099511628211ULL;
	return (hash ^ hash >> 32) & (SLOTS - 1);
}

static unsigned int owner_of(struct env *env, const struct io_event *e)
{
	const struct owner_key key = key_of(env, e);
	size_t slot = hash_of(&key);

	for (; env->slots[slot]; slot = (slot + 1) & (SLOTS - 1))
		if (!memcmp(&env->owners[env->slots[slot] - 1].key, &key, sizeof(key)))
			return env->slots[slot] - 1;
	if (env->nr_owners == BLAME_OTHERS) {
		env->crowded = true;
		return BLAME_OTHERS;
	}
	env->owners[env->nr_owners] = (struct owner){ .key = key, .label = label_of(env, e) };
	env->slots[slot] = ++env->nr_owners;
	return env->nr_owners - 1;
}

/* BLAME_DISKS if there are too many. */
static unsigned int disk_of(struct env *env, const struct io_event *e)
{
	unsigned int i;

	for (i = 0; i < env->nr_disks; i++)
		if (env->disks[i].source == e->source && !memcmp(env->disks[i].name, e->disk, IO_DISK))
			return i;
	if (i == BLAME_DISKS)
		return i;
	env->disks[i].source = e->source;
	memcpy(env->disks[i].name, e->disk, IO_DISK);
	return env->nr_disks++;
}

/* --- reading -------------------------------------------------------------------- */

static void add(struct env *env, const struct io_event *e, bool victim)
{
	unsigned int disk = disk_of(env, e);
	struct blame_request r = {
		.begin = e->begin, .issued = io_event_issued(e), .end = e->end, .disk = disk, .victim = victim,
	};

	if (e->flags & IOT_REQ_EARLY || disk == BLAME_DISKS) {
		env->left_out++;
		return;
	}
	r.owner = owner_of(env, e);
	blame_add(&env->blame, &r);
}

static int read_requests(struct env *env)
{
	size_t i = pass_need(&env->pass, &category_block);
	struct pass_reader reader;
	struct io_event e;
	const void *record;
	int status;

	if (i == PASS_NONE_SUCH) {
		cli_say_of(env->pass.trace, "has no category block: record it with --categories=block");
		return CLI_FAILED;
	}
	status = pass_reader_open_whole(&reader, &env->pass, i);
	while (!status && (record = pass_next(&reader))) {
		io_event_read(&e, &category_block, 0, reader.source, record);
		add(env, &e, pass_wants(&reader, record));
	}
	pass_reader_close(&reader);
	blame_finish(&env->blame);
	env->basis = reader.basis;
	return status;
}

/* --- rows and columns ----------------------------------------------------------- */

static const struct env *sorted;	/* qsort() has no argument for it */

static __u64 weight_of(const struct env *env, unsigned int owner)
{
	__u64 wait = env->blame.victims[owner].wait, caused = env->owners[owner].caused;

	return wait > caused ? wait : caused;
}

static int compare(__u64 a, __u64 b, const unsigned int *x, const unsigned int *y)
{
	if (a != b)
		return a < b ? 1 : -1;
	return *x < *y ? -1 : *x > *y;
}

static int by_weight(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return compare(weight_of(sorted, *x), weight_of(sorted, *y), x, y);
}

static int by_wait(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return compare(sorted->blame.victims[*x].wait, sorted->blame.victims[*y].wait, x, y);
}

static int by_caused(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return compare(sorted->owners[*x].caused, sorted->owners[*y].caused, x, y);
}

static void sum_caused(struct env *env)
{
	unsigned int victim, culprit;

	for (culprit = 0; culprit < BLAME_OWNERS; culprit++) {
		env->owners[culprit].caused = 0;
		for (victim = 0; victim < BLAME_OWNERS; victim++)
			env->owners[culprit].caused += blame_charged(&env->blame, victim, culprit);
	}
}

/* Makes those beyond --top one owner. */
static void fold(struct env *env)
{
	unsigned int order[BLAME_OWNERS] = { 0 }, i;

	for (i = 0; i < env->nr_owners; i++)
		order[i] = i;
	qsort(order, env->nr_owners, sizeof(*order), by_weight);
	for (i = env->top; env->top && i < env->nr_owners; i++) {
		blame_fold(&env->blame, order[i], BLAME_OTHERS);
		env->folded++;
	}
	env->owners[BLAME_OTHERS].label = env->folded && !env->crowded ?
		xasprintf(env->folded == 1 ? "1 other" : "%u others", env->folded) : xstrdup("others");
}

/* Those who waited, and those to whom something is charged; others come last. */
static void arrange(struct env *env)
{
	unsigned int i;

	sorted = env;
	sum_caused(env);
	fold(env);
	sum_caused(env);
	for (i = 0; i < BLAME_OWNERS; i++) {
		if (env->blame.victims[i].requests)
			env->victims[env->nr_victims++] = i;
		if (env->owners[i].caused)
			env->culprits[env->nr_culprits++] = i;
	}
	qsort(env->victims, env->nr_victims, sizeof(*env->victims), by_wait);
	qsort(env->culprits, env->nr_culprits, sizeof(*env->culprits), by_caused);
}

/* --- text ----------------------------------------------------------------------- */

/* A name in a column of @width, cut if it must be. */
static void put_name(const char *name, int width, bool left)
{
	char *end = text_shorten(name, width - 1);

	printf(left ? "%-*s" : "%*s", width, end);
	free(end);
}

static void put_cell(__u64 ns)
{
	char cell[SCALED];

	printf("%*s", CELL_WIDTH, ns ? scaled_time(cell, ns) : "-");
}

static void put_victim(const struct env *env, unsigned int victim)
{
	const struct blame_victim *v = &env->blame.victims[victim];
	__u64 others = 0;
	unsigned int i;

	put_name(env->owners[victim].label, NAME_WIDTH, true);
	put_cell(v->wait);
	for (i = 0; i < env->nr_culprits; i++) {
		__u64 ns = blame_charged(&env->blame, victim, env->culprits[i]);

		if (i < COLUMNS)
			put_cell(ns);
		else
			others += ns;
	}
	if (env->nr_culprits > COLUMNS)
		put_cell(others);
	put_cell(v->nobody);
	putchar('\n');
}

static __u64 undivided(const struct env *env)
{
	__u64 sum = 0;
	unsigned int i;

	for (i = 0; i < BLAME_OWNERS; i++)
		sum += env->blame.victims[i].undivided;
	return sum;
}

static void report_text(struct env *env)
{
	__u64 requests = 0, wait = 0, rest = undivided(env);
	char time[SCALED];
	unsigned int i;

	for (i = 0; i < env->nr_victims; i++) {
		requests += env->blame.victims[env->victims[i]].requests;
		wait += env->blame.victims[env->victims[i]].wait;
	}
	printf("%s%llu requests waited %s in all%s\n", CLI_BOLD, (unsigned long long)requests,
	       scaled_time(time, wait), CLI_PLAIN);
	if (env->nr_victims) {
		printf("\n%s%-*s%*s", CLI_BOLD, NAME_WIDTH, "WHO WAITED", CELL_WIDTH, "TIME");
		for (i = 0; i < env->nr_culprits && i < COLUMNS; i++)
			put_name(env->owners[env->culprits[i]].label, CELL_WIDTH, false);
		if (env->nr_culprits > COLUMNS)
			printf("%*s", CELL_WIDTH, "(others)");
		printf("%*s%s\n", CELL_WIDTH, "(nobody)", CLI_PLAIN);
	}
	for (i = 0; i < env->nr_victims; i++)
		put_victim(env, env->victims[i]);
	if (rest || env->left_out)
		putchar('\n');
	if (rest)
		printf("undivided %s: of requests that were under way for too long\n", scaled_time(time, rest));
	if (env->left_out)
		printf("left out %llu: requests that were made before the trace\n",
		       (unsigned long long)env->left_out);
	basis_text(&env->basis);
}

/* --- JSON and CSV --------------------------------------------------------------- */

static json_t *victim_json(const struct env *env, unsigned int victim)
{
	const struct blame_victim *v = &env->blame.victims[victim];
	json_t *object = json_object(), *charged = json_array();
	unsigned int i;

	json_put(object, "victim", json_string(env->owners[victim].label));
	json_put(object, "requests", json_unsigned(v->requests));
	json_put(object, "waited_ns", json_unsigned(v->wait));
	json_put(object, "nobody_ns", json_unsigned(v->nobody));
	json_put(object, "undivided_ns", json_unsigned(v->undivided));
	for (i = 0; i < env->nr_culprits; i++) {
		__u64 ns = blame_charged(&env->blame, victim, env->culprits[i]);
		json_t *one = json_object();

		json_put(one, "culprit", json_string(env->owners[env->culprits[i]].label));
		json_put(one, "itself", json_boolean(env->culprits[i] == victim));
		json_put(one, "charged_ns", json_unsigned(ns));
		if (ns)
			json_add(charged, one);
		else
			json_decref(one);
	}
	json_put(object, "culprits", charged);
	return object;
}

static void report_json(struct env *env)
{
	json_t *document = json_object(), *victims = json_array();
	unsigned int i;

	for (i = 0; i < env->nr_victims; i++)
		json_add(victims, victim_json(env, env->victims[i]));
	json_put(document, "trace", json_shown(env->pass.trace));
	json_put(document, "left_out", json_unsigned(env->left_out));
	basis_json(document, &env->basis);
	json_put(document, "victims", victims);
	json_print(document);
}

/* A row: what of a victim's time is charged to whom. @culprit: "" for nobody. */
static void put_row(struct env *env, unsigned int victim, const char *who, const char *culprit, __u64 ns,
		    bool *begun)
{
	json_t *row;

	if (!ns)
		return;
	row = json_object();
	json_put(row, "victim", json_string(env->owners[victim].label));
	json_put(row, "requests", json_unsigned(env->blame.victims[victim].requests));
	json_put(row, "waited_ns", json_unsigned(env->blame.victims[victim].wait));
	json_put(row, "charged_to", json_string(who));
	json_put(row, "culprit", json_string(culprit));
	json_put(row, "charged_ns", json_unsigned(ns));
	basis_json_row(row, &env->basis);
	if (!*begun)
		json_csv_header(row);
	*begun = true;
	json_csv_row(row);
	json_decref(row);
}

static void report_csv(struct env *env)
{
	bool begun = false;
	unsigned int i, j;

	for (i = 0; i < env->nr_victims; i++) {
		unsigned int victim = env->victims[i];

		for (j = 0; j < env->nr_culprits; j++)
			put_row(env, victim, env->culprits[j] == victim ? "itself" : "other",
				env->owners[env->culprits[j]].label,
				blame_charged(&env->blame, victim, env->culprits[j]), &begun);
		put_row(env, victim, "nobody", "", env->blame.victims[victim].nobody, &begun);
		put_row(env, victim, "undivided", "", env->blame.victims[victim].undivided, &begun);
	}
}

static int run(int argc, char **argv)
{
	static void (*const reports[])(struct env *env) = {
		[FORMAT_TEXT] = report_text, [FORMAT_CSV] = report_csv, [FORMAT_JSON] = report_json,
	};
	static struct env env = { .pass = PASS_NONE, .top = 20 };
	static const struct category *const needs[] = { &category_block, NULL };
	unsigned int i;
	int status;

	command_parse(&command_blame, argc, argv, &env);
	env.pass.needs = needs;
	status = pass_open(&env.pass, &env.words);
	if (!status)
		status = read_requests(&env);
	if (!status) {
		arrange(&env);
		reports[env.format](&env);
	}
	blame_free(&env.blame);
	for (i = 0; i < BLAME_OWNERS; i++)
		free(env.owners[i].label);
	return pass_close(&env.pass, status);
}

static const struct cli_option options[] = {
	{ "by", 0, "KEY", "tell apart by command (default), process or cgroup",
	  TO_WORD(struct env, by), BY_WORDS },
	{ "top", 0, "N", "show the N who waited or are charged most, and the others as one (default 20; 0: show all)",
	  TO_NUMBER(struct env, top), .least = 0, .most = 1000000000 },
	{ "format", 'f', "FORMAT", "output format: text (default), csv or json",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ 0 }
};

const struct command command_blame = {
	.name = "blame",
	.summary = "show whose requests a disk had while whose requests waited",
	.synopsis = "TRACE\n--live",
	.help =
		"A matrix: in the rows, whose requests waited; in the columns, whose requests the disk had"
		" meanwhile.\v"
		"Each moment that a request waits is divided among the requests that its disk has then, one"
		" share for each; if it has none, the moment is charged to nobody. So a row adds up to the"
		" time that its requests took. --filter, --from and --to select the requests that waited; all"
		" requests can be to blame.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = PASS_OPERANDS,
	.words = offsetof(struct env, words),
	.run = run,
};
