/* SPDX-License-Identifier: GPL-2.0 */
/* The pipe of a target: its events as they happen. */
#ifndef IOT_TARGET_PIPE_H
#define IOT_TARGET_PIPE_H

struct iot_procfile_ops;

extern const struct iot_procfile_ops iot_target_pipe_ops;

#endif /* IOT_TARGET_PIPE_H */
