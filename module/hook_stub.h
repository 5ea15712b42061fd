/* SPDX-License-Identifier: GPL-2.0 */
/* What hook_enter.S has for C, and calls there. */
#ifndef IOT_HOOK_STUB_H
#define IOT_HOOK_STUB_H

#define IOT_HOOK_STUBS		512
#define IOT_HOOK_STUB_SIZE	16	/* bytes */

#ifndef __ASSEMBLY__
#include <linux/types.h>

struct iot_hook_site;

extern const char iot_hook_stubs[], iot_hook_passes[];
extern struct iot_hook_site *iot_hook_stubbed[IOT_HOOK_STUBS];

/* Wrappers that may reject a call: NAME is the C function, NAME_entry where calls go. */
#define IOT_HOOK_WRAPPER(name, ...)		\
	s64 name(__VA_ARGS__);			\
	s64 name##_entry(__VA_ARGS__)

struct kiocb;
struct iov_iter;

IOT_HOOK_WRAPPER(iot_vfs_read_any, struct kiocb *iocb, struct iov_iter *iter,
		 unsigned long original, u64 id, unsigned long caller);
IOT_HOOK_WRAPPER(iot_vfs_write_any, struct kiocb *iocb, struct iov_iter *iter,
		 unsigned long original, u64 id, unsigned long caller);
IOT_HOOK_WRAPPER(iot_fault_any, unsigned long vma, unsigned long address,
		 unsigned long fault_flags, unsigned long regs, unsigned long original,
		 unsigned long caller);
#endif

#endif /* IOT_HOOK_STUB_H */
