// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "core/amount.h"
#include "core/names.h"
#include "core/nearest.h"
#include "trace/anonymize.h"
#include "trace/frame_index.h"
#include "trace/paths.h"
#include "trace/record.h"
#include "trace/select.h"

#define PAGE 4096	/* bytes of a page on all machines that iotracer runs on */
#define COMM_SIZE 16

/* A field of the event. */
struct place {
	unsigned int offset, size;	/* size 0: the event has no such field */
};

/* An address, or all that begin as it does. One of IPv4 is ::ffff:a.b.c.d, as in records. */
struct prefix {
	struct in6_addr ip;
	unsigned int bits;
};

struct select_condition {
	const struct key *key;
	char *given;		/* "KEY=VALUE", for messages */
	char **words;		/* the values, as given but for \ooo */
	__u64 *numbers;		/* the same as numbers, where they are some */
	struct prefix *prefixes;	/* the same as addresses, where they are some */
	size_t nr;

	/* for the present event */
	unsigned int event_id;
	struct place place, other;
	bool *ops;		/* by number: whether the operation is wanted */
	unsigned int nr_ops;
	const struct paths *paths;
	char **shown;		/* the words as paths are shown */
	bool *known;		/* by place in @paths: whether the path is wanted */
	size_t nr_known;	/* grows when paths are added */
	struct trace_range wanted;	/* ids of paths that are wanted */
};

/* --- values --------------------------------------------------------------------- */

static const struct iot_unit one[] = { { "", 1 }, { NULL, 0 } };

static bool parse_number(const char *word, __u64 *number)
{
	return iot_amount_parse(word, one, number);
}

static bool parse_size(const char *word, __u64 *number)
{
	return iot_amount_parse(word, iot_units_size, number);
}

static bool parse_time(const char *word, __u64 *number)
{
	return iot_amount_parse(word, iot_units_time, number);
}

/* MAJOR:MINOR, as records have it. */
static bool parse_device(const char *word, __u64 *number)
{
	const char *colon = strchr(word, ':');
	char *major = colon ? xasprintf("%.*s", (int)(colon - word), word) : NULL;
	__u64 a = 0, b = 0;
	bool good = colon && iot_amount_parse(major, one, &a) && iot_amount_parse(colon + 1, one, &b) &&
		    a < 1 << 12 && b < 1 << 20;

	free(major);
	*number = a << 20 | b;
	return good;
}

static bool parse_kind(const char *word, __u64 *number)
{
	unsigned int i;

	for (i = 0; iot_names_kind(i); i++) {
		*number = i;
		if (*word && !strcasecmp(iot_names_kind(i), word))
			return true;
	}
	return false;
}

static bool parse_port(const char *word, __u64 *number)
{
	return iot_amount_parse(word, one, number) && *number && *number <= 0xffff;
}

static bool parse_named(const char *word, const char *group, const char *prefix, __u64 *number)
{
	__u32 named;

	if (!iot_names_find_value(group, prefix, word, &named))
		return iot_amount_parse(word, one, number) && *number <= 0xffff;
	*number = named;
	return true;
}

static bool parse_family(const char *word, __u64 *number)
{
	return parse_named(word, "sockfamily", "AF_", number);
}

static bool parse_proto(const char *word, __u64 *number)
{
	return parse_named(word, "ipproto", "IPPROTO_", number);
}

static bool is_no_address(const struct in6_addr *ip)
{
	static const __u8 none[4];

	return IN6_IS_ADDR_UNSPECIFIED(ip) ||
	       (IN6_IS_ADDR_V4MAPPED(ip) && !memcmp(&ip->s6_addr[12], none, sizeof(none)));
}

static bool parse_ip(const char *text, struct in6_addr *ip)
{
	*ip = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
	return inet_pton(AF_INET, text, &ip->s6_addr[12]) == 1 || inet_pton(AF_INET6, text, ip) == 1;
}

/* ADDRESS or ADDRESS/BITS, as the module takes them. */
static bool parse_prefix(const char *word, struct prefix *p)
{
	const char *slash = strchr(word, '/');
	char *text = xasprintf("%.*s", (int)(slash ? slash - word : (long)strlen(word)), word);
	bool good = parse_ip(text, &p->ip);
	__u64 before = good && IN6_IS_ADDR_V4MAPPED(&p->ip) ? 96 : 0, bits = 128 - before;

	free(text);
	if (!good || (slash && !iot_amount_parse(slash + 1, one, &bits)) || bits > 128 - before)
		return false;
	p->bits = before + bits;
	return p->bits < 128 || !is_no_address(&p->ip);
}

/* --- records -------------------------------------------------------------------- */

static bool has_number(const struct select_condition *c, __u64 number)
{
	size_t i;

	for (i = 0; i < c->nr; i++)
		if (c->numbers[i] == number)
			return true;
	return false;
}

static bool meets_number(struct select_condition *c, const void *record)
{
	return c->place.size && has_number(c, record_scalar(record, c->place.offset, c->place.size));
}

/* A request is also of the device of its file's filesystem. */
static bool meets_device(struct select_condition *c, const void *record)
{
	return meets_number(c, record) ||
	       (c->other.size && has_number(c, record_scalar(record, c->other.offset, c->other.size)));
}

static bool meets_latency(struct select_condition *c, const void *record)
{
	return c->place.size && record_scalar(record, c->place.offset, c->place.size) >= c->numbers[0];
}

/* As the module: what was asked for, or moved, whichever is more. */
static bool meets_size(struct select_condition *c, const void *record)
{
	__u64 bytes = c->place.size ? record_scalar(record, c->place.offset, c->place.size) : 0;
	__s64 moved;

	if (!c->place.size && c->other.size)
		return record_scalar(record, c->other.offset, c->other.size) * PAGE >= c->numbers[0];
	moved = c->other.size == 8 ? (__s64)record_scalar(record, c->other.offset, 8) : 0;
	return c->place.size && (bytes >= c->numbers[0] ||
				 (moved > 0 && (__u64)moved >= c->numbers[0]));
}

static bool meets_comm(struct select_condition *c, const void *record)
{
	const char *comm = (const char *)record + c->place.offset;
	size_t i;

	for (i = 0; c->place.size && i < c->nr; i++)
		if (!strncmp(c->words[i], comm, COMM_SIZE))
			return true;
	return false;
}

static bool meets_op(struct select_condition *c, const void *record)
{
	__u64 op = c->place.size ? record_scalar(record, c->place.offset, c->place.size) : c->nr_ops;

	return op < c->nr_ops && c->ops[op];
}

/* The family of a socket; of a packet that of its header. */
static __u64 family_of(const struct select_condition *c, const struct place *place, const void *record)
{
	__u64 family = place->size ? record_scalar(record, place->offset, place->size) : AF_UNSPEC;

	if (c->event_id != IOT_EVENT_ID_DROP)
		return family;
	return family == 4 ? AF_INET : family == 6 ? AF_INET6 : AF_UNSPEC;
}

static bool meets_family(struct select_condition *c, const void *record)
{
	return c->place.size && has_number(c, family_of(c, &c->place, record));
}

/* Other families have numbers of their own. */
static bool meets_proto(struct select_condition *c, const void *record)
{
	__u64 family = family_of(c, &c->other, record);

	return (family == AF_INET || family == AF_INET6) && meets_number(c, record);
}

static bool is_port(const struct select_condition *c, const struct place *place, const void *record)
{
	__u64 port = place->size ? record_scalar(record, place->offset, place->size) : 0;

	return port && has_number(c, port);
}

static bool meets_port(struct select_condition *c, const void *record)
{
	return is_port(c, &c->place, record) || is_port(c, &c->other, record);
}

static bool is_below(const struct in6_addr *ip, const struct prefix *p)
{
	unsigned int bytes = p->bits / 8, rest = p->bits % 8;

	return IN6_IS_ADDR_V4MAPPED(ip) == IN6_IS_ADDR_V4MAPPED(&p->ip) &&
	       !memcmp(ip, &p->ip, bytes) &&
	       (!rest || !((ip->s6_addr[bytes] ^ p->ip.s6_addr[bytes]) >> (8 - rest)));
}

static bool is_address(const struct select_condition *c, const struct place *place, const void *record)
{
	struct in6_addr ip;
	size_t i;

	if (place->size != sizeof(ip))
		return false;
	memcpy(&ip, (const char *)record + place->offset, sizeof(ip));
	for (i = 0; i < c->nr && !is_no_address(&ip); i++)
		if (is_below(&ip, &c->prefixes[i]))
			return true;
	return false;
}

static bool meets_address(struct select_condition *c, const void *record)
{
	return is_address(c, &c->place, record) || is_address(c, &c->other, record);
}

static bool is_pattern(const char *word)
{
	return word[strcspn(word, "*?[")];
}

static bool is_path_wanted(const struct select_condition *c, const char *path)
{
	size_t i, length;

	for (i = 0; i < c->nr; i++) {
		if (is_pattern(c->words[i])) {
			if (!fnmatch(c->shown[i], path, FNM_NOESCAPE))
				return true;
			continue;
		}
		length = strlen(c->shown[i]);
		while (length > 1 && c->shown[i][length - 1] == '/')
			length--;
		if (!strncmp(c->shown[i], path, length) &&
		    (!path[length] || path[length] == '/' || length == 1))
			return true;
	}
	return false;
}

/* Looks at the paths that were added since: which are wanted, and what ids these have. */
static void find_paths(struct select_condition *c)
{
	const struct name *name;
	__u64 id;
	size_t i;

	c->known = xreallocarray(c->known, c->paths->nr, sizeof(*c->known));
	for (i = c->nr_known; i < c->paths->nr; i++) {
		id = c->paths->base + i;
		name = names_find(c->paths, id);
		c->known[i] = name && is_path_wanted(c, name->text);
		if (!c->known[i])
			continue;
		if (id < c->wanted.least)
			c->wanted.least = id;
		c->wanted.most = id;
	}
	c->nr_known = c->paths->nr;
}

static bool meets_path_at(struct select_condition *c, const struct place *place, const void *record)
{
	__u64 id = place->size ? record_scalar(record, place->offset, place->size) : 0;

	if (!id || id - c->paths->base >= c->paths->nr)
		return false;
	if (c->nr_known < c->paths->nr)
		find_paths(c);
	return c->known[id - c->paths->base];
}

static bool meets_path(struct select_condition *c, const void *record)
{
	return meets_path_at(c, &c->place, record) || meets_path_at(c, &c->other, record);
}

/* --- keys ----------------------------------------------------------------------- */

#define NUMBER "say a number, and a comma before the next"

/**
 * struct key - a key of conditions
 * @field:	of the event
 * @other:	another field that counts, or NULL
 * @parse:	NULL: a value is no number
 * @single:	there is no list of values
 */
static const struct key {
	const char *name;
	const char *field, *other;
	bool (*parse)(const char *word, __u64 *number);
	bool (*meets)(struct select_condition *c, const void *record);
	const char *say;
	bool single;
} keys[] = {
	{ "pid", "pid", NULL, parse_number, meets_number, NUMBER, false },
	{ "tid", "tid", NULL, parse_number, meets_number, NUMBER, false },
	{ "uid", "uid", NULL, parse_number, meets_number, NUMBER, false },
	{ "comm", "comm", NULL, NULL, meets_comm, "say a name, with \\054 for a comma in it", false },
	{ "cgroup", "cgroup", NULL, parse_number, meets_number, NUMBER, false },
	{ "op", "op", NULL, NULL, meets_op, "say the name of an operation", false },
	{ "dev", "device", "file_device", parse_device, meets_device,
	  "say MAJOR:MINOR, and a comma before the next", false },
	{ "inode", "inode", NULL, parse_number, meets_number, NUMBER, false },
	{ "kind", "kind", NULL, parse_kind, meets_number,
	  "say a kind of file, as file, dir, pipe or socket", false },
	{ "min_latency", "latency", NULL, parse_time, meets_latency,
	  IOT_SAY_TIME, true },
	{ "min_size", "requested", "result", parse_size, meets_size,
	  IOT_SAY_SIZE, true },
	{ "path", "path", "path2", NULL, meets_path,
	  "say a path that begins with /, or a pattern with * or ?", false },
	{ "family", "family", NULL, parse_family, meets_family, IOT_SAY_FAMILY, false },
	{ "proto", "protocol", "family", parse_proto, meets_proto, IOT_SAY_PROTO, false },
	{ "addr", "local", "remote", NULL, meets_address, IOT_SAY_ADDR, false },
	{ "port", "local_port", "remote_port", parse_port, meets_port, IOT_SAY_PORT, false },
	{ "netns", "netns", NULL, parse_number, meets_number, NUMBER, false },
};

#define NR_KEYS (sizeof(keys) / sizeof(keys[0]))

static const struct key *find_key(const char *word, size_t length)
{
	size_t i;

	for (i = 0; i < NR_KEYS; i++)
		if (strlen(keys[i].name) == length && !memcmp(keys[i].name, word, length))
			return &keys[i];
	return NULL;
}

const char *select_key(unsigned int n)
{
	return n < NR_KEYS ? keys[n].name : NULL;
}

static char *unknown_key(const char *word, size_t length)
{
	struct iot_nearest found = IOT_NEAREST_NONE;
	size_t i;

	for (i = 0; i < NR_KEYS; i++)
		iot_nearest_see(&found, word, length, keys[i].name);
	return xasprintf("there is no key \"%.*s\"; the nearest is %s", (int)length, word, found.name);
}

/* A value of a list. Returns whether it is one. */
static bool add_word(struct select_condition *c, char *word)
{
	const struct key *key = c->key;
	struct prefix prefix = { 0 };
	__u64 number = 0;

	if (!*word || (key->parse && !key->parse(word, &number)) ||
	    (key->meets == meets_path && *word != '/' && !is_pattern(word)) ||
	    (key->meets == meets_address && !parse_prefix(word, &prefix)))
		return false;
	text_unescape(word);
	c->words = xreallocarray(c->words, c->nr + 1, sizeof(*c->words));
	c->numbers = xreallocarray(c->numbers, c->nr + 1, sizeof(*c->numbers));
	c->prefixes = xreallocarray(c->prefixes, c->nr + 1, sizeof(*c->prefixes));
	c->words[c->nr] = xstrdup(word);
	c->prefixes[c->nr] = prefix;
	c->numbers[c->nr++] = number;
	return true;
}

static void free_event(struct select_condition *c)
{
	size_t i;

	for (i = 0; c->shown && i < c->nr; i++)
		free(c->shown[i]);
	free(c->shown);
	free(c->known);
	free(c->ops);
	c->shown = NULL;
	c->known = NULL;
	c->ops = NULL;
	c->nr_ops = 0;
}

static void free_condition(struct select_condition *c)
{
	size_t i;

	free_event(c);
	for (i = 0; i < c->nr; i++)
		free(c->words[i]);
	free(c->words);
	free(c->numbers);
	free(c->prefixes);
	free(c->given);
}

char *select_add(struct select *s, const char *condition)
{
	const char *equals = strchr(condition, '=');
	char *copy, *rest, *word, *why = NULL;
	struct select_condition c = { 0 };
	size_t i;

	if (!equals)
		return xstrdup("say KEY=VALUE");
	c.key = find_key(condition, equals - condition);
	if (!c.key)
		return unknown_key(condition, equals - condition);
	for (i = 0; i < s->nr; i++)
		if (s->at[i].key == c.key)
			return xasprintf(c.key->single ? "%s is given twice" :
					 "%s is given twice: say %s=A,B", c.key->name, c.key->name);
	c.given = xstrdup(condition);
	copy = xstrdup(equals + 1);
	rest = copy;
	while (!why && (word = c.key->single ? rest : strsep(&rest, ","))) {
		if (!add_word(&c, word))
			why = xstrdup(c.key->say);
		if (c.key->single)
			break;
	}
	free(copy);
	if (why) {
		free_condition(&c);
		return why;
	}
	s->at = xreallocarray(s->at, s->nr + 1, sizeof(*s->at));
	s->at[s->nr++] = c;
	return NULL;
}

const char *select_given(const struct select *s, size_t i)
{
	return s->at[i].given;
}

bool select_is_known_to_module(const struct select *s, size_t i)
{
	return s->at[i].key->meets != meets_path;
}

void select_copy(struct select *to, const struct select *from)
{
	size_t i;

	for (i = 0; i < from->nr; i++)
		free(select_add(to, from->at[i].given));
}

/* --- an event ------------------------------------------------------------------- */

/* What records of packets call what records of sockets have. */
static const char *name_in(const struct iot_schema_event *event, const char *name)
{
	static const char *const of_packets[][2] = {
		{ "local", "source" }, { "remote", "destination" },
		{ "local_port", "source_port" }, { "remote_port", "destination_port" },
		{ "family", "ip_version" },
	};
	size_t i;

	for (i = 0; event->id == IOT_EVENT_ID_DROP && i < sizeof(of_packets) / sizeof(of_packets[0]); i++)
		if (!strcmp(of_packets[i][0], name))
			return of_packets[i][1];
	return name;
}

static struct place place_of(const struct iot_schema_event *event, const char *name)
{
	const struct iot_schema_field *f = name ? record_field(event, name_in(event, name)) : NULL;

	return f ? (struct place){ f->offset, f->size } : (struct place){ 0, 0 };
}

static bool has_word(const struct select_condition *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->nr; i++)
		if (!strcasecmp(c->words[i], name))
			return true;
	return false;
}

/* The name of an operation; NULL behind the last. Those of targets have lists of their own. */
static const char *op_name(const struct iot_schema_event *event, unsigned int op)
{
	const struct iot_access_name *access;

	if (event->id != IOT_EVENT_ID_IO)
		return iot_names_op_name(event->id, op);
	if (op <= IOT_OP_WRITE)
		return op == IOT_OP_READ ? "READ" : "WRITE";
	access = iot_names_access(op);
	return access ? access->name : NULL;
}

static void prepare_ops(struct select_condition *c, const struct iot_schema_event *event)
{
	const char *name;

	while ((name = op_name(event, c->nr_ops))) {
		c->ops = xreallocarray(c->ops, c->nr_ops + 1, sizeof(*c->ops));
		c->ops[c->nr_ops++] = *name && has_word(c, name);
	}
}

/* Paths of a trace are escaped, and hashed if names are. A pattern has no hash. */
static char *prepare_paths(struct select_condition *c, const struct paths *paths,
			   const struct anonymizer *anonymizer)
{
	size_t i, length;
	char *hashed;

	c->paths = paths;
	c->shown = xreallocarray(NULL, c->nr, sizeof(*c->shown));
	memset(c->shown, 0, c->nr * sizeof(*c->shown));
	for (i = 0; i < c->nr; i++) {
		length = strlen(c->words[i]);
		if (!anonymizer) {
			c->shown[i] = text_show(c->words[i], length);
			continue;
		}
		if (is_pattern(c->words[i]))
			return xasprintf("%s: names are hashed, so say a path, not a pattern", c->given);
		hashed = xreallocarray(NULL, ANONYMOUS_PATH(length) + 1, 1);
		length = anonymize_path(anonymizer, hashed, c->words[i], length);
		c->shown[i] = text_show(hashed, length);
		free(hashed);
	}
	c->wanted = (struct trace_range){ .least = ~0ULL };
	c->nr_known = 0;
	find_paths(c);
	return NULL;
}

char *select_event(struct select *s, const struct iot_schema_event *event, const struct paths *paths,
		   const struct anonymizer *anonymizer)
{
	char *why = NULL;
	size_t i;

	for (i = 0; !why && i < s->nr; i++) {
		struct select_condition *c = &s->at[i];

		free_event(c);
		c->event_id = event->id;
		c->place = place_of(event, c->key->field);
		c->other = place_of(event, c->key->other);
		if (c->key->meets == meets_size && !c->place.size)
			c->other = place_of(event, event->id == IOT_EVENT_ID_CACHE ? "pages" : NULL);
		if (c->key->meets == meets_size && event->id == IOT_EVENT_ID_DROP)
			c->place = place_of(event, "size");
		if (c->key->meets == meets_op)
			prepare_ops(c, event);
		if (c->key->meets == meets_path)
			why = prepare_paths(c, paths, anonymizer);
	}
	return why;
}

bool select_wants(struct select *s, const void *record)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (!s->at[i].key->meets(&s->at[i], record))
			return false;
	return true;
}

/* Whether one of the numbers, 0 among them, may be in the range. */
static bool may_have_number(const struct select_condition *c, const struct trace_range *r)
{
	size_t i;

	for (i = 0; i < c->nr; i++)
		if (!c->numbers[i] || frame_may_have(r, c->numbers[i], c->numbers[i]))
			return true;
	return false;
}

static bool may_have_op(const struct select_condition *c, const struct trace_index *index)
{
	unsigned int op;

	for (op = 0; op < c->nr_ops; op++)
		if (c->ops[op] && frame_may_have_op(index, op))
			return true;
	return false;
}

static bool may_meet(const struct select_condition *c, const struct trace_index *index)
{
	if (c->key->meets == meets_device)
		return may_have_number(c, &index->device);
	if (c->key->meets == meets_number && !strcmp(c->key->name, "inode"))
		return may_have_number(c, &index->inode);
	if (c->key->meets == meets_op)
		return may_have_op(c, index);
	if (c->key->meets == meets_path)
		return frame_may_have(&index->path, c->wanted.least, c->wanted.most);
	return true;
}

bool select_may_want(const struct select *s, const struct trace_index *index)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (!may_meet(&s->at[i], index))
			return false;
	return true;
}

void select_free(struct select *s)
{
	while (s->nr)
		free_condition(&s->at[--s->nr]);
	free(s->at);
	s->at = NULL;
}

static bool has_op(const struct iot_schema_event *event, const char *word, struct iot_nearest *nearest)
{
	const char *name;
	unsigned int i;

	for (i = 0; (name = op_name(event, i)); i++) {
		if (*name && !strcasecmp(name, word))
			return true;
		iot_nearest_see(nearest, word, strlen(word), name);
	}
	return false;
}

static const struct select_condition *find_condition(const struct select *s, const char *key)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (!strcmp(s->at[i].key->name, key))
			return &s->at[i];
	return NULL;
}

char *select_unknown_op(const struct select *s, const struct iot_schema_event *const *events, size_t nr)
{
	const struct select_condition *c = find_condition(s, "op");
	size_t i, j;

	for (i = 0; c && i < c->nr; i++) {
		struct iot_nearest nearest = IOT_NEAREST_NONE;

		for (j = 0; j < nr && !has_op(events[j], c->words[i], &nearest); j++)
			;
		if (j == nr)
			return xasprintf("no category has an operation \"%s\"; the nearest is %s",
					 c->words[i], nearest.name);
	}
	return NULL;
}
