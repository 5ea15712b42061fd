// SPDX-License-Identifier: GPL-2.0
/*
 * Make a filter from its text: "none", or conditions key=value with one blank between them.
 * Errors are reported with the key and the value.
 */
#include <linux/err.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/kdev_t.h>
#include <net/ipv6.h>
#include "core/amount.h"
#include "core/names.h"
#include "core/nearest.h"
#include "core/refusal.h"
#include "file/path.h"
#include "file/path_table.h"
#include "record/cgroup.h"
#include "record/filter.h"
#include "record/filter_parse.h"

/* Conditions that have one value. */
#define TAKES_ONE (IOT_FILTER_TREE | IOT_FILTER_LATENCY | IOT_FILTER_SIZE | IOT_FILTER_REJECTED)

/* Limit to the bytes of a word that a message quotes. */
#define QUOTED 64

/**
 * struct parser - a filter that is being parsed
 * @f:		the filter
 * @of:		its category
 * @key:	key of the condition that is being parsed
 * @tree:	process whose descendants are wanted, if the filter has IOT_FILTER_TREE
 * @numbers:	where parse_number() adds a number, which is @most at most
 * @why:	where to report what is wrong
 */
struct parser {
	struct iot_filter *f;
	const struct iot_filter_of *of;
	const char *key;
	u32 tree;
	struct iot_numbers *numbers;
	u64 most;
	struct iot_why *why;
};

/* Get the @n-th name of a list: NULL after the last, "" for one that a filter cannot have. */
typedef const char *(*name_fn)(unsigned int event, unsigned int n);

static const char *kind_name(unsigned int event, unsigned int n)
{
	return iot_names_kind(n);
}

static const char *key_name(unsigned int event, unsigned int n)
{
	return iot_names_key(n);
}

/* Find the name in a list that is most similar to a word, the first of several. */
static const char *nearest(const char *word, name_fn name, unsigned int event)
{
	struct iot_nearest found = IOT_NEAREST_NONE;
	size_t length = strlen(word);
	unsigned int n;

	for (n = 0; name(event, n); n++)
		iot_nearest_see(&found, word, length, name(event, n));
	return found.name;
}

/* Return: the name's number in the list, or -1. */
static int find_name(const char *word, name_fn name, unsigned int event)
{
	unsigned int n;

	for (n = 0; name(event, n); n++)
		if (*word && !strcasecmp(name(event, n), word))
			return n;
	return -1;
}

static int bad(const struct parser *p, const char *value, const char *say)
{
	return iot_why(p->why, -EINVAL, "%s=%.*s: %s", p->key, QUOTED, value, say);
}

/* Call @set with the number of each name in a list a,b,c. @what: what a name is, for messages. */
static int parse_list(const struct parser *p, char *value, name_fn name, const char *what,
		      void (*set)(struct iot_filter *f, unsigned int n))
{
	char *word;

	while ((word = strsep(&value, ","))) {
		int n = find_name(word, name, p->of->event_id);

		if (n < 0 && !*word)
			return bad(p, word, "a name is missing; put one comma between two");
		if (n < 0)
			return iot_why(p->why, -EINVAL,
				       "%s=%.*s: %s has no such %s; the nearest is %s", p->key,
				       QUOTED, word, p->of->name, what,
				       nearest(word, name, p->of->event_id));
		set(p->f, n);
	}
	return 0;
}

static void set_op(struct iot_filter *f, unsigned int op)
{
	set_bit(op, f->ops);
}

static int parse_op(const struct parser *p, char *value)
{
	const unsigned int end = IOT_FS_BLOCK_WRITE_ZEROES + 1;
	int err = parse_list(p, value, iot_names_op_name, "operation", set_op);

	if (!err && p->of->event_id == IOT_EVENT_ID_FS &&
	    find_next_bit(p->f->ops, end, IOT_FS_BLOCK_READ) < end)
		return iot_why(p->why, -EINVAL,
			       "op: BLOCK_* are in logs of directories and processes only; trace category block");
	return err;
}

static void set_kind(struct iot_filter *f, unsigned int kind)
{
	f->kinds |= BIT(kind);
}

static int parse_kind(const struct parser *p, char *value)
{
	/* the first kind= replaces the default; further ones add to the first */
	if (!(p->f->used & IOT_FILTER_KIND))
		p->f->kinds = 0;
	if (strcasecmp(value, "all"))
		return parse_list(p, value, kind_name, "kind of file", set_kind);
	p->f->kinds = IOT_KIND_ALL;
	return 0;
}

static int parse_size(const struct parser *p, const char *value)
{
	return iot_amount_parse(value, iot_units_size, &p->f->min_size) ? 0 :
	       bad(p, value, IOT_SAY_SIZE);
}

static int parse_latency(const struct parser *p, const char *value)
{
	return iot_amount_parse(value, iot_units_time, &p->f->min_latency) ? 0 :
	       bad(p, value, IOT_SAY_TIME);
}

static int parse_tree(struct parser *p, const char *value)
{
	return kstrtou32(value, 10, &p->tree) ? bad(p, value, "say the number of one process") : 0;
}

static int add_number(const struct parser *p, struct iot_numbers *to, u64 number)
{
	if (to->nr == IOT_FILTER_NUMBERS_MAX)
		return iot_why(p->why, -EINVAL, "%s: say %u values at most", p->key,
			       IOT_FILTER_NUMBERS_MAX);
	to->at[to->nr++] = number;
	return 0;
}

/*
 * Call @one with each value of a list a,b,c. A comma in a value is \054, so the list is split
 * before values are unescaped.
 */
static int each(struct parser *p, char *list, int (*one)(struct parser *p, char *value))
{
	char *value;
	int err;

	while ((value = strsep(&list, ","))) {
		err = one(p, value);
		if (err)
			return err;
	}
	return 0;
}

static int parse_number(struct parser *p, char *value)
{
	u64 number;

	if (kstrtou64(value, 10, &number) || number > p->most ||
	    (p->most == U16_MAX && !number))
		return bad(p, value, p->most == U16_MAX ? IOT_SAY_PORT :
			   p->most == U32_MAX ? "say a number up to 4294967295" :
			   "say a number of 64 bits, not negative");
	return add_number(p, p->numbers, number);
}

static int parse_numbers(struct parser *p, char *list, struct iot_numbers *numbers, u64 most)
{
	p->numbers = numbers;
	p->most = most;
	return each(p, list, parse_number);
}

static int parse_comm(struct parser *p, char *value)
{
	struct iot_filter *f = p->f;

	if (iot_path_unescape(value))
		return bad(p, "", "a name has no \\000");
	if (!*value)
		return bad(p, value, "a name is missing");
	if (strlen(value) >= TASK_COMM_LEN)
		return bad(p, value, "the kernel keeps 15 bytes of a thread's name: say those");
	if (f->nr_comms == IOT_FILTER_COMMS_MAX)
		return iot_why(p->why, -EINVAL, "comm: say %u names at most", IOT_FILTER_COMMS_MAX);
	strscpy_pad((char *)f->comms[f->nr_comms++], value, TASK_COMM_LEN);
	return 0;
}

static int add_dev(const struct parser *p, u32 dev)
{
	struct iot_filter *f = p->f;

	if (iot_filter_has_dev(f, dev))
		return 0;
	if (f->nr_devs == IOT_FILTER_DEVS_MAX)
		return iot_why(p->why, -EINVAL, "dev: say %u devices at most", IOT_FILTER_DEVS_MAX);
	f->devs[f->nr_devs++] = dev;
	return 0;
}

static int parse_dev(struct parser *p, char *value)
{
	char *colon = strchr(value, ':');
	u32 major, minor;
	bool good = false;

	if (colon) {
		*colon = '\0';
		good = !kstrtou32(value, 10, &major) && !kstrtou32(colon + 1, 10, &minor) &&
		       major < BIT(12) && minor < BIT(20);
		*colon = ':';
	}
	if (!good)
		return bad(p, value, "say MAJOR:MINOR in decimal, with a comma before the next");
	return add_dev(p, MKDEV(major, minor));
}

static int find_cgroup(const struct parser *p, char *path, u64 *number)
{
	if (iot_path_unescape(path))
		return bad(p, "/", "a path has no \\000");
	return iot_cgroup_find(path, number, p->why);
}

static int parse_cgroup(struct parser *p, char *value)
{
	u64 number;
	int err = 0;

	if (*value == '/')
		err = find_cgroup(p, value, &number);
	else if (kstrtou64(value, 10, &number))
		err = bad(p, value,
			  "say a path that begins with /, or the inode number of its directory");
	return err ?: add_number(p, &p->f->cgroups, number);
}

/* Add what a path leads to now. */
static int add_path(const struct parser *p, const char *text, struct inode *inode)
{
	struct iot_filter_path *to = &p->f->paths[p->f->nr_paths];
	int err;

	if (p->f->nr_paths == IOT_FILTER_PATHS_MAX)
		return iot_why(p->why, -EINVAL, "path: say %u paths at most", IOT_FILTER_PATHS_MAX);
	to->text = kstrdup(text, GFP_KERNEL);
	if (!to->text)
		return -ENOMEM;
	err = iot_below_add(&to->root, inode);
	if (err) {
		kfree(to->text);
		return iot_why(p->why, err,
			       "path: %u directories are traced or in filters, the most: remove one",
			       IOT_BELOW_MAX);
	}
	p->f->nr_paths++;
	return 0;
}

/* The path is looked up as the current task sees it. */
static int parse_path(struct parser *p, char *value)
{
	struct path path;
	int err;

	if (iot_path_unescape(value))
		return bad(p, "/", "a path has no \\000");
	if (*value != '/')
		return bad(p, value, "say a path that begins with /");
	err = iot_path_lookup(value, &path);
	if (err)
		return iot_why(p->why, err, "path=%.*s: %s", QUOTED, value, err == -ENOENT ?
			       "there is no such file or directory" : "it cannot be looked up");
	err = add_path(p, value, d_inode(path.dentry));
	path_put(&path);
	return err;
}

/* Add a value of flags.def by its name, with the prefix or without, or by its number. */
static int parse_named(const struct parser *p, const char *value, const char *group,
		       const char *prefix, const char *say, struct iot_numbers *to)
{
	u16 number;
	u32 named;

	if (iot_names_find_value(group, prefix, value, &named))
		return add_number(p, to, named);
	return kstrtou16(value, 10, &number) ? bad(p, value, say) : add_number(p, to, number);
}

static int parse_family(struct parser *p, char *value)
{
	return parse_named(p, value, "sockfamily", "AF_", IOT_SAY_FAMILY, &p->f->families);
}

static int parse_proto(struct parser *p, char *value)
{
	return parse_named(p, value, "ipproto", "IPPROTO_", IOT_SAY_PROTO, &p->f->protocols);
}

static bool read_address(struct in6_addr *ip, const char *text)
{
	__be32 v4;

	if (!in4_pton(text, -1, (u8 *)&v4, -1, NULL))
		return in6_pton(text, -1, ip->s6_addr, -1, NULL);
	ipv6_addr_set_v4mapped(v4, ip);
	return true;
}

/* Read the number of bits of an address that count. @text: NULL: all. */
static bool read_bits(struct iot_filter_addr *a, const char *text)
{
	unsigned int before = ipv6_addr_v4mapped(&a->ip) ? IOT_ADDRESS_V4 : 0;

	a->bits = IOT_ADDRESS_BITS - before;
	if (text && (kstrtouint(text, 10, &a->bits) || a->bits > IOT_ADDRESS_BITS - before))
		return false;
	a->bits += before;
	return a->bits < IOT_ADDRESS_BITS || !iot_address_is_none(&a->ip);
}

static int parse_addr(struct parser *p, char *value)
{
	struct iot_filter_addr *a = &p->f->addrs[p->f->nr_addrs];
	char *slash = strchr(value, '/');
	bool good;

	if (p->f->nr_addrs == IOT_FILTER_ADDRS_MAX)
		return iot_why(p->why, -EINVAL, "addr: say %u values at most",
			       IOT_FILTER_ADDRS_MAX);
	if (slash)
		*slash = '\0';
	good = read_address(&a->ip, value) && read_bits(a, slash ? slash + 1 : NULL);
	if (slash)
		*slash = '/';
	if (!good)
		return bad(p, value, IOT_SAY_ADDR);
	p->f->nr_addrs++;
	return 0;
}

/* rejected= is no condition: it adds events that are otherwise not traced. */
static int parse_rejected(const struct parser *p, char *value)
{
	return strcmp(value, "1") ? bad(p, value, "say 1, or leave it out") : 0;
}

/* Return: the key's IOT_FILTER_*, or an error. */
static int parse_value(struct parser *p, char *value)
{
	struct iot_filter *f = p->f;
	const char *key = p->key;

	if (!strcmp(key, "pid"))
		return parse_numbers(p, value, &f->pids, U32_MAX) ?: IOT_FILTER_PID;
	if (!strcmp(key, "tid"))
		return parse_numbers(p, value, &f->tids, U32_MAX) ?: IOT_FILTER_TID;
	if (!strcmp(key, "uid"))
		return parse_numbers(p, value, &f->uids, U32_MAX) ?: IOT_FILTER_UID;
	if (!strcmp(key, "tree"))
		return parse_tree(p, value) ?: IOT_FILTER_TREE;
	if (!strcmp(key, "cgroup"))
		return each(p, value, parse_cgroup) ?: IOT_FILTER_CGROUP;
	if (!strcmp(key, "inode"))
		return parse_numbers(p, value, &f->inodes, U64_MAX) ?: IOT_FILTER_INODE;
	if (!strcmp(key, "min_latency"))
		return parse_latency(p, value) ?: IOT_FILTER_LATENCY;
	if (!strcmp(key, "min_size"))
		return parse_size(p, value) ?: IOT_FILTER_SIZE;
	if (!strcmp(key, "comm"))
		return each(p, value, parse_comm) ?: IOT_FILTER_COMM;
	if (!strcmp(key, "dev"))
		return each(p, value, parse_dev) ?: IOT_FILTER_DEV;
	if (!strcmp(key, "path"))
		return each(p, value, parse_path) ?: IOT_FILTER_PATH;
	if (!strcmp(key, "family"))
		return each(p, value, parse_family) ?: IOT_FILTER_FAMILY;
	if (!strcmp(key, "proto"))
		return each(p, value, parse_proto) ?: IOT_FILTER_PROTO;
	if (!strcmp(key, "addr"))
		return each(p, value, parse_addr) ?: IOT_FILTER_ADDR;
	if (!strcmp(key, "port"))
		return parse_numbers(p, value, &f->ports, U16_MAX) ?: IOT_FILTER_PORT;
	if (!strcmp(key, "netns"))
		return parse_numbers(p, value, &f->netns, U32_MAX) ?: IOT_FILTER_NETNS;
	if (!strcmp(key, "rejected"))
		return parse_rejected(p, value) ?: IOT_FILTER_REJECTED;
	if (!strcmp(key, "kind"))
		return parse_kind(p, value) ?: IOT_FILTER_KIND;
	return parse_op(p, value) ?: IOT_FILTER_OP;
}

static bool is_key(const char *word)
{
	unsigned int n;

	for (n = 0; iot_names_key(n); n++)
		if (!strcmp(iot_names_key(n), word))
			return true;
	return false;
}

static int check_key(const struct parser *p)
{
	const char *why;

	if (!is_key(p->key))
		return iot_why(p->why, -EINVAL,
			       "%.*s: there is no such key; the nearest is %s", QUOTED, p->key,
			       nearest(p->key, key_name, 0));
	why = iot_names_without(p->of->event_id, p->key);
	if (why)
		return iot_why(p->why, -EINVAL, "%s has no meaning for %s: %s", p->key,
			       p->of->name, why);
	return 0;
}

/* Parse one condition "key=value". */
static int parse_condition(struct parser *p, char *word)
{
	char *value = strchr(word, '=');
	int used;

	if (!*word)
		return iot_why(p->why, -EINVAL,
			       "a condition is missing: say KEY=VALUE, or none; put one blank between two");
	if (!value)
		return iot_why(p->why, -EINVAL, "%.*s: say KEY=VALUE", QUOTED, word);
	*value++ = '\0';
	p->key = word;
	used = check_key(p) ?: parse_value(p, value);
	if (used < 0)
		return used;
	if (p->f->used & used & TAKES_ONE)
		return bad(p, value, "the key is given twice");
	if (p->f->used & used & ~(IOT_FILTER_OP | IOT_FILTER_KIND | IOT_FILTER_DEV |
				  IOT_FILTER_COMM))
		return iot_why(p->why, -EINVAL, "%s: the key is given twice: say %s=A,B", p->key,
			       p->key);
	p->f->used |= used;
	return 0;
}

static int parse_words(struct parser *p, char *text)
{
	char *word;
	int err;

	while ((word = strsep(&text, " "))) {
		err = parse_condition(p, word);
		if (err)
			return err;
	}
	return 0;
}

static int get_tree(const struct parser *p)
{
	struct iot_descendants *tree = iot_descendants_get(p->tree, p->why);

	if (IS_ERR(tree))
		return PTR_ERR(tree);
	p->f->tree = tree;
	return 0;
}

/**
 * iot_filter_parse() - make a filter from its text
 * @text:	"none", or conditions with one blank between them; modified
 * @of:		the category
 * @why:	where to report what is wrong
 *
 * Context: task. The look-up of a path may wait for a server that does not answer, until the task
 * is killed, so the caller holds no lock.
 * Return: the filter, or an error: -EINVAL (an invalid word, a value out of range, a key given
 * twice or without meaning for the category), -ESRCH (tree: no such process), -ENOENT (cgroup,
 * path: no such path) or another error of a look-up, -ENOSPC (path: IOT_BELOW_MAX), -ENOMEM.
 */
struct iot_filter *iot_filter_parse(char *text, const struct iot_filter_of *of,
				    struct iot_why *why)
{
	struct iot_filter *f = kzalloc(sizeof(*f), GFP_KERNEL);
	struct parser p = { .f = f, .of = of, .why = why };
	int err = 0;

	if (!f)
		return ERR_PTR(-ENOMEM);
	f->kinds = of->default_kinds;
	if (strcmp(text, "none"))
		err = parse_words(&p, text);
	if (!err && (f->used & IOT_FILTER_TREE))
		err = get_tree(&p);
	if (err) {
		iot_filter_free(f);
		return ERR_PTR(err);
	}
	if (f->nr_paths)
		iot_path_table_forget();
	return f;
}
