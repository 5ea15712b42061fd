// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/option.h"
#include "base/text.h"
#include "base/xalloc.h"

#define SECONDS_MAX	4294967295.0
#define MIB		(1024.0 * 1024)
#define KEY_FIRST	256		/* of options without a letter: KEY_FIRST + index */
#define GROUP_TITLED	10		/* in help, behind the command's own options */

static int key_of(const struct option_parser *p, size_t i)
{
	return p->options[i].letter ? p->options[i].letter : KEY_FIRST + (int)i;
}

void option_parser_open(struct option_parser *p, const struct cli_option *options, const char *title,
			void *env)
{
	struct argp_option *to;
	size_t nr = 0, i;

	while (options && options[nr].name)
		nr++;
	*p = (struct option_parser){ .options = options, .title = title, .env = env };
	p->given = xreallocarray(NULL, nr + 1, sizeof(*p->given));
	to = xreallocarray(NULL, nr + 2, sizeof(*to));
	p->argp = to;
	memset(p->given, 0, (nr + 1) * sizeof(*p->given));
	memset(to, 0, (nr + 2) * sizeof(*to));
	if (title)
		*to++ = (struct argp_option){ .doc = title, .group = GROUP_TITLED };
	for (i = 0; i < nr; i++)
		*to++ = (struct argp_option){
			.name = options[i].name, .key = key_of(p, i), .arg = options[i].argument,
			.doc = options[i].help, .group = title ? GROUP_TITLED : 0,
		};
}

void option_parser_close(struct option_parser *p)
{
	free(p->given);
	free(p->argp);
}

const char *option_next_word(const char **words, size_t *length)
{
	const char *word = *words;

	*length = strcspn(word, " ");
	*words = word + *length + strspn(word + *length, " ");
	return *length ? word : NULL;
}

int option_word(const char *words, const char *word, size_t length)
{
	const char *at;
	size_t n;
	int i;

	for (i = 0; (at = option_next_word(&words, &n)); i++)
		if (n == length && !memcmp(at, word, n))
			return i;
	return -1;
}

char *option_words_listed(const char *words)
{
	char *list = NULL;
	const char *at;
	size_t n;

	while ((at = option_next_word(&words, &n))) {
		char *word = xasprintf("%.*s", (int)n, at);

		list = text_append(list, *words ? ", " : " or ", word);
		free(word);
	}
	return list;
}

static int parse_word(struct argp_state *state, const struct cli_option *o, const char *arg)
{
	int i = option_word(o->words, arg, strlen(arg));

	if (i < 0)
		cli_usage(state, "--%s=%s: say %s", o->name, arg, option_words_listed(o->words));
	return i;
}

__u64 option_size(struct argp_state *state, const char *option, const char *arg)
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
		cli_usage(state, "--%s=%s: say a size in MiB, or with K, M, G or T after it",
			  option, arg);
	return n * MIB;
}

double option_seconds(struct argp_state *state, const char *option, double least, const char *arg)
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
		cli_usage(state, "--%s=%s: say a number of seconds, 4294967295 at most, or with s, m, h or d after it",
			  option, arg);
	return n;
}

__u64 option_number(struct argp_state *state, const char *option, const char *arg, __u64 least,
		    __u64 most)
{
	char *end;
	__u64 n = strtoull(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || n < least || n > most)
		cli_usage(state, "--%s=%s: say a number from %llu to %llu", option, arg,
			  (unsigned long long)least, (unsigned long long)most);
	return n;
}

static void store(struct argp_state *state, const struct cli_option *o, void *env, const char *arg)
{
	void *at = (char *)env + o->at;

	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)at = true;
		break;
	case OPTION_SET:
		*(int *)at = o->least;
		break;
	case OPTION_TEXT:
		if (o->words)
			parse_word(state, o, arg);
		*(const char **)at = arg;
		break;
	case OPTION_NUMBER:
		*(__u64 *)at = option_number(state, o->name, arg, o->least, o->most);
		break;
	case OPTION_SIZE:
		*(__u64 *)at = option_size(state, o->name, arg);
		break;
	case OPTION_SECONDS:
		*(double *)at = option_seconds(state, o->name, o->least * 1e-9, arg);
		break;
	case OPTION_WORD:
		*(int *)at = parse_word(state, o, arg);
		break;
	case OPTION_FORMAT:
		parse_word(state, o, arg);
		*(enum cli_format *)at = option_word(CLI_FORMATS, arg, strlen(arg));
		break;
	case OPTION_TAKE:
		o->take(state, env, arg);
		break;
	}
}

error_t option_parse(struct option_parser *p, int key, char *arg, struct argp_state *state)
{
	size_t i;

	for (i = 0; p->options && p->options[i].name; i++) {
		if (key != key_of(p, i))
			continue;
		p->given[i] = arg ? arg : "";
		store(state, &p->options[i], p->env, arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct cli_option *option_find(const struct cli_option *options, const char *name, size_t length)
{
	const struct cli_option *o;

	for (o = options; o && o->name; o++)
		if (strlen(o->name) == length && !memcmp(o->name, name, length))
			return o;
	return NULL;
}

const char *option_given(const struct option_parser *p, const char *name)
{
	const struct cli_option *o = option_find(p->options, name, strcspn(name, "="));

	return o ? p->given[o - p->options] : NULL;
}

/* Whether "name", or "name=argument", was given. */
static bool has(const struct option_parser *p, const char *with)
{
	const char *given = option_given(p, with), *argument = strchr(with, '=');

	return given && (!argument || !strcmp(given, argument + 1));
}

void option_check(const struct option_parser *p, struct argp_state *state, const char *action)
{
	size_t i;

	for (i = 0; p->options && p->options[i].name; i++) {
		const struct cli_option *o = &p->options[i];

		if (!p->given[i])
			continue;
		if (o->action && (!action || strcmp(o->action, action)))
			cli_usage(state, "--%s goes with %s", o->name, o->action);
		if (o->with && !has(p, o->with))
			cli_usage(state, "--%s goes with --%s", o->name, o->with);
	}
}
