// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>

#include "base/scaled.h"

/* A table ends with a name of NULL. */
struct unit {
	const char *name;
	double factor;		/* how many of the unit before it, the first: of 1 */
};

/* Decimals, so that three digits are shown. */
static int decimals_of(double n)
{
	return n < 9.995 ? 2 : n < 99.95 ? 1 : 0;
}

/* Takes the largest unit in which the number, as it is rounded, is not below 1. */
static char *put(char *out, double n, const struct unit *unit)
{
	bool whole = n < 1000 && n == (unsigned int)n;

	while (unit[1].name && n >= 0.9995 * unit[1].factor) {
		unit++;
		n /= unit->factor;
		whole = false;
	}
	snprintf(out, SCALED, "%.*f%s", whole ? 0 : decimals_of(n), n, unit->name);
	return out;
}

char *scaled_number(char *out, double n)
{
	static const struct unit units[] = {
		{ "", 1 }, { "M", 1000000 }, { "G", 1000 }, { "T", 1000 }, { "P", 1000 },
		{ NULL, 0 },
	};

	if (n < 1e7 - 0.5) {
		snprintf(out, SCALED, "%.*f", n == (unsigned int)n ? 0 : decimals_of(n), n);
		return out;
	}
	return put(out, n, units);
}

char *scaled_size(char *out, double bytes)
{
	static const struct unit units[] = {
		{ "B", 1 }, { "KiB", 1024 }, { "MiB", 1024 }, { "GiB", 1024 }, { "TiB", 1024 },
		{ "PiB", 1024 }, { NULL, 0 },
	};

	return put(out, bytes, units);
}

char *scaled_time(char *out, double ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000 }, { "s", 1000 }, { "h", 3600 },
		{ "d", 24 }, { NULL, 0 },
	};

	return put(out, ns, units);
}
