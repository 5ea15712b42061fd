// SPDX-License-Identifier: GPL-2.0
/* Decides whether an event of a category is wanted: it must meet all conditions of the filter. */
#include <linux/cgroup.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/kdev_t.h>
#include <net/ipv6.h>
#include "core/escape.h"
#include "core/names.h"
#include "file/originator.h"
#include "record/filter.h"

/** iot_filter_free() - free a filter that no probe uses any more, or NULL. Context: task, sleeps */
void iot_filter_free(struct iot_filter *f)
{
	u32 i;

	if (!f)
		return;
	for (i = 0; i < f->nr_paths; i++) {
		iot_below_remove(&f->paths[i].root);
		kfree(f->paths[i].text);
	}
	if (f->tree)
		iot_descendants_put(f->tree);
	kfree(f);
}

/** iot_numbers_search() - do iot_numbers_have() for the numbers after the first */
bool iot_numbers_search(const struct iot_numbers *numbers, u64 number)
{
	u32 i;

	for (i = 1; i < numbers->nr; i++)
		if (numbers->at[i] == number)
			return true;
	return false;
}

/* Is a thread's name among those of the condition comm=? */
static bool has_comm(const struct iot_filter *f, const char *comm)
{
	u64 words[IOT_FILTER_COMM_WORDS];
	unsigned int i;

	static_assert(sizeof(words) == 2 * sizeof(u64));
	memcpy(words, comm, sizeof(words));
	for (i = 0; i < f->nr_comms; i++)
		if (f->comms[i][0] == words[0] && f->comms[i][1] == words[1])
			return true;
	return false;
}

/**
 * iot_filter_rare() - check the more expensive conditions of iot_filter_task()
 *
 * Context: any.
 */
bool iot_filter_rare(const struct iot_filter *f)
{
	if ((f->used & IOT_FILTER_COMM) && !has_comm(f, current->comm))
		return false;
	if ((f->used & IOT_FILTER_UID) &&
	    !iot_numbers_have(&f->uids, from_kuid(&init_user_ns, current_euid())))
		return false;
#ifdef CONFIG_CGROUPS
	if ((f->used & IOT_FILTER_CGROUP) &&
	    !iot_numbers_have(&f->cgroups, cgroup_id(task_dfl_cgroup(current))))
		return false;
#endif
	return true;
}

/**
 * iot_filter_origin() - check whether the originator met the conditions on tasks
 * @who:	the originator, as it was when it changed or read the page
 *
 * Context: any.
 */
bool iot_filter_origin(const struct iot_filter *f, const struct iot_originator *who)
{
	if ((f->used & IOT_FILTER_PID) && !iot_numbers_have(&f->pids, who->pid))
		return false;
	if ((f->used & IOT_FILTER_TID) && !iot_numbers_have(&f->tids, who->tid))
		return false;
	if ((f->used & IOT_FILTER_TREE) && !iot_descendants_has(f->tree, who->pid))
		return false;
	if ((f->used & IOT_FILTER_UID) && !iot_numbers_have(&f->uids, who->uid))
		return false;
	if ((f->used & IOT_FILTER_CGROUP) && !iot_numbers_have(&f->cgroups, who->cgroup))
		return false;
	return !(f->used & IOT_FILTER_COMM) || has_comm(f, who->comm);
}

/** iot_filter_addr() - is an address among those of the condition addr=? Context: any */
bool iot_filter_addr(const struct iot_filter *f, const struct in6_addr *ip)
{
	bool v4 = ipv6_addr_v4mapped(ip);
	u32 i;

	if (iot_address_is_none(ip))
		return false;
	for (i = 0; i < f->nr_addrs; i++)
		if (v4 == ipv6_addr_v4mapped(&f->addrs[i].ip) &&
		    ipv6_prefix_equal(&f->addrs[i].ip, ip, f->addrs[i].bits))
			return true;
	return false;
}

/** iot_filter_ends() - does either end meet the conditions on addresses and ports? Context: any */
bool iot_filter_ends(const struct iot_filter *f, const struct iot_address *one,
		     const struct iot_address *other)
{
	if ((f->used & IOT_FILTER_PORT) && !iot_filter_port(f, one->port) &&
	    !iot_filter_port(f, other->port))
		return false;
	return !(f->used & IOT_FILTER_ADDR) || iot_filter_addr(f, &one->ip) ||
	       iot_filter_addr(f, &other->ip);
}

static void show_list(struct seq_file *m, const char *key, const unsigned long *bits,
		      const char *(*name)(unsigned int event, unsigned int n),
		      unsigned int event)
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

static const char *kind_name(unsigned int event, unsigned int n)
{
	return iot_names_kind(n);
}

static void show_kinds(struct seq_file *m, const struct iot_filter *f)
{
	unsigned long kinds = f->kinds;

	if (f->kinds == IOT_KIND_ALL)
		seq_puts(m, " kind=all");
	else
		show_list(m, "kind", &kinds, kind_name, 0);
}

/* A comma in a name is escaped, as it separates names. */
static void show_comms(struct seq_file *m, const struct iot_filter *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_comms; i++) {
		seq_puts(m, i ? "," : " comm=");
		iot_escape(m, (const char *)f->comms[i], sizeof(f->comms[i]), " ,");
	}
}

static void show_numbers(struct seq_file *m, const char *key, const struct iot_numbers *numbers)
{
	u32 i;

	for (i = 0; i < numbers->nr; i++)
		seq_printf(m, "%s%llu", i ? "," : key, numbers->at[i]);
}

static void show_paths(struct seq_file *m, const struct iot_filter *f)
{
	u32 i;

	for (i = 0; i < f->nr_paths; i++) {
		seq_puts(m, i ? "," : " path=");
		iot_escape(m, f->paths[i].text, strlen(f->paths[i].text), " ,");
	}
}

/* By name where flags.def has one. */
static void show_named(struct seq_file *m, const char *key, const char *group,
		       const struct iot_numbers *numbers)
{
	u32 i;

	for (i = 0; i < numbers->nr; i++) {
		const char *name = iot_names_value(group, numbers->at[i]);

		seq_puts(m, i ? "," : key);
		if (name)
			seq_puts(m, name);
		else
			seq_printf(m, "%llu", numbers->at[i]);
	}
}

static void show_addrs(struct seq_file *m, const struct iot_filter *f)
{
	u32 i;

	for (i = 0; i < f->nr_addrs; i++) {
		const struct iot_filter_addr *a = &f->addrs[i];
		bool v4 = ipv6_addr_v4mapped(&a->ip);

		seq_puts(m, i ? "," : " addr=");
		if (v4)
			seq_printf(m, "%pI4", &a->ip.s6_addr32[3]);
		else
			seq_printf(m, "%pI6c", &a->ip);
		if (a->bits < IOT_ADDRESS_BITS)
			seq_printf(m, "/%u", v4 ? a->bits - IOT_ADDRESS_V4 : a->bits);
	}
}

static void show_devs(struct seq_file *m, const struct iot_filter *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_devs; i++)
		seq_printf(m, "%s%u:%u", i ? "," : " dev=", MAJOR(f->devs[i]), MINOR(f->devs[i]));
}

/** iot_filter_show() - print a filter as iot_filter_parse() takes it */
void iot_filter_show(struct seq_file *m, const struct iot_filter *f,
		     unsigned int event)
{
	if (!f->used)
		seq_puts(m, " none");
	show_numbers(m, " pid=", &f->pids);
	show_numbers(m, " tid=", &f->tids);
	if (f->used & IOT_FILTER_COMM)
		show_comms(m, f);
	show_numbers(m, " uid=", &f->uids);
	show_numbers(m, " cgroup=", &f->cgroups);
	if (f->used & IOT_FILTER_TREE)
		seq_printf(m, " tree=%u", f->tree->number);
	if (f->used & IOT_FILTER_DEV)
		show_devs(m, f);
	show_numbers(m, " inode=", &f->inodes);
	if (f->used & IOT_FILTER_OP)
		show_list(m, "op", f->ops, iot_names_op_name, event);
	if (f->used & IOT_FILTER_KIND)
		show_kinds(m, f);
	show_paths(m, f);
	show_named(m, " family=", "sockfamily", &f->families);
	show_named(m, " proto=", "ipproto", &f->protocols);
	show_addrs(m, f);
	show_numbers(m, " port=", &f->ports);
	show_numbers(m, " netns=", &f->netns);
	if (f->used & IOT_FILTER_LATENCY)
		seq_printf(m, " min_latency=%llu", f->min_latency);
	if (f->used & IOT_FILTER_SIZE)
		seq_printf(m, " min_size=%llu", f->min_size);
	if (f->used & IOT_FILTER_REJECTED)
		seq_puts(m, " rejected=1");
}
