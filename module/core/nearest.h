/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the name that a misspelt word may stand for. Shared by the module and the tool. */
#ifndef IOT_NEAREST_H
#define IOT_NEAREST_H

#ifdef __KERNEL__
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#endif

#define IOT_NEAREST_MAX 32	/* characters compared, of a word and of a name */

/* Names are ASCII: no locale and no table are needed. */
static inline char iot_nearest_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
}

static inline size_t iot_nearest_length(size_t length)
{
	return length < IOT_NEAREST_MAX ? length : IOT_NEAREST_MAX;
}

/**
 * iot_nearest_distance() - count the characters to insert, delete or change (edit distance)
 * @word:	the word given, @length bytes of any kind
 * @name:	a name that may have been meant
 *
 * Case is ignored.
 */
static inline unsigned int iot_nearest_distance(const char *word, size_t length, const char *name)
{
	size_t n = iot_nearest_length(strlen(name)), i, j;
	unsigned char row[IOT_NEAREST_MAX + 1];

	for (j = 0; j <= n; j++)
		row[j] = j;
	for (i = 0; i < iot_nearest_length(length); i++) {
		unsigned char diagonal = row[0]++;

		for (j = 0; j < n; j++) {
			bool same = iot_nearest_lower(word[i]) == iot_nearest_lower(name[j]);
			unsigned char least = diagonal + !same;

			diagonal = row[j + 1];
			if (row[j] + 1 < least)
				least = row[j] + 1;
			if (diagonal + 1 < least)
				least = diagonal + 1;
			row[j + 1] = least;
		}
	}
	return row[n];
}

/**
 * struct iot_nearest - the name nearest to a word among those seen
 * @name:	the first of several; NULL if none was seen
 * @distance:	of @name; UINT_MAX if none was seen
 */
struct iot_nearest {
	const char *name;
	unsigned int distance;
};

#define IOT_NEAREST_NONE ((struct iot_nearest){ .distance = UINT_MAX })

/** iot_nearest_see() - keep a name if it is nearer than those seen before; "" never is */
static inline void iot_nearest_see(struct iot_nearest *n, const char *word, size_t length,
				   const char *name)
{
	unsigned int distance = *name ? iot_nearest_distance(word, length, name) : UINT_MAX;

	if (distance >= n->distance)
		return;
	n->distance = distance;
	n->name = name;
}

#endif /* IOT_NEAREST_H */
