/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rewrites the content of a frame so that it is compressed to two thirds, and back.
 *
 * In each block (struct iot_stream_block) first come the first bytes of all records, then their
 * second bytes, and so on: what is alike stands together. Before that the first two words of a
 * record, which are seq and time, are replaced by the difference from the record before. All
 * lengths stay, and so do the heads of blocks and the notes.
 */
#ifndef TOOL_TRACE_TRANSPOSE_H
#define TOOL_TRACE_TRANSPOSE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Each writes @size bytes at @to; @record is the size of a record, a multiple of 8 and 16 at least.
 * False if the content does not consist of whole blocks and notes; @to is then of no use.
 */
bool trace_transpose(char *to, const char *from, size_t size, size_t record);
bool trace_transpose_back(char *to, const char *from, size_t size, size_t record);

#endif /* TOOL_TRACE_TRANSPOSE_H */
