/* SPDX-License-Identifier: GPL-2.0 */
/* Hides addresses from readers that may not know addresses in other processes. */
#ifndef IOT_MASK_H
#define IOT_MASK_H

struct iot_schema_event;

void iot_mask_init(void);
void iot_mask_record(const struct iot_schema_event *event, void *record);

#endif /* IOT_MASK_H */
