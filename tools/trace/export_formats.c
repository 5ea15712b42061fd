// SPDX-License-Identifier: GPL-2.0
#include "trace/export_formats.h"

/* The time lines of cmd/timeline.h. */
static const struct export_format export_perfetto = { .name = "perfetto" };
static const struct export_format export_ctf = {
	.name = "ctf", .in_directory = true, .no_gzip = "its readers do not take it",
};

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
	case FORMAT_PERFETTO:
		return &export_perfetto;
	case FORMAT_CTF:
		return &export_ctf;
	default:
		return NULL;
	}
}
