// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "trace/series.h"

#define LEAST		4	/* values: fewer have no spread to speak of */
#define LEAST_INDEPENDENT 2	/* values that they count as */
#define STEPS		300	/* of a continued fraction: 30 suffice for what is asked here */
#define PRECISE		1e-15
#define TINY		1e-300	/* instead of a divisor of 0 */

/* --- a series ------------------------------------------------------------------- */

/*
 * The correlation between values and those that follow them, 0 if it is negative or there is none.
 */
static double correlation(const double *values, size_t nr, double mean, double squares)
{
	double products = 0;
	size_t i;

	for (i = 0; i + 1 < nr; i++)
		products += (values[i] - mean) * (values[i + 1] - mean);
	return squares > 0 && products > 0 ? products / squares : 0;
}

void series_of(struct series *s, const double *values, size_t nr)
{
	double sum = 0, squares = 0, r;
	size_t i;

	for (i = 0; i < nr; i++)
		sum += values[i];
	*s = (struct series){ .nr = nr, .mean = nr ? sum / nr : 0 };
	for (i = 0; i < nr; i++)
		squares += (values[i] - s->mean) * (values[i] - s->mean);
	s->variance = nr > 1 ? squares / (nr - 1) : 0;
	r = correlation(values, nr, s->mean, squares);
	s->independent = nr * (1 - r) / (1 + r);
}

double series_deviation(const struct series *s)
{
	return sqrt(s->variance);
}

/* --- Student's t ---------------------------------------------------------------- */

static double not_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* The continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22). */
static double fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), f = d, step, term;
	int m;

	for (m = 1; m < STEPS; m++) {
		term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 / not_zero(1 + term * d);
		c = not_zero(1 + term / c);
		f *= c * d;
		term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / not_zero(1 + term * d);
		c = not_zero(1 + term / c);
		step = c * d;
		f *= step;
		if (fabs(step - 1) < PRECISE)
			break;
	}
	return f;
}

/* The regularized incomplete beta function I_x(a, b). */
static double beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(a, b, x) / a;
	return 1 - front * fraction(b, a, 1 - x) / b;
}

/* --- Welch's test --------------------------------------------------------------- */

double series_chance(const struct series *a, const struct series *b)
{
	double p = a->variance / a->independent, q = b->variance / b->independent;
	double difference = fabs(a->mean - b->mean), freedom;

	if (a->nr < LEAST || b->nr < LEAST)
		return 1;
	/* No noise at all. */
	if (!(p + q > 0))
		return difference > 0 ? 0 : 1;
	if (!(a->independent > LEAST_INDEPENDENT) || !(b->independent > LEAST_INDEPENDENT))
		return 1;
	freedom = (p + q) * (p + q) / (p * p / (a->independent - 1) + q * q / (b->independent - 1));
	return beta(freedom / 2, 0.5, freedom / (freedom + difference * difference / (p + q)));
}
