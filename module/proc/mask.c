// SPDX-License-Identifier: GPL-2.0
/*
 * Hides addresses from readers that may not know addresses in other processes. They are shown
 * 0 instead, both in text and in streams. A field's kind determines whether it can hold one.
 */
#include <linux/io_uring.h>
#include <linux/string.h>
#include "core/schema.h"
#include "proc/mask.h"

/* Opcodes whose off is a position in a file. For others it may be an address. */
static bool has_position(u16 opcode)
{
	switch (opcode) {
	case IORING_OP_READV:
	case IORING_OP_WRITEV:
	case IORING_OP_FSYNC:
	case IORING_OP_READ_FIXED:
	case IORING_OP_WRITE_FIXED:
	case IORING_OP_SYNC_FILE_RANGE:
	case IORING_OP_FALLOCATE:
	case IORING_OP_READ:
	case IORING_OP_WRITE:
	case IORING_OP_FADVISE:
	case IORING_OP_SPLICE:
	case IORING_OP_TEE:
	case IOT_URING_READ_MULTISHOT:
		return true;
	}
	return false;
}

/* Properties of a record that decide whether its other fields are addresses. */
struct facts {
	bool has_address;
	bool has_position;
};

static struct facts facts_of(const struct iot_schema_event *event, const void *record)
{
	struct facts facts = {};
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++) {
		const struct iot_schema_field *f = &event->fields[i];
		const void *at = record + f->offset;

		if (!strcmp(f->kind, "address"))
			facts.has_address |= *(const u64 *)at != 0;
		else if (!strcmp(f->kind, "uringop"))
			facts.has_position = has_position(*(const u16 *)at);
	}
	return facts;
}

static bool is_address(const struct iot_schema_field *f, const void *record,
		       const struct facts *facts)
{
	if (!strcmp(f->kind, "address"))
		return true;
	if (!strcmp(f->kind, "returned"))
		return facts->has_address && *(const s64 *)(record + f->offset) > 0;
	if (!strcmp(f->kind, "sqeoff"))
		return !facts->has_position;
	return false;
}

/** iot_mask_record() - zero the addresses in a copy of a record. Context: any */
void iot_mask_record(const struct iot_schema_event *event, void *record)
{
	const struct facts facts = facts_of(event, record);
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++) {
		const struct iot_schema_field *f = &event->fields[i];

		if (is_address(f, record, &facts))
			memset(record + f->offset, 0, f->size);
	}
}
