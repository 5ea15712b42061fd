/* 3703bd54cd37 ("kallsyms: Delete an unused parameter related to {module_}kallsyms_on_each_symbol()"), 6.4 */
#include <linux/kallsyms.h>
int iot_each(void *data, const char *name, unsigned long addr);
int iot_test(void) { return kallsyms_on_each_symbol(iot_each, NULL); }
