/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages of Protocol Buffers, written in place: each function writes at @out and returns the end.
 * What is longer than a number is preceded by its length, which is known at its end only. So room
 * for it is left, always PROTOBUF_LENGTH bytes: a varint may have leading zeroes.
 */
#ifndef TOOL_BASE_PROTOBUF_H
#define TOOL_BASE_PROTOBUF_H

#include <string.h>
#include <linux/types.h>

#define PROTOBUF_LENGTH 4	/* bytes of a length: messages and texts are shorter than 256 MiB */

enum protobuf_type { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2 };

static inline char *protobuf_varint(char *out, __u64 n)
{
	for (; n >= 0x80; n >>= 7)
		*out++ = n | 0x80;
	*out++ = n;
	return out;
}

static inline char *protobuf_tag(char *out, unsigned int field, enum protobuf_type type)
{
	return protobuf_varint(out, field << 3 | type);
}

/* A negative number of a signed field is given as its two's complement. */
static inline char *protobuf_u64(char *out, unsigned int field, __u64 n)
{
	return protobuf_varint(protobuf_tag(out, field, PROTOBUF_VARINT), n);
}

/* In the order of bytes of this machine, which is little-endian. */
static inline char *protobuf_fixed64(char *out, unsigned int field, __u64 n)
{
	out = protobuf_tag(out, field, PROTOBUF_FIXED64);
	memcpy(out, &n, sizeof(n));
	return out + sizeof(n);
}

static inline char *protobuf_bytes(char *out, unsigned int field, const char *bytes, size_t length)
{
	out = protobuf_varint(protobuf_tag(out, field, PROTOBUF_BYTES), length);
	memcpy(out, bytes, length);
	return out + length;
}

static inline char *protobuf_text(char *out, unsigned int field, const char *text)
{
	return protobuf_bytes(out, field, text, strlen(text));
}

/* Begins a message, or a text. Its content begins at the end, which protobuf_close() is given. */
static inline char *protobuf_open(char *out, unsigned int field)
{
	return protobuf_tag(out, field, PROTOBUF_BYTES) + PROTOBUF_LENGTH;
}

static inline char *protobuf_close(char *begin, char *end)
{
	size_t length = end - begin;
	unsigned int i;

	for (i = PROTOBUF_LENGTH; i; i--, length >>= 7)
		*(begin - i) = (length & 0x7f) | (i > 1 ? 0x80 : 0);
	return end;
}

#endif /* TOOL_BASE_PROTOBUF_H */
