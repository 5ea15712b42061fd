/* SPDX-License-Identifier: GPL-2.0 */
/* Whether the module can be unloaded now: asked before the kernel begins. */
#ifndef IOT_UNLOAD_H
#define IOT_UNLOAD_H

#ifdef IOT_REDIRECT
int iot_unload_guard(void);
void iot_unload_exit(void);
#else
static inline int iot_unload_guard(void)
{
	return 0;
}

static inline void iot_unload_exit(void)
{
}
#endif

#endif /* IOT_UNLOAD_H */
