// SPDX-License-Identifier: GPL-2.0
/* Stubs for the parts of category fs that do not compile with the headers of this kernel. */
#include "compat/config.h"
#include "probe/fs_calls.h"
#include "probe/names.h"
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

int iot_name_init(void)
{
	return 0;
}

void iot_name_exit(void)
{
}
#endif
