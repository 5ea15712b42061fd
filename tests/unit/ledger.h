/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ledger of a ring: what each writer wrote at which index, how many writers are
 * filling which slot, and the checks that ring and ledger agree.
 */
#ifndef LEDGER_H
#define LEDGER_H

#include "core/ring.h"	/* of module/, or of a mutant */

#define LEDGER_WRITERS 32	/* maximum number of writers of a ring */
#define LEDGER_MIN_WORDS 4	/* state, index, token, checksum */

/**
 * struct ledger - the ledger of a ring, and of the rings that replace it
 * @ring:	the ring
 * @words:	words of a slot
 * @slots:	slots in @ring
 * @capacity:	number of indices in @tokens; a test never reserves more
 * @origin:	index of the first of @tokens
 * @tokens:	by index: the token of the record, 0 if nothing was written
 * @filling:	by slot: number of writers that are filling it
 */
struct ledger {
	struct iot_ring *ring;
	u64 words;
	u64 slots;
	u64 capacity;
	u64 origin;
	u64 *tokens;
	u32 *filling;
};

/**
 * struct writer - a context that writes: a task, or interrupts on its CPU
 * @ledger:	ledger of the ring that it writes to
 * @id:		below LEDGER_WRITERS
 * @class:	for iot_ring_reserve()
 * @came:	number of records that it tried to write
 * @lost:	number of these that were refused
 */
struct writer {
	struct ledger *ledger;
	u32 id;
	unsigned int class;
	u64 came;
	u64 lost;
};

void ledger_init(struct ledger *ledger, u64 keep, u64 words, u64 first,
		 u64 capacity);
void ledger_destroy(struct ledger *ledger);
struct iot_ring *ledger_renew(struct ledger *ledger, u64 keep);

u64 *writer_begin(struct writer *writer, u64 *index);
void writer_end(struct writer *writer, u64 *slot, u64 index);
void writer_write(struct writer *writer, u64 records);

enum iot_ring_state ledger_read(const struct ledger *ledger, u64 index,
				u64 *token);
u64 ledger_check(const struct ledger *ledger, const struct writer *writers,
		 unsigned int nr);

#endif /* LEDGER_H */
