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

/* 10 to the power of each index. */
extern const __u64 put_powers[20];

/* How many decimal digits a number has. */
static inline unsigned int put_digits(__u64 n)
{
	/* 1233 / 4096 is a little more than log10(2) */
	unsigned int some = (64 - __builtin_clzll(n | 1)) * 1233 >> 12;

	return some + (n >= put_powers[some]);
}

static inline char *put_u64(char *out, __u64 n)
{
	char *end, *at;

	if (n < 10) {
		*out = '0' + n;
		return out + 1;
	}
	end = out + put_digits(n);
	for (at = end; n >= 100; n /= 100) {
		at -= 2;
		memcpy(at, put_pairs + 2 * (n % 100), 2);
	}
	if (n >= 10)
		memcpy(out, put_pairs + 2 * n, 2);
	else
		*out = '0' + n;
	return end;
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
