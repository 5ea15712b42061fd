/* SPDX-License-Identifier: GPL-2.0 */
/* Names of the levels and options of sockets, and the kinds of their values: uapi/sockopt.def. */
#ifndef IOT_OPTION_H
#define IOT_OPTION_H

#include <linux/types.h>

/** enum iot_option_kind - how a value is shown, see sockopt.def */
enum iot_option_kind {
	IOT_OPTION_hidden,
	IOT_OPTION_number,
	IOT_OPTION_wide,
	IOT_OPTION_pair,
	IOT_OPTION_words,
	IOT_OPTION_time,
	IOT_OPTION_time64,
	IOT_OPTION_text,
	IOT_OPTION_bytes,
};

const char *iot_option_level(__s32 level);
const char *iot_option_name(__s32 level, __s32 option);
enum iot_option_kind iot_option_kind(__s32 level, __s32 option);

#endif /* IOT_OPTION_H */
