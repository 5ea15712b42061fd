/* SPDX-License-Identifier: GPL-2.0 */
/* The module's parameters. */
#ifndef IOT_PARAM_H
#define IOT_PARAM_H

#include <linux/types.h>
#include <linux/uidgid.h>

#undef pr_fmt
#define pr_fmt(fmt) "iotracer: " fmt

int iot_param_init(void);
u64 iot_param_max_events(void);
u64 iot_param_max_events_limit(void);
u64 iot_param_ring_memory_limit(void);
u64 iot_param_paths_limit(void);
u64 iot_param_paths_memory_limit(void);
bool iot_param_trace_reader(void);
bool iot_param_all_operations(void);
umode_t iot_param_mode(umode_t mask);
kuid_t iot_param_uid(void);
kgid_t iot_param_gid(void);
bool iot_param_redirect_allowed(void);
bool iot_param_handlers_allowed(void);
bool iot_param_follows_names(void);
int iot_param_maxactive(void);

#endif /* IOT_PARAM_H */
