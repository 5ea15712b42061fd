/* 7888af4166d4 ("ftrace: Make ftrace_regs abstract from direct use"), 6.13 and stable 6.12 */
#include <linux/ftrace.h>
unsigned long iot_test(struct ftrace_regs *fregs)
{
	return (unsigned long)&arch_ftrace_regs(fregs)->regs;
}
