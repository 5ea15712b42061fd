/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names are bytes. One escape is used everywhere, the kernel's: \ooo (three
 * octal digits) stands for a byte.
 */
#ifndef TOOL_BASE_TEXT_H
#define TOOL_BASE_TEXT_H

#include <stddef.h>
#include <linux/types.h>

/*
 * For terminals, CSV and JSON: valid UTF-8 stays; a control character, a
 * backslash and a byte that is not UTF-8 become \ooo. This can be undone. The
 * result cannot forge a line or control a terminal. text_show_to() needs
 * 4 * @len + 1 bytes at @out and returns the length; text_show() allocates (xalloc.h).
 */
size_t text_show_to(char *out, const char *bytes, size_t len);
char *text_show(const char *bytes, size_t len);

/*
 * For messages, whose parts text_show() may have escaped already: as above, but backslashes
 * and the characters of @keep stay. Allocates (xalloc.h).
 */
char *text_guard(const char *bytes, size_t len, const char *keep);

/*
 * For a command written to the module: blanks, control characters and backslashes become
 * \ooo. Allocates (xalloc.h).
 */
char *text_escape(const char *path);

/* Writes bytes as \ooo at @out, 4 * @len of them and no NUL, and returns the end. */
char *text_octal(char *out, const char *bytes, size_t len);

/* "12.50 %"; 0.00 and 100.00 are exact. Allocates (xalloc.h). */
char *text_share(__u64 part, __u64 all);

/*
 * Appends a word to a list that it frees, NULL or "" for an empty one; @between stands before any word
 * but the first. Allocates (xalloc.h).
 */
char *text_append(char *list, const char *between, const char *word);

/* Columns of a terminal that valid UTF-8 takes, if each character has one; its last @most columns. */
size_t text_width(const char *text);
const char *text_end(const char *text, size_t most);

/*
 * For a terminal, in place: characters without a width, and those that turn the direction of what
 * follows, become "?". A name cannot look like another one, or change the rest of its line.
 */
char *text_mask(char *text);

/*
 * As text_end(), after "..." if there was more: of a path, the end says most. Masked. Allocates
 * (xalloc.h).
 */
char *text_shorten(const char *text, size_t columns);

/* Undoes \ooo in place. */
void text_unescape(char *s);

#endif /* TOOL_BASE_TEXT_H */
