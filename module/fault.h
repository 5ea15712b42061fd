/* SPDX-License-Identifier: GPL-2.0 */
/* Category fault: page faults in mappings of files. */
#ifndef IOT_FAULT_H
#define IOT_FAULT_H

#include "category.h"

extern struct iot_category iot_fault;

#endif /* IOT_FAULT_H */
