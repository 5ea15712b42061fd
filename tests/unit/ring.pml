/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The claim, commit and read protocol of module/core/ring.c as a model for spin,
 * small enough that every interleaving is explored. Each statement below is one
 * access of ring.c to shared memory, or none. What only the model counts is
 * counted in the same step as the access that it belongs to. Memory is
 * sequentially consistent: what ring.c requires of weaker memory (an acquiring
 * claim, a releasing commit, the order of the reader's two looks) is not shown
 * here; ring-stress.c under ThreadSanitizer shows it.
 *
 * SLOTS, KEEP	size of the ring; the model needs no powers of two and no slack
 * CPUS		number of writers
 * RECORDS	records that each writer writes
 * INTERRUPTS	records that an interrupt on the first CPU writes, while the writer
 *		on that CPU stands still
 * PUT		KEEP records of an earlier ring are put below the first index
 * PASSES	how often the reader reads the whole window
 *
 * NO_BUSY_CHECK, NO_NEWER_CHECK, NO_CMPXCHG and NO_SECOND_LOOK each leave out
 * what they name. Then the model must fail.
 */

#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef KEEP
#define KEEP 1
#endif
#ifndef CPUS
#define CPUS 2
#endif
#ifndef RECORDS
#define RECORDS 2
#endif
#ifndef INTERRUPTS
#define INTERRUPTS 0
#endif
#ifndef PASSES
#define PASSES 1
#endif
#ifdef PUT
#define FIRST KEEP
#else
#define FIRST 0
#endif

#define INDICES (FIRST + CPUS * RECORDS + INTERRUPTS)
#define SLOT(i) ((i) % SLOTS)
#define BUSY(i) (2 * (i) + 3)
#define COMMITTED(i) (2 * (i) + 2)
#define WORD(i) ((i) + 1)

#ifdef NO_BUSY_CHECK
#define IDLE(old) true
#else
#define IDLE(old) (((old) & 1) == 0)
#endif

#ifdef NO_NEWER_CHECK
#define OLDER(old, i) true
#else
#define OLDER(old, i) ((old) < COMMITTED(i))
#endif

#ifdef NO_CMPXCHG
#define UNCHANGED(slot, old) true
#else
#define UNCHANGED(slot, old) (state[slot] == (old))
#endif

#ifdef NO_SECOND_LOOK
#define SAME(slot, old) true
#else
#define SAME(slot, old) (state[slot] == (old))
#endif

/* The ring. A record is two words, so that one can be torn. */
byte head = FIRST;
byte base = FIRST;
byte state[SLOTS];
byte one[SLOTS];
byte two[SLOTS];

/* What only the model counts. */
byte filling[SLOTS];	/* writers between claim and commit */
byte seen;
byte put;		/* records put below FIRST */
byte overwritten;	/* records whose slot a newer one took */
byte lost;
bool hole[INDICES];	/* the index's record was lost */

bool interrupted;	/* the first CPU is in its interrupt handler */
#define FIRST_CPU 1	/* its _pid */

inline claim(i) {
	old = state[SLOT(i)];
	if
	:: IDLE(old) && OLDER(old, i) ->
		d_step {
			claimed = UNCHANGED(SLOT(i), old);
			if
			:: claimed ->
				assert(filling[SLOT(i)] == 0);
				assert(state[SLOT(i)] < COMMITTED(i));
				filling[SLOT(i)]++;
				if
				:: state[SLOT(i)] != 0 -> overwritten++
				:: else
				fi;
				state[SLOT(i)] = BUSY(i)
			:: else
			fi
		}
	:: else -> claimed = false
	fi
}

inline fill_and_commit(i) {
	one[SLOT(i)] = WORD(i);
	two[SLOT(i)] = WORD(i);
	d_step {
		filling[SLOT(i)]--;
		assert(filling[SLOT(i)] == 0 && state[SLOT(i)] == BUSY(i));
		state[SLOT(i)] = COMMITTED(i)
	}
}

/* The counts are read only at the end, so they need no steps of their own. */
inline write() {
	d_step {
		seen++;
		index = head;
		head++
	};
	claim(index);
	if
	:: claimed ->
		fill_and_commit(index)
	:: else ->
		d_step {
			lost++;
			hole[index] = true
		}
	fi
}

proctype cpu() provided (_pid != FIRST_CPU || !interrupted) {
	byte index, old, records;
	bool claimed;

	do
	:: records < RECORDS -> write(); records++
	:: else -> break
	od
}

proctype interrupt() {
	byte index, old, records;
	bool claimed;

	do
	:: records < INTERRUPTS ->
		interrupted = true;
		do
		:: write();
			records++;
			if
			:: records < INTERRUPTS
			:: break
			fi
		od;
		interrupted = false
	:: else -> break
	od
}

/* A put that is refused was overtaken: its index is out of the window. */
proctype putter() {
	byte index, old;
	bool claimed;

	do
	:: index < FIRST ->
		claim(index);
		if
		:: claimed -> put++; fill_and_commit(index)
		:: else -> assert(index + SLOTS < head)
		fi;
		index++
	:: else -> break
	od;
	base = 0
}

inline read() {
	old = state[SLOT(next)];
	if
	:: old == COMMITTED(next) ->
		first = one[SLOT(next)];
		second = two[SLOT(next)];
		if
		:: SAME(SLOT(next), old) ->
			assert(first == WORD(next) && second == WORD(next))
		:: else ->
			assert(next + SLOTS < head)
		fi;
		d_step {
			first = 0;
			second = 0
		}
	:: old > BUSY(next) ->
		assert(next + SLOTS < head)
	:: else		/* a hole, or not committed yet */
	fi
}

proctype reader() {
	byte next, end, old, first, second, passes;

	do
	:: passes < PASSES ->
		end = head;
		d_step {
			if
			:: end - base > KEEP -> first = end - KEEP
			:: else -> first = base
			fi;
			if
			:: next < first -> next = first
			:: else
			fi;
			first = 0
		};
		do
		:: next < end -> read(); next++
		:: else -> break
		od;
		passes++
	:: else -> break
	od
}

/* seen = stored + overwritten + lost, and only lost records are missing in the window. */
inline check() {
	d_step {
		assert(seen == head - FIRST);
		for (i : 0 .. SLOTS - 1) {
			assert(IDLE(state[i]) && filling[i] == 0);
			if
			:: state[i] != 0 ->
				stored++;
				assert(2 * one[i] == state[i]);
				assert(2 * two[i] == state[i])
			:: else
			fi
		};
		assert(seen + put == stored + overwritten + lost);
		i = (head - base > KEEP -> head - KEEP : base);
		do
		:: i < head ->
			assert(hole[i] != (state[SLOT(i)] == COMMITTED(i)));
			i++
		:: else -> break
		od
	}
}

init {
	byte i, stored;

	atomic {
		for (i : 1 .. CPUS) {
			run cpu()
		};
		run reader();
#if INTERRUPTS
		run interrupt();
#endif
#ifdef PUT
		run putter();
#endif
	};
	_nr_pr == 1;
	check()
}
