// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>

#include "picture/axis.h"

#define LEAST	0.5	/* of a logarithmic axis */
#define PRECISE	1e-13	/* of a double */
#define MARGIN	1e-9

/* --- values --------------------------------------------------------------------- */

static double scaled(const struct axis *a, double value)
{
	if (!a->log)
		return value;
	return log2(value < 1 ? LEAST : value);
}

void axis_open(struct axis *a)
{
	double size = fabs(a->from) > fabs(a->to) ? fabs(a->from) : fabs(a->to);

	/* Also if the ends differ, but by less than numbers of this size can tell. */
	if (a->to - a->from > size * PRECISE)
		return;
	a->to = a->log ? 2 * (a->from > LEAST ? a->from : LEAST) : a->from + 1 + size * MARGIN;
}

double axis_at(const struct axis *a, double value)
{
	double from = scaled(a, a->from), to = scaled(a, a->to), part = (scaled(a, value) - from) / (to - from);

	part = part < 0 ? 0 : part > 1 ? 1 : part;
	return a->begin + part * (a->end - a->begin);
}

/* --- ticks ---------------------------------------------------------------------- */

/* The least 1, 2 or 5 times a power of ten that is not below @least; for bytes, the power of two. */
static double round_step(const struct axis *a, double least)
{
	double power;

	if (a->unit == AXIS_BYTES)
		return exp2(ceil(log2(least)));
	power = pow(10, floor(log10(least)));
	if (least <= power)
		return power;
	if (least <= 2 * power)
		return 2 * power;
	return least <= 5 * power ? 5 * power : 10 * power;
}

static double linear_step(const struct axis *a, unsigned int wanted)
{
	double step = round_step(a, (a->to - a->from) / wanted);

	/* A part of what is counted, or of a byte or ns, is none. */
	return step < 1 && (a->unit == AXIS_BYTES || a->unit == AXIS_NS) ? 1 : step;
}

static size_t linear_ticks(const struct axis *a, unsigned int wanted, double *ticks)
{
	double step = linear_step(a, wanted), first = ceil(a->from / step - 1e-9);
	size_t nr;

	for (nr = 0; nr < AXIS_TICKS && (first + nr) * step <= a->to * (1 + 1e-9); nr++)
		ticks[nr] = (first + nr) * step;
	return nr;
}

/* Powers of ten, or of two for bytes, and of these each n-th one. */
static size_t log_ticks(const struct axis *a, unsigned int wanted, double *ticks)
{
	double base = a->unit == AXIS_BYTES ? log2(2) : log2(10);
	double first = ceil(scaled(a, a->from) / base - 1e-9), last = floor(scaled(a, a->to) / base + 1e-9);
	double each = ceil((last - first + 1) / wanted);
	size_t nr = 0;
	double i;

	if (each < 1)
		each = 1;
	first = ceil(first / each) * each;
	for (i = first; i <= last && nr < AXIS_TICKS; i += each)
		if (i >= 0)
			ticks[nr++] = exp2(i * base);
	return nr;
}

size_t axis_ticks(const struct axis *a, unsigned int wanted, double *ticks)
{
	return a->log ? log_ticks(a, wanted, ticks) : linear_ticks(a, wanted, ticks);
}

void axis_round(struct axis *a, unsigned int wanted)
{
	double step = linear_step(a, wanted);

	a->to = ceil(a->to / step - 1e-9) * step;
	axis_open(a);
}

/* --- labels --------------------------------------------------------------------- */

/* A table ends with a name of NULL. */
struct unit {
	double factor;
	const char *name;
};

static const struct unit *units_of(enum axis_unit unit)
{
	static const struct unit numbers[] = { { 1, "" }, { 1e6, " M" }, { 1e9, " G" }, { 1e12, " T" }, { 0, NULL } };
	static const struct unit bytes[] = {
		{ 1, " B" }, { 0x1p10, " KiB" }, { 0x1p20, " MiB" }, { 0x1p30, " GiB" }, { 0x1p40, " TiB" },
		{ 0x1p50, " PiB" }, { 0, NULL },
	};
	static const struct unit times[] = {
		{ 1, " ns" }, { 1e3, " µs" }, { 1e6, " ms" }, { 1e9, " s" }, { 0, NULL },
	};
	static const struct unit seconds[] = { { 1, " s" }, { 0, NULL } };
	static const struct unit percent[] = { { 1, " %" }, { 0, NULL } };

	switch (unit) {
	case AXIS_BYTES:
		return bytes;
	case AXIS_NS:
		return times;
	case AXIS_SECONDS:
		return seconds;
	case AXIS_PERCENT:
		return percent;
	default:
		return numbers;
	}
}

char *axis_label(const struct axis *a, char *out, double value)
{
	const struct unit *unit = units_of(a->unit);

	while (unit[1].name && value >= unit[1].factor * (1 - 1e-9))
		unit++;
	snprintf(out, AXIS_LABEL, "%.6g%s", value / unit->factor, unit->name);
	return out;
}
