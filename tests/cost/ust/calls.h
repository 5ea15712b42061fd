/* SPDX-License-Identifier: GPL-2.0 */
/* A tracepoint for LTTng-UST, with fields as a record of category fs has them. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER iotracer_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./calls.h"

#if !defined(CALLS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define CALLS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(iotracer_bench, io,
			   LTTNG_UST_TP_ARGS(const char *, path, unsigned long, offset, long, result),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_string(path, path)
	lttng_ust_field_integer(unsigned long, offset, offset)
	lttng_ust_field_integer(unsigned long, requested, 4096)
	lttng_ust_field_integer(long, result, result)
	lttng_ust_field_integer(unsigned long, inode, 1001)
	lttng_ust_field_integer(unsigned int, device, 0xfd00001)
	lttng_ust_field_integer(unsigned long, latency, 500))
)

#endif

#include <lttng/tracepoint-event.h>
