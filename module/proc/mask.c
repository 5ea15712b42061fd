// SPDX-License-Identifier: GPL-2.0
/*
 * Hides addresses from readers that may not know addresses in other processes. They see 0
 * instead, both in text and in streams. A field's kind determines whether it can hold an
 * address.
 */
#include <linux/io_uring.h>
#include <linux/string.h>
#include "core/schema.h"
#include "proc/mask.h"

/* Is the sqe's off a position in a file? With other opcodes it may be an address. */
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

/* Kinds of fields that can hold an address; OPCODE decides whether SQEOFF does. */
enum maskable { ADDRESS, RETURNED, SQEOFF, OPCODE, MASKABLES };

static const char * const kinds[MASKABLES] = { "address", "returned", "sqeoff", "uringop" };

/* By event and kind: the field, or NULL. A record has at most one of each. Constant after load. */
static const struct iot_schema_field *masks[IOT_EVENT_IDS][MASKABLES];

/** iot_mask_init() - find the fields at load, so that no names are compared for a record */
void iot_mask_init(void)
{
	unsigned int i, j, k;

	for (i = 0; i < iot_schema_events; i++)
		for (j = 0; j < iot_schema[i].nr_fields; j++)
			for (k = 0; k < MASKABLES; k++) {
				const struct iot_schema_field *f = &iot_schema[i].fields[j];

				if (strcmp(f->kind, kinds[k]))
					continue;
				WARN_ON(masks[iot_schema[i].id][k]);
				masks[iot_schema[i].id][k] = f;
			}
}

/* Is the address of a record one on a device, which is no secret? */
static bool is_of_device(const struct iot_schema_event *event, const void *record)
{
	const struct iot_fs *e = record;

	return event->id == IOT_EVENT_ID_FS && iot_fs_is_block(e->op);
}

static void *at(const struct iot_schema_field *f, void *record)
{
	return record + f->offset;
}

/** iot_mask_record() - zero the addresses in a copy of a record. Context: any */
void iot_mask_record(const struct iot_schema_event *event, void *record)
{
	const struct iot_schema_field * const *mask = masks[event->id];
	u64 address = mask[ADDRESS] ? *(u64 *)at(mask[ADDRESS], record) : 0;

	if (is_of_device(event, record))
		return;
	if (mask[ADDRESS])
		*(u64 *)at(mask[ADDRESS], record) = 0;
	if (mask[RETURNED] && address && *(s64 *)at(mask[RETURNED], record) > 0)
		*(u64 *)at(mask[RETURNED], record) = 0;
	if (mask[SQEOFF] && !has_position(*(u16 *)at(mask[OPCODE], record)))
		*(u64 *)at(mask[SQEOFF], record) = 0;
}
