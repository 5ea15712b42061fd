// SPDX-License-Identifier: GPL-2.0
/*
 * Reads, writes and other calls in progress, by the task that makes them.
 *
 * The pages of a direct bio are a program's memory and name no file. While a task makes a
 * direct call, a table therefore holds the call by the task. A bio that the task submits in
 * the meantime belongs to the call's file. So does what the task does in the meantime as a part
 * of the call: the ->fsync that ends an O_SYNC write, a flush that an fsync submits.
 *
 * The table has a fixed size. A task takes a free slot near the hash of its address, finds it
 * there again, and releases it. Slots need no lock: no other task uses the slot, and only
 * iot_direct_forget() may release it for the task. If all slots that a task may have are taken,
 * the call is not tracked, and is counted.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include "core/table.h"
#include "hook/engine.h"
#include "file/direct.h"

#define CALL_BITS	10
#define CALL_PROBES	32	/* slots that a task may have */

/**
 * struct iot_direct_slot - a call in progress
 * @task:	task that makes the call, NULL if the slot is free
 * @call:	the call
 * @owner:	kretprobe whose instance data @call is in, NULL if @call is on a stack
 */
struct iot_direct_slot {
	struct task_struct *task;
	struct iot_direct *call;
	const struct kretprobe *owner;
};

static struct iot_direct_slot slots[BIT(CALL_BITS)];
static atomic_long_t nr_missed, nr_missed_by_block;

/* Numbers of tracked calls: reads and writes, and others, which no read or write asks for. */
atomic_t iot_direct_calls;
static atomic_t nr_others;

static atomic_t *counter_of(const struct iot_direct *call)
{
	return call->op > IOT_OP_WRITE ? &nr_others : &iot_direct_calls;
}

static struct iot_direct_slot *slot_at(unsigned int i)
{
	u32 hash = iot_table_hash((unsigned long)current, CALL_BITS);

	return &slots[(hash + i) % BIT(CALL_BITS)];
}

/**
 * iot_direct_begin() - track a call
 * @call:	stays in its place until iot_direct_end(); @tracked is false
 *
 * Context: task.
 */
void iot_direct_begin(struct iot_direct *call)
{
	unsigned int i;

	for (i = 0; i < CALL_PROBES; i++) {
		struct iot_direct_slot *slot = slot_at(i);

		if (READ_ONCE(slot->task) ||
		    cmpxchg(&slot->task, NULL, current))
			continue;
		WRITE_ONCE(slot->call, call);
		WRITE_ONCE(slot->owner, NULL);
		atomic_inc(counter_of(call));
		call->slot = slot;
		call->tracked = true;
		return;
	}
	atomic_long_inc(&nr_missed);
}

/* Get the current task's call from a slot, or NULL. */
static struct iot_direct *call_in(const struct iot_direct_slot *slot)
{
	return READ_ONCE(slot->task) == current ? READ_ONCE(slot->call) : NULL;
}

/*
 * The task itself and iot_direct_forget() may both call this: the first one releases. All calls
 * of a kretprobe have the same counter, so the other one reads the same from @call.
 */
static void slot_release(struct iot_direct_slot *slot, struct iot_direct *call)
{
	atomic_t *counter = counter_of(call);

	if (cmpxchg(&slot->call, call, NULL) != call)
		return;
	WRITE_ONCE(slot->owner, NULL);
	smp_store_release(&slot->task, NULL); /* the slot is no longer used */
	atomic_dec(counter);
}

/** iot_direct_end_tracked() - do iot_direct_end() for a call that has a slot */
void iot_direct_end_tracked(struct iot_direct *call)
{
	struct iot_direct_slot *slot = call->slot;

	/* if it was released by iot_direct_forget(), it may be another call's now */
	if (call_in(slot) == call)
		slot_release(slot, call);
}

/**
 * iot_direct_own() - note that @call is instance data of a kretprobe
 *
 * If the kretprobe is being removed, @call is no longer tracked.
 * Context: the kretprobe's entry handler.
 */
void iot_direct_own(struct iot_direct *call, const struct kretprobe *krp)
{
	struct iot_direct_slot *slot;

	if (!call->tracked)
		return;
	slot = call->slot;
	if (iot_hook_is_going(krp)) {
		iot_direct_end_tracked(call);
		call->tracked = false;
	} else if (call_in(slot) == call) {
		WRITE_ONCE(slot->owner, krp);
	}
}

/**
 * iot_direct_forget() - release the slots of all calls of a kretprobe that is being removed
 *
 * Calls in progress may end without the kretprobe's exit handler, and the memory of its
 * instances is then freed after an RCU grace period. From now on none of its calls gets a
 * slot. A task in such a call may still be reading its slot: what the slot points to stays until
 * the call ends.
 */
void iot_direct_forget(const struct kretprobe *krp)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		struct iot_direct_slot *slot = &slots[i];
		struct iot_direct *call = READ_ONCE(slot->call);

		if (call && READ_ONCE(slot->owner) == krp)
			slot_release(slot, call);
	}
}

/**
 * iot_direct_now() - get the direct read or write that the current task is making, or NULL
 *
 * Context: task, during the call.
 */
const struct iot_direct *iot_direct_now(void)
{
	unsigned int i;

	if (!iot_direct_any())
		return NULL;
	for (i = 0; i < CALL_PROBES; i++) {
		const struct iot_direct *call = call_in(slot_at(i));

		if (call && (call->ki_flags & IOCB_DIRECT))
			return call;
	}
	return NULL;
}

/**
 * iot_direct_other() - find a call of the current task that neither reads nor writes
 * @wanted:	which one of several, as calls on stacked filesystems; is passed @data
 *
 * Context: task, during the call. Return: the call or NULL.
 */
const struct iot_direct *iot_direct_other(bool (*wanted)(const struct iot_direct *call,
							 const void *data), const void *data)
{
	unsigned int i;

	if (!atomic_read(&nr_others))
		return NULL;
	for (i = 0; i < CALL_PROBES; i++) {
		const struct iot_direct *call = call_in(slot_at(i));

		if (call && call->op > IOT_OP_WRITE && wanted(call, data))
			return call;
	}
	return NULL;
}

/**
 * iot_direct_is_within() - check whether the current task is making a tracked call of a target
 * @id:		of the target's file
 *
 * Context: task.
 */
bool iot_direct_is_within(u64 id)
{
	unsigned int i;

	if (!iot_direct_any() && !atomic_read(&nr_others))
		return false;
	for (i = 0; i < CALL_PROBES; i++) {
		const struct iot_direct *call = call_in(slot_at(i));

		if (call && call->id == id)
			return true;
	}
	return false;
}

/** iot_direct_mark_outer() - note that @call is recorded instead of the splice that made it */
void iot_direct_mark_outer(const struct iot_direct *call)
{
	unsigned int i;

	for (i = 0; i < CALL_PROBES; i++) {
		struct iot_direct *outer = call_in(slot_at(i));

		if (outer && outer->range && outer->id == call->id)
			outer->inner = true;
	}
}

/** iot_direct_miss_by_block() - count an untracked call with bios that category block wants */
void iot_direct_miss_by_block(void)
{
	atomic_long_inc(&nr_missed_by_block);
}

/** iot_direct_missed_by_block() - get the number of calls counted by that */
unsigned long iot_direct_missed_by_block(void)
{
	return atomic_long_read(&nr_missed_by_block);
}

/** iot_direct_missed() - get the number of untracked calls; their bios belong to no file */
unsigned long iot_direct_missed(void)
{
	return atomic_long_read(&nr_missed);
}
