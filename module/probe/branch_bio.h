/* SPDX-License-Identifier: GPL-2.0 */
/* Bios in the logs of directories and processes. */
#ifndef IOT_BRANCH_BIO_H
#define IOT_BRANCH_BIO_H

struct iot_category_ops;

/* What branches of category fs need beside the hooks of their stem. */
extern const struct iot_category_ops iot_branch_dir_ops;
extern const struct iot_category_ops iot_branch_tasks_ops;

#endif /* IOT_BRANCH_BIO_H */
