/* SPDX-License-Identifier: GPL-2.0 */
/* Decides whether the module can be unloaded, before the kernel starts to unload it. */
#ifndef IOT_UNLOAD_H
#define IOT_UNLOAD_H

#ifdef IOT_REDIRECT
void iot_unload_init(void);
void iot_unload_exit(void);
#else
static inline void iot_unload_init(void)
{
}

static inline void iot_unload_exit(void)
{
}
#endif

#endif /* IOT_UNLOAD_H */
