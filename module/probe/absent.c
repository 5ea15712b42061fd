// SPDX-License-Identifier: GPL-2.0
/* Stubs for the parts of category fs that do not compile with the headers of this kernel. */
#include "compat/config.h"
#include "probe/fs_calls.h"
#include "probe/fs_name.h"
#include "probe/rejected.h"

#ifdef IOT_WITHOUT_FS_CALLS
int iot_fs_calls_start(void)
{
	return 0;
}

void iot_fs_calls_stop(void)
{
}

unsigned long iot_fs_calls_missed(void)
{
	return 0;
}

int iot_name_buffers_init(void)
{
	return 0;
}

void iot_name_buffers_exit(void)
{
}
#endif
