/* io_uring: registered files are nodes; 6.13 */
#include <linux/io_uring_types.h>

struct io_rsrc_node *compat_io_uring_file_node(const struct io_ring_ctx *ctx);
struct io_rsrc_node *compat_io_uring_file_node(const struct io_ring_ctx *ctx)
{
	const struct io_rsrc_data *data = &ctx->file_table.data;

	return data->nr ? data->nodes[0] : NULL;
}
