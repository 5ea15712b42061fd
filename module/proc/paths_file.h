/* SPDX-License-Identifier: GPL-2.0 */
/* /proc/iotracer/paths: the texts that records name by id, as a binary stream. */
#ifndef IOT_PATHS_FILE_H
#define IOT_PATHS_FILE_H

struct iot_procfile_ops;

extern const struct iot_procfile_ops iot_paths_ops;

#endif /* IOT_PATHS_FILE_H */
