/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether two series of values have different means, or only noise.
 *
 * The test is Welch's t: it allows for series of different lengths and spreads. Values that
 * follow each other in time are often alike, so that n of them tell less than n independent ones.
 * With a correlation r > 0 between neighbours they count as n (1 - r) / (1 + r).
 */
#ifndef TOOL_TRACE_SERIES_H
#define TOOL_TRACE_SERIES_H

#include <stddef.h>

struct series {
	size_t nr;		/* values */
	double mean;
	double variance;	/* of the values, not of the mean; 0 if there are fewer than two */
	double independent;	/* values that they count as, @nr at most */
};

/* @values in the order of time. */
void series_of(struct series *s, const double *values, size_t nr);

double series_deviation(const struct series *s);

/*
 * The probability of a difference as large as that between both means, if all of it is noise
 * (two-sided). 1 if there are too few values to tell.
 */
double series_chance(const struct series *a, const struct series *b);

#endif /* TOOL_TRACE_SERIES_H */
