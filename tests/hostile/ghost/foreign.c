// SPDX-License-Identifier: GPL-2.0
/*
 * Another module that may redirect functions, so that ftrace lets no other one redirect
 * them. To ftrace it is what a livepatch is. It leaves all calls as they are.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/string.h>

static char *functions[16];
static int nr;
module_param_array(functions, charp, &nr, 0444);
MODULE_PARM_DESC(functions, "their names");

static void handler(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
}

static struct ftrace_ops ops = {
	.func = handler,
	.flags = FTRACE_OPS_FL_IPMODIFY,
};

static int __init foreign_init(void)
{
	int i, err = nr ? 0 : -EINVAL;

	for (i = 0; !err && i < nr; i++)
		err = ftrace_set_filter(&ops, (unsigned char *)functions[i],
					strlen(functions[i]), !i);
	if (!err)
		err = register_ftrace_function(&ops);
	if (err)
		ftrace_free_filter(&ops);
	return err;
}

static void __exit foreign_exit(void)
{
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
}

module_init(foreign_init);
module_exit(foreign_exit);
MODULE_DESCRIPTION("Redirects functions to where they are");
MODULE_LICENSE("GPL");
