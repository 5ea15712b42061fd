// SPDX-License-Identifier: GPL-2.0
#include "base/put.h"

#define TEN(d) \
	#d "0" #d "1" #d "2" #d "3" #d "4" #d "5" #d "6" #d "7" #d "8" #d "9"

const char put_pairs[201] =
	TEN(0) TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9);

const __u64 put_powers[20] = {
	1ULL, 10ULL, 100ULL, 1000ULL, 10000ULL, 100000ULL, 1000000ULL, 10000000ULL, 100000000ULL,
	1000000000ULL, 10000000000ULL, 100000000000ULL, 1000000000000ULL, 10000000000000ULL,
	100000000000000ULL, 1000000000000000ULL, 10000000000000000ULL, 100000000000000000ULL,
	1000000000000000000ULL, 10000000000000000000ULL,
};

/* Days since 1970 as year, month and day, by eras of 400 years that begin on 1 March. */
static char *put_date(char *out, __s64 days)
{
	__s64 era = (days + 719468 - (days + 719468 < 0 ? 146096 : 0)) / 146097;
	unsigned int day = days + 719468 - era * 146097;
	unsigned int year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	unsigned int month;
	__s64 full = year + era * 400;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	day -= (153 * month + 2) / 5;
	month += month < 10 ? 3 : -9;
	full += month <= 2;
	out = full >= 0 && full <= 9999 ? put_padded(out, full, 4) : put_s64(out, full);
	*out++ = '-';
	out = put_padded(out, month, 2);
	*out++ = '-';
	return put_padded(out, day + 1, 2);
}

char *put_utc(char *out, __s64 seconds, __u32 ns)
{
	__s64 days = seconds / 86400 - (seconds % 86400 < 0);
	unsigned int second = seconds - days * 86400;

	out = put_date(out, days);
	*out++ = 'T';
	out = put_padded(out, second / 3600, 2);
	*out++ = ':';
	out = put_padded(out, second / 60 % 60, 2);
	*out++ = ':';
	out = put_padded(out, second % 60, 2);
	*out++ = '.';
	out = put_nine(out, ns);
	*out++ = 'Z';
	return out;
}

char *put_json(char *out, const char *text, size_t length)
{
	size_t i;

	*out++ = '"';
	for (i = 0; i < length; i++) {
		if (text[i] == '"' || text[i] == '\\')
			*out++ = '\\';
		*out++ = text[i];
	}
	*out++ = '"';
	return out;
}
