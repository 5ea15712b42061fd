// SPDX-License-Identifier: GPL-2.0
/*
 * Functions and variables of the kernel that are not exported: looks them up, and checks that
 * they are what is expected.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include "compat/compat.h"
#include "core/btf.h"
#include "core/param.h"
#include "hook/enter.h"
#include "hook/symbol.h"

/* Find the offset of an address in its function, and the function's size. */
static bool place_of(unsigned long addr, unsigned long *offset, unsigned long *size)
{
	char buf[KSYM_SYMBOL_LEN];

	sprint_symbol(buf, addr); /* "name+0x4/0x60" */
	return sscanf(strchrnul(buf, '+'), "+0x%lx/0x%lx", offset, size) == 2;
}

/**
 * iot_symbol_find() - find the address of a kernel function that is not exported
 * @name:	"function" or "module:function"
 *
 * Registers a disabled kprobe and removes it: the kernel looks the name up and changes no
 * text. If the function starts with ENDBR, the probe is after it. Return: the address or 0.
 */
unsigned long iot_symbol_find(const char *name)
{
	struct kprobe kp = {
		.symbol_name = name,
		.flags = KPROBE_FLAG_DISABLED,
	};
	unsigned long addr, size, offset;

	if (register_kprobe(&kp))
		return 0;
	addr = (unsigned long)kp.addr;
	unregister_kprobe(&kp);
	return place_of(addr, &offset, &size) ? addr - offset : addr;
}

/**
 * iot_symbol_data() - find the address of a kernel variable, or of a function that is only read
 *
 * Return: the address or 0.
 */
unsigned long iot_symbol_data(const char *name)
{
	unsigned long args[IOT_CALL_ARGS] = { (unsigned long)name };
	static unsigned long lookup;

	if (!lookup)
		lookup = iot_symbol_find("kallsyms_lookup_name");
	return lookup ? iot_hook_call(args, lookup) : 0;
}

/* The text of the kernel itself. */
static unsigned long text_begin, text_end;

/**
 * iot_symbol_is_kernels() - check whether a function is the kernel's own, not a module's
 *
 * Such a function never moves. The name of the module does not tell: the module may be gone by the
 * time it is looked up. Context: any.
 */
bool iot_symbol_is_kernels(unsigned long addr)
{
	return addr >= text_begin && addr < text_end;
}

static const int *ftrace_switch;	/* NULL if it is not found or there is no ftrace */

/**
 * iot_symbol_ftrace_off() - check whether sysctl kernel.ftrace_enabled has turned ftrace off
 *
 * Then functions can be hooked, but none of their calls is seen. Once a function is hooked,
 * ftrace stays on: FTRACE_OPS_FL_PERMANENT.
 */
bool iot_symbol_ftrace_off(void)
{
	return ftrace_switch && !READ_ONCE(*ftrace_switch);
}

/** iot_symbol_print_found() - print the kernel's prototype to @text, IOT_BTF_TEXT bytes */
void iot_symbol_print_found(const struct iot_btf_check *check, char *text)
{
	if (check->match == IOT_BTF_DIFFERS)
		iot_btf_print(check->func, text, IOT_BTF_TEXT);
	else
		strscpy(text, "nothing", IOT_BTF_TEXT);
}

/**
 * iot_symbol_init() - find the kernel's text, and its BTF, which functions are checked against
 *
 * Context: load, may sleep. Return: 0, -ENOMEM, or -EOPNOTSUPP if the kernel does not say where
 * its text is. Without usable BTF it is also 0: then nothing is checked, and the kernel log says
 * so.
 */
int iot_symbol_init(void)
{
	unsigned long begin = 0, end = 0;
	int err;

	text_begin = iot_symbol_data("_stext");
	text_end = iot_symbol_data("_etext");
	if (!text_begin || text_end <= text_begin) {
		pr_err("this kernel has no _stext and _etext: is it built without CONFIG_KALLSYMS?\n");
		return -EOPNOTSUPP;
	}
	ftrace_switch = (const int *)iot_symbol_data("ftrace_enabled");
	if (IS_ENABLED(CONFIG_64BIT)) { /* struct iot_btf_check assumes a long of 8 bytes */
		begin = iot_symbol_data("__start_BTF");
		end = iot_symbol_data("__stop_BTF");
	}
	if (!begin || end <= begin) {
		pr_info("this kernel has no BTF: functions that are hooked are not checked\n");
		return 0;
	}
	err = iot_btf_init((const void *)begin, end - begin);
	if (err != -EINVAL)
		return err;
	pr_warn("the BTF of this kernel cannot be read: functions that are hooked are not checked\n");
	return 0;
}

/**
 * iot_symbol_checked() - find the address of a kernel function to call or hook, and check it
 * @proto:	expected prototype, see struct iot_btf_check
 *
 * Takes milliseconds. Context: task, may sleep. Return: the address, or 0 if there is no such
 * function or it has another prototype, which is reported in the kernel log.
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

#ifdef IOT_ARCH_KNOWN
/**
 * iot_symbol_calls() - check whether a function of the kernel calls another one directly
 *
 * Reads the text of @func, which is the kernel's own and so never goes. Tail calls count; calls by
 * address do not. Context: task. Return: also false if there is no such function.
 */
bool iot_symbol_calls(const char *func, const char *callee)
{
	unsigned long begin = iot_symbol_data(func), to = iot_symbol_data(callee);
	unsigned long at, offset, size;

	if (!iot_symbol_is_kernels(begin) || !to || !place_of(begin, &offset, &size))
		return false;
	for (at = begin; at + IOT_CALL_SIZE <= begin + size; at += IOT_INSN_STEP)
		if (iot_insn_calls((const u8 *)at, to))
			return true;
	return false;
}
#endif

/** iot_symbol_exit() - free what iot_symbol_init() found. Context: unload, no set is started */
void iot_symbol_exit(void)
{
	iot_btf_exit();
}

#ifdef IOT_ARCH_KNOWN
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
 * iot_symbol_each() - call @fn for each function and variable of the kernel
 *
 * kallsyms_on_each_symbol() is not exported, so it has no ENDBR if the kernel seals functions
 * that are only called directly. iot_hook_enter() does not need one. Context: task, may sleep.
 * Return: 0, or -EOPNOTSUPP if this kernel does not provide it.
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
