// SPDX-License-Identifier: GPL-2.0
/*
 * Category drop: packets of IP that the kernel drops, and TCP's resets and repeated segments.
 *
 *   kfree_skb			PACKET_DROP: a packet is freed that was not used. The kernel gives
 *				the reason and the place. Packets that were used are freed by
 *				consume_skb(), or have the reason SKB_CONSUMED: no event
 *   tcp_retransmit_skb		TCP_RETRANSMIT: segments are sent again. One event is one
 *				packet buffer, which may hold several segments
 *   tcp_retransmit_synack	TCP_RETRANSMIT: a SYN-ACK is sent again
 *   tcp_send_reset		RESET_SENT
 *   tcp_receive_reset		RESET_RECEIVED: a reset that ends a connection
 *   tcp_v4_send_reset, tcp_v6_send_reset	RESET_SENT for packets without a full socket, on
 *				kernels whose tracepoint has only the others. Hooked at the entry
 *
 * All are tracepoints, except for the last two. They fire in any context: in softirqs mostly, in
 * hard interrupts (a driver frees a packet), and in tasks. In an interrupt, or with softirqs off,
 * the current task is not the one that the packet belongs to. It is recorded only if it holds the
 * lock of the socket, which is certain if the socket is the one that the kernel's function works
 * on, not merely the one that a packet was sent by: see is_used_here(). User and cgroup are those
 * that the kernel keeps with the socket. While category conn is started, too, the process is the
 * owner that it knows of the socket (socket_owner.c).
 *
 * A packet may be freed anywhere on its way. skb->dev may be another thing than a device by then
 * (dev_scratch, the links of a red-black tree), so it is not used. skb->sk is used only together
 * with a destructor, which holds the socket. Headers are read with bounds, paged ones, too.
 *
 * Nothing here sleeps, and nothing is followed.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_DROP /* left_out.h */
#include <linux/hash.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kallsyms.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <linux/timekeeping.h>
#include <net/dst.h>
#include <net/inet_connection_sock.h>
#include <net/inet_sock.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/route.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "compat/net.h"
#include "core/task.h"
#include "file/originator.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/point.h"
#include "hook/symbol.h"
#include "record/event.h"
#include "probe/categories.h"
#include "probe/socket.h"
#include "probe/socket_owner.h"
#include "uapi/iotracer.h"

static struct iot_category * const category = &iot_category_drop;

#define NO_USER		UINT_MAX	/* no socket is known */
#define BY_PACKET	(IOT_FILTER_FAMILY | IOT_FILTER_PROTO | IOT_FILTER_ENDS)
#define EXTENSIONS_MAX	8		/* extension headers of IPv6 that are read */

/**
 * struct packet - what the headers of a packet say, or what a socket would put into them
 * @size:	bytes from the IP header on; of a socket 0
 */
struct packet {
	struct iot_address source;
	struct iot_address destination;
	u32 size;
	u8 protocol;
	u8 ip_version;
};

/**
 * struct event - what is about to be recorded
 * @who:	the task, as far as it is known, and the user and cgroup of the socket
 * @location:	an address in the function that dropped the packet, 0: none did
 */
struct event {
	struct packet packet;
	struct iot_originator who;
	u64 cookie;
	const char *reason;
	unsigned long location;
	u32 ppid;
	u32 netns;
	u32 interface;
	u16 op;
	u16 segments;
	u8 tcp_state;
	u8 trigger;
};

/* Does a packet meet the conditions on its headers, of which either end counts? */
static bool is_packet_wanted(const struct packet *p)
{
	u16 family = p->ip_version == 4 ? AF_INET : p->ip_version == 6 ? AF_INET6 : AF_UNSPEC;
	const struct iot_filter *f;

	if (likely(!(READ_ONCE(category->state) & BY_PACKET)))
		return true;
	f = rcu_dereference_sched(category->filter);
	return f && iot_filter_kind(f, family, p->protocol) &&
	       iot_filter_ends(f, &p->source, &p->destination);
}

static bool is_netns_wanted(u32 netns)
{
	const struct iot_filter *f;

	if (likely(!(READ_ONCE(category->state) & IOT_FILTER_NETNS)))
		return true;
	f = rcu_dereference_sched(category->filter);
	return f && iot_filter_netns(f, netns);
}

/*
 * Names of places in the kernel, by address. To find one takes microseconds, and few places drop
 * most packets.
 */
#define PLACE_BITS	4
#define PLACE_TEXT	sizeof_field(struct iot_drop, function)

struct place {
	unsigned long address;
	char text[PLACE_TEXT];
};

/**
 * struct places - those of a CPU
 * @busy:	in use: an interrupt that comes meanwhile leaves the table alone
 */
struct places {
	struct place at[1 << PLACE_BITS];
	bool busy;
};

static struct places __percpu *places; /* from the first start on */

/* Write function+offset, or nothing: an address without a name is never shown. */
static noinline void find_name(char *out, unsigned long address)
{
	char text[KSYM_SYMBOL_LEN];

	sprint_symbol(text, address);
	*strchrnul(text, '/') = '\0';
	strscpy_pad(out, strchr(text, '+') ? text : "", PLACE_TEXT);
}

/* Context: any, preemption off. The place of a module may be another function's one day. */
static void put_function(char *out, unsigned long address)
{
	struct places *known = this_cpu_ptr(places);
	struct place *p = &known->at[hash_long(address, PLACE_BITS)];

	if (READ_ONCE(known->busy) || !iot_symbol_is_kernels(address)) {
		find_name(out, address);
		return;
	}
	WRITE_ONCE(known->busy, true);
	barrier();
	if (p->address != address) {
		find_name(p->text, address);
		p->address = address;
	}
	memcpy(out, p->text, PLACE_TEXT);
	barrier();
	WRITE_ONCE(known->busy, false);
}

/*
 * Is it a fragment that is freed with the packet it belongs to? Before 6.4 the kernel does not say
 * then why the packet is freed, so it may have been used: skb_release_data(), net/core/skbuff.c. If
 * the packet is dropped, it has an event itself.
 */
static bool is_fragment(unsigned long location, unsigned int reason)
{
	static const char name[] = "skb_release_data+";
	char function[PLACE_TEXT];

	if (reason != SKB_DROP_REASON_NOT_SPECIFIED)
		return false;
	put_function(function, location);
	return !strncmp(function, name, sizeof(name) - 1);
}

static void fill_owner(struct iot_drop *r, const struct event *e)
{
	r->pid = e->who.pid;
	r->tid = e->who.tid;
	r->ppid = e->ppid;
	r->uid = e->who.uid;
	r->cgroup = e->who.cgroup;
	memcpy(r->comm, e->who.comm, sizeof(r->comm));
}

static void fill_packet(struct iot_drop *r, const struct packet *p)
{
	memcpy(r->source, &p->source.ip, sizeof(r->source));
	memcpy(r->destination, &p->destination.ip, sizeof(r->destination));
	r->size = p->size;
	r->source_port = p->source.port;
	r->destination_port = p->destination.port;
	r->protocol = p->protocol;
	r->ip_version = p->ip_version;
}

/* Context: any, preemption off. */
static void record(const struct event *e)
{
	struct iot_event_at at;
	struct iot_drop *r;

	if (!is_packet_wanted(&e->packet) || !is_netns_wanted(e->netns) ||
	    !iot_category_wants_originator(category, &e->who))
		return;
	if (unlikely(iot_category_asks_at_end(category, 0)) &&
	    iot_category_rejects_at_end(category, IOT_ANY_OP, 0, e->packet.size, false))
		return;
	r = iot_event_reserve(category, &at);
	if (!r)
		return;
	iot_event_fill(r, &at, category, e->op, ktime_get_mono_fast_ns(), 0);
	fill_owner(r, e);
	fill_packet(r, &e->packet);
	r->cookie = e->cookie;
	r->netns = e->netns;
	r->interface = e->interface;
	r->segments = e->segments;
	r->reserved = 0;
	r->tcp_state = e->tcp_state;
	r->trigger = e->trigger;
	strscpy_pad(r->reason, e->reason ?: "", sizeof(r->reason));
	if (e->location)
		put_function(r->function, e->location);
	else
		memset(r->function, 0, sizeof(r->function));
	iot_event_commit(category, &at);
}

/* Read the ports that begin a header, if the protocol has ports. @at: as in read_ipv4(). */
static void read_ports(const struct sk_buff *skb, int at, struct packet *p)
{
	const __be16 *ports;
	__be16 buffer[2];

	switch (p->protocol) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		break;
	default:
		return;
	}
	ports = skb_header_pointer(skb, at, sizeof(buffer), buffer);
	if (!ports)
		return;
	p->source.port = ntohs(ports[0]);
	p->destination.port = ntohs(ports[1]);
}

/*
 * Read a header of IPv4. @at: offset from skb->data, which may be below 0, but not before
 * skb->head. Only the first fragment has ports.
 */
static bool read_ipv4(const struct sk_buff *skb, int at, struct packet *p)
{
	const struct iphdr *ip;
	struct iphdr buffer;

	ip = skb_header_pointer(skb, at, sizeof(buffer), &buffer);
	if (!ip || ip->version != 4 || ip->ihl < 5)
		return false;
	ipv6_addr_set_v4mapped(ip->saddr, &p->source.ip);
	ipv6_addr_set_v4mapped(ip->daddr, &p->destination.ip);
	p->protocol = ip->protocol;
	p->ip_version = 4;
	if (!(ip->frag_off & htons(IP_OFFSET)))
		read_ports(skb, at + 4 * ip->ihl, p);
	return true;
}

static bool is_extension(u8 header)
{
	return header == NEXTHDR_HOP || header == NEXTHDR_ROUTING || header == NEXTHDR_DEST ||
	       header == NEXTHDR_AUTH || header == NEXTHDR_FRAGMENT;
}

/*
 * Find the protocol behind the extension headers of IPv6, and read its ports. A sender may chain
 * any number of headers: it ends at the last one that is read.
 */
static void read_extensions(const struct sk_buff *skb, int at, struct packet *p)
{
	const struct frag_hdr *header;	/* the longest of those that are read */
	struct frag_hdr buffer;
	unsigned int n;

	for (n = 0; is_extension(p->protocol); n++) {
		header = skb_header_pointer(skb, at, sizeof(buffer), &buffer);
		if (!header || n == EXTENSIONS_MAX)
			return;
		if (p->protocol == NEXTHDR_FRAGMENT && (header->frag_off & htons(IP6_OFFSET))) {
			p->protocol = header->nexthdr;
			return;
		}
		if (p->protocol == NEXTHDR_FRAGMENT)
			at += sizeof(*header);
		else if (p->protocol == NEXTHDR_AUTH)
			at += (header->reserved + 2) * 4; /* the byte of hdrlen */
		else
			at += (header->reserved + 1) * 8;
		p->protocol = header->nexthdr;
	}
	read_ports(skb, at, p);
}

static bool read_ipv6(const struct sk_buff *skb, int at, struct packet *p)
{
	const struct ipv6hdr *ip;
	struct ipv6hdr buffer;

	ip = skb_header_pointer(skb, at, sizeof(buffer), &buffer);
	if (!ip || ip->version != 6)
		return false;
	p->source.ip = ip->saddr;
	p->destination.ip = ip->daddr;
	p->protocol = ip->nexthdr;
	p->ip_version = 6;
	read_extensions(skb, at + sizeof(*ip), p);
	return true;
}

/* Is it a packet of IP, by what the link layer or the sender says? */
static __always_inline bool is_ip(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) || skb->protocol == htons(ETH_P_IPV6);
}

/*
 * Read the headers of a packet, @p being zeroed. Before the kernel notes where the network header
 * is, the packet's data begins with it. Context: any. Return: false if it has no header of IP.
 */
static bool read_packet(const struct sk_buff *skb, struct packet *p)
{
	int at = skb->network_header ? skb_network_offset(skb) : 0;

	if (skb->protocol == htons(ETH_P_IP) ? !read_ipv4(skb, at, p) : !read_ipv6(skb, at, p))
		return false;
	p->size = skb->len - at;
	return true;
}

/* What a packet from this socket of TCP has in its headers, also if it has lost its port. */
static void ends_of(const struct sock *sk, struct packet *p)
{
	p->protocol = IPPROTO_TCP;
	p->ip_version = 4;
	p->source.port = ntohs(inet_sk(sk)->inet_sport);
	p->destination.port = ntohs(sk->sk_dport);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		p->source.ip = sk->sk_v6_rcv_saddr;
		p->destination.ip = sk->sk_v6_daddr;
		p->ip_version = ipv6_addr_v4mapped(&p->destination.ip) ? 4 : 6;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &p->source.ip);
	ipv6_addr_set_v4mapped(sk->sk_daddr, &p->destination.ip);
}

static void ends_of_request(const struct inet_request_sock *request, struct packet *p)
{
	p->protocol = IPPROTO_TCP;
	p->ip_version = 4;
	p->source.port = request->ir_num;
	p->destination.port = ntohs(request->ir_rmt_port);
#if IS_ENABLED(CONFIG_IPV6)
	if (request->ireq_family == AF_INET6) {
		p->source.ip = request->ir_v6_loc_addr;
		p->destination.ip = request->ir_v6_rmt_addr;
		p->ip_version = ipv6_addr_v4mapped(&p->destination.ip) ? 4 : 6;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(request->ir_loc_addr, &p->source.ip);
	ipv6_addr_set_v4mapped(request->ir_rmt_addr, &p->destination.ip);
}

static void turn_round(struct packet *p)
{
	swap(p->source, p->destination);
}

/*
 * Does the current task hold the lock of a full socket? In a task with softirqs on, the kernel
 * works on a socket of TCP only with its lock, so a lock that is taken is the task's own. Kernel
 * threads work for others.
 */
static bool is_used_here(const struct sock *sk)
{
	return in_task() && !softirq_count() && !(current->flags & PF_KTHREAD) &&
	       sock_owned_by_user_nocheck(sk);
}

static void note_task(struct event *e)
{
	e->who.pid = current->tgid;
	e->who.tid = current->pid;
	e->ppid = rcu_dereference_sched(current->real_parent)->tgid;
	memcpy(e->who.comm, current->comm, sizeof(e->who.comm));
}

/* Note the owner of a full socket, as far as it is known. */
static void note_owner(struct event *e, const struct sock *sk)
{
	struct iot_socket_owner owner;

	iot_socket_owner_of(sk, &owner);
	iot_socket_owner_who(&owner, &e->who);
	e->ppid = owner.ppid;
}

/*
 * Note what is known of a socket. It may be a request for a connection, or one that waits for its
 * end (TIME_WAIT), which have less. It may have been released by now: its memory stays for a grace
 * period of RCU, and preemption is off.
 */
static void note_socket(struct event *e, const struct sock *sk)
{
	e->netns = iot_socket_netns(sk);
	e->cookie = atomic64_read(&sk->sk_cookie);
	if (!sk_fullsock(sk)) {
		e->tcp_state = sk->sk_state;
		return;
	}
	note_owner(e, sk);
	if (sk->sk_protocol == IPPROTO_TCP &&
	    (sk->sk_family == AF_INET || sk->sk_family == AF_INET6))
		e->tcp_state = READ_ONCE(sk->sk_state);
}

/* Note the socket that the kernel's function works on, and the task if that uses it. */
static void note_user(struct event *e, const struct sock *sk)
{
	note_socket(e, sk);
	if (sk_fullsock(sk) && is_used_here(sk))
		note_task(e);
}

/*
 * The network namespace by the packet's route, if it has one that is not dead. A packet that has
 * not been routed yet has none.
 */
static u32 netns_of(const struct sk_buff *skb)
{
	const struct dst_entry *dst = (const void *)(skb->_skb_refdst & SKB_DST_PTRMASK);
	const struct net_device *dev;

	if (!dst || (dst->flags & DST_METADATA))
		return 0;
	dev = READ_ONCE(dst->dev);
	return dev && dev != blackhole_netdev ? dev_net(dev)->ns.inum : 0;
}

/* The probes. */
static noinline void packet_dropped(const struct sk_buff *skb, unsigned long location,
				    unsigned int reason, const struct sock *receiver)
{
	IOT_POINT_ENTER();
	struct event e = { .op = IOT_DROP_PACKET_DROP, .who.uid = NO_USER };
	const struct sock *sender = skb->destructor ? skb->sk : NULL;

	if (!iot_category_wants_op(category, IOT_DROP_PACKET_DROP) ||
	    !read_packet(skb, &e.packet) || !is_packet_wanted(&e.packet) ||
	    is_fragment(location, reason))
		return;
	if (receiver)
		note_user(&e, receiver);
	else if (sender)
		note_socket(&e, sender);
	else
		e.netns = netns_of(skb);
	e.interface = skb->skb_iif;
	e.segments = skb_shinfo(skb)->gso_segs ?: 1;
	e.reason = iot_drop_reason_name(reason);
	e.location = location;
	record(&e);
}

static __always_inline void dropped(const struct sk_buff *skb, unsigned long location,
				    unsigned int reason, const struct sock *receiver)
{
	if (is_ip(skb) && !iot_skb_is_consumed(reason))
		packet_dropped(skb, location, reason, receiver);
}

/*
 * Why segments are sent again. When the timer of the retransmission runs out, the kernel marks it
 * as not pending, and what is in flight as lost (tcp_enter_loss()).
 */
static u8 trigger_of(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u8 pending = READ_ONCE(icsk->icsk_pending);

	switch (icsk->icsk_ca_state) {
	case TCP_CA_Loss:
		return pending ? IOT_RESEND_LOSS : IOT_RESEND_RTO;
	case TCP_CA_Recovery:
		return IOT_RESEND_FAST;
	}
	return pending == ICSK_TIME_LOSS_PROBE ? IOT_RESEND_TLP : IOT_RESEND_OTHER;
}

static void resent(const struct sock *sk, const struct sk_buff *skb)
{
	IOT_POINT_ENTER();
	struct event e = { .op = IOT_DROP_TCP_RETRANSMIT, .who.uid = NO_USER };

	if (!iot_category_wants_op(category, IOT_DROP_TCP_RETRANSMIT))
		return;
	ends_of(sk, &e.packet);
	note_user(&e, sk);
	e.packet.size = skb->len;
	e.segments = tcp_skb_pcount(skb);
	e.trigger = trigger_of(sk);
	record(&e);
}

static void synack_resent(void *data, const struct sock *sk, const struct request_sock *request)
{
	IOT_POINT_ENTER();
	struct event e = { .op = IOT_DROP_TCP_RETRANSMIT, .who.uid = NO_USER };

	if (!iot_category_wants_op(category, IOT_DROP_TCP_RETRANSMIT))
		return;
	ends_of_request(inet_rsk(request), &e.packet);
	note_socket(&e, sk);
	e.tcp_state = TCP_NEW_SYN_RECV;
	e.segments = 1;
	e.trigger = IOT_RESEND_SYNACK;
	record(&e);
}

/* A packet that is answered is turned round. A socket that listens does not know the other end. */
static void reset_sent(const struct sock *sk, const struct sk_buff *skb, unsigned int reason)
{
	IOT_POINT_ENTER();
	struct event e = { .op = IOT_DROP_RESET_SENT, .who.uid = NO_USER };

	if (!iot_category_wants_op(category, IOT_DROP_RESET_SENT))
		return;
	if (skb && is_ip(skb) && read_packet(skb, &e.packet))
		turn_round(&e.packet);
	else if (sk && sk_fullsock(sk))
		ends_of(sk, &e.packet);
	e.packet.size = 0;
	if (sk)
		note_user(&e, sk);
	else if (skb)
		e.netns = netns_of(skb);
	e.reason = iot_reset_reason_name(reason);
	record(&e);
}

static void reset_received(void *data, struct sock *sk)
{
	IOT_POINT_ENTER();
	struct event e = { .op = IOT_DROP_RESET_RECEIVED, .who.uid = NO_USER };

	if (!iot_category_wants_op(category, IOT_DROP_RESET_RECEIVED))
		return;
	ends_of(sk, &e.packet);
	turn_round(&e.packet);
	note_user(&e, sk);
	record(&e);
}

iot_net_dropped(skb_dropped, dropped)
iot_net_resent(segments_resent, resent)
iot_net_reset_sent(reset_is_sent, reset_sent)

static struct iot_point points[] = {
	{ .name = "kfree_skb", .probe = skb_dropped },
	{ .name = "tcp_retransmit_skb", .probe = segments_resent },
	{ .name = "tcp_retransmit_synack", .probe = synack_resent },
	{ .name = "tcp_send_reset", .probe = reset_is_sent },
	{ .name = "tcp_receive_reset", .probe = reset_received },
};

static void check_types(void)
{
	check_trace_callback_type_kfree_skb(skb_dropped);
	check_trace_callback_type_tcp_retransmit_skb(segments_resent);
	check_trace_callback_type_tcp_retransmit_synack(synack_resent);
	check_trace_callback_type_tcp_send_reset(reset_is_sent);
	check_trace_callback_type_tcp_receive_reset(reset_received);
}

/* The functions that answer a packet by a reset, for those that the tracepoint does not have. */
enum tag { TAG_IPV4, TAG_IPV6 };

#define RESET_PROTO	"_ (struct sock *, struct sk_buff *)"

static struct iot_site sites[] = {
	{ .symbol = "tcp_v4_send_reset", .what = "RESET_SENT", .tag = TAG_IPV4,
	  .proto = RESET_PROTO },
	{ .symbol = "tcp_v6_send_reset", .what = "RESET_SENT", .tag = TAG_IPV6,
	  .proto = RESET_PROTO },
};

/*
 * Does the kernel answer this packet? It does not answer resets, nor what is not for this machine.
 * Packets with a wrong MD5 signature are not answered either, which is not checked here.
 */
static bool is_answered(enum tag tag, const struct sock *sk, const struct sk_buff *skb)
{
	if (tcp_hdr(skb)->rst)
		return false;
	if (sk)
		return true;
	if (tag == TAG_IPV4)
		return skb_rtable(skb)->rt_type == RTN_LOCAL;
	return ipv6_unicast_destination(skb);
}

/* Context: softirq, or a task that works off what came for its socket. */
static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	const struct sock *sk = (const void *)args[0];
	const struct sk_buff *skb = (const void *)args[1];

	if (!(sk && sk_fullsock(sk)) && is_answered(site->tag, sk, skb))
		reset_sent(sk, skb, 0);
	return IOT_HOOK_IGNORE;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long args[2];

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	wants(iot_site_of(ri), args, 0);
	return 1;
}

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.entry = entry,
};

static int start(void)
{
	check_types();
	if (!places)
		places = alloc_percpu(struct places);
	if (!places)
		return -ENOMEM;
	return IOT_RESET_POINT_HAS_ALL ? iot_points_get(points, ARRAY_SIZE(points)) :
	       iot_hook_set_start(&set, points, ARRAY_SIZE(points));
}

static void stop(void)
{
	if (IOT_RESET_POINT_HAS_ALL)
		iot_points_put(points, ARRAY_SIZE(points));
	else
		iot_hook_set_stop(&set, points, ARRAY_SIZE(points));
}

static unsigned long missed(void)
{
	return IOT_RESET_POINT_HAS_ALL ? 0 : iot_hook_set_missed(&set);
}

static void release(void)
{
	free_percpu(places);
}

const struct iot_category_ops iot_drop_ops = {
	.start = start,
	.stop = stop,
	.missed = missed,
	.release = release,
};

#endif /* IOT_WITHOUT_DROP */
