/* SPDX-License-Identifier: GPL-2.0 */
/* Are the kernel's functions and structs what the probes expect? */
#ifndef IOT_BTF_H
#define IOT_BTF_H

#include <linux/types.h>

/** enum iot_btf_match - what is known of a function's prototype */
enum iot_btf_match {
	IOT_BTF_UNCHECKED,	/* there is no BTF, or nothing is expected */
	IOT_BTF_FITS,
	IOT_BTF_DIFFERS,
	IOT_BTF_ABSENT,		/* BTF does not describe the function */
};

/**
 * struct iot_btf_check - one function, for iot_btf_check()
 * @name:	of the function
 * @proto:	what is expected, as in "int (struct file *, long, _, ...)": integers and
 *		enums by their size alone (char, short, int and long are 1, 2, 4 and 8
 *		bytes), structs and unions by their name, a function pointer is
 *		"function *". "_" is any integer or pointer, "..." any further arguments,
 *		also none, " | " stands between prototypes of which one has to fit.
 *		NULL: nothing is expected
 * @match:	the answer
 * @func:	type of the function that differs, for iot_btf_print()
 * @next:	iot_btf_check()'s own
 */
struct iot_btf_check {
	const char *name;
	const char *proto;
	enum iot_btf_match match;
	u32 func;
	u32 next;
};

#define IOT_BTF_TEXT	256	/* bytes that a prototype takes as text */

int iot_btf_init(const void *data, size_t size);
void iot_btf_exit(void);
void iot_btf_check(struct iot_btf_check *checks, unsigned int nr);
int iot_btf_member(const char *name, const char *member, const char *type);
void iot_btf_print(u32 func, char *text, size_t size);

#endif /* IOT_BTF_H */
