/* SPDX-License-Identifier: GPL-2.0 */
/* Make a filter from its text. */
#ifndef IOT_FILTER_PARSE_H
#define IOT_FILTER_PARSE_H

struct iot_filter;
struct iot_filter_of;
struct iot_why;

struct iot_filter *iot_filter_parse(char *text, const struct iot_filter_of *of,
				    struct iot_why *why);

#endif /* IOT_FILTER_PARSE_H */
