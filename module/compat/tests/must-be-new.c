// SPDX-License-Identifier: GPL-2.0
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error too old
#endif
