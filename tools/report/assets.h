/* SPDX-License-Identifier: GPL-2.0 */
/* The files that a page is made of, as parts of the program. */
#ifndef TOOL_REPORT_ASSETS_H
#define TOOL_REPORT_ASSETS_H

struct asset {
	const char *text, *end;	/* without a NUL */
};

extern const struct asset asset_page, asset_style, asset_licences;
/* Scripts. d3 and plot are from vendor/. The others are those of page/. */
extern const struct asset asset_d3, asset_plot, asset_data, asset_time, asset_charts, asset_sizes, asset_tables,
	asset_flame, asset_cache, asset_durability, asset_drives, asset_app;

#endif /* TOOL_REPORT_ASSETS_H */
