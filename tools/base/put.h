/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers and strings as text, fast: each writes at @out, without a NUL, and returns the end. */
#ifndef TOOL_BASE_PUT_H
#define TOOL_BASE_PUT_H

#include <string.h>
#include <linux/types.h>

/* "00" to "99" */
extern const char put_pairs[201];

static inline char *put_bytes(char *out, const char *bytes, size_t length)
{
	return (char *)memcpy(out, bytes, length) + length;
}

/* Writes exactly @digits digits; @digits is even. */
static inline char *put_padded(char *out, __u64 n, unsigned int digits)
{
	unsigned int i;

	for (i = digits; i; i -= 2) {
		memcpy(out + i - 2, put_pairs + 2 * (n % 100), 2);
		n /= 100;
	}
	return out + digits;
}

static inline char *put_u64(char *out, __u64 n)
{
	char digits[20];
	char *at = digits + sizeof(digits);

	if (n < 10) {
		*out = '0' + n;
		return out + 1;
	}
	while (n >= 100) {
		at -= 2;
		memcpy(at, put_pairs + 2 * (n % 100), 2);
		n /= 100;
	}
	if (n >= 10) {
		at -= 2;
		memcpy(at, put_pairs + 2 * n, 2);
	} else {
		*--at = '0' + n;
	}
	return put_bytes(out, at, digits + sizeof(digits) - at);
}

static inline char *put_s64(char *out, __s64 n)
{
	if (n >= 0)
		return put_u64(out, n);
	*out = '-';
	return put_u64(out + 1, -(__u64)n);
}

static inline char *put_nine(char *out, __u32 n)
{
	*out = '0' + n / 100000000;
	return put_padded(out + 1, n % 100000000, 8);
}

static inline char *put_hex(char *out, __u64 n)
{
	unsigned int shift = n ? (63 - __builtin_clzll(n)) & ~3u : 0;

	*out++ = '0';
	*out++ = 'x';
	for (;; shift -= 4) {
		*out++ = "0123456789abcdef"[n >> shift & 15];
		if (!shift)
			return out;
	}
}

/* "2026-11-21T12:28:32.330205607Z"; PUT_UTC bytes at most, of years far off as well. */
#define PUT_UTC 48
char *put_utc(char *out, __s64 seconds, __u32 ns);

/* A JSON string of text that text_show() has escaped; 2 * @length + 2 bytes at most. */
char *put_json(char *out, const char *text, size_t length);

#endif /* TOOL_BASE_PUT_H */
