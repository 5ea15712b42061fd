/* SPDX-License-Identifier: GPL-2.0 */
/* The formats of other programs that a trace can be exported to. */
#ifndef TOOL_TRACE_EXPORT_FORMATS_H
#define TOOL_TRACE_EXPORT_FORMATS_H

#include "base/cli.h"
#include "trace/exporter.h"

/* NULL if the format is no such one, as csv. */
const struct export_format *export_format_find(enum cli_format format);

#endif /* TOOL_TRACE_EXPORT_FORMATS_H */
