/* 69df79a45111 ("splice: Rename direct_splice_read() to copy_splice_read()"), 6.5:
 * before, generic_file_splice_read() was the function that calls ->read_iter
 */
#include <linux/fs.h>
void *iot_test(void) { return copy_splice_read; }
