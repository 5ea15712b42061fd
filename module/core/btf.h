/* SPDX-License-Identifier: GPL-2.0 */
/* Checks whether the kernel's functions and structs are what the probes expect. */
#ifndef IOT_BTF_H
#define IOT_BTF_H

#include <linux/types.h>

/** enum iot_btf_match - whether a function has the expected prototype */
enum iot_btf_match {
	IOT_BTF_UNCHECKED,	/* no BTF, or nothing is expected */
	IOT_BTF_FITS,
	IOT_BTF_DIFFERS,
	IOT_BTF_ABSENT,		/* BTF does not describe the function */
};

/**
 * struct iot_btf_check - one function, for iot_btf_check()
 * @name:	name of the function
 * @proto:	expected prototype, as in "int (struct file *, long, _, ...)". Integers and
 *		enums are given by their size alone: char, short, int and long are 1, 2, 4
 *		and 8 bytes. Structs and unions are given by their name. A function pointer
 *		is "function *". "_" is any integer or pointer. "..." is any number of
 *		further arguments, or none. " | " separates prototypes; one of them has to
 *		match. NULL: nothing is expected
 * @match:	the result
 * @func:	if @match is IOT_BTF_DIFFERS: id of the function's type, for iot_btf_print()
 * @next:	private to iot_btf_check()
 */
struct iot_btf_check {
	const char *name;
	const char *proto;
	enum iot_btf_match match;
	u32 func;
	u32 next;
};

#define IOT_BTF_TEXT	256	/* bytes of a printed prototype */

int iot_btf_init(const void *data, size_t size);
void iot_btf_exit(void);
void iot_btf_check(struct iot_btf_check *checks, unsigned int nr);
int iot_btf_member(const char *name, const char *member, const char *type);
void iot_btf_print(u32 func, char *text, size_t size);

#endif /* IOT_BTF_H */
