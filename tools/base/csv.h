/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A text as a field of CSV: quoted as RFC 4180 says, and never a formula.
 *
 * A spreadsheet computes a field that begins with = + - or @ (or their wide forms), and runs
 * programs for some of them. A traced program chooses its own names. So the first character is
 * written as \ooo, like a character that would control a terminal, and is read back in the same
 * way. The same is done after a semicolon, as some spreadsheets begin another field there.
 */
#ifndef TOOL_BASE_CSV_H
#define TOOL_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the text stays as it is. May be false for some that do. */
bool csv_is_plain(const char *text, size_t length);

/*
 * Writes an escaped text (text.h), and returns its end. Of N bytes that were escaped it takes
 * 4 * N + 2 bytes at most.
 */
char *csv_put(char *out, const char *text, size_t length);

#endif /* TOOL_BASE_CSV_H */
