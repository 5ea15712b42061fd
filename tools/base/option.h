/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options of a command, as a table. Parsing, --help, the manual's lists of options and the
 * completion of shells are made of it.
 *
 * An option stores its argument in the command's environment, a struct of the command's own with
 * the default values, at the offset @at.
 */
#ifndef TOOL_BASE_OPTION_H
#define TOOL_BASE_OPTION_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* How an argument is read, and what is stored. */
enum option_kind {
	OPTION_FLAG,		/* no argument. bool: true */
	OPTION_SET,		/* no argument. int: @least */
	OPTION_TEXT,		/* const char *; one of @words if there are any */
	OPTION_NUMBER,		/* __u64: decimal, from @least to @most */
	OPTION_SIZE,		/* __u64 bytes: a number of MiB, or with K, M, G or T after it */
	OPTION_SECONDS,		/* double: with s, m, h or d after it; @least in nanoseconds */
	OPTION_WORD,		/* int: the index of the argument in @words */
	OPTION_FORMAT,		/* enum cli_format: one of @words */
	OPTION_TAKE,		/* what @take stores */
};

/* What a shell offers for an argument, beside @words. */
enum option_values {
	VALUES_NONE	 = 0,
	VALUES_FILE	 = 1 << 0,
	VALUES_DIRECTORY = 1 << 1,
	VALUES_COMMAND	 = 1 << 2,	/* a program, then its arguments */
	VALUES_CATEGORY	 = 1 << 3,
	VALUES_TARGET	 = 1 << 4,	/* names of targets, and pid=1234 as list shows it */
	VALUES_TRACE	 = 1 << 5,	/* names of traces that are kept */
	VALUES_MACHINE	 = 1 << 6,	/* virtual machines */
	VALUES_KERNEL	 = 1 << 7,	/* releases that are installed */
	VALUES_PID	 = 1 << 8,
	VALUES_COMM	 = 1 << 9,	/* names of threads */
	VALUES_CGROUP	 = 1 << 10,
	VALUES_UNIT	 = 1 << 11,
	VALUES_CONTAINER = 1 << 12,
	VALUES_DEVICE	 = 1 << 13,	/* block devices */
	VALUES_FILTER	 = 1 << 14,	/* KEY=VALUE of the module's filters */
	VALUES_SELECT	 = 1 << 15,	/* KEY=VALUE of export's filters */
	VALUES_LIST	 = 1 << 16,	/* several of @words and the others, with commas */
	VALUES_SUBCOMMAND = 1 << 17,	/* commands of iotracer */
	VALUES_OPERATION = 1 << 18,	/* of a category */
	VALUES_KIND	 = 1 << 19,	/* of file */
	VALUES_USER	 = 1 << 20,
	VALUES_NETNS	 = 1 << 21,	/* names of network namespaces */
	VALUES_FAMILY	 = 1 << 22,	/* of sockets */
	VALUES_PROTO	 = 1 << 23,	/* of IP */
};

/* A table ends with an option whose name is NULL. */
struct cli_option {
	const char *name;		/* without -- */
	char letter;			/* 0: it has no short form */
	const char *argument;		/* as help shows it; NULL: it takes none */
	const char *help;		/* one sentence, without a full stop */
	enum option_kind kind;
	size_t at;
	const char *words;		/* the arguments it may have, with blanks between */
	unsigned int values;		/* enum option_values */
	__u64 least, most;
	/* The option, as "anonymize" or "format=fuse", without which it makes no sense. */
	const char *with;
	/* The action of the command (see struct action) which it is for; NULL: all. */
	const char *action;
	/* Reports an argument that is wrong with cli_usage(). @arg lasts until the program ends. */
	void (*take)(struct argp_state *state, void *env, const char *arg);
};

/*
 * The kind and the place of an option, for its table: they do not compile if the member has another
 * type than the kind stores.
 */
#define OPTION_AT(env, member, good) \
	(offsetof(env, member) + 0 * sizeof(struct { int wrong_type : (good) ? 1 : -1; }))
#define OPTION_IS(env, member, type) \
	OPTION_AT(env, member, __builtin_types_compatible_p(typeof(((env *)0)->member), type))
#define OPTION_IS_INT(env, member) \
	OPTION_AT(env, member, sizeof(((env *)0)->member) == sizeof(int))

#define TO_FLAG(env, member)	.kind = OPTION_FLAG, .at = OPTION_IS(env, member, bool)
#define TO_TEXT(env, member)	.kind = OPTION_TEXT, .at = OPTION_IS(env, member, const char *)
#define TO_NUMBER(env, member)	.kind = OPTION_NUMBER, .at = OPTION_IS(env, member, __u64)
#define TO_SIZE(env, member)	.kind = OPTION_SIZE, .at = OPTION_IS(env, member, __u64)
#define TO_SECONDS(env, member)	.kind = OPTION_SECONDS, .at = OPTION_IS(env, member, double)
#define TO_FORMAT(env, member)	.kind = OPTION_FORMAT, .at = OPTION_IS(env, member, enum cli_format)
#define TO_SET(env, member)	.kind = OPTION_SET, .at = OPTION_IS_INT(env, member)
#define TO_WORD(env, member)	.kind = OPTION_WORD, .at = OPTION_IS_INT(env, member)

/* Options that several commands share, under a heading of their own in help. */
struct option_group {
	const char *title;
	const struct cli_option *options;
	void (*check)(struct argp_state *state, void *env);	/* after all were parsed; or NULL */
};

/* A table while a command line is parsed. */
struct option_parser {
	const struct cli_option *options;
	const char *title;
	void *env;
	const char **given;		/* the argument of each option, "" for none; NULL: not given */
	struct argp_option *argp;
};

/* @group NULL: no heading. Free it in the end. */
void option_parser_open(struct option_parser *p, const struct cli_option *options, const char *title,
			void *env);
void option_parser_close(struct option_parser *p);

/* For argp: parses one option of the table. ARGP_ERR_UNKNOWN for another. */
error_t option_parse(struct option_parser *p, int key, char *arg, struct argp_state *state);

/* Refuses options without the one they go with, or with another action. @action may be NULL. */
void option_check(const struct option_parser *p, struct argp_state *state, const char *action);

/* The argument of an option that was given, "" if it takes none; else NULL. */
const char *option_given(const struct option_parser *p, const char *name);

/* The option of that name, of @length bytes, in a table; NULL for none, also if @options is NULL. */
const struct cli_option *option_find(const struct cli_option *options, const char *name, size_t length);

/* The next word of a list with blanks between, of *length bytes, or NULL; *words moves behind it. */
const char *option_next_word(const char **words, size_t *length);

/* The index of @word in @words, or -1. */
int option_word(const char *words, const char *word, size_t length);

/* "text, csv or json"; the caller frees it. */
char *option_words_listed(const char *words);

/* For @take: a size in MiB, or with K, M, G or T after it, in bytes; a time in seconds. */
__u64 option_size(struct argp_state *state, const char *option, const char *arg);
double option_seconds(struct argp_state *state, const char *option, double least, const char *arg);

/* For @take: a decimal number from @least to @most. */
__u64 option_number(struct argp_state *state, const char *option, const char *arg, __u64 least,
		    __u64 most);

#endif /* TOOL_BASE_OPTION_H */
