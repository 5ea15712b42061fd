// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "record/receipt_parts.h"

char *receipt_list(const char *value)
{
	return xasprintf(",%s,", value);
}

bool receipt_has_word(const char *list, const char *word)
{
	char *wanted = receipt_list(word);
	bool has = !list || strstr(list, wanted);

	free(wanted);
	return has;
}

struct receipt_part *receipt_part_of(const struct receipt *r, unsigned int event_id)
{
	size_t i;

	for (i = 0; i < r->nr; i++)
		if (r->parts[i].category->event_id == event_id)
			return &r->parts[i];
	return NULL;
}

struct sums_device receipt_sum_devices(const struct sums *s, const char *name, __u32 device, bool disk)
{
	struct sums_device sum = { 0 };
	enum sums_direction i;
	size_t n;

	for (n = 0; n < s->nr_devices; n++) {
		const struct sums_device *d = &s->devices[n];

		if (disk ? strcmp(d->disk, name) : d->device != device)
			continue;
		for (i = 0; i < SUMS_DIRECTIONS; i++) {
			sum.requests[i] += d->requests[i];
			sum.bytes[i] += d->bytes[i];
			sum.asked[i] += d->asked[i];
		}
	}
	return sum;
}
