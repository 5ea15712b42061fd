// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "core/names.h"
#include "trace/measure.h"
#include "trace/record.h"
#include "uapi/iotracer.h"

#define PAGE	4096	/* bytes of a page on all machines that iotracer runs on */
#define BIT(n)	(1ULL << (n))
#define ALL	(~0ULL)
#define BITS	64

static const struct rule {
	unsigned int event;
	const char *field;
	__u64 ops;
	__u64 factor;
} rules[] = {
	{ IOT_EVENT_ID_FS, "result",
	  BIT(IOT_FS_READ) | BIT(IOT_FS_WRITE) | BIT(IOT_FS_DIO_READ) | BIT(IOT_FS_DIO_WRITE) |
	  BIT(IOT_FS_SENDFILE) | BIT(IOT_FS_SPLICE) | BIT(IOT_FS_TEE) | BIT(IOT_FS_VMSPLICE) |
	  BIT(IOT_FS_COPY_FILE_RANGE) | BIT(IOT_FS_BLOCK_READ) | BIT(IOT_FS_BLOCK_WRITE), 1 },
	{ IOT_EVENT_ID_BLOCK, "result",
	  BIT(IOT_BLOCK_READ) | BIT(IOT_BLOCK_WRITE) | BIT(IOT_BLOCK_ZONE_APPEND) |
	  BIT(IOT_BLOCK_DRV_IN) | BIT(IOT_BLOCK_DRV_OUT), 1 },
	{ IOT_EVENT_ID_NET, "moved", ALL, 1 },
	{ IOT_EVENT_ID_URING, "result", BIT(IOT_URING_COMPLETE), 1 },
	{ IOT_EVENT_ID_CACHE, "pages", ALL, PAGE },
	{ IOT_EVENT_ID_FAULT, "pages", ALL, PAGE },
	{ IOT_EVENT_ID_DROP, "size", BIT(IOT_DROP_PACKET_DROP) | BIT(IOT_DROP_TCP_RETRANSMIT), 1 },
};

/* The opcodes of io_uring whose result is a number of bytes that were moved. */
static __u64 moving_opcodes(void)
{
	static const char *const names[] = {
		"READV", "WRITEV", "READ_FIXED", "WRITE_FIXED", "READ", "WRITE", "READ_MULTISHOT",
		"READV_FIXED", "WRITEV_FIXED", "SEND", "RECV", "SENDMSG", "RECVMSG", "SEND_ZC",
		"SENDMSG_ZC", "RECV_ZC", "SPLICE", "TEE",
	};
	__u64 opcodes = 0;
	size_t i;
	__u32 n;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (iot_names_find_value("uringop", "", names[i], &n) && n < BITS)
			opcodes |= BIT(n);
	return opcodes;
}

void measurer_open(struct measurer *m, const struct iot_schema_event *event)
{
	size_t i;

	*m = (struct measurer){
		.event = event, .result = record_field(event, "result"),
		.sample = record_field(event, "sample"), .op = record_field(event, "op"),
		.time = record_field(event, "time")->offset,
		.latency = record_field(event, "latency")->offset,
	};
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].event == event->id) {
			m->bytes = record_field(event, rules[i].field);
			m->ops = rules[i].ops;
			m->factor = rules[i].factor;
		}
	if (event->id == IOT_EVENT_ID_URING) {
		m->opcode = record_field(event, "opcode");
		m->opcodes = moving_opcodes();
	}
}

static __u64 scalar(const struct iot_schema_field *f, const void *record)
{
	return record_scalar(record, f->offset, f->size);
}

static __s64 result_of(const struct measurer *m, const void *record)
{
	__u64 result = m->result ? scalar(m->result, record) : 0;

	return m->result && m->result->size == sizeof(__s32) ? (__s32)result : (__s64)result;
}

static bool is_in(__u64 set, const struct iot_schema_field *f, const void *record)
{
	__u64 n = f ? scalar(f, record) : 0;

	return !f || (n < BITS && set & BIT(n));
}

void measure(const struct measurer *m, const void *record, struct measure *to)
{
	__s64 result = result_of(m, record);

	to->time = record_scalar(record, m->time, sizeof(__u64));
	to->latency = record_scalar(record, m->latency, sizeof(__u64));
	to->weight = m->sample ? scalar(m->sample, record) : 1;
	if (!to->weight)
		to->weight = 1;
	to->error = result < 0 && result >= -MEASURE_ERRNO ? -result : 0;
	to->has_bytes = m->bytes && !to->error && is_in(m->ops, m->op, record) &&
			is_in(m->opcodes, m->opcode, record);
	to->bytes = to->has_bytes ? scalar(m->bytes, record) * m->factor : 0;
}
