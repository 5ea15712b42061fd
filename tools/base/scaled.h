/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers for tables that people read: three digits that count, and a unit without a blank before
 * it. Each writes at most SCALED bytes with the NUL, and returns @out.
 */
#ifndef TOOL_BASE_SCALED_H
#define TOOL_BASE_SCALED_H

#define SCALED 24

/* "1.23", "45.6", "1234567"; from ten millions on "12.3M". */
char *scaled_number(char *out, double n);

/* "512B", "4.00KiB" */
char *scaled_size(char *out, double bytes);

/* "650ns", "1.23us", "45.6s"; the largest unit is the day. */
char *scaled_time(char *out, double ns);

#endif /* TOOL_BASE_SCALED_H */
