// SPDX-License-Identifier: GPL-2.0
/* iotracer map: where a range of a guest's disk lies in the files of its image; the reverse. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "vm/image.h"
#include "vm/qcow2_host.h"

struct range {
	const char *text;
	__u64 at, length;
};

struct env {
	struct cli_words words;
	const char *image;
	const char *image_format;	/* NULL: found out */
	enum cli_format format;
	bool host;			/* ranges are those of the file */
	struct range *ranges;
	size_t nr;
	struct image_chain chain;
	struct image_piece piece;	/* not printed yet: the next may continue it */
	struct qcow2_region region;
};

static const char *const kinds[] = {
	[IMAGE_DATA] = "data", [IMAGE_ZERO] = "zero", [IMAGE_UNALLOCATED] = "unallocated",
	[IMAGE_COMPRESSED] = "compressed",
};

/* --- from the guest to the file -------------------------------------------- */

static const char *file_of(const struct image *layer)
{
	return layer->data_file ? layer->data_file : layer->name;
}

static void print_piece(const struct image_piece *p)
{
	char *file = p->layer ? text_show(file_of(p->layer), strlen(file_of(p->layer))) : xstrdup("-");
	char *host = p->has_host ? xasprintf("%llu", p->host) : xstrdup("-");

	printf("%15llu %15llu  %-11s %15s  %s\n", p->guest, p->length, kinds[p->kind], host, file);
	free(host);
	free(file);
}

static void print_object(json_t *object)
{
	json_dumpf(object, stdout, 0);
	putchar('\n');
	json_decref(object);
}

static void print_piece_json(const struct image_piece *p)
{
	json_t *object = json_object();

	json_put(object, "guest", json_integer(p->guest));
	json_put(object, "length", json_integer(p->length));
	json_put(object, "kind", json_string(kinds[p->kind]));
	json_put(object, "layer", p->layer ? json_integer(p->depth) : json_null());
	json_put(object, "file", p->layer ? json_shown(file_of(p->layer)) : json_null());
	json_put(object, "host", p->has_host ? json_integer(p->host) : json_null());
	if (p->kind == IMAGE_COMPRESSED)
		json_put(object, "host_length", json_integer(p->host_length));
	print_object(object);
}

static void end_piece(struct env *env)
{
	if (env->piece.length && env->format == FORMAT_JSON)
		print_piece_json(&env->piece);
	else if (env->piece.length)
		print_piece(&env->piece);
	env->piece.length = 0;
}

static void add_piece(struct env *env, const struct image_piece *p)
{
	struct image_piece *last = &env->piece;

	if (last->length && last->kind == p->kind && last->layer == p->layer &&
	    p->kind != IMAGE_COMPRESSED && last->has_host == p->has_host &&
	    (!p->has_host || last->host + last->length == p->host)) {
		last->length += p->length;
		return;
	}
	end_piece(env);
	*last = *p;
}

static int map_range(struct env *env, __u64 at, __u64 length)
{
	const struct image *wrong = NULL;
	__u64 end = at + length;
	struct image_piece p;
	const char *why = NULL;

	while (!why && at < end) {
		why = image_chain_map(&env->chain, at, end, &p, &wrong);
		if (!why)
			add_piece(env, &p);
		at += p.length;
	}
	end_piece(env);
	if (why)
		cli_say_of(wrong->name, "%s", why);
	return why ? CLI_FAILED : CLI_OK;
}

/* --- from the file to the guest -------------------------------------------- */

static void print_region(const struct qcow2_region *r)
{
	char *guest = r->has_guest ? xasprintf("%llu", r->guest) : xstrdup("-");

	printf("%15llu %15llu  %-14s %15s\n", r->host, r->length, qcow2_use_name(r->use), guest);
	free(guest);
}

static void print_region_json(const struct qcow2_region *r)
{
	json_t *object = json_object();

	json_put(object, "host", json_integer(r->host));
	json_put(object, "length", json_integer(r->length));
	json_put(object, "kind", json_string(qcow2_use_name(r->use)));
	json_put(object, "guest", r->has_guest ? json_integer(r->guest) : json_null());
	if (r->has_guest)
		json_put(object, "guest_length", json_integer(r->guest_length));
	print_object(object);
}

static void end_region(struct env *env)
{
	if (env->region.length && env->format == FORMAT_JSON)
		print_region_json(&env->region);
	else if (env->region.length)
		print_region(&env->region);
	env->region.length = 0;
}

static void add_region(const struct qcow2_region *r, void *data)
{
	struct env *env = data;
	struct qcow2_region *last = &env->region;

	if (last->length && qcow2_region_join(last, r))
		return;
	end_region(env);
	*last = *r;
}

/* Raw: the same offset. Holes are known. */
static int map_raw_back(struct env *env, __u64 at, __u64 end)
{
	struct image_chain own = { .at = env->chain.at, .nr = 1 };
	const struct image *wrong;
	struct image_piece p;

	for (; at < end; at += p.length) {
		struct qcow2_region r;
		const char *why = image_chain_map(&own, at, end, &p, &wrong);

		if (why) {
			cli_say_of(wrong->name, "%s", why);
			return CLI_FAILED;
		}
		r = (struct qcow2_region){
			.host = at, .length = p.length, .use = p.kind == IMAGE_ZERO ? USE_ZERO : USE_DATA,
			.has_guest = true, .guest = at, .guest_length = p.length,
		};
		add_region(&r, env);
	}
	return CLI_OK;
}

static int map_back(struct env *env, __u64 at, __u64 length)
{
	struct image *top = &env->chain.at[0];
	int status = CLI_OK;
	char *why;

	if (strcmp(top->format, "qcow2")) {
		status = map_raw_back(env, at, at + length);
		end_region(env);
		return status;
	}
	why = qcow2_regions(&top->qcow2, at, at + length, add_region, env);
	end_region(env);
	if (why)
		cli_say_of(top->name, "%s", why);
	status = why ? CLI_FAILED : CLI_OK;
	free(why);
	return status;
}

/* --- the command ------------------------------------------------------------ */

static int map_one(struct env *env, const struct range *range, __u64 size)
{
	__u64 at = range ? range->at : 0, length = range ? range->length : size;

	if (range && (at >= size || length > size - at)) {
		cli_say_of(env->image, "%s is not in %s, which has %llu bytes", range->text,
			   env->host ? "the file" : "the disk", size);
		return CLI_FAILED;
	}
	return env->host ? map_back(env, at, length) : map_range(env, at, length);
}

/* QEMU opens no image without it. The map does not need it. */
static void check_data_files(const struct image_chain *chain)
{
	size_t i;

	for (i = 0; i < chain->nr; i++)
		if (chain->at[i].data_file && access(chain->at[i].data_file, F_OK))
			cli_say_of(chain->at[i].name, "its data is in %s, which cannot be found: %s",
				   chain->at[i].data_file, strerror(errno));
}

static int map(struct env *env)
{
	struct image *top = image_chain_add(&env->chain);
	int status = CLI_OK;
	__u64 size;
	size_t i;

	image_open(top, IMAGE_OWN_ROOT, env->image, env->image_format);
	if (top->why) {
		cli_say_of(top->name, "%s", top->why);
		return CLI_FAILED;
	}
	if (!env->host)
		image_chain_follow(&env->chain, IMAGE_OWN_ROOT);
	check_data_files(&env->chain);
	top = &env->chain.at[0];
	size = env->host && top->qcow2.fd >= 0 ? top->qcow2.file_size : top->size;
	if (env->format != FORMAT_JSON && env->host)
		printf("%15s %15s  %-14s %15s\n", "HOST", "LENGTH", "KIND", "GUEST");
	else if (env->format != FORMAT_JSON)
		printf("%15s %15s  %-11s %15s  %s\n", "GUEST", "LENGTH", "KIND", "HOST", "FILE");
	if (!env->nr)
		status = map_one(env, NULL, size);
	for (i = 0; i < env->nr; i++)
		status = cli_merge(status, map_one(env, &env->ranges[i], size));
	return status;
}

/* A number, and K, M, G or T after it. */
static bool parse_bytes(const char **text, __u64 *bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*bytes = strtoull(*text, &end, !strncmp(*text, "0x", 2) ? 16 : 10);
	if (errno)
		return false;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	*text = unit ? end + 1 : end;
	if (unit && *bytes > ~0ULL >> 10 * (unit - units + 1))
		return false;
	if (unit)
		*bytes <<= 10 * (unit - units + 1);
	return true;
}

static void add_range(struct env *env, struct argp_state *state, const char *arg)
{
	struct range range = { .text = arg, .length = 1 };
	const char *at = arg;
	bool good = parse_bytes(&at, &range.at);

	if (good && *at == '+') {
		at++;
		good = parse_bytes(&at, &range.length) && range.length;
	}
	if (!good || *at || range.at + range.length < range.at)
		cli_usage(state, "%s: say OFFSET or OFFSET+LENGTH in bytes, or with K, M, G or T after a number", arg);
	env->ranges = xreallocarray(env->ranges, env->nr + 1, sizeof(*env->ranges));
	env->ranges[env->nr++] = range;
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;
	size_t i;

	(void)given;
	env->image = env->words.at[0];
	if (!*env->image)
		cli_usage(state, "the name of an image is empty");
	for (i = 1; i < env->words.nr; i++)
		add_range(env, state, env->words.at[i]);
}

static int run(int argc, char **argv)
{
	struct env env = { 0 };
	int status;

	command_parse(&command_map, argc, argv, &env);
	status = map(&env);
	image_chain_close(&env.chain);
	free(env.ranges);
	return status;
}

static const struct cli_option options[] = {
	{ "format", 'f', "FORMAT", "output format: text (default) or json, one object per line",
	  TO_FORMAT(struct env, format), "text json" },
	{ "json", 0, NULL, "same as --format=json",
	  TO_SET(struct env, format), .least = FORMAT_JSON },
	{ "host", 0, NULL,
	  "take ranges of the image's file; print what they contain and where that is on the guest's disk",
	  TO_FLAG(struct env, host) },
	{ "image-format", 0, "FORMAT",
	  "format of IMAGE: raw or qcow2 (default: detected from its first bytes, which the guest of a raw image can write)",
	  TO_TEXT(struct env, image_format), "raw qcow2" },
	{ 0 }
};

const struct command command_map = {
	.name = "map",
	.summary = "find where a guest's data lies in the files of its image",
	.synopsis = "IMAGE [OFFSET[+LENGTH]...]",
	.help =
		"Print where ranges of a guest's disk are stored in raw and qcow2 images and their backing"
		" files. Without a range, print the whole disk.\v"
		"OFFSET and LENGTH are in bytes, or have a suffix K, M, G or T; without LENGTH, the range is"
		" one byte. The image is only read, and may be in use; data that QEMU has not written yet is"
		" not seen. Each line has the kind of the range: data, zero and compressed, with the offset"
		" in the file if there is one; unallocated ranges are in no file and read as zeros.",
	.options = options,
	.operands = { 1, ANY_NUMBER, "say which image", NULL, VALUES_FILE },
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
