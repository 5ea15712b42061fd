// SPDX-License-Identifier: GPL-2.0
#include <zlib.h>

#include "trace.h"

__u32 trace_checksum(const void *data, size_t size)
{
	return crc32_z(0, data, size);
}
