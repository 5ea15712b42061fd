// SPDX-License-Identifier: GPL-2.0
#include "trace/export_formats.h"

const struct export_format *export_format_find(enum cli_format format)
{
	switch (format) {
	case FORMAT_FIO:
		return &export_fio;
	case FORMAT_BLKTRACE:
		return &export_blktrace;
	case FORMAT_MSR:
		return &export_msr;
	case FORMAT_FOLDED:
		return &export_folded;
	default:
		return NULL;
	}
}
