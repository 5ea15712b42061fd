/* shmem_file_setup(): vma_flags_t instead of unsigned long; 7.x */
#include <linux/shmem_fs.h>
struct file *iot_test(void) { return shmem_file_setup("", 0, EMPTY_VMA_FLAGS); }
