/* io_uring: struct io_file_table has files; 6.13 has nodes, which are private to io_uring */
#include <linux/io_uring_types.h>
unsigned long iot_test(struct io_ring_ctx *ctx)
{
	return ctx->nr_user_files ? ctx->file_table.files[0].file_ptr : 0;
}
