// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the function in which the kernel flushes a closed file.
 *
 * filp_flush() calls the filesystem's ->flush; before 6.6, filp_close() does so itself. Either one
 * is hooked for FLUSH. But filp_flush() is a static function, which the compiler may inline into
 * its callers: with Clang, no copy of its own remains. Then filp_close() is hooked, as in older
 * kernels. Whether close(2) contains a copy is seen from its text: it calls locks_remove_posix(),
 * which otherwise only filp_flush() does. In this case the probe of close(2) records FLUSH, too,
 * with the times of the call, which also releases the file.
 *
 * If filp_close() is hooked for FLUSH, io_uring's calls of it are both FLUSH and CLOSE. A call has
 * only one probe, so the probe of CLOSE records both.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/kernel.h>
#include "compat/compat.h"
#include "hook/symbol.h"
#include "probe/fs_frame.h"

static bool in_close;		/* close(2) has filp_flush() inlined */
static bool in_filp_close;	/* there is no filp_flush() */

#ifdef IOT_ARCH_KNOWN
/* Does close(2) call the function? Each of these may be inlined in the one before it. */
static bool close_calls(const char *callee)
{
	static const char * const parts[] = {
		IOT_SYSCALL "close", "__se_sys_close", "__do_sys_close",
#ifdef IOT_SYSCALL_32
		IOT_SYSCALL_32 "close",
#endif
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (iot_symbol_calls(parts[i], callee))
			return true;
	return false;
}

/**
 * iot_flush_look() - find out which functions flush by themselves
 *
 * Before 6.6 close_fd() calls filp_close() for it. Context: task, before anything is hooked.
 * Return: false if the text of close(2) does not tell.
 */
bool iot_flush_look(void)
{
	bool calls = close_calls("filp_flush") || close_calls("filp_close") ||
		     close_calls("close_fd");
	bool flushes = close_calls("locks_remove_posix");

	in_filp_close = !iot_symbol_data("filp_flush");
	in_close = flushes && !calls;
	return flushes != calls;
}
#else
bool iot_flush_look(void)
{
	return true;
}
#endif

/** iot_flush_is_in() - check whether the probe of a CLOSE records FLUSH, too. Context: any */
bool iot_flush_is_in(const struct iot_call *c)
{
	return c->function ? in_filp_close : in_close;
}

#endif /* IOT_WITHOUT_FS_CALLS */
