// SPDX-License-Identifier: GPL-2.0
/*
 * Functions and variables of the kernel that are not exported: where they are, and whether
 * they are what we expect.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include "compat/compat.h"
#include "core/btf.h"
#include "core/param.h"
#include "hook/symbol.h"

/**
 * iot_symbol_find() - address of a kernel function that is not exported
 * @name:	"function" or "module:function"
 *
 * A disabled kprobe is registered for a moment: the kernel looks the name up and
 * changes no text. Where the function starts with ENDBR the probe is behind it.
 * Return: the address or 0.
 */
unsigned long iot_symbol_find(const char *name)
{
	struct kprobe kp = {
		.symbol_name = name,
		.flags = KPROBE_FLAG_DISABLED,
	};
	unsigned long addr, size, offset;
	char buf[KSYM_SYMBOL_LEN];

	if (register_kprobe(&kp))
		return 0;
	addr = (unsigned long)kp.addr;
	unregister_kprobe(&kp);
	/* "name+0x4/0x60": the offset is what to take away */
	sprint_symbol(buf, addr);
	if (sscanf(strchrnul(buf, '+'), "+0x%lx/0x%lx", &offset, &size) == 2)
		addr -= offset;
	return addr;
}

/** iot_symbol_data() - address of a variable of the kernel, or 0 */
unsigned long iot_symbol_data(const char *name)
{
	unsigned long args[IOT_CALL_ARGS] = { (unsigned long)name };
	unsigned long lookup = iot_symbol_find("kallsyms_lookup_name");

	return lookup ? iot_hook_call(args, lookup) : 0;
}

static const int *ftrace_switch;	/* NULL: not known, or there is no ftrace */

/**
 * iot_symbol_ftrace_off() - is ftrace off, by sysctl kernel.ftrace_enabled?
 *
 * Functions can be hooked then, and no call of them is seen. Once one is hooked ftrace stays
 * on: FTRACE_OPS_FL_PERMANENT.
 */
bool iot_symbol_ftrace_off(void)
{
	return ftrace_switch && !READ_ONCE(*ftrace_switch);
}

/** iot_symbol_print_found() - the prototype that the kernel has, in IOT_BTF_TEXT bytes */
void iot_symbol_print_found(const struct iot_btf_check *check, char *text)
{
	if (check->match == IOT_BTF_DIFFERS)
		iot_btf_print(check->func, text, IOT_BTF_TEXT);
	else
		strscpy(text, "nothing", IOT_BTF_TEXT);
}

/**
 * iot_symbol_init() - at load: find the BTF of the kernel, by which functions are checked
 *
 * Context: task, may sleep. Return: 0, also where there is none and nothing can be
 * checked, which the kernel's log says; or -ENOMEM.
 */
int iot_symbol_init(void)
{
	unsigned long begin = 0, end = 0;
	int err;

	ftrace_switch = (const int *)iot_symbol_data("ftrace_enabled");
	if (IS_ENABLED(CONFIG_64BIT)) { /* as struct iot_btf_check has the integers */
		begin = iot_symbol_data("__start_BTF");
		end = iot_symbol_data("__stop_BTF");
	}
	if (!begin || end <= begin) {
		pr_info("this kernel has no BTF: what is hooked is not checked\n");
		return 0;
	}
	err = iot_btf_init((const void *)begin, end - begin);
	if (err != -EINVAL)
		return err;
	pr_warn("the BTF of this kernel is not understood: what is hooked is not checked\n");
	return 0;
}

/**
 * iot_symbol_checked() - address of a function of the kernel, to be called or hooked
 * @proto:	the prototype that it is to have, see struct iot_btf_check
 *
 * Takes milliseconds. Context: task, may sleep. Return: the address or 0: there is no such
 * function, or it has another prototype, which the kernel's log says.
 */
unsigned long iot_symbol_checked(const char *name, const char *proto)
{
	struct iot_btf_check check = { .name = name, .proto = proto };
	unsigned long addr = iot_symbol_find(name);
	char text[IOT_BTF_TEXT];

	if (!addr)
		return 0;
	iot_btf_check(&check, 1);
	if (check.match == IOT_BTF_UNCHECKED || check.match == IOT_BTF_FITS)
		return addr;
	iot_symbol_print_found(&check, text);
	pr_err("%s is not used: \"%s\" is expected, the BTF of this kernel has \"%s\"\n",
	       name, proto, text);
	return 0;
}

/** iot_symbol_exit() - at unload: no set is started any more */
void iot_symbol_exit(void)
{
	iot_btf_exit();
}

#ifdef IOT_REDIRECT
static DEFINE_MUTEX(symbol_lock);
static iot_symbol_fn symbol_fn; /* under symbol_lock */

#ifdef IOT_HAVE_KALLSYMS_EACH_WITHOUT_MODULE
static int each_symbol(void *data, const char *name, unsigned long addr)
{
	symbol_fn(name, addr);
	return 0;
}
#else
static int each_symbol(void *data, const char *name, struct module *mod, unsigned long addr)
{
	symbol_fn(name, addr);
	return 0;
}
#endif

/**
 * iot_symbol_each() - all functions and variables of the kernel by name
 *
 * kallsyms_on_each_symbol() is not exported, so it has no ENDBR where the kernel
 * seals what is called directly only: iot_hook_enter() does not need one.
 * Context: task, may sleep. Return: 0, or -EOPNOTSUPP: this kernel does not tell.
 */
int iot_symbol_each(iot_symbol_fn fn)
{
	unsigned long addr = iot_symbol_find("kallsyms_on_each_symbol");

	if (!addr)
		return -EOPNOTSUPP;
	mutex_lock(&symbol_lock);
	symbol_fn = fn;
	iot_hook_enter((void *)each_symbol, NULL, addr);
	mutex_unlock(&symbol_lock);
	return 0;
}
#else
int iot_symbol_each(iot_symbol_fn fn)
{
	return -EOPNOTSUPP;
}
#endif
