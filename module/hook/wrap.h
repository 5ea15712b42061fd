/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wrappers that may reject a call: NAME is a C function. NAME_entry, which IOT_HOOK_WRAP in
 * wrap.inc defines, is where calls are redirected to.
 */
#ifndef IOT_HOOK_WRAP_H
#define IOT_HOOK_WRAP_H

#define IOT_HOOK_WRAPPER(name, ...)		\
	s64 name(__VA_ARGS__);			\
	s64 name##_entry(__VA_ARGS__)

#endif /* IOT_HOOK_WRAP_H */
