/* SPDX-License-Identifier: GPL-2.0 */
#include <asm/types.h>
#include <linux/btf.h>
