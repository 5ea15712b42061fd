/* SPDX-License-Identifier: GPL-2.0 */
/* Which traced directories a name is below that leads to nothing. */
#ifndef IOT_MISSING_H
#define IOT_MISSING_H

struct iot_below;

char *iot_missing_find(const char *text, struct iot_below *below);

#endif /* IOT_MISSING_H */
