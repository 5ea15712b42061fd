/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The books kept beside a ring: what each writer wrote under which index, who
 * fills which slot, and the laws by which ring and books must agree.
 */
#ifndef LEDGER_H
#define LEDGER_H

#include "core/ring.h"	/* of module/, or of a mutant */

#define LEDGER_WRITERS 32	/* most writers of one ring */
#define LEDGER_MIN_WORDS 4	/* state, index, token, checksum */

/**
 * struct ledger - the books of one ring, or of the rings that follow it
 * @ring:	the ring
 * @words:	words of a slot
 * @slots:	slots in @ring
 * @capacity:	indices in @tokens; a test never reserves more
 * @origin:	the index that @tokens begins with
 * @tokens:	by index: the record's token, 0 where nothing was written
 * @filling:	by slot: how many writers are filling it
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
 * struct writer - one context that writes: a task, or interrupts on its CPU
 * @ledger:	where
 * @id:		below LEDGER_WRITERS
 * @class:	for iot_ring_reserve()
 * @came:	records that it came with
 * @lost:	of these, the ones refused
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
