/* Sanity: this compiles on no kernel. */
#include <linux/fs.h>
int iot_must_fail(void) { return iot_no_such_function_in_any_kernel(); }
