/* SPDX-License-Identifier: GPL-2.0 */
/* The axis of a picture: a range of values, where each value is, and ticks at round values. */
#ifndef TOOL_PICTURE_AXIS_H
#define TOOL_PICTURE_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum axis_unit { AXIS_NUMBER, AXIS_BYTES, AXIS_NS, AXIS_SECONDS, AXIS_PERCENT };

struct axis {
	enum axis_unit unit;
	bool log;		/* values below 1 are at 0.5 */
	double from, to;	/* values at both ends; axis_open() makes them different */
	double begin, end;	/* px at both ends */
	const char *title;
};

#define AXIS_TICKS	16	/* at most */
#define AXIS_LABEL	32	/* bytes of a label at most, with the NUL */

void axis_open(struct axis *a);

/* Makes an axis end at a tick, at or behind @to: for one that begins at 0. */
void axis_round(struct axis *a, unsigned int wanted);

/* Where a value is, within the axis. */
double axis_at(const struct axis *a, double value);

/* Up to @wanted ticks, less than AXIS_TICKS, at 1, 2 or 5 times a power of ten, or at powers of two for bytes. */
size_t axis_ticks(const struct axis *a, unsigned int wanted, double *ticks);

/* "4.00 KiB" without zeros behind the point: "4 KiB". Returns @out. */
char *axis_label(const struct axis *a, char *out, double value);

#endif /* TOOL_PICTURE_AXIS_H */
