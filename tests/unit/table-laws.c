// SPDX-License-Identifier: GPL-2.0
/*
 * Laws of the tables of objects in flight, core/table.c, under floods. One thread; the secrets
 * are other ones in each of ROUNDS rounds.
 */
#include <core/table.h>
#include "unit.h"

#define BITS	8
#define ROUNDS	200
#define FLOOD	5000
#define OTHERS	8	/* users with one object each */
#define HOSTILE	65534

struct object {
	u64 time;
	u32 uid;
	u32 pid;
	unsigned long key;
};

static unsigned long displaced, stale;
static u64 now;

static void gone(void *thing, bool is_displaced)
{
	(void)thing;
	if (is_displaced)
		displaced++;
	else
		stale++;
}

IOT_TABLE_STORE(object, struct object, BITS);
static struct iot_table table = {
	IOT_TABLE_OF(struct object, time, uid, pid),
	IOT_TABLE_STORED(object, BITS),
	.gone = gone,
};

IOT_TABLE_STORE(large, struct object, 13);
static struct iot_table large = {
	IOT_TABLE_OF(struct object, time, uid, pid),
	IOT_TABLE_STORED(large, 13),
	.gone = gone,
};

u64 get_random_u64(void)
{
	return (u64)random() << 40 ^ (u64)random() << 20 ^ (u64)random();
}

static void begin(void)
{
	iot_table_init();
	CHECK(!iot_table_begin(&table), "no table");
	displaced = 0;
	stale = 0;
}

/* Return: whether the object got a slot. */
static bool put(unsigned long key, u32 uid, u32 pid)
{
	struct object *o = iot_table_new(&table, (void *)key);

	if (!o)
		return false;
	*o = (struct object){ .time = ++now, .uid = uid, .pid = pid, .key = key };
	iot_table_keep(o);
	return true;
}

/* Is the object of a key there, with its own content? It ends. */
static bool take(unsigned long key, u32 uid)
{
	struct object *o = iot_table_take(&table, (void *)key);

	if (!o)
		return false;
	CHECK(o->key == key && o->uid == uid, "object of %#lx, user %u", o->key, o->uid);
	iot_table_drop(&table, o);
	return true;
}

/* Keys are addresses: aligned, never 0. Those of the others are not among those of the flood. */
static unsigned long flood_key(unsigned int i)
{
	return 0x100000UL + 64UL * i;
}

static unsigned long other_key(unsigned int i)
{
	return 0x90000000UL + 4096UL * i;
}

/* Each object of a flood is found or was counted, and none is mistaken for another. */
static void conserved(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		unsigned long found = 0, refused = 0;

		begin();
		for (unsigned int i = 0; i < FLOOD; i++)
			refused += !put(flood_key(i), HOSTILE, i % 7);
		for (unsigned int i = 0; i < FLOOD; i++)
			found += take(flood_key(i), HOSTILE);
		CHECK(found + displaced + refused == FLOOD, "%lu found, %lu displaced, %lu refused",
		      found, displaced, refused);
		CHECK(found <= IOT_TABLE_SLOTS(BITS), "%lu found", found);
		CHECK(iot_table_is_empty(&table), "the count of slots in use is wrong");
	}
}

/* A flood displaces its own objects: those of users with few stay, made before or during it. */
static void others_stay(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		begin();
		for (unsigned int i = 0; i < OTHERS; i += 2)
			put(other_key(i), i, i);
		for (unsigned int i = 0; i < FLOOD; i++) {
			put(flood_key(i), HOSTILE, i);
			if (i % (FLOOD / OTHERS) == 0 && i / (FLOOD / OTHERS) % 2)
				put(other_key(i / (FLOOD / OTHERS)), i / (FLOOD / OTHERS), i);
		}
		for (unsigned int i = 0; i < OTHERS; i++)
			CHECK(take(other_key(i), i), "the object of user %u is lost", i);
	}
}

/* Keys with the same hash, if somebody finds them, share IOT_TABLE_PROBES slots. */
static void same_hash(void)
{
	unsigned long found = 0, n = 0;

	begin();
	for (unsigned int i = 0; n < 500; i++) {
		if (iot_table_hash_of(&table, flood_key(i)) != 5)
			continue;
		put(flood_key(i), HOSTILE, i);
		n++;
	}
	for (unsigned int i = 0; i < 500000; i++)
		found += take(flood_key(i), HOSTILE);
	CHECK(found == IOT_TABLE_PROBES && displaced == 500 - IOT_TABLE_PROBES,
	      "%lu found, %lu displaced", found, displaced);
}

/*
 * Objects of a slab are at equal distances. Few of them each find a slot, whatever the secrets
 * are; ten times as many hardly ever do not.
 */
static void equal_distances(void)
{
	static const unsigned int sizes[] = { 192, 256, 320, 384, 512, 4096 };

	for (unsigned int round = 0; round < 6000; round++) {
		unsigned int size = sizes[round % 6], number = round % 100 ? 128 : 1280;

		iot_table_init();
		CHECK(!iot_table_begin(&large), "no table");
		displaced = 0;
		for (unsigned int i = 0; i < number; i++) {
			struct object *o = iot_table_new(&large, (void *)(0xffff888000000000UL + i * size));

			CHECK(o, "no slot for object %u", i);
			*o = (struct object){ .time = ++now, .uid = 1, .pid = 1 };
			iot_table_keep(o);
		}
		CHECK(displaced <= (number == 128 ? 0 : 3), "%lu of %u objects of %u bytes displaced",
		      displaced, number, size);
	}
}

/* An object whose key is used again is stale, and is not displaced. */
static void reused(void)
{
	begin();
	put(flood_key(0), 1, 1);
	put(flood_key(0), 2, 2);
	CHECK(stale == 1 && !displaced, "%lu stale, %lu displaced", stale, displaced);
	CHECK(take(flood_key(0), 2) && !take(flood_key(0), 2), "not the second");
}

static const struct unit_test tests[] = {
	{ "conserved", conserved },
	{ "others-stay", others_stay },
	{ "same-hash", same_hash },
	{ "equal-distances", equal_distances },
	{ "reused", reused },
};

int main(int argc, char **argv)
{
	return unit_main(argc, argv, tests, sizeof(tests) / sizeof(*tests));
}
