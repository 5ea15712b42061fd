/* 02a474ca266a ("ftrace/x86: Allow for arguments to be passed in to ftrace_regs by default"), 5.11 */
#include <linux/ftrace.h>
unsigned long iot_test(struct ftrace_regs *fregs)
{
	return (unsigned long)&fregs->regs;
}
