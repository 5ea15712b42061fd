// SPDX-License-Identifier: GPL-2.0
/* Which events of a category are wanted: conditions, all of which must hold. */
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/kdev_t.h>
#include "filter.h"
#include "names.h"
#include "path.h"
#include "uapi/iotracer.h"

static const char * const kind_names[] = {
	[IOT_KIND_NONE] = "none",
	[IOT_KIND_FILE] = "file",
	[IOT_KIND_DIR] = "dir",
	[IOT_KIND_SYMLINK] = "symlink",
	[IOT_KIND_PIPE] = "pipe",
	[IOT_KIND_SOCKET] = "socket",
	[IOT_KIND_DEVICE] = "device",
	[IOT_KIND_PSEUDO] = "pseudo",
	[IOT_KIND_OTHER] = "other",
};

#define ALL_KINDS	(BIT(ARRAY_SIZE(kind_names)) - 1)

/* The @n-th name of a list; NULL behind the last. */
typedef const char *(*name_fn)(unsigned int event, unsigned int n);

static const char *op_name(unsigned int event, unsigned int op)
{
	const struct iot_op *known = iot_names_op(event, op);

	return known ? known->name : NULL;
}

static const char *kind_name(unsigned int event, unsigned int kind)
{
	return kind < ARRAY_SIZE(kind_names) ? kind_names[kind] ?: "" : NULL;
}

/*
 * Call @set for each name of a list a,b,c with its number.
 * Return: 0 or -EINVAL: a name that is none.
 */
static int parse_list(struct iot_filter *f, char *value, name_fn name, unsigned int event,
		      void (*set)(struct iot_filter *f, unsigned int n))
{
	char *word;

	while ((word = strsep(&value, ","))) {
		unsigned int n = 0;

		while (name(event, n) && strcmp(name(event, n), word))
			n++;
		if (!*word || !name(event, n))
			return -EINVAL;
		set(f, n);
	}
	return 0;
}

static void set_op(struct iot_filter *f, unsigned int op)
{
	set_bit(op, f->ops);
}

static void set_kind(struct iot_filter *f, unsigned int kind)
{
	f->kinds |= BIT(kind);
}

static int parse_kind(struct iot_filter *f, char *value)
{
	f->kinds = 0;
	if (!strcmp(value, "all"))
		f->kinds = ALL_KINDS;
	else
		return parse_list(f, value, kind_name, 0, set_kind);
	return 0;
}

static int parse_comm(struct iot_filter *f, char *value)
{
	int err = iot_path_unescape(value);

	if (err)
		return err;
	if (!*value || strlen(value) >= sizeof(f->comm))
		return -EINVAL;
	strscpy_pad(f->comm, value, sizeof(f->comm));
	return 0;
}

static int parse_dev(struct iot_filter *f, char *value)
{
	char *minor = strchr(value, ':');
	u32 major, number;

	if (!minor)
		return -EINVAL;
	*minor++ = '\0';
	if (kstrtou32(value, 10, &major) || kstrtou32(minor, 10, &number) ||
	    major >= BIT(12) || number >= BIT(20))
		return -EINVAL;
	f->dev = MKDEV(major, number);
	return 0;
}

static int parse_rejected(const char *value)
{
	return strcmp(value, "1") ? -EINVAL : 0;
}

/* One condition "key=value". Return: its IOT_FILTER_* or an error. */
static int parse_condition(struct iot_filter *f, const char *key, char *value,
			   unsigned int event)
{
	if (!strcmp(key, "pid"))
		return kstrtou32(value, 10, &f->pid) ?: IOT_FILTER_PID;
	if (!strcmp(key, "tid"))
		return kstrtou32(value, 10, &f->tid) ?: IOT_FILTER_TID;
	if (!strcmp(key, "uid"))
		return kstrtou32(value, 10, &f->uid) ?: IOT_FILTER_UID;
	if (!strcmp(key, "tree"))
		return kstrtou32(value, 10, &f->tree) ?: IOT_FILTER_TREE;
	if (!strcmp(key, "cgroup"))
		return kstrtou64(value, 10, &f->cgroup) ?: IOT_FILTER_CGROUP;
	if (!strcmp(key, "inode"))
		return kstrtou64(value, 10, &f->inode) ?: IOT_FILTER_INODE;
	if (!strcmp(key, "min_latency"))
		return kstrtou64(value, 10, &f->min_latency) ?: IOT_FILTER_LATENCY;
	if (!strcmp(key, "min_size"))
		return kstrtou64(value, 10, &f->min_size) ?: IOT_FILTER_SIZE;
	if (!strcmp(key, "comm"))
		return parse_comm(f, value) ?: IOT_FILTER_COMM;
	if (!strcmp(key, "dev"))
		return parse_dev(f, value) ?: IOT_FILTER_DEV;
	if (!strcmp(key, "kind") && f->kinds)
		return parse_kind(f, value) ?: IOT_FILTER_KIND;
	if (!strcmp(key, "rejected") && event == IOT_EVENT_ID_fs)
		return parse_rejected(value) ?: IOT_FILTER_REJECTED;
	if (!strcmp(key, "op"))
		return parse_list(f, value, op_name, event, set_op) ?: IOT_FILTER_OP;
	return -EINVAL;
}

static int parse_words(struct iot_filter *f, char *text, unsigned int event)
{
	char *word;

	if (!*text)
		return -EINVAL;
	while ((word = strsep(&text, " "))) {
		char *value = strchr(word, '=');
		int used;

		if (!value)
			return -EINVAL;
		*value++ = '\0';
		used = parse_condition(f, word, value, event);
		if (used < 0)
			return used == -ERANGE ? -EINVAL : used;
		if (f->used & used)
			return -EINVAL; /* given twice */
		f->used |= used;
	}
	return 0;
}

/**
 * iot_filter_parse() - make a filter
 * @text:	"none" or conditions with one space between them; is changed
 * @event:	id of the category's records, whose operations it names
 * @kinds:	that are wanted if @text does not say
 * @old:	the filter whose place it is to take, or NULL
 *
 * Return: it, or an error: -EINVAL (a word that is none, a value out of range, a
 * key given twice), -EBUSY (tree: another process is followed), -ENOMEM.
 */
struct iot_filter *iot_filter_parse(char *text, unsigned int event, u32 kinds,
				    const struct iot_filter *old)
{
	struct iot_filter *f = kzalloc(sizeof(*f), GFP_KERNEL);
	int err = 0;

	if (!f)
		return ERR_PTR(-ENOMEM);
	f->kinds = kinds;
	if (strcmp(text, "none"))
		err = parse_words(f, text, event);
	if (!err && (f->used & IOT_FILTER_TREE))
		err = iot_tree_get(f->tree, old && (old->used & IOT_FILTER_TREE));
	if (err) {
		kfree(f);
		return ERR_PTR(err);
	}
	return f;
}

/** iot_filter_free() - no probe uses it any more; may be NULL */
void iot_filter_free(struct iot_filter *f)
{
	if (!f)
		return;
	if (f->used & IOT_FILTER_TREE)
		iot_tree_put(f->tree);
	kfree(f);
}

/**
 * iot_filter_rare() - the conditions of iot_filter_task() that cost more
 *
 * Context: any.
 */
bool iot_filter_rare(const struct iot_filter *f)
{
	if ((f->used & IOT_FILTER_COMM) &&
	    strncmp(f->comm, current->comm, sizeof(f->comm)))
		return false;
	if ((f->used & IOT_FILTER_UID) &&
	    f->uid != from_kuid(&init_user_ns, current_euid()))
		return false;
#ifdef CONFIG_CGROUPS
	if ((f->used & IOT_FILTER_CGROUP) &&
	    f->cgroup != cgroup_id(task_dfl_cgroup(current)))
		return false;
#endif
	return true;
}

static void show_list(struct seq_file *m, const char *key, const unsigned long *bits,
		      name_fn name, unsigned int event)
{
	const char *before = "";
	unsigned int n;

	seq_printf(m, " %s=", key);
	for (n = 0; name(event, n); n++) {
		if (!test_bit(n, bits) || !*name(event, n))
			continue;
		seq_printf(m, "%s%s", before, name(event, n));
		before = ",";
	}
}

static void show_kinds(struct seq_file *m, const struct iot_filter *f)
{
	unsigned long kinds = f->kinds;

	if (f->kinds == ALL_KINDS)
		seq_puts(m, " kind=all");
	else
		show_list(m, "kind", &kinds, kind_name, 0);
}

/** iot_filter_show() - print as iot_filter_parse() takes it */
void iot_filter_show(struct seq_file *m, const struct iot_filter *f,
		     unsigned int event)
{
	if (!f->used)
		seq_puts(m, " none");
	if (f->used & IOT_FILTER_PID)
		seq_printf(m, " pid=%u", f->pid);
	if (f->used & IOT_FILTER_TID)
		seq_printf(m, " tid=%u", f->tid);
	if (f->used & IOT_FILTER_COMM) {
		seq_puts(m, " comm=");
		iot_path_escape(m, f->comm);
	}
	if (f->used & IOT_FILTER_UID)
		seq_printf(m, " uid=%u", f->uid);
	if (f->used & IOT_FILTER_CGROUP)
		seq_printf(m, " cgroup=%llu", f->cgroup);
	if (f->used & IOT_FILTER_TREE)
		seq_printf(m, " tree=%u", f->tree);
	if (f->used & IOT_FILTER_DEV)
		seq_printf(m, " dev=%u:%u", MAJOR(f->dev), MINOR(f->dev));
	if (f->used & IOT_FILTER_INODE)
		seq_printf(m, " inode=%llu", f->inode);
	if (f->used & IOT_FILTER_OP)
		show_list(m, "op", f->ops, op_name, event);
	if (f->used & IOT_FILTER_KIND)
		show_kinds(m, f);
	if (f->used & IOT_FILTER_LATENCY)
		seq_printf(m, " min_latency=%llu", f->min_latency);
	if (f->used & IOT_FILTER_SIZE)
		seq_printf(m, " min_size=%llu", f->min_size);
	if (f->used & IOT_FILTER_REJECTED)
		seq_puts(m, " rejected=1");
}
