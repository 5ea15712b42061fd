/* io_uring: SOCKET_URING_OP_SETSOCKOPT and SOCKET_URING_OP_GETSOCKOPT, 6.7 */
#include <linux/io_uring/cmd.h>
int iot_test(const struct io_uring_cmd *cmd)
{
	return cmd->cmd_op == SOCKET_URING_OP_SETSOCKOPT ? cmd->sqe->optlen : IO_URING_F_COMPAT;
}
