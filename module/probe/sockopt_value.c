// SPDX-License-Identifier: GPL-2.0
/*
 * How a record shows the value of a socket's option, by its kind (uapi/sockopt.def). Bytes of a
 * program are shown as they are only in a name. Context: any.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "probe/sockopt_value.h"

#define MORE	"..."	/* after a value of which a part is not shown */

static s32 word_at(const struct iot_sockopt_value *v, unsigned int n)
{
	s32 word;

	memcpy(&word, v->bytes + n * sizeof(word), sizeof(word));
	return word;
}

static s64 long_at(const struct iot_sockopt_value *v, unsigned int n)
{
	s64 number;

	memcpy(&number, v->bytes + n * sizeof(number), sizeof(number));
	return number;
}

static void show_bytes(char *text, size_t size, const struct iot_sockopt_value *v)
{
	size_t at = scnprintf(text, size, "hex:");
	unsigned int i;

	for (i = 0; i < v->nr; i++) {
		if (size - at < 2 + sizeof(MORE) && i + 1 < v->length)
			break;
		at += scnprintf(text + at, size - at, "%02x", (u8)v->bytes[i]);
	}
	if (i < v->length)
		scnprintf(text + at, size - at, MORE);
}

/* Show up to @most ints. Return: false if there is none. */
static bool show_words(char *text, size_t size, const struct iot_sockopt_value *v,
		       unsigned int most)
{
	unsigned int nr = min_t(unsigned int, v->nr / sizeof(s32), most), i;
	bool cut = most > nr && v->length > nr * sizeof(s32);
	size_t at = 0;

	for (i = 0; i < nr; i++) {
		char word[16];
		int n = scnprintf(word, sizeof(word), "%s%d", i ? "/" : "", word_at(v, i));

		if (size - at < n + sizeof(MORE)) {
			cut = true;
			break;
		}
		at += scnprintf(text + at, size - at, "%s", word);
	}
	if (nr && cut)
		scnprintf(text + at, size - at, MORE);
	return nr;
}

static bool show_number(char *text, size_t size, const struct iot_sockopt_value *v)
{
	if (v->nr >= sizeof(s32))
		scnprintf(text, size, "%d", word_at(v, 0));
	else if (v->nr && v->of_ip && v->length < sizeof(s32))
		scnprintf(text, size, "%u", (u8)v->bytes[0]);
	else
		return false;
	return true;
}

static bool show_wide(char *text, size_t size, const struct iot_sockopt_value *v)
{
	if (v->nr == sizeof(u64) && v->length == sizeof(u64))
		scnprintf(text, size, "%llu", (u64)long_at(v, 0));
	else if (v->nr >= sizeof(u32))
		scnprintf(text, size, "%u", (u32)word_at(v, 0));
	else
		return false;
	return true;
}

/* The kernel refuses microseconds that are no part of a second. They are shown as bytes. */
static bool show_time(char *text, size_t size, const struct iot_sockopt_value *v, bool is_short)
{
	s64 seconds, us;

	if (v->nr < (is_short ? 2 * sizeof(s32) : 2 * sizeof(s64)))
		return false;
	seconds = is_short ? word_at(v, 0) : long_at(v, 0);
	us = is_short ? word_at(v, 1) : long_at(v, 1);
	if (us < 0 || us >= USEC_PER_SEC)
		return false;
	scnprintf(text, size, "%lld.%06lld", seconds, us);
	return true;
}

static bool show_text(char *text, size_t size, const struct iot_sockopt_value *v)
{
	size_t length = strnlen(v->bytes, v->nr);

	memcpy(text, v->bytes, length);
	if (length == v->nr && v->length > v->nr)
		memcpy(text + length, MORE, sizeof(MORE) - 1);
	return true;
}

static bool show_as(enum iot_option_kind kind, char *text, size_t size,
		    const struct iot_sockopt_value *v)
{
	switch (kind) {
	case IOT_OPTION_number:
		return show_number(text, size, v);
	case IOT_OPTION_wide:
		return show_wide(text, size, v);
	case IOT_OPTION_pair:
		return v->nr >= 2 * sizeof(s32) && show_words(text, size, v, 2);
	case IOT_OPTION_words:
		return show_words(text, size, v, UINT_MAX);
	case IOT_OPTION_time:
		return show_time(text, size, v, v->is_32);
	case IOT_OPTION_time64:
		return show_time(text, size, v, false);
	case IOT_OPTION_text:
		return show_text(text, size, v);
	case IOT_OPTION_hidden:
	case IOT_OPTION_bytes:
		break;
	}
	return false;
}

/**
 * iot_sockopt_show() - show a value
 * @text:	zeroed, @size bytes, which has to be more than IOT_SOCKOPT_BYTES and MORE
 * @kind:	not IOT_OPTION_hidden
 */
void iot_sockopt_show(char *text, size_t size, enum iot_option_kind kind,
		      const struct iot_sockopt_value *v)
{
	if (v->nr && !show_as(kind, text, size, v))
		show_bytes(text, size, v);
}
