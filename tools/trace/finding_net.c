// SPDX-License-Identifier: GPL-2.0
/* Rules about the categories net and drop, by connection. */
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "trace/finding.h"
#include "uapi/iotracer.h"

#define SENDS_LEAST	1000	/* sends: with 5 us each, 5 ms */
#define HALF		50	/* percent */
#define SMALL		256	/* bytes: the headers of a packet are a fifth of it, or more */
#define RESENT_LEAST	100	/* events: some are lost on any way */

struct connection {
	struct finding_subject subject;
	struct finding_tally sends, small;
	bool sent;		/* the last event was a send */
};

static void add_net(struct finding_events *e, const void *record, const struct measure *m)
{
	const struct iot_net *n = record;
	const struct { const void *source; __u64 cookie; } key = { e->source, n->cookie };
	struct connection *c;

	if (n->type != SOCK_STREAM || n->protocol != IPPROTO_TCP || !n->cookie || m->error)
		return;
	c = finding_find(e, 0, &key, sizeof(key), m, n->pid, n->comm);
	finding_name(e, &c->subject, record);
	if (n->op == IOT_NET_SEND) {
		finding_count(&c->sends, m);
		if (c->sent && m->bytes < SMALL && !(n->flags & MSG_MORE))
			finding_count(&c->small, m);
	}
	c->sent = n->op == IOT_NET_SEND;
}

static bool small_sends(const void *subject, const struct finding_context *context,
			struct finding_row *row)
{
	const struct connection *c = subject;

	(void)context;
	return finding_is_most(row, &c->small, c->sends.count, SENDS_LEAST, HALF);
}

static const struct finding_rule net_rules[] = {
	{ "small-sends", 0, FINDING_NOTICE, "connection", "sends",
	  "moved less than 256 bytes, followed another send, and had no MSG_MORE",
	  "Gather them in a buffer or one writev(2), or use MSG_MORE or TCP_CORK. Without TCP_NODELAY each such send may wait for the ACK of the one before.",
	  .look = small_sends, .needs_all = true },
};

const struct finding_watch finding_net = {
	.category = "net", .key = "connection", .sizes = { sizeof(struct connection) },
	.add = add_net, .rules = net_rules, .nr_rules = sizeof(net_rules) / sizeof(net_rules[0]),
};

/* --- drop ----------------------------------------------------------------------- */

struct way {
	struct finding_subject subject;
	struct finding_tally resent;
	__u64 timeouts;		/* of them by the timer */
};

static void add_drop(struct finding_events *e, const void *record, const struct measure *m)
{
	const struct iot_drop *d = record;
	struct way *w;

	if (d->op != IOT_DROP_TCP_RETRANSMIT)
		return;
	w = finding_find_text(e, 0, record, m, d->pid, d->comm);
	finding_count(&w->resent, m);
	if (d->trigger == IOT_RESEND_RTO)
		w->timeouts += m->weight;
}

static bool retransmits(const void *subject, const struct finding_context *c,
			struct finding_row *row)
{
	const struct way *w = subject;

	(void)c;
	snprintf(row->note, sizeof(row->note), "%llu by the timer: no ACK came in time",
		 (unsigned long long)w->timeouts);
	return finding_is_most(row, &w->resent, w->resent.count, RESENT_LEAST, 0);
}

static const struct finding_rule drop_rules[] = {
	{ "retransmits", 0, FINDING_WARNING, "connection", "retransmissions", "repeated segments of TCP",
	  "Packets are lost, or ACKs are late. Look at the links' errors (ip -s link) and at queues that are full (tc -s qdisc), on both ends.",
	  .look = retransmits },
};

const struct finding_watch finding_drop = {
	.category = "drop", .key = "connection", .sizes = { sizeof(struct way) },
	.add = add_drop, .rules = drop_rules, .nr_rules = sizeof(drop_rules) / sizeof(drop_rules[0]),
};
