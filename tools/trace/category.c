// SPDX-License-Identifier: GPL-2.0
#include "trace/category.h"

const struct iot_schema_event *category_event(const struct category *category)
{
	return iot_schema_find(category->event_id);
}
