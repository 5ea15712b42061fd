/* SPDX-License-Identifier: GPL-2.0 */
/* Pseudorandom numbers from a seed, the same on every machine (splitmix64). */
#ifndef IOT_TEST_RANDOM_H
#define IOT_TEST_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
	uint64_t x = r->state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* 0 to n - 1 */
static inline uint64_t random_below(struct random *r, uint64_t n)
{
	return random_next(r) % n;
}

/* true once in n times */
static inline bool random_once_in(struct random *r, unsigned int n)
{
	return !random_below(r, n);
}

#endif /* IOT_TEST_RANDOM_H */
