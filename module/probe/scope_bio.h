/* SPDX-License-Identifier: GPL-2.0 */
/* Bios in the logs of directories and processes. */
#ifndef IOT_SCOPE_BIO_H
#define IOT_SCOPE_BIO_H

struct iot_category_ops;

/* What scopes of category fs need beside the hooks of their base. */
extern const struct iot_category_ops iot_scope_dir_ops;
extern const struct iot_category_ops iot_scope_tasks_ops;

#endif /* IOT_SCOPE_BIO_H */
